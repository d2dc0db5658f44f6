"""Which model a job asks, by its input and by what GitHub hands to it."""

from __future__ import annotations

import io

import pytest

from prjury.action.dependencies import make_dependencies, make_request
from prjury.action.job import Inputs, Job, JobDirectories, Log
from prjury.github.event import Event, EventKind
from prjury.github.payload import PullFacts, Tip
from prjury.report.sanitise import Redactor

PULL = PullFacts("octo/shop", Tip("main"), Tip("topic"), 7, head_repo="octo/shop")
FORK = PullFacts("octo/shop", Tip("main"), Tip("topic"), 7, head_repo="stranger/shop")
OWN = Event(EventKind.PULL_REQUEST, PULL)
STRANGERS = Event(EventKind.PULL_REQUEST, FORK)
BOTS = Event(EventKind.PULL_REQUEST, PULL, sender="dependabot[bot]")


def model(event: Event | None, inputs: Inputs, **environ: str) -> str | None:
    stream, redact = io.StringIO(), Redactor()
    parts = make_dependencies(environ, stream, redact)
    job = Job(inputs, environ, Log(stream, redact), parts, JobDirectories.of(environ))
    return make_request(job, event).model


@pytest.mark.parametrize("event", [OWN, None, Event(EventKind.PULL_REQUEST_TARGET, FORK)])
def test_the_named_model_is_asked_and_its_key_expected(event: Event | None) -> None:
    assert model(event, Inputs(model="openai:m")) == "openai:m"


@pytest.mark.parametrize("event", [STRANGERS, BOTS])
def test_where_github_withholds_the_key_only_a_model_without_it_is_asked(event: Event) -> None:
    assert model(event, Inputs(model="openai:m")) is None
    assert model(event, Inputs(model="anthropic:m"), OPENAI_API_KEY="sk") is None
    assert model(event, Inputs(model="openai:m", model_base_url="http://127.0.0.1:1/v1"))
    assert model(event, Inputs(model="openai:m"), OPENAI_API_KEY="sk")
    assert model(event, Inputs(model="command:llm -m x")) == "command:llm -m x"
