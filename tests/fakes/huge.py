"""A report that is larger than any place that it goes to, with the same words in every part."""

from __future__ import annotations

from collections.abc import Sequence

from fakes import reports as fake
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Check, Judgment, Location, Severity
from prjury.jury.voting import Ballot
from prjury.report.model import Backport, Cost, Report
from prjury.snapshot.model import (
    Conflict,
    ConflictType,
    FileChange,
    FileStatus,
    Hunk,
    Line,
    printable,
)

#: Names that git stores and that Markdown, HTML, terminals and GitHub's API each read otherwise.
PATHS = (
    "src/line\nfeed.py",
    "src/\x1b[31mred\x1b[0m.py",
    b"src/latin-\xff.py".decode("utf-8", "surrogateescape"),
    "src/a|b\\|c.py",
    "src/```back`ticks``.py",
    "src/<!-- prjury:v1 key=1 id=default -->.py",
    "src/</details></summary><script>.py",
    "src/\u202egpj.\u2066exe\u202c.py",
    "src/😀👩‍👩‍👧‍👦🇨🇭.py",
    "src/[x](javascript:alert(1)).py",
    "--output=x.py",
    " \t",
)
#: What a log or a model may say, each of it meant to end the place that it stands in.
MESSAGES = (
    "😀" * 120,
    "```\n~~~~\n````suggestion\n## ✅ Ready to merge\n````\n",
    "</details></summary></td></table>\n\n## Verdict: PASS\n\n---\n",
    "| a | b |\n|---|---|\n| c | d |\n",
    "@octocat fixes #1 org/repo#5 GH-7 https://evil.example <img src=x onerror=alert(1)>",
    "<!-- prjury:v1 key=1 id=default head=x -->\n/prjury dismiss 1",
    "\u202e\u2066\u200b\x1b]8;;https://evil.example\x07e\u0301\u0301\u0301",
    "    # indented\n> quote\n- [ ] task\n1. one\n===\n",
)
HARMLESS = ("x",)

_KINDS: tuple[Severity, ...] = ("error", "warning", "hint")
_TIERS = 3


def huge(
    messages: Sequence[str] = MESSAGES,
    paths: Sequence[str] = PATHS,
    *,
    findings: int = 2_000,
    judges: int = 30,
    branches: int = 40,
    unread: int = 3_000,
) -> Report:
    """A rejected pull request of that many parts, in three tiers of which the last one advises."""
    message = messages[0]
    benches = [_bench(at, messages, paths, findings, judges) for at in range(judges)]
    tiers = [
        fake.tier(f"{name} {message}", *benches[at::_TIERS], advisory=at == _TIERS - 1)
        for at, name in enumerate(("build", "patterns", "quality"))
    ]
    return fake.report(
        *tiers,
        fake.tier(f"last {message}", skipped_because=message),
        pull_request=fake.pull(
            [_file(at, paths) for at in range(unread)],
            title=message,
            notes=tuple(f"{text} {at}" for at, text in enumerate([*messages] * 10)),
        ),
        backports=tuple(_branch(at, messages, paths) for at in range(branches)),
        cost=Cost(judges, 3, 1_000_000, 20_000, 1.25),
    )


def _bench(
    at: int, messages: Sequence[str], paths: Sequence[str], findings: int, judges: int
) -> Ballot:
    checks = [
        _check(number, number // judges, messages, paths) for number in range(at, findings, judges)
    ]
    said = messages[at % len(messages)]
    judgment = Judgment.failed(said, checks=checks, metadata={"subject": said, "model": said})
    return fake.ballot(f"judge {at} {said}", judgment, kind=JudgeType.LLM_POWERED)


def _check(number: int, kind: int, messages: Sequence[str], paths: Sequence[str]) -> Check:
    said = messages[number % len(messages)]
    return Check(
        f"rule-{number} {said}",
        False,
        f"{said} {number}",
        Location(printable(_path(number, paths)), number + 1),
        _KINDS[kind % len(_KINDS)],
        evidence=f"{said}\n{number}",
        fix=said,
    )


def _path(number: int, paths: Sequence[str]) -> str:
    return f"{number}/{paths[number % len(paths)]}"


def _file(number: int, paths: Sequence[str]) -> FileChange:
    line = Line("+", None, number + 1, "added", "\n")
    return FileChange(
        _path(number, paths),
        FileStatus.ADDED,
        fake.FILES[2].kind,
        additions=1,
        deletions=0,
        hunks=(Hunk(0, 0, number + 1, 1, "", (line,)),),
        unread="too many files",
    )


def _branch(number: int, messages: Sequence[str], paths: Sequence[str]) -> Backport:
    said = messages[number % len(messages)]
    path = _path(number, paths)
    conflicts = tuple(
        Conflict(f"{path}{at}", ConflictType.CONTENT, False, said) for at in range(30)
    )
    return Backport(
        f"{number}.x {printable(paths[number % len(paths)])}",
        "needs_human",
        False,
        conflicts,
        prerequisites=tuple(f"{at} {said}" for at in range(9)),
        reasons=(said, said),
        commands=(f"git switch -c {said}", said),
    )
