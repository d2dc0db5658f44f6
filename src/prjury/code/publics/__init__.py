"""Which public names a source text offers, with their signatures, and what a change does to them.

Each language has a module of its own: its `Grammar` describes where names are declared, its reader
understands the headings that the parser finds there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from prjury.code.languages import Language
from prjury.code.parser import NotParsed, Parsed, Parser, Range
from prjury.code.publics import go, java, kotlin, python, rust, script
from prjury.code.publics.model import (
    Declaration,
    Grammar,
    Publics,
    declarations,
    declaring,
)
from prjury.code.source import Source, UnreadableError
from prjury.deadline import Deadline

__all__ = ["Outline", "Publics", "is_offering", "outlines"]

Reader: TypeAlias = Callable[[Sequence[Declaration]], Publics]

_WORD = re.compile(r"\w+")

#: By the parser's word for the language.
_READERS: Mapping[str, tuple[Grammar, Reader]] = {
    "java": (java.GRAMMAR, java.read),
    "kotlin": (kotlin.GRAMMAR, kotlin.read),
    "python": (python.GRAMMAR, python.read),
    "javascript": (script.JAVASCRIPT, script.read),
    "typescript": (script.TYPESCRIPT, script.read),
    "tsx": (script.TYPESCRIPT, script.read),
    "go": (go.GRAMMAR, go.read),
    "rust": (rust.GRAMMAR, rust.read),
}


def is_offering(language: Language | None) -> bool:
    """Whether public names are known in a language at all."""
    return language is not None and language.parser in _READERS


def outlines(
    sources: Sequence[Source], parser: Parser, deadline: Deadline
) -> list[Outline | NotParsed]:
    """What each text declares, or why that is not known; one may parse in parts, see `Publics`.

    Raises:
        KeyError: for a text in a language whose public names are not known.
    """
    known = [_READERS[source.language.parser or ""] for source in sources]
    jobs = [declaring(each, grammar) for each, (grammar, _) in zip(sources, known, strict=True)]
    replies = parser.parse(jobs, deadline)
    return [
        reply if isinstance(reply, NotParsed) else _outline(source, grammar, read, reply)
        for source, (grammar, read), reply in zip(sources, known, replies, strict=True)
    ]


def _outline(source: Source, grammar: Grammar, read: Reader, parsed: Parsed) -> Outline | NotParsed:
    errors = sorted(place for (_, place), kind in parsed.rewritten.items() if kind == "ERROR")
    try:
        return Outline(source, read, declarations(source, grammar, parsed), errors)
    except UnreadableError as error:
        return NotParsed(str(error))


@dataclass(frozen=True)
class Outline:
    """The declarations of a text, and where it does not parse."""

    source: Source
    read: Reader
    found: Sequence[Declaration]
    errors: Sequence[Range]

    def is_like(self, other: Outline) -> bool:
        """Whether both declare the same, and what does not parse is the same: no name differs."""
        return self._words == other._words

    @property
    def _words(self) -> tuple[object, ...]:
        broken = [self.source.text[start:end] for start, end in self.errors]
        return [(each.role, each.heading, each.parent) for each in self.found], broken

    def publics(self) -> Publics:
        """The public names."""
        found = self.read(self.found)
        if not self.errors:
            return found
        line = self.source.line_at(self.errors[0][0])
        return replace(found, served=frozenset(_WORD.findall(self.source.text)), broken=line)
