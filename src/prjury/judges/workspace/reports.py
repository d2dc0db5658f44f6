"""Reports that build tools write: found in a directory, and read as XML or as text.

The files come from code that is not trusted: nothing but regular files is opened, sizes and depths
are capped, nothing outside the document is fetched and no entity is expanded.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO
from xml.etree.ElementTree import Element

from prjury.errors import CannotJudgeError
from prjury.judges.workspace.files import open_regular, unreadable
from prjury.snapshot.model import visible

#: Bytes; reports of very large projects stay below it.
LARGEST_REPORT = 256 * 1024**2

_DEEPEST_ELEMENT = 100
_DEEPEST_DIRECTORY = 60
_MOST_DIRECTORIES = 100_000
_SKIPPED = frozenset({".git", "node_modules", ".venv", ".gradle", ".tox"})


def find_reports(root: Path, pattern: re.Pattern[str]) -> list[Path]:
    """The reports below a directory, in order; links to directories are not followed.

    A directory that cannot be entered is left out: no build of this user has written there.

    Args:
        pattern: found in the path of a report, relative to the directory.

    Raises:
        CannotJudgeError: ``too_large`` when the directory is too large to be searched.
    """
    found: list[Path] = []
    for seen, (place, directories, files) in enumerate(os.walk(root)):
        below = Path(place).relative_to(root)
        directories[:] = sorted(set(directories) - _SKIPPED)
        if seen >= _MOST_DIRECTORIES or len(below.parts) > _DEEPEST_DIRECTORY:
            raise CannotJudgeError(
                f"{visible(str(root))} cannot be searched for reports",
                why="It holds too many directories, or they are nested too deeply",
                remedy="Name the report itself",
                reason="too_large",
            )
        found.extend(
            Path(place, name) for name in files if pattern.search((below / name).as_posix())
        )
    return sorted(found)


def report_elements(path: Path) -> Iterator[tuple[str, Element]]:
    """The report's elements as ``("start", element)`` and ``("end", element)``.

    An element that has ended and was handed out is emptied. The document type may be named, nothing
    of it is fetched. A link is not followed.

    Raises:
        CannotJudgeError: ``report_missing``, ``unreadable``, ``too_large`` or ``report_invalid``.
    """
    from defusedxml import DefusedXmlException  # noqa: PLC0415 - only runs with reports need it
    from defusedxml.ElementTree import ParseError, iterparse  # noqa: PLC0415 - the same

    depth = 0
    with _opened(path) as file:
        try:
            for event, element in iterparse(file, ("start", "end"), forbid_dtd=False):
                depth += 1 if event == "start" else -1
                if depth > _DEEPEST_ELEMENT:
                    raise invalid_report(
                        path, f"It is nested deeper than {_DEEPEST_ELEMENT} levels"
                    )
                yield event, element
                if event == "end":
                    element.clear()
        except DefusedXmlException as error:
            raise invalid_report(path, "It declares entities, which are refused") from error
        except (ParseError, LookupError, ValueError) as error:
            raise invalid_report(path, f"It is not XML: {error}") from error


def invalid_report(path: Path, why: str) -> CannotJudgeError:
    """The error for a report that is there and does not say what it should."""
    return CannotJudgeError(
        f"the report {visible(str(path))} cannot be understood",
        why=why,
        remedy="Have it written again by a complete build",
        reason="report_invalid",
    )


def missing_report(path: Path) -> CannotJudgeError:
    """The error for a report that is not there."""
    return CannotJudgeError(
        f"there is no report at {visible(str(path))}",
        why="The build has not run, or writes its reports elsewhere",
        remedy="Run it first, or name the report's place",
        reason="report_missing",
    )


def _opened(path: Path) -> BinaryIO:
    """The file; never waits for one that is no regular file."""
    what = f"the report {visible(str(path))}"
    try:
        file = open_regular(path)
    except FileNotFoundError as error:
        raise missing_report(path) from error
    except OSError as error:
        linked = error.errno == errno.ELOOP
        raise unreadable(what, "It is a symbolic link" if linked else error.strerror) from error
    if os.fstat(file.fileno()).st_size > LARGEST_REPORT:
        file.close()
        raise CannotJudgeError(
            f"{what} is larger than {LARGEST_REPORT // 1024**2} MiB",
            remedy="Name a report of a part of the project",
            reason="too_large",
        )
    return file


#: Bytes; a line of a report holds a path and some numbers.
_LONGEST_LINE = 64 * 1024


def report_lines(path: Path) -> Iterator[str]:
    """The lines of a report that is text, without their ends; broken characters as surrogates.

    Raises:
        CannotJudgeError: ``report_missing``, ``unreadable``, ``too_large`` or ``report_invalid``.
    """
    with _opened(path) as file:
        while line := file.readline(_LONGEST_LINE):
            if len(line) == _LONGEST_LINE:
                raise invalid_report(path, f"A line has {_LONGEST_LINE // 1024} KiB or more")
            yield line.decode("utf-8", "surrogateescape").rstrip("\r\n")


def report_bytes(path: Path, most: int = LARGEST_REPORT) -> bytes:
    """The beginning of a report, of at most so many bytes.

    Raises:
        CannotJudgeError: ``report_missing``, ``unreadable`` or ``too_large``.
    """
    with _opened(path) as file:
        return file.read(most)
