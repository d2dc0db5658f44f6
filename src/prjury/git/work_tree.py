"""What the operator has not committed; nobody judges it, and the report says so.

Git looks at the work tree and the index through a private git directory: under the repository's own
configuration it would run filters, file system monitors and, in each submodule, `git status`.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from prjury.git.command import Git
from prjury.git.operator import OperatorRepository
from prjury.git.store import lay_out
from prjury.snapshot.kinds import SUBMODULE_MODE

_SHALLOW_LOOK = "--ignore-submodules=dirty"


def uncommitted_changes(repository: OperatorRepository) -> list[str]:
    """Paths whose mode or raw content in the work tree or the index is not the committed one."""
    if repository.work_tree is None:
        return []
    with tempfile.TemporaryDirectory(prefix="prjury-index-") as name:
        directory = Path(name)
        lay_out(directory, repository)
        for shared in repository.git.git_dir.glob("sharedindex.*"):
            (directory / shared.name).symlink_to(shared)
        look = _Look(repository, _private(repository, directory), repository.work_tree)
        return sorted({*look.staged(), *look.untracked(), *look.modified()})


def _private(repository: OperatorRepository, directory: Path) -> Git:
    index = str(repository.git.git_dir / "index")
    env = {"GIT_INDEX_FILE": index, "GIT_WORK_TREE": str(repository.work_tree)}
    modes = repository.git.text("config", "--bool", "--default=true", "core.fileMode")
    return Git(directory, (f"core.fileMode={modes}",), env)


@dataclass(frozen=True)
class _Look:
    repository: OperatorRepository
    git: Git
    root: Path

    def staged(self) -> list[str]:
        head = self.repository.current().sha
        return _split(self.git("diff-index", "--cached", _SHALLOW_LOOK, "--name-only", "-z", head))

    def untracked(self) -> list[str]:
        lists = [self.repository.common_dir / "info" / "exclude", self.repository.excludes_file]
        ignore = [f"--exclude-from={file}" for file in lists if file and file.is_file()]
        args = ("--others", "--exclude-per-directory=.gitignore", *ignore)
        return _split(self.git("ls-files", "-z", *args))

    def modified(self) -> Iterator[str]:
        """Files whose stat differs from the index and whose mode or raw content does as well."""
        fields = _split(self.git("diff-files", _SHALLOW_LOOK, "-z", "--raw"))
        for head, path in zip(fields[::2], fields[1::2], strict=True):
            old_mode, new_mode, blob, *_ = head.lstrip(":").split(" ")
            same = old_mode == new_mode != SUBMODULE_MODE
            if not same or self._object_name(self.root / path) != blob:
                yield path

    def _object_name(self, file: Path) -> str | None:
        """The name that git gives the file's raw content, None where there is no such file."""
        if file.is_symlink():
            content = os.fsencode(file.readlink())
        elif file.is_file():
            content = file.read_bytes()
        else:
            return None
        name = hashlib.new(self.repository.object_format, b"blob %d\0" % len(content))
        name.update(content)
        return name.hexdigest()


def _split(output: bytes) -> list[str]:
    return [part.decode("utf-8", "surrogateescape") for part in output.split(b"\0") if part]
