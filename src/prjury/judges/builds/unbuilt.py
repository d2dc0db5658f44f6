"""Source files that no build covers, and whether they need one. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from pathlib import PurePosixPath

from prjury.judges.builds.calls import TABLE, WORDS, read_calls
from prjury.judges.builds.plan import (
    ANY_LANGUAGE,
    CUSTOM,
    JAVASCRIPT,
    NATIVE,
    PYTHON,
    BuildPlan,
    BuildSystem,
)
from prjury.judges.builds.source_tree import find_excluded_part, parent_of
from prjury.judges.builds.systems import SYSTEMS
from prjury.report.judge_facts import LeftOut
from prjury.snapshot.kinds import kind_of
from prjury.snapshot.model import FileChange, FileKind, printable, visible

#: Languages of scripts and pages beside other code, often without tests.
_BESIDE_OTHERS = JAVASCRIPT | PYTHON
_CODE = frozenset({FileKind.SOURCE, FileKind.TEST})


def choose_file_to_build(paths: Iterable[str], changed: Collection[str]) -> str | None:
    """A source file to build or test; scripts and samples count where they change, not both."""
    sources = []
    for path in paths:
        suffix = PurePosixPath(path).suffix.lower()
        if not suffix or suffix in WORDS["needs_no_build"] or kind_of(path) not in _CODE:
            continue
        is_sample = find_excluded_part(parent_of(path)) is not None
        beside, changes = suffix in _BESIDE_OTHERS, path in changed
        if (changes or not (beside or is_sample)) and not (beside and is_sample):
            sources.append(path)
    return min(sources, key=lambda path: (path not in changed, path), default=None)


def usual_command(path: str) -> str:
    """The command by which projects without a known build system are usually tested."""
    return str(TABLE["usual"].get(PurePosixPath(path).suffix.lower(), "make test"))


def find_unbuilt_files(
    files: Sequence[FileChange],
    plans: Iterable[BuildPlan],
    skipped: Collection[str],
    own: Iterable[BuildSystem] = (),
) -> list[LeftOut]:
    """The files that no build looked at, of those that ran; skipped are projects' directories."""
    covers = {CUSTOM: ANY_LANGUAGE}  # the suffixes of sources by the builds' names
    for system in (*SYSTEMS.values(), *own):
        covers |= system.covers
    covered = frozenset[str]()
    for plan in plans:
        covered |= covers.get(plan.system, frozenset())
        covered |= NATIVE if _installs_project(plan) else frozenset()
    suffixes = WORDS["not_built"].union(*covers.values())
    entries: list[LeftOut] = []
    for file in files:
        suffix = PurePosixPath(file.path).suffix.lower()
        project = next((place for place in skipped if file.path.startswith(f"{place}/")), None)
        reason, counts = "", True
        if project is not None:
            reason = f"the project in {visible(project)} was not built"
        elif other := find_other_system(file.path):
            reason = f"it is built on {other} alone"
        elif suffix in suffixes and not covered & {suffix, *ANY_LANGUAGE}:
            reason = "no build that ran knows this language"
            counts = suffix not in _BESIDE_OTHERS
        if reason and file.kind in _CODE:
            entries.append(LeftOut(printable(file.path), reason, counts))
    return entries


def _installs_project(plan: BuildPlan) -> bool:
    for words in (call.words for step in plan.steps for call in read_calls(step.text)):
        local = any(word == "." or word.startswith((".[", "./")) for word in words)
        if local and "install" in words and "pip" in words[:2]:
            return True
    return False


def find_other_system(path: str) -> str:
    """The system for which a Go file is built by its name; empty for Linux and for all."""
    stem = path.rpartition("/")[2].removesuffix(".go").removesuffix("_test")
    parts = stem.split("_")[1:] if path.endswith(".go") else []
    return next((part for part in parts[-2:] if part in WORDS["other_systems"]), "")
