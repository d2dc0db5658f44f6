"""Which packs look at the project, and which of their rules hold in each module."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from prjury.errors import ConfigError
from prjury.judges.patterns.gate import Outlook, opens, repairs, severity_between
from prjury.judges.patterns.match import Active
from prjury.judges.patterns.packs.load import shipped_heads, shipped_pack
from prjury.judges.patterns.packs.rule import Head, Pack
from prjury.judges.patterns.project.module import Sides
from prjury.jury.judgment import Severity

#: The rules that hold in a module, with the severity that a finding has there.
Standing: TypeAlias = Mapping[str, tuple[Active, Severity]]


@dataclass(frozen=True)
class Selection:
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
    def of(cls, packs: Literal["auto"] | list[str], own: Iterable[Pack]) -> Selection:
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

    def packs_for(self, places: Collection[Sides]) -> list[Pack]:
        """The packs of which at least one rule holds somewhere, in the order of their names."""
        modules = [module for sides in places for module in dict.fromkeys((sides.head, sides.base))]
        opened = [
            name
            for name, head in sorted(self.heads.items())
            if any(opens(head, module, asked_for=name in self.named) for module in modules)
        ]
        loaded = [self.own.get(name) or shipped_pack(name) for name in opened]
        return [pack for pack in loaded if any(self.standing([pack], sides) for sides in places)]

    def standing(self, packs: Iterable[Pack], sides: Sides) -> Standing:
        """The rules that hold in the module."""
        found: dict[str, tuple[Active, Severity]] = {}
        family = sides.head.family or sides.base.family
        for pack in packs:
            asked_for = pack.id in self.named
            head = Outlook(pack, sides.head, asked_for)
            base = Outlook(pack, sides.base, asked_for)
            for rule in pack.rules if head.is_open or base.is_open else ():
                concerned = not family or family in rule.families
                severity = severity_between(rule, sides, head, base) if concerned else None
                if severity:
                    active = Active(pack, rule, repairs(pack, rule, sides.head))
                    found[active.name] = (active, severity)
        return found
