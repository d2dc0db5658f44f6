"""Which packs look at the project, and which of their rules hold in each module."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from prjury.errors import ConfigError
from prjury.judges.patterns.applicable_rules import ApplicableRules
from prjury.manifests.module import Sides
from prjury.rulepacks.applicability import PackApplicability, opens
from prjury.rulepacks.load import pack_languages, shipped_heads, shipped_languages, shipped_pack
from prjury.rulepacks.rule import Head, Pack


@dataclass(frozen=True)
class PackSelection:
    """What the operator asked for: packs by name or by what the project declares.

    Attributes:
        own: the user's packs by id; one that has the id of a shipped pack replaces it.
        heads: the heads of all packs by id.
        named: the packs that were asked for by name.
    """

    own: Mapping[str, Pack]
    heads: Mapping[str, Head]
    named: frozenset[str]

    @classmethod
    def of(cls, packs: Literal["auto"] | list[str], own: Iterable[Pack]) -> PackSelection:
        """Reads the option ``packs``.

        Raises:
            ConfigError: for a name that no pack has.
        """
        mine = {pack.id: pack for pack in own}
        heads: dict[str, Head] = {**shipped_heads(), **mine}
        if packs == "auto":
            return cls(mine, heads, frozenset())
        unknown = sorted(set(packs) - heads.keys())
        if unknown:
            raise ConfigError(
                f"there is no pack {', '.join(unknown)}",
                remedy=f"Known packs are: {', '.join(sorted(heads))}",
            )
        wanted = {name: head for name, head in heads.items() if name in {*packs, *mine}}
        return cls(mine, wanted, frozenset(packs))

    def packs_for(self, places: Collection[Sides], languages: Collection[str]) -> list[Pack]:
        """The packs with rules about these languages of which one holds somewhere, by name."""
        modules = [module for sides in places for module in dict.fromkeys((sides.head, sides.base))]
        opened = [
            name
            for name, head in sorted(self.heads.items())
            if self._is_about(name, languages)
            and any(opens(head, module, asked_for=name in self.named) for module in modules)
        ]
        loaded = [self.own.get(name) or shipped_pack(name) for name in opened]
        return [pack for pack in loaded if any(self.standing([pack], s).any() for s in places)]

    def is_about(self, places: Collection[Sides], head: Head) -> bool:
        """Whether a pack is about what the project declares, whichever files are touched."""
        sides = (side for place in places for side in (place.head, place.base))
        return any(opens(head, module, asked_for=head.id in self.named) for module in sides)

    def about(self, languages: Collection[str]) -> list[Pack]:
        """The packs with rules about these languages, whatever a project declares."""
        names = [name for name in sorted(self.heads) if self._is_about(name, languages)]
        return [self.own.get(name) or shipped_pack(name) for name in names]

    def _is_about(self, name: str, languages: Collection[str]) -> bool:
        own = self.own.get(name)
        known = pack_languages(own) if own else shipped_languages(name)
        return not known.isdisjoint(languages)

    def standing(self, packs: Iterable[Pack], sides: Sides) -> ApplicableRules:
        """The rules that hold in the module."""
        outlooks = {}
        for pack in packs:
            asked_for = pack.id in self.named
            head, base = (
                PackApplicability(pack, side, asked_for) for side in (sides.head, sides.base)
            )
            if head.is_open or base.is_open:
                outlooks[pack.id] = (head, base)
        return ApplicableRules(sides, outlooks)
