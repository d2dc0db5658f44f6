"""Reads the files of packs, whose paths may lead anywhere, and knows their lines."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias, TypeVar

from msgspec import ValidationError

from prjury.errors import ConfigError
from prjury.policy.fields import PolicySection, convert_section
from prjury.policy.load import find_problems
from prjury.policy.yaml_reader import MAX_BYTES, Document, KeyPath

#: Mistakes of one file that are reported at once.
_MOST = 20
_REMEDY = "Correct the pack there; `prjury rules show PACK` shows one that is right"
_Section = TypeVar("_Section", bound=PolicySection)


class PackPosition(NamedTuple):
    """A line, from 1, of a file of a pack."""

    source: str
    line: int

    def __str__(self) -> str:
        return f"{self.source}:{self.line}"


#: Where in its files a key path of a pack stands.
Locate: TypeAlias = Callable[[KeyPath], PackPosition]


def text_of(path: Path, largest: int = MAX_BYTES) -> str:
    """Return the text of a file of a pack."""
    try:
        if path.exists() and not path.is_file():
            raise ConfigError(
                f"the pack {str(path)!r} is not a file",
                remedy="Name a file or a directory of packs",
                reason="pack_invalid",
            )
        with path.open("rb") as stream:
            content = stream.read(largest + 1)
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"the pack {str(path)!r} cannot be read: {getattr(error, 'strerror', None) or error}",
            remedy="Paths of packs are relative to the directory in which prjury is started",
        ) from error
    return decode_pack(content, str(path), largest)


def decode_pack(content: bytes, name: str, largest: int) -> str:
    """Return the text of a file of a pack, which has to be UTF-8 of so many bytes at most."""
    if len(content) > largest:
        raise ConfigError(
            f"{name} is larger than {largest // 1024} KiB",
            remedy="Split the pack, or name another file",
            reason="too_large",
        )
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"{name} is not UTF-8 (byte {error.start})", remedy="Name a pack, and save it as UTF-8"
        ) from error


def drop_repeated(paths: Iterable[Path]) -> list[Path]:
    """The paths without those that lead to a file named before."""
    files: dict[str, Path] = {}
    for path in paths:
        # No file has a NUL in its name; reading it tells so.
        real = str(path) if "\0" in str(path) else os.path.realpath(path)
        files.setdefault(real, path)
    return list(files.values())


def read_part(part_type: type[_Section], document: Document) -> _Section:
    """Read the document as a part of a pack."""
    try:
        part: _Section = convert_section(document.value, part_type)
    except ValidationError as error:
        problems = find_problems(document.value, part_type)
        placed = sorted({(position(document, each.path), each.text) for each in problems})
        raise join_errors([pack_error(*each) for each in placed]) from error
    return part


def join_errors(errors: Sequence[ConfigError]) -> ConfigError:
    """Several mistakes as one."""
    problems = [error.what for error in errors[:_MOST]]
    problems += [f"{len(errors) - _MOST} more"] if len(errors) > _MOST else []
    return ConfigError("; ".join(problems), remedy=_REMEDY, reason=errors[0].reason)


def position(document: Document, path: KeyPath) -> PackPosition:
    """The file and line of a key path of a document."""
    return PackPosition(document.source, document.place_of(path)[0])


def pack_error(place: PackPosition, problem: str) -> ConfigError:
    """An error at a place; the problem names the key."""
    what = f"{place.source} line {place.line}: {problem}"
    return ConfigError(what, remedy=_REMEDY, reason="pack_invalid")
