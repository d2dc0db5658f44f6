"""The sentence: a pull request is photographed, a cascade of juries looks at it, a report is made.

The only place that wires things together: which door leads where is decided here and nowhere else.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version as installed_version
from pathlib import Path

from prjury.config.load import POLICY_PATH, Policy, default_policy, read_policy
from prjury.config.schema import Config
from prjury.errors import ConfigError, SourceError
from prjury.judges.backport import try_backport
from prjury.judges.context import PullRequestContext
from prjury.jury.cascade import Verdict
from prjury.jury.gate import GatePolicy
from prjury.jury.judgment import Status
from prjury.models.choose import choose
from prjury.ports import ChatModel, Deadline, Doors, Progress, Publisher, TreeEntry
from prjury.publishers.progress import SilentProgress
from prjury.pull.model import PullRequest, printable
from prjury.registry import Seating, Unwanted, seat
from prjury.report.assemble import assemble
from prjury.report.model import Backport, Cost, PolicyOrigin, Report, Sandbox
from prjury.sources.git.store import Store
from prjury.sources.pulls import NothingToReview, Photo, Wanted, photographed
from prjury.sources.shell import ContainedShell

_REGULAR_FILES = frozenset({"100644", "100755"})


@dataclass(frozen=True)
class ReviewRequest:
    """What the operator asks for.

    Attributes:
        wanted: which pull request.
        config: a policy file of the operator's own; without it the base commit's is in force.
        build: whether builds may run.
        models: whether model-backed judges may be asked.
        model: a model by name, ``provider:name``.
        offline: no network at all.
        timeout: seconds for all judges together; the policy's ``limits.wall`` if None.
        backport_to: branches beyond those that the policy names.
    """

    wanted: Wanted = Wanted()
    config: Path | None = None
    build: bool = True
    models: bool = True
    model: str | None = None
    offline: bool = False
    timeout: float | None = None
    backport_to: tuple[str, ...] = ()


@dataclass(frozen=True)
class Surroundings:
    """What a run finds around it: the operator's environment and a place to tell of progress."""

    environ: Mapping[str, str] = field(default_factory=dict)
    progress: Progress = field(default_factory=SilentProgress)


def run(
    request: ReviewRequest, surroundings: Surroundings, publishers: Iterable[Publisher] = ()
) -> Report | NothingToReview:
    """Event -> PullRequest -> cascade -> Verdict -> Report -> publishers.

    Raises:
        PrJuryError: with the exit code that says whose fault it is.
    """
    started = time.monotonic()
    with photographed(request.wanted) as photo:
        if isinstance(photo, NothingToReview):
            return photo
        policy = policy_in_force(request, photo)
        doors = _doors(request, surroundings, policy.config, photo.store)
        seating = seat(policy.config, doors, _unwanted(request))
        verdict = _vote(request, policy.config, photo.pull, seating, doors.progress)
        backports = _backports(request, policy.config, photo)
    report = _report(photo.pull, policy, seating, verdict, backports, doors, started)
    publish(report, publishers)
    return report


def publish(report: Report, publishers: Iterable[Publisher]) -> None:
    """Hangs the report up everywhere, in order."""
    for publisher in publishers:
        publisher.publish(report)


def policy_in_force(request: ReviewRequest, photo: Photo) -> Policy:
    """The operator's own file if one is named, else the base commit's, else the default.

    Raises:
        ConfigError: when the file is wrong or not a regular file.
    """
    if request.config:
        return read_policy(
            _text_of(request.config), f"file:{request.config}", shown=str(request.config)
        )
    base = photo.pull.base
    entry = _entry(photo.store, base.sha)
    if entry is None:
        return default_policy()
    shown = f"{POLICY_PATH} of {printable(base.ref)}"
    if entry.mode not in _REGULAR_FILES:
        raise ConfigError(f"{shown} is not a regular file", reason="config_not_regular_file")
    content = photo.store.read([entry.blob])[entry.blob]
    if content is None:
        raise SourceError(f"{shown} is missing from this partial clone", reason="object_missing")
    text = _decoded(content, shown)
    return read_policy(text, f"base:{base.sha}:{POLICY_PATH}", shown=shown)


def _entry(store: Store, commit: str) -> TreeEntry | None:
    return next((entry for entry in store.files(commit) if entry.path == POLICY_PATH), None)


def _text_of(file: Path) -> str:
    try:
        return _decoded(file.read_bytes(), str(file))
    except OSError as error:
        raise ConfigError(
            f"the configuration {file} cannot be read: {error.strerror}",
            remedy="Check the path given with --config",
        ) from error


def _decoded(content: bytes, shown: str) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{shown} is not UTF-8 text") from error


def _doors(
    request: ReviewRequest, surroundings: Surroundings, config: Config, store: Store
) -> Doors:
    sandbox = config.sandbox
    shell = ContainedShell(
        surroundings.environ, extra_env=sandbox.env, level=sandbox.level, network=sandbox.network
    )
    model = choose(config.models, request.model, surroundings.environ, offline=request.offline)
    return Doors(store, shell, surroundings.progress, model)


def _unwanted(request: ReviewRequest) -> Unwanted:
    builds = {} if request.build else {"build": "--no-build"}
    return Unwanted(builds, None if request.models else "--no-llm")


def _vote(
    request: ReviewRequest,
    config: Config,
    pull: PullRequest,
    seating: Seating,
    progress: Progress,
) -> Verdict:
    seconds = request.timeout or config.limits.wall
    goal = f"merge {printable(pull.head.ref)} into {printable(pull.base.ref)}"
    context = PullRequestContext(goal, pull=pull, deadline=Deadline.after(seconds))
    return seating.cascade.vote(context, timeout=seconds, listener=progress)


def _backports(request: ReviewRequest, config: Config, photo: Photo) -> tuple[Backport, ...]:
    named = config.backport.branches
    branches = dict.fromkeys((*request.backport_to, *([] if named == "auto" else named)))
    return tuple(try_backport(photo.pull, branch, photo.store) for branch in branches)
