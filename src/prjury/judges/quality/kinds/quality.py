"""Is the change good? Correct, tested, in keeping with its surroundings, free of needless risk."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from msgspec.structs import replace

from prjury.code.languages import LANGUAGES, kin_of
from prjury.errors import ConfigError
from prjury.judges.context import PullRequestContext
from prjury.judges.quality.judge import ModelBackedJudge
from prjury.judges.quality.kinds.reading import judge_of
from prjury.judges.quality.prompts import Instructions, OwnTexts
from prjury.jury.library.presets import CRITERIA
from prjury.policy.tiers import CRITERION_NAME, QualityOptions, plain_name
from prjury.ports import Ports
from prjury.snapshot.model import FileChange, FileKind, PullRequest, printable

#: The questions that have a name, with everything that belongs to them.
KNOWN: Mapping[str, str] = MappingProxyType({name: CRITERIA[name].text for name in CRITERIA})


def find_criteria(options: QualityOptions) -> Mapping[str, str]:
    """The questions by the names of their criteria, in the order of the configuration."""
    if isinstance(options.criteria, list):
        return MappingProxyType(_find_questions(options.criteria))
    for name, question in options.criteria.items():
        if not CRITERION_NAME.fullmatch(name):
            raise ConfigError(
                f"quality.criteria names {name!r}",
                remedy="A name has up to 60 letters, digits, dots, hyphens and underscores and "
                "starts with a letter",
            )
        if not question.strip():
            raise ConfigError(f"quality.criteria.{name} has no question", remedy="Write a question")
    return MappingProxyType(dict(options.criteria))


def _find_questions(names: list[str]) -> dict[str, str]:
    """The questions of these names, in which a hyphen is as good as an underscore."""
    chosen_names = [plain_name(name) for name in names]
    for spelling, name in zip(names, chosen_names, strict=True):
        if name not in KNOWN:
            raise ConfigError(
                f"quality.criteria names {spelling!r}, which has no question of its own",
                remedy=f"Use {', '.join(KNOWN)}, or write criteria as name: question",
            )
    if len(set(chosen_names)) != len(names):
        raise ConfigError("quality.criteria lists a name twice", remedy="Remove one of them")
    return {name: KNOWN[name] for name in chosen_names}


NAME = "quality"
_TESTS = "tests"


def make(options: QualityOptions, ports: Ports) -> ModelBackedJudge[PullRequestContext]:
    """The quality judge. It is blind: it knows the change and no word of its author's."""
    criteria = find_criteria(options)

    def instruct(own: OwnTexts, pull: PullRequest) -> Instructions:
        paths = [printable(file.path) for file in pull.files]
        guidelines = own.guidelines(paths, ports.redact) if options.guidelines else ""
        kinds = dict.fromkeys(filter(None, map(kin_of, paths)))
        prompts = own.prompts()
        values: dict[str, Any] = {"criteria": dict(criteria)}
        every = {language.kin for language in LANGUAGES.values() if language.kin}
        usual = prompts.render(NAME, {**values, "guidelines": "", "languages": sorted(every)})
        values |= {"guidelines": guidelines, "languages": list(kinds)}
        return replace(prompts.render(NAME, values), digest=usual.digest)

    return judge_of(
        NAME,
        criteria,
        options,
        ports,
        about="asks a model about the quality of the change",
        instruct=instruct,
        must=options.musts(criteria),
        inapplicable=lambda context: _find_inapplicable(criteria, context.pull),
    )


def _find_inapplicable(criteria: Mapping[str, str], pull: PullRequest) -> Mapping[str, str]:
    """Our question about tests where the change has no line of code, and why it does not count."""
    is_ours_to_ask = criteria.get(_TESTS) == KNOWN[_TESTS]
    if not is_ours_to_ask or any(map(_changes_code, pull.files)):
        return {}
    return {_TESTS: "no line of source or tests changes"}


def _changes_code(file: FileChange) -> bool:
    lines = (line for hunk in file.hunks for line in hunk.lines)
    changes = bool(file.unread) or any(line.sign != " " for line in lines)
    return changes and file.kind in {FileKind.SOURCE, FileKind.TEST}
