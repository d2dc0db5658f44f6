"""What a declared version may come to, as each ecosystem writes it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from prjury.manifests.spans.maven import maven, nuget
from prjury.manifests.spans.pypi import pypi
from prjury.manifests.spans.semver import cargo, npm
from prjury.manifests.spans.span import VersionSpan, exact, hull, minimum, only, release, starting

#: Not more digits than a version has: a commit may be all digits.
_ACTION = re.compile(r"v?(\d{1,5}(?:\.\d{1,5}){0,2})(?:[-+][\w.+-]*)?")
_JAVA = re.compile(r"(?:1\.)?(\d{1,3})(?:\.\d+)*(?:[_+-].*)?")
_FRAMEWORK = re.compile(r"net(?:coreapp)?(\d{1,2}\.\d{1,2})(?:-[\w.]+)?")
_OLD_FRAMEWORK = re.compile(r"net(\d)(\d)(\d)?")
_WHOLE = 3


def action(text: str) -> VersionSpan | None:
    """``v4`` is moved along with every 4.x; branches and commits are not known."""
    match = _ACTION.fullmatch(text.strip())
    version = release(match[1]) if match else None
    if not version:
        return None
    return only(version) if len(version) == _WHOLE else starting(version)


def java(text: str) -> VersionSpan | None:
    """One release; ``1.8`` is 8."""
    match = _JAVA.fullmatch(text.strip())
    return exact(match[1]) if match else None


def dotnet(text: str) -> VersionSpan | None:
    """Target frameworks: ``net8.0`` is 8.0, ``net472`` is 4.7.2; several make a span."""
    names = [name.strip() for name in text.split(";") if name.strip()]
    return hull(_framework(name.lower()) for name in names)


def _framework(name: str) -> VersionSpan | None:
    if match := _FRAMEWORK.fullmatch(name):
        return exact(match[1])
    old = _OLD_FRAMEWORK.fullmatch(name)
    return exact(".".join(part for part in old.groups() if part)) if old else None


RUNTIMES: Mapping[str, Callable[[str], VersionSpan | None]] = {
    "python": pypi,
    "node": npm,
    "go": minimum,
    "rust": minimum,
    "rust-edition": exact,
    "java": java,
    "kotlin": maven,
    "gradle": exact,
    "dotnet": dotnet,
}


#: How a version is read in each ecosystem; runtimes have a table of their own, by name.
SPANS: Mapping[str, Callable[[str], VersionSpan | None]] = {
    "maven": maven,
    "pypi": pypi,
    "npm": npm,
    "go": exact,
    "cargo": cargo,
    "nuget": nuget,
    "action": action,
    "runtime": exact,
}


def declared_span(text: str, ecosystem: str, name: str = "") -> VersionSpan | None:
    """What a declared version may come to, or None where nobody can tell.

    Args:
        name: of what; only runtimes are read by it.
    """
    table, key = (RUNTIMES, name) if ecosystem == "runtime" else (SPANS, ecosystem)
    return table.get(key, exact)(text)


def surely_within(text: str, ecosystem: str, name: str, span: VersionSpan) -> bool:
    """Whether every version that a declaration allows is in the span."""
    declared = declared_span(text, ecosystem, name)
    return declared is not None and declared != VersionSpan() and declared.within(span)
