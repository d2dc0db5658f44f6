"""Packs and rules as text and as JSON, for ``prjury rules``."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

from prjury.rulepacks.description import Described, DescribedRule, Sample
from prjury.rulepacks.rule import Pack, PatternRule
from prjury.rulepacks.words import ALWAYS, languages

_WIDTH = 100
_COLUMN = 12
_ELSE = "(a warning where it allows others too, a hint where nobody knows the version)"
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
        f"{told.id}: {told.title}",
        f"    {told.counted}; {told.languages}",
        *_wrapped(f"for {told.audience}", 4),
    ]


def pack_lines(pack: Pack) -> list[str]:
    """A pack, and a line for each of its rules."""
    told = Described(pack)
    width = max(len(rule.id) for rule in pack.rules)
    rows = [f"    {r.rule.severity:7}  {r.id:{width}}  {r.title}" for r in told.rules]
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
