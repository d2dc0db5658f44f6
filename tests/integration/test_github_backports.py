"""Backports proposed to a server that speaks as GitHub does, and names objects as git does."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from fakes.github import (
    NO_FAULT,
    OCTOCAT,
    FakeGitHub,
    Fault,
    Request,
    refused,
    running,
    side_payload,
)
from fakes.github.faults import Moment
from fakes.history import ENVIRONMENT, Files, History, link, script, submodule
from fakes.picks import Line
from fakes.writing import connected
from prjury.errors import PublishError
from prjury.github.client import Connection, GitHub, RetryBudget
from prjury.github.repo_client import RepoClient
from prjury.publishers.backport_pulls import BackportPulls, Opening, Proposal
from prjury.snapshot.model import Conflict, ConflictType
from prjury.snapshot.picked import Pick

TOKEN = "ghs_actions"
REPO, BRANCH = "octo/shop", "release/1.x"
HEAD = f"backport/7-to-{BRANCH}"
START = {
    "cart.py": "".join(f"line {number}\n" for number in range(40)),
    "gone.txt": "g\n",
    "old/name.txt": "n\n",
    "thing": "a file\n",
    "folder/inner.txt": "i\n",
    "plain.sh": "echo\n",
}
CONFLICTS = (
    Conflict("cart.py", ConflictType.CONTENT, True, "both add imports", (3, 7)),
    Conflict("a`b\n<!-- x -->.py", ConflictType.MODIFY_DELETE, False, "@octocat removed it"),
)


@pytest.fixture
def line(tmp_path: Path) -> Line:
    history = History(tmp_path / "repo")
    start = history.commit(START, "start")
    history.branch(BRANCH)
    made = Line(history, BRANCH, start)
    made.release({"cart.py": f"{START['cart.py']}released\n"})
    history.switch("main")
    return made


@pytest.fixture
def fake() -> Iterator[FakeGitHub]:
    """No request of any test may touch a branch that is not ours."""
    with running() as server:
        server.add_pull(REPO, 7, state="closed", merged=True)
        server.workflow_permissions["can_approve_pull_request_reviews"] = True
        yield server
        assert_only_new_branches(server)


def assert_only_new_branches(fake: FakeGitHub) -> None:
    for request in fake.requests:
        if request.is_write:
            assert request.method == "POST"
            assert "/merge" not in request.path
        if request.is_write and "/git/refs" in request.path:
            assert request.payload["ref"].startswith("refs/heads/backport/")


def served(fake: FakeGitHub, line: Line) -> None:
    """The server has both branches, and nothing of the pick."""
    for name in ("main", BRANCH):
        fake.branches[name] = line.history.sha(name)
        fake.objects.load(line.history.path, name)


def propose(fake: FakeGitHub, pick: Pick, token: str = TOKEN, **opening: Any) -> Proposal:
    with connected(fake, token) as hub:
        return on(hub, **opening).propose(pick)


def on(hub: GitHub, **opening: Any) -> BackportPulls:
    return BackportPulls(RepoClient(hub, REPO), Opening(**opening))


def proposed(fake: FakeGitHub) -> list[dict[str, Any]]:
    """The pull requests besides the one that is picked."""
    return [pull for (_, number), pull in sorted(fake.pulls.items()) if number != 7]


def chain(fake: FakeGitHub, pick: Pick) -> list[str]:
    """The commits of our branch down to the tip of the release branch, the oldest first."""
    found: list[str] = []
    sha = fake.branches[HEAD]
    while sha != pick.branch_sha:
        found.insert(0, sha)
        (sha,) = fake.objects.commit(sha)[0]["parent"]
    return found


CHANGES: dict[str, Files] = {
    "a line": {"cart.py": START["cart.py"].replace("line 3\n", "three\n")},
    "a deletion": {"gone.txt": None},
    "a rename": {"old/name.txt": None, "new/place.txt": "n\n"},
    "an executable": {"run.sh": script("echo\n"), "plain.sh": script("echo\n")},
    "a symbolic link": {"link": link("cart.py")},
    "a submodule": {"vendor/lib": submodule("5" * 40)},
    "binary": {"image.png": b"\x89PNG\0\xff\xfe"},
    "not UTF-8": {"latin.txt": b"caf\xe9\n"},
    "an empty file": {"__init__.py": ""},
    "line ends": {"dos.txt": "a\r\nb", "bom.txt": "\ufeffx\n", "cr.txt": "a\rb\r"},
    "a large text": {"large.txt": "x" * 150_000},
    "names": {
        "a b.txt": "1",
        "ümlaut/日本.txt": "2",
        "new\nline.txt": "3",
        '"quoted" #?%.txt': "4",
    },
    "a directory for a file": {"thing": None, "thing/inner/x.txt": "x\n"},
    "a file for a directory": {"folder/inner.txt": None, "folder": "f\n"},
    "everything goes": {path: None for path in START if path != "cart.py"},
    "nothing": {},
}


@pytest.mark.parametrize("name", list(CHANGES))
def test_the_tree_is_the_one_that_git_has_picked(fake: FakeGitHub, line: Line, name: str) -> None:
    (sha,) = line.change((CHANGES[name], "Fix the cart"))
    pick = line.pick(sha)
    served(fake, line)
    proposal = propose(fake, pick)
    (pull,) = proposed(fake)
    assert (proposal.state, proposal.url, proposal.note) == ("opened", pull["html_url"], "")
    assert (pull["base"]["ref"], pull["head"]["ref"]) == (BRANCH, HEAD)
    assert (pull["title"], pull["draft"]) == ("[release/1.x] Fix the cart", False)
    (commit,) = chain(fake, pick)
    assert fake.objects.tree_of(commit) == pick.commits[0].tree
    assert fake.branches[BRANCH] == pick.branch_sha


def test_a_path_that_json_cannot_carry_is_refused_before_anything_is_asked(
    fake: FakeGitHub, line: Line
) -> None:
    (sha,) = line.change(({b"caf\xe9.txt": "x\n"}, "Fix"))
    served(fake, line)
    with pytest.raises(PublishError, match="not UTF-8") as caught:
        propose(fake, line.pick(sha))
    assert caught.value.reason == "not_carried"
    assert r"caf\xe9.txt" in str(caught.value)
    assert fake.requests == []


SIGNED = "One\n\nWhy.\n\nSigned-off-by: Ada <ada@example.org>\n"


def test_three_commits_in_order_keep_author_date_and_message(fake: FakeGitHub, line: Line) -> None:
    shas = line.change(
        ({"one.txt": "1\n"}, SIGNED),
        ({"two.txt": "2\n", "one.txt": "1a\n"}, "Two\n"),
        ({"one.txt": None}, "Three\n\nA body."),
    )
    pick = line.pick(*shas)
    served(fake, line)
    propose(fake, pick)
    commits = [fake.objects.commit(sha) for sha in chain(fake, pick)]
    assert [headers["tree"][0] for headers, _ in commits] == [one.tree for one in pick.commits]
    assert [message for _, message in commits] == [
        f"{SIGNED}(cherry picked from commit {shas[0]})\n",
        f"Two\n\n(cherry picked from commit {shas[1]})\n",
        f"Three\n\nA body.\n\n(cherry picked from commit {shas[2]})\n",
    ]
    for (headers, _), sha in zip(commits, shas, strict=True):
        told = line.history.git("log", "-1", "--format=%an <%ae> %at +0000", sha)
        assert headers["author"] == [told]
        assert headers["committer"][0].startswith(
            "github-actions[bot] <github-actions[bot]@users.noreply.github.com> "
        )


class Rewriting(RepoClient):
    """A server that changes the line ends of texts."""

    def send(self, task: str, method: str, path: str, content: Any, *more: Any, **how: Any) -> Any:
        for entry in content["tree"] if path == "/git/trees" else ():
            if "content" in entry:
                entry["content"] = entry["content"].replace("\r\n", "\n")
        return super().send(task, method, path, content, *more, **how)


def test_a_text_that_the_server_changes_is_sent_as_bytes(fake: FakeGitHub, line: Line) -> None:
    (sha,) = line.change(({"dos.txt": "a\r\nb\r\n", "unix.txt": "a\n"}, "Fix"))
    pick = line.pick(sha)
    served(fake, line)
    with connected(fake) as hub:
        pulls = BackportPulls(Rewriting(hub, REPO))
        assert pulls.propose(pick).state == "opened"
    assert fake.objects.tree_of(fake.branches[HEAD]) == pick.commits[0].tree
    assert len([path for _, path in fake.writes if path.endswith("/blobs")]) == 2


def test_what_was_written_is_sound_to_git(fake: FakeGitHub, line: Line, tmp_path: Path) -> None:
    everything: dict[Any, Any] = {}
    for name in ("a line", "a rename", "an executable", "a symbolic link", "names", "binary"):
        everything |= CHANGES[name]
    (sha,) = line.change((everything, "Much"))
    pick = line.pick(sha)
    served(fake, line)
    propose(fake, pick)
    there = History(tmp_path / "there", bare=True)
    fake.objects.write(there.path)
    there.git("update-ref", "refs/heads/new", fake.branches[HEAD])
    there.git("fsck", "--strict", "--no-dangling")
    assert there.git("rev-parse", "new^{tree}") == pick.commits[0].tree


def a_pick(fake: FakeGitHub, line: Line) -> Pick:
    shas = line.change(
        ({"cart.py": f"new\n{START['cart.py']}", "i.png": b"\0"}, "Fix"),
        ({"b.txt": "b\n"}, "More"),
    )
    pick = line.pick(*shas)
    served(fake, line)
    return pick


def assert_once(fake: FakeGitHub, pick: Pick) -> None:
    (pull,) = proposed(fake)
    assert [label["name"] for label in pull["labels"]] == ["backport"]
    assert [fake.objects.tree_of(sha) for sha in chain(fake, pick)] == [
        commit.tree for commit in pick.commits
    ]
    assert sorted(fake.branches) == ["backport/7-to-release/1.x", "main", BRANCH]


def test_a_second_run_writes_nothing(fake: FakeGitHub, line: Line) -> None:
    pick = a_pick(fake, line)
    first = propose(fake, pick, labels=("backport",))
    count = len(fake.writes)
    second = propose(fake, pick, labels=("backport",))
    assert len(fake.writes) == count
    assert second == Proposal(BRANCH, "there", first.url)
    assert_once(fake, pick)


class Dies(Fault):
    """After so many requests the program hears nothing any more, and sends nothing."""

    left = 0

    def hits(self, request: Request, moment: Moment) -> bool:
        if moment == "before":
            self.left -= 1
        return moment == ("after" if self.left == -1 else "before") and self.left < 0


def dying(requests: int) -> Dies:
    fault = Dies("*", "", status=None)
    fault.left = requests
    return fault


def test_a_run_killed_after_any_request_is_finished_by_the_next(tmp_path: Path) -> None:
    number, finished = 0, False
    while not finished:
        history = History(tmp_path / str(number))
        start = history.commit(START, "start")
        history.branch(BRANCH)
        line = Line(history, BRANCH, start)
        with running() as fake:
            fake.workflow_permissions["can_approve_pull_request_reviews"] = True
            pick = a_pick(fake, line)
            fake.faults = [dying(number)]
            connection = Connection(fake.url, "ghs_actions", 5, 0, 0)
            with GitHub(connection, RetryBudget(attempts=1)) as hub:
                try:
                    finished = on(hub, labels=("backport",)).propose(pick).note == ""
                except PublishError as error:
                    assert error.reason == "unreachable"  # noqa: PT017 - at the end there is none
            fake.faults = []
            propose(fake, pick, labels=("backport",))
            assert_once(fake, pick)
            assert_only_new_branches(fake)
        number += 1
    assert number > 10


FAULTS: dict[str, dict[str, Any]] = {
    "502 after": {"moment": "after"},
    "cut before": {"moment": "before", "status": None},
    "a limit": {"status": 429, "headers": {"Retry-After": "7"}},
}


@pytest.mark.parametrize("name", list(FAULTS))
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/pulls"), ("GET", "git/ref/"), ("POST", "git/blobs"), ("POST", "git/trees"),
        ("POST", "git/commits"), ("POST", "git/refs"), ("POST", "/pulls"), ("POST", "labels"),
    ],
)  # fmt: skip
def test_whatever_breaks_there_is_one_branch_and_one_pull_request(
    fake: FakeGitHub, line: Line, name: str, method: str, path: str
) -> None:
    pick = a_pick(fake, line)
    fake.faults = [Fault(method, path, **FAULTS[name])]
    propose(fake, pick, labels=("backport",))
    assert_once(fake, pick)


def test_another_run_that_is_faster_between_look_and_write_is_joined(
    fake: FakeGitHub, line: Line
) -> None:
    pick = a_pick(fake, line)

    def the_other() -> None:
        propose(fake, pick, labels=("backport",))

    for path in ("git/refs", "/pulls"):
        fake.faults = [Fault("POST", path, status=NO_FAULT, action=the_other)]
        assert propose(fake, pick, labels=("backport",)).state == "there"
        assert_once(fake, pick)


def test_a_branch_that_somebody_has_pushed_to_is_left_alone(fake: FakeGitHub, line: Line) -> None:
    pick = a_pick(fake, line)
    for content in (b"theirs", b"again"):
        taken = fake.add_branch(HEAD, {"a.txt": content}, onto=BRANCH)
        with pytest.raises(PublishError, match="exists with other content") as caught:
            propose(fake, pick)
        assert caught.value.reason == "ref_taken"
        assert (fake.branches[HEAD], proposed(fake), fake.writes) == (taken, [], [])


@pytest.mark.parametrize("merged", [False, True])
def test_what_a_maintainer_has_closed_stays_closed(
    fake: FakeGitHub, line: Line, merged: bool
) -> None:
    pick = a_pick(fake, line)
    first = propose(fake, pick)
    (pull,) = proposed(fake)
    pull |= {"state": "closed", "merged": merged}
    del fake.branches[HEAD]
    again = propose(fake, pick)
    assert (again.state, again.url) == ("there", first.url)
    assert "not opened again" in again.note
    assert len(proposed(fake)) == 1


def test_a_forks_branch_of_the_same_name_is_another_one(fake: FakeGitHub, line: Line) -> None:
    pick = a_pick(fake, line)
    for number, repo in ((9, "mallory/shop"), (10, "octo/shop-fork")):
        fake.add_pull(REPO, number, head=side_payload(fake.url, repo, HEAD, "b" * 40))
    assert propose(fake, pick).state == "opened"


@pytest.mark.parametrize("gone", [False, True])
def test_a_release_branch_that_has_moved_is_judged_anew(
    fake: FakeGitHub, line: Line, gone: bool
) -> None:
    pick = a_pick(fake, line)
    fake.branches[BRANCH] = fake.branches["main"]
    if gone:
        del fake.branches[BRANCH]
    with pytest.raises(PublishError, match="gone" if gone else "now") as caught:
        propose(fake, pick)
    assert caught.value.reason == "moved"
    assert fake.writes == []


def test_a_tree_that_differs_is_never_proposed(fake: FakeGitHub, line: Line) -> None:
    pick = a_pick(fake, line)
    first, *others = pick.commits
    wrong = replace(first, files=first.files[:1])
    with pytest.raises(PublishError, match="not what was judged") as caught:
        propose(fake, replace(pick, commits=(wrong, *others)))
    assert caught.value.reason == "tree_differs"
    assert HEAD not in fake.branches


def test_a_job_that_may_open_no_pull_requests_is_told_of_the_setting(
    fake: FakeGitHub, line: Line
) -> None:
    pick = a_pick(fake, line)
    fake.workflow_permissions["can_approve_pull_request_reviews"] = False
    with pytest.raises(PublishError) as caught:
        propose(fake, pick)
    assert caught.value.reason == "permission"
    assert "Allow GitHub Actions to create" in caught.value.remedy
    assert HEAD in str(caught.value)
    fake.workflow_permissions["can_approve_pull_request_reviews"] = True
    assert propose(fake, pick).state == "opened"


def test_workflows_take_another_token(fake: FakeGitHub, line: Line) -> None:
    (sha,) = line.change(({".github/workflows/ci.yml": "on: push\n"}, "CI"))
    pick = line.pick(sha)
    served(fake, line)
    with pytest.raises(PublishError, match="workflows: write") as caught:
        propose(fake, pick)
    assert caught.value.reason == "permission"
    fake.accounts["ghp_octocat"] = OCTOCAT
    assert propose(fake, pick, "ghp_octocat").state == "opened"


@pytest.mark.parametrize(
    ("method", "path", "status", "reason"),
    [
        ("POST", "git/trees", 404, "not_found"),
        ("POST", "git/commits", 409, "refused"),
        ("POST", "git/refs", 403, "permission"),
        ("POST", "/pulls", 422, "refused"),
        ("GET", "/pulls", 403, "permission"),
        ("GET", "git/ref", 409, "refused"),
        ("POST", "git/blobs", 500, "server_error"),
    ],
)
def test_a_refusal_that_stays_is_an_error_of_that_kind(
    fake: FakeGitHub, line: Line, method: str, path: str, status: int, reason: str
) -> None:
    pick = a_pick(fake, line)
    fake.faults = [refused(method, path, status, "No.", times=99)]
    with pytest.raises(PublishError) as caught:
        propose(fake, pick)
    assert caught.value.reason == reason
    assert proposed(fake) == []


def a_conflict(fake: FakeGitHub, line: Line) -> Pick:
    """A pick in conflict, and the commands by which it is done by hand."""
    (sha,) = line.change(({"cart.py": f"{START['cart.py']}ours\n"}, "Fix"))
    served(fake, line)
    new = "backport-7-to-release-1.x"
    commands = (f"git switch -c {new} {line.history.sha(BRANCH)}", f"git cherry-pick -x {sha}")
    return line.empty(conflicts=CONFLICTS, verdict="needs_human", commands=commands)


def test_a_draft_holds_nothing_but_the_list_and_the_commands(fake: FakeGitHub, line: Line) -> None:
    pick = a_conflict(fake, line)
    told = propose(fake, pick, conflicts="draft", labels=("backport",))
    (pull,) = proposed(fake)
    assert (told.state, pull["draft"]) == ("draft", True)
    (commit,) = chain(fake, pick)
    headers, message = fake.objects.commit(commit)
    assert headers["tree"] == [pick.branch_tree]
    assert "cherry picked" not in message
    body = pull["body"]
    assert "* `cart.py` (content, lines 3 to 7, easy to resolve): both add imports" in body
    assert "modify/delete" in body
    assert "@octocat" not in body
    assert "``a`b\\n<!-- x -->.py``" in body
    assert "<!-- x" not in body.replace("`a\\`b", "") or "``" in body
    assert all(command in body for command in pick.commands)
    for marker in ("<<<<<<<", "=======", ">>>>>>>"):
        assert marker not in body
        assert not any(marker in request.body for request in fake.requests)
    assert propose(fake, pick, conflicts="draft", labels=("backport",)).state == "there"
    assert len(proposed(fake)) == 1


def test_the_commands_of_a_draft_put_the_resolved_pick_in_its_place(
    fake: FakeGitHub, line: Line, tmp_path: Path
) -> None:
    pick = a_conflict(fake, line)
    propose(fake, pick, conflicts="draft")
    (pull,) = proposed(fake)
    server = History(tmp_path / "server", bare=True)
    fake.objects.write(server.path)
    for name, sha in fake.branches.items():
        server.git("update-ref", f"refs/heads/{name}", sha)
    clone = server.clone(tmp_path / "clone")
    fence = pull["body"].split("```")[1]
    *first, pick_it, _, push = fence.strip().splitlines()
    for command in first:
        clone.git(*command.split()[1:])
    clone.git(*pick_it.split()[1:], ok=(1,))
    clone.write("cart.py", "resolved\n")
    clone.git("commit", "--quiet", "-a", "--no-edit")
    subprocess.run(["/bin/sh", "-c", push], cwd=clone.path, env=ENVIRONMENT, check=True)
    assert server.git("show", f"{HEAD}:cart.py") == "resolved"
    assert server.git("rev-list", "--count", f"{BRANCH}..{HEAD}") == "1"


HOSTILE = "{branch} @octocat <!-- prjury:v1 --> `x` | [a](http://b) \u202e #1\n## h " + "y" * 400


def test_a_hostile_title_and_reason_stay_words(fake: FakeGitHub, line: Line) -> None:
    pick = a_pick(fake, line)
    hostile = replace(pick, title=HOSTILE, reasons=(HOSTILE,), prerequisites=(HOSTILE,))
    propose(fake, hostile)
    (pull,) = proposed(fake)
    assert pull["title"].startswith("[release/1.x] {branch} @octocat")
    assert len(pull["title"]) <= 256
    assert pull["body"].count("<!--") == 1
    assert "@octocat" not in pull["body"]
    assert "\n## h" not in pull["body"]
    assert "\u202e" not in pull["title"] + pull["body"]
