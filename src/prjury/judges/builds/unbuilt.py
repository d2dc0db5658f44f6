"""Source files that no build covers, and whether they need one. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from prjury.judges.builds.plan import CUSTOM, BuildPlan
from prjury.judges.builds.systems import SYSTEMS
from prjury.judges.builds.systems.build_system import (
    ANY_LANGUAGE,
    JAVASCRIPT,
    NATIVE,
    PYTHON,
    BuildSystem,
)
from prjury.judges.builds.systems.source_tree import (
    find_excluded,
    parent_of,
)
from prjury.report.judge_facts import LeftOut
from prjury.snapshot.kinds import kind_of
from prjury.snapshot.model import FileChange, FileKind, printable, visible

#: The suffixes of sources that builds compile or test, by the builds' names.
_COVERS: Mapping[str, frozenset[str]] = {
    CUSTOM: ANY_LANGUAGE,
    "pip": NATIVE,  # it compiles the extensions of what it installs
    **{name: suffixes for one in SYSTEMS.values() for name, suffixes in one.COVERS.items()},
}
#: The command that installs the project itself.
_INSTALLS = re.compile(r"\bpip install\b.* -e '?\.(?![\w/])")
#: Sources of compiled languages without a build system here.
_NOT_BUILT = (
    ".rb .php .cs .fs .vb .swift .m .mm .ex .exs .erl .hs .ml .clj .dart .jl .zig .nim .cr "
    ".elm .f90".split()
)
#: Languages of scripts and pages beside other code, often without tests.
_BESIDE_OTHERS = JAVASCRIPT | PYTHON
_CODE = frozenset({FileKind.SOURCE, FileKind.TEST})
#: Infrastructure, pages, data and shell scripts: nothing compiles them, and few test them.
_NEEDS_NO_BUILD = frozenset(
    ".tf .tfvars .hcl .bicep .rego .cue .jsonnet .libsonnet .tpl .tmpl .gotmpl .j2 .jinja .jinja2 "
    ".mustache .yml .yaml .json .json5 .jsonl .toml .xml .ini .cfg .conf .properties .env .lock "
    ".md .mdx .markdown .rst .adoc .txt .org .tex .bib .csv .tsv .svg .puml .mmd .drawio "
    ".html .htm .css .sql .sh .bash .zsh .fish .ps1 .bat .cmd".split()
)
#: How projects in languages whose build systems are not known are usually tested.
_USUAL = {
    ".cs": "dotnet test", ".fs": "dotnet test", ".vb": "dotnet test", ".rb": "bundle exec rake",
    ".php": "composer install && composer test", ".swift": "swift test", ".ex": "mix test",
    ".exs": "mix test", ".dart": "dart test", ".hs": "cabal test", ".scala": "sbt test",
    ".lua": "busted", ".clj": "lein test", ".zig": "zig build test",
    **dict.fromkeys(
        (".c", ".cc", ".cpp", ".cxx"),
        "cmake -B build && cmake --build build && ctest --test-dir build",
    ),
}  # fmt: skip


def needing_build(paths: Iterable[str], changed: Collection[str]) -> str | None:
    """A source file that something should build or test; None if the tree has none.

    Scripts and samples count only where they change, samples of languages that stand beside
    others not even then.
    """
    found = (path for path in paths if kind_of(path) in _CODE and _is_source(path, path in changed))
    return min(found, key=lambda path: (path not in changed, path), default=None)


def usual_command(path: str) -> str:
    """How a project with this source file is usually tested."""
    return _USUAL.get(PurePosixPath(path).suffix.lower(), "make test")


def _is_source(path: str, changed: bool) -> bool:  # noqa: FBT001 - of one use
    suffix = PurePosixPath(path).suffix.lower()
    if not suffix or suffix in _NEEDS_NO_BUILD:
        return False
    is_sample = find_excluded(parent_of(path)) is not None
    if suffix in _BESIDE_OTHERS:
        return changed and not is_sample
    return changed or not is_sample


def systems_of(plans: Iterable[BuildPlan]) -> set[str]:
    """The names of what builds; pip is among them where a step installs the project with it."""
    names = set[str]()
    for plan in plans:
        installs = any(_INSTALLS.search(step.text) for step in plan.steps)
        names |= {plan.system, "pip"} if installs else {plan.system}
    return names


def unbuilt(
    files: Sequence[FileChange],
    systems: Collection[str],
    skipped: Collection[str],
    own: Iterable[BuildSystem] = (),
) -> list[LeftOut]:
    """The files that no build looks at.

    Args:
        systems: those that were run.
        skipped: the directories of projects that were left out.
        own: the build systems of the policy.
    """
    covers = dict(_COVERS)
    for system in own:
        covers.update(system.COVERS)
    return [
        LeftOut(printable(file.path), reason, counts)
        for file in files
        if file.kind in _CODE
        for reason, counts in _reasons(file.path, frozenset(systems), skipped, covers)
    ]


def _reasons(
    path: str,
    systems: frozenset[str],
    skipped: Collection[str],
    covers: Mapping[str, frozenset[str]],
) -> Iterator[tuple[str, bool]]:
    """Why nothing has built it, at most one reason, and whether that counts against the change."""
    project = next((place for place in skipped if path.startswith(f"{place}/")), None)
    if project is not None:
        yield f"the project in {visible(project)} was not built", True
        return
    if other := find_other_system(path):
        yield f"it is built on {other} alone", True
        return
    suffix = PurePosixPath(path).suffix.lower()
    known = {name for name, covered in covers.items() if suffix in covered}
    anything = {name for name, covered in covers.items() if covered == ANY_LANGUAGE}
    if (known or suffix in _NOT_BUILT) and not systems & (known | anything):
        yield "no build that ran knows this language", suffix not in _BESIDE_OTHERS


#: The ends of names of Go files that are built for other systems than Linux.
_OTHER_SYSTEMS = frozenset(
    "windows darwin freebsd netbsd openbsd solaris plan9 js wasip1 ios android".split()
)


def find_other_system(path: str) -> str:
    """The system for which a Go file is built by its name; empty for Linux and for all."""
    stem = path.rpartition("/")[2].removesuffix(".go").removesuffix("_test")
    parts = stem.split("_")[1:] if path.endswith(".go") else []
    return next((part for part in parts[-2:] if part in _OTHER_SYSTEMS), "")
