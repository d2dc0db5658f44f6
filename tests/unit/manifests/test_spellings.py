"""Patterns, backports and builds see the same versions, however they are written."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from fakes.maven import coordinates, parent_pom, pom, project
from fakes.repository import BASE, FakeRepository, pull_between
from fakes.roots import package, root_of, touching
from prjury.code.languages import language_of
from prjury.judges.backport.checks.dependencies import Relation, bumps_of, bumps_on_branch
from prjury.judges.builds.detect import detect_builds
from prjury.manifests.formats import format_of, reader_of
from prjury.manifests.project import Project
from unit.manifests.spellings import LOCKS, SPELLINGS, Spelling

PAGE = Path(__file__).parents[2] / "golden/manifest-spellings.md"
UPDATE = bool(os.environ.get("PRJURY_UPDATE_GOLDEN"))
TIP = "d" * 40
PROBES = {
    "jvm": "A.java",
    "python": "a.py",
    "node": "a.js",
    "go": "a.go",
    "rust": "a.rs",
    "dotnet": "A.cs",
}


def names(spelling: Spelling) -> str:
    return f"{spelling.path}: {spelling.way}"


def as_patterns_see(spelling: Spelling, number: int) -> list[tuple[str, str | None]]:
    """The names and versions that hold for a file of the module."""
    kind = format_of(spelling.path)
    text = spelling.at(number)
    if kind is None:
        language = language_of(spelling.path)
        manifest = reader_of(spelling.path, language.name if language else "")(text.encode())
        return [(str(each), each.version) for each in manifest.coordinates]
    probe = PROBES[kind.family]
    base = {**spelling.files, spelling.path: text}
    head = {**base, probe: "x"}
    pull = pull_between(base, head)
    repository = FakeRepository({BASE: base, "head": head})
    module = Project.read(pull, repository, [probe]).of_file[probe].head
    return [(str(each), each.version) for each in module.declared]


def is_seen_by_patterns(spelling: Spelling) -> bool:
    bare = [version.lstrip("v") for version in spelling.versions]
    return all(
        any(name == spelling.name and bare[number].split(",")[0].lstrip("^>=") in (version or "")
            for name, version in as_patterns_see(spelling, number))
        for number in range(3)
    )  # fmt: skip


def is_seen_by_backports(spelling: Spelling) -> bool:
    before, after = ({spelling.path: spelling.at(number)} for number in (0, 1))
    repository = FakeRepository({BASE: before, "head": after, TIP: before})
    bumps = bumps_of(pull_between(before, after), repository)
    there = bumps_on_branch(bumps, TIP, repository)
    return [(each.name, each.old, each.new) for each in bumps.changed] == [
        (spelling.known_as, *(_plain(version) for version in spelling.versions[:2]))
    ] and [each.relation for each in there] == [Relation.SAME]


def _plain(version: str) -> str:
    """PEP 440 has no order among bounds, the reader's is alphabetical."""
    return ",".join(sorted(version.split(",")))


def _maven(spelling: Spelling, name: str) -> dict[str, str]:
    group, _, artifact = name.partition(":")
    return {
        "pom.xml": parent_pom("root", "app", "lib", "other"),
        "app/pom.xml": spelling.at(0),
        "lib/pom.xml": project(coordinates(artifact, "<version>1</version>", group=group)),
        "other/pom.xml": pom("other"),
    }


def _gradle(spelling: Spelling, _name: str) -> dict[str, str]:
    files = {**spelling.files, spelling.path: spelling.at(0)}
    return {"settings.gradle": "", **{f"app/{path}": text for path, text in files.items()}}


def _node(spelling: Spelling, name: str) -> dict[str, str]:
    files = {"package.json": "{}", **spelling.files, spelling.path: spelling.at(0)}
    app = {**json.loads(files.pop("package.json")), "name": "app", "scripts": {"test": "x"}}
    if catalog := files.get("pnpm-workspace.yaml"):
        files |= {"pnpm-lock.yaml": "", "pnpm-workspace.yaml": f"packages: [app, lib]\n{catalog}"}
    return files | {
        "package.json": json.dumps({"workspaces": ["app", "lib"]}),
        "app/package.json": json.dumps(app),
        "lib/package.json": package(name),
    }


def _uv(spelling: Spelling, name: str) -> dict[str, str]:
    text = spelling.at(0)
    app = text if "[project]\n" in text else f'[project]\nname = "x"\n{text}'
    return {
        "uv.lock": "",
        "pyproject.toml": '[tool.uv.workspace]\nmembers = ["app", "lib"]\n',
        "app/pyproject.toml": app.replace('name = "x"', 'name = "app"'),
        "app/test_a.py": "",
        "lib/pyproject.toml": f'[project]\nname = "{name}"\n',
        "lib/test_b.py": "",
    }


def _pip(spelling: Spelling, name: str) -> dict[str, str]:
    app = {"app/setup.py": "", "app/test_a.py": "", f"app/{spelling.path}": spelling.at(0)}
    lib = {"lib/pyproject.toml": f'[project]\nname = "{name}"\n', "lib/test_b.py": ""}
    return app | lib


def _go(spelling: Spelling, name: str) -> dict[str, str]:
    return {
        "go.work": "use (\n./app\n./lib\n)\n",
        "app/go.mod": spelling.at(0),
        "app/b.go": 'package app\nimport "a.b/c"\n',
        "lib/go.mod": f"module {name}\n",
        "lib/a.go": "package lib\n",
    }


def _cargo(spelling: Spelling, name: str) -> dict[str, str]:
    app, shared = spelling.at(0), ""
    if "workspace" in app:
        app, shared = "[dependencies]\nserde.workspace = true\n", app
    patch = f'[patch.crates-io]\n{name} = {{ path = "lib" }}\n'
    return {
        "Cargo.toml": f'[workspace]\nmembers = ["app", "lib"]\n{shared}{patch}',
        "app/Cargo.toml": f'[package]\nname = "app"\n{app}',
        "lib/Cargo.toml": f'[package]\nname = "{name}"\n',
    }


def _unbuilt(spelling: Spelling, _name: str) -> dict[str, str]:
    return {f"app/{spelling.path}": spelling.at(0)}


def family_of(spelling: Spelling) -> str:
    kind = format_of(spelling.path)
    return kind.family if kind else ""


#: Trees in which ``app`` has a spelling, and ``lib`` a name.
WORKSPACES = {
    "jvm": _gradle, "node": _node, "python": _pip, "go": _go, "rust": _cargo,
    "pom.xml": _maven, "pyproject.toml": _uv,
}  # fmt: skip


def workspace_of(spelling: Spelling, name: str) -> dict[str, str]:
    family = family_of(spelling)
    return WORKSPACES.get(spelling.path, WORKSPACES.get(family, _unbuilt))(spelling, name)


def as_builds_see(spelling: Spelling, name: str) -> str:
    """Whether ``app`` is built when ``lib`` of that name changes."""
    changed = touching(f"lib/{PROBES.get(family_of(spelling), 'x')}")
    plans = detect_builds(root_of(workspace_of(spelling, name)), changed).plans
    built = [(plan.directory, *plan.scope.modules) for plan in plans]
    if any({"app", "./app"} & {*parts} for parts in built):
        return "yes"
    return "whole" if built == [("",)] else "–"


def test_builds_follow_imports_in_go_whatever_the_manifest_requires() -> None:
    spelling = next(each for each in SPELLINGS if each.builds == "imports")
    files = {**workspace_of(spelling, spelling.name), "app/b.go": "package app\n"}
    (plan,) = detect_builds(root_of(files), touching("lib/a.go")).plans
    assert plan.scope.modules == ("./lib",)


@pytest.mark.parametrize("spelling", SPELLINGS, ids=names)
def test_all_judges_see_the_same(spelling: Spelling) -> None:
    assert is_seen_by_patterns(spelling) if spelling.patterns else True
    assert is_seen_by_backports(spelling)
    seen = {"imports": "yes", "each": "yes"}.get(spelling.builds, spelling.builds)
    assert as_builds_see(spelling, spelling.name) == seen
    if spelling.builds not in {"whole", "each"}:
        assert as_builds_see(spelling, "a.b:other" if ":" in spelling.name else "other") == "–"


@pytest.mark.parametrize("spelling", LOCKS, ids=names)
def test_lock_files_are_lock_files_for_all(spelling: Spelling) -> None:
    before, after = ({spelling.path: spelling.at(number)} for number in (0, 1))
    repository = FakeRepository({BASE: before, "head": after})

    assert is_seen_by_patterns(spelling)
    bumps = bumps_of(pull_between(before, after), repository)
    assert (bumps.lock_files, bumps.changed) == ((spelling.path,), ())
    alike = {"uv.lock": "pyproject.toml", "poetry.lock": "pyproject.toml"}
    with_members = next(
        each
        for each in SPELLINGS
        if each.path == alike.get(spelling.path, each.path)
        and family_of(each) == family_of(spelling)
    )
    files = {**workspace_of(with_members, "lib"), spelling.path: spelling.at(0)}
    plans = detect_builds(root_of(files), touching(spelling.path)).plans
    assert [plan.scope.modules for plan in plans] == [()] * len(plans) != []


def _rows() -> list[str]:
    rows = []
    for spelling in (*SPELLINGS, *LOCKS):
        text = spelling.at(0).strip()
        lock = spelling in LOCKS
        seen = (
            "yes" if spelling.patterns else "–",
            "lock file" if lock else "yes",
            "lock file" if lock else "yes",
            "whole" if lock else spelling.builds,
        )
        line = next(
            (line.strip() for line in text.split("\n") if spelling.versions[0] in line), text
        )
        shown = line if len(line) <= 70 else f"{line[:67]}..."
        cells = (f"`{spelling.path}`", spelling.way, f"`` {shown} ``", *seen)
        rows.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    return rows


def test_the_page_has_the_table() -> None:
    page = PAGE.read_text("utf-8")

    before, _, rest = page.partition("<!-- spellings -->\n")
    table, end, after = rest.partition("<!-- /spellings -->")
    heading = table.strip().split("\n")[:2]
    if UPDATE:
        text = "\n".join([*heading, *_rows(), ""])
        PAGE.write_text(f"{before}<!-- spellings -->\n{text}{end}{after}", "utf-8")
    else:
        assert table.strip().split("\n")[2:] == _rows()
