"""Goes through a pull request's files: which can be read, what the rules find in what it adds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from prjury.code.languages import language_of
from prjury.code.parser import NotParsed, Parsed, Parser
from prjury.code.source import MAX_LINE, Source, UnreadableError, decode, resolved
from prjury.deadline import Deadline
from prjury.judges.patterns.findings import Finding, repaired
from prjury.judges.patterns.match import Active, FileScan, Hit
from prjury.judges.patterns.prefilter import Prefilter
from prjury.judges.patterns.selection import Standing
from prjury.judges.patterns.suppressions import MARKER, Suppressions
from prjury.ports import Repository
from prjury.pull.model import FileChange, FileKind, printable

_MISSING = "its content is missing from this clone"
_NO_RULE = "no rule looks at it"
_NOT_CODE = frozenset({FileKind.DOCS, FileKind.SYMLINK})


@dataclass(frozen=True)
class Unused:
    """A comment that silences nothing."""

    rule: str
    path: str
    line: int


@dataclass
class Outcome:
    """What going through the files has come to; paths are printable.

    Attributes:
        silenced: findings that a comment of the pull request's tree silences.
        asked: the files of which a rule could say something, read or not.
        outside: readable files of which no rule could, such as documentation.
        unused: comments in added lines that silence nothing.
        crashed: why the parser gave no answer for some file, by path; never a hostile file's
            timeout, which only leaves that file unread.
    """

    findings: list[Finding] = field(default_factory=list)
    silenced: list[Finding] = field(default_factory=list)
    unused: list[Unused] = field(default_factory=list)
    asked: set[str] = field(default_factory=set)
    read: list[str] = field(default_factory=list)
    unread: dict[str, str] = field(default_factory=dict)
    outside: dict[str, str] = field(default_factory=dict)
    crashed: dict[str, NotParsed] = field(default_factory=dict)


def is_code(file: FileChange, outcome: Outcome) -> bool:
    """Whether rules could say anything about the file; readable ones that are not go outside."""
    if file.readable and file.kind in _NOT_CODE:
        outcome.outside[printable(file.path)] = file.kind.value
    return file.readable and file.kind not in _NOT_CODE


def is_asked(file: FileChange, standing: Standing, outcome: Outcome) -> bool:
    """Whether one of the rules that hold looks at the file; others go outside if they are text."""
    path = printable(file.path)
    language = language_of(path)
    rules = [active for active, _ in standing.values()]
    if language and any(active.matches(language, file.path) for active in rules):
        outcome.asked.add(path)
    elif path not in outcome.asked and is_sound(file, outcome):
        outcome.outside[path] = _NO_RULE
    return path in outcome.asked


def is_sound(file: FileChange, outcome: Outcome) -> bool:
    """Whether its added lines can be looked at; why not goes to the outcome."""
    reason = file.unread
    for line in file.added_lines:
        if "\0" in line.text:
            reason = reason or "not text (NUL bytes)"
        elif len(line.text) > MAX_LINE:
            reason = reason or f"a line above {MAX_LINE} characters"
    if reason:
        outcome.unread[printable(file.path)] = reason
    return reason is None


@dataclass(frozen=True)
class _Target:
    """A file in which a literal stands, and the rules to run over it."""

    file: FileChange
    blob: str
    standing: Standing
    rules: tuple[Active, ...]


@dataclass(frozen=True)
class Review:
    """The scan of one pull request.

    Attributes:
        standing: the rules that hold for each file, by its path.
    """

    repository: Repository
    parser: Parser
    standing: Mapping[str, Standing]
    suppressions: bool

    def run(self, files: Iterable[FileChange], outcome: Outcome, deadline: Deadline) -> None:
        """Looks at every file, and adds what it finds to the outcome."""
        looked_at = list(files)
        targets = self._targets(looked_at)
        contents = self.repository.read(sorted({t.blob for t in targets})) if targets else {}
        scans: list[tuple[_Target, FileScan]] = []
        for target in targets:
            try:
                scans.append((target, _scan(target, contents.get(target.blob))))
            except UnreadableError as error:
                outcome.unread[printable(target.file.path)] = str(error)
        self._judge(scans, outcome, deadline)
        paths = (printable(file.path) for file in looked_at)
        outcome.read += [path for path in paths if path not in outcome.unread]

    def _targets(self, files: list[FileChange]) -> list[_Target]:
        rules = {
            name: active
            for standing in self.standing.values()
            for name, (active, _) in standing.items()
        }
        prefilter = Prefilter([rules[name] for name in sorted(rules)])
        found = (self._target(file, prefilter) for file in files)
        return [target for target in found if target]

    def _target(self, file: FileChange, prefilter: Prefilter) -> _Target | None:
        language = language_of(printable(file.path))
        standing = self.standing[file.path]
        if language is None or not standing or file.new_blob is None:
            return None
        added = "\n".join(resolved(line.text, language) for line in file.added_lines)
        marked = self.suppressions and MARKER in added
        candidates = prefilter.rules if marked else prefilter.candidates(added)
        rules = tuple(
            active
            for active in candidates
            if active.name in standing and active.matches(language, file.path)
        )
        return _Target(file, file.new_blob, standing, rules) if rules or marked else None

    def _judge(
        self, scans: list[tuple[_Target, FileScan]], outcome: Outcome, deadline: Deadline
    ) -> None:
        jobs = [scan.job for _, scan in scans]
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
                self._collect(target, scan, reply, outcome)
            except UnreadableError as error:
                outcome.unread[path] = str(error)

    def _collect(
        self, target: _Target, scan: FileScan, parsed: Parsed | None, outcome: Outcome
    ) -> None:
        added = {line.new: line.text for line in target.file.added_lines if line.new}
        path = printable(target.file.path)
        directives = Suppressions.of(scan, parsed) if self.suppressions else Suppressions()
        remaining, silenced = directives.split(scan.hits(parsed))
        outcome.findings += _findings(target, scan, remaining, added)
        outcome.silenced += _findings(target, scan, silenced, added)
        for directive in directives.unused(added, scan.rules):
            outcome.unused.append(Unused(directive.rule, path, directive.line))


def _findings(
    target: _Target, scan: FileScan, hits: Iterable[Hit], added: Mapping[int, str]
) -> Iterator[Finding]:
    """The hits that stand on added lines."""
    for hit in hits:
        line = hit.line_among(added)
        if line is not None:
            severity = target.standing[hit.active.name][1]
            fixed = repaired(scan, hit, line, added[line])
            yield Finding(hit.active, severity, target.file.path, line, added[line], fixed)


def _scan(target: _Target, content: bytes | None) -> FileScan:
    if content is None:
        raise UnreadableError(_MISSING)
    path = target.file.path
    language = language_of(printable(path))
    if language is None:
        raise UnreadableError("not a known language")
    return FileScan(path, Source.of(decode(content), language), content, target.rules)
