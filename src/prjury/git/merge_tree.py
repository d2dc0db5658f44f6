"""What git says of paths that do not merge: the versions of each, and its messages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from prjury.git.command import Git
from prjury.snapshot.kinds import REGULAR_MODES, SUBMODULE_MODE, SYMLINK_MODE
from prjury.snapshot.model import ConflictType
from prjury.snapshot.threeway import Classify, SideNames

#: The stages of a path in git's index.
BASE, OURS, THEIRS = 1, 2, 3

#: The words of git's merge-ort for each kind of conflict, in the order in which they are preferred.
_TYPES: Mapping[str, ConflictType] = {
    "CONFLICT (file/directory)": ConflictType.OTHER,
    "CONFLICT (distinct modes)": ConflictType.MODE,
    "CONFLICT (binary)": ConflictType.BINARY,
    "CONFLICT (submodule": ConflictType.SUBMODULE,
    "CONFLICT (rename/delete)": ConflictType.RENAME,
    "CONFLICT (modify/delete)": ConflictType.MODIFY_DELETE,
    "CONFLICT (rename": ConflictType.RENAME,
    "CONFLICT (directory rename": ConflictType.RENAME,
    "CONFLICT(directory rename": ConflictType.RENAME,
    "CONFLICT (file in way of directory rename)": ConflictType.RENAME,
    "CONFLICT (contents)": ConflictType.CONTENT,
    "CONFLICT (content)": ConflictType.CONTENT,
}


@dataclass(frozen=True, slots=True)
class FailedMerge:
    """A merge that did not succeed by itself.

    Attributes:
        ours: the commit that is merged onto.
        theirs: the commit that is merged.
        names: what both are called in sentences.
        classify: decides what kind of work a conflict is.
    """

    git: Git
    ours: str
    theirs: str
    names: SideNames
    classify: Classify


@dataclass(frozen=True, slots=True)
class MergeMessage:
    """One of git's messages about the merge: the paths concerned, its type, its words."""

    paths: tuple[str, ...]
    type: str
    words: str


@dataclass(frozen=True, slots=True)
class ConflictStage:
    """A version of a path: git's file mode and the object's name."""

    mode: str
    blob: str

    @property
    def noun(self) -> str:
        """What kind of thing it is."""
        nouns = {SYMLINK_MODE: "a symbolic link", SUBMODULE_MODE: "a submodule"}
        return nouns.get(self.mode, "a file")


@dataclass(frozen=True, slots=True)
class ConflictReader:
    """A path that does not merge.

    Attributes:
        stages: its versions, as far as there are any: `BASE`, `OURS`, `THEIRS`.
        messages: what git says of it.
    """

    path: str
    stages: Mapping[int, ConflictStage]
    messages: tuple[MergeMessage, ...] = ()

    @property
    def type(self) -> ConflictType:
        """How the sides collide."""
        told = [message.type for message in self.messages]
        kinds = (kind for words, kind in _TYPES.items() if any(t.startswith(words) for t in told))
        kind = next(kinds, ConflictType.OTHER)
        if kind is not ConflictType.CONTENT or BASE in self.stages:
            return kind
        return ConflictType.ADD_ADD if self.distinct_content else ConflictType.MODE

    @property
    def distinct_content(self) -> bool:
        """Whether the sides' versions hold different things."""
        ours, theirs = self.stages.get(OURS), self.stages.get(THEIRS)
        return not ours or not theirs or ours.blob != theirs.blob

    @property
    def regular(self) -> bool:
        """Whether both sides have a plain file there."""
        sides = (self.stages.get(OURS), self.stages.get(THEIRS))
        return all(side is not None and side.mode in REGULAR_MODES for side in sides)

    def message(self, words: str) -> MergeMessage | None:
        """The first message of a type that starts with these words."""
        return next((one for one in self.messages if one.type.startswith(words)), None)
