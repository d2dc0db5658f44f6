"""What the judges of pull requests read: the change, its author's words, and what programs know."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import accumulate

from msgspec import Struct

from prjury.deadline import Deadline
from prjury.judges.context import LINKED_ISSUES, CallSite, PullRequestContext
from prjury.judges.quality.judge import Inquiry, ModelBackedJudge
from prjury.judges.quality.model_seat import Material
from prjury.judges.quality.notices import check_family, find_instruction, instructions
from prjury.judges.quality.prompt_input import (
    SENT_KINDS,
    Fact,
    Section,
    cut_text,
    document,
    pieces_of,
    sizes,
)
from prjury.judges.quality.prompts import Instructions, OwnTexts
from prjury.judges.quality.question import CHARACTERS_PER_TOKEN
from prjury.judges.quality.surroundings import widen_once
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Check, Judgment
from prjury.jury.voting import NOT_APPLICABLE, Ballot
from prjury.policy.tiers import QuestionOptions
from prjury.ports import Ports
from prjury.report.judge_facts import BuildFacts
from prjury.report.sanitise import Redact, redact_text, show_invisible
from prjury.snapshot.kinds import is_docs_only
from prjury.snapshot.model import FileChange, FileKind, PullRequest, printable

#: The path under which evidence quotes what the author says. Git stores no such path, so that no
#: file of a change can take its place.
DESCRIPTION_PATH = "/description"
#: Characters of one issue, and the part of a chunk that all of them may take.
_LONGEST_ISSUE, _ISSUES_SHARE = 4_000, 4


def judge_of(  # noqa: PLR0913 - what judges differ in
    name: str,
    criteria: Mapping[str, str],
    options: QuestionOptions,
    ports: Ports,
    *,
    about: str,
    instruct: Callable[[OwnTexts, PullRequest], Instructions] | str,
    kinds: Collection[FileKind] = SENT_KINDS,
    aside: Callable[[PullRequest], str | None] = lambda _: None,
    described: bool = False,
    linked: bool = False,
    must: frozenset[str] = frozenset(),
    inapplicable: Callable[[PullRequestContext], Mapping[str, str]] = lambda _: {},
) -> ModelBackedJudge[PullRequestContext]:
    """Make the judge that asks a panel these questions about a change.

    Args:
        instruct: a template that needs nothing but the criteria, or the instructions from the
            base's own texts and the change.
        aside: why a change is none of its business, None where it is.
        described: whether it reads the description as well. What an author writes sways its
            reader, so that such a judge can lower a verdict and never lift it.
        linked: whether it reads the issues besides that the description closes.
    """
    panel = ports.models.panel(options.model)
    room = min((model.room for model in panel.models), default=0) * CHARACTERS_PER_TOKEN
    names = tuple(model.name for model in panel.models)
    read = ChangeReader(ports, kinds, aside, described, linked, max(1, room), names)

    def make_instructions(context: PullRequestContext) -> Instructions:
        base = context.pull.base.sha
        own = context.once.get("own texts", lambda: OwnTexts.of(ports.repository, base))
        if isinstance(instruct, str):
            return own.prompts().render(instruct, {"criteria": dict(criteria)})
        return instruct(own, context.pull)

    inquiry = Inquiry(
        name,
        about,
        criteria,
        options.threshold,
        read,
        make_instructions,
        described,
        must,
        inapplicable,
    )
    return ModelBackedJudge(
        inquiry, panel, options.runs, ports.memory, lambda context: context.deadline
    )


class ChangeReader(Struct, frozen=True):
    """Lays out a change, and what it stands in; ``room`` is the characters of a chunk."""

    ports: Ports
    kinds: Collection[FileKind]
    aside: Callable[[PullRequest], str | None]
    described: bool
    linked: bool
    room: int
    models: tuple[str, ...]

    def __call__(self, context: PullRequestContext, deadline: Deadline) -> Material | Judgment:
        """Return the change as material; the abstention where none of it is for this judge."""
        pull, redact = context.pull, self.ports.redact
        if reason := self.aside(pull) or _find_nothing(pull):
            return Judgment.abstained(reason, NOT_APPLICABLE)
        sections, left_out = pieces_of(filter(self._reads, pull.files), redact, self.room)
        if sections:
            # What the change stands in is shown unless that takes more questions.
            around = widen_once(context, self.ports.repository, deadline)
            wider, _ = pieces_of(filter(self._reads, around), redact, self.room)
            questions, more = (math.ceil(sizes(some) / self.room) for some in (sections, wider))
            if more <= questions and len(wider) == len(sections):
                sections = wider
        sites = context.once.get("call sites", context.find_call_sites)
        facts = find_facts(context.ballots, sites, redact)
        always, notes = self._lay_out_words(context) if self.described else ((), [])
        warnings = (*instructions(pull.files), *check_family(pull, self.models), *notes)
        return Material(sections, left_out, always, facts, warnings)

    def _lay_out_words(
        self, context: PullRequestContext
    ) -> tuple[tuple[Section, ...], Sequence[Check]]:
        """Return the description and the linked issues that can be shown, and what is noted."""
        pull, redact = context.pull, self.ports.redact
        text = f"{pull.title.strip()}\n\n{pull.body.strip()}".strip()
        texts = [document(DESCRIPTION_PATH, "description", text, redact)]
        notes = [*find_instruction("the description", f"{pull.title}\n{pull.body}")]
        half = self.room // 2 - texts[0].size  # the other is for the change
        room = min(self.room // _ISSUES_SHARE, half)
        for issue in context.once.get(LINKED_ISSUES, context.read_issues) if self.linked else ():
            text = cut_text(issue.text, _LONGEST_ISSUE, redact)
            section = document(f"/issue-{issue.number}", "issue", text, redact)
            problem = issue.problem or ("" if section.size <= room else "it is too long")
            if problem:
                note = f"#{issue.number}, which the description closes, was not read: {problem}"
                notes.append(Check("linked-issue", passed=False, message=note, severity="hint"))
                continue
            room -= section.size
            texts.append(section)
            notes += find_instruction(f"the issue #{issue.number}", issue.text)
        return tuple(texts), notes

    def _reads(self, file: FileChange) -> bool:
        """Tell whether the file is read, or would be if it could; others are named."""
        return file.kind in self.kinds or (self.kinds == SENT_KINDS and file.kind not in SENT_KINDS)


def _find_nothing(pull: PullRequest) -> str | None:
    """Return why there is nothing for judges of changes, or None where there is."""
    if is_docs_only(pull):
        return "only documentation changes"
    if not any(file.hunks or file.unread for file in pull.files if file.kind in SENT_KINDS):
        return "no line of text changes"
    return None


#: Characters of all facts together, and of one.
MOST_CHARACTERS, _LONGEST = 2_000, 200
#: Characters of a path beside a line of code.
_LONGEST_PATH = 60
#: Findings of one judge that are listed.
_MOST_FINDINGS = 5
#: Characters that what judges say may take; the rest is for call sites.
_JUDGES_SHARE = 1_000


def find_facts(
    ballots: Sequence[Ballot], sites: Sequence[CallSite], redact: Redact
) -> tuple[Fact, ...]:
    """Return what the programs of earlier tiers say, and then the call sites that fit."""
    judged = [Fact(_fit_line(text, redact)) for text in _describe_ballots(ballots)]
    called = [Fact(_fit_line(_describe_site(site), redact), site.name) for site in sites]
    first = _fit(judged, _JUDGES_SHARE)
    return (*first, *_fit(called, MOST_CHARACTERS - sum(len(fact.text) + 3 for fact in first)))


def _fit(facts: Sequence[Fact], room: int) -> list[Fact]:
    ends = accumulate(len(fact.text) + 3 for fact in facts)
    return [fact for fact, end in zip(facts, ends, strict=True) if end <= room]


def _describe_site(site: CallSite) -> str:
    """Say where the name stands; of a long path the end, of a long line what follows the name."""
    path, text = site.path, site.text
    if len(path) > _LONGEST_PATH:
        path = f"…{path[-_LONGEST_PATH:]}"
    if len(text) > _LONGEST - len(path) - 2 * len(site.name) - 20:
        text = f"…{text[max(0, text.find(site.name) - 1) :]}"
    return f"{site.verb} {site.name}: {path}:{site.line}: {text}"


def _fit_line(text: str, redact: Redact) -> str:
    line = show_invisible(redact_text(printable(" ".join(text.split())), redact))
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


def _describe_ballots(ballots: Sequence[Ballot]) -> Iterator[str]:
    # Judges end in any order, and another order would be another question.
    for ballot in sorted(ballots, key=lambda ballot: ballot.judge):
        judgment = ballot.judgment
        if ballot.type is not JudgeType.DETERMINISTIC or judgment.label == NOT_APPLICABLE:
            continue
        words, build = judgment.reasoning, BuildFacts.of(judgment)
        if build and (tests := build.tests):
            failed = f"{tests.failed} failed" if tests.failed else "none failed"
            vanished = f", {tests.vanished} no longer run" if tests.vanished else ""
            words = f"{tests.run} tests run, {failed}{vanished}"
        yield f"{ballot.judge}: {judgment.status.value}, {words}"
        checks = judgment.failed_checks
        for check in checks[:_MOST_FINDINGS]:
            yield f"{check.location or check.name}: {check.message}"
        if len(checks) > _MOST_FINDINGS:
            yield f"and {len(checks) - _MOST_FINDINGS} more of these"
