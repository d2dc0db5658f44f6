"""Who asks for a backport to which branch, in the conventions of the common tools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.repository import pull_between
from prjury.judges.backport.checks.asked_for import (
    FoundRequests,
    RequestSources,
    check_not_refused,
    find_requests,
    list_requested_branches_and_notes,
    read_answer_for_branch,
)
from prjury.jury.judgment import Check
from prjury.policy.load import read_options
from prjury.policy.schema import BackportConfig
from prjury.snapshot.model import MergeTrial, PullRequest, Side

BRANCHES = (
    *("1.0.x", "1.1.x", "release/1.2", "stable-2.14", "v6.1.x", "3.1", "3.12", "8.1", "v18.x"),
    *("beta", "16-11-stable-ee", "release-1.30", "stable/rocky", "linux-5.4.y", "linux-5.10.y"),
)


def pull(**said: Any) -> PullRequest:
    base, head = Side("main", "b" * 40), Side("fix", "e" * 40)
    return PullRequest("o/n", base, head, "b" * 40, MergeTrial("f" * 40), author="ada", **said)


def read(
    messages: Sequence[str] = (),
    own: str | None = None,
    policy: dict[str, Any] | None = None,
    **said: Any,
) -> RequestSources:
    config = read_options(policy or {}, BackportConfig)
    return find_requests(pull(**said), config, messages, own)


def check_for(found: RequestSources, branch: str, among: Sequence[str] = ()) -> Check:
    return check_not_refused(found, read_answer_for_branch(found, branch, among))


def answers(found: RequestSources) -> dict[str, str]:
    """The branches that something is said of, with what."""
    told = {branch: read_answer_for_branch(found, branch, BRANCHES).answer for branch in BRANCHES}
    return {branch: answer for branch, answer in told.items() if answer}


def yes(*branches: str) -> dict[str, str]:
    return dict.fromkeys(branches, "yes")


def no(*branches: str) -> dict[str, str]:
    return dict.fromkeys(branches, "no")


@pytest.mark.parametrize(
    ("label", "said"),
    [
        ("backport 1.0.x", yes("1.0.x")),
        ("backport-to-1.0.x", yes("1.0.x")),
        ("backport-1.0", yes("1.0.x")),
        ("backport/release/1.2", yes("release/1.2")),
        ("backport:release/1.2", yes("release/1.2")),
        ("backport-release-1.2", yes("release/1.2")),
        ("backport 1.2 branch", yes("release/1.2")),
        ("backport-2.14", yes("stable-2.14")),
        ("backport-v6.1.x", yes("v6.1.x")),
        ("backport stable/rocky", yes("stable/rocky")),
        ("on-merge: backport to v6.1.x", yes("v6.1.x")),
        ("auto-backport-to-8.1", yes("8.1")),
        ("backport-v8.1.0", yes("8.1")),
        ("needs backport to 3.12", yes("3.12")),
        ("needs backport to 3.1", yes("3.1")),
        ("cherry-pick/v1.2", yes("release/1.2")),
        ("cherrypick/release-1.30", yes("release-1.30")),
        ("Pick into 16.11", yes("16-11-stable-ee")),
        ("for: backport-to-1.0.x", yes("1.0.x")),
        ("for: forward-port-to-1.1.x", yes("1.1.x")),
        ("Auto-cherry-pick to 1.0.x branch 🍒🐍🤖", yes("1.0.x")),
        ("🍒 cherry-pick 1.0.x", yes("1.0.x")),
        ("backport 1.0.x and 1.1.x", yes("1.0.x", "1.1.x")),
        ("lts-watch-v18.x", yes("v18.x")),
        ("backport-requested-v18.x", yes("v18.x")),
        ("beta-nominated", yes("beta")),
        ("beta-accepted", yes("beta")),
        ("backport:all-open", yes(*BRANCHES)),
        ("dont-land-on-v18.x", no("v18.x")),
        ("don't backport to 1.0.x", no("1.0.x")),
        ("no backport to 1.0", no("1.0.x")),
        *((name, no(*BRANCHES)) for name in ("skip backport", "skip-backport", "no-backport")),
        *((name, no(*BRANCHES)) for name in ("backport: none", "backport:skip", "backport-skip")),
        *((name, no(*BRANCHES)) for name in ("backport not needed", "do not backport")),
    ],
)
def test_labels_of_the_common_tools(label: str, said: dict[str, str]) -> None:
    assert answers(read(labels=(label,))) == said


@pytest.mark.parametrize(
    "label",
    [
        *("backport", "needs backport", "needs-backport", "kind/backport", "auto-backport"),
        *("cherry-pick-approved", "backport:version", "backport pending", "status: forward-port"),
        "do-not-merge/cherry-pick-not-approved",
    ],
)
def test_a_label_that_names_no_branch_counts_for_none(label: str) -> None:
    found = read(labels=(label,))
    assert answers(found) == {}
    check = check_for(found, "1.0.x", BRANCHES)
    assert (check.passed, check.severity) == (True, "hint")
    assert check.message == (f"asked for without naming this branch (the label: {label})")


@pytest.mark.parametrize(
    "label",
    [
        *("cherry-picked", "status: backported", "backported-to-v18.x", "backport-open-v18.x"),
        *("failed-backport", "backport failed", "backport-blocked-v18.x"),
        *("bug", "portability", "v8.1.0", "1.0.x", "release/1.2", "documentation", "", "→", "3.12"),
    ],
)
def test_other_labels_ask_for_nothing(label: str) -> None:
    assert answers(read(labels=(label,))) == {}


@pytest.mark.parametrize("label", ["auto-backport", "backport:version", "auto-backport-and-merge"])
def test_releases_count_beside_a_label_that_says_so(label: str) -> None:
    assert answers(read(labels=("v8.1.0", label))) == yes("8.1")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("/backport 1.0.x", yes("1.0.x")),
        ("/backport to release/1.2", yes("release/1.2")),
        ("/cherry-pick release-1.30", yes("release-1.30")),
        ("/cherrypick 1.0.x 1.1.x", yes("1.0.x", "1.1.x")),
        ("/backport beta please", yes("beta")),
        ("/no-backport", no(*BRANCHES)),
        ("/no-backport 1.0.x", no("1.0.x")),
        ("@mergifyio backport 1.0.x 1.1.x", yes("1.0.x", "1.1.x")),
        ("@Mergifyio backport beta", yes("beta")),
        ("@meeseeksdev backport to v6.1.x", yes("v6.1.x")),
        ("@MeeseeksDev[bot] please backport to v6.1.x", yes("v6.1.x")),
        ("/backport", {}),
        ("/backported 1.0.x", {}),
        ("Use /backport 1.0.x", {}),
        ("`/backport 1.0.x`", {}),
        ("> /backport 1.0.x", {}),
        ("    /backport 1.0.x", {}),
        ("```\n/backport 1.0.x\n```", {}),
        ("````\n```\n/backport 1.0.x\n````", {}),
        ("~~~\n/backport 1.0.x", {}),
        ("```\ncode\n```\n/backport 1.0.x", yes("1.0.x")),
        ("<!-- \n/backport 1.0.x\n-->", {}),
        ("<!-- \n/backport 1.0.x", {}),
        ("@mergifyio backport <destination> will backport this", {}),
        ("/backport " + "1.0.x " * 60, {}),
    ],
)
def test_commands_at_the_start_of_a_line(line: str, said: dict[str, str]) -> None:
    assert answers(read(body=f"Fixes it.\r\n\r\n{line}\n")) == said


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("Backport-to: 1.0.x", yes("1.0.x")),
        ("Backport: 1.0.x, 1.1.x", yes("1.0.x", "1.1.x")),
        ("Backport: stable/rocky", yes("stable/rocky")),
        ("Backport: none", no(*BRANCHES)),
        ("Backport: all", yes(*BRANCHES)),
        ("Backport: yes", {}),
        ("Cherry-pick-to: release/1.2", yes("release/1.2")),
        ("Auto-cherry-pick to 1.0.x", yes("1.0.x")),
        ("Auto cherry-pick to 1.0.x, 1.1.x", yes("1.0.x", "1.1.x")),
        ("**Auto-cherry-pick to `1.0.x` & `1.1.x`**", yes("1.0.x", "1.1.x")),
        ("Cc: stable@vger.kernel.org # 5.4.x", yes("linux-5.4.y")),
        ("Cc: <stable@vger.kernel.org> # v5.10", yes("linux-5.10.y")),
        ("Cc: stable@vger.kernel.org", {}),
        ("Backport: teach the parser of 1.0.x", {}),
        ("Backport to the old line, because 1.0.x is broken", {}),
        ("> Backport-to: 1.0.x", {}),
        ("Backport-to: <branch>", {}),
    ],
)
def test_trailers(line: str, said: dict[str, str]) -> None:
    assert answers(read(messages=[f"Fix it\n\nLike that.\n\n{line}\n"])) == said
    assert answers(read(body=line)) == said


def test_from_a_version_on() -> None:
    found = answers(read(body="Cc: stable@vger.kernel.org # 5.4+"))
    assert "linux-5.4.y" in found
    assert "linux-5.10.y" in found
    assert "3.12" not in found


@pytest.mark.parametrize(
    ("title", "said"),
    [
        ("Fix (backport to 1.0.x)", yes("1.0.x")),
        ("[backport 1.0.x] Fix", yes("1.0.x")),
        ("Fix [skip backport]", no(*BRANCHES)),
        ("[1.0.x] Fix", {}),
        ("[backport] Fix", {}),
        ("Fix (backport #123)", {}),
    ],
)
def test_brackets_in_a_title(title: str, said: dict[str, str]) -> None:
    assert answers(read(title=title)) == said


def test_labels_of_the_policy() -> None:
    policy = {"labels": ["Port/{branch}", "land {branch} too"]}
    labels = ("port/1.0", "Land release/1.2 too", "land  too", "port/")
    assert answers(read(labels=labels, policy=policy)) == yes("1.0.x", "release/1.2")


def test_the_label_of_a_run_itself_is_nobodys_wish() -> None:
    labels = ("Backport:1.0.x", "backport 1.1.x")
    assert answers(read(labels=labels, own="backport:{branch}")) == yes("1.1.x")


def test_a_refusal_wins() -> None:
    found = read(labels=("backport 1.0.x", "skip backport"), body="/backport 1.1.x")
    assert answers(found) == no(*BRANCHES)
    assert read_answer_for_branch(found, "1.0.x").by == ("the label: skip backport",)
    check = check_for(found, "1.0.x", BRANCHES)
    assert (check.name, check.passed, check.severity) == ("asked-for", False, "error")
    assert check.message == "refused for this branch (the label: skip backport)"


def test_who_said_it_and_the_words_are_evidence() -> None:
    found = read(
        ["Fix\n\nBackport-to: 1.0.x"],
        policy={"labels": ["take/{branch}"]},
        labels=("backport 1.0.x", "take/1.0.x"),
        title="Fix (backport to 1.0.x)",
        body="/backport 1.0.x\n@bot backport 1.0.x\n/backport 1.1.x",
    )
    told = read_answer_for_branch(found, "1.0.x", BRANCHES)
    assert told == FoundRequests(
        "yes",
        (
            "the label: backport 1.0.x",
            "the label: take/1.0.x",
            "@ada in the title: (backport to 1.0.x)",
            "@ada: /backport 1.0.x",
            "@ada: @bot backport 1.0.x",
            "a commit: Backport-to: 1.0.x",
        ),
    )
    check = check_for(found, "1.0.x", BRANCHES)
    assert check.evidence == "\n".join(told.by)
    assert check.message.endswith("@ada: /backport 1.0.x; 2 more)")


def test_a_request_for_another_branch_is_none_for_this_one() -> None:
    check = check_for(read(labels=("backport 3.1",)), "3.12")
    assert check.message == "nobody has asked for it"


def test_nothing_hides_in_a_quote() -> None:
    check = check_for(read(labels=("backport 1.0.x\u202e\u0007",)), "1.0.x")
    assert check.message.isprintable()
    long = check_for(read(body=f"/backport 1.0.x {'please ' * 30}"), "1.0.x")
    assert len(long.message) < 200


pieces = st.lists(
    st.sampled_from(
        [
            "backport",
            "cherry-pick",
            "to",
            "no",
            "skip",
            " ",
            "-",
            ":",
            "/",
            "1.0.x",
            "3.1",
            "@a",
            "\n",
        ]
    )
)


@given(pieces | st.lists(st.text()))
def test_no_text_breaks_it(words: list[str]) -> None:
    text = "".join(words)
    found = read([text], labels=(text,), title=text, body=text)
    for branch in ("1.0.x", text):
        check = check_for(found, branch, BRANCHES)
        assert check.passed == (read_answer_for_branch(found, branch, BRANCHES).answer != "no")


@given(st.integers(0, 9), st.sampled_from(["backport {}", "backport-to-{}", "cherry-pick/v{}"]))
def test_a_shorter_version_asks_for_no_longer_one(digit: int, label: str) -> None:
    found = read(labels=(label.format("3.1"),))
    for branch in (f"3.1{digit}", f"3.1.{digit}.x", f"release/3.1{digit}", f"v3.1{digit}.x"):
        assert read_answer_for_branch(found, branch).answer is None


@pytest.mark.parametrize(
    ("title", "branches"),
    [
        ("1.0.3", yes("1.0.x")),
        ("v1.1.0", yes("1.1.x")),
        ("1.2", yes("release/1.2")),
        ("Release 2.14.9", yes("stable-2.14")),
        ("1.0.x", yes("1.0.x")),
        ("2.0.0", {}),  # the base's own, which has no branch yet
        ("12", {}),
        ("Backlog", {}),
    ],
)
def test_a_milestone_asks_for_the_branch_of_its_version(
    title: str, branches: dict[str, str]
) -> None:
    assert answers(read(milestone=title)) == branches


def test_requests_name_branches_or_are_told() -> None:
    sources = read(labels=("backport 1.0.x", "backport 9.x", "backport"), milestone="7.1.2")
    names, notes = list_requested_branches_and_notes(sources, BRANCHES)
    assert names == ("1.0.x",)
    assert notes == ("no branch is meant by the label: backport 9.x",)


@pytest.mark.parametrize(
    ("paths", "asked"),
    [
        (
            (".changes/v3.12/BUG FIXES-2.yaml", "a.py"),
            {"3.12": (True, False), "3.1": (False, True)},
        ),
        (("docs/releases/6.1.4.txt", "a.py"), {"v6.1.x": (True, False), "1.1.x": (False, True)}),
        ((".changes/v4.0/NEW-2.yaml", "a.py"), {"3.12": (False, True)}),
        ((".changes/3.12/one.yaml",), {"3.12": (False, False)}),  # notes alone are housekeeping
        (("changelog/12.bugfix.rst", "lib/v3.12/a.py"), {"3.12": (False, False)}),
        # A release's own notes, written when it is made.
        (("changelogs/CHANGELOG-v3.12.0.md", "a.py"), {"3.12": (False, False)}),
    ],
)
def test_a_changelog_entry_under_a_release_asks_for_its_branch_and_for_no_other(
    paths: Sequence[str], asked: dict[str, tuple[bool, bool]]
) -> None:
    before = {"docs/releases/6.1.4.txt": "old\n"}
    change = pull_between(before, before | dict.fromkeys(paths, "new\n"))
    found = find_requests(change, read_options({}, BackportConfig))
    told = {branch: read_answer_for_branch(found, branch, BRANCHES) for branch in asked}
    assert {name: (one.answer == "yes", one.elsewhere) for name, one in told.items()} == asked
    assert list_requested_branches_and_notes(found, BRANCHES)[1] == ()
