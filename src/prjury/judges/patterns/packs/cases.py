"""Runs the tests that a pack brings along: what each rule must find, must leave alone, must fix."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from prjury.code.languages import LANGUAGES, Language
from prjury.code.parser import NotParsed, reply
from prjury.code.source import Source, UnreadableError, resolved
from prjury.code.worker import guarded
from prjury.judges.patterns.findings import repaired
from prjury.judges.patterns.gate import severity_of
from prjury.judges.patterns.match import Active, FileScan, Hit
from prjury.judges.patterns.packs.rule import Cases, Pack, Rule, VersionCase
from prjury.judges.patterns.prefilter import Prefilter
from prjury.judges.patterns.project.manifest import Role
from prjury.judges.patterns.project.module import Declared, Module


@dataclass(frozen=True)
class CaseFailure:
    """A case that did not come out as its pack says."""

    rule: str
    language: str
    problem: str
    code: str

    def __str__(self) -> str:
        return f"{self.rule} ({self.language}): {self.problem}: {self.code.strip()!r}"


def run_cases(pack: Pack) -> list[CaseFailure]:
    """Every case of the pack that fails, in the order of its rules."""
    return [failure for rule in pack.rules for failure in _run(Active(pack, rule))]


def _run(active: Active) -> Iterator[CaseFailure]:
    for name, cases in sorted(active.rule.tests.code.items()):
        language = LANGUAGES[name]
        for code in cases.valid:
            if found := _lines(active, language, cases, code):
                yield CaseFailure(active.name, name, f"found in line {found}", code)
        yield from _invalid(active, language, cases)
    for case in active.rule.tests.versions:
        got = outcome_of(active.pack, active.rule, case)
        if got != case.expect:
            told = f"{', '.join(case.declares)} own {', '.join(case.own)}"
            yield CaseFailure(active.name, "versions", f"{got}, expected {case.expect}", told)


def _invalid(active: Active, language: Language, cases: Cases) -> Iterator[CaseFailure]:
    for example in cases.invalid:
        try:
            scan, hits = scanned(active, language, cases.file, example.code)
        except UnreadableError as error:
            yield CaseFailure(active.name, language.name, str(error), example.code)
            continue
        if not hits:
            yield CaseFailure(active.name, language.name, "not found", example.code)
        elif example.fixed is not None:
            fixed = _fixed(scan, hits, example.code)
            if fixed != example.fixed:
                yield CaseFailure(active.name, language.name, f"fixed to {fixed!r}", example.code)


def _lines(active: Active, language: Language, cases: Cases, code: str) -> str:
    """The lines in which the rule finds something; the reason where it cannot look."""
    try:
        _, hits = scanned(active, language, cases.file, code)
    except UnreadableError as error:
        return str(error)
    return ", ".join(str(hit.lines[0]) for hit in hits)


def scanned(
    active: Active, language: Language, name: str | None, code: str
) -> tuple[FileScan, list[Hit]]:
    """The rule's hits in code of which every line is new.

    Raises:
        UnreadableError: for code that the reader of its format refuses.
    """
    source = Source.of(code, language)
    path = name or language.sample
    scan = FileScan(path, source, code.encode(), [active])
    text = "\n".join(resolved(line, language) for line in code.split("\n"))
    if not Prefilter([active]).candidates(text):
        return scan, []
    parsed = reply(guarded(scan.job)) if scan.job else None
    if isinstance(parsed, NotParsed):
        raise UnreadableError(str(parsed))
    return scan, scan.hits(parsed)


def _fixed(scan: FileScan, hits: list[Hit], code: str) -> str:
    lines = code.split("\n")
    for hit in hits:
        number = hit.lines[0]
        change = repaired(scan, hit, number, lines[number - 1])
        if change:
            lines[number - 1] = change[0]
    return "\n".join(lines)


def outcome_of(pack: Pack, rule: Rule, case: VersionCase) -> str:
    """How severe a finding of the rule is in a module of the case's making, or ``none``."""
    own = tuple(_declared(text) for text in case.own)
    inherited = tuple(_declared(text) for text in case.declares)
    module = Module("pom.xml", (case.module,), tuple(sorted((*own, *inherited))), own)
    return severity_of(pack, rule, module, asked_for=False) or "none"


def _declared(text: str) -> Declared:
    group, _, rest = text.partition(":")
    artifact, _, version = rest.partition(":")
    return Declared(group, artifact, version or None, None, Role.DEPENDENCY, "pom.xml", 0)
