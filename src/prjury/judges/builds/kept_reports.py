"""Reports that a build, or a command, leaves in its tree, kept for other judges of the policy.

A file that the tree brings along and that the run has not written again is no report.
"""

from __future__ import annotations

import base64
import binascii
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from prjury.errors import CannotJudgeError
from prjury.judges.builds.outcome import BuildResult
from prjury.judges.builds.plan import BuildPlan
from prjury.judges.builds.results.report_files import Found, find_reports, load_reports, stamps
from prjury.judges.builds.results.tree import TemporaryPaths
from prjury.judges.context import PullRequestContext
from prjury.snapshot.exempt import matches
from prjury.snapshot.model import visible

KeepResult: TypeAlias = Callable[[BuildPlan, BuildResult | CannotJudgeError], None]

#: Files of one run.
_MOST = 200
#: Bytes of a report; those of large projects stay below it.
_LARGEST = 20 * 1024**2


@dataclass
class KeptReports:
    """The reports of this review by their paths in the tree, put there by what ran.

    Attributes:
        files: their bytes, with paths relative to the root of the tree; None for one that could not
            be read.
        base: those of the base.
    """

    files: dict[str, bytes | None] = field(default_factory=dict)
    base: dict[str, bytes | None] = field(default_factory=dict)

    @classmethod
    def of(cls, context: PullRequestContext) -> KeptReports:
        """Those that the judges of this context share."""
        return context.once.get("kept reports", cls)

    def taking(self, keep: KeepResult) -> KeepResult:
        """Keep results as before, and take their reports."""

        def both(plan: BuildPlan, became: BuildResult | CannotJudgeError) -> None:
            if isinstance(became, BuildResult):
                self.take(became)
            keep(plan, became)

        return both

    def take(self, result: BuildResult) -> None:
        """Take the reports of a build."""
        self.files.update(result.kept)
        self.base.update(result.kept_of_base)

    @property
    def of_base(self) -> KeptReports:
        """Those that the build of the base has left."""
        return KeptReports(self.base)

    def write(self, glob: str, directory: Path) -> Mapping[str, Path]:
        """Write the reports that a glob names below a directory; by their paths in the tree.

        Raises:
            CannotJudgeError: ``report_missing`` where there is none, ``report_invalid`` for one
                that could not be read.
        """
        found = {path: text for path, text in self.files.items() if matches(path, glob)}
        if not found:
            raise CannotJudgeError(
                f"nothing that ran has left a report at {visible(glob)}",
                why="The build did not get that far, writes its reports elsewhere, or is not run",
                remedy="Have a build or command of an earlier tier write it, or correct the path",
                reason="report_missing",
            )
        written: dict[str, Path] = {}
        for path, content in found.items():
            if content is None:
                raise CannotJudgeError(
                    f"the report {visible(path)} could not be kept",
                    why="It is too large, a link, or older than the run",
                    remedy="Have it written by the run, in parts of at most 20 MiB",
                    reason="report_invalid",
                )
            written[path] = directory / path
            written[path].parent.mkdir(parents=True, exist_ok=True)
            written[path].write_bytes(content)
        return written


def watch_reports(
    places: TemporaryPaths, globs: Sequence[str]
) -> Callable[[], Mapping[str, bytes | None]]:
    """Note what is in the tree before a run; the result, called after it, reads the new reports."""
    if not globs:
        return dict[str, bytes | None]
    earlier, began = stamps(places.tree, places.reports, globs), time.time()

    def kept() -> Mapping[str, bytes | None]:
        found = find_reports(places.tree, places.reports, earlier, began, globs)
        below = [path for path in found.files if path.is_relative_to(places.tree)]
        named = {path: path.relative_to(places.tree).as_posix() for path in below}
        ours = [path for path in below if any(matches(named[path], glob) for glob in globs)][:_MOST]
        loaded = load_reports(Found(ours, since=began), [], places.relative)
        return {
            named[path]: _relative(content, places)
            for path, (_, content) in zip(ours, loaded, strict=True)
        }

    return kept


def _relative(content: bytes | None, places: TemporaryPaths) -> bytes | None:
    """The report, in which no place of this machine is left."""
    if content is None:
        return None
    text = places.relative(content.decode("utf-8", "surrogateescape"))
    return text.encode("utf-8", "surrogateescape")


def packed(content: str) -> str:
    """A report for the evidence."""
    return base64.b64encode(zlib.compress(content.encode())).decode()


def unpacked(text: str) -> bytes:
    """A report of the evidence.

    Raises:
        ValueError: for anything but a report of bounded size.
    """
    unpacking = zlib.decompressobj()
    try:
        content = unpacking.decompress(base64.b64decode(text, validate=True), _LARGEST)
    except (binascii.Error, zlib.error) as error:
        raise ValueError(f"a kept report is damaged: {error}") from error
    if not unpacking.eof:
        raise ValueError("a kept report is damaged or too large")
    return content
