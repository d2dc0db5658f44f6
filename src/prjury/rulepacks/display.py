"""Packs and rules as text and as JSON, for ``prjury rules``."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import cache
from typing import TYPE_CHECKING, Any

from prjury.resources import templates
from prjury.rulepacks.applicability import SEVERITIES
from prjury.rulepacks.description import ALWAYS, Described, DescribedRule, languages
from prjury.rulepacks.rule import Pack

if TYPE_CHECKING:
    from jinja2 import Environment

_WIDTH = 100
_COLUMN = 12
_ELSE = "(a warning where it allows others too, a hint where the version is not known)"
_APPLICABILITY = {
    "machine-applicable": "safe to apply",
    "maybe-incorrect": "look at it before you apply it",
    "has-placeholders": "has parts that you fill in",
}
_KNOWN_BY = {
    "run": "it was run",
    "source": "the source, or a migration, shows it",
    "documentation": "the documentation says so",
    "knowledge": "not confirmed",
}


def summary(pack: Pack) -> list[str]:
    """A pack in three lines."""
    described = Described(pack)
    return [
        f"{pack.id}: {pack.title}",
        f"    {described.counted}; {described.languages}",
        *_wrap(f"for {described.audience}", 4),
    ]


def pack_lines(pack: Pack) -> list[str]:
    """A pack, and a line for each of its rules."""
    described = Described(pack)
    width = max(len(rule.id) for rule in pack.rules)
    rows = [f"    {r.rule.severity:7}  {r.rule.id:{width}}  {r.title}" for r in described.rules]
    keeping = described.kept_by.replace("`", "")
    lines = [*summary(pack), *_wrap(keeping, 4), "", "Rules:", *rows]
    if pack.not_rules:
        lines += ["", "No rule decides:"]
        for entry in pack.not_rules:
            lines += _wrap(f"{entry.id}: {entry.why}", 4)
    return [*lines, "", f"prjury rules show {pack.id}/{pack.rules[0].id} tells about one rule."]


def rule_lines(reported: DescribedRule) -> list[str]:
    """Everything about a rule."""
    rule = reported.rule
    known_by = f": {_KNOWN_BY[rule.known_by]}" if rule.known_by else ""
    return [
        f"{reported.pack.id}/{rule.id}: {reported.title}",
        "",
        *_wrap(rule.why),
        "",
        *_wrap(f"It says: {rule.message}"),
        "",
        *_severities(reported),
        *_wrap(reported.kept_by.replace("`", ""), _COLUMN),
        "",
        f"Languages   {languages(rule.languages)}",
        *_field("Instead", reported.replacement or "nothing in particular"),
        *(
            f"Fix         {fix.find}  becomes  {fix.replace}  ({_APPLICABILITY[fix.applicability]})"
            for fix in rule.fix
        ),
        f"Confidence  {rule.confidence}{known_by}",
        f"Silence it  prjury-ignore[{reported.pack.id}/{rule.id}] in a comment there or just above",
        *(f"See         {reference}" for reference in rule.references),
        *_samples(reported),
    ]


def _wrap(text: str, indent: int = 0) -> list[str]:
    """Prose in lines; words that are too long for one stay whole."""
    margin = " " * indent
    return textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=margin,
        subsequent_indent=margin,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _field(name: str, text: str) -> list[str]:
    first, *rest = _wrap(text, _COLUMN) or [""]
    return [f"{name:{_COLUMN}}{first.strip()}", *rest]


def _severities(reported: DescribedRule) -> Iterator[str]:
    yield from _where("Error", reported.error)
    if reported.error:
        yield from _wrap(_ELSE, _COLUMN)
    yield from _where("Warning", reported.warning)
    yield from _where("Hint", reported.hint, "before that, " if reported.early else "")


def _where(severity: str, since: str, before: str = "") -> list[str]:
    if not since:
        return []
    condition = since if since == ALWAYS else f"where the project declares {since}"
    return _field(severity, before + condition)


def _samples(reported: DescribedRule) -> Iterator[str]:
    found, left_alone = reported.found, reported.left_alone
    for title, sample, code in (
        ("Found", found, found.code if found else None),
        ("Fixed", found, found.fixed if found else None),
        ("Left alone", left_alone, left_alone.code if left_alone else None),
    ):
        if sample and code is not None:
            yield ""
            yield f"{title} ({languages([sample.language])}):"
            yield from (f"    {line}".rstrip() for line in code.rstrip().split("\n"))


def pack_json(pack: Pack) -> dict[str, Any]:
    """A pack for machines."""
    described = Described(pack)
    return {
        "id": pack.id,
        "title": pack.title,
        "gate": [requirement.text for requirement in pack.gate],
        "applies_to": described.applies_to,
        "rules": {s: sum(rule.severity == s for rule in pack.rules) for s in SEVERITIES},
        "languages": sorted({name for rule in pack.rules for name in rule.languages}),
    }


_SAME = {"title", "why", "message", "severity", "confidence", "known_by"}


def rule_json(reported: DescribedRule) -> Mapping[str, Any]:
    """A rule for machines, without its matchers."""
    rule = reported.rule
    return {
        "rule": f"{reported.pack.id}/{rule.id}",
        **rule.model_dump(include=_SAME),
        "since": {"error": reported.error, "warning": reported.warning, "hint": reported.hint},
        "languages": sorted(rule.languages),
        "replacement": rule.replacement,
        "fix": [fix.model_dump() for fix in rule.fix],
        "references": list(rule.references),
        "found": asdict(reported.found) if reported.found else None,
        "left_alone": asdict(reported.left_alone) if reported.left_alone else None,
    }


_SPECIAL = re.compile(r"([\\*<>\[\]|])")
_CODE = re.compile(r"(`[^`]*`)")


def pack_page(pack: Pack) -> str:
    """The page of one pack, with the examples of its cases."""
    return _templates().get_template("pack.md.j2").render(pack=Described(pack))


def index_page(packs: Sequence[Pack]) -> str:
    """The page that names every pack."""
    return (
        _templates().get_template("README.md.j2").render(packs=map(Described, packs), linked=True)
    )


def table(packs: Sequence[Pack]) -> str:
    """One row for each pack."""
    return (
        _templates().get_template("index.md.j2").render(packs=map(Described, packs), linked=False)
    )


@cache
def _templates() -> Environment:
    from jinja2 import (  # noqa: PLC0415 - only pages need it
        Environment,
        FileSystemLoader,
        StrictUndefined,
    )

    # Pages are Markdown: HTML's escapes would be shown as they are.
    environment = Environment(  # noqa: S701 - see above; `cell` escapes
        loader=FileSystemLoader(templates() / "rules"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"cell": _cell, "code": _code}
    return environment


def _cell(text: str) -> str:
    """Prose as one line, in which only code marked by backticks is more than its letters."""
    pieces = _CODE.split(" ".join(text.split()))
    return "".join(
        piece.replace("|", r"\|") if piece.startswith("`") else _SPECIAL.sub(r"\\\1", piece)
        for piece in pieces
    )


def _code(text: str) -> str:
    """A name as code; anything longer is prose."""
    return _cell(text) if " " in text or "`" in text else f"`{text}`"
