"""The check run on the head of a pull request: in progress first, then the gate's conclusion.

Our own is known by name, external id *and* app; a foreign one of the same name is never touched.
The external id also names the workflow run that has written it last: the address that GitHub shows
for a check run made with a job's own token is not the one that was given.
Check runs cannot be deleted, and annotations only added: where some of an earlier verdict no longer
hold, a new check run takes the place of the old one, which GitHub hides behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from msgspec import Struct

from prjury.errors import PublishError
from prjury.github.payload import at, object_name
from prjury.github.repo_client import RepoClient
from prjury.jury.gate import Gate
from prjury.publishers.races import (
    LookAgainError,
    Run,
    Url,
    find_newest_after,
    find_run,
    raise_if_unclear,
    read_run,
    retry_unclear,
)
from prjury.report.annotations import MARKER_ID, Annotation, Annotations, annotate, identify
from prjury.report.model import Report
from prjury.report.sanitise import BY_SHAPE, Redact, join_lines, plain
from prjury.report.view import page

if TYPE_CHECKING:
    from github.CheckRun import CheckRun

#: The commit on which a check run is made.
Head: TypeAlias = str
#: GitHub takes 255 characters; some of them tell how many were cut off.
_LONGEST_TITLE = 230


class CheckRunTexts(Struct, frozen=True):
    """What a check run says when it has ended; ``text`` is empty unless it tells a verdict."""

    conclusion: str
    title: str
    summary: str
    text: str = ""

    @classmethod
    def of(cls, report: Report, text: str, redact: Redact) -> Self:
        view = page(report, redact)
        summary = (
            f"Must fix: {view.must_fix_count:,} · should look at: {view.should_look_count:,} · "
            f"judged: {view.judged}"
        )
        return cls(
            report.gate.value, join_lines(view.headline, _LONGEST_TITLE, redact), summary, text
        )


NAME = "PR Jury report"

_BATCH = 50
_JUDGING = ("Judging", "The verdict follows.")
_REPLACED = "A later check run of this name reports the verdict."
_READS, _WRITES = "checks: read", "checks: write"


@dataclass
class CheckRunReport:
    """Publishes a report as the check run of its head; what a newer run has written stays."""

    room: RepoClient
    number: int | None
    render: Callable[[Report], str]
    has_annotations: bool = True
    #: The page of the workflow run, with its attempt; empty outside of a workflow.
    page: str = ""
    redact: Redact = BY_SHAPE
    name: str = "check run"
    notes: tuple[str, ...] = field(default=(), init=False)
    _ended: set[str] = field(default_factory=set, init=False)
    #: The check run that was made here and says nothing of lines yet.
    _fresh: CheckRun | None = field(default=None, init=False)

    def start(self, head_sha: str, *, is_new: bool = False) -> Url:
        if is_new:
            with suppress(LookAgainError):
                return self._create(head_sha).html_url
        return retry_unclear(lambda: self._begin_or_end_as_newer(head_sha), self.room.client.sleep)

    def publish(self, report: Report) -> str | None:
        head = report.pull.head.sha
        annotations = annotate(report, self.redact) if self.has_annotations else Annotations()
        words = CheckRunTexts.of(report, self.render(report), self.redact)
        url = retry_unclear(
            lambda: self._post_or_end_as_newer(head, words, annotations), self.room.client.sleep
        )
        self._ended.add(head)
        return url

    def abandon(self, reason: str, head_sha: str) -> str | None:
        """End what was begun on a head without a verdict; what this run has published stays."""
        if head_sha in self._ended:
            return None
        summary = plain(reason, 1_000, self.redact)
        words = CheckRunTexts(Gate.ACTION_REQUIRED.value, "⚪ Could not be judged", summary)
        return retry_unclear(
            lambda: self._conclude_or_end_as_newer(head_sha, words), self.room.client.sleep
        )

    def _begin_or_end_as_newer(self, head: Head) -> Url:
        own = self._find_own_checks(head)
        if not own:
            return self._create(head).html_url
        if newer := self._find_newer(own):
            return self._end_as_newer(own, newer)
        opened = self._update_or_post_check(own[-1], self._make_body(*_JUDGING))
        # One that cannot be opened again would show an earlier verdict until there is a new one.
        shown = opened if _conclusion_of(opened) is None else self._create(head)
        return shown.html_url

    def _post_or_end_as_newer(
        self, head: Head, words: CheckRunTexts, annotations: Annotations
    ) -> Url:
        fresh, self._fresh = self._fresh, None
        own = [fresh] if fresh else self._find_own_checks(head)
        if newer := self._find_newer(own):
            return self._end_as_newer(own, newer)
        missing = self._list_missing(own[-1], annotations.entries) if own and not fresh else None
        shown = fresh or (own[-1] if missing is not None else head)
        ended = self._annotate_and_conclude(shown, words, annotations, missing)
        replaced = CheckRunTexts(words.conclusion, words.title, _REPLACED)
        for older in own:
            if older.id != ended.id and _conclusion_of(older) != words.conclusion:
                self._conclude(older, replaced)
        if missing is None:
            # A second look: GitHub shows the check run that was begun last, which may be ours.
            own = self._find_own_checks(head)
            if newer := self._find_newer(own):
                return self._end_as_newer(own, newer)
        return ended.html_url

    def _end_as_newer(self, own: Sequence[CheckRun], newer: CheckRun) -> Url:
        """End our own check runs like a newer run's: GitHub shows the one that was begun last."""
        conclusion = _conclusion_of(newer) or Gate.ACTION_REQUIRED.value
        words = CheckRunTexts(conclusion, "Superseded", "A newer run reports the verdict.")
        for run in own:
            if self._find_writer(run) == self._own_run and _conclusion_of(run) != conclusion:
                self._conclude(run, words)
        return newer.html_url

    def _conclude_or_end_as_newer(self, head: Head, words: CheckRunTexts) -> Url:
        own = self._find_own_checks(head)
        if newer := self._find_newer(own):
            return self._end_as_newer(own, newer)
        latest = own[-1] if own else self._create(head)
        is_ours = self._own_run is not None and self._find_writer(latest) == self._own_run
        if is_ours and _conclusion_of(latest) is not None:
            return latest.html_url
        return self._conclude(latest, words).html_url

    def _find_newer(self, own: Sequence[CheckRun]) -> CheckRun | None:
        return find_newest_after(own, self._own_run, self._find_writer)

    @property
    def _own_run(self) -> Run | None:
        return find_run(self.page)

    def _find_writer(self, run: CheckRun) -> Run | None:
        marker, _, words = (run.external_id or "").rpartition(":")
        return read_run(words) if marker == self._marker else None

    def _find_own_checks(self, head: Head) -> list[CheckRun]:
        from github.CheckRun import CheckRun  # noqa: PLC0415 - heavy, hence late

        runs = self.room.list_objects(
            CheckRun,
            f"list the check runs of {self.room.repo}",
            f"/commits/{object_name(head, 'the head')}/check-runs",
            key="check_runs",
            needs=_READS,
            query={"check_name": NAME, "filter": "all"},
        )
        marked = (r for r in runs if r.external_id == self._marker or self._find_writer(r))
        own = {run.id: run for run in marked}
        app = self._find_app() if own else ""
        own_runs = [run for run in own.values() if app and at(run.raw_data, "app", "slug") == app]
        return sorted(own_runs, key=attrgetter("id"))

    def _find_app(self) -> str:
        """Return the slug of our app; empty for a user, who may make no check runs."""
        account = self.room.account()
        return account.removesuffix("[bot]") if account.endswith("[bot]") else ""

    @property
    def _marker(self) -> str:
        return f"prjury:{MARKER_ID}:{self.number or 0}"

    @property
    def _origin(self) -> dict[str, str]:
        run = ":{}.{}".format(*self._own_run) if self._own_run else ""
        page = {"details_url": self.page} if self.page else {}
        return {"external_id": self._marker + run, **page}

    def _create(self, head: str) -> CheckRun:
        self._fresh = self._post_check(head, self._make_body(*_JUDGING))
        return self._fresh

    def _post_check(self, head: str, content: dict[str, Any]) -> CheckRun:
        from github.CheckRun import CheckRun  # noqa: PLC0415 - heavy, hence late

        content = {"name": NAME, "head_sha": object_name(head, "the head"), **content}
        task = f"make a check run of {self.room.repo}"
        try:
            with raise_if_unclear():
                return self.room.write(
                    CheckRun, task, "POST", "/check-runs", content, needs=_WRITES, repeatable=False
                )
        except PublishError as error:
            if error.reason == "permission" and not self._find_app():
                raise PublishError(
                    error.what,
                    why="GitHub takes check runs from apps only, and this is a user's token",
                    remedy="Use the token of the job (`checks: write`)",
                    reason=error.reason,
                ) from error
            raise

    def _list_missing(
        self, run: CheckRun, wanted: Sequence[Annotation]
    ) -> Sequence[Annotation] | None:
        """Return the annotations that a run lacks; None where it has some that no longer hold."""
        task = f"list the annotations of a check run of {self.room.repo}"
        path = f"/check-runs/{run.id}/annotations"
        posted = frozenset(self.room.list_all(task, path, identify, needs=_READS))
        if posted - set(map(identify, wanted)):
            return None
        return [annotation for annotation in wanted if identify(annotation) not in posted]

    def _annotate_and_conclude(
        self,
        run: CheckRun | Head,
        words: CheckRunTexts,
        annotations: Annotations,
        missing: Sequence[Annotation] | None,
    ) -> CheckRun:
        self.notes = (annotations.note,) if annotations.note else ()
        missing = annotations.entries if missing is None else missing
        batches = [missing[at : at + _BATCH] for at in range(0, len(missing), _BATCH)]
        try:
            for batch in batches[:-1]:
                run = self._update_or_post_check(run, self._make_body(*_JUDGING, annotations=batch))
            return self._conclude(run, words, batches[-1] if batches else ())
        except PublishError as error:
            if error.reason != "refused" or not batches:
                raise
            refused = f"GitHub refused annotations ({error.why}); the text below has all findings."
        self.notes = (refused, *self.notes)
        return self._conclude(run, words)

    def _conclude(
        self, run: CheckRun | Head, words: CheckRunTexts, annotations: Sequence[Annotation] = ()
    ) -> CheckRun:
        summary = "\n\n".join([words.summary, *(plain(note) for note in self.notes)])
        content = self._make_body(words.title, summary, words.text, annotations, words.conclusion)
        return self._update_or_post_check(run, content)

    def _update_or_post_check(self, run: CheckRun | Head, content: dict[str, Any]) -> CheckRun:
        """Write what a check run says, or make one on a head; annotations are only ever added."""
        if isinstance(run, str):
            return self._post_check(run, content)
        task, path = f"update the check run of {self.room.repo}", f"/check-runs/{run.id}"
        with raise_if_unclear():
            kind, once = type(run), "annotations" not in content["output"]
            return self.room.write(
                kind, task, "PATCH", path, content, needs=_WRITES, repeatable=once
            )

    def _make_body(
        self,
        title: str,
        summary: str,
        text: str = "",
        annotations: Sequence[Annotation] = (),
        conclusion: str | None = None,
    ) -> dict[str, Any]:
        """Return what a check run says; a conclusion ends it, none opens it again."""
        output: dict[str, Any] = {"title": title, "summary": summary}
        output |= {"text": text} if text else {}
        output |= {"annotations": annotations} if annotations else {}
        state = {"status": "completed", "conclusion": conclusion} if conclusion else {}
        return {"output": output, **self._origin, "status": "in_progress", **state}


def _conclusion_of(run: CheckRun) -> str | None:
    return (run.conclusion or "unknown") if run.status == "completed" else None
