"""The format of a version-pattern pack, as sections: mistakes are errors with a line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal, Self, TypeAlias

import re2
from msgspec import Meta, field

from prjury.code.languages import LANGUAGES, Language
from prjury.code.names import anchors, has_names
from prjury.jury.judgment import Severity
from prjury.manifests.formats import BY_LANGUAGE
from prjury.manifests.module import Requirement, parse_span
from prjury.manifests.spans import VersionSpan
from prjury.policy.fields import Convert, Identifier, MisfitError, PolicySection, TypeForm, Words
from prjury.snapshot.model import visible


def make_quiet() -> re2.Options:
    """Return RE2 options that keep the library from writing to standard error."""
    options = re2.Options()
    options.log_errors = False
    return options


class _CheckedText(str):
    """A text that has to be as `check` wants it."""

    __slots__ = ()

    @classmethod
    def read(cls, value: object, convert: Convert) -> Self:
        text = cls(convert(value, str))
        text.require_valid()
        return text

    def require_valid(self) -> None:
        raise NotImplementedError


class Regex(_CheckedText):
    """An expression that RE2 takes."""

    def require_valid(self) -> None:
        """Raise ValueError with the reason if it is none."""
        try:
            re2.compile(str(self), make_quiet())
        except re2.error as error:
            reason = error.args[0]
            words = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else reason
            raise ValueError(f"RE2 refuses {str(self)!r}: {words}") from error


class LanguageName(_CheckedText):
    """One of our languages."""

    def require_valid(self) -> None:
        """Raise ValueError with the reason if it is none."""
        if self not in LANGUAGES:
            raise ValueError(
                f"{visible(self[:60])} is no language; known are {', '.join(sorted(LANGUAGES))}"
            )


def check_languages(key: str, names: Iterable[str]) -> None:
    """Check the keys of a mapping, which msgspec reads as plain texts."""
    for name in names:
        try:
            LanguageName(name).require_valid()
        except ValueError as error:
            raise MisfitError(key, str(error), name) from error


Filled: TypeAlias = Annotated[str, Meta(min_length=1)]


class RequirementText(_CheckedText):
    """A requirement as a pack writes it."""

    def require_valid(self) -> None:
        """Raise ValueError with the reason if it is none."""
        Requirement.parse(self)


class Requirements(tuple[Requirement, ...]):
    """Requirements, of which one alone may stand as a text."""

    __slots__ = ()
    FORM: ClassVar[TypeForm] = Annotated[list[RequirementText], Meta(min_length=1)]

    @classmethod
    def read(cls, value: object, convert: Convert) -> Self:
        """Read it as a file holds it."""
        texts = convert([value] if isinstance(value, str) else value, cls.FORM)
        return cls(map(Requirement.parse, texts))


class PackSection(PolicySection, frozen=True, dict=True):
    """A part of a pack."""


Outcome: TypeAlias = Literal["none", "hint", "warning", "error"]


class Example(PackSection, frozen=True, dict=True):
    """Code that a rule must find, and what its fix makes of it."""

    code: str
    fixed: str | None = None


class Cases(PackSection, frozen=True, dict=True):
    """Code in one language that a rule must leave alone, and code that it must find."""

    valid: Annotated[list[str], Meta(min_length=1)]
    invalid: Annotated[list[str | Example], Meta(min_length=1)]
    file: str | None = None  # its name, where a rule asks for one

    @property
    def examples(self) -> list[Example]:
        """The code that it must find."""
        return [Example(each) if isinstance(each, str) else each for each in self.invalid]


class VersionCase(PackSection, frozen=True, dict=True):
    """What a module inherits (``declares``) and asks for itself, and how severe a finding is."""

    expect: Outcome
    declares: Words = Words()
    own: Words = Words()
    module: str = "app"


class Tests(PackSection, frozen=True, dict=True):
    """The cases of one rule: code by language, and versions."""

    code: dict[LanguageName, Cases] = {}
    versions: list[VersionCase] = []

    def __post_init__(self) -> None:
        check_languages("code", self.code)


class CasesFile(PackSection, frozen=True, dict=True):
    """The tests of a pack's rules in a file of their own, by rule."""

    pack: Identifier
    tests: dict[Identifier, Tests]


Confidence: TypeAlias = Literal["high", "medium", "low"]
RoleName: TypeAlias = Literal["dependency", "managed", "bom", "plugin"]
Applicability: TypeAlias = Literal["machine-applicable", "maybe-incorrect", "has-placeholders"]

#: Utility rules that find names, whose parts are taken to be without blanks between them.
_NAMES = frozenset({"qualified-name", "annotation-name", "type-name", "method-name"})
_ANCHOR = re.compile(r"[\^$]|\(\?|\\[AzZ]")
#: Languages in which programs are set.
_SETTINGS = frozenset({"properties", "application"})
_PLACES = {"anywhere": "used-anywhere", "imports": "used-import", "code": "used"}


class ManifestMatch(PackSection, frozen=True, dict=True):
    """What a build file must hold: a dependency, or a setting of one of Maven's plugins.

    ``dependencies`` are ``group:artifact``, a package's name, an action's ``owner/repository``, or
    ``runtime:NAME``; with ``versions`` one counts only if all that it allows is within.
    """

    dependencies: Words = Words()  # names, with `*`
    except_: Words = field(default=Words(), name="except")
    versions: str | None = None
    roles: list[RoleName] = field(default_factory=lambda: ["dependency", "managed", "bom"])
    plugin: str | None = None
    settings: dict[str, str] = {}  # dotted key to value

    def __post_init__(self) -> None:
        if bool(self.plugin) != bool(self.settings):
            raise ValueError("`plugin` and `settings` go together")
        if not self.dependencies and not self.plugin:
            raise ValueError("name `dependencies`, or a `plugin` with `settings`")
        if self.versions and not self.dependencies:
            raise ValueError("`versions` are those of `dependencies`")
        if self.versions is not None:
            parse_span(self.versions)

    @cached_property
    def span(self) -> VersionSpan | None:
        """The versions that it looks for."""
        return None if self.versions is None else parse_span(self.versions)


class Match(PackSection, frozen=True, dict=True):
    """One way to find the pattern: names, an ast-grep rule, an RE2 regex, an entry of a build file.

    ``uses`` are qualified names (``numpy.float_``, ``io/ioutil``, ``react-dom.render``): they and
    all below them are found under whatever name a file gives them. ``names`` are words for such
    names in the ``ast-grep`` rule: ``word`` for a use, ``word-import``, ``word-anywhere``.
    """

    languages: Annotated[list[LanguageName], Meta(min_length=1)]
    files: list[str] = []  # globs; none means every file
    ignores: list[str] = []  # globs of files left alone
    ast_grep: Annotated[dict[str, Any], Meta(min_length=1)] | None = field(
        default=None, name="ast-grep"
    )
    constraints: dict[str, Any] = {}
    utils: dict[str, Any] = {}  # utility rules of its own
    uses: Words = Words()  # qualified names
    except_: Words = field(default=Words(), name="except")
    where: Literal["anywhere", "imports", "code"] = "anywhere"
    names: dict[Identifier, Words] = {}
    if_imports: Regex | None = None
    unless_imports: Regex | None = None
    regex: Regex | None = None
    within: Literal["code", "strings", "comments"] = "code"
    settings: dict[str, str] = {}  # settings by name, with what each is called now
    manifest: ManifestMatch | None = None

    def __post_init__(self) -> None:
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
        self._refuse_languages("uses", pattern, lambda language: not has_names(language.parser))
        self._refuse_languages("manifest", self.manifest, lambda it: it.name not in BY_LANGUAGE)
        settings = self.settings or None
        self._refuse_languages("settings", settings, lambda it: it.name not in _SETTINGS)

    @property
    def parses(self) -> bool:
        """Return true if the parser has to look at the file."""
        return self.ast_grep is not None or bool(self.uses)

    def may_find(self, text: str, unspaced: str, language: Language) -> bool:
        """Return true if a text can hold the pattern; ``unspaced`` has no blanks around dots."""
        if self.regex is not None:
            return bool(re2.search(self.regex, text))
        if not all(re2.search(word, text) or re2.search(word, unspaced) for word in self._needed):
            return False
        return not self.uses or any(
            word in text or word in unspaced
            for word in anchors(language.parser or "", tuple(self.uses))
        )

    @cached_property
    def _needed(self) -> list[str]:
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
    def wanted(self) -> Mapping[str, Sequence[str]]:
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


class Fix(PackSection, frozen=True, dict=True):
    r"""A replacement by RE2: the first ``find`` in the match becomes ``replace`` (``\1``)."""

    find: Regex
    replace: str
    applicability: Applicability


#: How a fact is known: run, read in sources or in the documentation, or not confirmed.
KnownBy: TypeAlias = Literal["run", "source", "documentation", "knowledge"]

_PARTS = re.compile(r"::|[./]")


class KeptBy(PackSection, frozen=True, dict=True):
    """What shows that a module keeps the old way on purpose.

    ``dependencies`` and ``modules`` leave the module alone; others make warnings at most.
    """

    brought_by: Requirements = Requirements()  # by what a dependency's own build file says
    dependencies: Words = Words()  # `group:artifact`, with `*`
    modules: list[Regex] = []  # searched in module names
    code: Regex = Regex("")
    builds: Regex = Regex("")


def last_part(name: str) -> str:
    """``ioutil`` of ``io/ioutil``, ``render`` of ``react-dom.render``."""
    return _PARTS.split(name)[-1]


class PatternRule(PackSection, frozen=True, dict=True, kw_only=True):
    """A version pattern.

    From ``requires`` on, in place of the pack's own, or from ``or_requires`` on, a finding has the
    rule's severity, from ``deprecated`` on it is a warning, from ``replaceable`` on a hint.
    """

    id: Identifier
    title: Filled
    why: Filled
    requires: Requirements | None = None
    or_requires: Requirements | None = None
    deprecated: Requirements | None = None
    replaceable: Requirements | None = None
    kept_by: KeptBy | None = None
    literals: list[str] = []
    words: Words = Words()
    match: Annotated[list[Match], Meta(min_length=1)]
    message: Filled
    replacement: str | None = None
    replacements: dict[str, str] = {}  # what replaces each of several names
    fix: list[Fix] = []
    severity: Severity
    stated_confidence: Confidence | None = field(default=None, name="confidence")
    known_by: KnownBy | None = None
    codes: Words = Words()  # what other tools call it: `NPY201`
    references: list[str] = []
    tests: Tests = Tests()

    @property
    def confidence(self) -> Confidence:
        """How sure it is that each finding is one."""
        return self.stated_confidence or "high"

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

    def __post_init__(self) -> None:
        for literal in self.literals:
            if len(literal) < 3 or literal != literal.strip():  # noqa: PLR2004 - as it says
                raise MisfitError("literals", "a literal is at least 3 characters of code")
        if self.severity == "error" and self.confidence != "high":
            raise ValueError("only a rule of high confidence may be an error")
        if self.severity == "error" and self.known_by == "knowledge":
            raise ValueError("what is only known by heart is no error; confirm it first")

    @cached_property
    def clues(self) -> list[str]:
        """RE2 patterns of which one stands in every line that the rule could find; none for all."""
        words: Sequence[str] = self.words
        if not words and not self.literals and all(match.uses for match in self.match):
            words = sorted({last_part(name) for match in self.match for name in match.uses})
        literals = [re2.escape(literal) for literal in self.literals]
        return literals + [rf"\b{re2.escape(word)}\b" for word in words]


class NotRule(PackSection, frozen=True, dict=True):
    """A known pattern that no rule decides, and why."""

    id: Identifier
    why: Filled


class Head(PackSection, frozen=True, dict=True):
    """What a pack is about and when it is looked at: all that is read of one that is not used."""

    id: Identifier
    title: Filled
    gate: Requirements


class Pack(Head, frozen=True, dict=True, kw_only=True):
    """A pack: rules that share a subject and a gate."""

    requires: Requirements | None = None
    kept_by: KeptBy = KeptBy()
    utils: dict[LanguageName, dict[str, Any]] = {}
    rules: Annotated[list[PatternRule], Meta(min_length=1)]
    not_rules: list[NotRule] = []

    def __post_init__(self) -> None:
        check_languages("utils", self.utils)
        ids = [rule.id for rule in self.rules] + [entry.id for entry in self.not_rules]
        twice = sorted({name for name in ids if ids.count(name) > 1})
        if twice:
            raise ValueError(f"the id {', '.join(twice)} is used twice")

    def make_ast_grep_config(self, match: Match, language: Language) -> Mapping[str, Any]:
        """The match as ast-grep takes it, with the utility rules that it may refer to."""
        conditions: list[Mapping[str, Any]] = [match.rule]
        if match.if_imports and language.importing:
            conditions.append(language.match_importing(match.if_imports))
        if match.unless_imports and language.importing:
            conditions.append({"not": language.match_importing(match.unless_imports)})
        return {
            "rule": {"all": conditions},
            "constraints": match.constraints,
            "utils": {
                **language.utils,
                **self.utils.get(LanguageName(language.name), {}),
                **match.utils,
            },
            "names": match.wanted,
        }
