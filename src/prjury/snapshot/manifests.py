"""Version numbers in the files that name what a project is made of, line by line.

A line counts only at a place and in a form that are known to hold a version: a number in a script,
a port, a URL or a dependency's name is none.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TypeAlias

from prjury.snapshot.bumps import both_go_up
from prjury.snapshot.sections import (
    Place,
    Places,
    anywhere,
    in_go_mod,
    in_ini,
    in_json,
    in_toml,
    in_xml,
    in_yaml,
)
from prjury.snapshot.threeway import Lines, ThreeWay

Forms: TypeAlias = tuple[re.Pattern[str], ...]
#: A line and where it stands.
_Line: TypeAlias = tuple[Place, str]

_LONGEST_LINE = 1_000
_COMMIT = re.compile(r"[0-9a-f]{40}")
#: One of these is in every version.
_DIGIT = re.compile(r"\d|[a-f]{40}")
_VERSION = r"(?P<{}>v?\d[\w.+-]*)"
#: A separator takes no blank behind it: the bound that follows does, so that there is one reading.
_NUMBER = r"[~^<>=! ]*v?\d[\w.+*-]*"
_RANGE = rf"(?P<{{}}>{_NUMBER}(?:(?: ?,| ?\|\|| -(?= )| ){_NUMBER})*)"
_ONE, _WITHIN = _VERSION.format("version"), _RANGE.format("version")
_BOUNDS = r"(?P<version>(?:[~<>=!]=|[<>]|===) ?\d[\w.+*-]*(?: ?, ?(?:[~<>=!]=|[<>]) ?\d[\w.+*-]*)*)"
_TABLE_BEFORE, _TABLE_AFTER = r"""[^{}'"]*(?:["'][\w.:/-]*["'][^{}'"]*)*""", r"[^{}]*"


def _forms(*patterns: str) -> Forms:
    return tuple(re.compile(rf"\s*{pattern}\s*") for pattern in patterns)


def _inline_table(quoted: str) -> str:
    return rf"""[\w."-]+ ?= ?\{{{_TABLE_BEFORE}\bversion ?= ?["']{quoted}["']{_TABLE_AFTER}\}}"""


_POM_VERSION = _forms(rf"<(version)>{_ONE}</\1>")
_POM_PROPERTY = _forms(rf"<([\w.-]*[vV]ersion|revision)>{_ONE}</\1>")
_GRADLE = _forms(
    rf"""[\w.]+[ (]+(?:(?:enforcedP|p)latform\()?["'][\w.-]+:[\w.-]+:{_ONE}["'][) ]*;?""",
    rf"""id[ (]+["'][\w.-]+["']\)? version[ (]+["']{_ONE}["']\)?(?: apply (?:true|false))?""",
    rf"""(?:def |val |var |const |ext\.)*\w*[vV]ersion ?= ?["']{_ONE}["'];?""",
    rf"""(?:ext|extra)\[["'][\w.-]*[vV]ersion["']\] ?= ?["']{_ONE}["'];?""",
)
_PROPERTIES = _forms(rf"[\w.-]*[vV]ersion ?[=:] ?{_ONE}")
_NPM = _forms(rf'"[@\w./-]+" ?: ?"{_WITHIN}",?')
_NPM_OWN = _forms(rf'"version" ?: ?"{_ONE}",?', rf'"packageManager" ?: ?"\w+@{_ONE}",?')
_REQUIREMENT = rf"[\w.-]+(?:\[[\w, .-]*\])? ?{_BOUNDS}(?: ?;[\w .=<>!~'\"()]+)?"
_REQUIREMENTS = _forms(rf"{_REQUIREMENT}(?: +#.*)?")
_QUOTED = _forms(rf'"{_REQUIREMENT}",?(?: *#.*)?', rf"'{_REQUIREMENT}',?(?: *#.*)?")
_TOML_VERSION = _forms(rf"""(?:rust-)?version ?= ?["']{_ONE}["']""")
_TOML_DEPENDENCY = _forms(rf"""[\w.-]+ ?= ?["']{_WITHIN}["']""", _inline_table(_WITHIN))
_TOML_OF_ONE = _forms(rf"""version ?= ?["']{_WITHIN}["']""")
_CATALOG_VERSION = _forms(rf"""[\w-]+ ?= ?["']{_ONE}["']""")
_CATALOG_ENTRY = _forms(_inline_table(_ONE))
_SETUP_VERSION = _forms(rf"version ?= ?{_ONE}")
_GO_REQUIRED = _forms(rf"[\w./~-]+ {_ONE}(?: // indirect)?")
_GO_REQUIRE = _forms(rf"require [\w./~-]+ {_ONE}(?: // indirect)?")
_PIN = r"(?P<version>v?\d[\w.-]*|[0-9a-f]{40})"
_WORKFLOW = _forms(
    rf"""(?:- +)?uses: +["']?[\w./-]+@{_PIN}["']?(?: +# *{_VERSION.format("remark")})?"""
)
_PRE_COMMIT = _forms(rf"""(?:- +)?rev: +["']?{_PIN}["']?""")


@dataclass(frozen=True)
class _Manifest:
    """A kind of file, and the places in it where versions stand in which forms."""

    places: Places
    rules: tuple[tuple[re.Pattern[str], Forms], ...]

    def match(self, place: Place, line: str) -> re.Match[str] | None:
        """The line as one that holds a version; None for any other."""
        if place is None or len(line) > _LONGEST_LINE or not _DIGIT.search(line):
            return None
        return next(filter(None, (form.fullmatch(line) for form in self._forms(place))), None)

    def _forms(self, place: tuple[str, ...]) -> Forms:
        """The forms in which versions stand at a place."""
        names = " > ".join(place)
        return tuple(
            form for where, forms in self.rules if where.fullmatch(names) for form in forms
        )


def _manifest(places: Places, *rules: tuple[str, Forms]) -> _Manifest:
    return _Manifest(places, tuple((re.compile(where), forms) for where, forms in rules))


_CARGO_DEPENDENCIES = r"((target\..+|workspace)\.)?(dev-|build-)?dependencies"
_BY_NAME: Mapping[str, _Manifest] = {
    "pom.xml": _manifest(
        in_xml,
        (
            r"(?!.* > configuration( > |$))(.* > )?(project|parent|dependency|plugin|extension)",
            _POM_VERSION,
        ),
        (r"project( > profiles > profile)? > properties", _POM_PROPERTY),
    ),
    "gradle.properties": _manifest(anywhere, ("", _PROPERTIES)),
    "package.json": _manifest(
        in_json,
        ("", _NPM_OWN),
        (
            r" > ((dev|peer|optional)D|d)ependencies| > engines| > (overrides|resolutions)( > .*)?",
            _NPM,
        ),
    ),
    "pyproject.toml": _manifest(
        in_toml,
        (r"(project|tool\.poetry) > ", _TOML_VERSION),
        (
            r"project(\.optional-dependencies > .+| > dependencies)",
            _QUOTED,
        ),
        (
            "dependency-groups > .+|build-system > requires",
            _QUOTED,
        ),
        (r"tool\.poetry\.(group\.[\w-]+\.|dev-)?dependencies > ", _TOML_DEPENDENCY),
    ),
    "setup.cfg": _manifest(
        in_ini,
        ("metadata > ", _SETUP_VERSION),
        (
            r"options > (install|setup|tests)_requires|options\.extras_require > .+",
            _REQUIREMENTS,
        ),
    ),
    "cargo.toml": _manifest(
        in_toml,
        (r"(workspace\.)?package > ", _TOML_VERSION),
        (rf"{_CARGO_DEPENDENCIES} > ", _TOML_DEPENDENCY),
        (rf"{_CARGO_DEPENDENCIES}\.[\w-]+ > ", _TOML_OF_ONE),
    ),
    "go.mod": _manifest(in_go_mod, ("require", _GO_REQUIRED), ("", _GO_REQUIRE)),
    "action.yml": _manifest(in_yaml, ("", _WORKFLOW)),
    "action.yaml": _manifest(in_yaml, ("", _WORKFLOW)),
    ".pre-commit-config.yaml": _manifest(in_yaml, ("", _PRE_COMMIT)),
}
_BY_PATH = (
    (re.compile(r"(^|/)\.github/workflows/[^/]+\.ya?ml$"), _BY_NAME["action.yml"]),
    (re.compile(r"\.gradle(\.kts)?$"), _manifest(anywhere, ("", _GRADLE))),
    (
        re.compile(r"\.versions\.toml$"),
        _manifest(
            in_toml, ("versions > ", _CATALOG_VERSION), ("(libraries|plugins) > ", _CATALOG_ENTRY)
        ),
    ),
    (
        re.compile(r"(^|/)((requirements|constraints)([._-][^/]*)?|requirements/[^/]+)\.(txt|in)$"),
        _manifest(anywhere, ("", _REQUIREMENTS)),
    ),
)


def only_versions(path: str, file: ThreeWay) -> list[bool]:
    """For each region, whether both sides go up from the base's versions and change nothing else.

    Where both sides add the lines nobody can tell which way they go.
    """
    manifest = _manifest_of(path)
    if manifest is None or file.base is None:
        return [False] * len(file.regions)
    sides = [_Side(lines, manifest.places(lines)) for lines in (file.base, file.ours, file.theirs)]
    return [
        _all_go_up(manifest, [side.written(where) for side, where in zip(sides, at, strict=True)])
        for at in ((region.base, region.ours, region.theirs) for region in file.regions)
    ]


@dataclass(frozen=True)
class VersionLine:
    """A line of a file that holds a version.

    Attributes:
        at: the line's place in the file, from 0.
        place: the parts of the file around it; see `prjury.snapshot.sections`.
        version: a version or range; for a pinned commit the version that a remark names, written
            ``=v1.2``, and ``""`` where none does.
        written: the version or commit as it stands there.
    """

    at: int
    place: tuple[str, ...]
    text: str
    version: str
    written: str


def is_manifest(path: str) -> bool:
    """Whether versions of what a project is made of may stand in a file of this name."""
    return _manifest_of(path) is not None


def version_lines(path: str, lines: Lines) -> list[VersionLine]:
    """The lines that hold a version at a place and in a form that are known."""
    manifest = _manifest_of(path)
    if manifest is None:
        return []
    found = []
    for at, (place, line) in enumerate(zip(manifest.places(lines), lines, strict=True)):
        match = manifest.match(place, line.rstrip())
        if match and place is not None:
            found.append(VersionLine(at, place, line.rstrip(), _named(match), match["version"]))
    return found


def _manifest_of(path: str) -> _Manifest | None:
    by_path = (manifest for pattern, manifest in _BY_PATH if pattern.search(path.lower()))
    return _BY_NAME.get(PurePosixPath(path).name.lower()) or next(by_path, None)


@dataclass(frozen=True)
class _Side:
    """One version of a file, and where in it each line stands."""

    lines: Lines
    places: Sequence[Place]

    def written(self, where: range) -> list[_Line]:
        """The lines of a region that are not empty."""
        pairs = ((self.places[at], self.lines[at].rstrip()) for at in where)
        return [(place, line) for place, line in pairs if line]


def _all_go_up(manifest: _Manifest, sides: Sequence[Sequence[_Line]]) -> bool:
    """Whether these are the same lines but for versions that go up."""
    if not sides[0] or len({len(lines) for lines in sides}) != 1:
        return False
    return all(_goes_up(manifest, lines) for lines in zip(*sides, strict=True))


def _goes_up(manifest: _Manifest, sides: Sequence[_Line]) -> bool:
    """Whether one line is the same on all sides, at one place, but for a version that goes up."""
    if len({line for _, line in sides}) == 1:
        return True
    matches = [match for match in (manifest.match(*one) for one in sides) if match]
    if len(matches) < len(sides) or len({place for place, _ in sides}) > 1:
        return False
    if len(set(map(_key, matches))) > 1:
        return False
    base, ours, theirs = named = [_named(match) for match in matches]
    # A remark that stays while the commit changes tells nothing.
    known = all(named) and len(set(named)) == len({match["version"] for match in matches})
    return known and both_go_up(base, ours, theirs)


def _named(match: re.Match[str]) -> str:
    """The version; for a pinned commit the one that a remark names, and ``""`` without any."""
    if not _COMMIT.fullmatch(match["version"]):
        return match["version"]
    return f"={match['remark']}" if match.groupdict().get("remark") else ""


def _key(match: re.Match[str]) -> str:
    """The line without its version numbers."""
    line = match[0]
    spans = [match.span(name) for name in match.groupdict() if match[name] is not None]
    for start, end in sorted(spans, reverse=True):
        line = f"{line[:start]}\0{line[end:]}"
    return line
