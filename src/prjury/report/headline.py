"""The decision in words: the first line, its reasons, and what opens a closed gate."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from prjury.jury.gate import UNREAD_CONTENT, Gate
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Check, Judgment, Status
from prjury.jury.verdicts import TierAttempt, Verdict
from prjury.jury.voting import BENIGN_LABELS, NOBODY_VOTED, NOT_APPLICABLE, NOT_CONFIGURED, Ballot
from prjury.report.findings import (
    HELD_BACK,
    SeatOutcome,
    blocking_checks,
    list_seats_against_pass,
    seat_outcomes,
)
from prjury.report.judge_facts import (
    BASE_BROKEN,
    NO_COMPARISON,
    TESTS_VANISHED,
    BuildFacts,
    MergeFacts,
    RemedyFacts,
    RunFacts,
    SnippetFacts,
)
from prjury.report.model import Coverage, Report
from prjury.report.sanitise import clean
from prjury.report.wording import first_line, first_words, join_words, pluralize
from prjury.resources import DOCUMENTATION
from prjury.snapshot.kinds import edits_only_docs
from prjury.snapshot.model import FileKind, PullRequest, printable, visible

READY = "✅ Ready to merge"
NOTHING_FOUND = "✅ Nothing found against it"
GATE_OPEN = "⚠️ May be merged"
DO_NOT = "❌ Do not merge"
HUMAN = "⚠️ Needs a human"
UNJUDGED = "⚪ Could not be judged"
#: Stands before any of these.
OVERRIDDEN = "⚠️ Overridden"

_LONGEST_REASON = 120
_KINDS = {"compile": "compile error", "test": "test failure", "lint": "lint error"}


def headline(pull: PullRequest, verdict: Verdict, gate: Gate, coverage: Coverage) -> str:
    if verdict.status is Status.PASS:
        is_open = gate is Gate.SUCCESS
        return _describe_pass(pull, verdict, coverage) if is_open else _name_unconfigured(verdict)
    unvoted = verdict.aggregated.label == NOBODY_VOTED
    decision = UNJUDGED if verdict.status is Status.ERROR or unvoted else HUMAN
    decision = DO_NOT if verdict.status is Status.FAIL else decision
    line = f"{decision}: {_phrase_why_not_passed(pull, verdict)}"
    return f"{line} (not gating)" if gate is Gate.SUCCESS else line


def list_who_and_why(report: Report) -> tuple[tuple[str, str], ...]:
    """Return what decided, beyond the headline: who said it (or "") and the first line of it."""
    pull, verdict = report.pull, report.verdict
    if _find_hold(verdict):
        return ()
    if verdict.status is Status.PASS:
        against = tuple(pair for tier in verdict.attempts for pair in _list_advisers_against(tier))
        if against:
            return against
        seats = [seat for seat in seat_outcomes(verdict) if seat.counts]
        seats = [seat for seat in seats if seat.judgment.status is Status.PASS]
    else:
        seats = list(list_seats_against_pass(verdict))
    pairs = tuple(
        (seat.ballot.judge, first_words(seat.judgment) or _describe_failure(pull, seat))
        for seat in seats
    )
    return pairs or (("", first_line(verdict.aggregated.reasoning)),)


def _list_advisers_against(attempt: TierAttempt) -> list[tuple[str, str]]:
    is_unheard = attempt.status is Status.ERROR or (
        attempt.status is Status.ABSTAIN and attempt.worrying_abstention
    )
    objects = attempt.status is Status.FAIL or is_unheard
    if attempt.verdict is None or not attempt.advisory or not objects:
        return []
    ballots = [b for b in attempt.verdict.ballots if b.judgment.status is attempt.status]
    pairs = []
    for ballot in ballots:
        errors = _list_errors(ballot)
        words = first_line(ballot.judgment.reasoning)
        if errors and errors[0].message.strip():
            place = f" ({errors[0].location})" if errors[0].location else ""
            more = f" and {pluralize(len(errors) - 1, 'other problem')}" if len(errors) > 1 else ""
            words = f"{first_line(errors[0].message)}{place}{more}"
        pairs.append((ballot.judge, words))
    return pairs or [(attempt.name, first_line(attempt.verdict.aggregated.reasoning))]


def _list_errors(ballot: Ballot) -> list[Check]:
    return [check for check in ballot.judgment.failed_checks if check.severity == "error"]


def _describe_pass(pull: PullRequest, verdict: Verdict, coverage: Coverage) -> str:
    limits = "; ".join(filter(None, _list_caveats(pull, verdict, coverage)))
    advice = list(filter(None, map(_describe_advice_against, verdict.attempts)))
    overruled = any(seat.judgment.status is Status.FAIL for seat in _list_blocking(verdict))
    decision = READY if is_built_and_tested(pull, verdict) else NOTHING_FOUND
    decision = GATE_OPEN if advice or overruled else decision
    line = f"{decision}, but {join_words(advice)}" if advice else decision
    return f"{line} ({limits})" if limits else line


def is_advised_against(verdict: Verdict) -> bool:
    return any(map(_describe_advice_against, verdict.attempts))


def is_built_and_tested(pull: PullRequest, verdict: Verdict) -> bool:
    """Return true if the tree that would be merged was built, with results of tests."""
    builds = _list_passed_builds(verdict)
    for build in builds:
        has_tested = build.tests.run > 0 if build.tests else not build.test_files
        if not has_tested or _describe_other_base(pull, build):
            return False
    return bool(builds)


def _list_passed_builds(verdict: Verdict) -> list[BuildFacts]:
    judgments = (seat.judgment for seat in _list_blocking(verdict))
    passed = (judgment for judgment in judgments if judgment.status is Status.PASS)
    return [build for judgment in passed if (build := BuildFacts.parse(judgment))]


def _describe_other_base(pull: PullRequest, build: BuildFacts) -> str:
    base = build.tested_base
    if build.origin != "checks" or pull.base.sha == base or not pull.behind:
        return ""
    ref = _shorten_reason(printable(pull.base.ref))
    if base is None:
        return f"CI tested this head, perhaps on an older {ref}"
    if not base:
        return f"CI tested this head alone, not its merge with {ref}"
    return f"CI tested this head on {ref}@{base[:7]}, {ref} is at {pull.base.sha[:7]}"


def _list_caveats(pull: PullRequest, verdict: Verdict, coverage: Coverage) -> Iterator[str]:
    """Name what the decision does not rest on, so that nobody takes it for more than it is."""
    blocking = _list_blocking(verdict)
    for seat in blocking:
        if seat.judgment.status is Status.FAIL:
            how = "was outvoted" if seat.counts else f"{verdict.decided_by} decided after it"
            yield f"{seat.ballot.judge} fails and {how}"
        elif reserve := ", and ".join(filter(None, _list_build_caveats(seat.judgment))):
            yield f"{seat.ballot.judge} {reserve}"
    if not pull.files:
        yield "no file changes"
    elif edits_only_docs(pull):
        yield "only documentation changes"
    ended = [seat for seat in blocking if seat.judgment.status in {Status.PASS, Status.FAIL}]
    if any(BuildFacts.parse(seat.judgment) for seat in ended):
        builds = _list_passed_builds(verdict)
        for build in builds:
            yield _describe_other_base(pull, build)
            is_compared = build.tests is not None and build.tests.base is not None
            yield "tests not compared" if build.origin == "checks" and not is_compared else ""
        unbuilt = sum(len(build.unbuilt or ()) for build in builds)
        yield f"{pluralize(unbuilt, 'file')} not built" if unbuilt else ""
    else:
        yield "not built"
        yield "" if edits_only_docs(pull) else _count_unread(coverage)
    answers = [seat for seat in seat_outcomes(verdict) if seat.judgment.label not in BENIGN_LABELS]
    if all(seat.ballot.type is JudgeType.DETERMINISTIC for seat in answers):
        yield "no model asked"
        yield _name_silent(answers)
    else:
        yield _name_silent(seat_outcomes(verdict))


def _list_blocking(verdict: Verdict) -> list[SeatOutcome]:
    return [seat for seat in seat_outcomes(verdict) if not seat.attempt.advisory]


def _count_unread(coverage: Coverage) -> str:
    unread, total = coverage.files_total - coverage.files_judged, coverage.files_total
    words = "no file" if unread == total else f"{unread:,} of {total:,} files not"
    return f"{words} read" if unread else ""


def _name_silent(seats: Iterable[SeatOutcome]) -> str:
    silent = [seat for seat in seats if _is_silent(seat)]
    names = join_words([seat.ballot.judge for seat in silent])
    words = filter(None, (_find_word(seat.judgment) for seat in silent))
    reasons = join_words(list(dict.fromkeys(words)))
    return f"{names} gave no answer{f': {reasons}' if reasons else ''}" if silent else ""


def _is_silent(seat: SeatOutcome) -> bool:
    judgment, is_advisory = seat.judgment, seat.attempt.advisory
    if judgment.status not in {Status.ABSTAIN, Status.ERROR} or judgment.label == NOT_APPLICABLE:
        return False
    is_model = seat.ballot.type is not JudgeType.DETERMINISTIC
    has_voted = seat.attempt.status in {Status.PASS, Status.FAIL}
    return is_advisory or (is_model and (has_voted or judgment.label == NOT_CONFIGURED))


def _find_word(judgment: Judgment) -> str:
    return _shorten_reason(judgment.reason or judgment.label or "").replace("_", " ")


def _list_build_caveats(judgment: Judgment) -> Iterator[str]:
    build = BuildFacts.parse(judgment)
    if build is None:
        return
    yield _describe_test_caveat(judgment, build)
    if build.settings:
        more = f" and {len(build.settings) - 1} more" if len(build.settings) > 1 else ""
        place = _shorten_reason(build.settings[0])
        yield f"used test settings that this change edits: {place}{more}"


def _describe_test_caveat(judgment: Judgment, build: BuildFacts) -> str:
    tests = build.tests
    if build.note == "flaky":
        return "has flaky tests"
    if build.note == NO_COMPARISON:
        return "ran tests that cannot be compared with the base's"
    if build.note == "pre_existing" or RunFacts.parse(judgment).exit_code:
        return "fails as on the base"
    if build.failures is not None and not tests:
        files = f", though the tree has {pluralize(build.test_files, 'test file')}"
        return f"shows no test results{files if build.test_files else ''}"
    if tests and not tests.run:
        return f"ran no test{', all were skipped' if tests.skipped else ''}"
    lost = _count_vanished(build)
    return f"lost {lost} that ran on the base" if lost else ""


def _count_vanished(build: BuildFacts | None) -> str:
    tests = build.tests if build else None
    return pluralize(tests.vanished, "test") if tests and tests.vanished else ""


def _describe_advice_against(attempt: TierAttempt) -> str:
    if not attempt.advisory or attempt.verdict is None or attempt.status is not Status.FAIL:
        return ""
    against = f"{attempt.name} advises against it"
    ballots = [b for b in attempt.verdict.ballots if b.judgment.status is Status.FAIL]
    errors = sum(len(_list_errors(ballot)) for ballot in ballots)
    if not errors:
        return against
    if all(ballot.type is JudgeType.DETERMINISTIC for ballot in ballots):
        return f"{against}: {pluralize(errors, 'finding')}"
    return f"{against}: the model found {pluralize(errors, 'problem')}"


def _name_unconfigured(verdict: Verdict) -> str:
    seats = [s for s in _list_blocking(verdict) if s.judgment.label == NOT_CONFIGURED]
    who = join_words([seat.ballot.judge for seat in seats]) or "a judge"
    return f"{HUMAN}: no model is configured for {who}, and the policy requires one"


def _phrase_why_not_passed(pull: PullRequest, verdict: Verdict) -> str:
    if reason := _find_hold(verdict):
        return "; ".join(filter(None, [reason, _name_silent(seat_outcomes(verdict))]))
    guilty = list_seats_against_pass(verdict)
    if not guilty or verdict.aggregated.label == NOBODY_VOTED:
        return _shorten_reason(first_line(verdict.aggregated.reasoning))
    if verdict.status is Status.FAIL:
        words = [_describe_failure(pull, seat) for seat in guilty[:2]]
        more = [pluralize(len(guilty) - 2, "more judge")] if len(guilty) > 2 else []  # noqa: PLR2004
        return join_words([*words, *more])
    others = f" and {pluralize(len(guilty) - 1, 'other judge')}" if len(guilty) > 1 else ""
    return f"{_describe_missing_vote(guilty[0])}{others}"


def _describe_missing_vote(seat: SeatOutcome) -> str:
    """``build (timeout)``, or the first words of a judge that has no word for its reason."""
    name, judgment = seat.ballot.judge, seat.judgment
    words, reason = _shorten_reason(first_line(judgment.reasoning)), _find_word(judgment)
    if judgment.label == "suppressed_here":
        return words
    if judgment.label == TESTS_VANISHED and (lost := _count_vanished(BuildFacts.parse(judgment))):
        return f"{name} lost {lost} that ran on the base"
    return f"{name} ({reason})" if reason else f"{name}: {words}"


def _find_hold(verdict: Verdict) -> str:
    judgment = verdict.aggregated
    return judgment.reasoning if judgment.reason in HELD_BACK else ""


def _describe_failure(pull: PullRequest, seat: SeatOutcome) -> str:
    name, judgment = seat.ballot.judge, seat.judgment
    merge, build = MergeFacts.parse(judgment), BuildFacts.parse(judgment)
    if merge and (place := merge.stopped_at.get("place")):
        return f"the rebase conflicts at {_shorten_reason(place)}"
    if merge and pull.merge.conflicts:
        easy = all(conflict.mechanical for conflict in pull.merge.conflicts)
        files = pluralize(len(pull.merge.conflicts), "file")
        return f"merge conflicts in {files}{', all easy to resolve' if easy else ''}"
    if judgment.reason == BASE_BROKEN:
        return f"{name} fails, and so does the base"
    counts, blocking = _describe_failure_counts(build) if build else "", blocking_checks(judgment)
    if not counts and any(check.location for check in blocking):
        counts = pluralize(len(blocking), "finding")
    if merge is None and counts:
        return f"{name} fails, {counts}"
    line = first_line(judgment.reasoning)
    return f"{name}: {_shorten_reason(line)}" if line else f"{name} fails"


def _describe_failure_counts(build: BuildFacts) -> str:
    failures = build.failures or {}
    new, flaky = failures.get("new", {}), sum(failures.get("flaky", {}).values())
    if not new:
        return pluralize(flaky, "flaky test") if flaky else ""
    # A broken goal or a last word is only the consequence of what has a kind of its own.
    new = {kind: count for kind, count in new.items() if kind in _KINDS} or new
    noun = _KINDS.get(next(iter(new)), "failure") if len(new) == 1 else "failure"
    return pluralize(sum(new.values()), f"{'new ' if build.compared else ''}{noun}")


def _shorten_reason(text: str) -> str:
    return clean(text, _LONGEST_REASON).replace("\n", " ")


_POLICY = ".github/prjury.yml of the base"
_MOST_PATHS = 5
#: A path with one of these would exempt others.
_GLOB = re.compile(r"[*?\[\\]")
_WORD = re.compile(r"[a-z_]{1,40}")
_BY_HAND = frozenset({FileKind.SOURCE, FileKind.TEST, FileKind.CONFIG, FileKind.DOCS})
_COVERAGE_FLOOR = "coverage_floor"
#: What opens a closed gate where commands in comments are answered, and where nobody answers them.
_OVERRIDING, _BYPASSING = "write `/prjury override REASON`", "merge past the required check"


class NextStep(Struct, frozen=True):
    """What to do next."""

    words: str
    snippet: SnippetFacts | None = None


def _paste_policy(words: str, *lines: str) -> NextStep:
    return NextStep(words, SnippetFacts("\n".join(lines), _POLICY, "yaml"))


_OVERRIDE = NextStep(
    "Have a maintainer decide: `/prjury override REASON` opens the gate for this commit."
)
_BYPASS = NextStep(f"Have a maintainer decide, who may {_BYPASSING}.")
#: By the reason, or the label, of a judgment that is no answer.
_STEPS = {
    NOBODY_VOTED: _paste_policy(
        "Name the command that builds and tests the project.", "build:", "  command: make test"
    ),
    TESTS_VANISHED: _paste_policy(
        f"Let these tests run again; if they were meant to go, a maintainer may {_OVERRIDING}. "
        "Or allow lost tests in every change.",
        "build:",
        "  vanished: warn",
    ),
    "no_comparison": _paste_policy(
        "Have a maintainer look at the tests. Or let every change pass whose base shows nothing.",
        "build:",
        "  vanished: warn",
    ),
    "timeout": _paste_policy("Give it more time.", "build:", "  timeout: 60m"),
    "budget": _paste_policy("Raise the limit.", "limits:", "  usd: 5.0"),
    NOT_CONFIGURED: _paste_policy(
        "Set OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY, or do without a model.",
        "gate:",
        "  not_configured: pass",
    ),
    "suppressed_here": NextStep(
        "Fix what the new comments silence, or have a maintainer confirm them."
    ),
    BASE_BROKEN: NextStep("Fix the base first: what fails here fails there as well."),
}


def next_steps(report: Report) -> tuple[NextStep, ...]:
    if report.gate is Gate.SUCCESS:
        return ()
    steps = tuple(dict.fromkeys(_list_next_steps(report)))
    if not (report.pull.number and report.answers_commands):
        way = _BYPASSING if report.pull.number else "merge anyway"
        steps = tuple(NextStep(s.words.replace(_OVERRIDING, way), s.snippet) for s in steps)
    is_decidable = report.pull.number and report.verdict.status is not Status.FAIL
    decide = _OVERRIDE if report.answers_commands else _BYPASS
    return steps or ((decide,) if is_decidable else ())


def find_help_url(report: Report) -> str | None:
    if report.gate is Gate.SUCCESS:
        return None
    verdict = report.verdict
    judgments = [verdict.aggregated, *(seat.judgment for seat in list_seats_against_pass(verdict))]
    reasons = [judgment.reason or judgment.label for judgment in judgments]
    anchor = next((reason for reason in reasons if _WORD.fullmatch(reason or "")), None)
    return f"{DOCUMENTATION}/gate.md{f'#{anchor}' if anchor else ''}"


def _list_next_steps(report: Report) -> Iterator[NextStep]:
    verdict = report.verdict
    if verdict.aggregated.reason == _COVERAGE_FLOOR:
        unread = {entry.path for entry in report.coverage.not_checked}
        # Written by hand, a file is to be read, not exempted; of others only some lines count.
        files = [file for file in report.pull.files if file.unread or file.kind not in _BY_HAND]
        paths = [
            path for file in files if file.readable and (path := printable(file.path)) in unread
        ]
        yield _suggest_exemption("Have a maintainer read what was not checked", paths)
    elif verdict.aggregated.label == UNREAD_CONTENT:
        yield _suggest_exemption("Have a maintainer look at these", report.coverage.unread_content)
    elif verdict.aggregated.label == NOBODY_VOTED:
        yield _STEPS[NOBODY_VOTED]
    elif verdict.status is Status.PASS:
        yield _STEPS[NOT_CONFIGURED]
    seats = list_seats_against_pass(verdict)
    for seat in seats:
        yield from _suggest_remedy(report, seat.judgment)
    if verdict.status is not Status.FAIL or report.pull.merge.conflicts:
        return
    failed = [seat for seat in seats if seat.judgment.reason != BASE_BROKEN]
    commands = [RunFacts.parse(seat.judgment).command for seat in failed]
    if quoted := [f"`{command}`" for command in commands if command]:
        yield NextStep(f"Reproduce it with {' and '.join(quoted)}.")


def _suggest_exemption(request: str, paths: Sequence[str]) -> NextStep:
    plain = [visible(path) for path in paths if not _GLOB.search(path)]
    quoted = (path.replace("'", "''") for path in plain[:_MOST_PATHS])
    decide = f"{request} and {_OVERRIDING}."
    if not plain:
        return NextStep(decide)
    return _paste_policy(
        f"{decide} Generated files can be exempted.",
        "coverage:",
        "  exempt:",
        *(f"    - '{path}'" for path in quoted),
    )


def _suggest_remedy(report: Report, judgment: Judgment) -> Iterator[NextStep]:
    facts, step = RemedyFacts.parse(judgment), _STEPS.get(judgment.reason or judgment.label or "")
    snippet = facts.snippet
    if snippet and snippet.where == "a comment" and not report.answers_commands:
        snippet = None
    if facts.remedy or snippet:
        words = facts.remedy.strip() or (step.words if step else "Paste this")
        words = words[:1].upper() + words[1:]
        yield NextStep(words if words[-1] in ".!?" else f"{words}.", snippet)
    elif report.pull.merge.conflicts and MergeFacts.parse(judgment):
        base = printable(report.pull.base.ref)
        words = f"Merge `{base}` into the branch, or rebase onto it, and resolve the conflicts."
        yield NextStep(words)
    elif step:
        yield step
