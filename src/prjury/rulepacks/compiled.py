"""Whether ast-grep takes a rule and its patterns."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from prjury.code.languages import Language
from prjury.code.parser import job
from prjury.code.worker import guarded
from prjury.rulepacks.rule import Match, Pack

_METAVARIABLE = re.compile(r"\${1,3}[A-Z_][A-Z0-9_]*")


def refusal(pack: Pack, match: Match, language: Language) -> str | None:
    """Why ast-grep does not take the match's rule in this language; None where it does."""
    reply = guarded(job("", language, [pack.config(match, language)]))
    return f"{language.name}: {reply['error']}" if "error" in reply else None


def broken_pattern(rule: object, language: Language) -> str | None:
    """The first pattern of a rule that is no code of the language; None where all are."""
    return next((text for text in _patterns(rule) if _is_broken(text, language)), None)


def _patterns(rule: object) -> Iterator[str]:
    """Every plain pattern; one with a context of its own names the node that it means."""
    match rule:
        case {"pattern": str(text), **others}:
            yield text
            yield from _patterns(others)
        case dict():
            for value in rule.values():
                yield from _patterns(value)
        case list():
            for value in rule:
                yield from _patterns(value)


def _is_broken(pattern: str, language: Language) -> bool:
    """Whether the parser sees pieces of code in it and no whole, so that it could never match.

    An expression where the language has none, as on Go's top level, is an error around one whole.
    """
    code = _METAVARIABLE.sub("a", pattern).strip()
    rules: list[dict[str, Any]] = [
        {"rule": {"kind": "ERROR"}},
        {"rule": {"inside": {"kind": "ERROR"}, "not": {"kind": "ERROR"}}},
    ]
    found = guarded(job(code, language, rules)).get("found", ())
    return {number for number, start, end in found if [start, end] == [0, len(code)]} == {0}
