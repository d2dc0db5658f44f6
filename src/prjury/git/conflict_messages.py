"""One sentence for each way in which two sides collide as a whole."""

from __future__ import annotations

from prjury.git.merge_tree import BASE, OURS, THEIRS, ConflictReader
from prjury.snapshot.kinds import SYMLINK_MODE
from prjury.snapshot.model import ConflictType, visible
from prjury.snapshot.threeway import SideNames


def sentence(clash: ConflictReader, names: SideNames) -> str:
    """What collides at a path, and which side did what."""
    return {
        ConflictType.MODIFY_DELETE: _deleted,
        ConflictType.RENAME: _renamed,
        ConflictType.BINARY: _binary,
        ConflictType.SUBMODULE: _submodule,
        ConflictType.MODE: _mode,
        ConflictType.CONTENT: _link,
        ConflictType.ADD_ADD: _link,
        ConflictType.OTHER: _other,
    }[clash.type](clash, names)


def _deleted(clash: ConflictReader, names: SideNames) -> str:
    if THEIRS in clash.stages:
        return f"{names.onto} deletes the file, {names.head} changes it"
    return f"{names.head} deletes the file, {names.onto} changes it"


def _renamed(clash: ConflictReader, names: SideNames) -> str:
    if gone := clash.message("CONFLICT (rename/delete)"):
        return _renamed_and_deleted(clash, gone.paths, names)
    if twice := clash.message("CONFLICT (rename/rename)"):
        old, ours, theirs = map(visible, twice.paths[:3])
        return f"{names.onto} renames `{old}` to `{ours}`, {names.head} renames it to `{theirs}`"
    if clash.message("CONFLICT (rename involved in collision)"):
        return "a file that is renamed to this path collides with another one there"
    if clash.message("CONFLICT(directory rename unclear split)"):
        return "one side splits the directory, the other adds files of which nobody knows where to"
    if suggested := clash.message("CONFLICT (directory rename suggested)"):
        return _suggested(clash, visible(suggested.paths[-1]), names)
    return "the sides rename directories so that their files collide at this path"


def _suggested(clash: ConflictReader, old: str, names: SideNames) -> str:
    if OURS in clash.stages and THEIRS in clash.stages:
        return f"`{old}` is added to a directory that is renamed, and its new place is taken"
    adds, renames = _by(clash, names)
    return f"{adds} adds `{old}` to a directory that {renames} renames"


def _renamed_and_deleted(clash: ConflictReader, paths: tuple[str, ...], names: SideNames) -> str:
    renames, deletes = _by(clash, names)
    new, old = map(visible, paths[:2])
    return f"{renames} renames `{old}` to `{new}`, {deletes} deletes it"


def _by(clash: ConflictReader, names: SideNames) -> tuple[str, str]:
    """Whose version stands at the path, and the other side."""
    if OURS in clash.stages:
        return names.onto, names.head
    return names.head, names.onto


def two_renames(ours: str | None, theirs: str | None, names: SideNames) -> str:
    """A path to which one side or both rename a file, by where these files were."""
    if ours and theirs:
        return (
            f"{names.onto} renames `{visible(ours)}` to this path, "
            f"{names.head} renames `{visible(theirs)}` to it"
        )
    renames, adds = (names.onto, names.head) if ours else (names.head, names.onto)
    return f"{renames} renames `{visible(ours or theirs or '')}` to this path, {adds} adds a file"


def _binary(clash: ConflictReader, _names: SideNames) -> str:
    return f"both sides {_verb(clash)} a binary file"


def _verb(clash: ConflictReader) -> str:
    return "change" if BASE in clash.stages else "add"


def _submodule(clash: ConflictReader, names: SideNames) -> str:
    ours, theirs = clash.stages.get(OURS), clash.stages.get(THEIRS)
    if ours and theirs:
        moves = f"{names.onto} moves the submodule to {ours.blob[:7]}"
        return f"{moves}, {names.head} to {theirs.blob[:7]}"
    return "one side moves the submodule, the other removes it"


def _mode(clash: ConflictReader, names: SideNames) -> str:
    ours, theirs = clash.stages.get(OURS), clash.stages.get(THEIRS)
    if not ours or not theirs:
        return "the sides have different kinds of things at this path"
    if ours.noun != theirs.noun:
        return f"{names.onto} has {ours.noun} at this path, {names.head} {theirs.noun}"
    modes = f"{ours.mode} on {names.onto}, {theirs.mode} on {names.head}"
    return f"both sides add the same file with different modes: {modes}"


def _link(clash: ConflictReader, names: SideNames) -> str:
    ours, theirs = clash.stages.get(OURS), clash.stages.get(THEIRS)
    if ours and theirs and ours.mode == theirs.mode == SYMLINK_MODE:
        if BASE in clash.stages:
            return "both sides change where the symbolic link points"
        return "both sides add a symbolic link, to different places"
    return _other(clash, names)


def _other(clash: ConflictReader, names: SideNames) -> str:
    if clash.message("CONFLICT (file/directory)"):
        has_file, has_directory = _by(clash, names)
        return f"{has_directory} has a directory at this path, {has_file} a file"
    return "the sides disagree about what stands at this path"
