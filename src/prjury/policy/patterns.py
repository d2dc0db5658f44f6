"""What a policy says of version patterns: packs, rules that it does without, baselines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from msgspec import Struct

from prjury.policy.fields import FilesOfPolicy, InsidePath
from prjury.snapshot.exempt import matches


class RuleSelection(Struct, frozen=True):
    """The rules of version patterns that a policy does without."""

    suppressions: bool = True
    #: Packs, and rules as ``pack/rule``.
    ignore: tuple[str, ...] = ()
    per_file: Mapping[str, tuple[str, ...]] = {}

    def is_ignored(self, rule: str, path: str | None = None) -> bool:
        """Tell whether a rule, as ``pack/rule``, is ignored everywhere, or in a file."""
        names = {rule, rule.partition("/")[0]}
        if names & set(self.ignore):
            return True
        return path is not None and any(
            names & set(ignored) and matches(path, glob) for glob, ignored in self.per_file.items()
        )


class PatternsOptions(FilesOfPolicy, frozen=True):
    """Which version-pattern packs look at which files."""

    packs: Annotated[Literal["auto"] | list[str], "names; `auto`: by languages"] = "auto"
    paths: Annotated[list[str], "your own packs: files or directories"] = []
    severity: Annotated[Literal["error", "warning", "hint"], "the mildest that fails it"] = "error"
    baseline: Annotated[InsidePath | None, "file of known findings, as the base has it"] = None

    @property
    def rules(self) -> RuleSelection:
        """The rules that the policy as a whole does without."""
        rules: RuleSelection | None = vars(self).get("_rules")
        return rules or RuleSelection()

    def with_rules(self, rules: RuleSelection) -> Self:
        """The same options without the rules that the policy ignores."""
        return self._with_hidden(_rules=rules)
