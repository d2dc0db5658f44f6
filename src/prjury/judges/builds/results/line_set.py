"""Expressions over lines, all of which are looked for at once and in linear time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

#: For the automaton of all expressions together; it is emptied where it grows larger.
_MEMORY = 64 * 1024**2


class LineSet:
    """Expressions of RE2; what is none raises ValueError."""

    def __init__(self, expressions: Sequence[str]) -> None:
        import re2  # noqa: PLC0415 - a compiled extension that only builds with logs need

        options = re2.Options()
        options.log_errors = False
        options.max_mem = _MEMORY
        self.patterns: list[Any] = []
        self._set = re2.Set.SearchSet(options)
        for expression in expressions:
            try:
                self.patterns.append(re2.compile(expression, options))
            except re2.error as error:
                raise ValueError(f"{expression}: {error}") from error
            self._set.Add(expression)
        if expressions:
            self._set.Compile()

    def find(self, line: str) -> Iterator[tuple[int, Any]]:
        """Yield each expression that fits the line, by its number, with its match."""
        if not self.patterns:
            return
        for number in sorted(self._set.Match(line) or ()):
            if match := self.patterns[number].search(line):
                yield number, match
