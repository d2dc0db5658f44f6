"""Phrases that every rendering of the report shares: symbols, counts, times, facts in short."""

from __future__ import annotations

import re
from collections.abc import Iterator

from markupsafe import Markup
from msgspec import Struct, structs

from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Judgment, Status
from prjury.jury.verdicts import TierAttempt
from prjury.jury.voting import BENIGN_LABELS, Ballot
from prjury.report.findings import SeatOutcome, seat_outcomes
from prjury.report.judge_facts import (
    AgentFacts,
    BuildFacts,
    GeneralFacts,
    PanelFacts,
    RunFacts,
    TestFacts,
)
from prjury.report.model import Coverage, Report


class Outcome(Struct, frozen=True):
    """How a result is shown: always by a symbol *and* a word, and by a class of style sheets."""

    symbol: str
    word: str
    color: Markup


PASSED = Outcome("✅", "pass", Markup("pass"))
FAILED = Outcome("❌", "fail", Markup("fail"))
ADVISES_AGAINST = Outcome("⚠️", "advises against", Markup("error"))
HUMAN = Outcome("⚠️", "needs a human", Markup("error"))
UNJUDGED = Outcome("⚪", "could not judge", Markup("abstain"))
SILENT = Outcome("⚪", "no answer", Markup("abstain"))
NOT_RUN = Outcome("⏭️", "not run", Markup("not-run"))
#: The colours, most important first.
RANKS = ("fail", "error", "abstain", "pass", "not-run")
#: A failed check by its severity.
SEVERITY_SYMBOLS = {"error": "❌", "warning": "⚠️", "hint": "💡"}

_BARE_SCORES = {Status.PASS: 1.0, Status.FAIL: 0.0}
_SANDBOXES = {
    "L0": "builds ran without a sandbox",
    "L1": "builds ran as the current user",
    "L2": "builds could write only into their own directory",
}
#: What a build says of itself that only passed; its tests say more.
_PASSES = re.compile(
    r"passed in [^;:]*|(?:all )?[\d,]+ tests? (?:pass|passed|ran)\b[^;:(]*", re.IGNORECASE
)

_MINUTE = 60_000
_HOUR = 60 * _MINUTE


def pluralize(count: int, noun: str) -> str:
    """``1 file``, ``2 files``, ``1,204 lines``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def duration(milliseconds: int) -> str:
    """``0 s``, ``0.2 s``, ``42 s``, ``3 m 5 s``, ``1 h 4 m``."""
    if milliseconds < 50:  # noqa: PLR2004 - it would be shown as 0.0
        return "0 s"
    if milliseconds < 10_000:  # noqa: PLR2004 - tenths matter below ten seconds
        return f"{milliseconds / 1000:.1f} s"
    if milliseconds < _MINUTE:
        return f"{round(milliseconds / 1000)} s"
    if milliseconds < _HOUR:
        minutes, rest = divmod(milliseconds, _MINUTE)
        return f"{minutes} m {rest // 1000} s" if rest >= 1000 else f"{minutes} m"  # noqa: PLR2004
    hours, rest = divmod(milliseconds, _HOUR)
    return f"{hours} h {rest // _MINUTE} m"


def join_words(words: list[str], most: int = 3) -> str:
    """``a``, ``a and b``, ``a, b and c``, ``a, b, c and 2 more``."""
    shown = words[:most]
    if len(words) > most:
        shown.append(f"{len(words) - most} more")
    if len(shown) < 2:  # noqa: PLR2004 - nothing to join
        return "".join(shown)
    return f"{', '.join(shown[:-1])} and {shown[-1]}"


def first_line(text: str) -> str:
    """The first line that says something, without the spaces around it."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def describe_judged_share(coverage: Coverage) -> str:
    total, judged = coverage.files_total, coverage.files_judged
    if not total:
        return "no file changes"
    if not judged:
        return "no file"
    lines = coverage.added_lines_total - coverage.added_lines_judged
    missing = f", {pluralize(lines, 'added line')} not read" if lines else ""
    return f"{judged:,} of {pluralize(total, 'file')}{missing}"


#: The label of a judge that had nothing to judge because of the merge.
NOTHING_MERGED = "conflicts"


def describe_outcome(judgment: Judgment, attempt: TierAttempt | None = None) -> Outcome:
    """Return how a judgment is shown, in its tier; what does not apply did not run."""
    if judgment.status is Status.PASS:
        return PASSED
    if judgment.status is Status.FAIL:
        return ADVISES_AGAINST if attempt and attempt.advisory else FAILED
    if judgment.label == NOTHING_MERGED:
        return NOT_RUN
    if judgment.label in BENIGN_LABELS:
        return structs.replace(NOT_RUN, word=judgment.label.replace("_", " "))
    if attempt and not attempt.advisory and judgment.status is Status.ABSTAIN:
        return HUMAN
    return UNJUDGED if judgment.status is Status.ERROR else SILENT


def list_score_weight_model_and_time(ballot: Ballot) -> Iterator[str]:
    judgment = ballot.judgment
    score = None if judgment.score is None else judgment.score.normalized
    # The score of a judge that only passes or fails says nothing that the status does not say.
    if score is not None and score != _BARE_SCORES.get(judgment.status):
        yield f"score {score:.2f}"
    if ballot.weight != 1:
        yield f"weight {ballot.weight:g}"
    if runs := GeneralFacts.parse(judgment).repeated:
        yield runs
    panel = PanelFacts.parse(judgment)
    if len(panel.models) == 1:
        yield f"model `{panel.models[0]}`"
    if (time := duration(ballot.elapsed_ms)) != "0 s":
        yield time


def find_tests(judgment: Judgment) -> TestFacts | None:
    build = BuildFacts.parse(judgment)
    return build.tests if build else None


def tests_words(tests: TestFacts) -> str:
    """``9 tests, 4 fewer than on the base``; ``9 tests, 3 failed, 4 fewer tests than on …``."""
    words, noun = [pluralize(tests.run, "test")], "tests " if tests.failed else ""
    words += [f"{tests.failed:,} failed"] if tests.failed else []
    words += [difference_words(tests.run - tests.base.run, noun)] if tests.base else []
    words += [f"{tests.skipped:,} skipped"] if tests.skipped else []
    return ", ".join(words)


def first_words(judgment: Judgment) -> str:
    """Return the first line of what a judge says; the tests, where a build says that it passed."""
    words, tests = first_line(judgment.reasoning), find_tests(judgment)
    is_plain = judgment.status is Status.PASS and _PASSES.fullmatch(words)
    return tests_words(tests) if tests and is_plain else words


def difference_words(more: int, noun: str = "") -> str:
    """``4 fewer than on the base``; ``as many as on the base``."""
    if not more:
        return f"as many {noun}as on the base"
    return f"{abs(more):,} {'more' if more > 0 else 'fewer'} {noun}than on the base"


def footer(report: Report) -> tuple[str, ...]:
    return (*_describe_model_costs(report), *_describe_agent_costs(report), *_describe_run(report))


def _describe_agent_costs(report: Report) -> Iterator[str]:
    voices = seat_outcomes(report.verdict)
    agents = (v for v in voices if v.ballot.type is JudgeType.AGENT and v.judgment.label is None)
    costs = [AgentFacts.parse(voice.judgment).usd for voice in agents]
    costs += [each.usd for each in report.recovery.rounds] if report.recovery else []
    if costs:
        amounts = [cost for cost in costs if cost is not None]
        price = f", ${sum(amounts):.2f}" if amounts else ""
        yield f"{pluralize(len(costs), 'agent run')}{price}"


def _describe_model_costs(report: Report) -> Iterator[str]:
    cost = report.cost
    if not cost.llm_calls and not cost.cached_calls:
        return
    panels = (PanelFacts.parse(voice.judgment) for voice in seat_outcomes(report.verdict))
    models = list(dict.fromkeys(model for panel in panels for model in panel.models))
    yield from (f"`{model}`" for model in models[:3])
    if len(models) > 3:  # noqa: PLR2004 - as above
        yield pluralize(len(models) - 3, "more model")
    cached = f" ({cost.cached_calls:,} cached)" if cost.cached_calls else ""
    yield f"{pluralize(cost.llm_calls, 'call')}{cached}"
    yield pluralize(cost.input_tokens + cost.output_tokens, "token")
    yield "price not known" if cost.usd is None else f"${cost.usd:.2f}"


def _describe_run(report: Report) -> Iterator[str]:
    yield f"policy: {_describe_policy_source(report.policy.source)}"
    if any(map(_ran_here, seat_outcomes(report.verdict))):
        network = "with access to the network" if report.sandbox.network else "without network"
        yield f"{_SANDBOXES.get(report.sandbox.level, 'builds ran in a sandbox')}, {network}"
        if report.sandbox.gaps:
            yield f"not closed to them: {', '.join(report.sandbox.gaps)}"
        if report.sandbox.lent:
            yield f"lent to them: {', '.join(report.sandbox.lent)}"
    yield f"took {duration(report.elapsed_ms)}"
    yield f"prjury {report.version}"
    rules = report.policy.resolved.get("ignore")
    if isinstance(rules, list | tuple) and rules:
        yield f"ignored: {join_words([f'`{rule}`' for rule in rules], most=10)}"


def _ran_here(voice: SeatOutcome) -> bool:
    run = RunFacts.parse(voice.judgment)
    ran = run.exit_code is not None or (
        run.command is not None and voice.judgment.status in {Status.PASS, Status.FAIL}
    )
    return ran and not run.elsewhere


def _describe_policy_source(source: str) -> str:
    """``base:<sha>:<path>`` as a reader would say it."""
    if source == "default":
        return "defaults"
    kind, _, rest = source.partition(":")
    if kind == "base" and ":" in rest:
        sha, _, path = rest.partition(":")
        return f"`{path}` at base `{sha[:7]}`"
    return f"`{rest or source}`"


def describe_progress_and_dismissals(report: Report) -> str | None:
    since, dismissed = report.since, len(report.dismissals)
    parts = []
    if since:
        words = f"Since the last verdict on `{since.head[:7]}`: fixed {since.fixed}, "
        words += f"open {since.open}, new {since.new}"
        parts.append(words + (f", not judged again {since.not_judged}" if since.not_judged else ""))
    if dismissed:
        parts.append(f"Dismissed: {pluralize(dismissed, 'finding')}")
    return ". ".join(parts) + "." if parts else None
