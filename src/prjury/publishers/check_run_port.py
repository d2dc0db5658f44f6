"""What the check run's publisher needs of GitHub."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from prjury.report.annotations import Annotation


class PostedCheck(Protocol):
    """A check run as GitHub holds it."""

    @property
    def id(self) -> int:
        """Its number; later check runs have greater ones."""
        ...

    @property
    def app(self) -> str:
        """The slug of the app that made it."""
        ...

    @property
    def external_id(self) -> str:
        """What its maker calls it."""
        ...

    @property
    def conclusion(self) -> str | None:
        """How it ended; None as long as it has not."""
        ...

    @property
    def details_url(self) -> str:
        """The page of the workflow run that wrote it last."""
        ...

    @property
    def url(self) -> str:
        """Its own page."""
        ...


class CheckRunsPort(Protocol):
    """The check runs of a repository; every method raises PublishError."""

    def app(self) -> str:
        """The slug of our app; empty for a user, who may make no check runs."""
        ...

    def named(self, head_sha: str, name: str) -> Sequence[PostedCheck]:
        """All check runs of that name on a commit, oldest first."""
        ...

    def annotations(self, check_run: int) -> Sequence[Annotation]:
        """What a check run says of lines."""
        ...

    def create(
        self, head_sha: str, name: str, external_id: str, *, title: str, summary: str, page: str
    ) -> PostedCheck:
        """Begins a check run."""
        ...

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
    ) -> PostedCheck:
        """Writes what it says; a conclusion ends it, none opens it again."""
        ...
