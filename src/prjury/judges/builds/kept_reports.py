"""Reports that a build or a command has written in its tree, kept for other judges."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from prjury.errors import CannotJudgeError
from prjury.judges.builds.evidence import Run, pack_report, unpack_report
from prjury.judges.builds.plan import BuildPlan
from prjury.judges.builds.results.report_files import Found, find_reports, load_reports, stamps
from prjury.judges.builds.results.tree import TemporaryPaths
from prjury.judges.context import PullRequestContext
from prjury.policy.tiers import BuildOptions
from prjury.snapshot.exempt import matches
from prjury.snapshot.model import visible

KeepRun: TypeAlias = Callable[[BuildPlan, Run | CannotJudgeError], None]


def forget_run(_plan: BuildPlan, _run: Run | CannotJudgeError) -> None:
    """Keep nothing."""


#: Files of one run.
_MOST = 200


@dataclass
class KeptReports:
    """The reports of this review by their paths in the tree; None for one that is unreadable."""

    files: dict[str, bytes | None] = field(default_factory=dict)
    base: dict[str, bytes | None] = field(default_factory=dict)

    @classmethod
    def of(cls, context: PullRequestContext) -> KeptReports:
        """The reports that the judges of this context share."""
        return context.once.get("kept reports", cls)

    def take(self, run: Run, options: BuildOptions) -> None:
        """Take the reports of a build that the policy asks for."""
        self.files.update(_unpack(run.reports, options.keep))
        self.base.update(_unpack(run.reports_of_base, options.keep_of_base))

    @property
    def of_base(self) -> KeptReports:
        """Those that the build of the base has left."""
        return KeptReports(self.base)

    def write(self, glob: str, directory: Path) -> Mapping[str, Path]:
        """Write the reports that a glob names below a directory, or raise CannotJudgeError."""
        files = {path: text for path, text in self.files.items() if matches(path, glob)}
        if not files:
            raise CannotJudgeError(
                f"nothing that ran has left a report at {visible(glob)}",
                why="The build did not get that far, writes its reports elsewhere, or is not run",
                remedy="Have a build or command of an earlier tier write it, or correct the path",
                reason="report_missing",
            )
        written: dict[str, Path] = {}
        for path, content in files.items():
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

    def collect() -> Mapping[str, bytes | None]:
        names = dict[Path, str]()
        for path in find_reports(places.tree, places.reports, earlier, began, globs).files:
            inside = path.is_relative_to(places.tree)
            name = path.relative_to(places.tree).as_posix() if inside else ""
            if any(matches(name, glob) for glob in globs) and len(names) < _MOST:
                names[path] = name
        loaded = load_reports(Found([*names], since=began), [], places.relative)
        reports = dict[str, bytes | None]()
        for name, (_, content) in zip(names.values(), loaded, strict=True):
            text = places.relative((content or b"").decode("utf-8", "surrogateescape"))
            packed = pack_report(text.encode("utf-8", "surrogateescape"))
            reports[name] = None if content is None else packed
        return reports

    return collect


def _unpack(kept: Mapping[str, bytes | None], globs: Sequence[str]) -> dict[str, bytes | None]:
    return {
        path: None if packed is None else unpack_report(packed)
        for path, packed in kept.items()
        if any(matches(path, glob) for glob in globs)
    }
