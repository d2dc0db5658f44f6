"""Packs and rules as text and as JSON, for ``prjury rules``."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from prjury.resources import templates
from prjury.rulepacks.description import ALWAYS, Described, DescribedRule, Sample, languages
from prjury.rulepacks.rule import Pack, PatternRule

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
    told = Described(pack)
    return [
        f"{pack.id}: {pack.title}",
        f"    {told.counted}; {told.languages}",
        *_wrapped(f"for {told.audience}", 4),
    ]


def pack_lines(pack: Pack) -> list[str]:
    """A pack, and a line for each of its rules."""
    told = Described(pack)
    width = max(len(rule.id) for rule in pack.rules)
    rows = [f"    {r.rule.severity:7}  {r.rule.id:{width}}  {r.title}" for r in told.rules]
    keeping = told.kept_by.replace("`", "")
    lines = [*summary(pack), *_wrapped(keeping, 4), "", "Rules:", *rows]
    if pack.not_rules:
        lines += ["", "No rule decides:"]
        for entry in pack.not_rules:
            lines += _wrapped(f"{entry.id}: {entry.why}", 4)
    return [*lines, "", f"prjury rules show {pack.id}/{pack.rules[0].id} tells about one rule."]


def rule_lines(told: DescribedRule) -> list[str]:
    """Everything about a rule."""
    rule = told.rule
    return [
        f"{told.pack.id}/{rule.id}: {told.title}",
        *_paragraph(rule.why),
        *_paragraph(f"It says: {rule.message}"),
        "",
        *_severities(told),
        *_wrapped(told.kept_by.replace("`", ""), _COLUMN),
        "",
        f"Languages   {languages(rule.languages)}",
        *_field("Instead", told.replacement or "nothing in particular"),
        *_fixes(told),
        f"Confidence  {rule.confidence}{_known_by(rule)}",
        f"Silence it  prjury-ignore[{told.pack.id}/{rule.id}] in a comment there or just above",
        *(f"See         {reference}" for reference in rule.references),
        *_samples(told),
    ]


def _known_by(rule: PatternRule) -> str:
    return f": {_KNOWN_BY[rule.known_by]}" if rule.known_by else ""


def _paragraph(text: str) -> list[str]:
    return ["", *_wrapped(text)]


def _wrapped(text: str, indent: int = 0) -> list[str]:
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
    """Prose beside a name."""
    first, *rest = _wrapped(text, _COLUMN) or [""]
    return [f"{name:{_COLUMN}}{first.strip()}", *rest]


def _severities(told: DescribedRule) -> Iterator[str]:
    yield from _where("Error", told.error)
    if told.error:
        yield from _wrapped(_ELSE, _COLUMN)
    yield from _where("Warning", told.warning)
    yield from _where("Hint", told.hint, "before that, " if told.early else "")


def _where(severity: str, since: str, before: str = "") -> list[str]:
    if not since:
        return []
    told = since if since == ALWAYS else f"where the project declares {since}"
    return _field(severity, before + told)


def _fixes(told: DescribedRule) -> list[str]:
    return [
        f"Fix         {fix.find}  becomes  {fix.replace}  ({_APPLICABILITY[fix.applicability]})"
        for fix in told.rule.fix
    ]


def _samples(told: DescribedRule) -> Iterator[str]:
    if told.found:
        yield from _sample("Found", told.found, told.found.code)
        if told.found.fixed is not None:
            yield from _sample("Fixed", told.found, told.found.fixed)
    if told.left_alone:
        yield from _sample("Left alone", told.left_alone, told.left_alone.code)


def _sample(title: str, sample: Sample, code: str) -> list[str]:
    lines = [f"    {line}".rstrip() for line in code.rstrip().split("\n")]
    return ["", f"{title} ({languages([sample.language])}):", *lines]


def pack_json(pack: Pack) -> dict[str, Any]:
    """A pack for machines."""
    told = Described(pack)
    severities = ("error", "warning", "hint")
    return {
        "id": pack.id,
        "title": pack.title,
        "gate": [requirement.text for requirement in pack.gate],
        "applies_to": told.applies_to,
        "rules": {s: sum(rule.severity == s for rule in pack.rules) for s in severities},
        "languages": sorted({name for rule in pack.rules for name in rule.languages}),
    }


def rule_json(told: DescribedRule) -> Mapping[str, Any]:
    """A rule for machines, without its matchers."""
    rule = told.rule
    return {
        "rule": f"{told.pack.id}/{rule.id}",
        "title": rule.title,
        "why": rule.why,
        "message": rule.message,
        "severity": rule.severity,
        "confidence": rule.confidence,
        "known_by": rule.known_by,
        "since": {"error": told.error, "warning": told.warning, "hint": told.hint},
        "languages": sorted(rule.languages),
        "replacement": rule.replacement,
        "fix": [fix.model_dump() for fix in rule.fix],
        "references": list(rule.references),
        "found": _sample_json(told.found),
        "left_alone": _sample_json(told.left_alone),
    }


def _sample_json(sample: Sample | None) -> dict[str, Any] | None:
    if sample is None:
        return None
    return {"language": sample.language, "code": sample.code, "fixed": sample.fixed}


_SPECIAL = re.compile(r"([\\*<>\[\]|])")
_CODE = re.compile(r"(`[^`]*`)")
_INTRODUCTION = """<!-- Generated from src/prjury/rules. -->
# Packs of version patterns

What the judge [`patterns`](../judges/patterns.md) knows. A pack is a subject with its rules, and
looks only at projects that declare what it is about. Each page tells of every rule what it finds,
why, with which versions, and what to write instead; `prjury rules list` and
`prjury rules show PACK/RULE` tell the same in a terminal.

"""
_REST = """
## How to read a page

*Error*, *Warning* and *Hint* say which versions make that of a finding, wherever the nearest module
allows no others. An error that only some of the allowed versions would have is a warning. A mere
warning that only some of them would have stays one if the replacement is there in all of them.
Where a version cannot be told, a finding is a hint. A hint "before that" says that the old way is
still sound, but the new one is there already.

| Fix | Meaning |
|---|---|
| machine-applicable | the same in new words; safe to apply |
| maybe-incorrect | look at it before you apply it |
| has-placeholders | has parts that you fill in |
| by hand | none, only advice; so is every fix whose replacement some allowed version lacks |

## Packs of your own

`paths` of the judge `patterns` names files and directories: packs in the format of the shipped
ones, and rules in ast-grep's own format (a file, a directory with `rules/`, an `sgconfig.yml`).
Installed distributions bring packs along by entry points of the group `prjury.packs`, each of which
is an absolute path or a function that returns one.

A pack is `NAME.yml`, its cases are in `NAME.cases.yml` beside it. Each rule needs, for each of its
languages, code that it finds and code that it leaves alone; for each fix a case with `fixed` that
would come out otherwise without it; and where versions count, one version case for each outcome
(`error`, `warning`, `hint`, `none`) that they can have. A version case names what a project has
as `ECOSYSTEM:NAME [version]` (`pypi:numpy 2.0`, `npm:react ^18`, `runtime:python >=3.8`,
`go:github.com/pkg/errors v0.9.1`, `maven:org.acme:lib [3.5,4.1)`); Maven's own
`group:artifact[:version]` will do as well. `prjury rules test PATH` runs all of them, and says what
fails or is missing with file and line. [The judge's page](../judges/patterns.md#packs-of-your-own)
shows a pack as a whole.

Of a rule in ast-grep's format `severity`, `message`, `note`, `url`, `files`, `ignores`,
`constraints` and `utils` hold as ast-grep documents them, except that `info` is a hint. Its
`fix` is offered as `maybe-incorrect` where a match and what becomes of it stand on one line, and is
advice elsewhere. Tests in the directories that `testConfigs` names are run by
`prjury rules test`.
"""


def pack_page(pack: Pack) -> str:
    """The page of one pack, with the examples of its cases."""
    return _templates().get_template("pack.md.j2").render(pack=Described(pack))


def index_page(packs: Sequence[Pack]) -> str:
    """The page that names every pack, and tells how others are written."""
    return _INTRODUCTION + table(packs, linked=True) + _REST


def table(packs: Sequence[Pack], *, linked: bool = False) -> str:
    """One row for each pack."""
    described = [Described(pack) for pack in packs]
    return _templates().get_template("index.md.j2").render(packs=described, linked=linked)


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
