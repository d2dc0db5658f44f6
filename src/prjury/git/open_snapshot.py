"""Where a pull request comes from: two refs, a number, the current branch, or an event."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from msgspec import structs

from prjury.errors import SourceError, UsageError
from prjury.git.directory import uncommitted_changes
from prjury.git.fetch import Remote, Transport, default_branch, fetch_objects, refspec
from prjury.git.merge import find_squash, landing, merged_tree
from prjury.git.operator import OperatorRepository, open_repository
from prjury.git.store import Store, open_store
from prjury.git.take_snapshot import take_snapshot
from prjury.git.uncommitted import REFS, Uncommitted, commit_uncommitted
from prjury.snapshot.merge_style import StyleCommit
from prjury.snapshot.model import PullRequest, Side, visible

_NAMED_AT_MOST = 5
_CLONE_URL = re.compile(
    r"(?:^|@|//)(?P<host>[\w.-]+)(?::\d+)?[:/](?P<name>[\w.-]+/[\w.-]+?)(?:\.git)?/?$"
)
_PULL_URL = re.compile(
    r"(?P<repository>https://[\w.-]+(?::\d+)?/[\w.-]+/[\w.-]+)"
    r"/pull/(?P<number>[1-9]\d{0,8})(?:[/?#].*)?",
    re.ASCII,
)


@dataclass(frozen=True)
class Landed:
    """What is known of a merged pull request.

    Attributes:
        commits: how many it had; None where that is not known.
        head: its own head, when it was merged.
    """

    commits: int | None = None
    head: str | None = None


@dataclass(frozen=True)
class SnapshotRequest:
    """Which pull request is to be judged.

    Attributes:
        repo: a directory in the operator's repository, bare or not.
        number: a pull request's number, whose head was fetched or can be fetched.
        base: the branch to merge into; the default branch if not named.
        head: what to merge; the pull request's head or the current branch if not named.
        url: where to fetch from; the local repository's remote if not named.
        transport: how to fetch what is not here; None forbids fetching.
        facts: what GitHub knows of the pull request, as fields of `PullRequest`.
        local: whether the repository at ``repo`` may be looked into; otherwise both sides are
            fetched from ``url``, and nothing that lies on this machine can pass for one of them.
        landed: what is known of how it came in, where a change that the base holds already is
            taken as it came in; None where such a change is none.
        head_sha: the commit that was asked for; a pull request whose head is another one by now
            is not judged.
        uncommitted: work that is not committed yet is the change, on top of the current commit;
            against ``base`` where one is named, else against that commit.
    """

    repo: Path = Path()
    number: int | None = None
    base: str | None = None
    head: str | None = None
    url: str | None = None
    transport: Transport | None = None
    facts: Mapping[str, object] = field(default_factory=dict)
    local: bool = True
    landed: Landed | None = None
    head_sha: str | None = None
    uncommitted: Uncommitted | None = None


@dataclass(frozen=True)
class NothingToReview:
    """There is no change to judge.

    Attributes:
        reason: one line that explains it and names the way out.
        superseded: whether that is because the pull request has a newer head.
    """

    reason: str
    superseded: bool = False


@dataclass(frozen=True)
class Snapshot:
    """The pull request and the objects behind it."""

    pull: PullRequest
    store: Store


@dataclass(frozen=True)
class _Sides:
    base: Side
    head: Side
    notes: tuple[str, ...] = ()


@contextmanager
def open_snapshot(wanted: SnapshotRequest) -> Iterator[Snapshot | NothingToReview]:
    """The snapshot, or the reason why there is nothing to judge.

    Raises:
        SourceError: no repository, no such ref, missing history.
        UsageError: names that cannot be refs.
    """
    with ExitStack() as stack:
        repository = stack.enter_context(_repository(wanted))
        sides = _sides(repository, wanted)
        if isinstance(sides, NothingToReview):
            yield sides
            return
        if wanted.head_sha not in {None, sides.head.sha}:
            yield _superseded(wanted, sides.head)
            return
        store = stack.enter_context(open_store(repository))
        if wanted.uncommitted:
            sides = _with_uncommitted(store, sides, wanted.uncommitted)
        if isinstance(sides, NothingToReview):
            yield sides
            return
        taken = _taken(store, sides, wanted)
        if isinstance(taken, NothingToReview):
            yield taken
            return
        pull = structs.replace(taken, number=wanted.number, **wanted.facts)
        yield _level(pull, repository) if pull.ahead == 0 else Snapshot(pull, store)


def _with_uncommitted(store: Store, sides: _Sides, which: Uncommitted) -> _Sides | NothingToReview:
    head = commit_uncommitted(store, which)
    if head is None and sides.base.sha == sides.head.sha:
        here = f"{REFS[which]} holds nothing that {visible(sides.head.ref)} lacks"
        return NothingToReview(f"Nothing to review: {here}.")
    return replace(sides, head=head or sides.head)


def _taken(store: Store, sides: _Sides, wanted: SnapshotRequest) -> PullRequest | NothingToReview:
    """The snapshot; of a change that is in the base by now as it came in, if that is wanted."""
    pull = take_snapshot(store, sides.base, sides.head, notes=sides.notes)
    landed, base = wanted.landed, sides.base
    if landed is None:
        return pull
    if pull.ahead and landed.commits is None:
        return _squashed(store, sides, pull) or pull
    unit = None if pull.ahead else landing(store.git, sides.head.sha, base.sha)
    if unit is None:
        gone = f"{sides.head.sha[:12]} is not in {visible(base.ref)}"
        return (
            NothingToReview(f"#{wanted.number} is merged, and {gone} any more.")
            if pull.ahead
            else pull
        )
    tree = store.git.text("rev-parse", "--verify", f"{unit.sha}^{{tree}}")
    count = _commits_of(unit, landed, partial(_merged_onto, store, landed), tree)
    if count is None:
        return NothingToReview(_undecided(unit, landed, wanted.number))
    before = Side(base.ref, store.git.text("rev-parse", "--verify", f"{unit.sha}~{count}"))
    alone = "" if unit.is_merge or landed.commits else "; only that commit is judged"
    note = f"in {visible(base.ref)} already, by {unit.sha[:12]}{alone}"
    return take_snapshot(store, before, Side(sides.head.ref, unit.sha), notes=(*sides.notes, note))


def _squashed(store: Store, sides: _Sides, pull: PullRequest) -> PullRequest | None:
    """Take the change as the one commit by which the base has it; None if the base lacks it."""
    base, head = sides.base, sides.head
    paths = [path for file in pull.files for path in (file.old_path, file.path) if path]
    unit = find_squash(store.git, head.sha, pull.merge_base, base.sha, paths)
    if unit is None:
        return None
    note = f"in {visible(base.ref)} already, as one commit, {unit.sha[:12]}"
    before = Side(base.ref, unit.parents[0])
    return take_snapshot(store, before, Side(head.ref, unit.sha), notes=(*sides.notes, note))


def _commits_of(
    unit: StyleCommit, landed: Landed, merged_onto: Callable[[str], str | None], tree: str
) -> int | None:
    """How many commits of the base's first parents it came in by; None if that is undecidable.

    A merge commit is one. For the others contents decide, as subjects are written by hand: the pull
    request, merged onto what stood before its own commits, has to come to what stands there now.

    Args:
        unit: the last of them.
        merged_onto: the tree that the pull request's head comes to, merged onto a commit.
        tree: of the last commit.
    """
    count = landed.commits or 1
    if unit.is_merge or landed.commits is None or (count == 1 and not landed.head):
        return 1
    # As its own commits first: where the branch was only moved on, the last one fits as well.
    counts = dict.fromkeys((count, 1))
    return next((n for n in counts if merged_onto(f"{unit.sha}~{n}") == tree), None)


def _merged_onto(store: Store, landed: Landed, commit: str) -> str | None:
    """The tree that the pull request's own head comes to, merged onto a commit.

    Raises:
        SourceError: when the head is nowhere to be had.
    """
    head = store.operator.commit(landed.head).sha if landed.head else None
    store.follow()
    known = store.git.try_run("rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}")[1] == 0
    return merged_tree(store.git, commit, head) if head and known else None


def _undecided(unit: StyleCommit, landed: Landed, number: int | None) -> str:
    """Why its own commits are not known, and what to do."""
    return (
        f"It is not known which commits belong to #{number}: neither {unit.sha[:12]} alone nor the "
        f"{landed.commits} commits up to it are what it brings. Name both sides with --base and "
        "--head."
    )


@contextmanager
def _repository(wanted: SnapshotRequest) -> Iterator[OperatorRepository]:
    """The local repository, or a fetched one where the pull request is not here."""
    local = _local(wanted)
    if local and (wanted.number is None or wanted.head or local.pull(wanted.number)):
        yield local
        return
    remote = _remote(wanted, local)
    head = refspec(wanted.head or _pull_ref(wanted))
    base = refspec(wanted.base or default_branch(remote))
    name = local.name if local else _name_in(remote.address)
    # A partial clone would lend commits without the content that belongs to them.
    lender = local if local and not local.partial else None
    with fetch_objects(remote, [head, base], lender, name) as repository:
        repository.git("symbolic-ref", "HEAD", base.partition(":")[2])
        yield repository


def _pull_ref(wanted: SnapshotRequest) -> str:
    if wanted.number is None:
        raise UsageError(
            "It is not clear what to review", remedy="Name a pull request's number, or a head"
        )
    return f"refs/pull/{wanted.number}/head"


def _remote(wanted: SnapshotRequest, local: OperatorRepository | None) -> Remote:
    url = wanted.url or (local.remote_url if local else None)
    if wanted.transport and url:
        return Remote(url, wanted.transport)
    here, number = local.name if local else visible(str(wanted.repo)), wanted.number
    lack = "--offline forbids to fetch it" if url else "there is no remote to fetch it from"
    raise SourceError(
        f"pull request {number} is not in {here}",
        why=f"Its head was never fetched, and {lack}",
        remedy=f"Run: git fetch origin pull/{number}/head:refs/pull/{number}/head",
        reason="not_fetched",
    )


def _name_in(url: str) -> str:
    """``owner/name`` at the end of a clone URL."""
    return "/".join(url.removesuffix("/").removesuffix(".git").split("/")[-2:])


def _local(wanted: SnapshotRequest) -> OperatorRepository | None:
    if not wanted.local:
        return None
    try:
        found = open_repository(wanted.repo)
    except SourceError as error:
        if wanted.url is None or error.reason != "no_repository":
            raise
        return None
    # A URL of another repository must not be answered with this one's pull request of that number.
    other = wanted.url and _place(wanted.url) != _place(found.remote_url or "")
    return None if other else found


def _place(url: str) -> tuple[str, str] | None:
    """Host and ``owner/name`` of a clone URL, whichever protocol it names."""
    match = _CLONE_URL.search(url)
    return (match["host"].casefold(), match["name"].casefold()) if match else None


def _sides(repository: OperatorRepository, wanted: SnapshotRequest) -> _Sides | NothingToReview:
    head = _head(repository, wanted)
    if wanted.uncommitted:
        return _Sides(repository.commit(wanted.base) if wanted.base else head, head)
    base = repository.commit(wanted.base) if wanted.base else repository.default_branch()
    if wanted.head is None and wanted.number is None:
        return _of_work_tree(repository, base, head, named=wanted.base is not None)
    return _Sides(base, head)


def _head(repository: OperatorRepository, wanted: SnapshotRequest) -> Side:
    if wanted.head:
        return repository.commit(wanted.head)
    if wanted.number is None:
        return repository.current()
    head = repository.pull(wanted.number)
    if head is None:
        raise SourceError(f"there is no pull request {wanted.number} in {repository.name}")
    return head


def _of_work_tree(
    repository: OperatorRepository, base: Side, head: Side, *, named: bool
) -> _Sides | NothingToReview:
    """The current branch and what its reviewer has to know: uncommitted files, what is below."""
    pending = uncommitted_changes(repository)
    if head.sha == base.sha:
        on_it = head.ref == base.ref.removeprefix("origin/") and not named
        here = (
            f"{head.ref} is the default branch" if on_it else f"{head.ref} is level with {base.ref}"
        )
        aside = f" ({_files(pending)} not committed)" if pending else ""
        return _nothing(f"{here}{aside}", "commit to a branch of your own")
    notes = [f"{_files(pending)} not committed and not judged: {_named(pending)}"]
    stacked = _stacked_on(repository, base, head)
    return _Sides(base, head, tuple(notes[: bool(pending)]) + stacked)


def _level(pull: PullRequest, repository: OperatorRepository) -> NothingToReview:
    head, base = visible(pull.head.ref), visible(pull.base.ref)
    return _nothing(f"{head} has no commit that {base} lacks in {repository.name}", "")


def _superseded(wanted: SnapshotRequest, head: Side) -> NothingToReview:
    return NothingToReview(
        f"Superseded: #{wanted.number} is at {head.sha[:12]} by now, and this run is about "
        f"{str(wanted.head_sha)[:12]}. The newer head has a run of its own.",
        superseded=True,
    )


def _nothing(here: str, first: str) -> NothingToReview:
    way = "name both sides with --base REF --head REF"
    way = f"{first}, or {way}" if first else way
    return NothingToReview(f"Nothing to review: {visible(here)}. To judge something, {way}.")


def _files(paths: list[str]) -> str:
    return f"{len(paths)} file{'s are' if len(paths) != 1 else ' is'}"


def _named(paths: list[str]) -> str:
    shown = ", ".join(map(visible, paths[:_NAMED_AT_MOST]))
    return shown + (", …" if len(paths) > _NAMED_AT_MOST else "")


def _stacked_on(repository: OperatorRepository, base: Side, head: Side) -> tuple[str, ...]:
    """A note where the branch is built on another local branch that is not merged yet."""
    below = repository.below(base.sha, head.sha)
    if below is None:
        return ()
    name = visible(below.ref)
    return (f"stacked on {name}; for this branch's own commits alone: --base {name}",)


def parse_target(target: str | None) -> tuple[int | None, str | None]:
    """The number in ``7``, ``#7`` or a pull request's URL, and the clone URL of the latter.

    Raises:
        UsageError: for anything else.
    """
    if target is None:
        return None, None
    text = target.strip()
    if match := re.fullmatch(r"#?([1-9][0-9]{0,8})", text):
        return int(match[1]), None
    if match := _PULL_URL.fullmatch(text):
        return int(match["number"]), f"{match['repository']}.git"
    raise UsageError(
        f"{visible(target)!r} is neither a pull request's number nor its URL",
        remedy="Give 123 or https://github.com/OWNER/NAME/pull/123; for branches use "
        "--base REF --head REF",
    )
