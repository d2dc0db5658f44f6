"""How severe a rule's findings can be, and are in a module that a version case describes."""

from __future__ import annotations

from prjury.manifests.manifest import ECOSYSTEMS, Role
from prjury.manifests.module import DeclaredVersion, ManifestModule
from prjury.rulepacks.applicability import PackApplicability, required_by
from prjury.rulepacks.example import Outcome, VersionCase
from prjury.rulepacks.rule import Pack, PatternRule

_FORMS = "`ECOSYSTEM:NAME [version]` such as `npm:react ^18`, or `group:artifact[:version]`"


def declared(text: str) -> DeclaredVersion:
    """A declaration of a version case: ``ECOSYSTEM:NAME [version]``, as in ``pypi:numpy 2.0``.

    Maven's names are ``group:artifact``; its coordinates may also be written as Maven does,
    ``group:artifact[:version]``.

    Raises:
        ValueError: for anything else.
    """
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
    found = version.strip() or None
    return DeclaredVersion(group, artifact, found, found, Role.DEPENDENCY, "pom.xml", 0, ecosystem)


def outcome_of(pack: Pack, rule: PatternRule, case: VersionCase) -> Outcome:
    """How severe a finding of the rule is in a module of the case's making, or ``none``.

    Raises:
        ValueError: for a declaration that is not written as it must be.
    """
    own = tuple(declared(text) for text in case.own)
    inherited = tuple(declared(text) for text in case.declares)
    module = ManifestModule("pom.xml", (case.module,), tuple(sorted((*own, *inherited))), own)
    return PackApplicability(pack, module).severity(rule) or "none"


def telling(pack: Pack, rule: PatternRule) -> frozenset[Outcome]:
    """The outcomes that the rule's own versions distinguish; none where no version counts.

    That an unknown version makes a hint, and one that is met in part a warning, is the gate's
    doing and the same for every rule.
    """
    removed = required_by(pack, rule)
    asked = [*removed, *(rule.deprecated or ()), *(rule.replaceable or ())]
    if not any(r.span for r in asked) or not all(r.ecosystem for r in removed):
        return frozenset()
    found: set[Outcome] = {rule.severity}
    if all(r.span for r in rule.replaceable or removed):
        found.add("none")
    if rule.replaceable:
        found.add("hint")
    if rule.severity == "error" and rule.deprecated:
        found.add("warning")
    return frozenset(found)
