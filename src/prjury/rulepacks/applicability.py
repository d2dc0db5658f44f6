"""Which rules hold in a module, and how severe a finding of them is there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache, cached_property

import re2

from prjury.jury.judgment import Severity
from prjury.manifests.module import ManifestModule, Sides
from prjury.manifests.versions import Requirement, Truth
from prjury.rulepacks.rule import Head, KeptBy, Pack, PatternRule
from prjury.rulepacks.wording import Basis, Doubt

#: The severities from the most to the least severe.
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "hint")
_ALLOWED = frozenset({Truth.YES, Truth.SOME})


@dataclass(frozen=True)
class PackApplicability:
    """A pack as it is seen from one module; what its rules have in common is asked once.

    Attributes:
        asked_for: whether the operator named the pack; it then looks without any declaration.
    """

    pack: Pack
    module: ManifestModule
    asked_for: bool = False

    @cached_property
    def is_open(self) -> bool:
        """Whether the pack is looked at in the module at all."""
        return opens(self.pack, self.module, asked_for=self.asked_for)

    @cached_property
    def _kept(self) -> bool:
        return _keeps(self.module, self.pack.kept_by)

    @cached_property
    def _brought(self) -> bool:
        return _brings(self.module, self.pack.kept_by)

    @cached_property
    def _everywhere(self) -> bool:
        return self.asked_for or not all(each.ecosystem for each in self.pack.gate)

    def severity(self, rule: PatternRule) -> Severity | None:
        """How severe a finding is in the module; None where the rule does not hold.

        The rule's own severity needs a declared span of which every version says so. Where some of
        them lack the pattern, or all deprecate it, a finding is a warning; where only some
        deprecate it, that needs a replacement in all of them. Where nobody knows the version it is
        a hint, which never blocks; so it is where the pattern is still sound, but its replacement
        is there already. Where another library brings the old one along, nothing is worse than a
        warning; in the repository of the library itself, which is the one to change it, nothing is
        worse than a hint.
        """
        if not self.is_open or self.keeps(rule):
            return None
        required = required_by(self.pack, rule)
        severity = self._by_version(rule, required)
        if severity and self.module.is_itself(required):
            return "hint"
        return "warning" if severity == "error" and self.brings(rule) else severity

    def basis(self, rule: PatternRule) -> Basis:
        """What the severity rests on: the declaration that decides, and what is unsure about it."""
        required = required_by(self.pack, rule)
        asked = [*required, *(rule.deprecated or ()), *(rule.replaceable or ()), *self.pack.gate]
        order = (Truth.YES, Truth.SOME, Truth.NO, Truth.UNKNOWN)
        deciding = sorted(
            (r for r in asked if self.module.truth(r) in order and self.module.evidence(r)),
            key=lambda r: order.index(self.module.truth(r)),
        )
        declared = self.module.evidence(deciding[0])[0] if deciding else None
        doubt = self._doubt(rule, required)
        if doubt == "upcoming" and declared and declared.optional:
            doubt = "unknown"
        if doubt == "itself":
            declared = next(self.module.itself(required))
        return Basis(declared, doubt)

    def _doubt(self, rule: PatternRule, required: Sequence[Requirement]) -> Doubt:
        if self.module.is_itself(required):
            return "itself"
        removed, deprecated = (
            self.module.any_of(required),
            self.module.any_of(rule.deprecated or ()),
        )
        if removed is Truth.YES or (deprecated is Truth.YES and removed is not Truth.SOME):
            return ""
        if Truth.UNKNOWN in {removed, deprecated}:
            return "unknown"
        if removed is Truth.ABSENT:
            return "undeclared"
        certain = self._by_version(rule, required) == "hint" and deprecated is not Truth.SOME
        return "upcoming" if certain and removed is Truth.NO else "some"

    def keeps(self, rule: PatternRule) -> bool:
        """Whether the module keeps the old way on purpose."""
        return self._kept or bool(rule.kept_by and _keeps(self.module, rule.kept_by))

    def brings(self, rule: PatternRule) -> bool:
        """Whether a library that the module asks for brings along what the rule is about."""
        return self._brought or bool(rule.kept_by and _brings(self.module, rule.kept_by))

    def _by_version(self, rule: PatternRule, required: Sequence[Requirement]) -> Severity | None:
        removed = self.module.any_of(required)
        if removed is Truth.YES:
            return rule.severity
        deprecated = self.module.any_of(rule.deprecated or ())
        replaced = self.module.any_of(rule.replaceable or ())
        fails_somewhere = removed is Truth.SOME and rule.severity == "error"
        deprecated_somewhere = removed is Truth.SOME and replaced is Truth.YES
        if fails_somewhere or deprecated_somewhere or deprecated is Truth.YES:
            return at_most("warning", rule.severity)
        upcoming = removed in {Truth.NO, Truth.SOME} and replaced in _ALLOWED
        silent = self._everywhere or all(each.ecosystem == "runtime" for each in required)
        undeclared = silent and removed is Truth.ABSENT
        unsure = Truth.UNKNOWN in {removed, deprecated} or deprecated is Truth.SOME
        return "hint" if unsure or upcoming or undeclared else None


def required_by(pack: Pack, rule: PatternRule) -> Sequence[Requirement]:
    """What makes a finding as severe as the rule says: one of these."""
    required = rule.requires or pack.requires or pack.gate
    return [*required, *rule.or_requires] if rule.or_requires else required


def severity_between(
    rule: PatternRule, sides: Sides, head: PackApplicability, base: PackApplicability
) -> Severity | None:
    """The more severe answer of both sides; None where the rule holds on neither.

    The head's answer alone counts where it declares another version of what decides at the base: no
    pull request exempts itself by making its build files say less. Where the head's module is new,
    the one above it makes a warning at most, because examples and the like may have versions of
    their own. A library that is known to bring the old one along counts on either side of a module.
    """
    after = head.severity(rule)
    if sides.base is sides.head:
        return after
    before = base.severity(rule)
    asked = [*required_by(head.pack, rule), *(rule.deprecated or ())]
    if after == before or sides.moves(asked):
        return after
    if sides.fresh and before:
        before = at_most("warning", before)
    severity = min((s for s in (after, before) if s), key=SEVERITIES.index)
    brought = sides.is_one_module and head.brings(rule)
    return at_most("warning", severity) if brought else severity


def repairs(pack: Pack, rule: PatternRule, module: ManifestModule) -> bool:
    """Whether what replaces the pattern is there in every version that the module allows."""
    asked = rule.replaceable or rule.deprecated or required_by(pack, rule)
    return module.any_of(asked) is Truth.YES


def opens(head: Head, module: ManifestModule, *, asked_for: bool) -> bool:
    """Whether a pack is looked at in the module at all."""
    truth = module.any_of(head.gate)
    return truth in {*_ALLOWED, Truth.UNKNOWN} or (asked_for and truth is Truth.ABSENT)


def _brings(module: ManifestModule, reason: KeptBy) -> bool:
    asked = [*module.kept, *module.own] if reason.brought_by else ()
    return any(is_one_of(str(declared), reason.brought_by) for declared in asked)


def _keeps(module: ManifestModule, reason: KeptBy) -> bool:
    """Whether the module keeps the old library on purpose: declares it, or is named for it."""
    own = map(str, module.kept) if reason.dependencies else ()
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
