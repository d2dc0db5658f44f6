"""What became of builds, as values that are their own JSON: the evidence, which holds no verdict.

What is read is bounded, of exactly the known form, and of counts that can be true.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeAlias, TypeVar

import msgspec
from msgspec import Meta, Struct, field
from msgspec.structs import replace

from prjury.errors import CannotJudgeError
from prjury.judges.builds.failure import Count, Failure, Line, Results, Text, inside_tree
from prjury.judges.builds.plan import BuildPlan
from prjury.judges.builds.results.report_files import Listing, Stamp, find_reports, load_reports
from prjury.judges.builds.results.tree import TemporaryPaths
from prjury.judges.context import PullRequestContext
from prjury.policy.tiers import BuildOptions
from prjury.report.sanitise import Redact, redact_text, show_surrogates
from prjury.snapshot.exempt import matches
from prjury.snapshot.model import visible

SCHEMA_NAME: Final = "prjury/build-evidence/v2"

#: Brackets in the whole file; a small file of nothing else would take gigabytes of memory.
_MOST_PARTS = 4_000_000
_LONGEST_PROBLEM = 200
#: pytest's exit code where it collects nothing.
_NO_TESTS_COLLECTED = 5
#: Bytes of a kept report; those of large projects stay below it.
LARGEST_REPORT = 20 * 1024**2

Sha: TypeAlias = Annotated[str, Meta(pattern=r"\A(?:[0-9a-f]{40}|[0-9a-f]{64})\Z")]
Word: TypeAlias = Annotated[str, Meta(pattern=r"\A[a-z_]{1,40}\Z")]
Seconds: TypeAlias = Annotated[float, Meta(ge=0.0, le=1e9)]


class StepRun(Struct, frozen=True, forbid_unknown_fields=True):
    """A command that was run, and how it ended: by a limit, or a signal (minus its number)."""

    name: Word
    command: Text
    exit_code: Annotated[int, Meta(ge=-1_000, le=2**32)] | None
    stopped: Word | None = None
    seconds: Seconds = 0.0
    tail: Text = ""
    log: Line = ""
    may_fail: bool = False

    @property
    def good(self) -> bool:
        """It ended by itself, and not with another exit code than 0."""
        return not self.exit_code and self.stopped is None

    @property
    def collects_nothing(self) -> bool:
        """It ended as pytest does where there is no test."""
        return self.exit_code == _NO_TESTS_COLLECTED and "no tests ran in " in self.tail


class TreeRun(Struct, frozen=True, forbid_unknown_fields=True):
    """What became of a plan on one tree: the steps that ran, and the causes that could be read."""

    steps: Annotated[tuple[StepRun, ...], Meta(min_length=1)]
    allowed: Seconds = 0.0
    failures: tuple[Failure, ...] = ()
    results: Results = Results()

    @property
    def failed_steps(self) -> tuple[StepRun, ...]:
        return tuple(step for step in self.steps if not (step.good or step.may_fail))

    @property
    def deciding_step(self) -> StepRun:
        """The worst that failed, else the last one that has to succeed."""
        if not self.failed_steps:
            counting = [step for step in self.steps if not step.may_fail]
            return (counting or self.steps)[-1]

        def rank(step: StepRun) -> tuple[bool, bool, bool]:
            return step.stopped is not None, (step.exit_code or 0) < 0, step.name != "test"

        return max(self.failed_steps, key=rank)

    @property
    def seconds(self) -> float:
        return sum(step.seconds for step in self.steps)

    @property
    def failed(self) -> bool:
        """A step failed, or a report holds a failing test."""
        return not self.deciding_step.good or bool(self.results.failures)

    @property
    def ended(self) -> bool:
        """Its last step came to an end by itself: no limit and no signal ended it."""
        return self.deciding_step.stopped is None and (self.deciding_step.exit_code or 0) >= 0

    @property
    def tested(self) -> bool:
        """A test ran, as far as is known."""
        return self.results.run > 0 or any(one.kind == "test" for one in self.failures)

    def find_passing(self, failed: Sequence[Failure]) -> tuple[Failure, ...]:
        """Those of the failed tests that pass here; a missing result is no pass."""
        failing, ran = {failure.id for failure in self.failures}, frozenset(self.results.ran)
        tests = (failure for failure in failed if failure.kind == "test")
        return tuple(one for one in tests if one.id in ran and one.id not in failing)

    def ends_like(self, other: TreeRun) -> bool:
        """The other failed too, and each step that failed here ended there in the same way."""
        return other.failed and self._ends <= other._ends

    @property
    def _ends(self) -> set[tuple[str, int | None, str | None]]:
        steps = self.failed_steps or (self.deciding_step,)
        return {(step.command, step.exit_code, step.stopped) for step in steps}


class Run(Struct, frozen=True, forbid_unknown_fields=True):
    """What became of a plan on the merged tree, on the base or an earlier `base_commit` of it.

    The base is `disturbed` if it failed after the head, and had passed before. `history` counts
    bases on which a test failed, and all; reports are packed, None for one that is unreadable.
    """

    head: TreeRun
    base: TreeRun | None = None
    base_commit: Line = ""
    base_kept: bool = False
    base_unknown: Line = ""
    disturbed: bool = False
    base_test_files: Count = 0
    retry: TreeRun | None = field(default=None, name="again")
    whole: bool = False
    history: dict[Line, tuple[Count, Count]] = {}
    versions: dict[Line, Line] = {}
    withheld: tuple[Line, ...] = ()
    reports: dict[Line, bytes | None] = field(default_factory=dict, name="kept")
    reports_of_base: dict[Line, bytes | None] = field(default_factory=dict, name="kept_of_base")


class Refusal(Struct, frozen=True, forbid_unknown_fields=True):
    """Why a build could not be tried."""

    reason: Word
    message: Annotated[str, Meta(min_length=1, max_length=10_000)]


class BuildRecord(Struct, frozen=True, forbid_unknown_fields=True):
    """One build, and what became of it, or why nothing did."""

    system: Line
    directory: Line
    command: Text
    run: Run | None = None
    error: Refusal | None = None

    def __post_init__(self) -> None:
        if (self.run is None) is (self.error is None):
            raise ValueError("a build has either a run or an error")

    @property
    def key(self) -> tuple[str, str, str]:
        return self.system, self.directory, self.command


class BuildSandbox(Struct, frozen=True, forbid_unknown_fields=True):
    """The walls around builds."""

    level: Literal["L0", "L1", "L2"]


class BuildEvidence(Struct, frozen=True, forbid_unknown_fields=True):
    """The whole file; `commands` are what the policy runs besides builds."""

    schema: Literal["prjury/build-evidence/v2"]
    version: Line
    base: Sha
    head: Sha
    merged_tree: Sha | None
    sandbox: BuildSandbox
    builds: tuple[BuildRecord, ...]
    commands: tuple[BuildRecord, ...] = ()

    def __post_init__(self) -> None:
        for records in (self.builds, self.commands):
            if len({record.key for record in records}) != len(records):
                raise ValueError("the same build is recorded twice")


def read_evidence(content: bytes) -> BuildEvidence:
    """Read the evidence in a file; CannotJudgeError (``evidence_invalid``) for anything else."""
    if content.count(b"[") + content.count(b"{") > _MOST_PARTS:
        raise make_evidence_error(f"it has more than {_MOST_PARTS} parts")
    try:
        evidence = msgspec.json.decode(content, type=BuildEvidence)
        for record in (*evidence.builds, *evidence.commands):
            run = record.run
            for tree_run in (run.head, run.base, run.retry) if run else ():
                if tree_run:
                    validate_run(tree_run)
    except (ValueError, RecursionError, msgspec.MsgspecError) as error:
        raise make_evidence_error(str(error)) from error
    return evidence


def make_evidence_error(why: str) -> CannotJudgeError:
    """The error for evidence that cannot be what a build has left behind."""
    return CannotJudgeError(
        f"the evidence of the build is refused: {visible(why[:_LONGEST_PROBLEM])}",
        why="it was damaged or made up, or another version of prjury wrote it",
        remedy="build again with `prjury build`, in the same version",
        reason="evidence_invalid",
    )


def validate_run(run: TreeRun) -> None:
    """Refuse counts that contradict each other, places outside of the tree, and excuses."""
    results, tests = run.results, run.results.tests
    listed = sum(failure.kind == "test" for failure in run.failures)
    failed = sum(failure.kind == "test" for failure in results.failures)
    skipped_of = tests if results.files and not results.counted else results.skipped
    for count, most, what in (
        (len(results.ran), tests, "tests ran"),
        (results.skipped, skipped_of, "tests were skipped"),
        (sum(results.by_runner.values()), tests, "tests are named by runners"),
        (failed, listed, "failing tests of reports are listed"),
    ):
        if count > most:
            raise ValueError(f"{count} of {most} {what}")
    attempts = frozenset(results.flaky)
    for failure in (*run.failures, *results.failures, *results.flaky):
        if failure.path and inside_tree(failure.path) != failure.path:
            raise ValueError(f"a failure is outside of the tree, at {failure.path}")
        if failure.state != ("flaky" if failure in attempts else "new"):
            raise ValueError(f"a failure is excused as {failure.state}")


def refuse_other_steps(run: TreeRun, plan: BuildPlan) -> None:
    """Refuse a run of other steps than the plan's, or one that passed without all of them."""
    ran = [(step.name, step.command, step.may_fail) for step in run.steps]
    planned = [(step.name, step.text, step.may_fail) for step in plan.steps]
    if ran != planned[: len(ran)] or (len(ran) < len(planned) and not run.failed):
        raise ValueError(f"its steps are not the plan's `{visible(plan.text)}`")


_Value = TypeVar("_Value")


def redact_and_clean(value: _Value, redact: Redact) -> _Value:
    """The value with all its texts cleaned: of secrets, and of what JSON cannot hold."""

    def clean_text(text: str) -> str:
        return redact_text(show_surrogates(text), redact)

    def clean_part(part: Any) -> Any:  # noqa: ANN401 - any part of a value
        if isinstance(part, str):
            return clean_text(part)
        if isinstance(part, Struct):
            fields = {name: clean_part(getattr(part, name)) for name in part.__struct_fields__}
            return replace(part, **fields)
        if isinstance(part, bytes):
            return pack_report(clean_text(unpack_report(part).decode("utf-8", "replace")).encode())
        if isinstance(part, tuple | list | frozenset | set):
            return type(part)(map(clean_part, part))
        if isinstance(part, Mapping):
            return {clean_part(name): clean_part(entry) for name, entry in part.items()}
        return part

    return clean_part(value)  # type: ignore[no-any-return]


#: A plan that was tried, and what became of it.
Outcome: TypeAlias = tuple[BuildPlan, Run | CannotJudgeError]


def record_build(outcome: Outcome, redact: Redact) -> BuildRecord:
    """Record what became of a plan. What identifies the build stays as it is."""
    plan, run = outcome
    if isinstance(run, CannotJudgeError):
        message = redact_and_clean(str(run), redact)[:10_000] or run.reason
        return BuildRecord(*plan.key, error=Refusal(run.reason, message))
    return BuildRecord(*plan.key, run=redact_and_clean(run, redact))


def pack_report(content: bytes) -> bytes:
    return zlib.compress(content)


def unpack_report(packed: bytes) -> bytes:
    """A report of a run; a ValueError for anything but one of bounded size."""
    unpacking = zlib.decompressobj()
    try:
        content = unpacking.decompress(packed, LARGEST_REPORT)
    except zlib.error as error:
        raise ValueError(f"a kept report is damaged: {error}") from error
    if not unpacking.eof:
        raise ValueError("a kept report is damaged or too large")
    return content


#: Files of one run.
_MOST = 200


class KeptReports(Struct):
    """The reports of this review by their paths in the tree; None for one that is unreadable."""

    files: dict[str, bytes | None] = {}
    base: dict[str, bytes | None] = {}

    @classmethod
    def of(cls, context: PullRequestContext) -> KeptReports:
        """The reports that the judges of this context share."""
        return context.once.get("kept reports", cls)

    def take_chosen_reports(self, run: Run, options: BuildOptions) -> None:
        """Take the reports of a build that the policy asks for."""
        head = self.files, run.reports, options.keep
        base = self.base, run.reports_of_base, options.keep_of_base
        for files, packed, globs in (head, base):
            for path, content in packed.items():
                if any(matches(path, glob) for glob in globs):
                    files[path] = None if content is None else unpack_report(content)

    @property
    def of_base(self) -> KeptReports:
        return KeptReports(self.base)

    def write_required(self, glob: str, directory: Path) -> Mapping[str, Path]:
        """Write the reports that a glob names below a directory, or raise CannotJudgeError."""
        files = {path: text for path, text in self.files.items() if matches(path, glob)}
        if not files:
            raise CannotJudgeError(
                f"nothing that ran has left a report at {visible(glob)}",
                why="The build did not get that far, writes its reports elsewhere, or is not run",
                remedy="Have a build or command of an earlier tier write it, or correct the path",
                reason="report_missing",
            )
        written: dict[str, Path] = {}
        for path, content in files.items():
            if content is None:
                raise CannotJudgeError(
                    f"the report {visible(path)} could not be kept",
                    why="It is too large, a link, or older than the run",
                    remedy="Have it written by the run, in parts of at most 20 MiB",
                    reason="report_invalid",
                )
            written[path] = directory / path
            written[path].parent.mkdir(parents=True, exist_ok=True)
            written[path].write_bytes(content)
        return written


def pack_chosen_reports(
    places: TemporaryPaths, globs: Sequence[str], earlier: Mapping[Path, Stamp], since: float
) -> Mapping[str, bytes | None]:
    """Pack the reports that a run has left in its tree; None for one that is unreadable."""
    if not globs:
        return {}
    names = dict[Path, str]()
    for path in find_reports(places.tree, places.reports, earlier, since, globs).files:
        inside = path.is_relative_to(places.tree)
        name = path.relative_to(places.tree).as_posix() if inside else ""
        if any(matches(name, glob) for glob in globs) and len(names) < _MOST:
            names[path] = name
    reports = dict[str, bytes | None]()
    loaded = load_reports(Listing([*names], since=since), places.make_paths_relative)
    for name, (_, content) in zip(names.values(), loaded, strict=True):
        text = places.make_paths_relative((content or b"").decode("utf-8", "surrogateescape"))
        packed = pack_report(text.encode("utf-8", "surrogateescape"))
        reports[name] = None if content is None else packed
    return reports
