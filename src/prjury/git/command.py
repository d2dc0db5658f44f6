"""Runs git: fixed arguments, own environment, own process group, time limit, output cap."""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from prjury.errors import SourceError
from prjury.snapshot.model import visible

#: No git command of ours takes longer, even on a large monorepo with a cold cache.
TIMEOUT = 120.0
#: Bytes of output beyond which a command is stopped.
OUTPUT_LIMIT = 256 * 1024 * 1024

_OPTIONS = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.attributesFile=/dev/null",
    "core.quotePath=true",
    "submodule.recurse=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "credential.helper=",
    "diff.external=",
    "diff.renameLimit=2000",
    "merge.renameLimit=2000",
    "protocol.allow=never",
)


#: Words by which git tells of objects that it cannot read.
_DAMAGE = (
    "corrupt",
    "unable to",
    "bad object",
    "bad tree",
    "loose object",
    "object file",
    "header",
)


class GitError(SourceError):
    """Git did not do what was asked; ``stderr`` holds its own words."""

    default_reason = "git_failed"

    def __init__(
        self,
        what: str,
        *,
        stderr: str = "",
        exit_code: int = 0,
        remedy: str = "",
        reason: str | None = None,
    ) -> None:
        super().__init__(what, remedy=remedy, reason=reason)
        self.stderr = stderr
        self.git_exit_code = exit_code


@dataclass(frozen=True)
class Git:
    """Git commands on one repository.

    Attributes:
        git_dir: the repository's own directory.
        settings: further ``-c`` settings.
        extra_env: variables beyond the fixed environment.
    """

    git_dir: Path
    settings: tuple[str, ...] = ()
    extra_env: Mapping[str, str] = field(default_factory=dict)

    def __call__(
        self,
        *args: str,
        stdin: bytes = b"",
        ok: Sequence[int] = (0,),
        env: Mapping[str, str] | None = None,
        timeout: float = TIMEOUT,
    ) -> bytes:
        """The command's standard output.

        Args:
            ok: exit codes that are answers rather than failures.

        Raises:
            GitError: when git is missing, fails, takes too long or prints too much.
        """
        output, code, stderr = self.try_run(*args, stdin=stdin, env=env, timeout=timeout)
        if code not in ok:
            raise failure(args[0], code, stderr)
        return output

    def try_run(
        self,
        *args: str,
        stdin: bytes = b"",
        env: Mapping[str, str] | None = None,
        timeout: float = TIMEOUT,
    ) -> tuple[bytes, int, str]:
        """Output, exit code and error text, whatever the exit code is."""
        settings = _words((*_OPTIONS, *self.settings))
        argv = [_git(), "--no-pager", f"--git-dir={self.git_dir.absolute()}", *settings, *args]
        environment = {**fixed_environment(), **self.extra_env, **(env or {})}
        return _run(args[0], argv, stdin, environment, timeout)

    def text(self, *args: str) -> str:
        """The command's standard output as text without the last line end."""
        return self(*args).decode("utf-8", "surrogateescape").removesuffix("\n")


def ask(directory: Path, *args: str, settings: Sequence[str] = ()) -> tuple[bytes, int, str]:
    """Output, exit code and error text of git run in a directory.

    Git searches for the repository itself here, and refuses one that another user owns.
    """
    words = _words((*_OPTIONS, *settings))
    argv = [_git(), "--no-pager", "-C", str(directory.absolute()), *words, *args]
    return _run(args[0], argv, b"", fixed_environment(), TIMEOUT)


def _words(settings: Sequence[str]) -> list[str]:
    return [word for setting in settings for word in ("-c", setting)]


@functools.cache
def _git() -> str:
    """Where git is; found once, because a build could lay another one on the PATH."""
    found = shutil.which("git")
    if not found:
        raise GitError(
            "git is not installed or not on the PATH",
            remedy="Install git 2.38 or newer",
            reason="tool_missing",
        )
    return found


def fixed_environment() -> dict[str, str]:
    """What git gets to see of the world; nothing is inherited."""
    return {
        "PATH": os.pathsep.join([str(Path(_git()).parent), os.defpath]),
        "HOME": "/nonexistent",
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "/bin/false",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_PROTOCOL_FROM_USER": "0",
        "GIT_ALLOW_PROTOCOL": "none",  # only a fetch of ours talks to anybody
        "GIT_LITERAL_PATHSPECS": "1",
        "GIT_GRAFT_FILE": os.devnull,
        "GIT_AUTHOR_NAME": "prjury",
        "GIT_AUTHOR_EMAIL": "prjury@localhost",
        "GIT_COMMITTER_NAME": "prjury",
        "GIT_COMMITTER_EMAIL": "prjury@localhost",
    }


def _run(
    name: str, argv: Sequence[str], stdin: bytes, env: Mapping[str, str], timeout: float
) -> tuple[bytes, int, str]:
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as errors:
        given.write(stdin)
        given.seek(0)
        process = subprocess.Popen(  # noqa: S603 - a fixed program, never a shell
            argv,
            stdin=given,
            stdout=subprocess.PIPE,
            stderr=errors,
            env=env,
            cwd="/",
            start_new_session=True,
        )
        output, late = _collect(process, timeout)
        errors.seek(0)
        stderr = errors.read(16_384).decode("utf-8", "replace").strip()
    if late:
        raise GitError(f"git {name} took longer than {timeout:g} s", reason="timeout")
    if len(output) > OUTPUT_LIMIT:
        raise GitError(
            f"git {name} printed more than {OUTPUT_LIMIT // 2**20} MiB",
            remedy="Split the pull request; nobody can review one of this size",
            reason="too_large",
        )
    return output, process.returncode, stderr


def _collect(process: subprocess.Popen[bytes], timeout: float) -> tuple[bytes, bool]:
    """What the process prints, up to the cap, and whether it had to be stopped for its time."""
    late = threading.Event()

    def stop() -> None:
        late.set()
        _kill(process)

    timer = threading.Timer(timeout, stop)
    timer.start()
    try:
        output = process.stdout.read(OUTPUT_LIMIT + 1) if process.stdout else b""
        if len(output) > OUTPUT_LIMIT:
            _kill(process)
        process.wait()
    finally:
        timer.cancel()
        _kill(process)
        if process.stdout:
            process.stdout.close()
    return output, late.is_set()


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Ends the whole group, also what the process itself left behind."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def failure(name: str, code: int, stderr: str) -> GitError:
    """The error for a git command that ended with this exit code and these words."""
    lines = [line for line in stderr.splitlines() if not line.startswith("hint:")]
    told = next((line for line in lines if line.startswith(("fatal:", "error:"))), "")
    told = told or (lines[-1] if lines else f"exit code {code}")
    if "dubious ownership" in stderr:
        return GitError(
            "git refuses the repository because another user owns it",
            stderr=stderr,
            exit_code=code,
            remedy="If you trust it: git config --global --add safe.directory DIRECTORY",
            reason="dubious_ownership",
        )
    damaged = any(words in stderr for words in _DAMAGE)
    return GitError(
        f"git {name} failed: {visible(told)}",
        stderr=stderr,
        exit_code=code,
        remedy="An object is missing or damaged: run git fsck, or clone again" if damaged else "",
    )
