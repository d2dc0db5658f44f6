"""The judge `python`: a function of a file of the base, called in the contained shell."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, TypeAlias

import msgspec
from msgspec import Meta, Struct

from prjury.errors import CannotJudgeError, ConfigError
from prjury.judges.context import PullRequestContext
from prjury.judges.functions import call
from prjury.judges.workspace.files import judge_or_error, open_regular
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Check, Judgment, Location, Severity, Status
from prjury.jury.score import BooleanScore
from prjury.policy.seats import FunctionOptions
from prjury.ports import Ports, Repository
from prjury.ports.types import Completed, ShellCommand
from prjury.snapshot.kinds import REGULAR_MODES
from prjury.snapshot.model import FileChange, FileStatus, PullRequest, visible

_MOST_LISTED = 200
_LONGEST_SHOWN = 80
_Text: TypeAlias = Annotated[str, Meta(min_length=1, max_length=4_000, pattern=r"\S")]


class _CheckAnswer(Struct, frozen=True, forbid_unknown_fields=True):
    message: _Text
    name: _Text | None = None
    passed: bool = False
    path: _Text | None = None
    line: Annotated[int, Meta(ge=1, lt=10**9)] | None = None
    severity: Severity = "error"
    fix: _Text | None = None


class _JudgmentAnswer(Struct, frozen=True, forbid_unknown_fields=True):
    status: Status
    reasoning: _Text
    label: Annotated[str, Meta(pattern=r"^[a-z_]{1,40}$")] | None = None
    checks: tuple[_CheckAnswer, ...] = ()


class _Reply(Struct, frozen=True):
    answer: msgspec.Raw
    about: str


_Complaints: TypeAlias = tuple[_Text | _CheckAnswer, ...]


def read_answer(content: bytes, function: str) -> Judgment:
    """Turn a rule's answer into a judgment.

    Raises:
        CannotJudgeError: ``answer_invalid`` for an answer that means nothing, such as none.
    """
    raw = b""
    try:
        reply = msgspec.json.decode(content, type=_Reply)
        raw, about = bytes(reply.answer), reply.about or function
        form = {b"{": _JudgmentAnswer, b"[": _Complaints}.get(raw[:1], bool | _Text)
        answer: Any = msgspec.json.decode(raw, type=form)
    except msgspec.DecodeError as error:
        raise CannotJudgeError(
            f"{function} answered {_show_answer(raw)}",
            why="An answer is true or false, a text that says what is wrong, a list of such texts, "
            "or a judgment",
            remedy="Return one of these on every path through the function",
            reason="answer_invalid",
        ) from error
    if isinstance(answer, _JudgmentAnswer):
        return _make_judgment(answer, function)
    if isinstance(answer, str):
        return _vote(answer, [Check.bad(function, answer)])
    if isinstance(answer, bool):
        return _vote(about if answer else f"not so: {about}", [Check(function, answer, about)])
    entries = [_CheckAnswer(entry) if isinstance(entry, str) else entry for entry in answer]
    wrong = [entry.message for entry in entries if not entry.passed]
    checks = _make_checks(entries, function) or [Check.ok(function, about)]
    more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
    return _vote(f"{wrong[0]}{more}" if wrong else about, checks)


def _make_judgment(answer: _JudgmentAnswer, function: str) -> Judgment:
    status = answer.status
    votes = status in {Status.PASS, Status.FAIL}
    return Judgment(
        status,
        answer.reasoning,
        BooleanScore(status is Status.PASS) if votes else None,
        label=None if status is Status.ERROR else answer.label,
        checks=tuple(_make_checks(answer.checks, function)),
        metadata={"reason": "rule"} if status is Status.ERROR else {},
    )


def _make_checks(answers: Sequence[_CheckAnswer], function: str) -> list[Check]:
    checks = []
    for answer in sorted(answers, key=lambda answer: answer.passed)[:_MOST_LISTED]:
        place = Location(answer.path, answer.line) if answer.path else None
        name, severity = answer.name or function, answer.severity
        checks.append(Check(name, answer.passed, answer.message, place, severity, fix=answer.fix))
    if rest := len(answers) - len(checks):
        failed = any(not answer.passed for answer in answers)
        checks.append(Check(function, not failed, f"and {rest} more"))
    return checks


def _vote(words: str, checks: Sequence[Check]) -> Judgment:
    passes = all(check.passed for check in checks)
    make = Judgment.passed if passes else Judgment.failed
    return make(words, score=BooleanScore(passes), checks=checks)


def _show_answer(raw: bytes) -> str:
    if not raw:
        return "no JSON"
    text = "nothing" if raw == b"null" else visible(raw.decode())
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"


SCHEMA_NAME: Final = "prjury/pull/v1"

Json: TypeAlias = dict[str, Any]


def make_view(pull: PullRequest) -> Json:
    """Return a pull request as the data that a rule sees."""
    paths = [file.path for file in pull.files if file.status is not FileStatus.DELETED]
    return {
        "schema": SCHEMA_NAME,
        "repo": pull.repo,
        "number": pull.number,
        "title": pull.title,
        "body": pull.body,
        "author": pull.author,
        "draft": pull.draft,
        "labels": list(pull.labels),
        "base": {"ref": pull.base.ref, "sha": pull.base.sha},
        "head": {"ref": pull.head.ref, "sha": pull.head.sha},
        "merge_base": pull.merge_base,
        "additions": pull.additions,
        "deletions": pull.deletions,
        "paths": paths,
        "files": [_view_file(file) for file in pull.files],
    }


def _view_file(file: FileChange) -> Json:
    lines = [line for hunk in file.hunks for line in hunk.lines]
    return {
        "path": file.path,
        "old_path": file.old_path,
        "status": file.status.value,
        "kind": file.kind.value,
        "additions": file.additions,
        "deletions": file.deletions,
        "unread": file.unread,
        "added": [{"line": line.new, "text": line.text} for line in lines if line.sign == "+"],
        "removed": [{"line": line.old, "text": line.text} for line in lines if line.sign == "-"],
    }


#: Bytes of an answer, and of what a rule may print.
_LARGEST_ANSWER = 1024**2
_MOST_OUTPUT = 8 * 1024**2


def make(options: FunctionOptions, ports: Ports) -> PythonRule:
    """Make the judge, with the rule's text as it is in the base.

    Raises:
        ConfigError: for a file that is not there.
        CannotJudgeError: when a partial clone lacks it.
    """
    return PythonRule(options, ports, _read_rule(options, ports.repository), options.function)


def _read_rule(options: FunctionOptions, repository: Repository) -> bytes:
    if options.commit is None:
        try:
            return Path(options.file).read_bytes()
        except OSError as error:
            raise ConfigError(
                f"the rules {options.file} cannot be read: {error.strerror}"
            ) from error
    entries = repository.files(options.commit)
    blobs = [e.blob for e in entries if e.path == options.file and e.mode in REGULAR_MODES]
    if not blobs:
        where = f"in the base commit {options.commit[:12]}"
        raise ConfigError(
            f"there is no file {options.file} {where}",
            remedy="Add it to the base branch before the policy names it",
        )
    content = repository.read(blobs)[blobs[0]]
    if content is None:
        raise CannotJudgeError(
            f"the rules {options.file} cannot be read",
            why="This partial clone lacks their content",
            reason="object_missing",
        )
    return content


@dataclass(frozen=True)
class PythonRule:
    """PASS or FAIL as the function says, ERROR where it crashes, takes too long or says nothing.

    The function sees the change as data. It is called before anything of the change runs, once.

    Attributes:
        source: the text of the file.
        name: the function's.
    """

    options: FunctionOptions
    ports: Ports
    source: bytes
    name: str
    description: str = "a rule of this repository"
    type: JudgeType = JudgeType.DETERMINISTIC

    def prepare(self, context: PullRequestContext) -> None:
        """Call the function now: a build that runs later can change nothing of its answer."""
        self.judge(context)

    def judge(self, context: PullRequestContext, /) -> Judgment:
        """Call the function, and read its answer."""
        key = f"rule {self.options.file}:{self.name}"
        return context.once.get(key, lambda: judge_or_error(lambda: self._call(context)))

    def _call(self, context: PullRequestContext) -> Judgment:
        with self.ports.shell.scratch() as around:
            done = self._run(around, context)
            try:
                self._refuse(done)
                return read_answer(_read_file(around / "answer.json", self.name), self.name)
            finally:
                with contextlib.suppress(OSError):
                    done.log.unlink()
                    done.log.parent.rmdir()

    def _run(self, around: Path, context: PullRequestContext) -> Completed:
        (around / "rule.py").write_bytes(self.source)
        view = json.dumps(make_view(context.pull), allow_nan=False)
        (around / "pull.json").write_text(view, "ascii")
        places = ("rule.py", self.options.file, self.name, "pull.json", "answer.json")
        argv = (sys.executable, "-I", "-S", str(Path(call.__file__).resolve()), *places)
        env = self.ports.shell.environment()
        command = ShellCommand(argv, around, env, output_limit=_MOST_OUTPUT)
        deadline = context.deadline.within(self.options.timeout)
        return self.ports.shell.run(command, deadline, self.ports.progress)

    def _refuse(self, done: Completed) -> None:
        """Refuse a call that has not come to its end.

        Raises:
            CannotJudgeError: ``timeout`` or another limit, or ``rule_failed``.
        """
        if done.stopped == "timeout":
            words = f"{self.name} did not answer within {self.options.timeout:g} s"
            raise CannotJudgeError(words, reason="timeout")
        if done.stopped:
            raise CannotJudgeError(f"{self.name} was stopped", reason=done.stopped)
        if done.exit_code:
            last = next(reversed(done.tail().split("\n")), "")
            raise CannotJudgeError(
                f"{self.name} of {self.options.file} failed: {visible(last.strip()) or 'no word'}",
                why="The rule does not work for this change",
                remedy="Correct it on the base branch",
                reason="rule_failed",
            )


def _read_file(place: Path, function: str) -> bytes:
    try:
        with open_regular(place) as file:
            content = file.read(_LARGEST_ANSWER + 1)
    except OSError as error:
        words = f"{function} ended without an answer"
        raise CannotJudgeError(words, reason="answer_invalid") from error
    if len(content) > _LARGEST_ANSWER:
        raise CannotJudgeError(f"{function} answered with more than 1 MiB", reason="too_large")
    return content
