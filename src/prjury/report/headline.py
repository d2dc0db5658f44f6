"""The first line: the decision and its one main reason, concrete enough to act on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from prjury.jury.cascade import TierAttempt, Verdict
from prjury.jury.gate import Gate
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Judgment, Status
from prjury.jury.voting import BENIGN_LABELS, NOBODY_VOTED, NOT_APPLICABLE, NOT_CONFIGURED
from prjury.report.findings import HELD_BACK, SeatOutcome, blocking_checks, culprits, seat_outcomes
from prjury.report.judge_facts import (
    BASE_BROKEN,
    NO_COMPARISON,
    TESTS_VANISHED,
    BuildFacts,
    BuildRunFacts,
    MergeFacts,
    PanelFacts,
    RunFacts,
)
from prjury.report.model import Coverage
from prjury.report.sanitise import clean
from prjury.report.wording import counted, first_line, first_words, listed
from prjury.snapshot.model import PullRequest, printable

READY = "✅ Ready to merge"
NOTHING_FOUND = "✅ Nothing found against it"
GATE_OPEN = "⚠️ Merge gate open"
DO_NOT = "❌ Do not merge"
HUMAN = "⚠️ Needs a human"
UNJUDGED = "⚪ Could not be judged"
#: Stands before any of these.
OVERRIDDEN = "⚠️ Overridden"

_LONGEST_REASON = 120
_KINDS = {"compile": "compile error", "test": "test failure", "lint": "lint error"}


def headline(pull: PullRequest, verdict: Verdict, gate: Gate, coverage: Coverage) -> str:
    """The decision in one line, for people; a symbol, words and the reason."""
    if verdict.status is Status.PASS:
        return (
            _open(pull, verdict, coverage) if gate is Gate.SUCCESS else _name_unconfigured(verdict)
        )
    line = f"{_decision(verdict)}: {_reason(pull, verdict)}"
    return f"{line} (not gating)" if gate is Gate.SUCCESS else line


def why(pull: PullRequest, verdict: Verdict) -> tuple[tuple[str, str], ...]:
    """Return what decided: pairs of who said it (or "") and the first line of it."""
    if reason := _find_hold(verdict):
        return (("", reason),)
    if verdict.status is Status.PASS:
        votes = [v for v in seat_outcomes(verdict) if v.counts and v.judgment.status is Status.PASS]
        against = [pair for attempt in verdict.attempts for pair in _objections(attempt)]
        pairs = against or [(v.ballot.judge, _first_words(pull, v)) for v in votes]
        return tuple(pairs) or (("", first_line(verdict.aggregated.reasoning)),)
    guilty = culprits(verdict)
    clauses = tuple((voice.ballot.judge, _first_words(pull, voice)) for voice in guilty)
    return clauses or (("", first_line(verdict.aggregated.reasoning)),)


def _first_words(pull: PullRequest, voice: SeatOutcome) -> str:
    return first_words(voice.judgment) or _failure(pull, voice)


def _objections(attempt: TierAttempt) -> list[tuple[str, str]]:
    if attempt.verdict is None or not (_objection(attempt) or _silent(attempt)):
        return []
    ballots = [b for b in attempt.verdict.ballots if b.judgment.status is attempt.status]
    pairs = [(ballot.judge, _first_objection(ballot.judgment)) for ballot in ballots]
    return pairs or [(attempt.name, first_line(attempt.verdict.aggregated.reasoning))]


def _first_objection(judgment: Judgment) -> str:
    """Return the first problem with its place; what the judge says in all, if it names none."""
    errors = [check for check in judgment.failed_checks if check.severity == "error"]
    if judgment.status is not Status.FAIL or not errors or not errors[0].message.strip():
        return first_line(judgment.reasoning)
    place = f" ({errors[0].location})" if errors[0].location else ""
    more = f" and {counted(len(errors) - 1, 'other problem')}" if len(errors) > 1 else ""
    return f"{first_line(errors[0].message)}{place}{more}"


def _decision(verdict: Verdict) -> str:
    if verdict.status is Status.FAIL:
        return DO_NOT
    unvoted = verdict.aggregated.label == NOBODY_VOTED
    return UNJUDGED if verdict.status is Status.ERROR or unvoted else HUMAN


def _open(pull: PullRequest, verdict: Verdict, coverage: Coverage) -> str:
    limits = "; ".join(undone(pull, verdict, coverage))
    objections = [words for attempt in verdict.attempts if (words := _objection(attempt))]
    overruled = any(voice.judgment.status is Status.FAIL for voice in _blocking(verdict))
    proven = READY if is_proven(pull, verdict) else NOTHING_FOUND
    decision = GATE_OPEN if overruled else proven
    line = f"{GATE_OPEN}; {listed(objections)}" if objections else decision
    silent = [words for attempt in verdict.attempts if (words := _silent(attempt))]
    but = f", but {listed(silent)}" if silent else ""
    return f"{line}{f' ({limits})' if limits else ''}{but}"


def is_advised_against(verdict: Verdict) -> bool:
    """Return true if an advisory tier fails."""
    return any(map(_objection, verdict.attempts))


def is_proven(pull: PullRequest, verdict: Verdict) -> bool:
    """Return true if the tree that would be merged was built and tested.

    A build whose tests left no results, or that another CI made of an older base, proves as little
    as none.
    """
    builds = _passed_builds(verdict)
    return bool(builds) and all(
        _has_tested(build) and not _describe_other_base(pull, build) for build in builds
    )


def _passed_builds(verdict: Verdict) -> list[BuildFacts]:
    judgments = (seat.judgment for seat in _blocking(verdict))
    passed = (judgment for judgment in judgments if judgment.status is Status.PASS)
    return [build for judgment in passed if (build := BuildFacts.of(judgment))]


def _has_tested(build: BuildFacts) -> bool:
    ran = build.ran
    if ran is None:
        return True
    return ran.tests.run > 0 if ran.tests else not ran.test_files


def _describe_other_base(pull: PullRequest, build: BuildFacts) -> str:
    base = build.tested_base
    if build.origin != "checks" or pull.base.sha == base or not pull.behind:
        return ""
    ref = _short(printable(pull.base.ref))
    if base is None:
        return f"CI tested this head, perhaps on an older {ref}"
    if not base:
        return f"CI tested this head alone, not its merge with {ref}"
    return f"CI tested this head on {ref}@{base[:7]}, {ref} is at {pull.base.sha[:7]}"


def undone(pull: PullRequest, verdict: Verdict, coverage: Coverage) -> tuple[str, ...]:
    """Name what the decision does not rest on, so that nobody takes it for more than it is."""
    return tuple(filter(None, _undone(pull, verdict, coverage)))


def _undone(pull: PullRequest, verdict: Verdict, coverage: Coverage) -> Iterator[str]:
    blocking = _blocking(verdict)
    for voice in blocking:
        if voice.judgment.status is Status.FAIL:
            how = "was outvoted" if voice.counts else f"{verdict.decided_by} decided after it"
            yield f"{voice.ballot.judge} fails and {how}"
        elif reserve := _reserve(voice.judgment):
            yield f"{voice.ballot.judge} {reserve}"
    if not pull.files:
        yield "no file changes"
    elif pull.docs_only:
        yield "only documentation changes"
    if _is_built(blocking, Status.PASS, Status.FAIL):
        for build in _passed_builds(verdict):
            yield _describe_other_base(pull, build)
            yield _not_compared(build)
        yield _count_unbuilt(blocking)
    else:
        yield "not built"
        yield "" if pull.docs_only else _unread(coverage)
    if not _model_answered(verdict):
        yield "no model asked"
    else:
        yield from _silent_models(verdict)


def _blocking(verdict: Verdict) -> list[SeatOutcome]:
    return [voice for voice in seat_outcomes(verdict) if not voice.attempt.advisory]


def _is_built(blocking: Sequence[SeatOutcome], *results: Status) -> bool:
    ended = (v.judgment for v in blocking if v.judgment.status in results)
    return any(BuildFacts.of(judgment) for judgment in ended)


def _unread(coverage: Coverage) -> str:
    unread = coverage.files_total - coverage.files_judged
    if unread < coverage.files_total:
        return f"{unread:,} of {coverage.files_total:,} files not read" if unread else ""
    return "no file read" if unread else ""


def _not_compared(build: BuildFacts) -> str:
    tests = build.ran.tests if build.ran else None
    unknown = tests is None or tests.base is None
    return "tests not compared" if build.origin == "checks" and unknown else ""


def _silent_models(verdict: Verdict) -> Iterator[str]:
    silent = [voice for voice in seat_outcomes(verdict) if _is_unheard(voice)]
    if silent:
        names = listed([voice.ballot.judge for voice in silent])
        words = dict.fromkeys(_word(voice.judgment) or "no reason" for voice in silent)
        yield f"{names} gave no answer: {listed(list(words))}"


def _is_unheard(voice: SeatOutcome) -> bool:
    judgment = voice.judgment
    if voice.ballot.type is JudgeType.DETERMINISTIC or judgment.label == NOT_APPLICABLE:
        return False
    unsaid = judgment.label == NOT_CONFIGURED or voice.attempt.status in {Status.PASS, Status.FAIL}
    return unsaid and judgment.status in {Status.ABSTAIN, Status.ERROR}


def _word(judgment: Judgment) -> str:
    return _short(judgment.reason or judgment.label or "").replace("_", " ")


def _count_unbuilt(blocking: Sequence[SeatOutcome]) -> str:
    passed = [voice.judgment for voice in blocking if voice.judgment.status is Status.PASS]
    builds = [build for judgment in passed if (build := BuildFacts.of(judgment))]
    files = sum(len(build.unbuilt or ()) for build in builds)
    return f"{counted(files, 'file')} not built" if files else ""


def _reserve(judgment: Judgment) -> str:
    build = BuildFacts.of(judgment)
    if build is None:
        return ""
    edited = _describe_settings(build.settings)
    return ", and ".join(filter(None, [_reserve_of(judgment, build), edited]))


def _describe_settings(settings: Sequence[str]) -> str:
    if not settings:
        return ""
    more = f" and {len(settings) - 1} more" if len(settings) > 1 else ""
    return f"runs by test settings that this change edits: {_short(settings[0])}{more}"


def _reserve_of(judgment: Judgment, build: BuildFacts) -> str:
    if build.note == "flaky":
        return "has flaky tests"
    if build.note == NO_COMPARISON:
        return "ran tests that cannot be compared with the base's"
    if build.note == "pre_existing" or RunFacts.of(judgment).exit_code:
        return "fails as on the base"
    if build.ran and (missing := _no_results(build.ran)):
        return missing
    lost = _count_vanished(build)
    return f"lost {lost} that ran on the base" if lost else ""


def _no_results(ran: BuildRunFacts) -> str:
    if ran.tests:
        idle = f"ran no test{', all were skipped' if ran.tests.skipped else ''}"
        return "" if ran.tests.run else idle
    files = counted(ran.test_files, "test file")
    return f"shows no test results{f', though the tree has {files}' if ran.test_files else ''}"


def _count_vanished(build: BuildFacts | None) -> str:
    """``2 tests``: those of the base that did not run; empty for none."""
    tests = build.ran.tests if build and build.ran else None
    return counted(tests.vanished, "test") if tests and tests.vanished else ""


def _model_answered(verdict: Verdict) -> bool:
    return any(
        voice.ballot.type is not JudgeType.DETERMINISTIC
        and voice.ballot.judgment.label not in BENIGN_LABELS
        for voice in seat_outcomes(verdict)
    )


def _objection(attempt: TierAttempt) -> str:
    if not attempt.advisory or attempt.verdict is None or attempt.status is not Status.FAIL:
        return ""
    against = f"{attempt.name} advises against"
    failing = [b for b in attempt.verdict.ballots if b.judgment.status is Status.FAIL]
    errors = [(b, c) for b in failing for c in b.judgment.failed_checks if c.severity == "error"]
    if not errors:
        return against
    if all(ballot.type is JudgeType.DETERMINISTIC for ballot in failing):
        return f"{counted(len(errors), 'finding')}, {against}"
    must = {ballot.judge: PanelFacts.of(ballot.judgment).must_failed for ballot in failing}
    bugs = sum(check.name in must[ballot.judge] for ballot, check in errors)
    others = counted(len(errors) - bugs, "other problem" if bugs else "problem")
    clauses = [
        *([counted(bugs, "likely bug")] if bugs else []),
        *([others] if bugs < len(errors) else []),
    ]
    return f"the model found {listed(clauses)}, {against}"


def _silent(attempt: TierAttempt) -> str:
    if not attempt.advisory or attempt.verdict is None:
        return ""
    if attempt.status is Status.ERROR:
        return f"{attempt.name} could not be judged{_bracket_reason(attempt)}"
    if not attempt.worrying_abstention or _names_its_silent(attempt):
        return ""
    return f"{attempt.name} gives no answer{_bracket_reason(attempt)}"


def _names_its_silent(attempt: TierAttempt) -> bool:
    ballots = attempt.verdict.ballots if attempt.verdict else ()
    silent = [b for b in ballots if b.judgment.status in {Status.ABSTAIN, Status.ERROR}]
    models = all(ballot.type is not JudgeType.DETERMINISTIC for ballot in silent)
    return attempt.status is Status.PASS and models


def _bracket_reason(attempt: TierAttempt) -> str:
    judgments: Sequence[Judgment] = attempt.verdict.individual if attempt.verdict else ()
    silent = (said for said in judgments if said.status in {Status.ERROR, Status.ABSTAIN})
    word = next(filter(None, map(_word, silent)), "")
    return f" ({word})" if word else ""


def _name_unconfigured(verdict: Verdict) -> str:
    silent = [
        voice.ballot.judge
        for voice in seat_outcomes(verdict)
        if voice.ballot.judgment.label == NOT_CONFIGURED and not voice.attempt.advisory
    ]
    who = listed(silent) or "a judge"
    return f"{HUMAN}: no model is configured for {who}, and the policy requires one"


def _reason(pull: PullRequest, verdict: Verdict) -> str:
    if reason := _find_hold(verdict):
        return "; ".join([reason, *_silent_models(verdict)])
    guilty = culprits(verdict)
    if not guilty or verdict.aggregated.label == NOBODY_VOTED:
        return _short(first_line(verdict.aggregated.reasoning))
    if verdict.status is Status.FAIL:
        words = [_failure(pull, voice) for voice in guilty[:2]]
        more = [counted(len(guilty) - 2, "more judge")] if len(guilty) > 2 else []  # noqa: PLR2004
        return listed([*words, *more])
    others = f" and {counted(len(guilty) - 1, 'other judge')}" if len(guilty) > 1 else ""
    return f"{_silence(guilty[0])}{others}"


def _silence(voice: SeatOutcome) -> str:
    """``build (timeout)``, or the first words of a judge that has no word for its reason."""
    name, judgment = voice.ballot.judge, voice.judgment
    if judgment.label == "suppressed_here":
        return _short(first_line(judgment.reasoning))
    word = _word(judgment)
    if judgment.label == TESTS_VANISHED and (lost := _count_vanished(BuildFacts.of(judgment))):
        return f"{name} lost {lost} that ran on the base"
    return f"{name} ({word})" if word else f"{name}: {_short(first_line(judgment.reasoning))}"


def _find_hold(verdict: Verdict) -> str:
    judgment = verdict.aggregated
    return judgment.reasoning if judgment.reason in HELD_BACK else ""


def _failure(pull: PullRequest, voice: SeatOutcome) -> str:
    """``build fails, 3 new compile errors``."""
    name, judgment = voice.ballot.judge, voice.ballot.judgment
    merge, build = MergeFacts.of(judgment), BuildFacts.of(judgment)
    if merge and (place := merge.stopped_at.get("place")):
        return f"the rebase conflicts at {_short(place)}"
    if merge and pull.merge.conflicts:
        easy = all(conflict.mechanical for conflict in pull.merge.conflicts)
        which = f"merge conflicts in {counted(len(pull.merge.conflicts), 'file')}"
        return f"{which}, all easy to resolve" if easy else which
    if judgment.reason == BASE_BROKEN:
        return f"{name} fails, and so does the base"
    counts = build.ran and _failures(build.ran) if build else ""
    if merge is None and (counts := counts or _blockers(judgment)):
        return f"{name} fails, {counts}"
    line = first_line(judgment.reasoning)
    return f"{name}: {_short(line)}" if line else f"{name} fails"


def _failures(ran: BuildRunFacts) -> str:
    """``3 new compile errors``, ``2 flaky tests``."""
    new, flaky = ran.failures.get("new", {}), sum(ran.failures.get("flaky", {}).values())
    if not new:
        return counted(flaky, "flaky test") if flaky else ""
    # A broken goal or a last word is only the consequence of what has a kind of its own.
    new = {kind: count for kind, count in new.items() if kind in _KINDS} or new
    noun = _KINDS.get(next(iter(new)), "failure") if len(new) == 1 else "failure"
    return counted(sum(new.values()), f"{'new ' if ran.compared else ''}{noun}")


def _blockers(judgment: Judgment) -> str:
    blocking = blocking_checks(judgment)
    return counted(len(blocking), "finding") if any(c.location for c in blocking) else ""


def _short(text: str) -> str:
    return clean(text, _LONGEST_REASON).replace("\n", " ")
