"""Opens a pull request of a change onto a release branch, once, and never pushes to that branch.

Objects are invisible until a new branch of ours points to them. Every attempt first looks at what
exists: a second or restarted run continues from there. What others made is left alone.
"""

from __future__ import annotations

import base64
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias
from urllib.parse import quote

from msgspec import Struct

from prjury.errors import PublishError
from prjury.github.payload import at, object_name, text
from prjury.github.repo_client import RepoClient, ignore, login_of
from prjury.publishers.labels import add_labels
from prjury.publishers.races import LookAgainError, raise_if_unclear, retry_unclear
from prjury.report.model import Backport
from prjury.report.render import render_template
from prjury.report.sanitise import BY_SHAPE, Redact, join_lines
from prjury.report.text import trust
from prjury.report.wording import pluralize
from prjury.snapshot.model import visible
from prjury.snapshot.picked import HEADS, Author, Pick, PickedFile

if TYPE_CHECKING:
    from github.PullRequest import PullRequest

Sha: TypeAlias = str
_TRAILER = re.compile(r"[A-Za-z0-9-]+: |\(cherry picked from commit ")


def add_cherry_pick_lines(message: str, origins: Sequence[str]) -> str:
    """Return the message with a line for each origin, as `git cherry-pick -x` writes it."""
    lines = "\n".join(line.rstrip() for line in message.split("\n"))
    text = re.sub(r"\n{3,}", "\n\n", lines.strip("\n"))
    for origin in origins:
        body, _, ending = text.rpartition("\n\n")
        joins = bool(body) and all(map(_TRAILER.match, ending.split("\n")))
        gap = ("\n" if joins else "\n\n") if text else ""
        text += f"{gap}(cherry picked from commit {origin})"
    return text + "\n"


#: Paths of one request.
_MOST_ENTRIES = 100
_MODES = frozenset({"100644", "100755", "120000", "160000"})
_TYPES = {"160000": "commit", "040000": "tree"}
_WORKFLOWS = ".github/workflows/"


def upload_commits(pick: Pick, room: RepoClient) -> Sha:
    """Store the commits and return the last one, which no branch has yet; idempotent."""
    parent, tree = pick.branch_sha, pick.branch_tree
    for commit in pick.commits:
        stored = _upload_trees(tree, commit.files, room)
        if stored != commit.tree:
            raise _differs("tree", stored, commit.tree)
        message = add_cherry_pick_lines(commit.message, commit.origins)
        parent = _upload_commit(room, message, commit.tree, parent, commit.author)
        tree = commit.tree
    return parent


def _upload_commit(
    room: RepoClient, message: str, tree: str, parent: Sha, author: Author | None
) -> Sha:
    """Store a commit by our account, whose address is GitHub's of no mailbox."""
    account = room.account()
    committer = {"name": account, "email": f"{account}@users.noreply.github.com"}
    own = author and {"name": text(author.name), "email": text(author.email), "date": author.date}
    content = {
        "message": text(message),
        "tree": object_name(tree, "the tree"),
        "parents": [object_name(parent, "the parent")],
        "author": own or committer,
        "committer": committer,
    }
    return _upload_object(room, "a commit", "/git/commits", content)


def _upload_object(room: RepoClient, kind: str, endpoint: str, content: Mapping[str, Any]) -> Sha:
    """Return the name of an object; stored twice it is the same, or one that nothing leads to."""
    return room.send(
        f"store {kind} in {room.repo}",
        "POST",
        endpoint,
        content,
        lambda answer: object_name(at(answer, "sha"), "sha"),
        needs="contents: write",
    )


def refuse_unsendable(pick: Pick) -> None:
    files = [file for commit in pick.commits for file in commit.files]
    names = [pick.branch, *(file.path for file in files)]
    wrong = next((name for name in names if re.search("[\ud800-\udfff]", name)), None)
    modes = {file.path: file.mode for file in files if file.mode}
    odd = next((path for path, mode in modes.items() if mode not in _MODES), None)
    if wrong is None and odd is None:
        return
    why = "Its name is not UTF-8" if wrong is not None else f"Its mode is {modes[odd or '']}"
    raise PublishError(
        f"No pull request onto {visible(pick.branch)}: {visible(wrong or odd or '')} "
        "cannot be written through GitHub's API",
        why=why,
        remedy="Pick the change by hand",
        reason="not_carried",
    )


@contextmanager
def explain_workflow_refusal(pick: Pick) -> Iterator[None]:
    try:
        yield
    except PublishError as error:
        paths = (file.path for commit in pick.commits for file in commit.files)
        if error.reason not in {"permission", "not_found"} or not any(
            path.startswith(_WORKFLOWS) for path in paths
        ):
            raise
        why = f"The change touches {_WORKFLOWS}, which a job's own token may not write"
        raise PublishError(
            error.what,
            why=f"{error.why}. {why}",
            remedy="Pick it by hand, or give the token of an app that has `workflows: write`",
            reason="permission",
        ) from error


def _upload_trees(base_tree: str, files: Sequence[PickedFile], room: RepoClient) -> Sha:
    """Store the trees of all files; paths that are in the way of others go first."""
    obstacles = _find_obstructing_removals(files)
    others = [file for file in files if file not in obstacles]
    parts = [others[at : at + _MOST_ENTRIES] for at in range(0, len(others), _MOST_ENTRIES)]
    for part in filter(None, (obstacles, *parts)):
        entries = [_upload_entry(file, room) for file in part]
        content = {"base_tree": object_name(base_tree, "the tree"), "tree": entries}
        base_tree = _upload_object(room, "a tree", "/git/trees", content)
    return base_tree


def _find_obstructing_removals(files: Sequence[PickedFile]) -> list[PickedFile]:
    """Return removed files where a directory is added, or in a directory that becomes a file."""
    present = {file.path for file in files if file.mode}
    above = {parent for path in present for parent in _parents(path)}
    return [
        file
        for file in files
        if not file.mode and (file.path in above or present.intersection(_parents(file.path)))
    ]


def _parents(path: str) -> Iterator[str]:
    while path:
        path = path.rpartition("/")[0]
        if path:
            yield path


def _upload_entry(file: PickedFile, room: RepoClient) -> dict[str, Any]:
    entry: dict[str, Any] = {"path": file.path, "mode": file.mode or "100644", "type": "blob"}
    if file.mode is None:
        return {**entry, "sha": None}
    entry["type"] = _TYPES.get(file.mode, "blob")
    if file.content is None:
        return {**entry, "sha": file.blob}
    encoded = {"content": base64.b64encode(file.content).decode(), "encoding": "base64"}
    blob = _upload_object(room, "a file", "/git/blobs", encoded)
    if blob != file.blob:
        raise _differs(f"content of {visible(file.path)}", blob, file.blob)
    return {**entry, "sha": blob}


def _differs(subject: str, stored: str, tried: str) -> PublishError:
    return PublishError(
        f"No pull request: the {subject} is {stored[:12]} at GitHub, and {tried[:12]} in the trial",
        why="What would be proposed is not what was judged",
        remedy="Run again; if it happens again, report it",
        reason="tree_differs",
    )


_SETTING = "Allow GitHub Actions to create and approve pull requests"


class Opening(Struct, frozen=True):
    """How the policy wants pull requests to be opened."""

    #: What to open for a conflicting pick: ``nothing``, or a ``draft`` with an empty commit that
    #: says what to do.
    conflicts: Literal["nothing", "draft"] = "nothing"
    labels: tuple[str, ...] = ()


class Proposal(Struct, frozen=True):
    """The result for one pick."""

    branch: str
    #: ``opened`` now, as a ``draft`` now, ``there`` before, or ``nothing``.
    state: Literal["opened", "draft", "there", "nothing"]
    url: str | None = None
    note: str = ""


def is_proposable(backport: Backport, opening: Opening) -> bool:
    """An empty draft is opened only if the backport is requested or the conflicts are simple."""
    if backport.tree is not None:
        return backport.verdict in {"suitable", "suitable_with_changes"}
    if opening.conflicts == "nothing" or not backport.conflicts:
        return False
    if backport.verdict == "needs_human":
        return backport.asked == "yes"
    return backport.verdict == "suitable_with_changes"


@dataclass
class BackportPulls:
    """Opens pull requests of picks, in one repository: none of its forks is touched."""

    room: RepoClient
    opening: Opening = field(default_factory=Opening)
    redact: Redact = BY_SHAPE

    def propose(self, pick: Pick) -> Proposal:
        if pick.conflicts and self.opening.conflicts == "nothing":
            return Proposal(
                pick.branch, "nothing", note="It conflicts, so no pull request was opened"
            )
        if not pick.conflicts and not pick.commits:
            return Proposal(pick.branch, "nothing", note="There is nothing to pick")
        refuse_unsendable(pick)
        return retry_unclear(lambda: self._find_or_open_pull(pick), self.room.client.sleep)

    def _find_or_open_pull(self, pick: Pick) -> Proposal:
        if existing := self._find_existing_and_label(pick):
            return existing
        _refuse_moved_branch(pick, self._read_tip(pick.branch))
        head = head_of(pick)
        tip = self._read_tip(head)
        if tip is None:
            tip = self._push_new_head_branch(pick)
        elif not self._has_pick(tip, pick):
            raise PublishError(
                f"The branch {visible(head)} already exists with other content",
                why="Somebody pushed to it, or an earlier run made it on an older tip",
                remedy="Delete it if it is not needed, and run again; PR Jury never changes it",
                reason="ref_taken",
            )
        return self._open_pull(pick, tip)

    def _find_existing_and_label(self, pick: Pick) -> Proposal | None:
        pulls = self._list_pulls_from_branch(head_of(pick))
        if not pulls:
            return None
        last = max(pulls, key=lambda pull: (pull.state == "open", pull.number))
        is_ours = is_marked(last.body or "", pick) and login_of(last.user) == self.room.account()
        note = "" if is_ours else "Somebody else opened it"
        if last.state != "open":
            note = "It was closed or merged, and is not opened again"
        elif is_ours and not {label.name for label in last.labels} & set(self.opening.labels):
            note = self._add_labels_or_note(last)
        return Proposal(pick.branch, "there", last.html_url, note)

    def _list_pulls_from_branch(self, branch: str) -> list[PullRequest]:
        from github.PullRequest import PullRequest  # noqa: PLC0415 - heavy, hence late

        owner = self.room.repo.partition("/")[0]
        pulls = self.room.list_objects(
            PullRequest,
            f"list the pull requests of {self.room.repo}",
            "/pulls",
            needs="pull-requests: read",
            query={"head": f"{owner}:{branch}", "state": "all"},
        )
        # GitHub's filter does not tell a repository from its owner's own fork.
        return [pull for pull in pulls if _is_from(pull, branch)]

    def _read_tip(self, branch: str) -> Sha | None:
        try:
            return self.room.get(
                f"read the branch {visible(branch)} of {self.room.repo}",
                f"/git/ref/heads/{quote(branch, errors='surrogateescape')}",
                lambda answer: object_name(at(answer, "object", "sha"), "object.sha"),
                needs="contents: read",
            )
        except PublishError as error:
            if error.reason != "not_found":
                raise
            return None

    def _push_new_head_branch(self, pick: Pick) -> Sha:
        head = head_of(pick)
        with explain_workflow_refusal(pick):
            if pick.conflicts:
                # A pull request needs a commit; it names none that was picked.
                count = pluralize(len(pick.conflicts), "file")
                message = f"Backport of #{pick.number}: to be done\n\n"
                message += f"The change conflicts in {count}. This commit is empty.\n"
                tree, parent = pick.branch_tree, pick.branch_sha
                sha = _upload_commit(self.room, message, tree, parent, None)
            else:
                sha = upload_commits(pick, self.room)
            try:
                with raise_if_unclear():
                    self._create_branch(head, sha)
            except PublishError as error:
                if error.reason == "refused" and self._read_tip(head) is not None:
                    raise LookAgainError(error) from error
                raise
        return sha

    def _create_branch(self, name: str, sha: str) -> None:
        """Create a branch whose name starts with `HEADS`; an existing one is never changed."""
        self.room.send(
            f"create the branch {visible(name)} of {self.room.repo}",
            "POST",
            "/git/refs",
            {"ref": f"refs/heads/{name}", "sha": object_name(sha, "the commit")},
            ignore,
            needs="contents: write",
            repeatable=False,
        )

    def _has_pick(self, tip: str, pick: Pick) -> bool:
        trees: Sequence[str] = [commit.tree for commit in pick.commits]
        if pick.conflicts:
            trees = [pick.branch_tree]
        for expected in reversed(trees):
            tree, parents = self._read_tree_and_parents(tip)
            if tree != expected or len(parents) != 1:
                return False
            tip = parents[0]
        return tip == pick.branch_sha

    def _read_tree_and_parents(self, sha: str) -> tuple[Sha, list[Sha]]:
        def read(answer: object) -> tuple[Sha, list[Sha]]:
            parents = at(answer, "parents")
            entries = parents if isinstance(parents, list) else []
            names = [object_name(at(entry, "sha"), "parent.sha") for entry in entries]
            return object_name(at(answer, "tree", "sha"), "tree.sha"), names

        task, path = f"read a commit of {self.room.repo}", f"/git/commits/{sha}"
        return self.room.get(task, path, read, needs="contents: read")

    def _open_pull(self, pick: Pick, tip: str) -> Proposal:
        from github.PullRequest import PullRequest  # noqa: PLC0415 - heavy, hence late

        is_draft = bool(pick.conflicts)
        content = {
            "head": head_of(pick),
            "base": pick.branch,
            "title": join_lines(f"[{pick.branch}] {pick.title}", _LONGEST_TITLE, self.redact),
            "body": render_pull_body(pick, tip, self.redact),
            "draft": is_draft,
        }
        task = f"open a pull request onto {visible(pick.branch)} of {self.room.repo}"
        needs = "pull-requests: write"
        try:
            with raise_if_unclear():
                opened = self.room.write(
                    PullRequest, task, "POST", "/pulls", content, needs=needs, repeatable=False
                )
        except PublishError as error:
            if error.reason == "refused" and self._list_pulls_from_branch(head_of(pick)):
                raise LookAgainError(error) from error
            raise _explain(error, head_of(pick)) from error
        note = self._add_labels_or_note(opened)
        return Proposal(pick.branch, "draft" if is_draft else "opened", opened.html_url, note)

    def _add_labels_or_note(self, pull: PullRequest) -> str:
        if not self.opening.labels:
            return ""
        try:
            add_labels(self.room, pull.number, self.opening.labels)
        except PublishError as error:
            return f"It has no labels: {error}"
        return ""


def _is_from(pull: PullRequest, branch: str) -> bool:
    payload = pull.raw_data
    head, base = (at(payload, side, "repo", "full_name") for side in ("head", "base"))
    return at(payload, "head", "ref") == branch and head is not None and head == base


def _refuse_moved_branch(pick: Pick, tip: str | None) -> None:
    if tip == pick.branch_sha:
        return
    where = f"at {tip[:12]} now" if tip else "gone"
    raise PublishError(
        f"{visible(pick.branch)} is {where}; the change was tried on {pick.branch_sha[:12]}",
        why="Somebody pushed to it since",
        remedy="Judge it again",
        reason="moved",
    )


def _explain(error: PublishError, head: str) -> PublishError:
    remedy = error.remedy
    if error.reason == "permission":
        remedy = f"{remedy}; for a job's own token, also switch on '{_SETTING}' in the settings"
    notice = f"The branch {visible(head)} exists and will be used next time"
    why = f"{error.why}. {notice}"
    return PublishError(error.what, why=why, remedy=remedy, reason=error.reason)


#: GitHub allows 256 characters; some of them say how many were cut.
_LONGEST_TITLE = 230
#: GitHub allows 65,536 characters.
_LONGEST_BODY = 60_000
_MOST_LINES = 50
_MARKER = re.compile(r"<!-- prjury:backport:v1 of=(\d{1,18}) to=(\S+) -->", re.ASCII)
_CUT = "\n\n… (cut: too long for a pull request)\n"


def head_of(pick: Pick) -> str:
    return f"{HEADS}{pick.number}-to-{pick.branch}"


def marker_of(pick: Pick) -> str:
    """Return the hidden first line with the original pull request and the branch."""
    # Two hyphens in a row would end the comment in some readers.
    branch = quote(pick.branch, safe="/.").replace("-", "%2D")
    return f"<!-- prjury:backport:v1 of={pick.number} to={branch} -->"


def is_marked(body: str, pick: Pick) -> bool:
    first = body.partition("\n")[0].rstrip()
    return _MARKER.fullmatch(first) is not None and first == marker_of(pick)


def render_pull_body(pick: Pick, head_sha: str, redact: Redact) -> str:
    # The push goes over the empty commit only.
    head = head_of(pick)
    lease, to = shlex.quote(f"{head}:{head_sha}"), shlex.quote(f"HEAD:refs/heads/{head}")
    push = f"git push --force-with-lease={lease} origin {to}"
    body = render_template(
        "backport_pull.md.j2",
        redact,
        pick=pick,
        marker=trust(marker_of(pick)),
        number=pick.number,
        origins=tuple(dict.fromkeys(trust(sha) for one in pick.commits for sha in one.origins)),
        verdict=pick.verdict.replace("_", " ").capitalize(),
        tip=pick.branch_sha[:12],
        commands="\n".join((*pick.commands, "# resolve, then", push)),
        most=_MOST_LINES,
    )
    return body if len(body) <= _LONGEST_BODY else body[:_LONGEST_BODY].rstrip() + _CUT
