"""What a file declares a project to be made of, name by name, with the versions as they stand."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePosixPath

from prjury.snapshot.manifests import VersionLine, is_manifest, version_lines


class Purpose(StrEnum):
    """What somebody depends on something for."""

    LIBRARY = "library"
    #: What builds, tests or checks the project, and does not get to its users.
    TOOL = "tool"
    #: The project itself.
    OWN = "own"


@dataclass(frozen=True)
class DeclaredDependency:
    """A dependency, as far as a line names it.

    Attributes:
        name: as the ecosystem writes it, such as ``group:artifact``; for a version that is kept
            apart the name of the property or variable.
        version: the version or range; see `prjury.snapshot.manifests.VersionLine`.
        written: the version or commit as it stands there.
        line: where, from 1.
    """

    name: str
    version: str
    written: str
    line: int
    purpose: Purpose = Purpose.LIBRARY


#: So many lines are looked through for the name that a version belongs to.
_FAR = 60
_LONGEST_LINE = 1_000
_POM_PROPERTY = re.compile(r"\s*<([\w.-]+)>")
_GROUP = re.compile(r"\s*<groupId>\s*([^<\s]+)\s*</groupId>\s*")
_ARTIFACT = re.compile(r"\s*<artifactId>\s*([^<\s]+)\s*</artifactId>\s*")
_TEST_SCOPE = re.compile(r"\s*<scope>\s*test\s*</scope>\s*")
_GRADLE_COORDINATES = re.compile(r"""["']([\w.-]+:[\w.-]+):""")
_GRADLE_PLUGIN = re.compile(r"""\s*id[ (]+["']([\w.-]+)["']""")
_KEY = re.compile(r"""(?:def |val |var |const |ext\.|ext\[|extra\[)*["']?([\w@./-]+)""")
_ACTION = re.compile(r"""uses: +["']?([\w./-]+)@""")
_REPO = re.compile(r"""\s*(?:- +)?repo: +["']?([^\s"'#]+)""")
_INLINE_LIST = re.compile(r"""\s*[\w.-]+ ?= ?\[(.*)\],?\s*(?:#.*)?""")
_INLINE_ITEM = re.compile(
    r"""["']([\w.-]+)(?:\[[\w, .-]*\])? ?([~<>=!][^"';]*?) ?(?:;[^"']*)?["']"""
)
_REQUIRING = re.compile(r"project|build-system|dependency-groups|project\.optional-dependencies")
_TOOL_NAME = re.compile(
    r"plugin|gradle|maven-|checkstyle|jacoco|junit|mockito|testcontainers", re.IGNORECASE
)
_TOOL_PLACE = re.compile(
    r"plugin|extension|dev|build|test|lint|doc|dependency-groups|type", re.IGNORECASE
)
_TOOL_FILE = re.compile(
    r"(dev|test|doc|lint|build|ci|typing|mypy|release)[^/]*$|(^|/)(\.?ci|tools?|tests?)/",
    re.IGNORECASE,
)


def declared(path: str, lines: Sequence[str]) -> tuple[DeclaredDependency, ...] | None:
    """What the file declares with a version; None for a file that declares nothing by its name."""
    if not is_manifest(path):
        return None
    name = PurePosixPath(path).name.lower()
    known = (_read(path, name, each, lines) for each in version_lines(path, lines))
    found = [each for each in known if each]
    if name == "pyproject.toml":
        found += _inline(lines)
    return tuple(sorted(found, key=lambda each: each.line))


def _read(
    path: str, name: str, line: VersionLine, lines: Sequence[str]
) -> DeclaredDependency | None:
    told = _in_pom(line, lines) if name == "pom.xml" else _elsewhere(path, name, line, lines)
    if told is None:
        return None
    return DeclaredDependency(told[0], line.version, line.written, line.at + 1, told[1])


def _in_pom(line: VersionLine, lines: Sequence[str]) -> tuple[str, Purpose] | None:
    element = _POM_PROPERTY.match(line.text)
    if element is None:
        return None
    if line.place[-1] == "properties":
        if element[1] == "revision":
            return element[1], Purpose.OWN
        return element[1], _purpose(_TOOL_NAME.search(element[1]))
    if line.place[-1] == "project":
        return "the project itself", Purpose.OWN
    around = list(_element(line.at, line.place[-1], lines))
    artifact = next((found[1] for text in around if (found := _ARTIFACT.fullmatch(text))), None)
    if artifact is None:
        return None
    group = next((found[1] for text in around if (found := _GROUP.fullmatch(text))), None)
    tool = {"plugin", "extension"} & set(line.place) or any(map(_TEST_SCOPE.fullmatch, around))
    return f"{group}:{artifact}" if group else artifact, _purpose(tool)


def _purpose(tool: object) -> Purpose:
    return Purpose.TOOL if tool else Purpose.LIBRARY


def _element(at: int, name: str, lines: Sequence[str]) -> Iterator[str]:
    """The lines of the element around a line, without those of the elements in it."""
    for step, opening, closing in ((-1, f"<{name}", f"</{name}>"), (1, f"</{name}>", f"<{name}")):
        for here in range(at + step, at + step * _FAR, step):
            line = lines[here] if 0 <= here < len(lines) else closing
            if any(word in line for word in (opening, closing, "<exclusion", "</exclusion")):
                break
            yield line.rstrip()


def _elsewhere(
    path: str, name: str, line: VersionLine, lines: Sequence[str]
) -> tuple[str, Purpose] | None:
    text, place = line.text.strip(), " ".join(line.place)
    if found := _ACTION.search(text):
        return found[1], Purpose.TOOL
    if name == ".pre-commit-config.yaml":
        above = (_REPO.match(lines[at]) for at in range(line.at, max(-1, line.at - _FAR), -1))
        repo = next(filter(None, above), None)
        return (repo[1], Purpose.TOOL) if repo else None
    if name.endswith((".gradle", ".gradle.kts")):
        return _in_gradle(text)
    key = _key(text.removeprefix("require "), line)
    if key is None:
        return None
    if key in {"version", "rust-version"} and "depend" not in place:
        return "the project itself", Purpose.OWN
    listed = name.endswith((".txt", ".in")) and _TOOL_FILE.search(path)
    tool = listed or _TOOL_PLACE.search(place) or key == "packageManager"
    return key, _purpose(tool)


def _in_gradle(text: str) -> tuple[str, Purpose] | None:
    if plugin := _GRADLE_PLUGIN.match(text):
        return plugin[1], Purpose.TOOL
    named = _GRADLE_COORDINATES.search(text) or _KEY.match(text)
    if named is None:
        return None
    if named[1] == "version":
        return "the project itself", Purpose.OWN
    return named[1], _purpose(text.startswith("test") or _TOOL_NAME.search(named[1]))


def _key(text: str, line: VersionLine) -> str | None:
    """The word that a line begins with, or the table that it is the version of."""
    found = _KEY.match(text)
    table = line.place[0].rpartition(".")[2] if line.place else ""
    if found and found[1] == "version" and "dependencies." in (line.place or ("",))[0]:
        return table
    return found[1] if found else None


def _inline(lines: Sequence[str]) -> Iterator[DeclaredDependency]:
    """Lists of requirements that stand on one line."""
    table = ""
    for number, line in enumerate(lines, start=1):
        if line.startswith("["):
            table = line.strip().strip("[]")
        elif len(line) > _LONGEST_LINE or not _REQUIRING.fullmatch(table):
            continue
        elif found := _INLINE_LIST.fullmatch(line.rstrip()):
            for name, version in _INLINE_ITEM.findall(found[1]):
                text = version.strip()
                yield DeclaredDependency(name, text, text, number, _purpose(table != "project"))
