"""The cases of a rule: code that it must find or leave alone, and versions under which it holds."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import BeforeValidator, Field

from prjury.rulepacks.fields import Identifier, LanguageName, PackSection, Words

Outcome: TypeAlias = Literal["none", "hint", "warning", "error"]


class Example(PackSection):
    """Code that a rule must find, and what its fix makes of it."""

    code: str
    fixed: str | None = None


def _example(value: object) -> object:
    return {"code": value} if isinstance(value, str) else value


class Cases(PackSection):
    """Code in one language that a rule must leave alone, and code that it must find."""

    valid: list[str] = Field(min_length=1)
    invalid: list[Annotated[Example, BeforeValidator(_example)]] = Field(min_length=1)
    file: str | None = Field(None, description="the file name, where a rule asks for one")


class VersionCase(PackSection):
    """What a module declares, and how severe that makes a finding.

    ``declares`` are coordinates ``group:artifact[:version]`` that the module inherits, ``own``
    those that its own build file asks for.
    """

    declares: Words = Field(default_factory=list)
    own: Words = Field(default_factory=list)
    module: str = "app"
    expect: Outcome


class Tests(PackSection):
    """The cases of one rule: code by language, and versions."""

    code: dict[LanguageName, Cases] = Field(default_factory=dict)
    versions: list[VersionCase] = Field(default_factory=list)


class CasesFile(PackSection):
    """The tests of a pack's rules in a file of their own, by rule."""

    pack: Identifier
    tests: dict[Identifier, Tests]
