"""Facts in a few words: what was judged, what it cost, how sure a judge is, what a branch takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from prjury.jury.judgment import Status
from prjury.jury.voting import Ballot
from prjury.report.findings import SeatOutcome, seat_outcomes
from prjury.report.model import NOT_TRIED, Backport, Cost, Coverage, Report
from prjury.report.seats import facts_of_seats, models_of
from prjury.report.wording import counted, duration

_BACKPORT_WORDS = {
    "suitable": "suitable",
    "suitable_with_changes": "suitable with changes",
    "needs_human": "needs a human",
    "not_suitable": "not suitable",
    "already_present": "already there",
    "not_applicable": "not applicable",
    "error": "could not be tried",
}


#: A judge with one of these has done what it does.
_DONE = frozenset({Status.PASS, Status.FAIL})


def judged_share(coverage: Coverage) -> str:
    """``41 of 43 files``, and what that means where only the tree was judged."""
    total, judged = coverage.files_total, coverage.files_judged
    if not total:
        return "no file changes"
    if not judged:
        return "no file was read"
    if coverage.scope == "tree":
        files = counted(total, "file") if judged == total else f"{judged:,} of {total:,} files"
        return f"{files} as a whole, not line by line"
    lines = coverage.added_lines_total - coverage.added_lines_judged
    missing = f", {counted(lines, 'added line')} not read" if lines else ""
    return f"{judged:,} of {counted(total, 'file')}{missing}"


def verdict_words(backport: Backport) -> str:
    """``suitable with changes``."""
    return _BACKPORT_WORDS[backport.verdict]


def backport_words(backport: Backport) -> str:
    """``suitable, picks cleanly``; ``needs a human, conflicts in 2 files``; ``already there``."""
    words, trial = _BACKPORT_WORDS[backport.verdict], ""
    if backport.verdict in {"not_applicable", "already_present"}:
        reason = next(iter(backport.reasons), "")
        return reason if reason.startswith(NOT_TRIED) else words
    if backport.conflicts and backport.prerequisites:
        trial = f"picks cleanly after {counted(len(backport.prerequisites), 'other commit')}"
    elif backport.conflicts:
        trial = f"conflicts in {counted(len(backport.conflicts), 'file')}"
    elif backport.applies:
        trial = "picks cleanly"
    return ", ".join(filter(None, (words, trial)))


def facts_of(ballot: Ballot) -> tuple[str, ...]:
    """Score, confidence, weight, runs and model of a ballot, as far as they say something."""
    return tuple(_facts(ballot))


def _facts(ballot: Ballot) -> Iterator[str]:
    judgment = ballot.judgment
    score = None if judgment.score is None else judgment.score.normalized
    if score is not None:
        yield f"score {score:.2f}"
    if judgment.confidence is not None:
        yield f"confidence {judgment.confidence:.2f}"
    if ballot.weight != 1:
        yield f"weight {ballot.weight:g}"
    repeated = judgment.metadata.get("repeated")
    if isinstance(repeated, Mapping):
        yield f"{repeated.get('strategy', 'one')} of {repeated.get('total_judges', '?')} runs"
    if len(models := models_of(judgment.metadata)) == 1:
        yield f"model `{models[0]}`"
    yield from facts_of_seats(judgment.metadata)
    yield duration(ballot.elapsed_ms)
    for log in logs_of(judgment.metadata):
        yield f"full log: {log}"


def tests_words(metadata: Mapping[str, Any]) -> str:
    """``9 tests ran, 3 failed, 2 skipped, 4 fewer than on the base``; empty where none are known.

    The metadata may come from a report of another version: only what has the expected form counts.
    """
    tests = metadata.get("tests")
    return ", ".join(_tests_words(tests)) if isinstance(tests, Mapping) else ""


def _tests_words(tests: Mapping[str, Any]) -> Iterator[str]:
    run, base = tests.get("run"), tests.get("base")
    if not isinstance(run, int):
        return
    yield f"{counted(run, 'test')} ran"
    for what in ("failed", "skipped"):
        if isinstance(number := tests.get(what), int) and number:
            yield f"{number:,} {what}"
    before = base.get("run") if isinstance(base, Mapping) else None
    if isinstance(before, int) and before != run:
        more = "more" if run > before else "fewer"
        yield f"{abs(run - before):,} {more} than on the base"


def logs_of(metadata: Mapping[str, Any]) -> tuple[str, ...]:
    """The files here that hold all that builds printed, as far as they were kept."""
    if metadata.get("from") == "evidence":
        return ()  # they are where it was built
    builds = metadata.get("builds")
    every = (metadata, *(builds if isinstance(builds, list | tuple) else ()))
    logs = (one.get("log") for one in every if isinstance(one, Mapping))
    return tuple(dict.fromkeys(str(log) for log in logs if log))


def footer(report: Report) -> tuple[str, ...]:
    """Models, cost, policy, sandbox and version, each as one short phrase."""
    return (*_cost(report), *_origin(report))


def _cost(report: Report) -> Iterator[str]:
    cost = report.cost
    if not cost.llm_calls and not cost.cached_calls:
        yield "no model was called"
        return
    named = (models_of(voice.judgment.metadata) for voice in seat_outcomes(report.verdict))
    models = list(dict.fromkeys(model for some in named for model in some))
    yield from (f"`{model}`" for model in models[:3])
    if len(models) > 3:  # noqa: PLR2004 - as above
        yield counted(len(models) - 3, "more model")
    cached = f" ({cost.cached_calls:,} cached)" if cost.cached_calls else ""
    yield f"{counted(cost.llm_calls, 'call')}{cached}"
    yield counted(cost.input_tokens + cost.output_tokens, "token")
    yield "price not known" if cost.usd is None else f"${cost.usd:.2f}"


def cost_table(cost: Cost) -> tuple[tuple[str, str], ...]:
    """Names and amounts of what the models took."""
    if not cost.llm_calls and not cost.cached_calls:
        return (("model calls", "none"),)
    price = "not known" if cost.usd is None else f"${cost.usd:.4f}"
    return (
        ("model calls", f"{cost.llm_calls:,}, {cost.cached_calls:,} more from the cache"),
        ("tokens", f"{cost.input_tokens:,} in, {cost.output_tokens:,} out"),
        ("price", price),
    )


def _origin(report: Report) -> Iterator[str]:
    yield f"rules: {_policy_words(report.policy.source)}"
    if any(map(_ran_here, seat_outcomes(report.verdict))):
        network = "with network" if report.sandbox.network else "no network"
        yield f"sandbox {report.sandbox.level}, {network}"
    yield f"took {duration(report.elapsed_ms)}"
    yield f"prjury {report.version}"


def _ran_here(voice: SeatOutcome) -> bool:
    """Whether the judge has run a command of the change in this run's own sandbox."""
    metadata, status = voice.judgment.metadata, voice.judgment.status
    ran = "exit_code" in metadata or ("command" in metadata and status in _DONE)
    return ran and metadata.get("from") not in {"checks", "evidence"}


def _policy_words(source: str) -> str:
    """``base:<sha>:<path>`` as a reader would say it."""
    if source == "default":
        return "defaults"
    kind, _, rest = source.partition(":")
    if kind == "base" and ":" in rest:
        sha, _, path = rest.partition(":")
        return f"`{path}` of the base `{sha[:7]}`"
    return f"`{rest or source}`"


def command_of(metadata: Mapping[str, Any]) -> str:
    """The command that a judge ran, if it says so."""
    command = metadata.get("command")
    return command if isinstance(command, str) else ""
