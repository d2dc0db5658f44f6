"""From a verdict to a report: coverage measured, floor held, gate decided, first line written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct

from prjury.jury.gate import Gate, GatePolicy, err_below_coverage_floor, gate, lower_unread_pass
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Status
from prjury.jury.verdicts import TierAttempt, Verdict
from prjury.jury.voting import Ballot
from prjury.report.headline import OVERRIDDEN, headline
from prjury.report.judge_facts import (
    FAILURES_IGNORED,
    NO_COMPARISON,
    TESTS_VANISHED,
    BuildFacts,
    LeftOut,
    MergeFacts,
    ScopeFacts,
)
from prjury.report.model import (
    OVERRIDE_COMMAND,
    Backport,
    Cost,
    Coverage,
    NotChecked,
    Override,
    PolicyOrigin,
    Recovery,
    Report,
    Sandbox,
    SkippedJudge,
    TierReport,
)
from prjury.snapshot.kinds import is_inert
from prjury.snapshot.model import FileChange, FileKind, PullRequest, printable

_REASONS = {
    FileKind.LOCK: "lock file",
    FileKind.BINARY: "binary file",
    FileKind.SUBMODULE: "submodule",
}
_EXEMPT = ", unless the base's policy names it under `coverage.exempt`"
_NOBODY = "no judge read it"
_OUTSIDE = "no judge looks at files of this kind"
_UNTRIED = "not built, and no judge says that it read it"
_ASKED = {TESTS_VANISHED, FAILURES_IGNORED, NO_COMPARISON}
_RAN = frozenset({Status.PASS, Status.FAIL})


#: Where a file stands: whether its lines count, and why it is not judged, if so.
_CountedAndWhyUnread: TypeAlias = tuple[bool, str | None]


class _DeclaredFiles(Struct, frozen=True):
    """What the judges of the blocking, or of the advisory, tiers say of files."""

    read: frozenset[str]
    unread: Mapping[str, str]
    #: The part of it that a deterministic judge says.
    firm: Mapping[str, str]
    outside: frozenset[str]
    #: Whether a judge declares anything but files that are outside its business.
    narrow: bool

    def place(self, path: str) -> _CountedAndWhyUnread | None:
        reason = self.firm.get(path) or (None if path in self.read else self.unread.get(path))
        return (True, reason) if reason or path in self.read else None

    @classmethod
    def of(cls, ballots: Iterable[Ballot]) -> _DeclaredFiles:
        """Read the declarations; what is malformed claims nothing."""
        declared = [(b.type, scope) for b in ballots if (scope := ScopeFacts.parse(b.judgment))]
        scopes = [scope for _, scope in declared]
        firm = [scope for kind, scope in declared if kind is JudgeType.DETERMINISTIC]
        return cls(
            read=frozenset(path for scope in scopes for path in scope.read),
            unread=_reasons(entry for scope in scopes for entry in scope.unread),
            firm=_reasons(entry for scope in firm for entry in scope.unread),
            outside=frozenset(one.path for scope in scopes for one in scope.outside or ()),
            narrow=any(not scope.outside or scope.read or scope.unread for scope in scopes),
        )


def _reasons(entries: Iterable[LeftOut]) -> dict[str, str]:
    reasons: dict[str, str] = {}
    for entry in entries:
        reasons.setdefault(entry.path, entry.reason)
    return reasons


class _Scope(Struct, frozen=True):
    """What all judges together have read, and why not the rest."""

    blocking: _DeclaredFiles
    advisory: _DeclaredFiles
    built: bool
    unbuilt: Mapping[str, _CountedAndWhyUnread]
    unparsed: Mapping[str, str]

    @property
    def kind(self) -> Literal["lines", "tree"]:
        """An advisory judge that has read nothing changes nothing."""
        return "lines" if self.blocking.narrow or self.advisory.read else "tree"

    def explain_unjudged(self, file: FileChange) -> _CountedAndWhyUnread:
        path = printable(file.path)
        if file.exempt or not file.readable:
            is_parsed = file.kind is FileKind.LOCK and path in self.blocking.read
            if is_parsed and not file.exempt:
                return True, None
            return False, file.exempt or _why_opaque(file)
        if path in self.unparsed:
            return True, self.unparsed[path]
        if self.kind == "tree":
            reason = file.unread or (None if self.built else _UNTRIED)
            place = self.unbuilt.get(path) if self.built and not reason else None
            return place or (self.built, reason)
        advised = self.advisory.place(path)
        place = self.blocking.place(path)
        if place or advised == (True, None):
            return place or (True, None)
        reason = advised[1] if advised else file.unread
        if path in self.blocking.outside | self.advisory.outside:
            return False, reason or _OUTSIDE
        is_empty = not file.additions and not file.unread
        return True, None if is_empty else reason or _NOBODY


def measure_coverage(pull: PullRequest, attempts: Sequence[TierAttempt]) -> Coverage:
    scope = _read_scope(attempts)
    places = [(file, *scope.explain_unjudged(file)) for file in pull.files]
    not_checked = [(printable(file.path), why) for file, _, why in places if why]
    return Coverage(
        scope=scope.kind,
        files_total=len(places),
        files_judged=len(places) - len(not_checked),
        added_lines_total=sum(file.additions for file, counts, _ in places if counts),
        added_lines_judged=sum(
            file.additions for file, counts, why in places if counts and not why
        ),
        not_checked=tuple(NotChecked(*entry) for entry in not_checked),
        unread_content=tuple(printable(file.path) for file in pull.files if _is_opaque(file)),
    )


def _why_opaque(file: FileChange) -> str:
    reason = _REASONS[file.kind]
    return f"{reason}, which only a human can judge{_EXEMPT}" if _is_opaque(file) else reason


def _is_opaque(file: FileChange) -> bool:
    """Return true if the change brings content that may be executed and nobody can read."""
    opaque = file.kind is FileKind.SUBMODULE or (
        file.kind is FileKind.BINARY and not is_inert(printable(file.path))
    )
    changed = file.new_blob is not None and file.new_blob != file.old_blob
    return opaque and changed and not file.exempt


def _read_scope(attempts: Sequence[TierAttempt]) -> _Scope:
    blocking = [ballot for a in attempts if not a.advisory for ballot in _ballots(a)]
    advisory = [ballot for a in attempts if a.advisory for ballot in _ballots(a)]
    judgments = [ballot.judgment for ballot in (*blocking, *advisory)]
    # The tree was built also where less ran than on the base.
    built = [one for one in judgments if one.status in _RAN or one.label in _ASKED]
    ran = [build for one in built if (build := BuildFacts.parse(one))]
    return _Scope(
        _DeclaredFiles.of(blocking),
        _DeclaredFiles.of(advisory),
        built=bool(ran),
        unbuilt={it.path: (it.counts, it.reason) for build in ran for it in build.unbuilt or ()},
        unparsed=_reasons(
            one for each in judgments if (merge := MergeFacts.parse(each)) for one in merge.unparsed
        ),
    )


def _ballots(attempt: TierAttempt) -> Sequence[Ballot]:
    return attempt.verdict.ballots if attempt.verdict else ()


def assemble(  # noqa: PLR0913 - each argument is one part of the report
    pull: PullRequest,
    verdict: Verdict,
    *,
    skipped: Mapping[str, Sequence[SkippedJudge]],
    policy: PolicyOrigin,
    sandbox: Sandbox,
    version: str,
    backports: Sequence[Backport] = (),
    cost: Cost | None = None,
    elapsed_ms: int = 0,
    notes: Sequence[str] = (),
    override: Override | None = None,
    recovery: Recovery | None = None,
    answers_commands: bool = True,
) -> Report:
    coverage, gate_policy = measure_coverage(pull, verdict.attempts), gate_policy_of(policy)
    held = hold(verdict, coverage, gate_policy)
    closed = gate(held, gate_policy)
    line = headline(pull, held, closed, coverage)
    override = None if closed is Gate.SUCCESS else override
    first = [recovery.outcome_sentence] if recovery else []
    if override:
        line = f"{OVERRIDDEN} by @{override.by}: {line}"
        words = f"@{override.by} opened the gate with {OVERRIDE_COMMAND}, for commit "
        words += f"{pull.head.sha[:12]} only"
        first.append(f"{words}: {override.reason}" if override.reason else words)
    return Report(
        pull=pull,
        verdict=held,
        gate=Gate.SUCCESS if override else closed,
        headline=line,
        tiers=tuple(TierReport(one, tuple(skipped.get(one.name, ()))) for one in held.attempts),
        coverage=coverage,
        policy=policy,
        sandbox=sandbox,
        version=version,
        backports=tuple(backports),
        cost=cost or Cost(),
        elapsed_ms=elapsed_ms,
        notes=tuple(dict.fromkeys((*pull.notes, *first, *notes))),
        override=override,
        recovery=recovery,
        answers_commands=answers_commands,
    )


def hold(verdict: Verdict, coverage: Coverage, policy: GatePolicy) -> Verdict:
    """The verdict held to what was read, which only matters where something was judged."""
    if not any(attempt.ran for attempt in verdict.attempts):
        return verdict
    judged, total = coverage.added_lines_judged, coverage.added_lines_total
    held = err_below_coverage_floor(verdict, judged, total, policy.coverage_floor)
    return lower_unread_pass(held, coverage.unread_content)


def gate_policy_of(policy: PolicyOrigin) -> GatePolicy:
    section = policy.resolved.get("gate")
    recorded = section if isinstance(section, Mapping) else {}
    default = GatePolicy()
    block_on = recorded.get("block_on", default.block_on)
    return GatePolicy(
        block_on=frozenset(Status(str(status)) for status in block_on),
        not_configured=recorded.get("not_configured", default.not_configured),
        coverage_floor=float(recorded.get("coverage_floor", default.coverage_floor)),
    )
