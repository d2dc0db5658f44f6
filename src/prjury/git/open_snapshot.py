"""Where a pull request comes from: two refs, a number, the current branch, or an event."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from prjury.errors import ExitCode, PrJuryError, SourceError, UsageError
from prjury.git.directory import list_uncommitted_paths
from prjury.git.fetch import Remote, Transport, fetch_default_branch, fetch_temp_repository, refspec
from prjury.git.merge import find_landing, find_squash_commit, merge_trees
from prjury.git.operator import OperatorRepository, open_repository
from prjury.git.store import Store, open_store
from prjury.git.take_snapshot import take_snapshot
from prjury.git.uncommitted import REFS, Uncommitted, commit_uncommitted
from prjury.snapshot.merge_style import HistoryCommit
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


class Landed(Struct, frozen=True):
    """Facts about a merged pull request."""

    #: How many it had; None where that is not known.
    commits: int | None = None
    #: Its own head, when it was merged.
    head: str | None = None


class SnapshotRequest(Struct, frozen=True):
    """The pull request that is to be judged."""

    repo: Path = Path()
    number: int | None = None
    base: str | None = None
    head: str | None = None
    url: str | None = None
    #: How to fetch what is not here; None forbids fetching.
    transport: Transport | None = None
    #: What GitHub knows of the pull request, as fields of `PullRequest`.
    facts: Mapping[str, object] = field(default_factory=dict)
    #: Whether the repository at ``repo`` may be looked into; otherwise both sides are fetched from
    #: ``url``, and nothing that lies on this machine can pass for one of them.
    local: bool = True
    #: What is known of how it came in, where a change that the base holds already is taken as it
    #: came in; None where such a change is none.
    landed: Landed | None = None
    #: The commit that was asked for; a pull request whose head is another one by now is not judged.
    head_sha: str | None = None
    #: Work that is not committed yet is the change, on top of the current commit; against ``base``
    #: where one is named, else against that commit.
    uncommitted: Uncommitted | None = None


SUPERSEDED = "superseded"


class NothingToReview(PrJuryError):  # noqa: N818 - it is no failure
    """There is no change to judge, or a newer head has superseded it."""

    exit_code = ExitCode.OPEN
    default_reason = "nothing_to_review"


class Snapshot(Struct, frozen=True):
    """The pull request and the objects behind it."""

    pull: PullRequest
    store: Store


class _Sides(Struct, frozen=True):
    base: Side
    head: Side
    notes: tuple[str, ...] = ()


@contextmanager
def open_snapshot(request: SnapshotRequest) -> Iterator[Snapshot]:
    """Open the snapshot; raise NothingToReview where there is no change."""
    with ExitStack() as stack:
        repository = stack.enter_context(_open_local_or_fetched(request))
        sides = _choose_sides(repository, request)
        if request.head_sha not in {None, sides.head.sha}:
            raise NothingToReview(
                f"Superseded: #{request.number} is at {sides.head.sha[:12]} by now, and this run "
                f"is about {str(request.head_sha)[:12]}. The newer head has a run of its own.",
                reason=SUPERSEDED,
            )
        store = stack.enter_context(open_store(repository))
        if request.uncommitted:
            head = commit_uncommitted(store, request.uncommitted)
            if head is None and sides.base.sha == sides.head.sha:
                index, ref = REFS[request.uncommitted], visible(sides.head.ref)
                raise NothingToReview(f"Nothing to review: {index} holds nothing that {ref} lacks.")
            sides = replace(sides, head=head or sides.head)
        change = _snapshot_open_or_landed(store, sides, request)
        pull = replace(change, number=request.number, **request.facts)
        if pull.ahead == 0:
            head_name, base_name = visible(pull.head.ref), visible(pull.base.ref)
            raise _word_refusal(
                f"{head_name} has no commit that {base_name} lacks in {repository.name}"
            )
        yield Snapshot(pull, store)


def _snapshot_open_or_landed(store: Store, sides: _Sides, request: SnapshotRequest) -> PullRequest:
    """Take the snapshot; of a change that is in the base by now as it came in, if asked for."""
    pull = take_snapshot(store, sides.base, sides.head, notes=sides.notes)
    landed, base = request.landed, sides.base
    if landed is None or pull.merge.impossible:
        return pull
    if pull.ahead and landed.commits is None:
        return _snapshot_landed_squash(store, sides, pull) or pull
    if pull.ahead:
        absence = f"{sides.head.sha[:12]} is not in {visible(base.ref)} any more"
        raise NothingToReview(f"#{request.number} is merged, and {absence}.")
    unit = find_landing(store.git, sides.head.sha, base.sha)
    if unit is None:
        return pull
    count = _count_landed_commits(store, unit, landed)
    if count is None:
        raise NothingToReview(
            f"It is not known which commits belong to #{request.number}: neither {unit.sha[:12]} "
            f"alone nor the {landed.commits} commits up to it are what it brings. Name both sides "
            "with --base and --head."
        )
    before = Side(base.ref, store.git.text("rev-parse", "--verify", f"{unit.sha}~{count}"))
    alone = "" if unit.is_merge or landed.commits else "; only that commit is judged"
    note = f"in {visible(base.ref)} already, by {unit.sha[:12]}{alone}"
    return take_snapshot(store, before, Side(sides.head.ref, unit.sha), notes=(*sides.notes, note))


def _snapshot_landed_squash(store: Store, sides: _Sides, pull: PullRequest) -> PullRequest | None:
    """Take the change as the one commit by which the base has it; None if the base lacks it."""
    base, head = sides.base, sides.head
    paths = [path for file in pull.files for path in (file.old_path, file.path) if path]
    unit = find_squash_commit(store.git, head.sha, pull.merge_base, base.sha, paths)
    if unit is None:
        return None
    note = f"in {visible(base.ref)} already, as one commit, {unit.sha[:12]}"
    before = Side(base.ref, unit.parents[0])
    return take_snapshot(store, before, Side(head.ref, unit.sha), notes=(*sides.notes, note))


def _count_landed_commits(store: Store, unit: HistoryCommit, landed: Landed) -> int | None:
    """Count the commits of the base's first parents by which a change came in; None if undecidable.

    A merge commit is one. For the others contents decide, as subjects are written by hand: the pull
    request, merged onto what stood before its own commits, has to come to what stands there now.
    """
    count = landed.commits or 1
    if unit.is_merge or landed.commits is None or (count == 1 and not landed.head):
        return 1
    tree = store.git.text("rev-parse", "--verify", f"{unit.sha}^{{tree}}")
    # As its own commits first: where the branch was only moved on, the last one fits as well.
    counts = dict.fromkeys((count, 1))
    return next((n for n in counts if _merge_onto(store, landed, f"{unit.sha}~{n}") == tree), None)


def _merge_onto(store: Store, landed: Landed, commit: str) -> str | None:
    """Return the tree of the pull request's own head, merged onto a commit."""
    head = store.operator.resolve(landed.head).sha if landed.head else None
    store.follow()
    _, code, _ = store.git.try_run("rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}")
    return merge_trees(store.git, commit, head) if head and code == 0 else None


@contextmanager
def _open_local_or_fetched(request: SnapshotRequest) -> Iterator[OperatorRepository]:
    """Open the local repository, or a fetched one if the pull request is not here."""
    local = _open_matching_local_repository(request)
    if local and (request.number is None or request.head or local.pull(request.number)):
        yield local
        return
    remote = _require_given_or_local_remote(request, local)
    if request.head is None and request.number is None:
        raise UsageError(
            "It is not clear what to review", remedy="Name a pull request's number, or a head"
        )
    head = refspec(request.head or f"refs/pull/{request.number}/head")
    base = refspec(request.base or fetch_default_branch(remote))
    address = remote.address.removesuffix("/").removesuffix(".git")
    name = local.name if local else "/".join(address.split("/")[-2:])
    # A partial clone would lend commits without the content that belongs to them.
    lender = local if local and not local.partial else None
    with fetch_temp_repository(remote, [head, base], lender, name) as repository:
        repository.git("symbolic-ref", "HEAD", base.partition(":")[2])
        yield repository


def _require_given_or_local_remote(
    request: SnapshotRequest, local: OperatorRepository | None
) -> Remote:
    url = request.url or (local.remote_url if local else None)
    if request.transport and url:
        return Remote(url, request.transport)
    name, number = local.name if local else visible(str(request.repo)), request.number
    lack = "--offline forbids to fetch it" if url else "there is no remote to fetch it from"
    raise SourceError(
        f"pull request {number} is not in {name}",
        why=f"Its head was never fetched, and {lack}",
        remedy=f"Run: git fetch origin pull/{number}/head:refs/pull/{number}/head",
        reason="not_fetched",
    )


def _open_matching_local_repository(request: SnapshotRequest) -> OperatorRepository | None:
    if not request.local:
        return None
    try:
        repository = open_repository(request.repo)
    except SourceError as error:
        if request.url is None or error.reason != "no_repository":
            raise
        return None
    # A URL of another repository must not be answered with this one's pull request of that number.
    if request.url and _identify(request.url) != _identify(repository.remote_url or ""):
        return None
    return repository


def _identify(url: str) -> tuple[str, str] | None:
    """Return host and ``owner/name`` of a clone URL, whichever protocol it names."""
    match = _CLONE_URL.search(url)
    return (match["host"].casefold(), match["name"].casefold()) if match else None


def _choose_sides(repository: OperatorRepository, request: SnapshotRequest) -> _Sides:
    if request.head:
        head = repository.resolve(request.head)
    elif request.number is None:
        head = repository.read_head()
    elif side := repository.pull(request.number):
        head = side
    else:
        raise SourceError(f"there is no pull request {request.number} in {repository.name}")
    if request.uncommitted:
        return _Sides(repository.resolve(request.base) if request.base else head, head)
    base = repository.resolve(request.base) if request.base else repository.default_branch()
    if request.head is None and request.number is None:
        return _note_sides_or_refuse_level(
            repository, base, head, named_base=request.base is not None
        )
    return _Sides(base, head)


def _note_sides_or_refuse_level(
    repository: OperatorRepository, base: Side, head: Side, *, named_base: bool
) -> _Sides:
    """Take the current branch, with notes on uncommitted files and on the branch below."""
    pending = list_uncommitted_paths(repository)
    files = f"{len(pending)} file{'s are' if len(pending) != 1 else ' is'} not committed"
    if head.sha == base.sha:
        words = f"{head.ref} is level with {base.ref}"
        if head.ref == base.ref.removeprefix("origin/") and not named_base:
            words = f"{head.ref} is the default branch"
        aside = f" ({files})" if pending else ""
        raise _word_refusal(f"{words}{aside}", "commit to a branch of your own, or ")
    notes = []
    if pending:
        names = ", ".join(map(visible, pending[:_NAMED_AT_MOST]))
        more = ", …" if len(pending) > _NAMED_AT_MOST else ""
        notes.append(f"{files} and not judged: {names}{more}")
    if below := repository.below(base.sha, head.sha):
        name = visible(below.ref)
        notes.append(f"stacked on {name}; for this branch's own commits alone: --base {name}")
    return _Sides(base, head, tuple(notes))


def _word_refusal(words: str, first: str = "") -> NothingToReview:
    way = f"{first}name both sides with --base REF --head REF"
    return NothingToReview(f"Nothing to review: {visible(words)}. To judge something, {way}.")


def parse_number_and_clone_url(target: str | None) -> tuple[int | None, str | None]:
    """Read the number of ``7``, ``#7`` or a pull request's URL, and the clone URL of the latter."""
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
