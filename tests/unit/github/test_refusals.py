from __future__ import annotations

import pytest
from github import GithubException

from prjury.errors import SourceError
from prjury.github.client import Connection, GitHub, advise_on_403, join_error_messages


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"message": "Not Found."}, "Not Found"),
        (
            {
                "message": "Validation Failed",
                "errors": [
                    {"resource": "Status", "field": "description", "message": "is too long"},
                    {"resource": "Label", "field": "name", "code": "already_exists"},
                    "No commit found: abc",
                    "a fourth one is left out",
                ],
            },
            "Validation Failed: is too long; Label name already exists; No commit found: abc",
        ),
        ({"message": "Bad\n  words", "errors": [None, {}, 7, {"message": "\n"}]}, "Bad words"),
        ({"errors": "none"}, ""),
        ("<html>", ""),
        (None, ""),
    ],
)
def test_githubs_reason_is_kept(data: object, said: str) -> None:
    assert join_error_messages(data) == said


@pytest.mark.parametrize(
    ("message", "remedy", "reason"),
    [
        (
            "Resource not accessible by integration",
            "Give the token the permission `pull-requests: write`",
            "permission",
        ),
        (
            "You do not have permission to create labels on this repository.",
            "Give the token the permission `issues: write`, or create the label",
            "permission",
        ),
        ("Resource protected by organization SAML enforcement.", "Authorize", "forbidden"),
        (
            "The `octo` organization has an IP allow list enabled",
            "Let the runner's address",
            "forbidden",
        ),
        ("Repository was archived so is read-only.", "Unarchive", "forbidden"),
        ("Unable to create comment because issue is locked.", "Unlock", "forbidden"),
        ("This installation has been suspended", "Have the suspension", "forbidden"),
        ("Commenting is disabled on issues with more than 2500 comments", "Switch", "forbidden"),
    ],
)
def test_no_permission_is_asked_for_where_none_helps(
    message: str, remedy: str, reason: str
) -> None:
    told, word = advise_on_403(message, "pull-requests: write")
    assert told.startswith(remedy)
    assert word == reason


@pytest.mark.parametrize(
    ("needs", "takes", "named"),
    [
        ("pull-requests: read", {"pull-requests: write", "checks: write"}, "pull-requests: write"),
        ("actions: read", {"pull-requests: write"}, "actions: read"),
        ("checks: write", set(), "checks: write"),
        ("pull-requests: read", set(), "pull-requests: read"),
    ],
)
def test_a_permission_is_named_with_the_level_that_the_whole_job_takes(
    needs: str, takes: set[str], named: str
) -> None:
    def refused() -> None:
        raise GithubException(403, {"message": "Resource not accessible by integration"}, {})

    connection = Connection(token="t", takes=frozenset(takes))
    with GitHub(connection) as hub, pytest.raises(SourceError) as caught:
        hub.ask("look", refused, needs=needs)
    assert f"the permission `{named}`" in str(caught.value)
    assert caught.value.reason == "permission"
