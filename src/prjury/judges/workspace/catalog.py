"""The judges of a directory by name, and their options as a command line gives them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, TypeAlias

import msgspec
from msgspec import Meta, Struct

from prjury.errors import UsageError, did_you_mean
from prjury.judges.files.class_version import ClassVersionJudge
from prjury.judges.files.judges import SemanticComparisonJudge, SupersetJudge
from prjury.judges.workspace.build import BuildJudge
from prjury.judges.workspace.content import FileContentJudge, FileExistsJudge
from prjury.judges.workspace.coverage import CoverageJudge
from prjury.judges.workspace.directory_patterns import directory_patterns
from prjury.judges.workspace.program_judges import CommandJudge
from prjury.jury.context import JudgmentContext
from prjury.jury.judge import Judge
from prjury.jury.judgment import Severity
from prjury.policy.fields import is_inside, parse_duration
from prjury.policy.load import find_problems
from prjury.ports import Ports
from prjury.snapshot.model import visible

DirectoryJudge: TypeAlias = Judge[JudgmentContext]
Options: TypeAlias = Mapping[str, Callable[[str], Any]]


class JudgeKind(Struct, frozen=True):
    """A judge that is made of ports, the operator's environment and options, the first required."""

    make: Callable[..., DirectoryJudge]
    options: Options
    required: int = 1

    @property
    def runs_programs(self) -> bool:
        """It runs what it is told to, or what the directory says."""
        return "command" in self.options


def _read_as(form: Any) -> Callable[[str], Any]:  # noqa: ANN401 - a type
    """Make a reader that says in words what else is expected."""

    def read(text: str) -> Any:  # noqa: ANN401 - of the type
        try:
            return msgspec.convert(text, form, strict=False)
        except msgspec.ValidationError as error:
            number = re.fullmatch(r"-?(0|[1-9]\d{0,18})(\.\d{1,18})?", text)
            value = msgspec.json.decode(text) if number else text
            problem = next(find_problems(value, form), None)
            words = problem.text.partition(": ")[2] if problem else "it cannot be read"
            raise ValueError(words) from error

    return read


def _read_seconds(text: str) -> float:
    is_number = text.strip().replace(".", "", 1).isdigit()
    return float(text) if is_number else parse_duration(text)


def _read_names(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    if not all(names):
        raise ValueError("names with commas between them are needed")
    return names


def _read_packs(text: str) -> str | list[str]:
    return text if text == "auto" else _read_names(text)


def _read_inner_path(text: str) -> str:
    if not is_inside(text):
        raise ValueError("a path inside the directory is needed, relative to it")
    return text


def _ignore_ports(judge: Callable[..., DirectoryJudge]) -> Callable[..., DirectoryJudge]:
    return lambda _ports, _environ, **options: judge(**options)


def _pass_shell(judge: Callable[..., DirectoryJudge]) -> Callable[..., DirectoryJudge]:
    return lambda ports, _, **options: judge(**options, shell=ports.shell, progress=ports.progress)


_MODEL_OPTIONS: Options = {
    "model": str,
    "runs": _read_as(Annotated[int, Meta(ge=1, le=9)]),
    "threshold": _read_as(Annotated[float, Meta(ge=0, le=1)]),
}


def _ask_models(name: str, options: Options, required: int = 0) -> JudgeKind:
    def make(ports: Ports, environ: Mapping[str, str], **values: Any) -> DirectoryJudge:  # noqa: ANN401 - as the options
        from prjury.judges.workspace.model_judges import model_judge  # noqa: PLC0415 - slow to load

        asking = {option: values.pop(option) for option in _MODEL_OPTIONS if option in values}
        return model_judge(name, ports, environ, asking, **values)

    return JudgeKind(make, {**options, **_MODEL_OPTIONS}, required)


_GROUNDS: Options = {"context": _read_names, "answer": str, "question": str}
_EXPECTED: Options = {"expected": str, "path": str}
_TEXTS: Options = {"exact": str, "contains": str, "regex": str}
_COVERAGE: Options = {
    "report": str,
    "minimum": _read_as(float),
    "metric": str,
    "baseline": _read_as(float),
    "max_drop": _read_as(float),
    "mode": str,
}
_PATTERNS: Options = {
    "packs": _read_packs,
    "severity": _read_as(Severity),
    "paths": _read_names,
    "baseline": _read_inner_path,
    "write_baseline": _read_inner_path,
}
_COMMAND: Options = {
    "command": str,
    "exit_code": _read_as(Annotated[int, Meta(ge=-64, le=255)]),
    "timeout": _read_seconds,
}
_BUILD: Options = {"command": str, "timeout": _read_seconds, "system": str}
_CLASSES: Options = {"release": _read_as(int), "path": str, "exactly": _read_as(bool)}

KINDS: Mapping[str, JudgeKind] = {
    "file-exists": JudgeKind(_ignore_ports(FileExistsJudge), {"path": str}),
    "file-content": JudgeKind(_ignore_ports(FileContentJudge), {"path": str, **_TEXTS}),
    "command": JudgeKind(_pass_shell(CommandJudge), _COMMAND),
    "build": JudgeKind(_pass_shell(BuildJudge), _BUILD, required=0),
    "coverage": JudgeKind(_ignore_ports(CoverageJudge), _COVERAGE, required=0),
    "semantic": JudgeKind(_ignore_ports(SemanticComparisonJudge), _EXPECTED),
    "superset-diff": JudgeKind(_ignore_ports(SupersetJudge), _EXPECTED),
    "class-version": JudgeKind(_ignore_ports(ClassVersionJudge), _CLASSES),
    "patterns": JudgeKind(_ignore_ports(directory_patterns), _PATTERNS, required=0),
    "quality": _ask_models("quality", {"criteria": _read_names, "must": _read_names}),
    "tests-exercise-behaviour": _ask_models("tests-exercise-behaviour", {}),
    "correctness": _ask_models("correctness", {"output": str}),
    "faithfulness": _ask_models("faithfulness", _GROUNDS, required=1),
    "hallucination": _ask_models("hallucination", _GROUNDS, required=1),
    "contextual-relevance": _ask_models("contextual-relevance", _GROUNDS, required=1),
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
    values = _read_options(name, kind, options)
    try:
        return kind.make(ports, environ, **values)
    except (ValueError, TypeError) as error:
        raise UsageError(f"{name}: {error}", remedy=_list_options(kind)) from error


def _read_options(name: str, kind: JudgeKind, options: Mapping[str, str]) -> dict[str, Any]:
    unknown = [
        f"{name} has no option {visible(option)}" for option in options.keys() - kind.options
    ]
    required = list(kind.options)[: kind.required]
    missing = [f"{name} needs the option {option}" for option in required if option not in options]
    for problem in unknown + missing:
        raise UsageError(problem, remedy=_list_options(kind))
    values = {}
    for option, text in options.items():
        try:
            values[option] = kind.options[option](text)
        except ValueError as error:
            message = f"{name}: {option}={visible(text)}: {error}"
            raise UsageError(message, remedy=_list_options(kind)) from error
    return values


def _list_options(kind: JudgeKind) -> str:
    names = list(kind.options)
    needed, others = ", ".join(names[: kind.required]), ", ".join(names[kind.required :])
    more = f"{needed and ', and optionally '}{others}" if others else ""
    each = "" if needed else ", each optional"
    return f"Options are {needed}{more}{each}: --option NAME=VALUE"
