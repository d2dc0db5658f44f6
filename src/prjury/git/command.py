"""Runs git, and reads and writes its objects."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct, field

from prjury.errors import SourceError
from prjury.ports.types import TreeEntry
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

#: Options of every patch that is read here.
PLAIN_DIFF = (
    "--no-textconv",
    "--no-ext-diff",
    "--no-color",
    "--full-index",
    "--src-prefix=a/",
    "--dst-prefix=b/",
)

#: Git's words on objects that it cannot read.
_DAMAGE = re.compile(
    "corrupt|unable to|bad object|bad tree|loose object|object file|header|index file|index uses"
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


class Git(Struct, frozen=True):
    """Git commands on one repository."""

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
        """Return the command's standard output."""
        output, code, stderr = self.try_run(*args, stdin=stdin, env=env, timeout=timeout)
        if code not in ok:
            raise make_git_error(args[0], code, stderr)
        return output

    def try_run(
        self,
        *args: str,
        stdin: bytes = b"",
        env: Mapping[str, str] | None = None,
        timeout: float = TIMEOUT,
    ) -> tuple[bytes, int, str]:
        """Return output, exit code and error text, whatever the exit code is."""
        place = f"--git-dir={self.git_dir.absolute()}"
        argv = [_require_git_path(), "--no-pager", place, *_write_settings(self.settings), *args]
        environment = {**_make_isolated_environment(), **self.extra_env, **(env or {})}
        return _run_capped_process(args[0], argv, stdin, environment, timeout)

    def text(self, *args: str) -> str:
        """Return the command's standard output as text without the last line end."""
        return self(*args).decode("utf-8", "surrogateescape").removesuffix("\n")


def ask(directory: Path, *args: str, settings: Sequence[str] = ()) -> tuple[bytes, int, str]:
    """Return output, exit code and error text of git run in a directory."""
    place = ("-C", str(directory.absolute()))
    argv = [_require_git_path(), "--no-pager", *place, *_write_settings(settings), *args]
    return _run_capped_process(args[0], argv, b"", _make_isolated_environment(), TIMEOUT)


def _write_settings(settings: Sequence[str]) -> list[str]:
    return [word for setting in (*_OPTIONS, *settings) for word in ("-c", setting)]


@functools.cache
def _require_git_path() -> str:
    """Return the path of git, found once: a build could lay another one on the PATH."""
    path = shutil.which("git")
    if not path:
        raise GitError(
            "git is not installed or not on the PATH",
            remedy="Install git 2.38 or newer",
            reason="tool_missing",
        )
    return path


def _make_isolated_environment() -> dict[str, str]:
    """Return all that git gets to see of the world; nothing is inherited."""
    return {
        "PATH": os.pathsep.join([str(Path(_require_git_path()).parent), os.defpath]),
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
        "GIT_ALLOW_PROTOCOL": "none",  # only our own fetch uses the network
        "GIT_LITERAL_PATHSPECS": "1",
        "GIT_GRAFT_FILE": os.devnull,
        "GIT_AUTHOR_NAME": "prjury",
        "GIT_AUTHOR_EMAIL": "prjury@localhost",
        "GIT_COMMITTER_NAME": "prjury",
        "GIT_COMMITTER_EMAIL": "prjury@localhost",
    }


def _run_capped_process(
    command: str, argv: Sequence[str], stdin: bytes, env: Mapping[str, str], timeout: float
) -> tuple[bytes, int, str]:
    with tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as errors:
        source.write(stdin)
        source.seek(0)
        process = subprocess.Popen(  # noqa: S603 - a fixed program, never a shell
            argv,
            stdin=source,
            stdout=subprocess.PIPE,
            stderr=errors,
            env=env,
            cwd="/",
            start_new_session=True,
        )
        output, late = _read_output_or_kill(process, timeout)
        errors.seek(0)
        stderr = errors.read(16_384).decode("utf-8", "replace").strip()
    if late:
        raise GitError(f"git {command} took longer than {timeout:g} s", reason="timeout")
    if len(output) > OUTPUT_LIMIT:
        raise GitError(
            f"git {command} printed more than {OUTPUT_LIMIT // 2**20} MiB",
            remedy="Split the pull request; it is too large to be reviewed",
            reason="too_large",
        )
    return output, process.returncode, stderr


def _read_output_or_kill(process: subprocess.Popen[bytes], timeout: float) -> tuple[bytes, bool]:
    """Return what the process prints, up to the cap, and if its time was over."""
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
    """End the whole group, also what the process itself left behind."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def make_git_error(command: str, code: int, stderr: str) -> GitError:
    """Return the error for a git command that ended with this exit code and these words."""
    lines = [line for line in stderr.splitlines() if not line.startswith("hint:")]
    reason = next((line for line in lines if line.startswith(("fatal:", "error:"))), "")
    reason = reason or (lines[-1] if lines else f"exit code {code}")
    if "dubious ownership" in stderr:
        return GitError(
            "git refuses the repository because another user owns it",
            stderr=stderr,
            exit_code=code,
            remedy="If you trust it: git config --global --add safe.directory DIRECTORY",
            reason="dubious_ownership",
        )
    damaged = _DAMAGE.search(stderr)
    return GitError(
        f"git {command} failed: {visible(reason)}",
        stderr=stderr,
        exit_code=code,
        remedy="An object or the index is missing or damaged: run git fsck, or clone again"
        if damaged
        else "Put right what git says, and run it again",
    )


#: So many paths fit on one command line, however long they are.
_PATHS_AT_ONCE = 200
#: Names that some file system takes for ``.git``: in any case, with dots, blanks or a stream at
#: the end, as the short name of Windows, or with characters in them that macOS does not see.
_DOT_GIT = re.compile(r"(\.git|git~1)[ .]*([:\\].*)?", re.DOTALL)
_NOT_SEEN = dict.fromkeys(
    (*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF)
)


def decode_path(path: bytes) -> str:
    """Decode a path as git stores it."""
    return path.decode("utf-8", "surrogateescape")


def list_tree(git: Git, tree: str) -> list[TreeEntry]:
    """List every file of a commit or tree, in git's order."""
    return _read_entries(git("ls-tree", "-r", "-z", "--full-tree", tree))


def find_in_tree(git: Git, tree: str, paths: Sequence[str]) -> list[TreeEntry]:
    """List what stands at these paths: files, links, submodules or directories."""
    entries: list[TreeEntry] = []
    for at in range(0, len(paths), _PATHS_AT_ONCE):
        part = paths[at : at + _PATHS_AT_ONCE]
        entries += _read_entries(git("ls-tree", "-z", "--full-tree", tree, "--", *part))
    return entries


def _read_entries(listing: bytes) -> list[TreeEntry]:
    entries = []
    for record in filter(None, listing.split(b"\0")):
        head, _, path = record.partition(b"\t")
        mode, _, blob = head.decode().split(" ")
        entries.append(TreeEntry(decode_path(path), mode, blob))
    return entries


def list_unsafe_paths(git: Git, old: str, new: str) -> list[str]:
    """List paths of entries that could be written outside of the tree, or into a repository.

    Looked at are the directories of ``new`` in which something differs from ``old``.
    """
    args = ("diff-tree", "-r", "-t", "--raw", "--no-renames", "-z", old, new)
    fields = iter(git(*args).split(b"\0"))
    places = {f"{new}^{{tree}}": ""}
    for head in filter(None, fields):
        _, mode, _, tree, _ = head.split(b" ")
        path = next(fields)
        if mode == b"040000":
            places[tree.decode()] = decode_path(path) + "/"
    trees = _read_ids_and_contents(git, list(places))
    return sorted(
        place + decode_path(name)
        for place, (oid, content) in zip(places.values(), trees, strict=True)
        for name in _list_names(content or b"", len(oid) // 2)
        if _is_unsafe(name)
    )


def _list_names(tree: bytes, width: int) -> Iterator[bytes]:
    """Yield the names in a tree object; ``width`` is the length of a binary object name."""
    at = 0
    while at < len(tree):
        start, end = tree.index(b" ", at) + 1, tree.index(b"\0", at)
        yield tree[start:end]
        at = end + 1 + width


def _is_unsafe(name: bytes) -> bool:
    plain = name.decode("utf-8", "replace").translate(_NOT_SEEN).casefold()
    return name in {b"", b".", b".."} or b"/" in name or bool(_DOT_GIT.fullmatch(plain))


def read_blobs(git: Git, blobs: Sequence[str]) -> dict[str, bytes | None]:
    """Return the blobs' bytes by object name; None for those that a partial clone lacks."""
    return dict(_read_ids_and_contents(git, blobs)) if blobs else {}


def _read_ids_and_contents(git: Git, names: Sequence[str]) -> Iterator[tuple[str, bytes | None]]:
    output, at = git("cat-file", "--batch", stdin=_write_lines(names)), 0
    while at < len(output):
        end = output.index(b"\n", at)
        name, *rest = output[at:end].decode().split(" ")
        at = end + 1
        if rest[0] in {"missing", "ambiguous"}:
            yield name, None
        else:
            size = int(rest[1])
            yield name, output[at : at + size]
            at += size + 1


def read_blob_sizes(git: Git, blobs: Sequence[str]) -> dict[str, int]:
    """Return the blobs' sizes in bytes, without those that a partial clone lacks."""
    if not blobs:
        return {}
    output, code, stderr = git.try_run("cat-file", "--batch-check", stdin=_write_lines(blobs))
    if code or stderr:
        raise make_git_error("cat-file", code, stderr)
    rows = [line.split() for line in output.decode().splitlines()]
    return {row[0]: int(row[2]) for row in rows if len(row) > 2}  # noqa: PLR2004 - name, type, size


def _write_lines(names: Sequence[str]) -> bytes:
    return "".join(f"{name}\n" for name in dict.fromkeys(names)).encode()
