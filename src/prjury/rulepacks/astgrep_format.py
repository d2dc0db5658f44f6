"""ast-grep's own files as models: rules, utility rules, tests, a project."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from pydantic import Field

from prjury.policy.schema import PolicySection
from prjury.policy.yaml_reader import Document
from prjury.rulepacks.files import document_error

#: What ast-grep calls the languages that are read here, and what they are called here.
_LANGUAGES: Mapping[str, Sequence[str]] = {
    **dict.fromkeys(("bash",), ("shell",)),
    **dict.fromkeys(("go", "golang"), ("go",)),
    **dict.fromkeys(("java",), ("java",)),
    **dict.fromkeys(("javascript", "js", "jsx"), ("javascript",)),
    **dict.fromkeys(("json",), ("json", "npm")),
    **dict.fromkeys(("kotlin", "kt"), ("kotlin",)),
    **dict.fromkeys(("python", "py"), ("python",)),
    **dict.fromkeys(("rust", "rs"), ("rust",)),
    **dict.fromkeys(("tsx",), ("tsx",)),
    **dict.fromkeys(("typescript", "ts"), ("typescript",)),
    **dict.fromkeys(("yaml", "yml"), ("yaml", "workflow")),
}

Severity: TypeAlias = Literal["error", "warning", "info", "hint", "off"]


class _Entry(PolicySection):
    """A document of ast-grep's; what it does not know is a mistake."""


class Utility(_Entry):
    """A rule that others refer to."""

    id: str = Field(min_length=1)
    language: str
    rule: dict[str, Any] = Field(min_length=1)
    constraints: dict[str, Any] = Field(default_factory=dict)
    utils: dict[str, Any] = Field(default_factory=dict)


class RuleFile(Utility):
    """A rule as ast-grep documents it."""

    transform: dict[str, Any] = Field(default_factory=dict)
    rewriters: list[Any] = Field(default_factory=list)
    fix: str | dict[str, Any] | list[Any] | None = None
    message: str = ""
    note: str | None = None
    severity: Severity = "hint"
    url: str | None = None
    files: list[str] = Field(default_factory=list)
    ignores: list[str] = Field(default_factory=list)
    labels: dict[str, Any] = Field(default_factory=dict)
    metadata: dict[str, Any] = Field(default_factory=dict)


class TestConfig(_Entry):
    """Where tests lie."""

    testDir: str  # noqa: N815 - ast-grep's own key
    snapshotDir: str = ""  # noqa: N815 - the same


class AstGrepProject(_Entry):
    """``sgconfig.yml``."""

    ruleDirs: list[str] = Field(min_length=1)  # noqa: N815 - ast-grep's own key
    testConfigs: list[TestConfig] = Field(default_factory=list)  # noqa: N815 - the same
    utilDirs: list[str] = Field(default_factory=list)  # noqa: N815 - the same


class TestFile(_Entry):
    """The cases of one rule."""

    id: str
    valid: list[str] = Field(default_factory=list)
    invalid: list[str] = Field(default_factory=list)


@dataclass(frozen=True)
class WrittenRule:
    """A rule, where it stands, and its cases."""

    rule: RuleFile
    document: Document
    test: tuple[TestFile, Document] | None = None

    @property
    def languages(self) -> Sequence[str]:
        """What its language is called here.

        Raises:
            ConfigError: for a language that is not parsed here.
        """
        found = _LANGUAGES.get(self.rule.language.lower())
        if found is None:
            known = ", ".join(sorted(_LANGUAGES))
            problem = f"{self.rule.language!r} is not a language of these rules: {known}"
            raise document_error(self.document, ("language",), problem)
        return found
