"""Asks the parser which public names source texts offer, with their signatures."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from prjury.code.languages import Language
from prjury.code.parser import Job, NotParsed, Parser
from prjury.code.publics.declared import READERS
from prjury.code.publics.model import Publics
from prjury.code.source import Source
from prjury.deadline import Deadline


def is_offering(language: Language | None) -> bool:
    """Return true if public names are known in a language at all."""
    return language is not None and language.parser in READERS


def find_publics(
    sources: Sequence[Source], parser: Parser, deadline: Deadline
) -> list[Publics | NotParsed]:
    """The names that each text offers, or why they are not known; one may parse in parts."""
    jobs: list[Job] = [
        {"language": source.language.parser, "text": source.text, "rules": [], "publics": True}
        for source in sources
    ]
    return [
        reply if isinstance(reply, NotParsed) else msgspec.convert(reply, Publics)
        for reply in parser.check(jobs, deadline)
    ]
