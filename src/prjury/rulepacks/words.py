"""What packs and rules are about, in words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import groupby

from prjury.manifests.versions import Requirement
from prjury.rulepacks.applicability import required_by
from prjury.rulepacks.rule import Pack, PatternRule

ALWAYS = "always"

_EVERY = "every project"

_BOUND = re.compile(r"(>=|<)\s*([\d.]+)")
_RUNTIMES = {
    "python": "Python",
    "node": "Node.js",
    "go": "Go",
    "rust": "Rust",
    "rust-edition": "Rust edition",
    "java": "Java",
    "kotlin": "Kotlin",
    "gradle": "Gradle",
    "dotnet": ".NET",
}
_LANGUAGES = {
    "java": "Java",
    "kotlin": "Kotlin",
    "python": "Python",
    "javascript": "JavaScript",
    "typescript": "TypeScript",
    "tsx": "TSX",
    "go": "Go",
    "rust": "Rust",
    "maven": "pom.xml",
    "gradle": "Gradle",
    "pypi": "pyproject.toml and requirements",
    "npm": "package.json",
    "gomod": "go.mod",
    "cargo": "Cargo.toml",
    "nuget": ".csproj",
    "workflow": "GitHub workflows",
    "xml": "XML",
    "jsp": "JSP",
    "yaml": "YAML",
    "json": "JSON",
    "docker": "Dockerfile",
    "shell": "shell",
    "properties": "properties",
}


def languages(names: Iterable[str]) -> str:
    """The languages as they are called, in the order of the alphabet."""
    return ", ".join(sorted((_LANGUAGES.get(name, name) for name in names), key=str.lower))


def in_words(requirements: Iterable[Requirement], unbounded: str = "") -> str:
    """``Python 3.12 or later``; several with ``or``, those with the same bounds together.

    Args:
        unbounded: what stands before those of which any version will do.
    """
    by_bounds = groupby(requirements, key=_bounds)
    parts = [
        ("" if bounds else unbounded) + " or ".join(map(_name, same)) + bounds
        for bounds, same in by_bounds
    ]
    return ", or ".join(parts)


def audience(requirements: Sequence[Requirement]) -> str:
    """``projects that declare numpy``, or ``every project``."""
    told = in_words(requirements)
    return f"projects that declare {told}" if _all_named(requirements) else _EVERY


def since(requirements: Sequence[Requirement]) -> str:
    """``Python 3.12 or later``, ``any version of Go``; ``always`` where nothing is required."""
    return in_words(requirements, "any version of ") if _all_named(requirements) else ALWAYS


def _all_named(requirements: Iterable[Requirement]) -> bool:
    return all(requirement.ecosystem for requirement in requirements)


def _name(requirement: Requirement) -> str:
    if not requirement.ecosystem:
        return _EVERY
    if requirement.ecosystem == "runtime":
        names = _RUNTIMES if requirement.span else {**_RUNTIMES, "rust-edition": "Rust"}
        return names.get(requirement.artifact, requirement.artifact)
    if requirement.group and requirement.artifact != "*":
        return f"{requirement.group}:{requirement.artifact}"
    return requirement.group or requirement.artifact


def _bounds(requirement: Requirement) -> str:
    match dict(_BOUND.findall(requirement.text)):
        case {">=": low, "<": high}:
            return f" {low} or later, before {high}"
        case {">=": low}:
            return f" {low} or later"
        case {"<": high}:
            return f" before {high}"
    return ""


def error_since(pack: Pack, rule: PatternRule) -> str:
    """What must be declared for a finding to be an error; empty where none ever is."""
    return since(required_by(pack, rule)) if rule.severity == "error" else ""


def warning_since(pack: Pack, rule: PatternRule) -> str:
    """The same for a warning, where every declared version says so."""
    if rule.severity == "warning":
        return since(required_by(pack, rule))
    return since(rule.deprecated) if rule.deprecated and rule.severity == "error" else ""


def hint_since(pack: Pack, rule: PatternRule) -> str:
    """The same for a hint, where versions are known; see `is_early`."""
    if rule.severity == "hint":
        return since(required_by(pack, rule))
    return since(rule.replaceable or ()) if is_early(pack, rule) else ""


def is_early(pack: Pack, rule: PatternRule) -> bool:
    """Whether there is a time before the rule's own when only the replacement is there."""
    own = (list(required_by(pack, rule)), rule.deprecated)
    return rule.severity != "hint" and bool(rule.replaceable) and rule.replaceable not in own


def fixing(rule: PatternRule) -> str:
    """How sure the rule's fixes are; empty for a rule that has none."""
    return ", ".join(dict.fromkeys(fix.applicability for fix in rule.fix))


def counted(pack: Pack) -> str:
    """``14 rules: 9 errors, 5 warnings``."""
    told = [
        _many(count, severity)
        for severity in ("error", "warning", "hint")
        if (count := sum(rule.severity == severity for rule in pack.rules))
    ]
    return f"{_many(len(pack.rules), 'rule')}: {', '.join(told)}"


def _many(count: int, word: str) -> str:
    return f"{count} {word}" + ("" if count == 1 else "s")
