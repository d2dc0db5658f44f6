"""The environment of a job of the action, and a connection that waits for nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from fakes.github import FakeGitHub
from prjury.action.job import Inputs
from prjury.github.client import Connection, GitHub, RetryBudget
from prjury.github.event import Event


def connect(
    event: Event, inputs: Inputs, sleep: Callable[[float], None] = lambda _seconds: None
) -> GitHub:
    token = inputs.github_token or None
    connection = Connection(
        event.api_url, token, seconds_between_requests=0, seconds_between_writes=0
    )
    return GitHub(connection, RetryBudget(sleep=sleep))


def job_environment(fake: FakeGitHub, directory: Path, event: str, **more: str) -> dict[str, str]:
    return {
        "GITHUB_EVENT_NAME": event,
        "GITHUB_EVENT_PATH": str(directory / "event.json"),
        "GITHUB_REPOSITORY": "octo/shop",
        "GITHUB_API_URL": fake.url,
        "GITHUB_RUN_ID": "12",
        "GITHUB_RUN_ATTEMPT": "1",
        "GITHUB_OUTPUT": str(directory / "output"),
        "GITHUB_STEP_SUMMARY": str(directory / "summary"),
        "RUNNER_TEMP": str(directory),
        "PRJURY_INPUT_GITHUB_TOKEN": "ghs_actions",
        **more,
    }
