"""The format of a version-pattern pack, as models: a stranger's mistake is an error with a line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal, TypeAlias

import re2
from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, model_validator

from prjury.code.languages import LANGUAGES, Language
from prjury.config.schema import Section
from prjury.judges.patterns.project.versions import Requirement
from prjury.jury.judgment import Severity

Applicability: TypeAlias = Literal["machine-applicable", "maybe-incorrect", "has-placeholders"]
Outcome: TypeAlias = Literal["none", "hint", "warning", "error"]

_MIN_LITERAL = 3


def quiet() -> re2.Options:
    """RE2 options that keep the library from writing to standard error."""
    options = re2.Options()
    options.log_errors = False
    return options


def _regex(text: str) -> str:
    try:
        re2.compile(text, quiet())
    except re2.error as error:
        reason = error.args[0]
        told = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else reason
        raise ValueError(f"RE2 refuses {text!r}: {told}") from error
    return text


def _language(name: str) -> str:
    if name not in LANGUAGES:
        raise ValueError(f"{name!r} is not a language; known are {', '.join(sorted(LANGUAGES))}")
    return name


def _literal(text: str) -> str:
    if len(text) < _MIN_LITERAL or text != text.strip():
        raise ValueError(f"a literal is at least {_MIN_LITERAL} characters of code, not {text!r}")
    return text


def _requirement(value: object) -> object:
    return Requirement.parse(value) if isinstance(value, str) else value


def _listed(value: object) -> object:
    """One word stands for a list of one."""
    return [value] if isinstance(value, str) else value


Regex: TypeAlias = Annotated[str, AfterValidator(_regex)]
LanguageName: TypeAlias = Annotated[str, AfterValidator(_language)]
Identifier: TypeAlias = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=60)]
Words: TypeAlias = Annotated[list[str], BeforeValidator(_listed)]
Requirements: TypeAlias = Annotated[
    list[Annotated[Requirement, BeforeValidator(_requirement)]],
    BeforeValidator(_listed),
    Field(min_length=1),
]


class _Entry(Section):
    """A part of a pack; requirements are values of our own."""

    model_config = ConfigDict(arbitrary_types_allowed=True)


class ManifestMatch(_Entry):
    """What a build file must hold: a dependency, or a setting of a plugin."""

    dependencies: Words = Field(default_factory=list, description="`group:artifact`, with `*`")
    except_: Words = Field(default_factory=list, alias="except")
    plugin: str | None = None
    settings: dict[str, str] = Field(default_factory=dict, description="dotted key to value")

    @model_validator(mode="after")
    def _says_something(self) -> ManifestMatch:
        if bool(self.plugin) != bool(self.settings):
            raise ValueError("`plugin` and `settings` go together")
        if not self.dependencies and not self.plugin:
            raise ValueError("name `dependencies`, or a `plugin` with `settings`")
        return self


class Match(_Entry):
    """One way to find the pattern: an ast-grep rule, an RE2 regex or an entry of a build file.

    ``if_imports`` and ``unless_imports`` are searched in the file's import statements.
    """

    languages: list[LanguageName] = Field(min_length=1)
    files: list[str] = Field(default_factory=list, description="globs; none means every file")
    ast_grep: dict[str, Any] | None = Field(None, alias="ast-grep", min_length=1)
    constraints: dict[str, Any] = Field(default_factory=dict)
    if_imports: Regex | None = None
    unless_imports: Regex | None = None
    regex: Regex | None = None
    within: Literal["code", "strings", "comments"] = "code"
    manifest: ManifestMatch | None = None

    @model_validator(mode="after")
    def _one_matcher(self) -> Match:
        if sum(m is not None for m in (self.ast_grep, self.regex, self.manifest)) != 1:
            raise ValueError("name exactly one of `ast-grep`, `regex`, `manifest`")
        if self.ast_grep is None and (self.constraints or self.if_imports or self.unless_imports):
            raise ValueError("`constraints` and conditions on imports belong to an `ast-grep` rule")
        self._refuse("ast-grep", self.ast_grep, lambda language: language.parser is None)
        self._refuse("manifest", self.manifest, lambda language: not language.declares)
        return self

    def _refuse(self, matcher: str, value: object, cannot: Callable[[Language], bool]) -> None:
        wrong = [name for name in self.languages if cannot(LANGUAGES[name])]
        if value is not None and wrong:
            raise ValueError(f"`{matcher}` cannot look at {', '.join(wrong)}")


class Fix(_Entry):
    r"""A replacement by RE2: the first ``find`` in the match becomes ``replace`` (``\1``)."""

    find: Regex
    replace: str
    applicability: Applicability


class KeptBy(_Entry):
    """What shows that a module keeps the old way on purpose.

    ``code`` is searched in the module's code at the base: where it is found, findings are warnings
    at most. The other two leave the module alone altogether.
    """

    dependencies: Words = Field(default_factory=list, description="`group:artifact`, with `*`")
    modules: list[Regex] = Field(default_factory=list, description="searched in module names")
    code: Regex = ""


class Example(_Entry):
    """Code that a rule must find, and what its fix makes of it."""

    code: str
    fixed: str | None = None


def _example(value: object) -> object:
    return {"code": value} if isinstance(value, str) else value


class Cases(_Entry):
    """Code in one language that a rule must leave alone, and code that it must find."""

    valid: list[str] = Field(min_length=1)
    invalid: list[Annotated[Example, BeforeValidator(_example)]] = Field(min_length=1)
    file: str | None = Field(None, description="the file name, where a rule asks for one")


class VersionCase(_Entry):
    """What a module declares, and how severe that makes a finding.

    ``declares`` are coordinates ``group:artifact[:version]`` that the module inherits, ``own``
    those that its own build file asks for.
    """

    declares: Words = Field(default_factory=list)
    own: Words = Field(default_factory=list)
    module: str = "app"
    expect: Outcome


class Tests(_Entry):
    """The cases of one rule: code by language, and versions."""

    code: dict[LanguageName, Cases] = Field(default_factory=dict)
    versions: list[VersionCase] = Field(default_factory=list)


class Rule(_Entry):
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
    literals: list[Annotated[str, AfterValidator(_literal)]] = Field(min_length=1)
    match: list[Match] = Field(min_length=1)
    message: str = Field(min_length=1)
    replacement: str | None = None
    fix: list[Fix] = Field(default_factory=list)
    severity: Severity
    confidence: Literal["high", "medium", "low"]
    references: list[str] = Field(min_length=1)
    tests: Tests = Tests()

    @property
    def languages(self) -> frozenset[str]:
        """Every language that the rule looks at."""
        return frozenset(name for match in self.match for name in match.languages)

    @model_validator(mode="after")
    def _sure_enough(self) -> Rule:
        if self.severity == "error" and self.confidence != "high":
            raise ValueError("only a rule of high confidence may be an error")
        return self


class NotRule(_Entry):
    """A known pattern that no rule decides, and why."""

    id: Identifier
    why: str = Field(min_length=1)


class Head(_Entry):
    """What a pack is about and when it is looked at: all that is read of one that is not used."""

    id: Identifier
    title: str = Field(min_length=1)
    gate: Requirements


class Pack(Head):
    """A pack: rules that share a subject and a gate."""

    requires: Requirements | None = None
    kept_by: KeptBy = KeptBy()
    utils: dict[LanguageName, dict[str, Any]] = Field(default_factory=dict)
    rules: list[Rule] = Field(min_length=1)
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
        conditions: list[Mapping[str, Any]] = [match.ast_grep or {}]
        if match.if_imports and language.importing:
            conditions.append(language.importing(match.if_imports))
        if match.unless_imports and language.importing:
            conditions.append({"not": language.importing(match.unless_imports)})
        return {"rule": {"all": conditions}, "constraints": match.constraints, "utils": utils}


class CasesFile(_Entry):
    """The tests of a pack's rules in a file of their own, by rule."""

    pack: Identifier
    tests: dict[Identifier, Tests]
