"""A private bare store beside the operator's repository, sharing its objects and nothing else.

The store has its own configuration and its own ``info/attributes``, which undo every attribute that
could hide, transform or drop content. New objects (trial merges, trial picks) are written here and
vanish with the store; the operator's repository is never written to.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from msgspec import Struct

from prjury.deadline import Deadline
from prjury.git.command import (
    PLAIN_DIFF,
    Git,
    GitError,
    decode_path,
    list_tree,
    make_git_error,
    read_blob_sizes,
    read_blobs,
)
from prjury.git.merge import recent_commits, try_rebase
from prjury.git.operator import OperatorRepository
from prjury.ports.types import TreeEntry, WordPlaces
from prjury.scratch import scratch
from prjury.snapshot.diff import FilePatch, read_patches
from prjury.snapshot.kinds import SUBMODULE_MODE
from prjury.snapshot.merge_style import HistoryCommit, RebaseTrial

#: Nobody waits longer than so many seconds for one tree.
SECONDS = 3.0
_FOUND, _NOTHING = 0, 1
#: Bytes of a blob that is kept once it was read, and how many of them are.
_SMALL, _MOST_KEPT = 100_000, 500
#: Prose, data and pictures; much of a tree, and no code.
_NO_CODE = (
    "adoc asciidoc csv css fits html ipynb jar json lock map md pdf png po rst snap sql svg tsv txt"
    " xml yaml yml"
)
_WITHOUT = tuple(f":(exclude,icase,glob,top)**/*.{suffix}" for suffix in _NO_CODE.split())
_PATTERNS = {"GIT_LITERAL_PATHSPECS": "0"}
#: Git's message on a blob that a partial clone lacks; it goes on with the next file.
_MISSING = re.compile(r"^error: '(.*)': unable to read [0-9a-f]+$", re.MULTILINE)

_ERROR = re.compile(r"^(?:error|fatal): ", re.MULTILINE)


def find_in_code(git: Git, tree: str, words: Sequence[str], seconds: float = SECONDS) -> WordPlaces:
    """Find each word as a whole word, in text files that by their name may hold code."""
    if not words:
        return WordPlaces({})
    # One pattern for all of them: with a pattern each git looks through every line for each.
    pattern = "|".join(words)
    args = ("grep", "-I", "-n", "-z", "-o", "-w", "-E", "--no-color", "--full-name")
    output, code, stderr = git.try_run(
        *args, "-e", pattern, tree, "--", *_WITHOUT, env=_PATTERNS, timeout=seconds
    )
    missing = _MISSING.findall(stderr)
    if code not in {_FOUND, _NOTHING} or len(_ERROR.findall(stderr)) > len(missing):
        raise make_git_error("grep", code, stderr)
    places: dict[str, list[tuple[str, int]]] = defaultdict(list)
    at = 0
    while at < len(output):
        path_end = output.index(b"\0", at)
        line_end = output.index(b"\0", path_end + 1)
        end = output.index(b"\n", line_end + 1)
        path = decode_path(output[at + len(tree) + 1 : path_end])  # git puts the tree before it
        word = output[line_end + 1 : end].decode()
        places[word].append((path, int(output[path_end + 1 : line_end])))
        at = end + 1
    lacking = dict.fromkeys(path.removeprefix(f"{tree}:") for path in missing)
    return WordPlaces({word: tuple(rows) for word, rows in places.items()}, tuple(lacking))


_ATTRIBUTES = (
    "* !diff !merge !filter !text !eol !crlf !ident !export-ignore !export-subst "
    "!working-tree-encoding\n"
)
_DIFF_OPTIONS = (
    *PLAIN_DIFF,
    "-r",
    "--no-rename-empty",
    "--diff-algorithm=myers",
    "--ignore-submodules=none",
    "--submodule=short",
)


class RawChange(Struct, frozen=True):
    """One entry of git's raw diff: modes and object names on both sides, status letter, paths."""

    old_mode: str
    new_mode: str
    old_blob: str
    new_blob: str
    status: str
    path: str
    old_path: str | None = None


@dataclass(frozen=True)
class Store:
    """The objects under judgment; implements `prjury.ports.Repository`."""

    git: Git
    operator: OperatorRepository
    listings: dict[str, Sequence[TreeEntry]] = field(
        default_factory=dict, repr=False, compare=False
    )
    contents: dict[str, bytes] = field(default_factory=dict, repr=False, compare=False)
    searches: dict[tuple[str, tuple[str, ...]], WordPlaces] = field(
        default_factory=dict, repr=False, compare=False
    )

    def follow(self) -> None:
        """Take over how far history reaches by now, where more of it was fetched."""
        if self.operator.bring and self.operator.shallow_file:
            # Others may be reading it: it is whole at every moment.
            with tempfile.NamedTemporaryFile(dir=self.git.git_dir, delete=False) as copy:
                copy.write(self.operator.shallow_file.read_bytes())
            Path(copy.name).replace(self.git.git_dir / "shallow")

    def files(self, commit: str) -> Sequence[TreeEntry]:
        """List every file of a commit or tree, in git's order."""
        if commit not in self.listings:
            self.listings[commit] = list_tree(self.git, commit)
        return self.listings[commit]

    def read(self, blobs: Sequence[str]) -> Mapping[str, bytes | None]:
        """Return the blobs' bytes by object name; None for those that a partial clone lacks."""
        contents = {blob: self.contents.get(blob) for blob in blobs}
        fresh = read_blobs(self.git, [blob for blob in contents if contents[blob] is None])
        for blob, content in fresh.items():
            if content is not None and len(content) <= _SMALL and len(self.contents) < _MOST_KEPT:
                self.contents[blob] = content
        return {**contents, **fresh}

    def export_and_list_missing(self, tree: str, directory: Path) -> Sequence[str]:
        """Write a tree into an empty directory: plain files, no ``.git``, no filters run.

        Returns the paths of the files that are not there, because a partial clone lacks their
        content.
        """
        root = directory.absolute()
        with scratch("prjury-index-") as place:
            env = {"GIT_INDEX_FILE": f"{place}/index", "GIT_WORK_TREE": str(root)}
            try:
                self.git("read-tree", tree, env=env)
                self.git("checkout-index", "--all", "--quiet", f"--prefix={root}/", env=env)
            except GitError as error:
                return self._list_missing_or_raise(tree, root, error)
        return ()

    def _list_missing_or_raise(self, tree: str, root: Path, error: GitError) -> Sequence[str]:
        """List the files whose content is missing, if that is all that went wrong."""
        files = [file for file in self.files(tree) if file.mode != SUBMODULE_MODE]
        present = read_blob_sizes(self.git, [file.blob for file in files])
        paths = tuple(file.path for file in files if file.blob not in present)
        if not paths or not all(
            os.path.lexists(root / file.path) for file in files if file.blob in present
        ):
            raise error
        return paths

    def nearest_tag(self, commit: str) -> str:
        """Name the nearest tag in a commit's history; empty if none is found in time."""
        args = ("describe", "--tags", "--abbrev=0", "--match=*[0-9]*", commit)
        try:
            output, code, _ = self.operator.git.try_run(*args, timeout=SECONDS)
        except GitError:
            return ""
        return output.decode("utf-8", "replace").strip() if code == 0 else ""

    def recent(self, tip: str, count: int) -> Sequence[HistoryCommit]:
        """List the newest commits along first parents; fewer where history ends."""
        return recent_commits(self.git, tip, count)

    def rebase(self, base: str, head: str, deadline: Deadline) -> RebaseTrial:
        """Try the head's commits one after the other on the tip of the base."""
        return try_rebase(self.git, base, head, deadline)

    def with_words(self, tree: str, words: Sequence[str]) -> WordPlaces:
        """Find the words in a commit or tree; see `find_in_code`."""
        key = tree, tuple(words)
        if key not in self.searches:
            self.searches[key] = find_in_code(self.git, tree, words)
        return self.searches[key]

    def raw_changes(self, old: str, new: str, *, renames: bool = True) -> list[RawChange]:
        """List what differs between two commits, without content."""
        find = "-M50%" if renames else "--no-renames"
        output = self.git("diff-tree", *_DIFF_OPTIONS, find, "--raw", "-z", old, new)
        return list(_read_raw_changes(iter(output.split(b"\0"))))

    def patches(
        self, old: str, new: str, *, renames: bool = True, leave_out: Sequence[str] = ()
    ) -> Iterator[FilePatch]:
        """Read the files' patches in the order of `raw_changes`."""
        find = "-M50%" if renames else "--no-renames"
        args = ["diff-tree", *_DIFF_OPTIONS, find, "-p", old, new]
        env = {}
        if leave_out:
            env["GIT_LITERAL_PATHSPECS"] = "0"
            args += ["--", *[f":(exclude,literal,top){path}" for path in leave_out]]
        return read_patches(self.git(*args, env=env))


#: A file's mode and content.
NewFiles = Mapping[str, tuple[str, bytes]]


def write_tree_with(store: Store, tree: str, files: NewFiles) -> str:
    """Make a tree that has these files in the place of its own, and else is the same."""
    blobs = {
        path: store.git("hash-object", "-w", "--stdin", "--no-filters", stdin=content)
        .decode()
        .strip()
        for path, (_, content) in files.items()
    }
    entries = "".join(f"{files[path][0]} {blob}\t{path}\0" for path, blob in blobs.items())
    with scratch("prjury-index-") as place:
        env = {"GIT_INDEX_FILE": f"{place}/index"}
        store.git("read-tree", tree, env=env)
        listing = entries.encode("utf-8", "surrogateescape")
        store.git("update-index", "-z", "--index-info", stdin=listing, env=env)
        return store.git("write-tree", env=env).decode().strip()


def patch_between(store: Store, old: str, new: str) -> str:
    """Write what differs in the form that ``git apply`` reads."""
    arguments = ("diff-tree", *PLAIN_DIFF, "-r", "--no-renames", "-p", old, new)
    return store.git(*arguments).decode("utf-8", "replace")


def _read_raw_changes(fields: Iterator[bytes]) -> Iterator[RawChange]:
    for head in filter(None, fields):
        old_mode, new_mode, old_blob, new_blob, status = head.decode().lstrip(":").split(" ")
        path = decode_path(next(fields))
        old_path = None
        if status[0] in "RC":
            old_path, path = path, decode_path(next(fields))
        yield RawChange(old_mode, new_mode, old_blob, new_blob, status[0], path, old_path)


@contextmanager
def open_store(operator: OperatorRepository) -> Iterator[Store]:
    """Make a store over the operator's objects; it is gone when the block ends."""
    with scratch("prjury-store-") as directory:
        make_bare_repository(directory, operator)
        yield Store(Git(directory), operator)


def make_bare_repository(directory: Path, lender: OperatorRepository | None) -> None:
    """Make a bare repository of an empty directory, with the lender's objects in reach."""
    (directory / "refs").mkdir()
    (directory / "info").mkdir()
    (directory / "objects" / "info").mkdir(parents=True)
    (directory / "HEAD").write_text("ref: refs/heads/none\n")
    (directory / "config").write_text(_make_config(lender.object_format if lender else "sha1"))
    (directory / "info" / "attributes").write_text(_ATTRIBUTES)
    if lender is None:
        return
    alternates = "".join(_quote_path(path) + "\n" for path in lender.object_directories)
    (directory / "objects" / "info" / "alternates").write_text(alternates, errors="surrogateescape")
    if lender.shallow_file:
        shutil.copyfile(lender.shallow_file, directory / "shallow")


def _make_config(object_format: str) -> str:
    if object_format == "sha1":
        return "[core]\n\trepositoryformatversion = 0\n\tbare = true\n"
    return (
        "[core]\n\trepositoryformatversion = 1\n\tbare = true\n"
        f"[extensions]\n\tobjectFormat = {object_format}\n"
    )


def _quote_path(path: Path) -> str:
    escaped = str(path).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
