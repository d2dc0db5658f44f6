"""The parts that the action works with; tests bring their own."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TextIO

from prjury.action.inputs import Inputs
from prjury.config.load import POLICY_PATH
from prjury.ports import Progress
from prjury.report.model import Report
from prjury.report.redact import Redact
from prjury.sources.event import Event
from prjury.sources.git.fetch import Transport
from prjury.sources.github import Connection, GitHub
from prjury.sources.pulls import Wanted


class Nothing(Protocol):
    """There is no change to judge."""

    @property
    def reason(self) -> str:
        """Why, in one line."""
        ...


@dataclass(frozen=True)
class Wiring:
    """What judges, what renders, and what speaks with GitHub.

    Attributes:
        judge: from an event to a report.
        comment: the sticky comment's Markdown for a report and a run (``id.attempt``).
        summary: the job summary's Markdown.
    """

    judge: Callable[[Event, Inputs], Report | Nothing]
    comment: Callable[[Report, str | None], str]
    summary: Callable[[Report], str]
    html: Callable[[Report], str]
    json: Callable[[Report], str]
    connect: Callable[[Event, Inputs], GitHub]


def wire(environ: Mapping[str, str], stream: TextIO, redact: Redact) -> Wiring:
    """The real parts.

    Args:
        environ: the job's environment with its secrets.
        stream: where the judges' progress is told.
        redact: takes the secrets of this run out of texts.
    """
    from prjury.publishers.progress import PlainProgress  # noqa: PLC0415 - tests do without
    from prjury.report.codec import report_to_json  # noqa: PLC0415 - the same
    from prjury.report.render import Renderer  # noqa: PLC0415 - loads templates

    renderer = Renderer(redact)
    progress = PlainProgress(stream, redact)
    return Wiring(
        judge=lambda event, inputs: _judge(event, inputs, environ, progress, redact),
        comment=lambda report, run: renderer.comment(report, run=run),
        summary=renderer.summary,
        html=renderer.html,
        json=lambda report: json.dumps(report_to_json(report, redact), indent=2),
        connect=connect,
    )


def connect(event: Event, inputs: Inputs) -> GitHub:
    """A connection to the GitHub that the event came from."""
    return GitHub(Connection(event.api_url, inputs.github_token or None))


def _judge(
    event: Event,
    inputs: Inputs,
    environ: Mapping[str, str],
    progress: Progress,
    redact: Redact,
) -> Report | Nothing:
    from prjury import app  # noqa: PLC0415 - everything that judges; tests do without

    request = app.ReviewRequest(
        wanted=_wanted(event, inputs, environ),
        policy_path=inputs.config or POLICY_PATH,
        build=inputs.build,
        model=inputs.model or None,
    )
    surroundings = app.Surroundings(_with_model_key(environ, inputs), progress, redact)
    return app.run(request, surroundings)


def _wanted(event: Event, inputs: Inputs, environ: Mapping[str, str]) -> Wanted:
    pull = event.pull
    workspace = Path(environ.get("GITHUB_WORKSPACE") or tempfile.gettempdir())
    return Wanted(
        repo=workspace / inputs.working_directory,
        number=pull.number,
        base=pull.base.ref or pull.base.sha,
        head=inputs.head or (None if pull.number else pull.head.sha or pull.head.ref),
        url=f"{event.server_url}/{event.repo}.git",
        transport=Transport(environ, inputs.github_token or None),
        facts={
            "repo": pull.repo,
            "title": pull.title,
            "body": pull.body,
            "author": pull.author,
            "draft": pull.draft,
            "url": pull.url,
        },
    )


def _with_model_key(environ: Mapping[str, str], inputs: Inputs) -> dict[str, str]:
    """The environment for the choice of a model: the inputs count more than the variables."""
    provider = inputs.model.partition(":")[0] if ":" in inputs.model else "openai"
    names = {
        "anthropic": "ANTHROPIC_API_KEY",
        "google": "GEMINI_API_KEY",
        "gemini": "GEMINI_API_KEY",
    }
    own = {
        names.get(provider, "OPENAI_API_KEY"): inputs.model_api_key,
        "OPENAI_BASE_URL": inputs.model_base_url,
    }
    return {**environ, **{name: value for name, value in own.items() if value}}
