"""In which directory a line of a log was printed."""

from __future__ import annotations

from pathlib import Path

from prjury.judges.builds.results.read import transcribe
from prjury.judges.builds.results.tree import TreeFiles

TREE = TreeFiles(frozenset({"packages/core/package.json", "packages/app/package.json"}))


def places(tmp_path: Path, *lines: str) -> dict[str, list[str]]:
    log = tmp_path / "log"
    log.write_text("\n".join(lines))
    sections = transcribe(log, TREE, str).sections
    return {section.directory: list(section.lines) for section in sections}
