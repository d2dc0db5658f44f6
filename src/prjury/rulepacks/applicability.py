"""Which rules hold in a module, and how severe a finding of them is there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache, cached_property
from typing import Literal

import re2

from prjury.jury.judgment import Severity
from prjury.manifests.manifest import ECOSYSTEMS, Role
from prjury.manifests.module import DeclaredVersion, ManifestModule, Requirement, Sides, Truth
from prjury.report.wording import join_words
from prjury.rulepacks.rule import Head, KeptBy, Outcome, Pack, PatternRule, VersionCase
from prjury.snapshot.model import printable

#: Why a finding is less than its rule says; ``upcoming`` is no finding at all.
Doubt = Literal["", "some", "deprecated", "itself", "both", "unknown", "undeclared", "upcoming"]

_LONGEST = 80
_RESTS = {"": "", "some": ", which allows such versions", "deprecated": ", which deprecates it"}
_NAME = r"[@\w$./:=*()\[\]-]*\w[@\w$./:=*()\[\]-]*"
_LIST = rf"{_NAME}(?:, {_NAME})*(?:,? (?:and|or) {_NAME})?"
_OF = r"(?: of [\w'. ]+?)?"
_VERB = "were|was|are|is|do|does|have|has|fail|fails|return|returns|moved"
_SUBJECT = re.compile(
    rf"(?:[Tt]he (?:hook )?(?:argument|method|module|configuration)s? )?"
    rf"({_LIST})(?P<likes> and its likes| and its relatives)?({_OF}) ({_VERB})\b(.*)"
)
_PRONOUN = re.compile(
    r"[Tt]his (?:(?:name|module|method|dtype|property|key of the configuration) (?=\w)|(?=is ))"
)
_SAME_NUMBER = re.compile(rf"((?: to)? )({_LIST})(.*)")
_TO_DO = frozenset(
    "use take write call remove leave put drop pass pick make mark move add map keep look say set "
    "see wrap give ask await apply configure declare describe export hand import migrate name "
    "choose define split open begin change assign run install replace call instead".split()
)
_USE = re.compile(rf"((?:use|take|write|call) )({_LIST})$")
_SEPARATOR = re.compile(r",? (?:and|or) |, ")
_WORD = re.compile(r"\w+(?=\W*$)")
_SINGULAR = {
    "were": "was",
    "are": "is",
    "do": "does",
    "have": "has",
    "fail": "fails",
    "return": "returns",
}
_WORDY = re.compile(r"[@\w$.:/]+(?:\(\))?")


@dataclass(frozen=True)
class Basis:
    """What the severity of a finding rests on: the declaration that decides, and what is unsure."""

    declared: DeclaredVersion | None = None
    doubt: Doubt = ""

    @property
    def declaration(self) -> str:
        """``pyproject.toml:12 declares numpy >=2.1``; empty where nothing is declared."""
        one = self.declared
        if one is None:
            return ""
        place = f"{one.path}:{one.line}" if one.line else one.path
        version = one.version or one.written
        name = printable(str(one))
        return f"{place} declares {name} {printable(version) if version else 'without a version'}"


def narrow_head_to_code(message: str, code: str) -> str:
    """The first part of a rule's message, about those names alone that the code uses."""
    head = message.partition("; ")[0]
    if _PRONOUN.match(head) and _is_name(code):
        return _PRONOUN.sub(f"`{code}` ", head, count=1)
    subject = _SUBJECT.fullmatch(head)
    if subject is None:
        return head
    several, likes, of, verb, rest = subject.groups()
    names = _SEPARATOR.split(several)
    used = [name for name in names if _stands_in(name, code)]
    if not used and not ((likes or len(names) > 1) and _is_name(code)):
        return head
    if len(used) > 1 or (len(names) == 1 and not likes):
        return f"{join_words([f'`{name}`' for name in used], len(used))}{of} {verb}{rest}"
    written = code if _is_name(code) else used[0]
    same = _SAME_NUMBER.fullmatch(rest) if len(names) > 1 else None
    if same and used and len(others := _SEPARATOR.split(same[2])) == len(names):
        rest = f"{same[1]}`{others[names.index(used[0])]}`{same[3]}"
    return f"`{written}`{of} {_SINGULAR.get(verb, verb)}{rest}"


def phrase_advice(message: str, code: str, fixed: str | None) -> str:
    """Return the advice as a sentence; empty if the message has none."""
    head, _, tail = message.partition("; ")
    use = _USE.fullmatch(tail)
    if fixed and fixed.strip() and len(fixed) <= _LONGEST and not {*"`\n"} & {*fixed}:
        more = "" if not tail or tail.startswith(("use ", "take ", "write ", "call ")) else tail
        return " ".join(filter(None, [_sentence(more), f"Write `{fixed.strip()}`."]))
    subject = _SUBJECT.fullmatch(head)
    if use and subject:
        names, ways = (_SEPARATOR.split(text) for text in (subject[1], use[2]))
        used = [way for name, way in zip(names, ways, strict=False) if _stands_in(name, code)]
        if len(names) == len(ways) and len(used) == 1:
            return _sentence(f"{use[1]}`{used[0]}`")
    return _sentence(tail)


def compose_finding_text(
    message: str, code: str, fixed: str | None, basis: Basis, *, established: bool
) -> str:
    """All that a finding says, in sentences."""
    head, words = narrow_head_to_code(message, code).rstrip("."), basis.declaration
    if words and basis.doubt in _RESTS:
        head = f"{head}; {words}{_RESTS[basis.doubt]}"
    softer = "A warning only: it is in use here already." if established else _describe_doubt(basis)
    more = [part for part in (softer, phrase_advice(message, code, fixed)) if part]
    return " ".join([f"{head}.", *more]) if more else head


def _describe_doubt(basis: Basis) -> str:
    name = printable(str(basis.declared)) if basis.declared else "it"
    return {
        "itself": f"A hint only: this repository is {name} itself.",
        "unknown": f"A hint only: {basis.declaration or f'the version of {name} is not known'}, "
        "and that does not say whether it holds here.",
        "both": "A hint only: the module asks for the old library as well.",
        "undeclared": "A hint only: no build file here says which version is used.",
    }.get(basis.doubt, "")


def _stands_in(name: str, code: str) -> bool:
    word = _WORD.search(name)
    return bool(word and re.search(rf"(?<!\w){re.escape(word[0])}(?!\w)", code))


def _is_name(text: str) -> bool:
    return len(text) <= _LONGEST and _WORDY.fullmatch(text) is not None


def _sentence(text: str) -> str:
    text = text.rstrip(".")
    if not text:
        return ""
    to_do = text.split()[0] in _TO_DO
    return f"{text[0].upper()}{text[1:]}." if to_do else f"Note: {text}."


#: The severities from the most to the least severe.
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "hint")
#: Brings libraries along without naming them.
_PLATFORM = "org.springframework.boot"
_ALLOWED = frozenset({Truth.YES, Truth.SOME})
#: What a module asks for, and whatever its parent asks for.
_ASKING = frozenset({Role.DEPENDENCY, Role.PARENT})


@dataclass(frozen=True)
class PackApplicability:
    """A pack as it is seen from one module; one asked for by name needs no declaration."""

    pack: Pack
    module: ManifestModule
    asked_for: bool = False

    @cached_property
    def is_open(self) -> bool:
        """Return true if the pack is looked at in the module at all."""
        return opens(self.pack, self.module, asked_for=self.asked_for)

    @cached_property
    def _brought(self) -> bool:
        return _may_bring_old(self.module, self.pack.kept_by)

    def rate_severity(self, rule: PatternRule) -> Severity | None:
        """Rate a finding in the module; None where the rule does not hold.

        The rule's own severity takes every declared version; with some, or where the old way is
        deprecated or brought along, it is a warning; with none, beside the old library, or in the
        library itself, a hint.
        """
        if not self.is_open or self.keeps_old_way(rule):
            return None
        required = list_required(self.pack, rule)
        severity = self._rate_versions(rule, required)
        if severity and (self.module.is_itself(required) or self._asks_for_old(rule)):
            return "hint"
        return "warning" if severity == "error" and self.brings(rule) else severity

    def basis(self, rule: PatternRule) -> Basis:
        """Return the basis of the severity: the declaration that decides, and what is unsure."""
        required = list_required(self.pack, rule)
        bounds = [*required, *(rule.deprecated or ()), *(rule.replaceable or ()), *self.pack.gate]
        order = (Truth.YES, Truth.SOME, Truth.NO, Truth.UNKNOWN)
        deciding = sorted(
            (r for r in bounds if self.module.truth(r) in order and self.module.evidence(r)),
            key=lambda r: order.index(self.module.truth(r)),
        )
        declared = self.module.evidence(deciding[0])[0] if deciding else None
        doubt = self._find_version_doubt(rule, required)
        if doubt == "upcoming" and declared and declared.optional:
            doubt = "unknown"
        if doubt == "itself":
            declared = next(self.module.itself(required))
        return Basis(declared, doubt)

    def _find_version_doubt(self, rule: PatternRule, required: Sequence[Requirement]) -> Doubt:
        if self.module.is_itself(required):
            return "itself"
        if self._asks_for_old(rule):
            return "both"
        removed = self.module.any_of(required)
        deprecated = self.module.any_of(rule.deprecated or ())
        if removed is Truth.YES:
            return ""
        if deprecated is Truth.YES and removed is not Truth.SOME:
            return "deprecated"
        if Truth.UNKNOWN in {removed, deprecated}:
            return "unknown"
        if removed in {Truth.ABSENT, Truth.SOME}:
            return "undeclared" if removed is Truth.ABSENT else "some"
        certain = self._rate_versions(rule, required) == "hint" and deprecated is not Truth.SOME
        return "upcoming" if certain else "deprecated"

    def keeps_old_way(self, rule: PatternRule) -> bool:
        """Return true if the module keeps the old way: by its name, or as its only library."""
        reasons = [reason for reason in (self.pack.kept_by, rule.kept_by) if reason]
        patterns = [pattern for reason in reasons for pattern in reason.modules]
        if any(_fits_pattern(pattern, name) for pattern in patterns for name in self.module.names):
            return True
        new = [r for r in list_required(self.pack, rule) if r.group != _PLATFORM]
        return self._asks_for_old(rule) and not any(
            r.names(it.ecosystem, it.group, it.artifact)
            for r in new
            for it in self.module.requested
        )

    def _asks_for_old(self, rule: PatternRule) -> bool:
        reasons = [reason for reason in (self.pack.kept_by, rule.kept_by) if reason]
        old = [name for reason in reasons for name in reason.dependencies]
        return bool(old) and any(is_one_of(str(it), old) for it in self.module.requested)

    def brings(self, rule: PatternRule) -> bool:
        """Return true if a library that the module asks for brings along what the rule is about."""
        return self._brought or bool(rule.kept_by and _may_bring_old(self.module, rule.kept_by))

    def _rate_versions(self, rule: PatternRule, required: Sequence[Requirement]) -> Severity | None:
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
        everywhere = self.asked_for or not all(each.ecosystem for each in self.pack.gate)
        silent = everywhere or all(each.ecosystem == "runtime" for each in required)
        undeclared = removed is Truth.ABSENT and silent
        unsure = Truth.UNKNOWN in {removed, deprecated} or deprecated is Truth.SOME
        return "hint" if unsure or upcoming or undeclared else None


def list_required(pack: Pack, rule: PatternRule) -> Sequence[Requirement]:
    """Return the requirements of which one makes a finding as severe as the rule says."""
    required = rule.requires or pack.requires or pack.gate
    return [*required, *rule.or_requires] if rule.or_requires else required


def decide_stricter_severity(
    rule: PatternRule, sides: Sides, head: PackApplicability, base: PackApplicability
) -> Severity | None:
    """Return the more severe answer of both sides; None where the rule holds on neither.

    The head's alone counts where it declares another version of what decides: no pull request
    exempts itself by declaring less. Above a new module the base makes a warning at most.
    """
    after = head.rate_severity(rule)
    if sides.base is sides.head:
        return after
    before = base.rate_severity(rule)
    bounds = [*list_required(head.pack, rule), *(rule.deprecated or ())]
    if after == before or sides.moves(bounds):
        return after
    if sides.fresh and before:
        before = at_most("warning", before)
    severity = min((s for s in (after, before) if s), key=SEVERITIES.index)
    brought = sides.is_one_module and head.brings(rule)
    return at_most("warning", severity) if brought else severity


def repairs(pack: Pack, rule: PatternRule, module: ManifestModule) -> bool:
    """Return true if what replaces the pattern is there in every version that the module allows."""
    bounds = rule.replaceable or rule.deprecated or list_required(pack, rule)
    return module.any_of(bounds) is Truth.YES


def opens(head: Head, module: ManifestModule, *, asked_for: bool) -> bool:
    """Return true if a pack is looked at in the module at all."""
    truth = module.any_of(head.gate)
    return truth in {*_ALLOWED, Truth.UNKNOWN} or (asked_for and truth is Truth.ABSENT)


def _may_bring_old(module: ManifestModule, reason: KeptBy) -> bool:
    if reason.brought_by and module.notes:  # of a parent elsewhere nobody knows what it brings
        return True
    # A plugin of the build may ask for any library of a catalog.
    libraries = [*module.requested]
    libraries += [d for d in module.declared if d.role in _ASKING or d.path.endswith(".toml")]
    for requirement in reason.brought_by:
        if module.truth(requirement) is not Truth.NO and any(
            requirement.names(each.ecosystem, each.group, each.artifact) for each in libraries
        ):
            return True
    return False


@cache
def _fits_pattern(pattern: str, name: str) -> bool:
    return bool(re2.search(pattern, name))


def is_one_of(coordinate: str, patterns: Iterable[str]) -> bool:
    """Return true if ``group:artifact`` fits one of the patterns with ``*``."""
    return any(fnmatchcase(coordinate, pattern) for pattern in patterns)


def at_most(limit: Severity, severity: Severity) -> Severity:
    """The less severe of two."""
    return max(limit, severity, key=SEVERITIES.index)


def at_least(severity: Severity, threshold: Severity) -> bool:
    """Return true if a severity reaches a threshold."""
    return SEVERITIES.index(severity) <= SEVERITIES.index(threshold)


_FORMS = "`ECOSYSTEM:NAME [version]` such as `npm:react ^18`, or `group:artifact[:version]`"


def parse_library_version(text: str) -> DeclaredVersion:
    """Read ``ECOSYSTEM:NAME [version]`` or Maven's coordinates; ValueError for anything else."""
    ecosystem, _, rest = text.strip().partition(":")
    if ecosystem in ECOSYSTEMS:
        name, _, version = rest.strip().partition(" ")
        group, artifact = ("", name)
        if ecosystem == "maven":
            group, _, artifact = name.partition(":")
    else:
        group, (artifact, _, version) = ecosystem, rest.partition(":")
        ecosystem = "maven"
    maven = ecosystem == "maven"
    if not artifact or " " in group + artifact or (maven and (not group or ":" in artifact)):
        raise ValueError(f"{text!r} is not {_FORMS}; ecosystems are {', '.join(ECOSYSTEMS)}")
    pin = version.strip() or None
    return DeclaredVersion(group, artifact, pin, pin, Role.DEPENDENCY, "pom.xml", 0, ecosystem)


def outcome_of(pack: Pack, rule: PatternRule, case: VersionCase) -> Outcome:
    """Rate a finding in a module of the case's making; ValueError for no declaration."""
    own = tuple(parse_library_version(text) for text in case.own)
    inherited = tuple(parse_library_version(text) for text in case.declares)
    module = ManifestModule("pom.xml", (case.module,), tuple(sorted((*own, *inherited))), own)
    return PackApplicability(pack, module).rate_severity(rule) or "none"


def list_testable_outcomes(pack: Pack, rule: PatternRule) -> frozenset[Outcome]:
    """Return the outcomes that the rule's own versions tell apart; none where no version counts."""
    removed = list_required(pack, rule)
    bounds = [*removed, *(rule.deprecated or ()), *(rule.replaceable or ())]
    if not any(r.span for r in bounds) or not all(r.ecosystem for r in removed):
        return frozenset()
    outcomes: set[Outcome] = {rule.severity}
    if all(r.span for r in rule.replaceable or removed):
        outcomes.add("none")
    if rule.replaceable:
        outcomes.add("hint")
    if rule.severity == "error" and rule.deprecated:
        outcomes.add("warning")
    return frozenset(outcomes)
