"""The judges of changes that ask models: their questions, and what each of them reads."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from prjury.code.languages import LANGUAGES, kin_of
from prjury.errors import ConfigError
from prjury.judges.context import PullRequestContext
from prjury.judges.quality.judge import ModelBackedJudge
from prjury.judges.quality.prompts import Instructions, OwnTexts
from prjury.judges.quality.reading import judge_of
from prjury.jury.library.presets import CRITERIA
from prjury.policy.tiers import (
    CRITERION_NAME,
    PromptOptions,
    QualityOptions,
    QuestionOptions,
    SuitabilityOptions,
    plain_name,
)
from prjury.ports import Ports
from prjury.report.sanitise import redact_text
from prjury.snapshot.model import FileChange, FileKind, PullRequest, printable

QUALITY, TESTS = "quality", "tests-exercise-behaviour"
DESCRIPTION, SUITABILITY = "description-matches-change", "backport-suitability"

TESTS_CRITERIA: Mapping[str, str] = {
    "would_fail": "Would each new or changed test fail if the behaviour that it names were "
    "broken? No if a test can be quoted that asserts nothing, compares a value with itself, "
    "swallows the failure, is skipped, or can never be reached.",
    "real_subject": "Do the new or changed tests run the real code that they claim to test? No "
    "if the thing under test itself is replaced by a mock, or a test only checks what it has "
    "told a mock to return. Stand-ins for collaborators, clocks and networks are in order.",
    "says_what_is_expected": "Do the new or changed tests state what is expected on their own? "
    "No if a test repeats the implementation to compute its expectation, or an expectation was "
    "loosened so that it holds for anything. Abstain if no expectation is visible.",
}
DESCRIPTION_CRITERIA: Mapping[str, str] = {
    "kept": "Is every effect that the description claims visible in the change? No if a claim "
    "can be quoted that the change contradicts, or that it plainly leaves undone.",
    "told": "Does the description mention every effect of the change that a reviewer would "
    "want to know of? No if a line of the change can be quoted with an effect on behaviour, "
    "security, dependencies or interfaces that the description neither names nor implies.",
}
SUITABILITY_CRITERIA: Mapping[str, str] = {
    "fixes": "Does the change repair behaviour that users of a released version can meet? No "
    "if a line can be quoted that shows a new feature, a refactoring or a mere improvement.",
    "compatible": "Does everything that compiles and runs against the branch today go on doing "
    "so? No if a line can be quoted that removes, renames or changes a public name, a default, "
    "a file format, a requirement or a setting.",
    "contained": "Does the change keep to what the repair needs? No if a line can be quoted "
    "that has nothing to do with it.",
    "settled": "Is the change free of what needs time to prove itself, such as concurrency, "
    "migrations of data, caches or security settings? No if such a line can be quoted.",
}


def make_quality(options: QualityOptions, ports: Ports) -> ModelBackedJudge[PullRequestContext]:
    """The judge of a change's quality; it is blind to every word of the author's."""
    criteria = find_criteria(options)

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

    return judge_of(
        QUALITY,
        criteria,
        options,
        ports,
        about="asks a model about the quality of the change",
        instruct=instruct,
        must=options.musts(criteria),
        inapplicable=find_inapplicable,
    )


def find_criteria(options: QualityOptions) -> Mapping[str, str]:
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
    for name, question in options.criteria.items():
        if not CRITERION_NAME.fullmatch(name):
            raise ConfigError(
                f"quality.criteria names {name!r}",
                remedy="A name has up to 60 letters, digits, dots, hyphens and underscores and "
                "starts with a letter",
            )
        if not question.strip():
            raise ConfigError(f"quality.criteria.{name} has no question", remedy="Write a question")
    return options.criteria


def _changes_code(file: FileChange) -> bool:
    signs = {line.sign for hunk in file.hunks for line in hunk.lines}
    return file.kind in {FileKind.SOURCE, FileKind.TEST} and bool(file.unread or signs - {" "})


def make_tests(options: QuestionOptions, ports: Ports) -> ModelBackedJudge[PullRequestContext]:
    """The judge of new and changed tests; it sees them beside the source that changes."""

    def find_reason(pull: PullRequest) -> str | None:
        for file in pull.files:
            if file.kind is FileKind.TEST and (file.unread or any(file.added_lines)):
                return None
        return "no test is added or changed"

    return judge_of(
        TESTS,
        TESTS_CRITERIA,
        options,
        ports,
        about="asks a model whether the new tests exercise what they claim to test",
        kinds=(FileKind.SOURCE, FileKind.TEST),
        aside=find_reason,
        instruct="tests",
    )


def make_description(
    options: QuestionOptions, ports: Ports
) -> ModelBackedJudge[PullRequestContext]:
    """The judge that compares a change with its description, and the issues that it closes."""
    return judge_of(
        DESCRIPTION,
        DESCRIPTION_CRITERIA,
        options,
        ports,
        about="asks a model whether the change does what its description says",
        aside=lambda it: None if f"{it.title}{it.body}".strip() else "there is no description",
        described=True,
        linked=True,
        instruct="description",
    )


def make_suitability(
    options: SuitabilityOptions, ports: Ports
) -> ModelBackedJudge[PullRequestContext]:
    """The judge of backport suitability, where rules leave it open; it never votes on the merge."""
    about = "asks a model whether the change belongs on a release branch"
    name, criteria = SUITABILITY, SUITABILITY_CRITERIA
    return judge_of(name, criteria, options, ports, about=about, instruct="suitability")


def make_prompt(options: PromptOptions, ports: Ports) -> ModelBackedJudge[PullRequestContext]:
    """A judge of one's own, made of a text and questions; it goes by the name in its options."""

    def instruct(own: OwnTexts, _: PullRequest) -> Instructions:
        values = {
            "criteria": dict(options.criteria),
            "task": redact_text(_read_task(options, own).strip(), ports.redact),
            "sees_description": options.sees_description,
        }
        return own.prompts().render("prompt", values)

    return judge_of(
        options.name,
        options.criteria,
        options,
        ports,
        about=f"asks a model the questions of {options.name}",
        described=options.sees_description,
        instruct=instruct,
    )


def _read_task(options: PromptOptions, own: OwnTexts) -> str:
    if options.file is None:
        return options.text or ""
    path = Path(options.file)
    if options.commit is not None or not path.is_absolute():
        return own.text(options.file)
    try:
        return path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        raise ConfigError(
            f"the prompt {path} cannot be read: {reason}",
            remedy="Correct the path",
            reason="prompt_invalid",
        ) from error
