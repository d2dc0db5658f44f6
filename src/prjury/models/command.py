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
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from prjury.deadline import Deadline
from prjury.models.choose import ChosenModel, ModelChoice
from prjury.models.wrappers import late, refuse_no_answer, refuse_size
from prjury.ports.messages import ModelError, Prompt, Reply, UnsentError
from prjury.processes import kill_by_environment
from prjury.scratch import scratch

#: Bytes that a program may print. An agent's own JSON takes more room than the answer in it.
OUTPUT_LIMIT = 1024 * 1024
#: Seconds between two looks at how much a program has printed.
_TICK = 0.1


def run_program(
    argv: Sequence[str], stdin: bytes, environ: Mapping[str, str], deadline: Deadline
) -> tuple[int, bytes]:
    """Run a program in an empty directory and a session of its own; return its code and output.

    It is killed at the deadline, when it prints too much and when this process ends, with what it
    leaves behind: processes that have left its session are known by their TMPDIR.
    """
    # No pipes: nobody has to wait for a program that reads slowly, or for what it leaves behind
    # with its output open.
    with (
        tempfile.TemporaryFile() as stdin_file,
        tempfile.TemporaryFile() as output,
        scratch("prjury-model-") as place,
    ):
        stdin_file.write(stdin)
        stdin_file.seek(0)
        process = subprocess.Popen(  # noqa: S603 - the operator's own command
            argv,
            cwd=place,
            env={**environ, "TMPDIR": str(place), "PWD": str(place)},
            stdin=stdin_file,
            stdout=output,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            code = _wait_for_exit(process, output, deadline)
        finally:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            kill_by_environment([f"TMPDIR={place}"])
        output.seek(0)
        return code, output.read(OUTPUT_LIMIT + 1)


def _wait_for_exit(process: subprocess.Popen[bytes], output: IO[bytes], deadline: Deadline) -> int:
    code = None
    while code is None:
        if not deadline.remaining:
            raise late()
        with contextlib.suppress(subprocess.TimeoutExpired):
            code = process.wait(min(_TICK, deadline.remaining))
        if os.fstat(output.fileno()).st_size > OUTPUT_LIMIT:
            raise refuse_size()
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

    What it writes to standard error is thrown away: it may hold anything, a credential too.
    """

    def __init__(self, choice: ModelChoice, environ: Mapping[str, str]) -> None:
        super().__init__(choice)
        self._program = choice.command[0]
        entries = environ.get("PATH", os.defpath).split(os.pathsep)
        self._path = os.pathsep.join(entry for entry in entries if Path(entry).is_absolute())
        self._environ = {
            name: value for name, value in environ.items() if not _KEPT_BACK.fullmatch(name)
        }

    def price(self, input_tokens: int, output_tokens: int) -> float | None:  # noqa: ARG002
        """Return nothing known: a subscription has been paid already."""
        return None

    def ask(self, prompt: Prompt, deadline: Deadline) -> Reply:
        """Return what the program answers; how many tokens that took is not known."""
        deadline = deadline.within(self._choice.timeout)
        if not deadline.remaining:
            raise late()
        return Reply(self._read_answer(self._run_or_raise(prompt, deadline)), self._choice.name)

    def _require_program(self) -> str:
        """Return the program's path; the current directory may be a pull request's and has none."""
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

    def _run_or_raise(self, prompt: Prompt, deadline: Deadline) -> bytes:
        """Return all that the program prints before it ends well."""
        argv = [self._require_program(), *self._choice.command[1:]]
        why, stdin = "", prompt.text.encode(errors="replace")
        try:
            code, printed = run_program(argv, stdin, self._environ, deadline)
        except (OSError, ValueError) as error:
            what = getattr(error, "strerror", None) or "its arguments are not valid"
            what = f"cannot be started: {what}"
        else:
            if code == 0:
                return printed
            if code > 0:
                why = "It is not logged in, or does not know one of its arguments"
            what = f"ended with exit code {code}" if code > 0 else f"was ended by signal {-code}"
        raise ModelError(
            f"`{self._program}` {what}",
            "provider_error",
            why=why,
            remedy=f"Run `{self._program}` by hand, with a question on its standard input",
        ) from None

    def _read_answer(self, printed: bytes) -> str:
        try:
            text = printed.decode()
        except UnicodeDecodeError:
            raise self._strange("prints what is not UTF-8") from None
        if text.strip() and self._choice.answer is not None:
            text = self._extract_answer(text, self._choice.answer)
        refuse_no_answer(text)
        return text.strip()

    def _extract_answer(self, text: str, answer_path: str) -> str:
        """Return the text at a dotted path of keys and indices; JSON is written out as such."""
        try:
            value: Any = json.loads(text)
        except (ValueError, RecursionError):
            raise self._strange("does not print JSON") from None
        try:
            for part in answer_path.split("."):
                value = value[int(part)] if isinstance(value, list) else value[part]
        except (LookupError, TypeError, ValueError):
            raise self._strange(f"prints JSON without `{answer_path}`") from None
        if isinstance(value, str):
            return value
        if isinstance(value, dict | list):
            return json.dumps(value, ensure_ascii=False)
        raise self._strange(f"prints JSON whose `{answer_path}` is no text")

    def _strange(self, what: str) -> ModelError:
        remedy = "Check the program's options for its output, and `answer` in the configuration"
        return ModelError(f"`{self._program}` {what}", "provider_error", remedy=remedy)
