"""A plan as people and programs read it. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import to_builtins

from prjury.judges.builds.detect import DetectedBuilds
from prjury.judges.builds.plan import BuildPlan
from prjury.judges.builds.wording import join_names

_MOST_NAMED = 3

SCHEMA_NAME = "prjury/build-plan/v1"

_SOURCES = {
    "policy": "the policy",
    "recipe": "a recipe",
    "ci": "the base's own CI",
    "convention": "what is usual",
}
_NONE = (
    "nothing, no build is known; "
    "add `build: {command: …}` with the command that builds and tests it"
)


def plan_document(builds: DetectedBuilds) -> Mapping[str, Any]:
    """The plans as JSON, in the form ``prjury/build-plan/v1``."""
    return {
        "schema": SCHEMA_NAME,
        "builds": [_document(plan) for plan in builds.plans],
        "notes": list(builds.notes),
        "skipped": list(builds.skipped),
    }


def _document(plan: BuildPlan) -> Mapping[str, Any]:
    return {
        "source": plan.source,
        "system": plan.system,
        "directory": plan.directory,
        "steps": [
            {"name": step.name, "command": step.text, "origin": step.origin} for step in plan.steps
        ],
        "reasons": list(filter(None, plan.reasons)),
        "modules": list(plan.modules),
        "tools": list(plan.tools),
        "missing": plan.missing or plan.older or None,
        "left_out": [to_builtins(one) for one in plan.left_out],
        "notes": list(plan.notes),
    }


def plan_lines(builds: DetectedBuilds) -> Iterator[str]:
    """The plans line by line."""
    for plan in builds.plans:
        where = f" in {plan.directory}" if plan.directory else ""
        yield f"{plan.system}{where}, by {_SOURCES[plan.source]}"
        for step in plan.steps:
            origin = f"  # {step.origin}" if step.origin else ""
            first, *rest = step.shown.splitlines()
            yield f"  {step.name:7} {first}{origin}"
            yield from (f"          {line}" for line in rest)
        left_out = [f"{one.text}: {one.why}  # {one.origin}" for one in plan.left_out]
        rows = {
            "why": plan.reasons,
            "only": [", ".join(plan.modules)],
            "with": plan.tools,
            "lacks": [plan.missing],
            "older": [f"{plan.older}; it is tried all the same"] if plan.older else [],
            "not run": left_out,
            "note": plan.notes,
        }
        for label, texts in rows.items():
            yield from (f"  {label:7} {text}" for text in texts if text)
    if not builds.plans:
        yield _NONE
    yield from (f"note: {note}" for note in builds.notes)
    yield from (f"not built, by its name: {place}" for place in builds.skipped)


def plan_summary(builds: DetectedBuilds) -> tuple[str, bool]:
    """The builds in one line, and whether all of them could run here."""
    if not builds.plans:
        return _NONE, False
    labels = [f"{one.system}, `{one.steps[-1].text.splitlines()[0]}`" for one in builds.plans]
    line = join_names(labels, _MOST_NAMED)
    lacks = next((one.missing for one in builds.plans if one.missing), "")
    source = _SOURCES[builds.plans[0].source]
    return (f"{line}; {lacks}", False) if lacks else (f"{line} ({source})", True)
