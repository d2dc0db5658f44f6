"""A pack and its rules as a reader wants to see them: in words, with one example of each kind."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import ndiff
from itertools import groupby

from msgspec import Struct

from prjury.manifests.module import Requirement
from prjury.report.wording import join_words, pluralize
from prjury.rulepacks.applicability import SEVERITIES, list_required
from prjury.rulepacks.rule import KeptBy, Pack, PatternRule

_EVERY = "every project"
#: So many libraries that bring an old one along are named.
_MOST = 5

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
    "application": "Spring's YAML",
}


def list_languages(names: Iterable[str]) -> str:
    """Return the languages as they are called, in the order of the alphabet."""
    return ", ".join(sorted((_LANGUAGES.get(name, name) for name in names), key=str.lower))


def describe_requirements(requirements: Iterable[Requirement], unbounded: str = "") -> str:
    """Return ``Python 3.12 or later``; several with ``or``, those with the same bounds together."""
    parts = [
        ("" if bounds else unbounded) + " or ".join(map(_name_dependency, same)) + bounds
        for bounds, same in groupby(requirements, key=_phrase_bounds)
    ]
    return ", or ".join(parts)


def describe_start(requirements: Sequence[Requirement]) -> str:
    """Return ``Python 3.12 or later``, ``any version of Go``, or ``always``."""
    if not _all_named(requirements):
        return "always"
    return describe_requirements(requirements, "any version of ")


def _all_named(requirements: Iterable[Requirement]) -> bool:
    return all(requirement.ecosystem for requirement in requirements)


def _name_dependency(requirement: Requirement) -> str:
    if not requirement.ecosystem:
        return _EVERY
    if requirement.ecosystem == "runtime":
        names = _RUNTIMES if requirement.span else {**_RUNTIMES, "rust-edition": "Rust"}
        return names.get(requirement.artifact, requirement.artifact)
    if requirement.group and requirement.artifact != "*":
        return f"{requirement.group}:{requirement.artifact}"
    return requirement.group or requirement.artifact


def _phrase_bounds(requirement: Requirement) -> str:
    match dict(_BOUND.findall(requirement.text)):
        case {">=": low, "<": high}:
            return f" {low} or later, before {high}"
        case {">=": low}:
            return f" {low} or later"
        case {"<": high}:
            return f" before {high}"
    return ""


#: Lines of code that are shown without a fix.
_GLANCE = 1
_BACKTICKS = re.compile(r"`{3,}")
#: What Markdown calls a language, where that is not our own name.
_FENCES = {
    "maven": "xml",
    "gradle": "groovy",
    "pypi": "toml",
    "npm": "json",
    "gomod": "go",
    "cargo": "toml",
    "nuget": "xml",
    "workflow": "yaml",
    "docker": "dockerfile",
    "application": "yaml",
}


class Sample(Struct, frozen=True):
    """Code of a case, and what the rule's fix makes of it."""

    language: str
    code: str
    fixed: str | None = None

    @property
    def fenced(self) -> str:
        """The code as a block of Markdown."""
        fence = "`" * (1 + max(map(len, _BACKTICKS.findall(self.code)), default=2))
        return f"{fence}{_FENCES.get(self.language, self.language)}\n{self.code.rstrip()}\n{fence}"

    @property
    def is_short(self) -> bool:
        """Return true if a reader sees at a glance what it is about."""
        return self.fixed is not None or len(self.code.splitlines()) <= _GLANCE

    @property
    def diff_or_code(self) -> str:
        """The lines that the fix changes; the whole code where there is no fix."""
        lines = self.code.splitlines()
        if self.fixed is None:
            return _quote(self.code) if len(lines) == 1 else self.fenced
        changes = [line for line in ndiff(lines, self.fixed.splitlines()) if line[0] in "-+"]
        if [line[0] for line in changes] == ["-", "+"]:
            return " → ".join(_quote(line[2:]) for line in changes)
        return "\n".join(["```diff", *changes, "```"])


def _quote(line: str) -> str:
    return f"`` {line.strip()} ``" if "`" in line else f"`{line.strip()}`"


class DescribedRule(Struct, frozen=True):
    """A rule in words; ``error``, ``warning`` and ``hint`` say what must be declared for it."""

    pack: Pack
    rule: PatternRule

    @property
    def title(self) -> str:
        """The rule's title, without a full stop."""
        return self.rule.title.rstrip(".")

    @property
    def replacement(self) -> str | None:
        """What to write in its place, as one line."""
        return " ".join(self.rule.replacement.split()) if self.rule.replacement else None

    @property
    def needed_versions_by_severity(self) -> dict[str, str]:
        """What must be declared for a finding to be as severe; empty where it never is."""
        rule, texts = self.rule, {"error": "", "warning": "", "hint": ""}
        texts[rule.severity] = describe_start(list_required(self.pack, rule))
        if rule.deprecated and rule.severity == "error":
            texts["warning"] = describe_start(rule.deprecated)
        if self._is_early:
            texts["hint"] = describe_start(rule.replaceable or ())
        return texts

    @property
    def _is_early(self) -> bool:
        own = (list(list_required(self.pack, self.rule)), self.rule.deprecated)
        replaceable = self.rule.replaceable
        return self.rule.severity != "hint" and bool(replaceable) and replaceable not in own

    @property
    def outcomes(self) -> str:
        """The versions that make an error, a warning or a hint of a finding, in a few words."""
        return "; ".join(
            f"{name}: {text.replace(' or later', '+')}"
            for name, text in self.needed_versions_by_severity.items()
            if text and not (name == "hint" and self._is_early)
        )

    @property
    def kept_by(self) -> str:
        """Which modules keep the old way on purpose, by this rule alone."""
        return _describe_spared_modules(self.rule.kept_by)

    @property
    def languages(self) -> str:
        """The languages that it looks at."""
        return list_languages(self.rule.languages)

    @property
    def found_sample(self) -> Sample | None:
        """The first case that is found and fixed, else the first that is found."""
        samples = (
            Sample(name, example.code, example.fixed)
            for name, cases in sorted(self.rule.tests.code.items())
            for example in cases.examples
        )
        return min(samples, key=lambda sample: sample.fixed is None, default=None)

    @property
    def left_alone_sample(self) -> Sample | None:
        """The first case that is not found."""
        cases = sorted(self.rule.tests.code.items())
        return next((Sample(name, code) for name, c in cases for code in c.valid), None)


class Described(Struct, frozen=True):
    """A pack in words."""

    pack: Pack

    @property
    def applies_to(self) -> str:
        """What a project must declare for the pack to be looked at."""
        return describe_requirements(self.pack.gate)

    @property
    def audience(self) -> str:
        """``projects that declare numpy``, or ``every project``."""
        return f"projects that declare {self.applies_to}" if _all_named(self.pack.gate) else _EVERY

    @property
    def several(self) -> str:
        """What must be declared for its rules to hold; empty unless that is more than one thing."""
        requirements = self.pack.requires or self.pack.gate
        return describe_start(requirements).replace(" or later", "+") if requirements[1:] else ""

    @property
    def counted(self) -> str:
        """How many rules it has, by severity: ``14 rules: 9 errors, 5 warnings``."""
        numbers = Counter(rule.severity for rule in self.pack.rules)
        counts = [pluralize(numbers[each], each) for each in SEVERITIES if numbers[each]]
        return f"{pluralize(len(self.pack.rules), 'rule')}: {', '.join(counts)}"

    @property
    def languages(self) -> str:
        """The languages of all its rules."""
        return list_languages({name for rule in self.pack.rules for name in rule.languages})

    @property
    def kept_by(self) -> str:
        """Which modules keep the old way on purpose; empty where none does."""
        return _describe_spared_modules(self.pack.kept_by)

    @property
    def rules(self) -> list[DescribedRule]:
        """Its rules, in its own order."""
        return [DescribedRule(self.pack, rule) for rule in self.pack.rules]


def _describe_spared_modules(by: KeptBy | None) -> str:
    if by is None:
        return ""
    reasons = [f"that declares {_join_names(by.dependencies)} itself"] if by.dependencies else []
    reasons += [f"whose name fits {_join_names(by.modules)}"] if by.modules else []
    softer = ["that uses the old way already"] if by.code else []
    softer += ["of a repository whose build files name it"] if by.builds else []
    if by.brought_by:
        names = [f"`{_name_dependency(each)}`{_phrase_bounds(each)}" for each in by.brought_by]
        softer.append(f"that asks for what brings it along ({join_words(names, _MOST)})")
    sentences = [f"A module {_join_clauses(reasons)} is left alone."] if reasons else []
    if softer:
        sentences.append(f"In a module {_join_clauses(softer)} findings are warnings at most.")
    return " ".join(sentences)


def _join_clauses(clauses: Sequence[str]) -> str:
    return f"{', or '.join(clauses)}," if len(clauses) > 1 else clauses[0]


def _join_names(names: Sequence[str]) -> str:
    *first, last = (f"`{name}`" for name in names)
    return f"{', '.join(first)} or {last}" if first else last
