"""What the attributes of one commit say of paths; those of the head are never asked."""

from __future__ import annotations

import posixpath
import tempfile
from collections.abc import Iterator, Mapping, Sequence

from prjury.git.store import Store
from prjury.snapshot.kinds import REGULAR_MODES

_NAMES = ("linguist-generated", "linguist-vendored")
_YES = frozenset({b"set", b"true"})
_BATCH = 500


def exemptions(store: Store, commit: str, paths: Sequence[str]) -> Mapping[str, str]:
    """The paths that a commit's ``.gitattributes`` call generated or vendored, with the attribute.

    Files of attributes that a partial clone lacks exempt nothing.

    Raises:
        GitError: when git fails.
    """
    found = dict(_attribute_files(store, commit, paths))
    contents = store.read(sorted(set(found.values())))
    told = {
        path: blob for path, blob in found.items() if b"linguist-" in (contents.get(blob) or b"")
    }
    return dict(_marked(store, told, paths)) if told else {}


def _attribute_files(store: Store, commit: str, paths: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Path and object name of each ``.gitattributes`` in the paths' directories and above."""
    names = sorted({f"{place}.gitattributes" for path in paths for place in _places(path)})
    for start in range(0, len(names), _BATCH):
        some = names[start : start + _BATCH]
        listing = store.git("ls-tree", "-z", "--full-tree", commit, "--", *some)
        for entry in filter(None, listing.split(b"\0")):
            about, _, path = entry.partition(b"\t")
            mode, _, blob = about.decode().split(" ")
            if mode in REGULAR_MODES:
                yield path.decode("utf-8", "surrogateescape"), blob


def _places(path: str) -> Iterator[str]:
    while path := posixpath.dirname(path):
        yield f"{path}/"
    yield ""


def _marked(
    store: Store, files: Mapping[str, str], paths: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """Asks git, by an index that holds nothing but the files of attributes."""
    entries = "".join(f"100644 {blob}\t{path}\0" for path, blob in files.items())
    asked = "".join(f"{path}\0" for path in paths)
    with tempfile.TemporaryDirectory(prefix="prjury-index-") as scratch:
        env = {"GIT_INDEX_FILE": f"{scratch}/index"}
        store.git("update-index", "-z", "--index-info", stdin=_bytes(entries), env=env)
        output = store.git(
            "check-attr", "--cached", "-z", "--stdin", *_NAMES, stdin=_bytes(asked), env=env
        )
    fields = iter(output.split(b"\0"))
    for path, name, value in zip(fields, fields, fields, strict=False):
        if value in _YES:
            yield path.decode("utf-8", "surrogateescape"), name.decode()


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
