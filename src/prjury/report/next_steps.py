"""What opens a closed gate: one sentence for each reason, and the lines to paste."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from prjury.jury.gate import UNREAD_CONTENT, Gate
from prjury.jury.judgment import Judgment, Status
from prjury.jury.voting import NOBODY_VOTED, NOT_CONFIGURED
from prjury.report.findings import culprits
from prjury.report.judge_facts import (
    BASE_BROKEN,
    TESTS_VANISHED,
    MergeFacts,
    RemedyFacts,
    RunFacts,
    SnippetFacts,
)
from prjury.report.model import Report
from prjury.resources import DOCUMENTATION
from prjury.snapshot.model import FileKind, printable, visible

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
    steps = tuple(dict.fromkeys(_list_steps(report)))
    if not report.answers_commands:
        words = [step.words.replace(_OVERRIDING, _BYPASSING) for step in steps]
        steps = tuple(map(NextStep, words, [step.snippet for step in steps]))
    is_decidable = report.pull.number and report.verdict.status is not Status.FAIL
    decide = _OVERRIDE if report.answers_commands else _BYPASS
    return steps or ((decide,) if is_decidable else ())


def gate_page(report: Report) -> str | None:
    if report.gate is Gate.SUCCESS:
        return None
    verdict = report.verdict
    judgments = [verdict.aggregated, *(seat.judgment for seat in culprits(verdict))]
    reasons = [judgment.reason or judgment.label for judgment in judgments]
    anchor = next((reason for reason in reasons if _WORD.fullmatch(reason or "")), None)
    return f"{DOCUMENTATION}/gate.md{f'#{anchor}' if anchor else ''}"


def _list_steps(report: Report) -> Iterator[NextStep]:
    verdict = report.verdict
    if verdict.aggregated.reason == _COVERAGE_FLOOR:
        unread = {entry.path for entry in report.coverage.not_checked}
        # Written by hand, a file is to be read, not exempted; of others only some lines count.
        files = [file for file in report.pull.files if file.unread or file.kind not in _BY_HAND]
        paths = [
            path for file in files if file.readable and (path := printable(file.path)) in unread
        ]
        yield _exempt("Have a maintainer read what was not checked", paths)
    elif verdict.aggregated.label == UNREAD_CONTENT:
        yield _exempt("Have a maintainer look at these", report.coverage.unread_content)
    elif verdict.aggregated.label == NOBODY_VOTED:
        yield _STEPS[NOBODY_VOTED]
    elif verdict.status is Status.PASS:
        yield _STEPS[NOT_CONFIGURED]
    for seat in culprits(verdict):
        yield from _find_step(report, seat.judgment)
    if verdict.status is not Status.FAIL or report.pull.merge.conflicts:
        return
    failed = [seat for seat in culprits(verdict) if seat.judgment.reason != BASE_BROKEN]
    commands = [RunFacts.of(seat.judgment).command for seat in failed]
    if quoted := [f"`{command}`" for command in commands if command]:
        yield NextStep(f"To reproduce: {' and '.join(quoted)}.")


def _exempt(words: str, paths: Sequence[str]) -> NextStep:
    plain = [visible(path) for path in paths if not _GLOB.search(path)]
    quoted = (path.replace("'", "''") for path in plain[:_MOST_PATHS])
    decide = f"{words} and {_OVERRIDING}."
    if not plain:
        return NextStep(decide)
    return _paste_policy(
        f"{decide} Generated files can be exempted.",
        "coverage:",
        "  exempt:",
        *(f"    - '{path}'" for path in quoted),
    )


def _find_step(report: Report, judgment: Judgment) -> Iterator[NextStep]:
    facts, step = RemedyFacts.of(judgment), _STEPS.get(judgment.reason or judgment.label or "")
    snippet = facts.snippet
    if snippet and snippet.where == "a comment" and not report.answers_commands:
        snippet = None
    if facts.remedy or snippet:
        words = facts.remedy.strip() or (step.words if step else "Paste this")
        words = words[:1].upper() + words[1:]
        yield NextStep(words if words[-1] in ".!?" else f"{words}.", snippet)
    elif report.pull.merge.conflicts and MergeFacts.of(judgment):
        base = printable(report.pull.base.ref)
        words = f"Merge `{base}` into the branch, or rebase onto it, and resolve the conflicts."
        yield NextStep(words)
    elif step:
        yield step
