"""The parts that the action works with; tests bring their own."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol, TextIO

from prjury.action.inputs import Inputs
from prjury.config.load import POLICY_PATH
from prjury.ports import Progress
from prjury.report.model import Report
from prjury.report.redact import Redact
from prjury.request import ReviewRequest, Surroundings
from prjury.sources.git.fetch import Transport
from prjury.sources.github.event import Event, EventKind
from prjury.sources.github.hub import Connection, GitHub
from prjury.sources.pulls import Wanted


class Nothing(Protocol):
    """There is no change to judge."""

    @property
    def reason(self) -> str:
        """Why, in one line."""
        ...

    @property
    def superseded(self) -> bool:
        """Whether there is a newer head, which this run knows nothing of."""
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


def wire(
    environ: Mapping[str, str], stream: TextIO, redact: Redact, protocols: str = "https"
) -> Wiring:
    """The real parts.

    Args:
        environ: the job's environment with its secrets.
        stream: where the judges' progress is told.
        redact: takes the secrets of this run out of texts.
        protocols: what git may speak to the server.
    """
    from prjury.publishers.progress import PlainProgress  # noqa: PLC0415 - tests do without
    from prjury.report.codec import report_to_json  # noqa: PLC0415 - the same
    from prjury.report.render import Renderer  # noqa: PLC0415 - loads templates

    renderer = Renderer(redact)
    progress = PlainProgress(stream, redact)
    return Wiring(
        judge=lambda event, inputs: _judge(
            wanted(event, inputs, Transport(environ, inputs.github_token or None, protocols)),
            inputs,
            environ,
            progress,
            redact,
        ),
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
    pull: Wanted, inputs: Inputs, environ: Mapping[str, str], progress: Progress, redact: Redact
) -> Report | Nothing:
    from prjury import app  # noqa: PLC0415 - everything that judges; tests do without

    request = ReviewRequest(
        wanted=pull,
        policy_path=inputs.config or POLICY_PATH,
        build=inputs.build,
        model=inputs.model or None,
        trusts_policy=True,  # the base is the repository's own, in whose name this runs
    )
    surroundings = Surroundings(_with_secrets(environ, inputs), progress, redact)
    return app.run(request, surroundings)


def wanted(event: Event, inputs: Inputs, transport: Transport) -> Wanted:
    """What the event is about, to be fetched from the server.

    The workspace is not looked into: the code of a pull request, or a branch that bears the base's
    name, may have written what lies there.
    """
    pull, group = event.pull, event.kind is EventKind.MERGE_GROUP
    return Wanted(
        number=pull.number,
        # A queue tests one commit on another; everything else is merged into the branch of today.
        base=(pull.base.sha if group else None) or pull.base.ref or pull.base.sha,
        head=inputs.head or (None if event.of_pull_request else pull.head.sha or pull.head.ref),
        url=f"{event.server_url}/{event.repo}.git",
        transport=transport,
        facts={
            "repo": pull.repo,
            "title": pull.title,
            "body": pull.body,
            "author": pull.author,
            "draft": pull.draft,
            "url": pull.url,
        },
        local=False,
        head_sha=pull.head.sha if event.of_pull_request else None,
    )


def _with_secrets(environ: Mapping[str, str], inputs: Inputs) -> dict[str, str]:
    """The environment in which a model and a token are looked for: the inputs count more."""
    own = {
        _variable(inputs): inputs.model_api_key,
        "OPENAI_BASE_URL": inputs.model_base_url,
        "GITHUB_TOKEN": inputs.github_token,
    }
    return {**environ, **{name: value for name, value in own.items() if value}}


#: Variables of keys, by how a provider is called and by how its keys begin.
_BY_PROVIDER = {
    "anthropic": "ANTHROPIC_API_KEY",
    "google": "GEMINI_API_KEY",
    "gemini": "GEMINI_API_KEY",
}
_BY_SHAPE = {"sk-ant-": "ANTHROPIC_API_KEY", "AIza": "GEMINI_API_KEY"}


def _variable(inputs: Inputs) -> str:
    """The variable that the key is looked for in: that of the provider, or of the key's shape."""
    provider, colon, _ = inputs.model.partition(":")
    if colon:
        return _BY_PROVIDER.get(provider, "OPENAI_API_KEY")
    shapes = (name for start, name in _BY_SHAPE.items() if inputs.model_api_key.startswith(start))
    return "OPENAI_API_KEY" if inputs.model_base_url else next(shapes, "OPENAI_API_KEY")
