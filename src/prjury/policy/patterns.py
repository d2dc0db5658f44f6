"""What a policy says of version patterns: packs, rules that it does without, baselines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import Field, PrivateAttr, field_validator

from prjury.policy.fields import FilesOfPolicy, empty, is_inside
from prjury.snapshot.exempt import matches

#: A pack, or a rule as ``pack/rule``.
RuleName: TypeAlias = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]*(/[a-z0-9._-]+)?$")]


@dataclass(frozen=True)
class RuleSelection:
    """The rules of version patterns that a policy does without.

    Attributes:
        suppressions: whether comments may suppress findings.
        ignore: packs, and rules as ``pack/rule``.
        per_file: the same by glob.
    """

    suppressions: bool = True
    ignore: tuple[str, ...] = ()
    per_file: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def is_ignored(self, rule: str, path: str | None = None) -> bool:
        """Tell whether a rule, as ``pack/rule``, is ignored everywhere, or in a file."""
        names = {rule, rule.partition("/")[0]}
        if names & set(self.ignore):
            return True
        return path is not None and any(
            names & set(ignored) and matches(path, glob) for glob, ignored in self.per_file.items()
        )


class PatternsOptions(FilesOfPolicy):
    """Which version-pattern packs look at which files."""

    _rules: RuleSelection = PrivateAttr(default_factory=RuleSelection)

    @property
    def rules(self) -> RuleSelection:
        """The rules that the policy as a whole does without."""
        return self._rules

    def with_rules(self, rules: RuleSelection) -> Self:
        """The same options without the rules that the policy ignores."""
        copy = self.model_copy()
        copy._rules = rules  # noqa: SLF001 - its own copy
        return copy

    packs: Literal["auto"] | list[str] = Field(
        "auto", description="`auto` takes those for the project's languages, or their names"
    )
    paths: list[str] = Field(
        default_factory=empty, description="your own packs: files or directories"
    )
    severity: Literal["error", "warning", "hint"] = Field(
        "error", description="findings at least as severe as this fail the judge"
    )
    baseline: str | None = Field(
        None, description="file of known findings, by its path in the repository, as the base is"
    )

    @field_validator("baseline")
    @classmethod
    def _inside(cls, baseline: str | None) -> str | None:
        if baseline is not None and not is_inside(baseline):
            raise ValueError("a path inside the repository, such as .github/prjury-baseline.json")
        return baseline
