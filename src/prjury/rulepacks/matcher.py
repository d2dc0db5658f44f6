"""How a rule finds its pattern, and what puts it right."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Annotated, Any, Literal, TypeAlias

import re2
from pydantic import BeforeValidator, Field, model_validator

from prjury.code.languages import LANGUAGES, Language
from prjury.code.names import anchors, has_names
from prjury.manifests.spans import VersionSpan
from prjury.manifests.versions import parse_span
from prjury.rulepacks.fields import Identifier, LanguageName, PackSection, Regex, Words

RoleName: TypeAlias = Literal["dependency", "managed", "bom", "plugin"]
Applicability: TypeAlias = Literal["machine-applicable", "maybe-incorrect", "has-placeholders"]

_LOOKED_AT: tuple[RoleName, ...] = ("dependency", "managed", "bom")
#: Utility rules that find names, whose parts are taken to be without blanks between them.
_NAMES = frozenset({"qualified-name", "annotation-name", "type-name", "method-name"})
_ANCHOR = re.compile(r"[\^$]|\(\?|\\[AzZ]")
_PLACES = {"anywhere": "used-anywhere", "imports": "used-import", "code": "used"}


def _span(value: object) -> object:
    return parse_span(value) if isinstance(value, str) else value


class ManifestMatch(PackSection):
    """What a build file must hold: a dependency, or a setting of one of Maven's plugins.

    ``dependencies`` are ``group:artifact`` in Maven and Gradle, a package's name elsewhere, an
    action's ``owner/repository`` in workflows, and ``runtime:NAME`` for what a project runs on.
    Where ``versions`` is given, a dependency counts only if all that it allows is within.
    """

    dependencies: Words = Field(default_factory=list, description="names, with `*`")
    except_: Words = Field(default_factory=list, alias="except")
    versions: Annotated[VersionSpan, BeforeValidator(_span)] | None = None
    roles: list[RoleName] = Field(default_factory=lambda: list(_LOOKED_AT))
    plugin: str | None = None
    settings: dict[str, str] = Field(default_factory=dict, description="dotted key to value")

    @model_validator(mode="after")
    def _says_something(self) -> ManifestMatch:
        if bool(self.plugin) != bool(self.settings):
            raise ValueError("`plugin` and `settings` go together")
        if not self.dependencies and not self.plugin:
            raise ValueError("name `dependencies`, or a `plugin` with `settings`")
        if self.versions and not self.dependencies:
            raise ValueError("`versions` are those of `dependencies`")
        return self


class Match(PackSection):
    """One way to find the pattern: names, an ast-grep rule, an RE2 regex, an entry of a build file.

    ``uses`` are qualified names (``numpy.float_``, ``io/ioutil``, ``react-dom.render``,
    ``std::mem::zeroed``, ``builtins.unicode``, ``globalThis.Buffer``): wherever a file imports
    them or uses them under whatever name it gives them, they and all that is below them are found.
    ``names`` are words for such names, as utility rules of the ``ast-grep`` rule: ``word`` for a
    use, ``word-import`` for an import, ``word-anywhere`` for both. ``if_imports`` and
    ``unless_imports`` are searched in the file's import statements.
    """

    languages: list[LanguageName] = Field(min_length=1)
    files: list[str] = Field(default_factory=list, description="globs; none means every file")
    ignores: list[str] = Field(default_factory=list, description="globs of files left alone")
    ast_grep: dict[str, Any] | None = Field(None, alias="ast-grep", min_length=1)
    constraints: dict[str, Any] = Field(default_factory=dict)
    rewrite: str | None = Field(None, description="what becomes of the match, with `$A` and `$$$A`")
    uses: Words = Field(default_factory=list, description="qualified names")
    except_: Words = Field(default_factory=list, alias="except")
    where: Literal["anywhere", "imports", "code"] = "anywhere"
    names: dict[Identifier, Words] = Field(default_factory=dict)
    if_imports: Regex | None = None
    unless_imports: Regex | None = None
    regex: Regex | None = None
    within: Literal["code", "strings", "comments"] = "code"
    manifest: ManifestMatch | None = None

    @model_validator(mode="after")
    def _one_matcher(self) -> Match:
        matchers = (self.ast_grep, self.regex, self.manifest, self.uses or None)
        if sum(matcher is not None for matcher in matchers) != 1:
            raise ValueError("name exactly one of `uses`, `ast-grep`, `regex`, `manifest`")
        if self.ast_grep is None and (self.constraints or self.names or self.rewrite is not None):
            raise ValueError("`constraints`, `names` and `rewrite` belong to an `ast-grep` rule")
        if not self.parses and (self.if_imports or self.unless_imports):
            raise ValueError("conditions on imports belong to `uses` or to an `ast-grep` rule")
        if not self.uses and (self.except_ or self.where != "anywhere"):
            raise ValueError("`except` and `where` belong to `uses`")
        self._refuse("ast-grep", self.ast_grep, lambda language: language.parser is None)
        named = self.uses or self.names or None
        self._refuse("uses", named, lambda language: not has_names(language.parser or ""))
        self._refuse("manifest", self.manifest, lambda language: not language.declares)
        return self

    @property
    def parses(self) -> bool:
        """Whether the parser has to look at the file."""
        return self.ast_grep is not None or bool(self.uses)

    def may_find(self, text: str, tight: str, language: Language) -> bool:
        """Whether a text can hold the pattern at all, by words that it would have to hold.

        Args:
            tight: the text with no blanks around dots, in which names stand as they are written.
        """
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
        named = rule.get("regex") if rule.get("matches") in _NAMES else None
        inner = [
            regex.removeprefix("^").removesuffix("$")
            for regex in (self.if_imports, named)
            if isinstance(regex, str)
        ]
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

    def _refuse(self, matcher: str, value: object, cannot: Callable[[Language], bool]) -> None:
        wrong = [name for name in self.languages if cannot(LANGUAGES[name])]
        if value is not None and wrong:
            raise ValueError(f"`{matcher}` cannot look at {', '.join(wrong)}")


class Fix(PackSection):
    r"""A replacement by RE2: the first ``find`` in the match becomes ``replace`` (``\1``)."""

    find: Regex
    replace: str
    applicability: Applicability
