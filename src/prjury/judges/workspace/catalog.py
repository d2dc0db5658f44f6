"""The judges of a directory by name, and their options as a command line gives them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
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
    """A judge and the types of its options, the first required; without maker by `directory`."""

    options: Mapping[str, Any]
    required: int = 0
    make: Callable[..., DirectoryJudge] | None = None

    @property
    def runs_programs(self) -> bool:
        """It runs what it is told to, or what the directory says."""
        return "command" in self.options


def _make_by(make: Callable[..., DirectoryJudge], names: str, required: int = 1) -> JudgeKind:
    hints = get_type_hints(make, include_extras=True)
    return JudgeKind({name: hints[name] for name in names.split()}, required, make)


_MODEL = {
    "model": str,
    "runs": Annotated[int, Meta(ge=1, le=9)],
    "threshold": Annotated[float, Meta(ge=0, le=1)],
}
_ANSWER = JudgeKind({"context": list[str], "answer": str, "question": str, **_MODEL}, required=1)

KINDS: Mapping[str, JudgeKind] = {
    "file-exists": _make_by(FileExistsJudge, "path"),
    "file-content": _make_by(FileContentJudge, "path exact contains regex"),
    "command": _make_by(CommandJudge, "command exit_code timeout"),
    "build": _make_by(BuildJudge, "command timeout system", 0),
    "coverage": _make_by(CoverageJudge, "report minimum metric baseline max_drop mode", 0),
    "semantic": _make_by(SemanticComparisonJudge, "expected path"),
    "superset-diff": _make_by(SupersetJudge, "expected path"),
    "class-version": _make_by(ClassVersionJudge, "release path exactly"),
    "patterns": JudgeKind(
        {"packs": list[str], "severity": Severity, "paths": list[str]}
        | {"baseline": str, "write_baseline": str}
    ),
    "quality": JudgeKind({"criteria": list[str], "must": list[str], **_MODEL}),
    "tests-exercise-behaviour": JudgeKind(_MODEL),
    "correctness": JudgeKind({"output": str, **_MODEL}),
    **dict.fromkeys(("faithfulness", "hallucination", "contextual-relevance"), _ANSWER),
}


def judge_by_name(
    name: str,
    options: Mapping[str, str],
    ports: Ports,
    environ: Mapping[str, str],
    others: Iterable[str] = (),
) -> DirectoryJudge:
    """Make the judge with these options; ``others`` are names that are known elsewhere."""
    kind = KINDS.get(name)
    if kind is None:
        names = [*KINDS, *others]
        raise UsageError(
            f"there is no judge called {visible(name)!r}",
            why=did_you_mean(name, names) or f"Known are {', '.join(names)}",
            remedy="Name one that is known; judges of your own are installed, or used in Python",
        )
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
    required = list(kind.options)[: kind.required]
    problems = [f"{name} has no option {visible(each)}" for each in options.keys() - kind.options]
    problems += [f"{name} needs the option {each}" for each in required if each not in options]
    for problem in problems:
        raise UsageError(problem, remedy=_list_options(kind))
    values = {}
    for option, text in options.items():
        try:
            values[option] = _read_value(text, option, kind.options[option])
        except ValueError as error:
            message = f"{name}: {option}={visible(text)}: {error}"
            raise UsageError(message, remedy=_list_options(kind)) from error
    return values


def _read_value(text: str, option: str, form: Any) -> Any:  # noqa: ANN401 - a type, and its value
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
    try:
        return msgspec.convert(text, form, strict=False)
    except msgspec.ValidationError as error:
        number = re.fullmatch(r"-?(0|[1-9]\d{0,18})(\.\d{1,18})?", text)
        value = msgspec.json.decode(text) if number else text
        problem = next(find_problems(value, form), None)
        words = problem.text.partition(": ")[2] if problem else "it cannot be read"
        raise ValueError(words) from error


def _list_options(kind: JudgeKind) -> str:
    names = list(kind.options)
    needed, others = ", ".join(names[: kind.required]), ", ".join(names[kind.required :])
    more = f"{needed and ', and optionally '}{others}" if others else ""
    each = "" if needed else ", each optional"
    return f"Options are {needed}{more}{each}: --option NAME=VALUE"
