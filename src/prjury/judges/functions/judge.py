"""The judge `python`: a function of a file of the base, called in the contained shell."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from prjury.errors import CannotJudgeError, ConfigError
from prjury.judges.context import PullRequestContext
from prjury.judges.functions import call
from prjury.judges.functions.answer import judgment_of
from prjury.judges.functions.view import view_of
from prjury.judges.workspace.files import answered, open_regular
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Judgment
from prjury.policy.seats import FunctionOptions
from prjury.ports import Ports, Repository
from prjury.ports.types import Completed, ShellCommand
from prjury.snapshot.kinds import REGULAR_MODES
from prjury.snapshot.model import PullRequest, visible

#: Bytes of an answer, and of what a rule may print.
_LARGEST_ANSWER = 1024**2
_MOST_OUTPUT = 8 * 1024**2


def make(options: FunctionOptions, ports: Ports) -> PythonRule:
    """The judge, with the rule's text as it is in the base.

    Raises:
        ConfigError: for a file that is not there.
        CannotJudgeError: when a partial clone lacks it.
    """
    return PythonRule(options, ports, _text(options, ports.repository), options.function)


def _text(options: FunctionOptions, repository: Repository) -> bytes:
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
        """The answer of the function."""
        key = f"rule {self.options.file}:{self.name}"
        return context.once.get(key, lambda: answered(lambda: self._called(context)))

    def _called(self, context: PullRequestContext) -> Judgment:
        with self.ports.shell.scratch() as around:
            done = self._run(around, context)
            try:
                self._refuse(done)
                return judgment_of(_answer(around / "answer.json", self.name), self.name)
            finally:
                with contextlib.suppress(OSError):
                    done.log.unlink()
                    done.log.parent.rmdir()

    def _run(self, around: Path, context: PullRequestContext) -> Completed:
        for name, content in self._files(context.pull).items():
            (around / name).write_bytes(content)
        places = ("rule.py", self.options.file, self.name, "pull.json", "answer.json")
        argv = (sys.executable, "-I", "-S", str(Path(call.__file__).resolve()), *places)
        env = self.ports.shell.environment()
        command = ShellCommand(argv, around, env, output_limit=_MOST_OUTPUT)
        deadline = context.deadline.within(self.options.timeout)
        return self.ports.shell.run(command, deadline, self.ports.progress)

    def _files(self, pull: PullRequest) -> Mapping[str, bytes]:
        view = json.dumps(view_of(pull), allow_nan=False)
        return {"rule.py": self.source, "pull.json": view.encode("ascii")}

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


def _answer(place: Path, function: str) -> bytes:
    try:
        with open_regular(place) as file:
            content = file.read(_LARGEST_ANSWER + 1)
    except OSError as error:
        words = f"{function} ended without an answer"
        raise CannotJudgeError(words, reason="answer_invalid") from error
    if len(content) > _LARGEST_ANSWER:
        raise CannotJudgeError(f"{function} answered with more than 1 MiB", reason="too_large")
    return content
