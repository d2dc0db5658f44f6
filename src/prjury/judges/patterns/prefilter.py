"""One pass over the added lines: which rules' clues stand in them at all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import re2

from prjury.judges.patterns.match import Active
from prjury.rulepacks.rule import without_warnings


@dataclass
class Prefilter:
    """An RE2 set of the clues of many rules; a text is gone through once for all of them."""

    rules: Sequence[Active]
    _set: Any = field(init=False)
    _owners: list[list[Active]] = field(init=False)
    _always: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        by_clue: dict[str, list[Active]] = {}
        for active in self.rules:
            for clue in _clues(active):
                by_clue.setdefault(clue, []).append(active)
        self._always = frozenset(each.name for each in self.rules if not each.rule.clues)
        self._owners = list(by_clue.values())
        self._set = re2.Set.SearchSet(without_warnings())
        for clue in by_clue:
            self._set.Add(clue)
        self._set.Compile()

    def candidates(self, text: str) -> list[Active]:
        """The rules that may find something in the text, in their own order."""
        content = text.encode("utf-8", "surrogateescape")
        hit = self._set.Match(content) or [] if self._owners else []
        named = {active.name for number in hit for active in self._owners[number]} | self._always
        return [active for active in self.rules if active.name in named]


def _clues(active: Active) -> Iterator[str]:
    """The rule's clues; GitHub does not tell small letters from capitals."""
    ignore_case = "workflow" in active.rule.languages
    for clue in active.rule.clues:
        yield f"(?i:{clue})" if ignore_case else clue
