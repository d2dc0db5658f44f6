"""A finding as every rendering shows it: its check, its place at the head, and its rule."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import TypeAlias
from urllib.parse import quote

from markupsafe import Markup
from msgspec import Struct

from prjury.jury.judgment import Check, Location
from prjury.report.findings import Finding, Weight, evidence_beyond
from prjury.report.judge_facts import MergeFacts, PatternFacts, RuleFacts
from prjury.report.model import Dismissal, Report
from prjury.report.sanitise import BY_SHAPE, Redact, redact_text
from prjury.report.text import trust
from prjury.report.wording import SEVERITY_SYMBOLS
from prjury.resources import DOCUMENTATION, pack_texts
from prjury.snapshot.model import FileStatus, PullRequest, printable

_PULL_URL = re.compile(r"(https?://[A-Za-z0-9.-]+(?::\d+)?/[\w.-]+/[\w.-]+)/pull/\d+/?", re.ASCII)
_SHA = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")

#: Forges show these rendered, without line numbers, unless they are asked for the source.
_RENDERED = (".md", ".markdown", ".adoc", ".asciidoc", ".rst", ".org", ".mdx", ".svg")
#: A longer link costs more of a comment than it is worth.
_LONGEST = 600


class Links:
    """Where files of one pull request can be seen; nowhere without the pull request's URL.

    A path in which ``redact`` finds a secret is not linked.
    """

    def __init__(self, pull: PullRequest, redact: Redact = BY_SHAPE) -> None:
        match = _PULL_URL.fullmatch(pull.url or "") if _SHA.fullmatch(pull.head.sha) else None
        self._root, self._head, self._redact = match[1] if match else "", pull.head.sha, redact
        #: The pull request's own page, if its address is one that we know how to write.
        self.pull_url = pull.url if match else None
        self._paths = {printable(file.path): file.path for file in pull.files}
        self._files: dict[str, str | None] = {}

    def to_artifacts(self, run: str | None) -> str | None:
        number = (run or "").partition(".")[0]
        is_linkable = self._root and number.isascii() and number.isdigit()
        return f"{self._root}/actions/runs/{number}#artifacts" if is_linkable else None

    def to(self, place: Location) -> str | None:
        """Return the permalink of a place, percent-encoded and safe in any attribute."""
        if place.path not in self._files:
            self._files[place.path] = self._link_file(place.path)
        file = self._files[place.path]
        url = f"{file}{_write_anchor(place)}" if file else None
        return url if url and len(url) <= _LONGEST else None

    def _link_file(self, shown: str) -> str | None:
        if not self._root or redact_text(shown, self._redact) != shown:
            return None
        path = self._paths.get(shown, shown).encode("utf-8", "surrogateescape")
        return f"{self._root}/blob/{self._head}/{quote(path, safe='/')}"


def _write_anchor(place: Location) -> str:
    if place.line is None:
        return ""
    query = "?plain=1" if place.path.lower().endswith(_RENDERED) else ""
    end = f"-L{place.end_line}" if place.end_line and place.end_line != place.line else ""
    return f"{query}#L{place.line}{end}"


#: Parts under the names by which templates know them.
View: TypeAlias = SimpleNamespace

_INSTEAD = re.compile(r" (?:Write|Use) `[^`]*`\.$")
_NAME = re.compile(r"[a-z0-9-]+", re.ASCII)
_ICONS = {"error": "fail", "warning": "error", "hint": "hint"}
#: The severity that looks like a weight.
_LOOKS = {Weight.MUST_FIX: "error", Weight.SHOULD_LOOK: "warning", Weight.NIT: "hint"}


class FindingView(Struct, frozen=True):
    """One finding."""

    check: Check
    weight: Weight
    tier: str
    judge: str
    #: Eight hex digits for the judge that made it.
    seat: str
    advisory: bool
    #: Where it is at the head, with the path as git stores it; None for one that is about no file
    #: of the head.
    place: Location | None
    url: str | None
    #: None for what the message says already.
    evidence: str | None
    rule: RuleFacts | None
    replaces_line: bool
    #: The comment or baseline that suppresses it.
    suppressed_by: str | None
    dismissed: Dismissal | None
    is_merge: bool


def view_findings(
    report: Report, findings: Sequence[Finding], links: Links
) -> tuple[FindingView, ...]:
    paths = {printable(file.path): file.path for file in report.pull.files}
    gone = frozenset(_list_gone(report.pull))
    rules: dict[int, tuple[PatternFacts, dict[tuple[object, ...], RuleFacts]]] = {}
    views = []
    for finding in findings:
        check, seat, at = finding.check, finding.voice, finding.check.location
        if id(seat.judgment) not in rules:
            facts = PatternFacts.parse(seat.judgment)
            rules[id(seat.judgment)] = facts, _index_rules(facts)
        facts, index = rules[id(seat.judgment)]
        exact = index.get((check.name, at.path, at.line)) if at else None
        place = at and Location(paths.get(at.path, at.path), at.line, at.end_line)
        views.append(
            FindingView(
                check=check,
                weight=finding.weight,
                tier=seat.attempt.name,
                judge=seat.ballot.judge,
                seat=seat.key,
                advisory=seat.attempt.advisory,
                place=place if at and at.path not in gone else None,
                url=links.to(at) if at else None,
                evidence=evidence_beyond(check),
                rule=exact or index.get((check.name,)),
                replaces_line=bool(exact and exact.applicability),
                suppressed_by=facts.find_what_suppressed(check),
                dismissed=finding.dismissal,
                is_merge=bool(MergeFacts.parse(seat.judgment)),
            )
        )
    return tuple(views)


def view_group(number: int, group: Sequence[Finding], views: Mapping[int, FindingView]) -> View:
    findings = [views[id(finding.check)] for finding in group]
    finding = findings[0]
    first = _view_occurrence(finding)
    places = [_view_occurrence(each, first) for each in findings]
    for place in places[1:]:
        if place.evidence == first.evidence:
            place.evidence = None
    evidence = finding.check.evidence or ""
    is_settled, look = finding.dismissed is not None, _LOOKS[finding.weight]
    return View(
        number=number,
        symbol="⚪" if is_settled else SEVERITY_SYMBOLS[look],
        icon=trust("abstain" if is_settled else _ICONS[look]),
        source=join_source(finding.tier, finding.judge),
        word="advice" if finding.advisory else finding.check.severity,
        check=first,
        diff=first.diff,
        rule_url=rule_url(finding.rule.rule) if finding.rule else None,
        count=len(group),
        places=tuple(places) if len(group) > 1 else (),
        dismissed=finding.dismissed,
        whole=finding.is_merge or "\n" in evidence,
    )


def _view_occurrence(finding: FindingView, first: View | None = None) -> View:
    place = view_check(finding.check, finding.url)
    old, new = (finding.check.evidence or "").strip(), (finding.check.fix or "").strip()
    is_diff = finding.replaces_line and old and new and "\n" not in old + new
    place.diff = View(old=old, new=new, text=f"-{old}\n+{new}") if is_diff else None
    if is_diff:
        # The diff says what to write instead.
        place.evidence = place.fix = None
        place.message = place.message and _INSTEAD.sub("", place.message)
    if first and (place.diff or place.message == first.message):
        place.message = None
    if first and place.diff == first.diff:
        place.diff = None
    return place


def view_check(check: Check, url: str | None = None) -> View:
    label = str(check.location) if check.location else None
    return View(
        symbol="✅" if check.passed else SEVERITY_SYMBOLS[check.severity],
        icon=trust("pass" if check.passed else _ICONS[check.severity]),
        word="pass" if check.passed else check.severity,
        name=check.name,
        message=check.message if check.message.strip() else None,
        place=View(label=label, url=trust(url) if url else None) if label else None,
        evidence=evidence_beyond(check),
        fix=check.fix if check.fix and check.fix.strip() not in check.message else None,
    )


def join_source(tier: str, judge: str) -> str:
    return tier if tier == judge else f"{tier} / {judge}"


def rule_url(rule: str) -> Markup | None:
    pack, _, name = rule.partition("/")
    is_shipped = f"{pack}.yml" in pack_texts() and _NAME.fullmatch(name)
    return trust(f"{DOCUMENTATION}/rules/{pack}.md#{name}") if is_shipped else None


def _list_gone(pull: PullRequest) -> Iterator[str]:
    present = {file.path for file in pull.files if file.status is not FileStatus.DELETED}
    for file in pull.files:
        paths = {FileStatus.DELETED: file.path, FileStatus.RENAMED: file.old_path}
        path = paths.get(file.status)
        if path and path not in present:
            yield printable(path)


def _index_rules(facts: PatternFacts) -> dict[tuple[object, ...], RuleFacts]:
    index: dict[tuple[object, ...], RuleFacts] = {}
    for rule in reversed(facts.findings):
        index[rule.rule, rule.path, rule.line] = index[(rule.rule,)] = rule
    return index
