"""The documentation's table of what came of the field corpus."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import get_args

from field.corpus import Kind, Repository
from field.trial import Result

DOCUMENT = Path(__file__).parents[2] / ".github" / "docs" / "measured.md"
_START, _END = "<!-- field -->\n", "<!-- end -->\n"

_MARK = {"green": "green", "told": "told", "asks": "asks", "red": "red", "not judged": "—"}


def document(page: str, corpus: Sequence[Repository], results: Sequence[Result]) -> str:
    """The page with its tables made anew."""
    found = {(one.repository, one.case): one for one in results}
    parts = ([*_summary(corpus, found)], [*_rows(corpus, found)], [*_wrong(corpus, found)])
    text = "\n\n".join("\n".join(part) for part in parts)
    before, _, rest = page.partition(_START)
    return f"{before}{_START}{text}\n{_END}{rest.partition(_END)[2]}"


def is_wrong(result: Result) -> str:
    """What is wrong about an outcome, empty if nothing is."""
    if result.case == "own":
        return ""
    if result.outcome == "not judged":
        return "not judged"
    if result.case.startswith("change"):
        return "false red" if result.outcome == "red" and result.own == 0 else ""
    if result.outcome == "told" and result.case not in {"syntax", "behaviour"}:
        return ""
    return "false green" if result.outcome in {"green", "told"} else ""


def _judged(
    corpus: Sequence[Repository], found: Mapping[tuple[str, str], Result]
) -> Iterator[Result]:
    for repository in corpus:
        for case in repository.cases:
            if result := found.get((repository.name, case.name)):
                yield result


def _summary(
    corpus: Sequence[Repository], found: Mapping[tuple[str, str], Result]
) -> Iterator[str]:
    judged = list(_judged(corpus, found))
    merged = [one for one in judged if one.case.startswith("change")]
    mutations = [one for one in judged if not one.case.startswith("change")]
    wrong = [is_wrong(one) for one in judged]
    tried = {one.repository for one in judged}
    systems = {one.system for one in corpus if one.name in tried}
    yield "| | |"
    yield "|---|---|"
    yield f"| repositories, build systems | {len(tried)}, {len(systems)} |"
    yield f"| merged changes | {len(merged)}: {_counts(merged)} |"
    yield f"| mutations | {len(mutations)}: {_counts(mutations)} |"
    yield f"| false red | {wrong.count('false red')} |"
    yield f"| false green | {wrong.count('false green')} |"
    share = 100 * wrong.count("not judged") / max(len(judged), 1)
    yield f"| could not be judged | {wrong.count('not judged')} of {len(judged)} ({share:.1f} %) |"


def _counts(results: Sequence[Result]) -> str:
    outcomes = [one.outcome for one in results]
    return ", ".join(f"{outcomes.count(one)} {one}" for one in _MARK if one in outcomes)


def _rows(corpus: Sequence[Repository], found: Mapping[tuple[str, str], Result]) -> Iterator[str]:
    names = ("change 1", "change 2", *get_args(Kind))
    yield f"| Repository | Built by | own commands | {' | '.join(names)} | seconds |"
    yield "|---" * (4 + len(names)) + "|"
    for repository in corpus:
        own = found.get((repository.name, "own"))
        cells = [_cell(found.get((repository.name, name))) for name in names]
        if not any(cells):
            continue
        times = sorted(one.seconds for name in names if (one := found.get((repository.name, name))))
        passed = "" if own is None else f"{'pass' if own.own == 0 else 'fail'}, {own.seconds:.0f} s"
        middle = times[len(times) // 2]
        yield (
            f"| [{repository.name}]({repository.address}/commit/{repository.head}) "
            f"| {repository.system} | {passed} | {' | '.join(cells)} | {middle:.0f} |"
        )


def _cell(result: Result | None) -> str:
    if result is None:
        return ""
    marked = _MARK[result.outcome]
    return f"**{marked}**" if is_wrong(result) else marked


def _wrong(corpus: Sequence[Repository], found: Mapping[tuple[str, str], Result]) -> Iterator[str]:
    """The cases that are bold, and merged changes that are not green, each with its reason."""
    yield "Seconds are the median of a whole review. The base's tests ran only for the first change"
    yield "on a base; their results are kept."
    yield ""
    yield "Not as it should be, or not plain:"
    yield ""
    for one in _judged(corpus, found):
        merged = one.case.startswith("change")
        plain = {"green", "told"} if merged else {"red", "asks"}
        odd = is_wrong(one) or one.outcome not in plain
        if odd:
            own = "" if one.own is None else f", own commands end with {one.own}"
            why = (one.reasoning or one.headline).replace("\n", " ").replace("|", "\\|")[:300]
            kind = one.reason or one.status
            yield f"* {one.repository}, {one.case}: {one.outcome}{own}: {kind}: {why}"
