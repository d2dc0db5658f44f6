"""What a declared version may come to, as each ecosystem writes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from prjury.manifests.spans.maven import maven, nuget
from prjury.manifests.spans.pypi import pypi
from prjury.manifests.spans.runtimes import RUNTIMES, action
from prjury.manifests.spans.semver import cargo, npm
from prjury.manifests.spans.span import VersionSpan, exact

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
