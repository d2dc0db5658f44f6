"""Which files of a work tree git would look at: tracked ones, and others that nothing ignores.

As in `work_tree`, git looks through a private git directory, so that nothing of the repository's
own configuration runs.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from prjury.git.command import Git
from prjury.git.operator import OperatorRepository
from prjury.git.store import lay_out


@dataclass(frozen=True)
class FileListing:
    """Paths relative to the root of the work tree, as git stores them.

    Attributes:
        files: each once; a submodule or another repository is one path.
        ignored: files and directories (these end with ``/``) that are not tracked and ignored.
    """

    files: tuple[str, ...]
    ignored: tuple[str, ...]


def list_files(repository: OperatorRepository, root: Path, below: str) -> FileListing:
    """What is in the work tree.

    Args:
        root: the root of the work tree.
        below: the directory that is looked into, relative to the root; empty for all of it.

    Raises:
        GitError: when git fails.
    """
    with tempfile.TemporaryDirectory(prefix="prjury-index-") as name:
        directory = Path(name)
        lay_out(directory, repository)
        for shared in repository.git.git_dir.glob("sharedindex.*"):
            (directory / shared.name).symlink_to(shared)
        index = str(repository.git.git_dir / "index")
        git = Git(directory, extra_env={"GIT_INDEX_FILE": index, "GIT_WORK_TREE": str(root)})
        lists = [repository.common_dir / "info" / "exclude", repository.excludes_file]
        args = ["ls-files", "-z", "--exclude-per-directory=.gitignore"]
        args += [f"--exclude-from={file}" for file in lists if file and file.is_file()]
        place = ["--", below] if below else []
        files = git(*args, "--cached", "--others", *place)
        ignored = git(*args, "--others", "--ignored", "--directory", *place)
    return FileListing(_paths(files), _paths(ignored))


def _paths(output: bytes) -> tuple[str, ...]:
    found = {part.decode("utf-8", "surrogateescape") for part in output.split(b"\0") if part}
    return tuple(sorted(found))
