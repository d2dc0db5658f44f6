"""The check runs of a repository: the door through which a publisher writes its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from prjury.github.client import GitHub
from prjury.github.payload import at, object_name, text, whole_number
from prjury.github.repo_client import RepoClient
from prjury.report.annotations import Annotation

_NEEDS = "checks: write"
_READS = "checks: read"


@dataclass(frozen=True, slots=True)
class PostedCheckRun:
    """A check run as GitHub holds it.

    Attributes:
        app: the slug of the app that made it.
        conclusion: None as long as it has not ended.
        details_url: where its maker says that more is told, empty where it says nothing.
        url: its own page.
    """

    id: int
    app: str
    external_id: str
    conclusion: str | None
    details_url: str
    url: str


class CheckRuns:
    """The check runs of one repository.

    Every method raises PublishError: whoever comes here wants to publish.
    """

    def __init__(self, hub: GitHub, repo: str) -> None:
        self._room = RepoClient(hub, repo)

    def app(self) -> str:
        """The slug of the app that the token belongs to; empty for a user's token."""
        account = self._room.account()
        return account.removesuffix("[bot]") if account.endswith("[bot]") else ""

    def named(self, head_sha: str, name: str) -> list[PostedCheckRun]:
        """All check runs of that name on a commit, oldest first, whoever made them."""
        commit = object_name(head_sha, "the head")
        runs = self._room.every(
            f"list the check runs of {self._room.repo}",
            f"/commits/{commit}/check-runs",
            _posted,
            key="check_runs",
            needs=_READS,
            parameters={"check_name": name, "filter": "all"},
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
        self, head_sha: str, name: str, external_id: str, *, title: str, summary: str, page: str
    ) -> PostedCheckRun:
        """Begins a check run; after an unclear failure nobody knows whether it is there."""
        content: dict[str, Any] = {
            "name": name,
            "head_sha": object_name(head_sha, "the head"),
            "external_id": external_id,
            "status": "in_progress",
            "output": {"title": title, "summary": summary},
        }
        return self._room.send(
            f"begin a check run of {self._room.repo}",
            "POST",
            "/check-runs",
            content | ({"details_url": page} if page else {}),
            _posted,
            needs=_NEEDS,
            repeatable=False,
        )

    def update(
        self,
        check_run: int,
        *,
        title: str,
        summary: str,
        page: str,
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
        content = {"output": output, **(state if conclusion else {"status": "in_progress"})}
        return self._room.send(
            f"update the check run of {self._room.repo}",
            "PATCH",
            f"/check-runs/{check_run}",
            content | ({"details_url": page} if page else {}),
            _posted,
            needs=_NEEDS,
            repeatable=not annotations,
        )


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
