"""What the judges of pull requests read: the change, and what its author says of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from msgspec import structs

from prjury.code.definitions import definitions, has_definitions
from prjury.code.hunk_context import with_context
from prjury.code.languages import Language, language_of
from prjury.code.parser import Parser
from prjury.code.source import Source, UnreadableError, decode
from prjury.deadline import Deadline
from prjury.errors import SourceError
from prjury.judges.context import PullRequestContext
from prjury.judges.quality.facts import find_facts
from prjury.judges.quality.judge import Inquiry, ModelBackedJudge
from prjury.judges.quality.model_seat import Material
from prjury.judges.quality.notices import instructions, same_family, spoken
from prjury.judges.quality.prompt_input import SENT_KINDS, Section, document, pieces_of, sizes
from prjury.judges.quality.prompts import Instructions, OwnTexts
from prjury.judges.quality.question import CHARACTERS_PER_TOKEN
from prjury.jury.judgment import Judgment
from prjury.jury.voting import NOT_APPLICABLE
from prjury.policy.tiers import QuestionOptions
from prjury.ports import Panel, Ports, Repository
from prjury.report.redact import Redact
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
    """The files in the same order, those of code with wider hunks; see `prjury.code.hunk_context`.

    What is added and removed stays the same. Context is a help and no duty: a file whose content
    is missing, cannot be read or parsed, or whose turn does not come in time stays as it is.

    Args:
        parser: one text takes it two seconds at most, whatever its own limit.
    """
    until = deadline.within(_ALL_SECONDS)
    texts = list(_texts(files, repository, until))
    quick = structs.replace(parser, seconds=min(parser.seconds, _SECONDS))
    found = definitions([each.source for each in texts], quick, until)
    wider = {
        each.file.path: structs.replace(
            each.file, hunks=with_context(each.file.hunks, each.text, scopes)
        )
        for each, scopes in zip(texts, found, strict=True)
        if until.remaining and scopes
    }
    return tuple(wider.get(file.path, file) for file in files)


@dataclass(frozen=True)
class _Text:
    """A file's text at the head: as it is stored, and as the parser takes it."""

    file: FileChange
    text: str
    source: Source


def _texts(
    files: Sequence[FileChange], repository: Repository, deadline: Deadline
) -> Iterator[_Text]:
    """The texts of the files that may get more context, as many as are looked at."""
    eligible = [(file, name) for file in files if (name := _language(file))][:_FILES]
    if not eligible or not deadline.remaining:
        return
    try:
        contents = repository.read(sorted({file.new_blob for file, _ in eligible if file.new_blob}))
    except SourceError:
        return
    left = _BYTES
    found = [
        (f, name, content) for f, name in eligible if (content := contents.get(f.new_blob or ""))
    ]
    for file, language, content in sorted(found, key=lambda each: len(each[2])):
        left -= len(content)
        with suppress(UnreadableError):
            if left >= 0:
                text = decode(content)
                yield _Text(file, text, Source.of(text, language))


def _language(file: FileChange) -> Language | None:
    """The language of a file that may get more context; None for any other file."""
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


@dataclass(frozen=True)
class ChangeReader:
    """Lays out a change, and what it stands in.

    Attributes:
        kinds: which files are read; the others are not its business.
        room: characters of a chunk; a file with a longer line is not sent.
        models: the names of those that are asked.
    """

    ports: Ports
    room: int
    models: tuple[str, ...] = ()
    kinds: Collection[FileKind] = SENT_KINDS

    @classmethod
    def of(
        cls, ports: Ports, panel: Panel, kinds: Collection[FileKind] = SENT_KINDS
    ) -> ChangeReader:
        """A reader for the models of a panel, whose room is that of the smallest."""
        room = min((model.room for model in panel.models), default=0)
        names = tuple(model.name for model in panel.models)
        return cls(ports, max(1, room * CHARACTERS_PER_TOKEN), names, kinds)

    def __call__(self, context: PullRequestContext, deadline: Deadline) -> Material | Judgment:
        """The change as material; the abstention where no line of it is for this judge."""
        pull = context.pull
        reason = not_applicable(pull)
        if reason:
            return Judgment.abstained(reason, NOT_APPLICABLE)
        mine = [file for file in pull.files if self.is_mine(file)]
        sections, left_out = pieces_of(mine, self.ports.redact, self.room)
        if sections:
            sections = self._with_context(sections, context, deadline)
        warnings = (*instructions(pull.files), *same_family(pull, self.models))
        sites = context.once.get("call sites", context.find_call_sites)
        facts = find_facts(context.ballots, sites, self.ports.redact)
        return Material(sections, left_out, facts=facts, warnings=warnings)

    def _with_context(
        self, sections: tuple[Section, ...], context: PullRequestContext, deadline: Deadline
    ) -> tuple[Section, ...]:
        """The sections with what they stand in, unless that takes more questions."""
        around = widen_once(context, self.ports.repository, deadline)
        mine = [file for file in around if self.is_mine(file)]
        wider, _ = pieces_of(mine, self.ports.redact, self.room)
        questions, more = (math.ceil(sizes(some) / self.room) for some in (sections, wider))
        return wider if more <= questions and len(wider) == len(sections) else sections

    def is_mine(self, file: FileChange) -> bool:
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
    instruct: Callable[[OwnTexts, PullRequest], Instructions] | None = None,
    template: str = "",
    must: frozenset[str] = frozenset(),
    inapplicable: Callable[[PullRequestContext], Mapping[str, str]] = lambda _: {},
) -> ModelBackedJudge[PullRequestContext]:
    """The judge that asks a panel these questions about a change.

    Args:
        aside: why a change is none of its business, None where it is.
        described: whether it reads the description as well. What an author writes sways its
            reader, so that such a judge can lower a verdict and never lift it.
        instruct: the instructions, from the base's own texts and the change.
        template: the instructions in place of those, where they need nothing but the criteria.

    Raises:
        ConfigError: for a model that is not known.
    """
    panel = ports.models.panel(options.model)
    read = _reader(ChangeReader.of(ports, panel, kinds), aside, described=described)

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
    return ModelBackedJudge(inquiry, panel, options.runs, ports.memory, _time_of)


def _time_of(context: PullRequestContext) -> Deadline:
    return context.deadline


def _reader(
    read: ChangeReader, aside: Callable[[PullRequest], str | None], *, described: bool
) -> Callable[[PullRequestContext, Deadline], Material | Judgment]:
    """The reader for changes that are the judge's business, with what the author says of them."""

    def gather(context: PullRequestContext, deadline: Deadline) -> Material | Judgment:
        if reason := aside(context.pull):
            return Judgment.abstained(reason, NOT_APPLICABLE)
        material = read(context, deadline)
        if isinstance(material, Judgment) or not described:
            return material
        message = description(context.pull, read.ports.redact)
        said = spoken("the description", f"{context.pull.title}\n{context.pull.body}")
        return structs.replace(material, always=(message,), warnings=(*material.warnings, *said))

    return gather


def description(pull: PullRequest, redact: Redact) -> Section:
    """Title and text of a pull request as a document."""
    text = f"{pull.title.strip()}\n\n{pull.body.strip()}".strip()
    return document(DESCRIPTION, "description", text, redact)


def not_applicable(pull: PullRequest) -> str | None:
    """Return why there is nothing for judges of changes, or None where there is."""
    if pull.docs_only:
        return "only documentation changes"
    if not any(file.hunks or file.unread for file in pull.files if file.kind in SENT_KINDS):
        return "no line of text changes"
    return None
