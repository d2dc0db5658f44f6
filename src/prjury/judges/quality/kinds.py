"""The judges that ask models: of changes, of an agent's work, and of answers on documents."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from prjury.code.languages import LANGUAGES, kin_of
from prjury.deadline import Deadline
from prjury.errors import ConfigError
from prjury.judges.context import PullRequestContext
from prjury.judges.quality.judge import Inquiry, ModelBackedJudge
from prjury.judges.quality.prompt_input import Material, make_document, make_sections
from prjury.judges.quality.question import Instructions, OwnTexts, Prompts
from prjury.judges.quality.reading import Kind, make_judge
from prjury.judges.quality.votes import PassMark
from prjury.jury.context import JudgmentContext
from prjury.jury.frozen import FrozenDict
from prjury.jury.judgment import Judgment
from prjury.jury.library.execution import document_text
from prjury.jury.library.presets import CRITERIA
from prjury.jury.voting import NOT_APPLICABLE
from prjury.policy.tiers import PromptOptions, QualityOptions, plain_name
from prjury.ports import Ports
from prjury.report.sanitise import Redact, redact_text
from prjury.snapshot.model import FileChange, FileKind, PullRequest, printable

QUALITY = "quality"


def _find_no_test(pull: PullRequest) -> str | None:
    tests = [file for file in pull.files if file.kind is FileKind.TEST]
    has_lines = any(file.unread or any(file.added_lines) for file in tests)
    return None if has_lines else "no test is added or changed"


#: The judge of new and changed tests; it sees them beside the source that changes.
TESTS = Kind(
    "tests-exercise-behaviour",
    "asks a model whether the new tests exercise what they claim to test",
    {
        "would_fail": "Would each new or changed test fail if the behaviour that it names were "
        "broken? No if a test can be quoted that asserts nothing, compares a value with itself, "
        "swallows the failure, is skipped, or can never be reached.",
        "real_subject": "Do the new or changed tests run the real code that they claim to test? No "
        "if the thing under test itself is replaced by a mock, or a test only checks what it has "
        "told a mock to return. Stand-ins for collaborators, clocks and networks are in order.",
        "says_what_is_expected": "Do the new or changed tests state what is expected on their own? "
        "No if a test repeats the implementation to compute its expectation, or an expectation was "
        "loosened so that it holds for anything. Abstain if no expectation is visible.",
    },
    "tests",
    (FileKind.SOURCE, FileKind.TEST),
    _find_no_test,
)
#: The judge that compares a change with its description, and the issues that it closes.
DESCRIPTION = Kind(
    "description-matches-change",
    "asks a model whether the change does what its description says",
    {
        "kept": "Is every effect that the description claims visible in the change? No if a claim "
        "can be quoted that the change contradicts, or that it plainly leaves undone.",
        "told": "Does the description mention every effect of the change that a reviewer would "
        "want to know of? No if a line of the change can be quoted with an effect on behaviour, "
        "security, dependencies or interfaces that the description neither names nor implies.",
    },
    "description",
    aside=lambda it: None if f"{it.title}{it.body}".strip() else "there is no description",
    described=True,
    linked=True,
)
#: The judge of backport suitability, where rules leave it open; it never votes on the merge.
SUITABILITY = Kind(
    "backport-suitability",
    "asks a model whether the change belongs on a release branch",
    {
        "fixes": "Does the change repair behaviour that users of a released version can meet? No "
        "if a line can be quoted that shows a new feature, a refactoring or a mere improvement.",
        "compatible": "Does everything that compiles and runs against the branch today go on doing "
        "so? No if a line can be quoted that removes, renames or changes a public name, a default, "
        "a file format, a requirement or a setting.",
        "contained": "Does the change keep to what the repair needs? No if a line can be quoted "
        "that has nothing to do with it.",
        "settled": "Is the change free of what needs time to prove itself, such as concurrency, "
        "migrations of data, caches or security settings? No if such a line can be quoted.",
    },
    "suitability",
)
make_tests, make_description = partial(make_judge, TESTS), partial(make_judge, DESCRIPTION)
make_suitability = partial(make_judge, SUITABILITY)


def make_quality(options: QualityOptions, ports: Ports) -> ModelBackedJudge[PullRequestContext]:
    """The judge of a change's quality; it is blind to every word of the author's."""
    criteria = read_criteria(options)

    def instruct(own: OwnTexts, pull: PullRequest) -> Instructions:
        paths = [printable(file.path) for file in pull.files]
        guidelines = own.guidelines(paths, ports.redact) if options.guidelines else ""
        kinds = dict.fromkeys(filter(None, map(kin_of, paths)))
        prompts = own.prompts()
        values: dict[str, Any] = {"criteria": dict(criteria)}
        every = {language.kin for language in LANGUAGES.values() if language.kin}
        usual = prompts.render(QUALITY, {**values, "guidelines": "", "languages": sorted(every)})
        values |= {"guidelines": guidelines, "languages": list(kinds)}
        return replace(prompts.render(QUALITY, values), digest=usual.digest)

    def find_inapplicable(context: PullRequestContext) -> Mapping[str, str]:
        is_ours = criteria.get("tests") == CRITERIA["tests"].text
        if not is_ours or any(map(_changes_code, context.pull.files)):
            return {}
        return {"tests": "no line of source or tests changes"}

    kind = Kind(
        QUALITY,
        "asks a model about the quality of the change",
        criteria,
        instruct,
        must=options.musts(criteria),
        inapplicable=find_inapplicable,
    )
    return make_judge(kind, options, ports)


def read_criteria(options: QualityOptions) -> Mapping[str, str]:
    """Return the questions by the names of their criteria, in the order of the configuration."""
    questions = {}
    if isinstance(options.criteria, list):
        for spelling in options.criteria:
            name = plain_name(spelling)
            if name not in CRITERIA:
                raise ConfigError(
                    f"quality.criteria names {spelling!r}, which has no question of its own",
                    remedy=f"Use {', '.join(CRITERIA)}, or write criteria as name: question",
                )
            if name in questions:
                message = "quality.criteria lists a name twice"
                raise ConfigError(message, remedy="Remove one of them")
            questions[name] = CRITERIA[name].text
        return questions
    return options.criteria


def _changes_code(file: FileChange) -> bool:
    signs = {line.sign for hunk in file.hunks for line in hunk.lines}
    return file.kind in {FileKind.SOURCE, FileKind.TEST} and bool(file.unread or signs - {" "})


def make_prompt_judge(options: PromptOptions, ports: Ports) -> ModelBackedJudge[PullRequestContext]:
    """A judge of one's own, made of a text and questions; it goes by the name in its options."""

    def instruct(own: OwnTexts, _: PullRequest) -> Instructions:
        values = {
            "criteria": dict(options.criteria),
            "task": redact_text(_read_task(options, own).strip(), ports.redact),
            "sees_description": options.sees_description,
        }
        return own.prompts().render("prompt", values)

    about = f"asks a model the questions of {options.name}"
    described = options.sees_description
    kind = Kind(options.name, about, options.criteria, instruct, described=described)
    return make_judge(kind, options, ports)


def _read_task(options: PromptOptions, own: OwnTexts) -> str:
    if options.file is None:
        return options.text or ""
    path = Path(options.file)
    if options.commit is not None or not path.is_absolute():
        return own.require_text(options.file)
    try:
        return path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        raise ConfigError(
            f"the prompt {path} cannot be read: {reason}",
            remedy="Correct the path",
            reason="prompt_invalid",
        ) from error


CORRECTNESS = "correctness"
_WORK_CRITERIA: Mapping[str, str] = {
    "reached": "Does the work do everything that the goal asks for? No if a part of the goal "
    "can be quoted that the work leaves undone or does otherwise.",
    "works": "Would the work run as it stands, also at its edges? No if a line of it can be "
    "quoted that fails, is left as a stub, or contradicts another one.",
    "contained": "Does the work keep to the goal? No if a line can be quoted that does harm, "
    "or changes what the goal plainly does not ask for.",
    "honest": "Is what the worker says of the work true? No if a statement of the output can "
    "be quoted that the work contradicts. Abstain if there is no output.",
}


def make_goal_inquiry(
    list_files: Callable[[JudgmentContext], tuple[FileChange, ...]] | None,
    redact: Redact,
    threshold: float = 1.0,
) -> Inquiry[JudgmentContext]:
    """Ask whether the work, files or the output with its diff, reaches the context's goal."""

    def gather(context: JudgmentContext, _: Deadline) -> Material | Judgment:
        if not context.goal.strip():
            return Judgment.abstained("there is no goal to compare with", NOT_APPLICABLE)
        goal = make_document("/goal", "goal", context.goal, redact)
        texts = {"output": context.agent_output, "diff": context.diff if list_files is None else ""}
        words = tuple(make_document(f"/{k}", k, text, redact) for k, text in texts.items() if text)
        if list_files is not None:
            return Material(*make_sections(list_files(context), redact), (goal, *words))
        if not words:
            return Judgment.abstained("there is no work to judge", NOT_APPLICABLE)
        return Material(words, always=(goal,))

    template = "output" if list_files is None else CORRECTNESS
    instructions = Prompts().render(template, {"criteria": dict(_WORK_CRITERIA)})
    about = "asks a model whether the work reaches its goal"
    return Inquiry(
        CORRECTNESS, about, _WORK_CRITERIA, PassMark(threshold), gather, lambda _: instructions
    )


RELEVANCE = "contextual-relevance"
#: The label where nothing was retrieved: nobody's fault is not said of it, so a gate asks.
NO_DOCUMENTS = "no_documents"
#: Statements, or documents, that have a criterion each; of more, neighbours share one.
MOST_CRITERIA = 20

#: What each of the judges does, in words.
_ABOUT: Mapping[str, str] = {
    "faithfulness": "asks a model whether an answer follows from its context",
    "hallucination": "asks a model whether an answer holds anything made up",
    RELEVANCE: "asks a model whether a context fits its question",
}
#: The question about a statement or a document, by judge.
_QUESTIONS: Mapping[str, str] = {
    "faithfulness": "Does {place} of `/answer` follow from the context, and agree with it? No "
    "if it can be quoted and the context does not support it or says otherwise. Yes as well if "
    "it states nothing.",
    "hallucination": "Is everything that {place} of `/answer` names (people, things, "
    "functions, options, sources, numbers, dates) in the context, and nothing there the "
    "opposite of what the context says? No if it can be quoted and names what the context does "
    "not have, or contradicts it. Yes as well if it names nothing.",
    RELEVANCE: "Does {place} bear on the question? No if it is beside the point and one of its "
    "lines can be quoted. Abstain where it is not shown.",
}
_SUFFICIENT = (
    "Can the question be answered from this context? No if a part of the question can be quoted "
    "that the context leaves open."
)

#: Where a sentence ends: not behind an initial, a short number or a usual abbreviation.
_END = re.compile(
    r"(?<=[.!?…])(?<!\b\w\.)(?<!\b\d\d\.)(?<!\b\d\d\d\.)(?<!\b(?:cf|vs|Dr|Mr|Ms|No|St)\.)"
    r"(?<!\b(?:etc|Mrs)\.)\s+(?=[^\sa-z])|(?<=[。！？])\s*(?=\S)"
)


@dataclass(frozen=True)
class RagContext:
    """A question, the answer that was given, and the documents that were retrieved for it.

    Attributes:
        question: None where it is not known.
        answer: None where the documents alone are judged.
        documents: by name, or in their order; a text, or what a retriever returns: an object or a
            mapping with ``page_content``, ``text`` or ``content``.
    """

    question: str | None
    answer: str | None = None
    documents: Mapping[str, Any] | Sequence[Any] = field(default=())

    def __post_init__(self) -> None:
        documents: Any = self.documents
        if isinstance(documents, str | bytes):
            raise TypeError("documents are a list of texts, or texts by name, not one text")
        if not isinstance(documents, Mapping):
            documents = {f"document-{at}": one for at, one in enumerate(documents, start=1)}
        texts = {}
        for name, value in documents.items():
            if not isinstance(name, str) or not name.strip() or name.startswith("/"):
                raise ValueError(f"a document's name is a text without a leading /, not {name!r}")
            texts[name] = document_text(value)
            if texts[name] is None:
                raise TypeError(f"{name} is a {type(value).__name__} without a text")
        object.__setattr__(self, "documents", FrozenDict(texts))

    @property
    def texts(self) -> Mapping[str, str]:
        """The documents' texts by name."""
        return self.documents if isinstance(self.documents, Mapping) else {}

    @property
    def statements(self) -> tuple[str, ...]:
        """The answer's sentences; a line break ends one as well."""
        lines = filter(None, map(str.strip, (self.answer or "").splitlines()))
        return tuple(statement for line in lines for statement in _END.split(line))

    @classmethod
    def of(cls, context: JudgmentContext, documents: Any = None) -> RagContext:  # noqa: ANN401
        """Take the goal as the question, the agent's output as the answer.

        Args:
            documents: ``metadata["documents"]`` if None.
        """
        if documents is None:
            documents = context.metadata.get("documents", ())
        return cls(context.goal, context.agent_output, documents)


def group_texts_by_criterion(judge_name: str, rag: RagContext) -> Mapping[str, tuple[str, str]]:
    """Return places and texts by criterion, neighbours together where there are many."""
    one, line, joiner, texts = "statement", "line", "\n", rag.statements
    if judge_name == RELEVANCE:
        one, line, joiner, texts = "document", "context", ", ", tuple(rag.texts)
    width = max(1, math.ceil(len(texts) / MOST_CRITERIA))
    subjects = {}
    for at in range(0, len(texts), width):
        some = texts[at : at + width]
        first, last = at + 1, at + len(some)
        criterion, place = f"{one}s-{first}-{last}", f"{line}s {first} to {last}"
        if len(some) == 1:
            criterion, place = f"{one}-{first}", f"{line} {first}"
        subjects[criterion] = place, joiner.join(some)
    return subjects


def make_rag_inquiry(
    name: str, rag: RagContext, redact: Redact, threshold: float | None = None
) -> Inquiry[JudgmentContext]:
    """Return what the judge of this name asks a model.

    Args:
        threshold: the share of statements or documents that have to pass; by default all
            statements, or half of the documents, which must besides answer the question.
    """
    relevance = name == RELEVANCE
    least = threshold if threshold is not None else 0.5 if relevance else 1.0
    criteria = {"sufficient": _SUFFICIENT} if relevance else {}
    for criterion, (place, _) in group_texts_by_criterion(name, rag).items():
        criteria[criterion] = _QUESTIONS[name].format(place=place)
    instructions = Prompts().render("relevance" if relevance else name, {"criteria": criteria})

    def gather(_: JudgmentContext, __: Deadline) -> Material | Judgment:
        question = (rag.question or "").strip()
        if relevance and not question:
            return Judgment.abstained("there is no question", NOT_APPLICABLE)
        if not relevance and not rag.statements:
            return Judgment.abstained("there is no answer to judge", NOT_APPLICABLE)
        if not any(text.strip() for text in rag.texts.values()):
            message = "no documents were retrieved" if relevance else "no documents to compare with"
            return Judgment.abstained(message, NO_DOCUMENTS)
        parts = tuple(
            make_document(name, f"context {place}", text, redact)
            for place, (name, text) in enumerate(rag.texts.items(), start=1)
        )
        always = (
            [make_document("/question", "question", rag.question or "", redact)] if question else []
        )
        if relevance:
            return Material(parts, always=tuple(always))
        answer = make_document("/answer", "answer", "\n".join(rag.statements), redact)
        return Material((answer,), always=(*always, *parts))

    must = frozenset({"sufficient"} & criteria.keys())
    # A statement that was not judged is not known to follow.
    return Inquiry(
        name,
        _ABOUT[name],
        criteria,
        PassMark(least, must, 0.5 if relevance else least),
        gather,
        lambda _: instructions,
    )
