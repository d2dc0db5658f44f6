"""Version numbers in the files that name what a project is made of, line by line.

A line counts only in a form that is known to hold a version: a number in a script, a URL or a
dependency's name is none.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

_LONGEST_LINE = 1_000
_VERSION = r"(?P<{}>v?\d[\w.+-]*)"
#: A separator takes no blank behind it: the bound that follows does, so that there is one reading.
_NUMBER = r"[~^<>=! ]*v?\d[\w.+*-]*"
_RANGE = rf"(?P<{{}}>{_NUMBER}(?:(?: ?,| ?\|\|| -(?= )| ){_NUMBER})*)"
_ONE, _WITHIN = _VERSION.format("version"), _RANGE.format("version")
_BOUNDS = r"(?P<version>(?:[~<>=!]=|[<>]|===) ?\d[\w.+*-]*(?: ?, ?(?:[~<>=!]=|[<>]) ?\d[\w.+*-]*)*)"
_TABLE_BEFORE, _TABLE_AFTER = r"""[^{}'"]*(?:["'][\w.:/-]*["'][^{}'"]*)*""", r"[^{}]*"


def _forms(*patterns: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(rf"\s*{pattern}\s*") for pattern in patterns)


def _inline_table(quoted: str) -> str:
    return rf"""[\w."-]+ ?= ?\{{{_TABLE_BEFORE}\bversion ?= ?["']{quoted}["']{_TABLE_AFTER}\}}"""


_POM = _forms(rf"<((?:[\w.-]*[.-])?version|revision)>{_ONE}</\1>")
_GRADLE = _forms(
    rf"""[\w.]+[ (]+(?:(?:enforcedP|p)latform\()?["'][\w.-]+:[\w.-]+:{_ONE}["'][) ]*;?""",
    rf"""id[ (]+["'][\w.-]+["']\)? version[ (]+["']{_ONE}["']\)?(?: apply (?:true|false))?""",
    rf"""(?:def |val |var |const |ext\.)*\w*[vV]ersion ?= ?["']{_ONE}["'];?""",
    rf"""(?:ext|extra)\[["'][\w.-]*[vV]ersion["']\] ?= ?["']{_ONE}["'];?""",
)
_PROPERTIES = _forms(rf"[\w.-]*[vV]ersion ?[=:] ?{_ONE}")
_CATALOG = _forms(rf"""[\w-]+ ?= ?["']{_ONE}["']""", _inline_table(_ONE))
_PACKAGE_JSON = _forms(rf'"[@\w./-]+" ?: ?"{_WITHIN}",?')
_REQUIREMENT = rf"[\w.-]+(?:\[[\w, .-]*\])? ?{_BOUNDS}(?: ?;[\w .=<>!~'\"()]+)?"
_REQUIREMENTS = _forms(rf"{_REQUIREMENT}(?: +#.*)?")
_PYPROJECT = _forms(
    rf'"{_REQUIREMENT}",?(?: *#.*)?',
    rf"'{_REQUIREMENT}',?(?: *#.*)?",
    rf"""[\w.-]+ ?= ?["']{_WITHIN}["']""",
    _inline_table(_WITHIN),
)
_SETUP = _forms(_REQUIREMENT, rf"[\w.-]*version ?= ?{_ONE}", rf"python_requires ?= ?{_WITHIN}")
_CARGO = _forms(rf"""(?!edition\b)[\w-]+ ?= ?["']{_WITHIN}["']""", _inline_table(_WITHIN))
_GO_MOD = _forms(
    rf"(?:require )?[\w./~-]+ {_ONE}(?: // indirect)?",
    rf"go {_ONE}",
    r"toolchain go(?P<version>\d[\w.]*)",
)
_PIN = r"(?P<version>v?\d[\w.-]*|[0-9a-f]{40})"
_WORKFLOW = _forms(
    rf"""(?:- +)?uses: +["']?[\w./-]+@{_PIN}["']?(?: +# *{_VERSION.format("remark")})?"""
)
_PRE_COMMIT = _forms(rf"""(?:- +)?rev: +["']?{_PIN}["']?""")

_BY_NAME: Mapping[str, tuple[re.Pattern[str], ...]] = {
    "pom.xml": _POM,
    "gradle.properties": _PROPERTIES,
    "package.json": _PACKAGE_JSON,
    "pyproject.toml": _PYPROJECT,
    "setup.cfg": _SETUP,
    "cargo.toml": _CARGO,
    "go.mod": _GO_MOD,
    "action.yml": _WORKFLOW,
    "action.yaml": _WORKFLOW,
    ".pre-commit-config.yaml": _PRE_COMMIT,
}
_BY_PATH = (
    (re.compile(r"(^|/)\.github/workflows/[^/]+\.ya?ml$"), _WORKFLOW),
    (re.compile(r"\.gradle(\.kts)?$"), _GRADLE),
    (re.compile(r"\.versions\.toml$"), _CATALOG),
    (re.compile(r"(^|/)(requirements|constraints)([._-][^/]*)?\.(txt|in)$"), _REQUIREMENTS),
    (re.compile(r"(^|/)requirements/[^/]+\.(txt|in)$"), _REQUIREMENTS),
)


def only_versions(
    path: str, base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]
) -> bool:
    """Whether all three are the same lines with other version numbers in them.

    Where both sides add the lines, the base has none.
    """
    forms = _forms_of(path)
    sides = [_written(lines) for lines in ((base, ours, theirs) if base else (ours, theirs))]
    if not forms or not all(sides) or len({len(lines) for lines in sides}) != 1:
        return False
    return all(_same(forms, lines) for lines in zip(*sides, strict=True))


def _written(lines: Sequence[str]) -> list[str]:
    return [line for line in (line.rstrip() for line in lines) if line]


def _forms_of(path: str) -> tuple[re.Pattern[str], ...]:
    by_path = (forms for pattern, forms in _BY_PATH if pattern.search(path.lower()))
    return _BY_NAME.get(PurePosixPath(path).name.lower()) or next(by_path, ())


def _same(forms: Sequence[re.Pattern[str]], lines: Sequence[str]) -> bool:
    """Whether one line of all sides is the same but for its version."""
    if len(set(lines)) == 1:
        return True
    keys = {_key(forms, line) for line in lines}
    return len(keys) == 1 and None not in keys


def _key(forms: Sequence[re.Pattern[str]], line: str) -> str | None:
    """The line without its version numbers; None for a line of no known form."""
    if len(line) > _LONGEST_LINE:
        return None
    match = next(filter(None, (form.fullmatch(line) for form in forms)), None)
    if match is None:
        return None
    spans = [match.span(name) for name in match.groupdict() if match[name] is not None]
    for start, end in sorted(spans, reverse=True):
        line = f"{line[:start]}\0{line[end:]}"
    return line
