"""One pass over the added lines: which rules' literals stand in them at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import re2

from prjury.judges.patterns.match import Active
from prjury.judges.patterns.packs.rule import quiet


@dataclass
class Prefilter:
    """An RE2 set of the literals of many rules; a text is gone through once for all of them."""

    rules: Sequence[Active]
    _set: Any = field(init=False)
    _owners: list[list[Active]] = field(init=False)

    def __post_init__(self) -> None:
        by_literal: dict[str, list[Active]] = {}
        for active in self.rules:
            for literal in active.rule.literals:
                by_literal.setdefault(literal, []).append(active)
        self._owners = list(by_literal.values())
        self._set = re2.Set.SearchSet(quiet())
        for literal in by_literal:
            self._set.Add(re2.escape(literal))
        self._set.Compile()

    def candidates(self, text: str) -> list[Active]:
        """The rules that may find something in the text, in their own order."""
        content = text.encode("utf-8", "surrogateescape")
        hit = self._set.Match(content) or [] if self._owners else []
        named = {active.name for number in hit for active in self._owners[number]}
        return [active for active in self.rules if active.name in named]
