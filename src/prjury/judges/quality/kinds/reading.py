"""What the judges of pull requests read: the change, and what its author says of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress

from msgspec import Struct, structs

from prjury.code.definitions import definitions, has_definitions
from prjury.code.hunk_context import with_context
from prjury.code.languages import Language, language_of
from prjury.code.parser import Parser
from prjury.code.source import Source, UnreadableError, decode
from prjury.deadline import Deadline
from prjury.errors import SourceError
from prjury.judges.context import LINKED_ISSUES, PullRequestContext
from prjury.judges.quality.facts import find_facts
from prjury.judges.quality.judge import Inquiry, ModelBackedJudge
from prjury.judges.quality.model_seat import Material
from prjury.judges.quality.notices import check_family, find_instruction, instructions
from prjury.judges.quality.prompt_input import (
    SENT_KINDS,
    Section,
    cut_text,
    document,
    pieces_of,
    sizes,
)
from prjury.judges.quality.prompts import Instructions, OwnTexts
from prjury.judges.quality.question import CHARACTERS_PER_TOKEN
from prjury.jury.judgment import Check, Judgment
from prjury.jury.voting import NOT_APPLICABLE
from prjury.policy.tiers import QuestionOptions
from prjury.ports import Ports, Repository
from prjury.snapshot.kinds import is_docs_only
from prjury.snapshot.model import FileChange, FileKind, FileStatus, PullRequest, printable

#: What is looked at: so many files, and bytes of them together.
_FILES = 200
_BYTES = 8 * 1024 * 1024
#: Seconds for one text, and for all.
_SECONDS = 2.0
_ALL_SECONDS = 10.0

_KINDS = frozenset({FileKind.SOURCE, FileKind.TEST})
#: A new file is all there already, and of one that is gone nothing is left to show.
_STATUSES = frozenset({FileStatus.MODIFIED, FileStatus.RENAMED, FileStatus.COPIED})


def with_surroundings(
    files: Sequence[FileChange], repository: Repository, parser: Parser, deadline: Deadline
) -> tuple[FileChange, ...]:
    """Return the files in the same order, those of code with wider hunks where that can be had."""
    until = deadline.within(_ALL_SECONDS)
    texts = list(_read_texts(files, repository, until))
    quick = structs.replace(parser, seconds=min(parser.seconds, _SECONDS))
    scopes_of = definitions([source for _, _, source in texts], quick, until)
    wider = {}
    for (file, text, _), scopes in zip(texts, scopes_of, strict=True):
        if until.remaining and scopes:
            hunks = with_context(file.hunks, text, scopes)
            wider[file.path] = structs.replace(file, hunks=hunks)
    return tuple(wider.get(file.path, file) for file in files)


def _read_texts(
    files: Sequence[FileChange], repository: Repository, deadline: Deadline
) -> Iterator[tuple[FileChange, str, Source]]:
    """Iterate over the texts that may get more context, small ones first, up to the limits."""
    eligible = [(file, name) for file in files if (name := _find_language(file))][:_FILES]
    if not eligible or not deadline.remaining:
        return
    try:
        contents = repository.read(sorted({file.new_blob for file, _ in eligible if file.new_blob}))
    except SourceError:
        return
    files_here = [
        (file, name, content)
        for file, name in eligible
        if (content := contents.get(file.new_blob or ""))
    ]
    size = 0
    for file, language, content in sorted(files_here, key=lambda each: len(each[2])):
        size += len(content)
        if size > _BYTES:
            return
        with suppress(UnreadableError):
            text = decode(content)
            yield file, text, Source.of(text, language)


def _find_language(file: FileChange) -> Language | None:
    """Return the language of a file that may get more context; None for any other file."""
    if file.kind not in _KINDS or file.status not in _STATUSES or not file.hunks:
        return None
    language = language_of(printable(file.path))
    return language if language and has_definitions(language) else None


def widen_once(
    context: PullRequestContext, repository: Repository, deadline: Deadline
) -> tuple[FileChange, ...]:
    """Return the changed files with their surroundings, made once for all judges."""
    files = context.pull.files
    return context.once.get(
        "surroundings", lambda: with_surroundings(files, repository, Parser(), deadline)
    )


#: The path under which evidence quotes what the author says. Git stores no such path, so that no
#: file of a change can take its place.
DESCRIPTION = "/description"
#: Characters of one issue, and the part of a chunk that all of them may take.
_LONGEST_ISSUE, _ISSUES_SHARE = 4_000, 4


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
        if reason := self.aside(pull) or not_applicable(pull):
            return Judgment.abstained(reason, NOT_APPLICABLE)
        sections, left_out = pieces_of(filter(self._reads, pull.files), redact, self.room)
        if sections:
            # What the change stands in is shown unless that takes more questions.
            around = widen_once(context, self.ports.repository, deadline)
            wider, _ = pieces_of(filter(self._reads, around), redact, self.room)
            questions, more = (math.ceil(sizes(some) / self.room) for some in (sections, wider))
            if more <= questions and len(wider) == len(sections):
                sections = wider
        warnings = (*instructions(pull.files), *check_family(pull, self.models))
        sites = context.once.get("call sites", context.find_call_sites)
        facts = find_facts(context.ballots, sites, redact)
        if not self.described:
            return Material(sections, left_out, facts=facts, warnings=warnings)
        text = f"{pull.title.strip()}\n\n{pull.body.strip()}".strip()
        description = document(DESCRIPTION, "description", text, redact)
        warnings += find_instruction("the description", f"{pull.title}\n{pull.body}")
        if not self.linked:
            return Material(sections, left_out, (description,), facts, warnings)
        issues, notes = self._lay_out_issues(context, description.size)
        return Material(sections, left_out, (description, *issues), facts, (*warnings, *notes))

    def _lay_out_issues(
        self, context: PullRequestContext, taken: int
    ) -> tuple[tuple[Section, ...], tuple[Check, ...]]:
        """Return the linked issues that can be shown, and a note for each that cannot."""
        issues, notes = list[Section](), list[Check]()
        room = min(self.room // _ISSUES_SHARE, self.room // 2 - taken)  # half is for the change
        for issue in context.once.get(LINKED_ISSUES, context.read_issues):
            text = cut_text(issue.text, _LONGEST_ISSUE, self.ports.redact)
            section = document(f"/issue-{issue.number}", "issue", text, self.ports.redact)
            problem = issue.problem or ("" if section.size <= room else "it is too long")
            if problem:
                note = f"#{issue.number}, which the description closes, was not read: {problem}"
                notes.append(Check("linked-issue", passed=False, message=note, severity="hint"))
                continue
            room -= section.size
            issues.append(section)
            notes += find_instruction(f"the issue #{issue.number}", issue.text)
        return tuple(issues), tuple(notes)

    def _reads(self, file: FileChange) -> bool:
        """Tell whether the file is read, or would be if it could; others are named."""
        return file.kind in self.kinds or (self.kinds == SENT_KINDS and file.kind not in SENT_KINDS)


def judge_of(  # noqa: PLR0913 - what kinds differ in
    name: str,
    criteria: Mapping[str, str],
    options: QuestionOptions,
    ports: Ports,
    *,
    about: str,
    kinds: Collection[FileKind] = SENT_KINDS,
    aside: Callable[[PullRequest], str | None] = lambda _: None,
    described: bool = False,
    linked: bool = False,
    instruct: Callable[[OwnTexts, PullRequest], Instructions] | None = None,
    template: str = "",
    must: frozenset[str] = frozenset(),
    inapplicable: Callable[[PullRequestContext], Mapping[str, str]] = lambda _: {},
) -> ModelBackedJudge[PullRequestContext]:
    """Make the judge that asks a panel these questions about a change.

    Args:
        aside: why a change is none of its business, None where it is.
        described: whether it reads the description as well. What an author writes sways its
            reader, so that such a judge can lower a verdict and never lift it.
        linked: whether it reads the issues besides that the description closes.
        instruct: the instructions, from the base's own texts and the change.
        template: the instructions in place of those, where they need nothing but the criteria.
    """
    panel = ports.models.panel(options.model)
    room = min((model.room for model in panel.models), default=0) * CHARACTERS_PER_TOKEN
    names = tuple(model.name for model in panel.models)
    read = ChangeReader(ports, kinds, aside, described, linked, max(1, room), names)

    def make_instructions(context: PullRequestContext) -> Instructions:
        base = context.pull.base.sha
        own = context.once.get("own texts", lambda: OwnTexts.of(ports.repository, base))
        if instruct:
            return instruct(own, context.pull)
        return own.prompts().render(template, {"criteria": dict(criteria)})

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


def not_applicable(pull: PullRequest) -> str | None:
    """Return why there is nothing for judges of changes, or None where there is."""
    if is_docs_only(pull):
        return "only documentation changes"
    if not any(file.hunks or file.unread for file in pull.files if file.kind in SENT_KINDS):
        return "no line of text changes"
    return None
