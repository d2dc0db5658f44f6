"""A pack and its rules as a reader wants to see them: in words, with one example of each kind."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from prjury.rulepacks import words
from prjury.rulepacks.rule import KeptBy, NotRule, Pack, PatternRule

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
    "jsp": "jsp",
}


@dataclass(frozen=True)
class Sample:
    """Code of a case.

    Attributes:
        fixed: what the rule's fix makes of it, None where it has none.
    """

    language: str
    code: str
    fixed: str | None = None

    @property
    def fenced(self) -> str:
        """The code as a block of Markdown."""
        return _fenced(self.language, self.code)

    @property
    def fixed_fenced(self) -> str:
        """The fixed code as a block of Markdown."""
        return _fenced(self.language, self.fixed or "")


@dataclass(frozen=True)
class DescribedRule:
    """A rule in words; ``error``, ``warning`` and ``hint`` say what must be declared for it."""

    pack: Pack
    rule: PatternRule

    @property
    def id(self) -> str:
        """The rule's name within its pack."""
        return self.rule.id

    @property
    def title(self) -> str:
        """The rule's title, without a full stop."""
        return self.rule.title.rstrip(".")

    @property
    def why(self) -> str:
        """Why it is a rule."""
        return self.rule.why.strip()

    @property
    def replacement(self) -> str | None:
        """What to write in its place, as one line."""
        return " ".join(self.rule.replacement.split()) if self.rule.replacement else None

    @property
    def references(self) -> Sequence[str]:
        """Addresses."""
        return self.rule.references

    @property
    def error(self) -> str:
        """Empty where a finding is never an error."""
        return words.error_since(self.pack, self.rule)

    @property
    def warning(self) -> str:
        """Empty where no declared version makes a warning of a finding."""
        return words.warning_since(self.pack, self.rule)

    @property
    def hint(self) -> str:
        """Empty where no declared version makes a hint of a finding."""
        return words.hint_since(self.pack, self.rule)

    @property
    def early(self) -> bool:
        """Whether the hint comes before all else, because the replacement is there already."""
        return words.is_early(self.pack, self.rule)

    @property
    def outcomes(self) -> str:
        """What a finding is with which versions, as one sentence."""
        told = [f"{name} {_with(since)}" for name, since in self._outcomes() if since]
        sentence = "; ".join(told) + "."
        return sentence[0].upper() + sentence[1:]

    def _outcomes(self) -> Iterator[tuple[str, str]]:
        yield "error", self.error
        yield "warning", self.warning
        yield "before that a hint" if self.early else "hint", self.hint

    @property
    def kept_by(self) -> str:
        """Which modules keep the old way on purpose, by this rule alone."""
        return kept(self.rule.kept_by)

    @property
    def languages(self) -> str:
        """The languages that it looks at."""
        return words.languages(self.rule.languages)

    @property
    def fixing(self) -> str:
        """How sure its fixes are; empty where it has none."""
        return words.fixing(self.rule)

    @property
    def found(self) -> Sample | None:
        """The first case that is found and fixed, else the first that is found."""
        fixed = (sample for sample in self._found() if sample.fixed is not None)
        return next(fixed, next(self._found(), None))

    @property
    def left_alone(self) -> Sample | None:
        """The first case that is not found."""
        cases = sorted(self.rule.tests.code.items())
        return next((Sample(name, code) for name, c in cases for code in c.valid), None)

    def _found(self) -> Iterator[Sample]:
        for name, cases in sorted(self.rule.tests.code.items()):
            for example in cases.invalid:
                yield Sample(name, example.code, example.fixed)


@dataclass(frozen=True)
class Described:
    """A pack in words."""

    pack: Pack

    @property
    def id(self) -> str:
        """The pack's name."""
        return self.pack.id

    @property
    def title(self) -> str:
        """What it is about."""
        return self.pack.title

    @property
    def applies_to(self) -> str:
        """What a project must declare for the pack to be looked at."""
        return words.in_words(self.pack.gate)

    @property
    def audience(self) -> str:
        """The projects in which the pack is looked at."""
        return words.audience(self.pack.gate)

    @property
    def since(self) -> str:
        """What must be declared for its rules to hold, where they do not say otherwise."""
        return words.since(self.pack.requires or self.pack.gate)

    @property
    def several(self) -> bool:
        """Whether that is more than one declaration."""
        return len(self.pack.requires or self.pack.gate) > 1

    @property
    def counted(self) -> str:
        """How many rules it has, by severity."""
        return words.counted(self.pack)

    @property
    def languages(self) -> str:
        """The languages of all its rules."""
        return words.languages({name for rule in self.pack.rules for name in rule.languages})

    @property
    def shared_languages(self) -> str:
        """The languages of each of its rules; empty where they differ."""
        found = {rule.languages for rule in self.rules}
        return found.pop() if len(found) == 1 else ""

    @property
    def asks_for_versions(self) -> bool:
        """Whether what a finding is depends on what the project declares."""
        told = {since for rule in self.rules for since in (rule.error, rule.warning, rule.hint)}
        return not told <= {"", words.ALWAYS}

    @property
    def kept_by(self) -> str:
        """Which modules keep the old way on purpose; empty where none does."""
        return kept(self.pack.kept_by)

    @property
    def rules(self) -> list[DescribedRule]:
        """Its rules, in its own order."""
        return [DescribedRule(self.pack, rule) for rule in self.pack.rules]

    @property
    def not_rules(self) -> Sequence[NotRule]:
        """What no rule decides."""
        return self.pack.not_rules


def _with(since: str) -> str:
    return since if since == words.ALWAYS else f"with {since}"


def kept(by: KeptBy | None) -> str:
    """Which modules keep the old way on purpose, as sentences; empty where none does."""
    if by is None:
        return ""
    reasons = [f"that declares {_listed(by.dependencies)} itself"] if by.dependencies else []
    reasons += [f"whose name fits {_listed(by.modules)}"] if by.modules else []
    softer = ["that uses the old way already"] if by.code else []
    if by.brought_by:
        softer.append(f"that asks for what brings it along ({_listed(by.brought_by)})")
    told = [f"A module {_either(reasons)} is left alone."] if reasons else []
    if softer:
        told.append(f"In a module {_either(softer)} findings are warnings at most.")
    return " ".join(told)


def _either(clauses: Sequence[str]) -> str:
    return f"{', or '.join(clauses)}," if len(clauses) > 1 else clauses[0]


def _listed(names: Sequence[str]) -> str:
    *first, last = (f"`{name}`" for name in names)
    return f"{', '.join(first)} or {last}" if first else last


def _fenced(language: str, code: str) -> str:
    longest = max((len(run) for run in _BACKTICKS.findall(code)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{_FENCES.get(language, language)}\n{code.rstrip()}\n{fence}"
