"""A GitHub that remembers, refuses what GitHub refuses, and fails by script.

It listens on loopback and writes its own address into every URL of a payload, as PyGithub refuses
to follow others. Payloads have the shape of GitHub's REST API 2022-11-28.
"""

from fakes.github.accounts import ACTIONS, ACTIONS_APP, OCTOCAT, READ_ONLY_ACTIONS, Account
from fakes.github.check_payloads import check_run_payload, status_payload, workflow_run_payload
from fakes.github.conversation import BODY_LIMIT
from fakes.github.exchange import Answer, Payload, Request
from fakes.github.faults import NO_FAULT, Fault, rate_limited, refused, secondary_limit
from fakes.github.filling import zipped
from fakes.github.payloads import (
    BASE_SHA,
    HEAD_SHA,
    pull_payload,
    repository_payload,
    side_payload,
    user_payload,
)
from fakes.github.server import FakeGitHub, running

__all__ = [
    "ACTIONS",
    "ACTIONS_APP",
    "BASE_SHA",
    "BODY_LIMIT",
    "HEAD_SHA",
    "NO_FAULT",
    "OCTOCAT",
    "READ_ONLY_ACTIONS",
    "Account",
    "Answer",
    "FakeGitHub",
    "Fault",
    "Payload",
    "Request",
    "check_run_payload",
    "pull_payload",
    "rate_limited",
    "refused",
    "repository_payload",
    "running",
    "secondary_limit",
    "side_payload",
    "status_payload",
    "user_payload",
    "workflow_run_payload",
    "zipped",
]
