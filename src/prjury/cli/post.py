"""``prjury publish --post``: the report goes to its pull request, from wherever this runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prjury.errors import PublishError, UsageError

if TYPE_CHECKING:
    from prjury.cli.output import Terminal
    from prjury.publishers.factory import PublisherFactory
    from prjury.report.model import Report


def post(terminal: Terminal, report: Report) -> None:
    """Posts the comment, the status and whatever else the report's policy wants.

    Raises:
        UsageError: where nothing says which pull request, or there is no token.
        PublishError: when something could not be posted; everything else is.
    """
    posts = _posts(terminal, report)
    wanted = report.policy.resolved.get("publish", {})
    complaints: list[str] = []
    with posts.hub:
        posts.refuse_old_head()
        publishers = [publisher for _, publisher in posts.of_pull_request(wanted)]
        for publisher in filter(None, [*publishers, posts.status(), posts.check(wanted)]):
            try:
                publisher.publish(report)
            except PublishError as error:
                # A person's token may not write check runs, and need not.
                if not (error.reason == "permission" and publisher.name == "check run"):
                    complaints.append(str(error))
    if complaints:
        raise PublishError(" ".join(complaints))


def _posts(terminal: Terminal, report: Report) -> PublisherFactory:
    from prjury.github.client import GITHUB_API, Connection, GitHub  # noqa: PLC0415 - the same
    from prjury.publishers.factory import PublisherFactory, Target, Texts  # noqa: PLC0415 - keeps `--help` instant
    from prjury.report.render import Renderer  # noqa: PLC0415 - the same

    environ, pull = terminal.environ, report.pull
    token = environ.get("GITHUB_TOKEN") or environ.get("GH_TOKEN")
    if not token:
        raise UsageError("--post takes a token", remedy="Set GITHUB_TOKEN")
    if pull.number is None or "/" not in pull.repo:
        raise UsageError(
            "--post takes a pull request",
            why="The evidence is about two refs of a local repository",
            remedy="Collect it by the pull request's number or URL",
        )
    renderer = Renderer(terminal.redact)
    hub = GitHub(Connection(environ.get("GITHUB_API_URL") or GITHUB_API, token))
    target = Target(pull.repo, pull.number, pull.head.sha, by_status=True)
    words = Texts(lambda told, run: renderer.comment(told, run=run), renderer.check)
    return PublisherFactory(target, hub, words, terminal.redact)
