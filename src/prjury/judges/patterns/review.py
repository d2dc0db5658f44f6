"""Goes through a pull request's files: which can be read, what the rules find in what it adds."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from prjury.code.languages import Language, language_of
from prjury.code.parser import ALL_SECONDS, NotParsed, Parsed, Parser
from prjury.code.source import MAX_LINE, Source, UnreadableError, decode_text, unescape_java
from prjury.deadline import Deadline
from prjury.judges.patterns.baseline import Known, compute_fingerprints
from prjury.judges.patterns.findings import PatternFinding, find_code, fuse_repairs, propose_repair
from prjury.judges.patterns.match import MARKER, ActiveRule, FileScan, Prefilter
from prjury.judges.patterns.selection import ApplicableRules
from prjury.judges.patterns.suppressions import Suppressions, job_with_probe, take_suppressions
from prjury.jury.judgment import Location
from prjury.ports import Repository
from prjury.snapshot.model import MISSING, FileChange, FileKind, FileStatus, printable

_MISSING = f"its content is {MISSING}"
_NO_RULE = "no rule looks at it"
_BATCH = 100
#: Versions and commits, by which a line differs from the one that a bot has replaced.
_NUMBERS = re.compile(r"\b[0-9a-f]{40}\b|v?\d[\w.+-]*")
_NOT_CODE = frozenset({FileKind.DOCS, FileKind.SYMLINK})


@dataclass
class ScanOutcome:
    """What going through the files has come to; paths are printable.

    The baseline knows the ``prior``; ``upcoming`` are right for the declared version alone.
    """

    findings: list[PatternFinding] = field(default_factory=list)
    silenced: list[PatternFinding] = field(default_factory=list)
    prior: list[PatternFinding] = field(default_factory=list)
    upcoming: list[PatternFinding] = field(default_factory=list)
    stale: list[tuple[Known, int]] = field(default_factory=list)
    unused: list[tuple[str, Location]] = field(default_factory=list)
    candidates: set[str] = field(default_factory=set)
    read: list[str] = field(default_factory=list)
    unread: dict[str, str] = field(default_factory=dict)
    outside: dict[str, str] = field(default_factory=dict)
    crashed: dict[str, NotParsed] = field(default_factory=dict)
    locks: tuple[str, ...] = ()

    def leave_out(self, is_ignored: Callable[[str, str], bool]) -> None:
        """Forget the findings of rules that the policy ignores in their file."""
        for findings in (self.findings, self.silenced, self.upcoming):
            findings[:] = [one for one in findings if not is_ignored(one.name, one.path)]


def admit_code(file: FileChange, outcome: ScanOutcome) -> bool:
    """Return true if rules may look at the file; other readable ones go outside."""
    if file.readable and file.kind in _NOT_CODE:
        outcome.outside[printable(file.path)] = file.kind.value
    return file.readable and file.kind not in _NOT_CODE


def admit_by(file: FileChange, standing: ApplicableRules, outcome: ScanOutcome) -> bool:
    """Return true if a rule that holds looks at the file; other texts go outside."""
    path = printable(file.path)
    language = language_of(path)
    if language and any(map(standing.of, standing.looking(language, file.path))):
        outcome.candidates.add(path)
    elif path not in outcome.candidates and admit_text(file, outcome):
        outcome.outside[path] = _NO_RULE
    return path in outcome.candidates


def admit_text(file: FileChange, outcome: ScanOutcome) -> bool:
    """Return true if its added lines can be looked at; why not goes to the outcome."""
    reason = file.unread
    for line in file.added_lines:
        if "\0" in line.text:
            reason = reason or "not text (NUL bytes)"
        elif len(line.text) > MAX_LINE:
            reason = reason or f"a line above {MAX_LINE} characters"
    if reason:
        outcome.unread[printable(file.path)] = reason
    return reason is None


def _shape_of(line: str) -> str:
    return _NUMBERS.sub("0", line.partition(" #")[0].strip())


@dataclass(frozen=True)
class _Target:
    file: FileChange
    language: Language
    blob: str
    standing: ApplicableRules

    @property
    def added(self) -> str:
        """What the pull request adds to it."""
        return "\n".join(unescape_java(line.text, self.language) for line in self.file.added_lines)

    def rules(self, candidates: Iterable[ActiveRule]) -> tuple[ActiveRule, ...]:
        """Those of the candidates that look at the file and hold for it."""
        looking = (rule for rule in candidates if rule.list_matchers(self.language, self.file.path))
        return tuple(held[0] for active in looking if (held := self.standing.of(active)))


@dataclass(frozen=True)
class PatternScan:
    """The scan of one pull request; of a ``whole`` tree each batch has the parser's time."""

    repository: Repository
    parser: Parser
    standing: Mapping[str, ApplicableRules]
    silencing: bool
    whole: bool = False

    def scan(self, files: Iterable[FileChange], outcome: ScanOutcome, deadline: Deadline) -> None:
        """Looks at every file, and adds what it finds to the outcome."""
        looked_at = list(files)
        targets = [target for file in looked_at if (target := self._target(file))]
        prefilter = self._prefilter()
        until = deadline if self.whole else deadline.within(ALL_SECONDS)
        for start in range(0, len(targets), _BATCH):
            self._scan_targets(targets[start : start + _BATCH], prefilter, outcome, until)
        paths = (printable(file.path) for file in looked_at)
        outcome.read += [path for path in paths if path not in outcome.unread]

    def _scan_targets(
        self, targets: list[_Target], prefilter: Prefilter, outcome: ScanOutcome, deadline: Deadline
    ) -> None:
        contents = self.repository.read(sorted({target.blob for target in targets}))
        scans: list[tuple[_Target, FileScan]] = []
        for target in targets:
            try:
                scan = self._prepare_scan(target, contents.get(target.blob), prefilter)
            except UnreadableError as error:
                if target.rules(prefilter.candidates(target.added)):
                    outcome.unread[printable(target.file.path)] = str(error)
            else:
                scans += [(target, scan)] if scan else []
        self._parse_and_collect(scans, outcome, deadline)

    def _prefilter(self) -> Prefilter:
        standing = {id(each): each for each in self.standing.values()}.values()
        packs = {name: head.pack for each in standing for name, (head, _) in each.outlooks.items()}
        rules = [ActiveRule(pack, rule) for pack in packs.values() for rule in pack.rules]
        return Prefilter(sorted(rules, key=lambda active: active.name))

    def _target(self, file: FileChange) -> _Target | None:
        language = language_of(printable(file.path))
        standing = self.standing[file.path]
        adds = any(True for _ in file.added_lines)
        if language is None or not standing.outlooks or file.new_blob is None or not adds:
            return None
        return _Target(file, language, file.new_blob, standing)

    def _prepare_scan(
        self, target: _Target, content: bytes | None, prefilter: Prefilter
    ) -> FileScan | None:
        """The file with rules whose clues stand in it, also on old lines; None without any."""
        if content is None:
            raise UnreadableError(_MISSING)
        source = Source.of(decode_text(content), target.language)
        marked = self.silencing and MARKER in source.text and MARKER in target.added
        rules = target.rules(prefilter.rules if marked else prefilter.candidates(source.text))
        if not rules and not marked:
            return None
        return FileScan(target.file.path, source, content, rules)

    def _parse_and_collect(
        self, scans: list[tuple[_Target, FileScan]], outcome: ScanOutcome, deadline: Deadline
    ) -> None:
        jobs = [job_with_probe(scan) if self.silencing else scan.job for _, scan in scans]
        replies = iter(self.parser.parse([job for job in jobs if job], deadline))
        for (target, scan), job in zip(scans, jobs, strict=True):
            reply = next(replies) if job else None
            path = printable(target.file.path)
            if isinstance(reply, NotParsed):
                outcome.unread[path] = str(reply)
                if reply.crashed:
                    outcome.crashed[path] = reply
                continue
            try:
                self._collect_findings(target, scan, reply, outcome)
            except UnreadableError as error:
                outcome.unread[path] = str(error)

    def _make_hints_of_old_findings(
        self, target: _Target, scan: FileScan, findings: list[PatternFinding]
    ) -> list[PatternFinding]:
        """Make hints of findings that the line before had too, with other numbers."""
        file = target.file
        lines = [line for hunk in file.hunks for line in hunk.lines if line.sign == "-"]
        removed = {line.old: _shape_of(line.text) for line in lines}
        shapes = set(removed.values())
        if file.old_blob is None or not any(_shape_of(one.text) in shapes for one in findings):
            return findings
        content = self.repository.read([file.old_blob]).get(file.old_blob)
        if content is None:
            return findings
        try:
            old = FileScan(
                scan.path, Source.of(decode_text(content), target.language), content, scan.rules
            )
            # Matchers that need the parser are about code, which no bot edits.
            hits = old.hits(None)
        except UnreadableError:
            return findings
        repeated = {(hit.active.name, removed.get(line)) for hit in hits for line in hit.lines}
        return [
            replace(one, severity="hint", repeated=True)
            if (one.name, _shape_of(one.text)) in repeated
            else one
            for one in findings
        ]

    def _collect_findings(
        self, target: _Target, scan: FileScan, reply: Parsed | None, outcome: ScanOutcome
    ) -> None:
        """The hits that stand on added lines, silenced or not."""
        added = {line.new: line.text for line in target.file.added_lines if line.new}
        parsed, suppressions = reply, Suppressions(())
        if self.silencing:
            parsed, suppressions = take_suppressions(scan, reply)
        hits = scan.hits(parsed)
        file = target.file
        renamed = file.old_path if file.status is FileStatus.RENAMED else None
        # A baseline may know a renamed file by both paths.
        paths = [file.path, *filter(None, [renamed])]
        marks = [compute_fingerprints(path, scan, hits, added) for path in paths]
        own: list[PatternFinding] = []
        for hit, *known_by in zip(hits, *marks, strict=True):
            held = target.standing.of(hit.active)
            if held is None:
                continue
            severity = held[1]
            silencer = suppressions.use_silencers(hit, severity)
            line = hit.line_among(added)
            if line is not None:
                finding = PatternFinding(
                    hit.active,
                    severity,
                    file.path,
                    line,
                    added[line],
                    propose_repair(scan, hit, line, added[line]),
                    code=hit.name or find_code(scan, hit, line, added[line]),
                    replacement=hit.replacement,
                    basis=target.standing.basis(hit.active),
                    fingerprints=tuple(known_by),
                    silencer=silencer,
                    silenced_here=silencer is not None and silencer.line in added,
                )
                into = outcome.upcoming if finding.basis.doubt == "upcoming" else own
                (outcome.silenced if silencer else into).append(finding)
        outcome.findings += fuse_repairs(self._make_hints_of_old_findings(target, scan, own))
        unused = suppressions.list_unused_names_and_lines(added, scan.rules)
        outcome.unused += ((rule, Location(printable(file.path), line)) for rule, line in unused)
