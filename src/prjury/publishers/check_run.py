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
#: How often check runs that another run has written over are written again.
_LOOKS = 4
_RUN = re.compile(r":(\d{1,18})\.(\d{1,9})", re.ASCII)
_JUDGING = ("Judging", "The verdict follows.")
_SUPERSEDED = "A newer run reports the verdict."
_REPLACED = "A later check run of this name reports the verdict."


@dataclass
class CheckRunReport:
    """Publishes a report as the check run of its head.

    Attributes:
        number: of the pull request; None for a comparison without one.
        render: the text's Markdown, at most 65,535 bytes.
        annotate: the annotations of a report; none where the policy wants none.
        page: the page of the workflow run, with its attempt; empty outside of a workflow. An older
            run changes nothing of what a newer one has written.
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
        """Sets the check run in progress, before anything is judged; the result is its address."""
        return write_converging(lambda: self._started(head_sha), self.sleep)

    def publish(self, report: Report) -> str | None:
        """Ends the check run with the gate's conclusion; the result is its address."""
        head = report.pull.head.sha
        found, text = self.annotate(report), self.render(report)
        words = CheckRunTexts.of(report, text, self.redact)
        url = write_converging(lambda: self._published(head, words, found), self.sleep)
        self._ended.add(head)
        return url

    def stands(self, report: Report) -> bool:
        """Whether the check run still says what was published, or what a newer run says."""
        own = self._own(report.pull.head.sha)
        if self._is_behind(own):
            return True
        there = (own[-1].conclusion, self._writer(own[-1])) if own else None
        return there == (report.gate.value, self._run)

    def abandon(self, reason: str, head_sha: str) -> str | None:
        """Ends what was begun on a head without a verdict, so that no check stays pending or green.

        What this very run has published stays, and so does what a newer one has written.
        """
        if head_sha in self._ended:
            return None
        said = plain(reason, 1_000, self.redact)
        words = CheckRunTexts(Gate.ACTION_REQUIRED.value, "⚪ Could not be judged", said)
        return write_converging(lambda: self._abandoned(head_sha, words), self.sleep)

    def _started(self, head: str) -> str:
        own = self._settled(head)
        latest = own[-1]
        if self._is_behind(own):
            return latest.url
        title, summary = _JUDGING
        opened = self.check_runs.update(latest.id, self._origin, title=title, summary=summary)
        # One that cannot be opened again would show an earlier verdict until there is a new one.
        return opened.url if opened.conclusion is None else self._create(head).url

    def _published(self, head: str, words: CheckRunTexts, found: Annotations) -> str:
        own = self._settled(head)
        latest, missing = own[-1], self._missing(own[-1], found.entries)
        if missing is None:
            own = self._own(head)  # what is stale may be a newer run's
        if self._is_behind(own):
            return self._given_way(head, own)
        if missing is None:
            latest, missing = self._create(head), found.entries
        url = self._end(latest, words, found, missing)
        self._settle(head, latest.id, words, found)
        return url

    def _settle(self, head: str, shown: int, words: CheckRunTexts, found: Annotations) -> None:
        """Sees to it that all our check runs say the same, for an older run may write meanwhile.

        One that an older run has begun later hides ours, so that it gets the annotations, too.
        """
        for _ in range(_LOOKS):
            stale = [run for run in self._own(head) if self._is_stale(run, shown, words)]
            for run in stale:
                if run.id == shown:
                    self._write(run, words, (), ended=True)
                elif run.id > shown:
                    self._end(run, words, found, self._missing(run, found.entries) or ())
                else:
                    self._close(run, words)
            if not stale:
                return

    def _is_stale(self, run: PostedCheckRun, shown: int, words: CheckRunTexts) -> bool:
        taken = run.id == shown and self._writer(run) != self._run
        differs = run.conclusion != words.conclusion
        return (taken or differs) and not self._is_newer(run)

    def _abandoned(self, head: str, words: CheckRunTexts) -> str:
        own = self._own(head)
        if own and self._has_ended(own[-1]):
            return own[-1].url
        own = own or self._settled(head)
        if self._is_behind(own):
            return self._given_way(head, own)
        for one in own:
            if one.conclusion != words.conclusion:
                self._close(one, words)
        return own[-1].url

    def _has_ended(self, run: PostedCheckRun) -> bool:
        """Whether this very workflow run has published its verdict already."""
        same = self._run is not None and self._writer(run) == self._run
        return same and run.conclusion is not None

    def _is_behind(self, own: Sequence[PostedCheckRun]) -> bool:
        """Whether a newer workflow run is at work on the head, or has been."""
        return any(map(self._is_newer, own))

    def _given_way(self, head: str, own: Sequence[PostedCheckRun]) -> str:
        """Leaves the word to a newer run, and nothing of ours in front of it."""
        ours = [run for run in own if run.conclusion is None and self._writer(run) == self._run]
        ids = {run.id for run in ours}
        newer = self._newer(own)
        self._hand_over(ours, newer[-1])
        if ours and newer[-1].conclusion is None:
            # It may have ended meanwhile, before it could see what was written here.
            now = [run for run in self._newer(self._own(head)) if run.id not in ids]
            if now and now[-1].conclusion is not None:
                self._hand_over(ours, now[-1])
        return newer[-1].url

    def _newer(self, own: Sequence[PostedCheckRun]) -> list[PostedCheckRun]:
        return [run for run in own if self._is_newer(run)]

    def _is_newer(self, run: PostedCheckRun) -> bool:
        """Whether a later workflow run than this, or a later attempt, has written it last."""
        theirs = self._writer(run)
        return bool(theirs and self._run and theirs > self._run)

    @property
    def _run(self) -> tuple[int, int] | None:
        return run_of(self.page)

    def _writer(self, run: PostedCheckRun) -> tuple[int, int] | None:
        """The workflow run and the attempt that has written one of ours last, where it says so."""
        marker, said = self._marker, run.external_id
        match = _RUN.fullmatch(said, len(marker)) if said.startswith(marker) else None
        return (int(match[1]), int(match[2])) if match else None

    def _hand_over(self, ours: Sequence[PostedCheckRun], newest: PostedCheckRun) -> None:
        """Ends check runs in the name of a newer workflow run; not green while that one judges.

        They hide its check run where they were begun later, so that they get its annotations.
        """
        conclusion = newest.conclusion or Gate.ACTION_REQUIRED.value
        words = CheckRunTexts(conclusion, "Superseded", _SUPERSEDED)
        hiding = any(run.id > newest.id for run in ours)
        lines = self.check_runs.annotations(newest.id) if newest.conclusion and hiding else ()
        for run in ours:
            missing = (self._missing(run, lines) or ()) if lines else ()
            for at in range(0, len(missing), _BATCH):
                self._write(run, words, missing[at : at + _BATCH], ended=False)
            self._close(run, words, newest)

    def _settled(self, head: str) -> list[PostedCheckRun]:
        """Our check runs of the head, oldest first; at least one, for one is begun otherwise."""
        own = self._own(head)
        if own:
            return own
        created = self._create(head)
        # A second look: another run may have found nothing and begun one at the same time.
        every = {run.id: run for run in (created, *self._own(head))}
        return sorted(every.values(), key=lambda run: run.id)

    def _own(self, head: str) -> list[PostedCheckRun]:
        named = self.check_runs.named(head, NAME)
        marked = [run for run in named if self._is_marked(run)]
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

    def _close(
        self, run: PostedCheckRun, words: CheckRunTexts, newer: PostedCheckRun | None = None
    ) -> None:
        """Ends a check run that another one has replaced, or that is given up."""
        replaced = bool(words.text)
        self.check_runs.update(
            run.id,
            Origin(newer.external_id, newer.details_url) if newer else self._origin,
            title=words.title,
            summary=_REPLACED if replaced else words.summary,
            conclusion=words.conclusion,
        )
