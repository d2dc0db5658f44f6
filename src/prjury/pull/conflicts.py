"""Whether a conflict is mechanical or needs a human, decided from what both sides wrote."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from prjury.pull.kinds import kind_of
from prjury.pull.model import FileKind

_IMPORT = re.compile(
    r"(import|from|use|require|include|#include|package)\b(?!\s*[(=:.])"
    r"|(const|let|var)\s[^=]*=\s*require\([^()]*\);?$"
    r"|using\s+(static\s+)?[\w.]+(\s*=\s*[\w.<>]+)?;$"
)
_VERSION = re.compile(r"\d+(\.\d+)+([-.+][A-Za-z0-9]+)*")
_MANIFESTS = frozenset(
    "pom.xml build.gradle build.gradle.kts gradle.properties libs.versions.toml package.json "
    "pyproject.toml setup.cfg cargo.toml go.mod requirements.txt".split()
)
_CHANGELOG = re.compile(r"(changelog|changes|news|history|release[-_ ]?notes)([-_.]|$)")
#: Files in which the blanks before a line carry no meaning; everywhere else they may.
_FREE_INDENTATION = frozenset(
    ".java .kt .kts .groovy .gradle .scala .js .jsx .mjs .cjs .ts .tsx .c .h .cc .cpp .hpp .cs .go "
    ".rs .php .swift .dart .rb .css .scss .less .html .xml .json .sql .proto".split()
)


@dataclass(frozen=True, slots=True)
class ConflictHunk:
    """Both sides' lines of one conflicting region."""

    ours: tuple[str, ...]
    theirs: tuple[str, ...]
    line: int = 1


def read_conflicts(text: str) -> tuple[ConflictHunk, ...]:
    """The conflicting regions of a file with ``<<<<<<<`` markers, as git writes them."""
    hunks: list[ConflictHunk] = []
    ours: list[str] = []
    theirs: list[str] = []
    reading: list[str] | None = None
    start = 1
    for number, line in enumerate(text.split("\n"), start=1):
        if line.startswith("<<<<<<< "):
            ours, theirs, start = [], [], number
            reading = ours
        elif reading is ours and line.rstrip("\r") == "=======":
            reading = theirs
        elif reading is theirs and line.startswith(">>>>>>> "):
            hunks.append(ConflictHunk(tuple(ours), tuple(theirs), start))
            reading = None
        elif reading is not None:
            reading.append(line)
    return tuple(hunks)


def classify(path: str, hunks: Sequence[ConflictHunk]) -> tuple[bool, str]:
    """Whether the conflict is mechanical, and why in one sentence.

    A conflict is mechanical only if every one of its regions is: one line of code among the
    imports makes it a human's business.
    """
    if kind_of(path) is FileKind.LOCK:
        return True, "a lock file: regenerate it"
    if not hunks:
        return False, "the sides collide as a whole, not line by line"
    reasons = [_mechanical(path, hunk) for hunk in hunks]
    if all(reasons):
        return True, " and ".join(sorted({reason for reason in reasons if reason}))
    return False, f"{reasons.count(None)} of {len(hunks)} regions change the same code"


def _mechanical(path: str, hunk: ConflictHunk) -> str | None:
    """Why the region is mechanical, or None."""
    name = PurePosixPath(path).name.lower()
    free = PurePosixPath(name).suffix in _FREE_INDENTATION
    ours, theirs = _content(hunk.ours, free=free), _content(hunk.theirs, free=free)
    if ours == theirs:
        return "white space only"
    both = [line.strip() for line in ours + theirs]
    if name not in _MANIFESTS and all(_IMPORT.match(line) for line in both):
        return "imports only"
    if _CHANGELOG.match(name) and kind_of(path) is FileKind.DOCS and ours and theirs:
        return "changelog entries: keep both"
    if name in _MANIFESTS and ours and theirs and _versionless(ours) == _versionless(theirs):
        return "version numbers only: take the newer one"
    return None


def _content(lines: Sequence[str], *, free: bool) -> list[str]:
    """The lines that are not blank, without the blanks at their ends that carry no meaning."""
    bare = (line.strip() if free else line.rstrip() for line in lines)
    return [line for line in bare if line]


def _versionless(lines: Sequence[str]) -> list[str]:
    return [_VERSION.sub("N", line) for line in lines]
