"""Which rules hold in a module, and how severe a finding of them is there."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from functools import cache

import re2

from prjury.judges.patterns.packs.rule import Head, KeptBy, Pack, Rule
from prjury.judges.patterns.project.module import Module, Sides
from prjury.judges.patterns.project.versions import Requirement, Truth
from prjury.jury.judgment import Severity

#: The severities from the most to the least severe.
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "hint")
_ALLOWED = frozenset({Truth.YES, Truth.SOME})


def severity_between(pack: Pack, rule: Rule, sides: Sides, *, asked_for: bool) -> Severity | None:
    """The more severe answer of both sides; None where the rule holds on neither.

    The head's answer alone counts where it declares another version of what decides at the base: no
    pull request exempts itself by making its build files say less.
    """
    after = _severity_in(pack, rule, sides.head, asked_for=asked_for)
    if sides.base is sides.head:
        return after
    before = _severity_in(pack, rule, sides.base, asked_for=asked_for)
    required = rule.requires or pack.requires or pack.gate
    asked = [*required, *(rule.or_requires or []), *(rule.deprecated or [])]
    if after == before or sides.moves(asked):
        return after
    return min((s for s in (after, before) if s), key=SEVERITIES.index)


def _severity_in(pack: Pack, rule: Rule, module: Module, *, asked_for: bool) -> Severity | None:
    if not opens(pack, module, asked_for=asked_for):
        return None
    return severity_of(pack, rule, module, asked_for=asked_for)


def severity_of(pack: Pack, rule: Rule, module: Module, *, asked_for: bool) -> Severity | None:
    """How severe a finding is in the module; None where the rule does not hold.

    The rule's own severity needs a declared span of which every version says so. Where some of
    them lack the pattern, or all deprecate it, a finding is a warning; where only some deprecate
    it, that needs a replacement in all of them. Where nobody knows the version it is a hint, which
    never blocks; so it is where the pattern is still sound, but its replacement is there already.
    In the repository of the library itself nothing is worse than a warning.

    Args:
        asked_for: whether the operator named the pack; it then looks without any declaration.
    """
    if keeps(module, pack.kept_by, rule.kept_by):
        return None
    required = [*(rule.requires or pack.requires or pack.gate), *(rule.or_requires or [])]
    everywhere = asked_for or not all(each.ecosystem for each in pack.gate)
    severity = _by_version(rule, module, required, asked_for=everywhere)
    lenient = module.is_itself(required) or _is_brought(module, pack.kept_by, rule.kept_by)
    return at_most("warning", severity) if severity and lenient else severity


def _is_brought(module: Module, *reasons: KeptBy | None) -> bool:
    """Whether a library that the module asks for, on either side, brings the old one along."""
    asked = [*module.kept, *module.own]
    return any(is_one_of(str(d), reason.brought_by) for reason in reasons if reason for d in asked)


def _by_version(
    rule: Rule, module: Module, required: list[Requirement], *, asked_for: bool
) -> Severity | None:
    removed = module.any_of(required)
    deprecated = module.any_of(rule.deprecated or [])
    replaced = module.any_of(rule.replaceable or [])
    if removed is Truth.YES:
        return rule.severity
    fails_somewhere = removed is Truth.SOME and rule.severity == "error"
    deprecated_somewhere = removed is Truth.SOME and replaced is Truth.YES
    if fails_somewhere or deprecated_somewhere or deprecated is Truth.YES:
        return at_most("warning", rule.severity)
    upcoming = removed in {Truth.NO, Truth.SOME} and replaced in _ALLOWED
    undeclared = asked_for and removed is Truth.ABSENT
    unsure = Truth.UNKNOWN in {removed, deprecated} or deprecated is Truth.SOME
    return "hint" if unsure or upcoming or undeclared else None


def repairs(pack: Pack, rule: Rule, module: Module) -> bool:
    """Whether what replaces the pattern is there in every version that the module allows."""
    required = rule.requires or pack.requires or pack.gate
    return module.any_of(rule.replaceable or rule.deprecated or required) is Truth.YES


def opens(head: Head, module: Module, *, asked_for: bool) -> bool:
    """Whether a pack is looked at in the module at all."""
    truth = module.any_of(head.gate)
    return truth in {*_ALLOWED, Truth.UNKNOWN} or (asked_for and truth is Truth.ABSENT)


def keeps(module: Module, *reasons: KeptBy | None) -> bool:
    """Whether the module keeps the old library on purpose: declares it, or is named for it."""
    return any(_keeps(module, reason) for reason in reasons if reason)


def _keeps(module: Module, reason: KeptBy) -> bool:
    own = [str(declared) for declared in module.kept]
    if any(is_one_of(name, reason.dependencies) for name in own):
        return True
    return any(_found(pattern, name) for pattern in reason.modules for name in module.names)


@cache
def _found(pattern: str, name: str) -> bool:
    return bool(re2.search(pattern, name))


def is_one_of(coordinate: str, patterns: Iterable[str]) -> bool:
    """Whether ``group:artifact`` fits one of the patterns with ``*``."""
    return any(fnmatchcase(coordinate, pattern) for pattern in patterns)


def at_most(limit: Severity, severity: Severity) -> Severity:
    """The less severe of two."""
    return max(limit, severity, key=SEVERITIES.index)


def at_least(severity: Severity, threshold: Severity) -> bool:
    """Whether a severity reaches a threshold."""
    return SEVERITIES.index(severity) <= SEVERITIES.index(threshold)
