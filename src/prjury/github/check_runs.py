"""What GitHub shows of a commit: check runs and statuses, read and written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from prjury.github.client import GitHub
from prjury.github.payload import at, object_name, text, whole_number
from prjury.github.repo_client import RepoClient
from prjury.report.annotations import Annotation


@dataclass(frozen=True, slots=True)
class PostedStatus:
    """A status as GitHub holds it.

    Attributes:
        id: its number; later statuses have greater ones.
        state: ``success``, ``failure``, ``error`` or ``pending``.
        creator: the login of the account that set it, empty for a deleted one.
        target_url: the page that it leads to, or an empty text.
    """

    id: int
    state: str
    description: str
    target_url: str
    creator: str
    context: str = ""


class Statuses:
    """The statuses of one repository's commits.

    Every method raises PublishError.
    """

    def __init__(self, client: GitHub, repo: str) -> None:
        self._room = RepoClient(client, repo)

    def account(self) -> str:
        """The account under which statuses are set here."""
        return self._room.account()

    def latest(self, sha: str, context: str) -> PostedStatus | None:
        """The last status of that context, which is the one that counts."""
        return next(self.recent(sha, context), None)

    def recent(self, sha: str, context: str) -> Iterator[PostedStatus]:
        """The statuses of that context, the newest first."""
        return (_posted_status(one) for one in self._all(sha) if _is_of(one, context))

    def newest(self, sha: str) -> dict[str, PostedStatus]:
        """The last status of each context."""
        statuses = map(_posted_status, reversed(list(self._all(sha))))
        return {status.context: status for status in statuses}

    def _all(self, sha: str) -> Iterator[object]:
        path = f"/commits/{object_name(sha, 'the head')}/statuses"
        doing = f"list the statuses of {self._room.repo}"
        return self._room.entries(doing, path, needs="statuses: read")

    def create(
        self, sha: str, context: str, *, state: str, description: str, target_url: str
    ) -> PostedStatus:
        """Sets a status; after an unclear failure nobody knows whether it is there."""
        content = {"state": state, "context": context, "description": description}
        return self._room.send(
            f"set the commit status of {self._room.repo}",
            "POST",
            f"/statuses/{object_name(sha, 'the head')}",
            content | ({"target_url": target_url} if target_url else {}),
            _posted_status,
            needs="statuses: write",
            repeatable=False,
        )


def _is_of(payload: object, context: str) -> bool:
    return text(at(payload, "context")) == context


def _posted_status(payload: object) -> PostedStatus:
    return PostedStatus(
        id=whole_number(at(payload, "id"), "the status's id"),
        state=text(at(payload, "state")),
        description=text(at(payload, "description")),
        target_url=text(at(payload, "target_url")),
        creator=text(at(payload, "creator", "login")),
        context=text(at(payload, "context")),
    )


_NEEDS = "checks: write"
_READS = "checks: read"


@dataclass(frozen=True, slots=True)
class PostedCheckRun:
    """A check run as GitHub holds it.

    Attributes:
        app: the slug of the app that made it.
        external_id: what its app calls it; the only word of ours that GitHub gives back as it is.
        conclusion: None as long as it has not ended.
        details_url: the page that it links to, which GitHub chooses where a job's token made it.
        url: its own page.
    """

    id: int
    app: str
    external_id: str
    conclusion: str | None
    details_url: str
    url: str


@dataclass(frozen=True, slots=True)
class Origin:
    """In whose name a check run is written.

    Attributes:
        external_id: says so to programs.
        page: says so to people, where GitHub keeps it; may be empty.
    """

    external_id: str
    page: str


class CheckRuns:
    """The check runs of one repository.

    Every method raises PublishError.
    """

    def __init__(self, client: GitHub, repo: str) -> None:
        self._room = RepoClient(client, repo)

    def app(self) -> str:
        """The slug of the app that the token belongs to; empty for a user's token."""
        account = self._room.account()
        return account.removesuffix("[bot]") if account.endswith("[bot]") else ""

    def named(self, head_sha: str, name: str) -> list[PostedCheckRun]:
        """All check runs of that name on a commit, oldest first, of any app."""
        commit = object_name(head_sha, "the head")
        runs = self._room.every(
            f"list the check runs of {self._room.repo}",
            f"/commits/{commit}/check-runs",
            _posted,
            key="check_runs",
            needs=_READS,
            query={"check_name": name, "filter": "all"},
        )
        return sorted({run.id: run for run in runs}.values(), key=lambda run: run.id)

    def annotations(self, check_run: int) -> list[Annotation]:
        """What a check run says of lines, from all pages."""
        return self._room.every(
            f"list the annotations of a check run of {self._room.repo}",
            f"/check-runs/{check_run}/annotations",
            _annotation,
            needs=_READS,
        )

    def create(
        self, head_sha: str, name: str, origin: Origin, *, title: str, summary: str
    ) -> PostedCheckRun:
        """Begins a check run; after an unclear failure nobody knows whether it is there."""
        content: dict[str, Any] = {
            "name": name,
            "head_sha": object_name(head_sha, "the head"),
            **_named(origin),
            "status": "in_progress",
            "output": {"title": title, "summary": summary},
        }
        return self._room.send(
            f"begin a check run of {self._room.repo}",
            "POST",
            "/check-runs",
            content,
            _posted,
            needs=_NEEDS,
            repeatable=False,
        )

    def update(
        self,
        check_run: int,
        origin: Origin,
        *,
        title: str,
        summary: str,
        text: str = "",
        annotations: Sequence[Annotation] = (),
        conclusion: str | None = None,
    ) -> PostedCheckRun:
        """Writes what a check run says, and ends it if there is a conclusion.

        Annotations are added to those that are there: with some of them, nobody knows after an
        unclear failure whether they were.
        """
        output: dict[str, Any] = {"title": title, "summary": summary}
        output |= {"text": text} if text else {}
        output |= {"annotations": [_sent(one) for one in annotations]} if annotations else {}
        state = {"conclusion": conclusion, "status": "completed"}
        found = {"output": output, **_named(origin)}
        content = {**found, **(state if conclusion else {"status": "in_progress"})}
        return self._room.send(
            f"update the check run of {self._room.repo}",
            "PATCH",
            f"/check-runs/{check_run}",
            content,
            _posted,
            needs=_NEEDS,
            repeatable=not annotations,
        )


def _named(origin: Origin) -> dict[str, str]:
    page = {"details_url": origin.page} if origin.page else {}
    return {"external_id": origin.external_id, **page}


def _posted(payload: object) -> PostedCheckRun:
    ended = at(payload, "status") == "completed"
    return PostedCheckRun(
        id=whole_number(at(payload, "id"), "the check run's id"),
        app=text(at(payload, "app", "slug")),
        external_id=text(at(payload, "external_id")),
        conclusion=(text(at(payload, "conclusion")) or "unknown") if ended else None,
        details_url=text(at(payload, "details_url")),
        url=text(at(payload, "html_url")),
    )


def _annotation(payload: object) -> Annotation:
    start = whole_number(at(payload, "start_line"), "start_line")
    return Annotation(
        path=text(at(payload, "path")),
        start_line=start,
        end_line=whole_number(at(payload, "end_line"), "end_line"),
        level=text(at(payload, "annotation_level")),
        title=text(at(payload, "title")),
        message=text(at(payload, "message")),
        raw_details=text(at(payload, "raw_details")),
    )


def _sent(annotation: Annotation) -> dict[str, str | int]:
    content: dict[str, str | int] = {
        "path": annotation.path,
        "start_line": annotation.start_line,
        "end_line": annotation.end_line,
        "annotation_level": annotation.level,
        "title": annotation.title,
        "message": annotation.message,
    }
    return content | ({"raw_details": annotation.raw_details} if annotation.raw_details else {})
