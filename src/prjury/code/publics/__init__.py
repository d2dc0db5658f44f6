"""Which public names a source text offers, with their signatures, and what a change does to them.

Each language has a module of its own: its `Grammar` describes where names are declared, its reader
understands the headings that the parser finds there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from prjury.code.languages import Language
from prjury.code.parser import NotParsed, Parsed, Parser
from prjury.code.publics import go, java, kotlin, python, rust, script
from prjury.code.publics.model import (
    Declaration,
    Grammar,
    Parameter,
    Passing,
    Publics,
    Symbol,
    SymbolKind,
    broken_at,
    declarations,
    declaring,
)
from prjury.code.source import Source, UnreadableError
from prjury.deadline import Deadline

__all__ = ["Parameter", "Passing", "Publics", "Symbol", "SymbolKind", "is_offering", "publics"]

Reader: TypeAlias = Callable[[Source, Sequence[Declaration]], Publics]

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


def publics(
    sources: Sequence[Source], parser: Parser, deadline: Deadline
) -> list[Publics | NotParsed]:
    """What each text offers, or why that is not known; one may parse in parts, see `Publics`.

    Raises:
        KeyError: for a text in a language whose public names are not known.
    """
    known = [_READERS[source.language.parser or ""] for source in sources]
    jobs = [declaring(each, grammar) for each, (grammar, _) in zip(sources, known, strict=True)]
    replies = parser.parse(jobs, deadline)
    return [
        reply if isinstance(reply, NotParsed) else _read(source, grammar, read, reply)
        for source, (grammar, read), reply in zip(sources, known, replies, strict=True)
    ]


def _read(source: Source, grammar: Grammar, read: Reader, parsed: Parsed) -> Publics | NotParsed:
    try:
        found = read(source, declarations(source, grammar, parsed))
    except UnreadableError as error:
        return NotParsed(str(error))
    line = broken_at(source, parsed)
    if line is None:
        return found
    return replace(found, served=frozenset(_WORD.findall(source.text)), broken=line)
