"""Which of an agent's edits may be part of a repair."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

from msgspec import Struct

from prjury.agents.copies import DirectoryState, FileEdit
from prjury.code.languages import language_of
from prjury.code.parser import Parser
from prjury.code.source import Source, strip_lines
from prjury.deadline import Deadline
from prjury.report.model import RefusedEdit
from prjury.snapshot.exempt import matches

#: Bytes of one file, and files of one repair.
_LARGEST, _MOST = 512 * 1024, 200
_SECONDS = 20.0
#: What a run of the tests leaves behind is not listed.
_BY_PRODUCT = re.compile(r"(^|/)(__pycache__|\.pytest_cache|\.mypy_cache|\.ruff_cache)/|\.pyc$")

#: Where what is imported by its bare name lies.
_TOPS = frozenset({"", "src", "lib"})

_ASSERTION = re.compile(
    r"\bassert\w*\b|\bexpect\w*\s*\(|\bshould\w*\b|\bverify\w*\s*\(|\brequire\.\w+\s*\("
    r"|\bt\.(?:Error|Fatal|Fail)\w*\s*\(|\b(?:EXPECT|ASSERT)_\w+\s*\(|\braises\s*\(|\bfail\w*\s*\("
)
#: Assertions that hold whatever the code does.
_VACUOUS = re.compile(
    r"\bassert\s+(?:True|1|not\s+False)\b|\bassert\w*[!.]?\s*\(\s*(?:[Tt]rue|1)\s*[,)]"
    r"|\bassert\w*\s*\(\s*(\w+)\s*,\s*\1\s*[,)]|\bexpect\s*\(\s*true\s*\)"
    r"|\bassert\w*\b.{0,300}?(?:\bor[ ]+(?:True|1)\b|\|\|[ ]*true\b)"
    r"|^[ \t]*+assert[ ]*\((?:[^()\n,]|\([^()\n]*\))*+,(?:[^()\n]|\([^()\n]*\))*+\)[ \t]*$",
    re.MULTILINE,
)
_RETURN = re.compile(r"^[ \t]*+return;?[ \t]*$", re.MULTILINE)
_SKIP = re.compile(
    r"@\w*\.?(?:skip|Skip|Disabled|Ignore|ignore|xfail|expectedFailure)\w*"
    r"|#\[ignore|\b(?:t|b|pytest|self)\.(?:Skip|skip|xfail)\w*\s*\(|\bSkipTest\b"
    r"|\b(?:it|test|describe)\.(?:skip|todo|only)\b|\bx(?:it|describe|test)\s*\("
    r"|\bpytest\.mark\.(?:skip|xfail)\w*|\b(?:os\._exit|sys\.exit|System\.exit|process\.exit)\s*\("
)


class Edits(Struct, frozen=True):
    """The edits of one round: mode and content of those that may be part of the repair, by path."""

    accepted: Mapping[str, tuple[str, bytes]]
    refused: tuple[RefusedEdit, ...]


class EditRules(Struct, frozen=True):
    """The globs of files that a repair may touch, and the tree's files with their git modes."""

    paths: Sequence[str]
    modes: Mapping[str, str]

    def sort_edits(self, root: Path, before: DirectoryState, old: Mapping[str, bytes]) -> Edits:
        """Accept or refuse what the agent changed since; ``old`` is what those files held."""
        accepted: dict[str, tuple[str, bytes]] = {}
        refused: list[RefusedEdit] = []
        for edit in before.list_edits(DirectoryState.of(root)):
            if _BY_PRODUCT.search(edit.path) and edit.path not in self.modes:
                continue
            content = self._read_edit(root, edit, len(accepted))
            if isinstance(content, str):
                refused.append(RefusedEdit(edit.path, content))
            elif content != old.get(edit.path):
                accepted[edit.path] = (self.modes.get(edit.path, "100644"), content)
        weakened = _find_weakened({path: new for path, (_, new) in accepted.items()}, old)
        refused += [RefusedEdit(path, why) for path, why in weakened.items()]
        remaining = {path: file for path, file in accepted.items() if path not in weakened}
        return Edits(remaining, tuple(refused))

    def _read_edit(self, root: Path, edit: FileEdit, count: int) -> bytes | str:
        path = edit.path
        if ".git" in path.casefold().split("/"):
            return "git's own files are no part of a repair"
        if not any(matches(path, glob) for glob in self.paths):
            return "it is outside of the paths that may change"
        if edit.kind == "deleted":
            return "no file may be deleted"
        if self.modes.get(path, "100644") not in {"100644", "100755"}:
            return "it is no plain file in the tree"
        if edit.kind == "added" and self._shadows_code(path):
            return "it takes the place of a file of the project"
        if count >= _MOST:
            return f"more than {_MOST} files"
        return _read_plain_text(root / path)

    def _shadows_code(self, path: str) -> bool:
        """Tell whether a new file could be imported in the place of one that may not change."""
        place = PurePosixPath(path)
        if language_of(path) is None:
            return False
        others = set(self.modes).difference(self.may_change())
        places = (PurePosixPath(other) for other in others if other.endswith(place.name))
        return any(
            other.name == place.name
            and (other.parent.name == place.parent.name or other.parent.name in _TOPS)
            for other in places
        )

    def may_change(self) -> list[str]:
        """Return the tree's files that a repair may touch."""
        return [path for path in self.modes if any(matches(path, glob) for glob in self.paths)]


def _read_plain_text(file: Path) -> bytes | str:
    try:
        opened = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return "it is a link, or cannot be read"
    with os.fdopen(opened, "rb") as content:
        status = os.fstat(content.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
            return "it is no plain file, or has a second name elsewhere"
        read = content.read(_LARGEST + 1)
    if len(read) > _LARGEST:
        return f"it is larger than {_LARGEST >> 10} KiB"
    try:
        read.decode()
    except UnicodeDecodeError:
        return "it is no text in UTF-8"
    return read


def _find_weakened(new: Mapping[str, bytes], old: Mapping[str, bytes]) -> dict[str, str]:
    """Return which files test less than before, and why."""
    files = {f"{side} {path}": data for side, files in (("new", new), ("old", old))
             for path, data in files.items() if path in new}  # fmt: skip
    code = _code(files)
    reasons = {}
    for path in new:
        if path not in old:
            if _SKIP.search(code[f"new {path}"]):
                reasons[path] = "it skips tests"
            continue
        before, after = code[f"old {path}"], code[f"new {path}"]
        was, now = _count_assertions(before), _count_assertions(after)
        if now < was:
            reasons[path] = f"it has fewer assertions ({now} of {was})"
        elif len(_SKIP.findall(after)) > len(_SKIP.findall(before)):
            reasons[path] = "it skips tests"
        elif was and len(_RETURN.findall(after)) > len(_RETURN.findall(before)):
            reasons[path] = "it returns before the end of a test"
    return reasons


def _count_assertions(code: str) -> int:
    return len(_ASSERTION.findall(code)) - len(_VACUOUS.findall(code))


def _code(files: Mapping[str, bytes]) -> dict[str, str]:
    texts = {name: data.decode("utf-8", "replace") for name, data in files.items()}
    sources = {
        name: Source.of(text, language)
        for name, text in texts.items()
        if (language := language_of(name.partition(" ")[2]))
    }
    stripped = strip_lines(sources, Parser(), Deadline.after(_SECONDS))
    return {
        name: "\n".join(stripped[name])
        if name in stripped
        else ("" if name.startswith("new ") and name in sources else text)
        for name, text in texts.items()
    }
