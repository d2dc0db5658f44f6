"""A model behind a program: the prompt goes to its standard input, the answer is what it prints.

Such programs bring a login of their own, which lies in the operator's home directory or
environment; so they get both, but for what opens the repository or the CI run. What they may do
beside answering is for their own options to say: the prompt holds code from strangers, and a
program that follows instructions found there must have no tools.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from prjury.deadline import Deadline
from prjury.models.choose import ModelChoice
from prjury.models.connect import ChosenModel
from prjury.models.wrappers import late, refuse_no_answer, too_large
from prjury.ports.messages import ModelError, Prompt, Reply, UnsentError
from prjury.processes import kill_marked

#: Bytes that a program may print. An agent's own JSON takes more room than the answer in it.
OUTPUT_LIMIT = 1024 * 1024

#: Seconds between two looks at how much a program has printed.
_TICK = 0.1


class Programs:
    """Starts programs, each in an empty directory and a session of its own, and ends them.

    A program is killed at its deadline, when it prints too much, and by `close`; what it leaves
    behind is killed when it ends. Processes that have left its session are known by their TMPDIR,
    where there is a ``/proc``.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: dict[Path, subprocess.Popen[bytes]] = {}
        self._closed = False

    def run(
        self, argv: Sequence[str], asked: bytes, environ: Mapping[str, str], deadline: Deadline
    ) -> tuple[int, bytes]:
        """The exit code, minus the signal's number if a signal ended it, and all that is printed.

        Args:
            argv: the program's path and its arguments.
            asked: what it reads from its standard input.
            environ: its environment but for TMPDIR and PWD.

        Raises:
            ModelError: ``timeout`` or ``reply_too_large``.
            OSError, ValueError: when it cannot be started.
        """
        place = Path(tempfile.mkdtemp(prefix="prjury-model-"))
        try:
            # No pipes: nobody has to wait for a program that reads slowly, or for what it leaves
            # behind with its output open.
            with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as output:
                stdin.write(asked)
                stdin.seek(0)
                process = self._start(argv, stdin, output, place, environ)
                code = _wait(process, output, deadline)
                output.seek(0)
                return code, output.read(OUTPUT_LIMIT + 1)
        finally:
            self._end(place)

    def close(self) -> None:
        """Ends all programs; none is started any more."""
        with self._lock:
            self._closed = True
            places = list(self._running)
        for place in places:
            self._end(place)

    def _start(
        self,
        argv: Sequence[str],
        stdin: IO[bytes],
        output: IO[bytes],
        place: Path,
        environ: Mapping[str, str],
    ) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._closed:
                raise ModelError("The run was interrupted", "provider_error")
            process = subprocess.Popen(  # noqa: S603 - the operator's own command
                argv,
                cwd=place,
                env={**environ, "TMPDIR": str(place), "PWD": str(place)},
                stdin=stdin,
                stdout=output,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
            self._running[place] = process
            return process

    def _end(self, place: Path) -> None:
        with self._lock:
            process = self._running.pop(place, None)
        if process is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        kill_marked(f"TMPDIR={place}")
        shutil.rmtree(place, ignore_errors=True)


def _wait(process: subprocess.Popen[bytes], output: IO[bytes], deadline: Deadline) -> int:
    """The exit code, once the program ends; what it leaves behind is not waited for."""
    code = None
    while code is None:
        if not deadline.remaining:
            raise late()
        with contextlib.suppress(subprocess.TimeoutExpired):
            code = process.wait(min(_TICK, deadline.remaining))
        if os.fstat(output.fileno()).st_size > OUTPUT_LIMIT:
            raise too_large()
    return code


#: Tokens that open the repository or the CI run, files that steer the steps after this one, and
#: the agent that signs with the operator's keys.
_KEPT_BACK = re.compile(
    r"(GH|GITHUB)_(\w+_)?(TOKEN|PAT)|GITHUB_(ENV|OUTPUT|PATH|STATE|STEP_SUMMARY)"
    r"|(ACTIONS|INPUT|PRJURY)_.*|CI_\w*(TOKEN|JWT|PASSWORD)\w*|SYSTEM_ACCESSTOKEN|SSH_AUTH_SOCK|OLDPWD",
    re.IGNORECASE | re.DOTALL,
)


class CommandModel(ChosenModel):
    """Starts the program anew for each prompt, without a shell, in an empty directory.

    The program leads a session of its own. It is killed at the deadline, when it prints too much
    and when this process ends; processes that it leaves behind are killed when it ends. What it
    writes to standard error is thrown away: it may hold anything, a credential too.

    Args:
        choice: a model with a command.
        environ: the operator's environment.
    """

    def __init__(self, choice: ModelChoice, environ: Mapping[str, str]) -> None:
        super().__init__(choice)
        self._program = choice.command[0]
        self._path = _absolute(environ.get("PATH", os.defpath))
        self._environ = {
            name: value for name, value in environ.items() if not _KEPT_BACK.fullmatch(name)
        }
        self._programs = Programs()
        # A judge's thread is a daemon: neither Ctrl-C nor the end of the process unwinds it.
        weakref.finalize(self, self._programs.close)

    def price(self, input_tokens: int, output_tokens: int) -> float | None:  # noqa: ARG002
        """Not known: a subscription has been paid already."""
        return None

    def ask(self, prompt: Prompt, deadline: Deadline) -> Reply:
        """Return what the program answers; how many tokens that took is not known.

        Raises:
            ModelError: ``not_installed``, ``timeout``, ``reply_too_large``; ``refused`` for an
                empty answer; ``provider_error`` when the program fails or its output is not
                understood.
        """
        deadline = deadline.within(self._choice.timeout)
        if not deadline.remaining:
            raise late()
        return Reply(self._answer(self._read_output(prompt, deadline)), self._choice.name)

    @property
    def _remedy(self) -> str:
        return f"Run `{self._program}` by hand, with a question on its standard input"

    def _find_program(self) -> str:
        """The program's path; the current directory, which may be a pull request's, has none."""
        program = None
        if "/" not in self._program or Path(self._program).is_absolute():
            program = shutil.which(self._program, path=self._path)
        if program:
            return program
        raise UnsentError(
            f"`{self._program}` is not installed",
            "not_installed",
            why="It is no program on the PATH, and no absolute path of one",
            remedy="Install it, or change `command` in the configuration",
        )

    def _read_output(self, prompt: Prompt, deadline: Deadline) -> bytes:
        """All that the program prints before it ends well.

        Raises:
            ModelError: when it is missing, takes or prints too much, or fails.
        """
        argv = [self._find_program(), *self._choice.command[1:]]
        try:
            code, printed = self._programs.run(
                argv, prompt.text.encode(errors="replace"), self._environ, deadline
            )
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or "its arguments are not valid"
            what = f"`{self._program}` cannot be started: {why}"
            raise ModelError(what, "provider_error", remedy=self._remedy) from None
        if code == 0:
            return printed
        killed = f"`{self._program}` was ended by signal {-code}"
        failed = f"`{self._program}` ended with exit code {code}"
        raise ModelError(
            failed if code > 0 else killed,
            "provider_error",
            why="It is not logged in, or does not know one of its arguments" if code > 0 else "",
            remedy=self._remedy,
        )

    def _answer(self, printed: bytes) -> str:
        try:
            text = printed.decode()
        except UnicodeDecodeError:
            raise self._strange("prints what is not UTF-8") from None
        if text.strip() and self._choice.answer is not None:
            text = self._pick_answer(text, self._choice.answer)
        refuse_no_answer(text)
        return text.strip()

    def _pick_answer(self, text: str, answer: str) -> str:
        """The text at a dotted path of keys and indices; JSON values are written out as JSON."""
        try:
            value: Any = json.loads(text)
        except (ValueError, RecursionError):
            raise self._strange("does not print JSON") from None
        try:
            for part in answer.split("."):
                value = value[int(part)] if isinstance(value, list) else value[part]
        except (LookupError, TypeError, ValueError):
            raise self._strange(f"prints JSON without `{answer}`") from None
        if isinstance(value, str):
            return value
        if isinstance(value, dict | list):
            return json.dumps(value, ensure_ascii=False)
        raise self._strange(f"prints JSON whose `{answer}` is no text")

    def _strange(self, what: str) -> ModelError:
        remedy = "Check the program's options for its output, and `answer` in the configuration"
        return ModelError(f"`{self._program}` {what}", "provider_error", remedy=remedy)


def _absolute(path: str) -> str:
    return os.pathsep.join(entry for entry in path.split(os.pathsep) if Path(entry).is_absolute())
