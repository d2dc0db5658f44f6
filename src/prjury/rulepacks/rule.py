"""The format of a version-pattern pack, as models: a stranger's mistake is an error with a line."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Annotated, Any, Literal, TypeAlias

import re2
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    model_validator,
)

from prjury.code.languages import LANGUAGES, Language
from prjury.code.names import anchors, has_names
from prjury.jury.judgment import Severity
from prjury.manifests.spans import VersionSpan
from prjury.manifests.versions import Requirement, parse_span

_MIN_LITERAL = 3


def make_quiet() -> re2.Options:
    """Return RE2 options that keep the library from writing to standard error."""
    options = re2.Options()
    options.log_errors = False
    return options


def _check_regex(text: str) -> str:
    try:
        re2.compile(text, make_quiet())
    except re2.error as error:
        reason = error.args[0]
        words = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else reason
        raise ValueError(f"RE2 refuses {text!r}: {words}") from error
    return text


def _check_language(name: str) -> str:
    if name not in LANGUAGES:
        raise ValueError(f"{name!r} is not a language; known are {', '.join(sorted(LANGUAGES))}")
    return name


def _check_literal(text: str) -> str:
    if len(text) < _MIN_LITERAL or text != text.strip():
        raise ValueError(f"a literal is at least {_MIN_LITERAL} characters of code, not {text!r}")
    return text


def _from_text(read: Callable[[str], object]) -> BeforeValidator:
    """A text may stand in place of the value that is read from it."""
    return BeforeValidator(lambda value: read(value) if isinstance(value, str) else value)


#: One word stands for a list of one.
_LISTED = _from_text(lambda word: [word])
Regex: TypeAlias = Annotated[str, AfterValidator(_check_regex)]
LanguageName: TypeAlias = Annotated[str, AfterValidator(_check_language)]
Identifier: TypeAlias = Annotated[
    str, Field(pattern=r"^[A-Za-z0-9_]+(-[A-Za-z0-9_]+)*$", max_length=60)
]
Clue: TypeAlias = Annotated[str, AfterValidator(_check_literal)]
Words: TypeAlias = Annotated[list[str], _LISTED]
Requirements: TypeAlias = Annotated[
    list[Annotated[Requirement, _from_text(Requirement.parse)]], _LISTED, Field(min_length=1)
]


def empty() -> list[Any]:
    """The default of a list: for `list` itself pydantic loads a tokeniser, which takes 20 ms."""
    return []


class PackSection(BaseModel):
    """A part of a pack: unknown keys are errors; requirements are values of our own."""

    model_config = ConfigDict(
        extra="forbid", strict=True, frozen=True, defer_build=True, arbitrary_types_allowed=True
    )


Outcome: TypeAlias = Literal["none", "hint", "warning", "error"]


class Example(PackSection):
    """Code that a rule must find, and what its fix makes of it."""

    code: str
    fixed: str | None = None


class Cases(PackSection):
    """Code in one language that a rule must leave alone, and code that it must find."""

    valid: list[str] = Field(min_length=1)
    invalid: list[Annotated[Example, _from_text(lambda code: {"code": code})]] = Field(min_length=1)
    file: str | None = Field(None, description="the file name, where a rule asks for one")


class VersionCase(PackSection):
    """What a module inherits (``declares``) and asks for itself, and how severe a finding is."""

    declares: Words = Field(default_factory=empty)
    own: Words = Field(default_factory=empty)
    module: str = "app"
    expect: Outcome


class Tests(PackSection):
    """The cases of one rule: code by language, and versions."""

    code: dict[LanguageName, Cases] = Field(default_factory=dict)
    versions: list[VersionCase] = Field(default_factory=empty)


class CasesFile(PackSection):
    """The tests of a pack's rules in a file of their own, by rule."""

    pack: Identifier
    tests: dict[Identifier, Tests]


RoleName: TypeAlias = Literal["dependency", "managed", "bom", "plugin"]
Applicability: TypeAlias = Literal["machine-applicable", "maybe-incorrect", "has-placeholders"]

_LOOKED_AT: tuple[RoleName, ...] = ("dependency", "managed", "bom")
#: Utility rules that find names, whose parts are taken to be without blanks between them.
_NAMES = frozenset({"qualified-name", "annotation-name", "type-name", "method-name"})
_ANCHOR = re.compile(r"[\^$]|\(\?|\\[AzZ]")
#: Languages in which programs are set.
_SETTINGS = frozenset({"properties", "application"})
_PLACES = {"anywhere": "used-anywhere", "imports": "used-import", "code": "used"}


class ManifestMatch(PackSection):
    """What a build file must hold: a dependency, or a setting of one of Maven's plugins.

    ``dependencies`` are ``group:artifact``, a package's name, an action's ``owner/repository``, or
    ``runtime:NAME``; with ``versions`` one counts only if all that it allows is within.
    """

    dependencies: Words = Field(default_factory=empty, description="names, with `*`")
    except_: Words = Field(default_factory=empty, alias="except")
    versions: Annotated[VersionSpan, _from_text(parse_span)] | None = None
    roles: list[RoleName] = Field(default_factory=lambda: list(_LOOKED_AT))
    plugin: str | None = None
    settings: dict[str, str] = Field(default_factory=dict, description="dotted key to value")

    @model_validator(mode="after")
    def _check_parts(self) -> ManifestMatch:
        if bool(self.plugin) != bool(self.settings):
            raise ValueError("`plugin` and `settings` go together")
        if not self.dependencies and not self.plugin:
            raise ValueError("name `dependencies`, or a `plugin` with `settings`")
        if self.versions and not self.dependencies:
            raise ValueError("`versions` are those of `dependencies`")
        return self


class Match(PackSection):
    """One way to find the pattern: names, an ast-grep rule, an RE2 regex, an entry of a build file.

    ``uses`` are qualified names (``numpy.float_``, ``io/ioutil``, ``react-dom.render``): they and
    all below them are found under whatever name a file gives them. ``names`` are words for such
    names in the ``ast-grep`` rule: ``word`` for a use, ``word-import``, ``word-anywhere``.
    """

    languages: list[LanguageName] = Field(min_length=1)
    files: list[str] = Field(default_factory=empty, description="globs; none means every file")
    ignores: list[str] = Field(default_factory=empty, description="globs of files left alone")
    ast_grep: dict[str, Any] | None = Field(None, alias="ast-grep", min_length=1)
    constraints: dict[str, Any] = Field(default_factory=dict)
    utils: dict[str, Any] = Field(default_factory=dict, description="utility rules of its own")
    uses: Words = Field(default_factory=empty, description="qualified names")
    except_: Words = Field(default_factory=empty, alias="except")
    where: Literal["anywhere", "imports", "code"] = "anywhere"
    names: dict[Identifier, Words] = Field(default_factory=dict)
    if_imports: Regex | None = None
    unless_imports: Regex | None = None
    regex: Regex | None = None
    within: Literal["code", "strings", "comments"] = "code"
    settings: dict[str, str] = Field(
        default_factory=dict, description="settings by name, with what each is called now"
    )
    manifest: ManifestMatch | None = None

    @model_validator(mode="after")
    def _check_matchers(self) -> Match:
        matchers = (self.ast_grep, self.regex, self.manifest, self.uses or self.settings or None)
        if sum(matcher is not None for matcher in matchers) != 1 or (self.uses and self.settings):
            names = "`uses`, `ast-grep`, `regex`, `settings`, `manifest`"
            raise ValueError(f"name exactly one of {names}")
        if self.ast_grep is None and (self.constraints or self.utils or self.names):
            raise ValueError("`constraints`, `utils` and `names` belong to an `ast-grep` rule")
        if not self.parses and (self.if_imports or self.unless_imports):
            raise ValueError("conditions on imports belong to `uses` or to an `ast-grep` rule")
        if not self.uses and (self.except_ or self.where != "anywhere"):
            raise ValueError("`except` and `where` belong to `uses`")
        self._refuse_languages("ast-grep", self.ast_grep, lambda language: language.parser is None)
        pattern = self.uses or self.names or None
        self._refuse_languages(
            "uses", pattern, lambda language: not has_names(language.parser or "")
        )
        self._refuse_languages("manifest", self.manifest, lambda language: not language.declares)
        settings = self.settings or None
        self._refuse_languages(
            "settings", settings, lambda language: language.name not in _SETTINGS
        )
        return self

    @property
    def parses(self) -> bool:
        """Return true if the parser has to look at the file."""
        return self.ast_grep is not None or bool(self.uses)

    def may_find(self, text: str, tight: str, language: Language) -> bool:
        """Return true if a text can hold the pattern; ``tight`` has no blanks around dots."""
        if self.regex is not None:
            return bool(re2.search(self.regex, text))
        if not all(re2.search(word, text) or re2.search(word, tight) for word in self._needed):
            return False
        return not self.uses or any(
            word in text or word in tight
            for word in anchors(language.parser or "", tuple(self.uses))
        )

    @cached_property
    def _needed(self) -> list[str]:
        """What stands inside of every text in which the parser's rule can find something."""
        rule = self.ast_grep or {}
        pattern = rule.get("regex") if rule.get("matches") in _NAMES else None
        patterns = [regex for regex in (self.if_imports, pattern) if isinstance(regex, str)]
        inner = [regex.removeprefix("^").removesuffix("$") for regex in patterns]
        # An anchor within the regex would mean the beginning of the file here.
        return [regex for regex in inner if not _ANCHOR.search(regex)]

    @property
    def rule(self) -> Mapping[str, Any]:
        """The condition as ast-grep takes it; the words in it are those of `wanted`."""
        if self.ast_grep is not None:
            return self.ast_grep
        used = {"matches": _PLACES[self.where]}
        return {**used, "not": {"matches": "excepted-anywhere"}} if self.except_ else used

    @property
    def wanted(self) -> Mapping[str, list[str]]:
        """Words for qualified names."""
        if self.ast_grep is not None:
            return self.names
        return {"used": self.uses, **({"excepted": self.except_} if self.except_ else {})}

    def _refuse_languages(
        self, matcher: str, value: object, cannot: Callable[[Language], bool]
    ) -> None:
        wrong = [name for name in self.languages if cannot(LANGUAGES[name])]
        if value is not None and wrong:
            raise ValueError(f"`{matcher}` cannot look at {', '.join(wrong)}")


class Fix(PackSection):
    r"""A replacement by RE2: the first ``find`` in the match becomes ``replace`` (``\1``)."""

    find: Regex
    replace: str
    applicability: Applicability


#: How a fact is known: it was run, read in a source tree or a migration, read in
#: the documentation, or not confirmed.
KnownBy: TypeAlias = Literal["run", "source", "documentation", "knowledge"]

_PARTS = re.compile(r"::|[./]")


class KeptBy(PackSection):
    """What shows that a module keeps the old way on purpose.

    With ``code`` in the module at the base, or a library that brings the old one along, findings
    are warnings at most. The other two leave the module alone altogether.
    """

    brought_by: Words = Field(default_factory=empty, description="`group:artifact`, with `*`")
    dependencies: Words = Field(default_factory=empty, description="`group:artifact`, with `*`")
    modules: list[Regex] = Field(default_factory=empty, description="searched in module names")
    code: Regex = ""


def last_part(name: str) -> str:
    """``ioutil`` of ``io/ioutil``, ``render`` of ``react-dom.render``."""
    return _PARTS.split(name)[-1]


class PatternRule(PackSection):
    """A version pattern.

    From ``requires`` on, in place of the pack's own, or from ``or_requires`` on, a finding has the
    rule's severity, from ``deprecated`` on it is a warning, from ``replaceable`` on a hint.
    """

    id: Identifier
    title: str = Field(min_length=1)
    why: str = Field(min_length=1)
    requires: Requirements | None = None
    or_requires: Requirements | None = None
    deprecated: Requirements | None = None
    replaceable: Requirements | None = None
    kept_by: KeptBy | None = None
    literals: list[Clue] = Field(default_factory=empty)
    words: Words = Field(default_factory=empty)
    match: list[Match] = Field(min_length=1)
    message: str = Field(min_length=1)
    replacement: str | None = None
    replacements: dict[str, str] = Field(
        default_factory=dict, description="what replaces each of several names"
    )
    fix: list[Fix] = Field(default_factory=empty)
    severity: Severity
    confidence: Literal["high", "medium", "low"] = "high"
    known_by: KnownBy | None = None
    codes: Words = Field(default_factory=empty, description="what other tools call it: `NPY201`")
    references: list[str] = Field(default_factory=empty)
    tests: Tests = Tests()

    @cached_property
    def languages(self) -> frozenset[str]:
        """Every language that the rule looks at."""
        return frozenset(name for match in self.match for name in match.languages)

    @cached_property
    def families(self) -> frozenset[str]:
        """Whose build files say whether the rule holds."""
        return frozenset(LANGUAGES[name].family for name in self.languages)

    def replacement_of(self, code: str) -> str | None:
        """Return what replaces the name in a piece of code, the longest name first."""
        for name in sorted(self.replacements, key=len, reverse=True):
            if re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", code):
                return self.replacements[name]
        return None

    @model_validator(mode="after")
    def _check_confidence(self) -> PatternRule:
        if self.severity == "error" and self.confidence != "high":
            raise ValueError("only a rule of high confidence may be an error")
        if self.severity == "error" and self.known_by == "knowledge":
            raise ValueError("what is only known by heart is no error; confirm it first")
        return self

    @cached_property
    def clues(self) -> list[str]:
        """RE2 patterns of which one stands in every line that the rule could find; none for all."""
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
    not_rules: list[NotRule] = Field(default_factory=empty)

    @model_validator(mode="after")
    def _check_ids(self) -> Pack:
        ids = [rule.id for rule in self.rules] + [entry.id for entry in self.not_rules]
        twice = sorted({name for name in ids if ids.count(name) > 1})
        if twice:
            raise ValueError(f"the id {', '.join(twice)} is used twice")
        return self

    def config(self, match: Match, language: Language) -> Mapping[str, Any]:
        """The match as ast-grep takes it, with the utility rules that it may refer to."""
        conditions: list[Mapping[str, Any]] = [match.rule]
        if match.if_imports and language.importing:
            conditions.append(language.importing(match.if_imports))
        if match.unless_imports and language.importing:
            conditions.append({"not": language.importing(match.unless_imports)})
        return {
            "rule": {"all": conditions},
            "constraints": match.constraints,
            "utils": {**language.utils, **self.utils.get(language.name, {}), **match.utils},
            "names": match.wanted,
        }
