"""Packs and rules as Markdown, for pages and the terminal, and as JSON, for ``prjury rules``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from msgspec.structs import asdict

from prjury.resources import templates
from prjury.rulepacks.applicability import SEVERITIES
from prjury.rulepacks.description import Described, DescribedRule
from prjury.rulepacks.rule import Pack

if TYPE_CHECKING:
    from jinja2 import Environment


def summary(pack: Pack) -> list[str]:
    """Return a pack in three lines."""
    described = Described(pack)
    counts = f"    {described.counted}; {described.languages}"
    return [f"{pack.id}: {pack.title}", counts, f"    for {described.audience}"]


def show_pack(pack: Pack) -> str:
    """Return a pack and its rules for the terminal."""
    return _render("pack", pages=False, pack=Described(pack))


def show_rule(rule: DescribedRule) -> str:
    """Return everything about a rule for the terminal."""
    return _render("rule", pages=False, pack=None, rule=rule, whole=True)


def encode_pack(pack: Pack) -> dict[str, Any]:
    """Return a pack for machines."""
    described = Described(pack)
    return {
        "id": pack.id,
        "title": pack.title,
        "gate": [requirement.text for requirement in pack.gate],
        "applies_to": described.applies_to,
        "rules": {s: sum(rule.severity == s for rule in pack.rules) for s in SEVERITIES},
        "languages": sorted({name for rule in pack.rules for name in rule.languages}),
    }


_SAME = ("title", "why", "message", "severity", "confidence", "known_by")


def encode_rule(described: DescribedRule) -> Mapping[str, Any]:
    """Return a rule for machines, without its matchers."""
    rule = described.rule
    return {
        "rule": f"{described.pack.id}/{rule.id}",
        **{name: getattr(rule, name) for name in _SAME},
        "since": described.needed_versions_by_severity,
        "languages": sorted(rule.languages),
        "replacement": rule.replacement,
        "fix": [asdict(fix) for fix in rule.fix],
        "references": list(rule.references),
        "found": asdict(described.found_sample) if described.found_sample else None,
        "left_alone": asdict(described.left_alone_sample) if described.left_alone_sample else None,
    }


_SPECIAL = re.compile(r"([\\*<>\[\]|])")
_CODE = re.compile(r"(`[^`]*`)")


def pack_page(pack: Pack) -> str:
    """Return the page of one pack, with the examples of its cases."""
    return _render("pack", pack=Described(pack))


def index_page(packs: Sequence[Pack]) -> str:
    """Return the page that names every pack."""
    return _render("README", packs=[Described(pack) for pack in packs], linked=True)


def table(packs: Sequence[Pack]) -> str:
    """Return one row for each pack."""
    return _render("index", packs=[Described(pack) for pack in packs], linked=False)


def _render(name: str, *, pages: bool = True, **values: object) -> str:
    template = _make_template_environment(pages).get_template(f"{name}.md.j2")
    return template.render(values, pages=pages)


@cache
def _make_template_environment(pages: bool) -> Environment:  # noqa: FBT001 - the one choice
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # noqa: PLC0415 - few need it

    # Pages are Markdown: HTML's escapes would be shown as they are.
    environment = Environment(  # noqa: S701 - see above; `cell` escapes
        loader=FileSystemLoader(templates() / "rules"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    cell = _cell if pages else _join_lines
    environment.filters["cell"] = cell
    environment.filters["code"] = lambda text: (
        cell(text) if " " in text or "`" in text else f"`{text}`"
    )
    return environment


def _join_lines(text: str) -> str:
    return " ".join(text.split())


def _cell(text: str) -> str:
    pieces = _CODE.split(_join_lines(text))
    return "".join(
        piece.replace("|", r"\|") if piece.startswith("`") else _SPECIAL.sub(r"\\\1", piece)
        for piece in pieces
    )
