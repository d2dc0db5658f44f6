"""The check run on the head of a pull request: in progress first, then the gate's conclusion.

Our own is known by name, external id *and* app; a foreign one of the same name is never touched.
The external id also names the workflow run that has written it last: the address that GitHub shows
for a check run made with a job's own token is not the one that was given.
Check runs cannot be deleted, and annotations only added: where some of an earlier verdict no longer
hold, a new check run takes the place of the old one, which GitHub hides behind it.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, Self

from prjury.errors import PublishError
from prjury.github.check_runs import Origin
from prjury.jury.gate import Gate
from prjury.publishers.idempotent import run_of, write_converging, written_once
from prjury.report.annotations import Annotation, Annotations, annotate
from prjury.report.findings import Weight, findings
from prjury.report.model import Report
from prjury.report.redact import Redact
from prjury.report.sanitise import BY_SHAPE, one_line, plain
from prjury.report.wording import judged_share

if TYPE_CHECKING:
    from prjury.github.check_runs import PostedCheckRun

#: GitHub takes 255 characters; some of them tell how many were cut off.
_LONGEST_TITLE = 230


@dataclass(frozen=True, slots=True)
class CheckRunTexts:
    """What a check run says when it has ended; ``text`` is empty unless it tells a verdict."""

    conclusion: str
    title: str
    summary: str
    text: str = ""

    @classmethod
    def of(cls, report: Report, text: str, redact: Redact) -> Self:
        """The words for a report, whose Markdown is ``text``."""
        title = one_line(report.headline, _LONGEST_TITLE, redact)
        return cls(report.gate.value, title, _summary(report), text)


def _summary(report: Report) -> str:
    found = Counter(finding.weight for finding in findings(report.verdict))
    others = found[Weight.SHOULD_LOOK] + found[Weight.NIT]
    parts = [
        f"Must fix: {found[Weight.MUST_FIX]:,}",
        f"should look at: {others:,}",
        f"judged: {judged_share(report.coverage)}",
    ]
    return " · ".join(parts)


class CheckRunsPort(Protocol):
    """The check runs of a repository; every method raises PublishError."""

    def app(self) -> str:
        """The slug of our app; empty for a user, who may make no check runs."""

    def named(self, head_sha: str, name: str) -> Sequence[PostedCheckRun]:
        """All check runs of that name on a commit, oldest first."""

    def annotations(self, check_run: int) -> Sequence[Annotation]:
        """What a check run says of lines."""

    def create(
        self, head_sha: str, name: str, origin: Origin, *, title: str, summary: str
    ) -> PostedCheckRun:
        """Begins a check run."""

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
        """Writes what it says, and in whose name; a conclusion ends it, none opens it again."""


NAME = "PR Jury report"

_BATCH = 50
_RUN = re.compile(r":(\d{1,18})\.(\d{1,9})", re.ASCII)
_JUDGING = ("Judging", "The verdict follows.")
_REPLACED = "A later check run of this name reports the verdict."


@dataclass
class CheckRunReport:
    """Publishes a report as the check run of its head.

    Runs for one pull request wait for each other (`concurrency` in the workflows), so that one at a
    time writes; what a newer run has written stays.

    Attributes:
        number: of the pull request; None for a comparison without one.
        render: the text's Markdown, at most 65,535 bytes.
        annotate: the annotations of a report; none where the policy wants none.
        page: the page of the workflow run, with its attempt; empty outside of a workflow.
        redact: takes the secrets of this run out of texts.
        id: which of several check runs on the same pull request this is.
        sleep: waits so many seconds between attempts.
        notes: after `publish`, what could not be written though the check run was.
    """

    check_runs: CheckRunsPort
    number: int | None
    render: Callable[[Report], str]
    annotate: Callable[[Report], Annotations] = annotate
    page: str = ""
    id: str = "default"
    redact: Redact = BY_SHAPE
    sleep: Callable[[float], None] = time.sleep
    name: str = "check run"
    notes: tuple[str, ...] = field(default=(), init=False)
    _app: str | None = field(default=None, init=False)
    _ended: set[str] = field(default_factory=set, init=False)

    def start(self, head_sha: str) -> str:
        """Set the check run in progress, before anything is judged; the result is its address."""
        return write_converging(lambda: self._start(head_sha), self.sleep)

    def publish(self, report: Report) -> str | None:
        """End the check run with the gate's conclusion; the result is its address."""
        head, lines = report.pull.head.sha, self.annotate(report)
        words = CheckRunTexts.of(report, self.render(report), self.redact)
        url = write_converging(lambda: self._publish(head, words, lines), self.sleep)
        self._ended.add(head)
        return url

    def stands(self, report: Report) -> bool:
        """Return true if the check run still says what was published, or what a newer run says."""
        own = self._own(report.pull.head.sha)
        if not own or any(map(self._is_newer, own)):
            return bool(own)
        return (own[-1].conclusion, self._writer(own[-1])) == (report.gate.value, self._run)

    def abandon(self, reason: str, head_sha: str) -> str | None:
        """End what was begun on a head without a verdict, so that no check stays pending or green.

        What this very run has published stays, and so does what a newer one has written.
        """
        if head_sha in self._ended:
            return None
        summary = plain(reason, 1_000, self.redact)
        words = CheckRunTexts(Gate.ACTION_REQUIRED.value, "⚪ Could not be judged", summary)
        return write_converging(lambda: self._abandon(head_sha, words), self.sleep)

    def _start(self, head: str) -> str:
        own = self._own(head)
        if not own:
            return self._create(head).url
        if any(map(self._is_newer, own)):
            return self._give_way(own)
        title, summary = _JUDGING
        opened = self.check_runs.update(own[-1].id, self._origin, title=title, summary=summary)
        # One that cannot be opened again would show an earlier verdict until there is a new one.
        return opened.url if opened.conclusion is None else self._create(head).url

    def _publish(self, head: str, words: CheckRunTexts, lines: Annotations) -> str:
        own = self._own(head)
        if any(map(self._is_newer, own)):
            return self._give_way(own)
        missing = self._missing(own[-1], lines.entries) if own else None
        shown = own[-1] if missing is not None else self._create(head)
        url = self._end(shown, words, lines, lines.entries if missing is None else missing)
        replaced = CheckRunTexts(words.conclusion, words.title, _REPLACED)
        for older in own:
            if older.id != shown.id and older.conclusion != words.conclusion:
                self._write(older, replaced, (), ended=True)
        if missing is None and any(map(self._is_newer, own := self._own(head))):
            return self._give_way(own)
        return url

    def _give_way(self, own: Sequence[PostedCheckRun]) -> str:
        """End our own check runs like a newer run's: GitHub shows the one that was begun last."""
        newer = [run for run in own if self._is_newer(run)][-1]
        conclusion = newer.conclusion or Gate.ACTION_REQUIRED.value
        words = CheckRunTexts(conclusion, "Superseded", "A newer run reports the verdict.")
        for run in own:
            if self._writer(run) == self._run and run.conclusion != conclusion:
                self._write(run, words, (), ended=True)
        return newer.url

    def _abandon(self, head: str, words: CheckRunTexts) -> str:
        own = self._own(head)
        if any(map(self._is_newer, own)):
            return self._give_way(own)
        latest = own[-1] if own else self._create(head)
        ours = self._run is not None and self._writer(latest) == self._run
        if ours and latest.conclusion is not None:
            return latest.url
        return self._write(latest, words, (), ended=True)

    def _is_newer(self, run: PostedCheckRun) -> bool:
        """Return true if a later workflow run, or a later attempt, has written it last."""
        writer = self._writer(run)
        return bool(writer and self._run and writer > self._run)

    @property
    def _run(self) -> tuple[int, int] | None:
        return run_of(self.page)

    def _writer(self, run: PostedCheckRun) -> tuple[int, int] | None:
        """Return the workflow run and the attempt that has written one of ours last, if known."""
        marker, external_id = self._marker, run.external_id
        match = _RUN.fullmatch(external_id, len(marker)) if external_id.startswith(marker) else None
        return (int(match[1]), int(match[2])) if match else None

    def _own(self, head: str) -> list[PostedCheckRun]:
        """Return our check runs of the head, oldest first."""
        marked = [run for run in self.check_runs.named(head, NAME) if self._is_marked(run)]
        if marked and self._app is None:
            self._app = self.check_runs.app()
        return [run for run in marked if self._app and run.app == self._app]

    def _is_marked(self, run: PostedCheckRun) -> bool:
        return run.external_id == self._marker or self._writer(run) is not None

    @property
    def _marker(self) -> str:
        return f"prjury:{self.id}:{self.number or 0}"

    @property
    def _origin(self) -> Origin:
        run = ":{}.{}".format(*self._run) if self._run else ""
        return Origin(self._marker + run, self.page)

    def _create(self, head: str) -> PostedCheckRun:
        title, summary = _JUDGING
        try:
            with written_once():
                return self.check_runs.create(
                    head, NAME, self._origin, title=title, summary=summary
                )
        except PublishError as error:
            if error.reason == "permission" and not self.check_runs.app():
                raise PublishError(
                    error.what,
                    why="GitHub takes check runs from apps only, and this is a user's token",
                    remedy="Use the token of the job (`checks: write`)",
                    reason=error.reason,
                ) from error
            raise

    def _missing(
        self, run: PostedCheckRun, wanted: Sequence[Annotation]
    ) -> Sequence[Annotation] | None:
        """The annotations that a check run lacks; None where it has some that no longer hold."""
        there = Counter(one.identity for one in self.check_runs.annotations(run.id))
        if there - Counter(one.identity for one in wanted):
            return None
        missing = []
        for one in wanted:
            if there[one.identity] > 0:
                there[one.identity] -= 1
            else:
                missing.append(one)
        return missing

    def _end(
        self,
        run: PostedCheckRun,
        words: CheckRunTexts,
        found: Annotations,
        missing: Sequence[Annotation],
    ) -> str:
        """Adds the annotations in batches, the last one with the conclusion."""
        self.notes = found.notes
        batches = [missing[at : at + _BATCH] for at in range(0, len(missing), _BATCH)]
        try:
            for batch in batches[:-1]:
                self._write(run, words, batch, ended=False)
            return self._write(run, words, batches[-1] if batches else (), ended=True)
        except PublishError as error:
            if error.reason != "refused" or not batches:
                raise
            refused = f"GitHub refused annotations ({error.why}); the text below has all findings."
        self.notes = (refused, *found.notes)
        return self._write(run, words, (), ended=True)

    def _write(
        self, run: PostedCheckRun, words: CheckRunTexts, batch: Sequence[Annotation], *, ended: bool
    ) -> str:
        reported = "\n\n".join([words.summary, *(plain(note) for note in self.notes)])
        with written_once():
            return self.check_runs.update(
                run.id,
                self._origin,
                title=words.title if ended else _JUDGING[0],
                summary=reported if ended else _JUDGING[1],
                text=words.text if ended else "",
                annotations=batch,
                conclusion=words.conclusion if ended else None,
            ).url
