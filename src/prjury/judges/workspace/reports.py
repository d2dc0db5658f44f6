"""Reports of build tools, which are not trusted: found in a directory, read as XML or lines."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO
from xml.etree.ElementTree import Element

from prjury.errors import CannotJudgeError
from prjury.judges.workspace.files import open_regular, unreadable
from prjury.snapshot.exempt import matches
from prjury.snapshot.model import visible

#: Bytes; reports of very large projects stay below it.
LARGEST_REPORT = 256 * 1024**2

_DEEPEST_ELEMENT = 100
#: Bytes; a line of a report holds a path and some numbers.
_LONGEST_LINE = 64 * 1024
_STORES = frozenset({".git", ".hg", ".svn"})


def find_reports(root: Path, *globs: str, everywhere: bool = False) -> list[Path]:
    """Find the files below a directory that one of the globs names, or raise CannotJudgeError.

    Reports are not looked for where tools keep what they have downloaded, other files are.
    """
    from prjury.judges.builds.results.report_files import (  # noqa: PLC0415 - with all of builds
        DOWNLOADED,
        Found,
        files_below,
    )

    listing = Found()
    paths = files_below(root, listing, _STORES if everywhere else DOWNLOADED)
    files = [root / path for path in paths if any(matches(path, glob) for glob in globs)]
    if listing.problems:
        raise CannotJudgeError(
            f"{visible(str(root))} cannot be searched",
            why=listing.problems[0],
            remedy="Name the file itself, or a smaller directory",
            reason="too_large",
        )
    return sorted(files)


def walk_elements(path: Path, root: str = "") -> Iterator[tuple[Element, Sequence[Element]]]:
    """Yield each element of a report at its end, with those around it, the outermost first.

    CannotJudgeError for another root than the one that is named.
    """
    from defusedxml import DefusedXmlException  # noqa: PLC0415 - only runs with reports need it
    from defusedxml.ElementTree import ParseError, iterparse  # noqa: PLC0415 - the same

    above: list[Element] = []
    with open_report(path) as file:
        try:
            for event, element in iterparse(file, ("start", "end"), forbid_dtd=False):
                if event == "end":
                    above.pop()
                    yield element, above
                    element.clear()
                    continue
                if not above and root not in {"", element.tag}:
                    raise invalid_report(path, f"Its root is {element.tag!r}, not {root!r}")
                above.append(element)
                if len(above) > _DEEPEST_ELEMENT:
                    why = f"It is nested deeper than {_DEEPEST_ELEMENT} levels"
                    raise invalid_report(path, why)
        except DefusedXmlException as error:
            raise invalid_report(path, "It declares entities, which are refused") from error
        except (ParseError, LookupError, ValueError) as error:
            raise invalid_report(path, f"It is not XML: {error}") from error


def read_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a report, without their ends; broken characters as surrogates."""
    with open_report(path) as file:
        while line := file.readline(_LONGEST_LINE):
            if len(line) == _LONGEST_LINE:
                raise invalid_report(path, f"A line has {_LONGEST_LINE // 1024} KiB or more")
            yield line.decode("utf-8", "surrogateescape").rstrip("\r\n")


def open_report(path: Path) -> BinaryIO:
    """Open a report, which is a regular file of a bounded size."""
    try:
        file = open_regular(path)
    except FileNotFoundError as error:
        raise missing_report(path) from error
    except OSError as error:
        why = "It is a symbolic link" if error.errno == errno.ELOOP else error.strerror
        raise unreadable(f"the report {visible(str(path))}", why) from error
    if os.fstat(file.fileno()).st_size > LARGEST_REPORT:
        file.close()
        raise large_report(path, f"is larger than {LARGEST_REPORT // 1024**2} MiB")
    return file


def invalid_report(path: Path, why: str) -> CannotJudgeError:
    """Return the error for a report that does not say what it should."""
    what = f"the report {visible(str(path))} cannot be understood"
    remedy = "Have it written again by a complete build"
    return CannotJudgeError(what, why=why, remedy=remedy, reason="report_invalid")


def missing_report(path: Path) -> CannotJudgeError:
    """Return the error for a report that is not there."""
    what = f"there is no report at {visible(str(path))}"
    why = "The build has not run, or writes its reports elsewhere"
    remedy = "Run it first, or name the report's place"
    return CannotJudgeError(what, why=why, remedy=remedy, reason="report_missing")


def large_report(path: Path, excess: str) -> CannotJudgeError:
    """Return the error for a report that is too large."""
    what = f"the report {visible(str(path))} {excess}"
    remedy = "Name a report of a part of the project"
    return CannotJudgeError(what, remedy=remedy, reason="too_large")
