"""The format of a version-pattern pack, as models: a stranger's mistake is an error with a line."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal, TypeAlias

import re2
from pydantic import Field, model_validator

from prjury.code.languages import LANGUAGES, Language
from prjury.jury.judgment import Severity
from prjury.rulepacks.example import Tests
from prjury.rulepacks.fields import (
    Clue,
    Identifier,
    LanguageName,
    PackSection,
    Regex,
    Requirements,
    Words,
)
from prjury.rulepacks.matcher import Fix, Match

#: How a fact is known: somebody ran it, read it in a source tree or a migration, read it in the
#: documentation, or only knows it.
KnownBy: TypeAlias = Literal["run", "source", "documentation", "knowledge"]

_PARTS = re.compile(r"::|[./]")


class KeptBy(PackSection):
    """What shows that a module keeps the old way on purpose.

    ``code`` is searched in the module's code at the base: where it is found, findings are warnings
    at most. So they are where the module asks for a library that brings the old one along. The
    other two leave the module alone altogether.
    """

    brought_by: Words = Field(default_factory=list, description="`group:artifact`, with `*`")
    dependencies: Words = Field(default_factory=list, description="`group:artifact`, with `*`")
    modules: list[Regex] = Field(default_factory=list, description="searched in module names")
    code: Regex = ""


def last_part(name: str) -> str:
    """``ioutil`` of ``io/ioutil``, ``render`` of ``react-dom.render``."""
    return _PARTS.split(name)[-1]


class PatternRule(PackSection):
    """A version pattern.

    ``requires`` says from which version on the finding has the rule's severity, in place of the
    pack's own; ``or_requires`` adds to that. ``deprecated`` says from when on it is a warning,
    ``replaceable`` from when on the replacement is there, which makes earlier uses a hint.
    """

    id: Identifier
    title: str = Field(min_length=1)
    why: str = Field(min_length=1)
    requires: Requirements | None = None
    or_requires: Requirements | None = None
    deprecated: Requirements | None = None
    replaceable: Requirements | None = None
    kept_by: KeptBy | None = None
    literals: list[Clue] = Field(default_factory=list)
    words: Words = Field(default_factory=list)
    match: list[Match] = Field(min_length=1)
    message: str = Field(min_length=1)
    replacement: str | None = None
    fix: list[Fix] = Field(default_factory=list)
    severity: Severity
    confidence: Literal["high", "medium", "low"] = "high"
    known_by: KnownBy | None = None
    codes: Words = Field(default_factory=list, description="what other tools call it: `NPY201`")
    references: list[str] = Field(default_factory=list)
    tests: Tests = Tests()

    @cached_property
    def languages(self) -> frozenset[str]:
        """Every language that the rule looks at."""
        return frozenset(name for match in self.match for name in match.languages)

    @cached_property
    def families(self) -> frozenset[str]:
        """Whose build files say whether the rule holds."""
        return frozenset(LANGUAGES[name].family for name in self.languages)

    @model_validator(mode="after")
    def _sure_enough(self) -> PatternRule:
        if self.severity == "error" and self.confidence != "high":
            raise ValueError("only a rule of high confidence may be an error")
        if self.severity == "error" and self.known_by == "knowledge":
            raise ValueError("what is only known by heart is no error; confirm it first")
        return self

    @cached_property
    def clues(self) -> list[str]:
        """RE2 patterns of which one stands in every line that the rule could find.

        Where none are given, the last part of each name that it looks for is one; a rule that has
        none looks at every file.
        """
        words = self.words
        if not words and not self.literals and all(match.uses for match in self.match):
            words = sorted({last_part(name) for match in self.match for name in match.uses})
        literals = [re2.escape(literal) for literal in self.literals]
        return literals + [rf"\b{re2.escape(word)}\b" for word in words]


class NotRule(PackSection):
    """A known pattern that no rule decides, and why."""

    id: Identifier
    why: str = Field(min_length=1)


class Head(PackSection):
    """What a pack is about and when it is looked at: all that is read of one that is not used."""

    id: Identifier
    title: str = Field(min_length=1)
    gate: Requirements


class Pack(Head):
    """A pack: rules that share a subject and a gate."""

    requires: Requirements | None = None
    kept_by: KeptBy = KeptBy()
    utils: dict[LanguageName, dict[str, Any]] = Field(default_factory=dict)
    rules: list[PatternRule] = Field(min_length=1)
    not_rules: list[NotRule] = Field(default_factory=list)

    @model_validator(mode="after")
    def _distinct(self) -> Pack:
        ids = [rule.id for rule in self.rules] + [entry.id for entry in self.not_rules]
        twice = sorted({name for name in ids if ids.count(name) > 1})
        if twice:
            raise ValueError(f"the id {', '.join(twice)} is used twice")
        return self

    def config(self, match: Match, language: Language) -> Mapping[str, Any]:
        """The match as ast-grep takes it, with the utility rules that it may refer to."""
        utils = {**language.utils, **self.utils.get(language.name, {})}
        conditions: list[Mapping[str, Any]] = [match.rule]
        if match.if_imports and language.importing:
            conditions.append(language.importing(match.if_imports))
        if match.unless_imports and language.importing:
            conditions.append({"not": language.importing(match.unless_imports)})
        return {
            "rule": {"all": conditions},
            "constraints": match.constraints,
            "utils": utils,
            "names": match.wanted,
            **({} if match.rewrite is None else {"rewrite": match.rewrite}),
        }
