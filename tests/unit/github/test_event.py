from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.github import pull_payload, side_payload
from prjury.errors import SourceError, UsageError
from prjury.github.event import EventKind, RunId, read_event
from prjury.github.payload import Tip, read_pull

ROOT = "https://api.github.com"
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def environment(directory: Path, name: str, payload: object) -> dict[str, str]:
    file = directory / "event.json"
    file.write_text(json.dumps(payload))
    return {
        "GITHUB_EVENT_NAME": name,
        "GITHUB_EVENT_PATH": str(file),
        "GITHUB_REPOSITORY": "octo/shop",
        "GITHUB_RUN_ID": "12",
        "GITHUB_RUN_ATTEMPT": "3",
    }


def pull_event(**more: Any) -> dict[str, Any]:
    return {"action": "opened", "pull_request": pull_payload(ROOT, "octo/shop", 7) | more}


def test_a_pull_request_tells_everything(tmp_path: Path) -> None:
    event = read_event(environment(tmp_path, "pull_request", pull_event()))
    assert event.kind is EventKind.PULL_REQUEST
    assert (event.repo, event.number, event.action) == ("octo/shop", 7, "opened")
    pull = event.pull
    assert (pull.title, pull.body, pull.author) == (
        "Move the cart",
        "It was in the way.",
        "octocat",
    )
    assert (pull.base, pull.head) == (Tip("main", "a" * 40), Tip("cart", "b" * 40))
    assert (pull.draft, pull.closed, pull.is_fork) == (False, False, False)
    assert event.run == RunId(12, 3)
    assert str(event.run) == "12.3"
    assert (event.api_url, event.server_url) == (ROOT, "https://github.com")
    assert event.notes == ()


def test_a_repeated_run_of_a_renamed_repository_says_what_happened(tmp_path: Path) -> None:
    payload = pull_event()
    payload["repository"] = {"full_name": "octo/store", "id": 77}
    environ = environment(tmp_path, "pull_request", payload) | {"GITHUB_REPOSITORY_ID": "77"}
    with pytest.raises(SourceError, match="from when octo/shop was called octo/store") as caught:
        read_event(environ)
    assert caught.value.reason == "renamed"
    assert "makes a new event" in caught.value.remedy


def test_a_fork_is_one(tmp_path: Path) -> None:
    head = side_payload(ROOT, "stranger/shop", "cart", "b" * 40)
    event = read_event(environment(tmp_path, "pull_request", pull_event(head=head)))
    assert (event.pull.head_repo, event.pull.is_fork) == ("stranger/shop", True)


def test_a_deleted_fork_counts_as_a_fork(tmp_path: Path) -> None:
    head = side_payload(ROOT, "stranger/shop", "cart", "b" * 40) | {"repo": None}
    event = read_event(environment(tmp_path, "pull_request", pull_event(head=head)))
    assert (event.pull.head_repo, event.pull.is_fork) == (None, True)


def test_pull_request_target_says_what_it_does_not_do(tmp_path: Path) -> None:
    event = read_event(environment(tmp_path, "pull_request_target", pull_event()))
    assert "never checked out" in event.notes[0]


def test_a_dispatch_names_a_number_or_two_sides(tmp_path: Path) -> None:
    inputs = {"number": " 9 ", "base": "main", "head": "c" * 40}
    event = read_event(environment(tmp_path, "workflow_dispatch", {"inputs": inputs}))
    assert event.number == 9
    assert (event.pull.base, event.pull.head) == (Tip("main"), Tip(None, "c" * 40))
    nothing = read_event(environment(tmp_path, "workflow_dispatch", {"inputs": None}))
    assert (nothing.number, nothing.pull.base.named, nothing.pull.is_fork) == (None, False, False)


def test_a_merge_group_is_a_comparison(tmp_path: Path) -> None:
    group = {
        "head_sha": "b" * 40,
        "head_ref": "refs/heads/gh-readonly-queue/main/pr-7-aaa",
        "base_sha": "a" * 40,
        "base_ref": "refs/heads/main",
        "head_commit": {"message": "Merge pull request #7\n\nMove the cart"},
    }
    event = read_event(environment(tmp_path, "merge_group", {"merge_group": group}))
    assert (event.number, event.pull.base) == (None, Tip("main", "a" * 40))
    assert (event.pull.title, event.pull.body) == ("Merge pull request #7", "Move the cart")


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"number": "7"}, "number"),
        ({"number": True}, "number"),
        ({"base": None}, "base.repo.full_name"),
        (
            {"base": side_payload(ROOT, "other/shop", "main", "a" * 40)},
            "the repository of this run",
        ),
        ({"head": side_payload(ROOT, "octo/shop", "cart", "--upload-pack=x")}, "head.sha"),
        ({"head": {"ref": "", "sha": "b" * 40}}, "head.ref"),
        ({"head": {"ref": "x", "sha": "b" * 40, "repo": {"full_name": "../x"}}}, "head.repo"),
    ],
)
def test_a_wrong_payload_names_the_key(tmp_path: Path, change: dict[str, Any], named: str) -> None:
    with pytest.raises(SourceError, match=named) as caught:
        read_event(environment(tmp_path, "pull_request", pull_event(**change)))
    assert "\n" not in str(caught.value)
    assert caught.value.reason == "bad_event"


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, "null", "\udcff"])
def test_rubbish_is_a_source_error(tmp_path: Path, text: str) -> None:
    environ = environment(tmp_path, "pull_request", {})
    Path(environ["GITHUB_EVENT_PATH"]).write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(SourceError):
        read_event(environ)


def test_a_payload_beyond_the_limit_is_not_read(tmp_path: Path) -> None:
    environ = environment(tmp_path, "pull_request", {})
    with Path(environ["GITHUB_EVENT_PATH"]).open("wb") as file:
        file.truncate(25 * 1024 * 1024 + 1)
    with pytest.raises(SourceError, match="more than"):
        read_event(environ)


@pytest.mark.parametrize("path", ["", "/nowhere/event.json"])
def test_a_missing_payload_is_a_source_error(path: str) -> None:
    with pytest.raises(SourceError):
        read_event({"GITHUB_EVENT_NAME": "pull_request", "GITHUB_EVENT_PATH": path})


@pytest.mark.parametrize("name", ["", "issues"])
def test_other_events_are_a_wrong_use(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError):
        read_event(environment(tmp_path, name, pull_event()))


@pytest.mark.parametrize("variable", ["GITHUB_RUN_ID", "GITHUB_RUN_ATTEMPT"])
def test_a_run_that_is_no_number_is_a_source_error(tmp_path: Path, variable: str) -> None:
    environ = environment(tmp_path, "pull_request", pull_event()) | {variable: "1e3"}
    with pytest.raises(SourceError):
        read_event(environ)


@given(JSON)
def test_any_json_is_read_or_refused(payload: object) -> None:
    with suppress(ValueError):
        assert read_pull(payload).repo


@given(st.sampled_from(["number", "title", "base", "head", "user", "labels", "draft"]), JSON)
def test_any_wrong_part_is_read_or_refused(key: str, value: object) -> None:
    payload: Mapping[str, object] = pull_payload(ROOT, "octo/shop", 7) | {key: value}
    try:
        facts = read_pull(payload)
    except ValueError as error:
        told = str(error)
    else:
        told = f"{key} is fine: {facts.title}"
    assert key in told.encode().decode()
