"""The judge `python`: a function of a file of the base, called in the contained shell."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import msgspec
from msgspec import Meta, Struct

from prjury.errors import CannotJudgeError, ConfigError
from prjury.judges.context import PullRequestContext
from prjury.judges.functions import call
from prjury.judges.workspace.files import judge_checks, judge_or_error, open_regular
from prjury.judges.workspace.program_judges import delete_log
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Check, Judgment, Location, Severity, Status
from prjury.jury.score import BooleanScore
from prjury.policy.options import FunctionOptions
from prjury.ports import Ports
from prjury.ports.types import ShellCommand
from prjury.snapshot.kinds import REGULAR_MODES
from prjury.snapshot.model import FileChange, FileStatus, PullRequest, visible

_MOST_LISTED = 200
#: Bytes of an answer, and of what a rule may print.
_LARGEST_ANSWER, _MOST_OUTPUT = 1024**2, 8 * 1024**2
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
    answer: bool | _Text | tuple[_Text | _CheckAnswer, ...] | _JudgmentAnswer
    about: str


def read_answer(content: bytes, function: str) -> Judgment:
    """Turn a rule's answer into a judgment; CannotJudgeError for anything that is none."""
    try:
        reply = msgspec.json.decode(content, type=_Reply)
    except (msgspec.DecodeError, ValueError) as error:
        what = f"the answer of {function} cannot be read: {visible(str(error))}"
        why = "An answer is true or false, a text that says what is wrong, several, or a judgment"
        remedy = "Return one of these on every path through the function"
        raise CannotJudgeError(what, why=why, remedy=remedy, reason="answer_invalid") from error
    answer, about = reply.answer, reply.about or function
    if isinstance(answer, _JudgmentAnswer):
        checks = _make_checks(answer.checks, function)
        if answer.status is Status.ERROR:
            return Judgment.errored(answer.reasoning, checks=checks, metadata={"reason": "rule"})
        passes = answer.status is Status.PASS
        score = None if answer.status is Status.ABSTAIN else BooleanScore(passes)
        return Judgment(answer.status, answer.reasoning, score, label=answer.label, checks=checks)
    if isinstance(answer, bool):
        words = about if answer else f"not so: {about}"
        return judge_checks([Check(function, answer, about)], words)
    texts = (answer,) if isinstance(answer, str) else answer
    entries = [_CheckAnswer(entry) if isinstance(entry, str) else entry for entry in texts]
    wrong = [entry.message for entry in entries if not entry.passed]
    checks = _make_checks(entries, function) or (Check.ok(function, about),)
    more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
    return judge_checks(checks, f"{wrong[0]}{more}" if wrong else about)


def _make_checks(answers: Sequence[_CheckAnswer], function: str) -> tuple[Check, ...]:
    checks = []
    for answer in sorted(answers, key=lambda answer: answer.passed)[:_MOST_LISTED]:
        place = Location(answer.path, answer.line) if answer.path else None
        name, severity = answer.name or function, answer.severity
        checks.append(Check(name, answer.passed, answer.message, place, severity, fix=answer.fix))
    if rest := len(answers) - len(checks):
        passed = all(answer.passed for answer in answers)
        checks.append(Check(function, passed, f"and {rest} more"))
    return tuple(checks)


def make_pull_view(pull: PullRequest) -> dict[str, Any]:
    """Return a pull request as the data that a rule sees."""
    same = "repo number title body author draft merge_base additions deletions".split()
    return {
        "schema": "prjury/pull/v1",
        **{key: getattr(pull, key) for key in same},
        "labels": list(pull.labels),
        "base": {"ref": pull.base.ref, "sha": pull.base.sha},
        "head": {"ref": pull.head.ref, "sha": pull.head.sha},
        "paths": [file.path for file in pull.files if file.status is not FileStatus.DELETED],
        "files": [_describe_file(file) for file in pull.files],
    }


def _describe_file(file: FileChange) -> dict[str, Any]:
    same = "path old_path status kind additions deletions unread".split()
    lines = [line for hunk in file.hunks for line in hunk.lines]
    return {
        **{key: getattr(file, key) for key in same},
        "added": [{"line": line.new, "text": line.text} for line in lines if line.sign == "+"],
        "removed": [{"line": line.old, "text": line.text} for line in lines if line.sign == "-"],
    }


def make(options: FunctionOptions, ports: Ports) -> PythonRule:
    """Make the judge, with the rule's text as it is in the base; ConfigError if it is not there."""
    what = f"the rules {options.file} cannot be read"
    if options.commit is None:
        try:
            return PythonRule(options, ports, Path(options.file).read_bytes(), options.function)
        except OSError as error:
            raise ConfigError(f"{what}: {error.strerror}") from error
    for entry in ports.repository.files(options.commit):
        if entry.path == options.file and entry.mode in REGULAR_MODES:
            content = ports.repository.read([entry.blob])[entry.blob]
            if content is None:
                why = "This partial clone lacks their content"
                raise CannotJudgeError(what, why=why, reason="object_missing")
            return PythonRule(options, ports, content, options.function)
    what = f"there is no file {options.file} in the base commit {options.commit[:12]}"
    raise ConfigError(what, remedy="Add it to the base branch before the policy names it")


class PythonRule(Struct, frozen=True):
    """PASS or FAIL as the function says, which is called before anything of the change runs."""

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
        key = f"rule {self.options.file}:{self.name}"
        return context.once.get(key, lambda: judge_or_error(lambda: self._call_function(context)))

    def _call_function(self, context: PullRequestContext) -> Judgment:
        shell = self.ports.shell
        with shell.scratch() as around:
            (around / "rule.py").write_bytes(self.source)
            view = json.dumps(make_pull_view(context.pull), allow_nan=False)
            (around / "pull.json").write_text(view, "ascii")
            files = ("rule.py", self.options.file, self.name, "pull.json", "answer.json")
            argv = (sys.executable, "-I", "-S", str(Path(call.__file__).resolve()), *files)
            env = shell.environment()
            command = ShellCommand(argv, around, env, output_limit=_MOST_OUTPUT)
            deadline = context.deadline.within(self.options.timeout)
            done = shell.run(command, deadline, self.ports.progress)
            last = done.tail().split("\n")[-1].strip()
            delete_log(done)
            if done.stopped == "timeout":
                words = f"{self.name} did not answer within {self.options.timeout:g} s"
                raise CannotJudgeError(words, reason=done.stopped)
            if done.stopped:
                raise CannotJudgeError(f"{self.name} was stopped", reason=done.stopped)
            if done.exit_code:
                what = f"{self.name} of {self.options.file} failed: {visible(last) or 'no word'}"
                remedy = "Correct the rule on the base branch"
                raise CannotJudgeError(what, remedy=remedy, reason="rule_failed")
            return read_answer(_read_answer_file(around / "answer.json", self.name), self.name)


def _read_answer_file(place: Path, function: str) -> bytes:
    try:
        with open_regular(place) as file:
            content = file.read(_LARGEST_ANSWER + 1)
    except OSError as error:
        words = f"{function} ended without an answer"
        raise CannotJudgeError(words, reason="answer_invalid") from error
    if len(content) > _LARGEST_ANSWER:
        raise CannotJudgeError(f"{function} answered with more than 1 MiB", reason="too_large")
    return content
