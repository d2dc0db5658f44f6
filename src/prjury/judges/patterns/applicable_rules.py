"""The rules that hold in a module, each one asked about when a file could need it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from prjury.code.languages import Language
from prjury.judges.patterns.match import Active
from prjury.jury.judgment import Severity
from prjury.manifests.module import Sides
from prjury.rulepacks.applicability import Basis, PackApplicability, repairs, severity_between
from prjury.rulepacks.rule import PatternRule


@dataclass(frozen=True)
class ApplicableRules:
    """What the packs that are looked at in a module come to there.

    Attributes:
        outlooks: how the head and the base of the module see each pack, by its id.
    """

    sides: Sides
    outlooks: Mapping[str, tuple[PackApplicability, PackApplicability]]
    _held: dict[str, tuple[Active, Severity] | None] = field(default_factory=dict, repr=False)

    def any(self) -> bool:
        """Whether any rule holds at all."""
        return any(self._of(*entry) for entry in self._rules())

    def of(self, active: Active) -> tuple[Active, Severity] | None:
        """The rule as it holds here, and how severe a finding of it is; None where it does not."""
        outlooks = self.outlooks.get(active.pack.id)
        return self._of(outlooks, active.rule) if outlooks else None

    def basis(self, active: Active) -> Basis:
        """What a finding of the rule rests on here: the side that decides how severe it is."""
        held, (head, base) = self.of(active), self.outlooks[active.pack.id]
        decides = held is None or head.severity(active.rule) == held[1]
        return (head if decides else base).basis(active.rule)

    def looking(self, language: Language, path: str) -> Iterator[Active]:
        """The rules of these packs that would look at such a file, if they held."""
        for (head, _), rule in self._rules():
            active = Active(head.pack, rule)
            if active.matches(language, path):
                yield active

    def _rules(self) -> Iterator[tuple[tuple[PackApplicability, PackApplicability], PatternRule]]:
        family = self.sides.head.family or self.sides.base.family
        for outlooks in self.outlooks.values():
            for rule in outlooks[0].pack.rules:
                if not family or family in rule.families:
                    yield outlooks, rule

    def _of(
        self, outlooks: tuple[PackApplicability, PackApplicability], rule: PatternRule
    ) -> tuple[Active, Severity] | None:
        pack = outlooks[0].pack
        name = f"{pack.id}/{rule.id}"
        if name not in self._held:
            severity = severity_between(rule, self.sides, *outlooks)
            active = Active(pack, rule, repairs(pack, rule, self.sides.head))
            self._held[name] = (active, severity) if severity else None
        return self._held[name]
