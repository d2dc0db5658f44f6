"""Which packs look at the project, and which of their rules hold in each module."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from prjury.code.languages import Language
from prjury.errors import ConfigError
from prjury.judges.patterns.match import ActiveRule
from prjury.jury.judgment import Severity
from prjury.manifests.module import Sides
from prjury.rulepacks.applicability import (
    Basis,
    PackApplicability,
    decide_stricter_severity,
    opens,
    repairs,
)
from prjury.rulepacks.load import list_heads, list_shipped_languages, load_shipped, pack_languages
from prjury.rulepacks.rule import Head, Pack, PatternRule

#: How the head and the base of a module see a pack.
BothSides: TypeAlias = tuple[PackApplicability, PackApplicability]


@dataclass(frozen=True)
class ApplicableRules:
    """What the packs that are looked at in a module come to there, by their ids."""

    sides: Sides
    outlooks: Mapping[str, BothSides]
    _held: dict[str, tuple[ActiveRule, Severity] | None] = field(default_factory=dict, repr=False)

    def any(self) -> bool:
        """Return true if any rule holds at all."""
        return any(self._activate(*entry) for entry in self._rules())

    def of(self, active: ActiveRule) -> tuple[ActiveRule, Severity] | None:
        """The rule as it holds here, and how severe a finding of it is; None where it does not."""
        outlooks = self.outlooks.get(active.pack.id)
        return self._activate(outlooks, active.rule) if outlooks else None

    def basis(self, active: ActiveRule) -> Basis:
        """Return the basis of a finding of the rule: the side that decides how severe it is."""
        held, (head, base) = self.of(active), self.outlooks[active.pack.id]
        decides = held is None or head.rate_severity(active.rule) == held[1]
        return (head if decides else base).basis(active.rule)

    def looking(self, language: Language, path: str) -> Iterator[ActiveRule]:
        """The rules of these packs that would look at such a file, if they held."""
        for (head, _), rule in self._rules():
            active = ActiveRule(head.pack, rule)
            if active.list_matchers(language, path):
                yield active

    def _rules(self) -> Iterator[tuple[BothSides, PatternRule]]:
        family = self.sides.head.family or self.sides.base.family
        for outlooks in self.outlooks.values():
            for rule in outlooks[0].pack.rules:
                if not family or family in rule.families:
                    yield outlooks, rule

    def _activate(self, packs: BothSides, rule: PatternRule) -> tuple[ActiveRule, Severity] | None:
        pack = packs[0].pack
        name = f"{pack.id}/{rule.id}"
        if name not in self._held:
            severity = decide_stricter_severity(rule, self.sides, *packs)
            active = ActiveRule(pack, rule, repairs(pack, rule, self.sides.head))
            self._held[name] = (active, severity) if severity else None
        return self._held[name]


@dataclass(frozen=True)
class PackSelection:
    """Packs by name or by what the project declares; the user's own replace shipped ones."""

    own: Mapping[str, Pack]
    heads: Mapping[str, Head]
    requested: frozenset[str]

    @classmethod
    def of(cls, packs: Literal["auto"] | list[str], own: Iterable[Pack]) -> PackSelection:
        """Reads the option ``packs``; ConfigError for a name that no pack has."""
        mine = {pack.id: pack for pack in own}
        heads: dict[str, Head] = {**list_heads(), **mine}
        if packs == "auto":
            return cls(mine, heads, frozenset())
        unknown = sorted(set(packs) - heads.keys())
        if unknown:
            raise ConfigError(
                f"there is no pack {', '.join(unknown)}",
                remedy=f"Known packs are: {', '.join(sorted(heads))}",
            )
        chosen = {name: head for name, head in heads.items() if name in {*packs, *mine}}
        return cls(mine, chosen, frozenset(packs))

    def load_packs_for(self, places: Collection[Sides], languages: Collection[str]) -> list[Pack]:
        """The packs with rules about these languages of which one holds somewhere, by name."""
        opened = [
            name
            for name, head in sorted(self.heads.items())
            if self._knows(name, languages) and self.is_about(places, head)
        ]
        loaded = map(self._pack, opened)
        return [pack for pack in loaded if any(self.select_rules([pack], s).any() for s in places)]

    def is_about(self, places: Collection[Sides], head: Head) -> bool:
        """Return true if a pack is about what the project declares, whichever files are touched."""
        sides = (side for place in places for side in dict.fromkeys((place.head, place.base)))
        return any(opens(head, module, asked_for=head.id in self.requested) for module in sides)

    def list_packs(self, languages: Collection[str]) -> list[Pack]:
        """Return the packs with rules about these languages, whatever a project declares."""
        return [self._pack(name) for name in sorted(self.heads) if self._knows(name, languages)]

    def _pack(self, name: str) -> Pack:
        return self.own.get(name) or load_shipped(name)

    def _knows(self, name: str, languages: Collection[str]) -> bool:
        own = self.own.get(name)
        names = pack_languages(own) if own else list_shipped_languages(name)
        return not names.isdisjoint(languages)

    def select_rules(self, packs: Iterable[Pack], sides: Sides) -> ApplicableRules:
        outlooks: dict[str, BothSides] = {}
        for pack in packs:
            is_requested = pack.id in self.requested
            head = PackApplicability(pack, sides.head, is_requested)
            base = PackApplicability(pack, sides.base, is_requested)
            if head.is_open or base.is_open:
                outlooks[pack.id] = (head, base)
        return ApplicableRules(sides, outlooks)
