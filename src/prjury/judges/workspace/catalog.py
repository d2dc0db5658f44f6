"""The judges of a directory by name, and their options as a command line gives them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Annotated, Any, TypeAlias, get_args, get_type_hints

import msgspec
from msgspec import Meta, Struct

from prjury.errors import UsageError, did_you_mean
from prjury.judges.files.judges import (
    ClassVersionJudge,
    FileContentJudge,
    FileExistsJudge,
    SemanticComparisonJudge,
    SupersetJudge,
)
from prjury.judges.workspace.coverage import CoverageJudge
from prjury.judges.workspace.program_judges import BuildJudge, CommandJudge
from prjury.jury.context import JudgmentContext
from prjury.jury.judge import Judge
from prjury.jury.judgment import Severity
from prjury.policy.fields import parse_duration
from prjury.policy.load import find_problems
from prjury.ports import Ports
from prjury.snapshot.model import visible

DirectoryJudge: TypeAlias = Judge[JudgmentContext]


class JudgeKind(Struct, frozen=True):
    """A judge and its options, the first of them required; without a maker by `directory`."""

    names: str
    make: Callable[..., DirectoryJudge] | None = None
    required: int = 1

    @property
    def options(self) -> list[str]:
        return self.names.split()

    @property
    def runs_programs(self) -> bool:
        """It runs what it is told to, or what the directory says."""
        return "command" in self.options

    def find_form(self, option: str) -> Any:  # noqa: ANN401 - a type
        return get_type_hints(self.make)[option] if self.make else _FORMS.get(option, str)


#: The types of options of judges that `directory` makes, if they are no texts.
_FORMS: Mapping[str, Any] = {
    **dict.fromkeys(("packs", "paths", "criteria", "must", "context"), list[str]),
    "severity": Severity,
    "runs": Annotated[int, Meta(ge=1, le=9)],
    "threshold": Annotated[float, Meta(ge=0, le=1)],
}
_ASKING = "model runs threshold"
_ANSWER = JudgeKind(f"context answer question {_ASKING}")

KINDS: Mapping[str, JudgeKind] = {
    "file-exists": JudgeKind("path", FileExistsJudge),
    "file-content": JudgeKind("path exact contains regex", FileContentJudge),
    "command": JudgeKind("command exit_code timeout", CommandJudge),
    "build": JudgeKind("command timeout system", BuildJudge, 0),
    "coverage": JudgeKind("report minimum metric baseline max_drop mode", CoverageJudge, 0),
    "semantic": JudgeKind("expected path", SemanticComparisonJudge),
    "superset-diff": JudgeKind("expected path", SupersetJudge),
    "class-version": JudgeKind("release path exactly", ClassVersionJudge),
    "patterns": JudgeKind("packs severity paths baseline write_baseline", None, 0),
    "quality": JudgeKind(f"criteria must {_ASKING}", None, 0),
    "tests-exercise-behaviour": JudgeKind(_ASKING, None, 0),
    "correctness": JudgeKind(f"output {_ASKING}", None, 0),
    **dict.fromkeys(("faithfulness", "hallucination", "contextual-relevance"), _ANSWER),
}


def make_named_judge(
    name: str,
    options: Mapping[str, str],
    ports: Ports,
    environ: Mapping[str, str],
    other_names: Iterable[str] = (),
) -> DirectoryJudge:
    """Make the judge with these options; ``other_names`` are known elsewhere."""
    kind = KINDS.get(name)
    if kind is None:
        names = [*KINDS, *other_names]
        why = did_you_mean(name, names) or f"Known are {', '.join(names)}"
        remedy = "Name one that is known; judges of your own are installed, or used in Python"
        raise UsageError(f"there is no judge called {visible(name)!r}", why=why, remedy=remedy)
    programs = {"shell": ports.shell, "progress": ports.progress} if kind.runs_programs else {}
    values = _read_options(name, kind, options)
    try:
        if kind.make:
            return kind.make(**values, **programs)
        from prjury.judges.workspace import directory  # noqa: PLC0415 - slow to load

        return directory.make(name, ports, environ, **values)
    except (ValueError, TypeError) as error:
        raise UsageError(f"{name}: {error}", remedy=_list_options(kind)) from error


def _read_options(name: str, kind: JudgeKind, options: Mapping[str, str]) -> dict[str, Any]:
    for option in options.keys() - set(kind.options):
        raise UsageError(f"{name} has no option {visible(option)}", remedy=_list_options(kind))
    for option in kind.options[: kind.required]:
        if option not in options:
            raise UsageError(f"{name} needs the option {option}", remedy=_list_options(kind))
    values = {}
    for option, text in options.items():
        try:
            values[option] = _parse_value(text, option, kind.find_form(option))
        except ValueError as error:
            message = f"{name}: {option}={visible(text)}: {error}"
            raise UsageError(message, remedy=_list_options(kind)) from error
    return values


def _parse_value(text: str, option: str, form: Any) -> Any:  # noqa: ANN401 - a type, and its value
    forms = (form, *get_args(form))
    if option == "timeout":
        is_number = text.strip().replace(".", "", 1).isdigit()
        return float(text) if is_number else parse_duration(text)
    if list[str] in forms:
        names = [name.strip() for name in text.split(",")]
        if not all(names):
            raise ValueError("names with commas between them are needed")
        return names
    if str in forms:
        return text
    value = None
    with suppress(msgspec.ValidationError):
        value = msgspec.convert(text, form, strict=False)
    if value is not None:
        return value
    number = re.fullmatch(r"-?(0|[1-9]\d{0,18})(\.\d{1,18})?", text)
    problem = next(find_problems(msgspec.json.decode(text) if number else text, form), None)
    raise ValueError(problem.text.partition(": ")[2] if problem else "it cannot be read")


def _list_options(kind: JudgeKind) -> str:
    return f"Options are {', '.join(kind.options)}: --option NAME=VALUE"
