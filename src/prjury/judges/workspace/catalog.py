"""The judges of a directory by name, and their options as a command line gives them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

from prjury.deadline import Deadline
from prjury.errors import CannotJudgeError, UsageError, did_you_mean
from prjury.git.directory import Directory, open_directory
from prjury.judges.context import PullRequestContext
from prjury.judges.files.class_version import ClassVersionJudge
from prjury.judges.patterns.baseline import baseline_text
from prjury.judges.patterns.judge import NAME, PatternsJudge
from prjury.judges.patterns.selection import PackSelection
from prjury.judges.workspace.build import BuildJudge
from prjury.judges.workspace.coverage import CoverageJudge
from prjury.judges.workspace.files import FileContentJudge, FileExistsJudge, Workspace, answered
from prjury.judges.workspace.program_judges import CommandJudge
from prjury.jury.context import JudgmentContext
from prjury.jury.judge import Judge, JudgeType
from prjury.jury.judgment import Judgment, Status
from prjury.jury.voting import NOT_APPLICABLE
from prjury.policy.patterns import PatternsOptions
from prjury.ports import NoRecorder, Progress, Recorder, Shell
from prjury.report.redact import Redact
from prjury.report.sanitise import BY_SHAPE
from prjury.rulepacks.find import provided_packs
from prjury.rulepacks.load import own_packs
from prjury.snapshot.model import visible

#: Seconds for a whole tree.
TIMEOUT = 2700.0


@dataclass(frozen=True)
class DirectoryPatterns:
    """Judges every line of a directory as if it were added, by the versions declared there.

    Attributes:
        write_baseline: where to write what is found, relative to the directory; then that passes.
    """

    options: PatternsOptions
    selection: PackSelection
    write_baseline: str | None = None
    name: str = NAME
    description: str = "looks in all lines for what the declared versions no longer have"
    type: JudgeType = JudgeType.DETERMINISTIC

    def judge(self, context: JudgmentContext, /) -> Judgment:
        """As `PatternsJudge`, with what was left out in ``metadata["scope"]["left_out"]``.

        Raises:
            SourceError: when git refuses the work tree that the directory is in.
            ConfigError: when the baseline is missing or malformed.
        """
        return answered(lambda: self._judged(context))

    def _judged(self, context: JudgmentContext) -> Judgment:
        root = Workspace.of(context).root
        directory = open_directory(root)
        judge = PatternsJudge(self.options, directory, self.selection, whole=True)
        asked = PullRequestContext(
            context.goal, workspace=root, pull=directory.pull, deadline=Deadline.after(TIMEOUT)
        )
        judgment = _complete(judge.judge(asked), directory)
        file = self.write_baseline
        if file is None or _is_no_answer(judgment):
            return judgment
        entries: Sequence[Any] = judgment.metadata["findings"]
        _write(root, file, baseline_text((e["rule"], e["path"], e["fingerprint"]) for e in entries))
        unread = len(judgment.metadata["scope"]["unread"])
        message = f"{_count(len(entries), 'known finding')} written to {visible(file)}"
        message += f"; {_count(unread, 'file')} could not be read" if unread else ""
        return Judgment.passed(message, metadata=judgment.metadata)


def _is_no_answer(judgment: Judgment) -> bool:
    return judgment.status is Status.ERROR or judgment.label == NOT_APPLICABLE


def _complete(judgment: Judgment, directory: Directory) -> Judgment:
    """The judgment with what was not looked at."""
    left_out = [{"path": path, "reason": why} for path, why in directory.left_out.items()]
    scope = {**judgment.metadata.get("scope", {}), "left_out": left_out}
    message = f"; {_count(len(left_out), 'path')} left out" if left_out else ""
    return replace(judgment.with_metadata(scope=scope), reasoning=judgment.reasoning + message)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"


def _write(root: Path, file: str, text: str) -> None:
    """Writes a file as a whole or not at all; a link in its place is replaced, not followed."""
    place = root / file
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        if not place.parent.resolve().is_relative_to(root):
            raise CannotJudgeError(
                f"{visible(file)} leaves the workspace",
                why="A symbolic link leads out of it",
                remedy="Name another file",
                reason="outside_workspace",
            )
        descriptor, scratch = tempfile.mkstemp(dir=place.parent, prefix=".prjury-")
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(text)
        Path(scratch).chmod(0o644)
        Path(scratch).replace(place)
    except OSError as error:
        raise CannotJudgeError(
            f"the baseline {visible(file)} cannot be written: {error.strerror}",
            remedy="Name a file in a directory that can be written to",
            reason="unwritable",
        ) from error


def directory_patterns(write_baseline: str | None = None, **options: Any) -> DirectoryPatterns:  # noqa: ANN401 - as `PatternsOptions` has them
    """The judge with these options of `PatternsOptions`.

    Raises:
        ConfigError: for an unknown pack, and for everything that is wrong in the user's own packs.
        UsageError: for a baseline that is to be read and written at the same time.
    """
    if write_baseline and options.get("baseline"):
        raise UsageError(
            "baseline and write_baseline cannot be given together",
            why="A new baseline is written of everything that is found",
            remedy="Leave one of them out",
        )
    chosen = PatternsOptions.model_validate(options)
    packs = [*provided_packs(chosen.packs), *own_packs(chosen.paths)]
    selection = PackSelection.of(chosen.packs, packs)
    return DirectoryPatterns(chosen, selection, write_baseline)


_MOST_RUNS = 9


@dataclass(frozen=True)
class RunTexts:
    """What judges of a directory may need: a shell, a progress display, the operator's environment.

    Attributes:
        environ: the operator's environment, for the models' keys.
        journal: keeps the calls of models.
    """

    shell: Shell
    progress: Progress
    environ: Mapping[str, str] = field(default_factory=dict)
    redact: Redact = BY_SHAPE
    journal: Recorder = field(default_factory=NoRecorder)


@dataclass(frozen=True)
class JudgeKind:
    """A judge that can be made by its name.

    Attributes:
        make: makes it of the `RunTexts` and its options.
        options: how the text of each option becomes its value; the first ones are required.
        required: how many are.
    """

    make: Callable[..., Judge[JudgmentContext]]
    options: Mapping[str, Callable[[str], Any]]
    required: int = 1


def _need(what: str, *, fits: bool) -> None:
    if not fits:
        raise ValueError(what)


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError("a whole number is needed") from None


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError("a number is needed") from None


def _seconds(text: str) -> float:
    """``90``, ``90s``, ``30m``, ``2h``, as in the configuration."""
    from pydantic import TypeAdapter, ValidationError  # noqa: PLC0415 - 0.1 s for this option only

    from prjury.policy.fields import Duration  # noqa: PLC0415 - the same

    given: object = float(text) if text.strip().replace(".", "", 1).isdigit() else text
    try:
        return TypeAdapter[float](Duration).validate_python(given)
    except ValidationError as error:
        raise ValueError(str(error.errors()[0]["ctx"]["error"])) from None


def _listed(text: str) -> list[str]:
    """Names with commas between them."""
    names = [name.strip() for name in text.split(",")]
    _need("names with commas between them are needed", fits=all(names))
    return names


def _text_of(text: str) -> str:
    """The text of a file of the operator's."""
    try:
        return Path(text).read_text("utf-8", "surrogateescape")
    except OSError as error:
        raise ValueError(f"it cannot be read: {error.strerror}") from None


def _packs(text: str) -> str | list[str]:
    return text if text == "auto" else _listed(text)


def _severity(text: str) -> str:
    _need("error, warning or hint is needed", fits=text in {"error", "warning", "hint"})
    return text


def _inside(text: str) -> str:
    from prjury.policy.fields import is_inside  # noqa: PLC0415 - as above

    _need("a path inside the directory is needed, relative to it", fits=is_inside(text))
    return text


def _share(text: str) -> float:
    value = _number(text)
    _need("a share from 0 to 1 is needed", fits=0.0 <= value <= 1.0)
    return value


def _runs(text: str) -> int:
    value = _whole(text)
    _need(f"a number from 1 to {_MOST_RUNS} is needed", fits=1 <= value <= _MOST_RUNS)
    return value


def _truth(text: str) -> bool:
    _need("true or false is needed", fits=text in {"true", "false"})
    return text == "true"


def _plain(judge: Callable[..., Judge[JudgmentContext]]) -> Callable[..., Judge[JudgmentContext]]:
    """Makes a judge that needs nothing but its options."""
    return lambda _, **options: judge(**options)


def _running(judge: Callable[..., Judge[JudgmentContext]]) -> Callable[..., Judge[JudgmentContext]]:
    """Makes a judge that runs programs."""
    return lambda around, **options: judge(**options, shell=around.shell, progress=around.progress)


def _patterns(**options: Any) -> Judge[JudgmentContext]:  # noqa: ANN401 - checked by then

    return directory_patterns(**options)


def _semantic(expected: str, path: str | None = None) -> Judge[JudgmentContext]:
    from prjury.judges.files.judges import SemanticComparisonJudge  # noqa: PLC0415 - as above

    return SemanticComparisonJudge(expected, path)


def _superset(expected: str, path: str | None = None) -> Judge[JudgmentContext]:
    from prjury.judges.files.judges import SupersetJudge  # noqa: PLC0415 - as above

    return SupersetJudge(expected, path)


_Options: TypeAlias = Mapping[str, Callable[[str], Any]]

_ASKING: _Options = {"model": str, "runs": _runs, "threshold": _share}
_GROUNDS: _Options = {"context": _listed, "answer": str, "question": str}


def _asking(name: str, options: _Options, required: int = 0) -> JudgeKind:
    """A judge that asks models, with the options that all of these have."""

    def make(around: RunTexts, **values: Any) -> Judge[JudgmentContext]:  # noqa: ANN401 - as above
        from prjury.judges.workspace.model_judges import model_judge  # noqa: PLC0415 - as above

        asking = {option: values.pop(option) for option in _ASKING if option in values}
        return model_judge(name, around, asking, **values)

    return JudgeKind(make, {**options, **_ASKING}, required)


_EXPECTED: _Options = {"expected": str, "path": str}
_COVERAGE: _Options = {
    "report": str,
    "minimum": _number,
    "metric": str,
    "baseline": _number,
    "max_drop": _number,
    "mode": str,
    "diff": _text_of,
}
_PATTERNS: _Options = {
    "packs": _packs,
    "severity": _severity,
    "paths": _listed,
    "baseline": _inside,
    "write_baseline": _inside,
}

#: What a text has to be, to hold, or to match.
_TEXTS: _Options = {"exact": str, "contains": str, "regex": str}

KINDS: Mapping[str, JudgeKind] = {
    "file-exists": JudgeKind(_plain(FileExistsJudge), {"path": str}),
    "file-content": JudgeKind(_plain(FileContentJudge), {"path": str, **_TEXTS}),
    "command": JudgeKind(
        _running(CommandJudge),
        {"command": str, "exit_code": _whole, "timeout": _seconds, **_TEXTS},
    ),
    "build": JudgeKind(
        _running(BuildJudge), {"command": str, "timeout": _seconds, "system": str}, required=0
    ),
    "coverage": JudgeKind(_plain(CoverageJudge), _COVERAGE, required=0),
    "semantic": JudgeKind(_plain(_semantic), _EXPECTED),
    "superset-diff": JudgeKind(_plain(_superset), _EXPECTED),
    "class-version": JudgeKind(
        _plain(ClassVersionJudge), {"release": _whole, "path": str, "exactly": _truth}
    ),
    "patterns": JudgeKind(_plain(_patterns), _PATTERNS, required=0),
    "quality": _asking("quality", {"criteria": _listed, "must": _listed}),
    "tests-exercise-behaviour": _asking("tests-exercise-behaviour", {}),
    "correctness": _asking("correctness", {"output": str}),
    "faithfulness": _asking("faithfulness", _GROUNDS, required=1),
    "hallucination": _asking("hallucination", _GROUNDS, required=1),
    "contextual-relevance": _asking("contextual-relevance", _GROUNDS, required=1),
}


def judge_by_name(
    name: str, options: Mapping[str, str], around: RunTexts, others: Iterable[str] = ()
) -> Judge[JudgmentContext]:
    """The judge with these options.

    Args:
        others: names that are known elsewhere, for messages.

    Raises:
        UsageError: for an unknown name, an unknown or missing option, or a value that it refuses.
    """
    kind = KINDS.get(name)
    if kind is None:
        raise _unknown(name, others)
    values = _values(name, kind, options)
    try:
        return kind.make(around, **values)
    except (ValueError, TypeError) as error:
        raise UsageError(f"{name}: {error}", remedy=_takes(kind)) from error


def _values(name: str, kind: JudgeKind, options: Mapping[str, str]) -> dict[str, Any]:
    known = list(kind.options)
    for option in options:
        if option not in known:
            raise UsageError(f"{name} has no option {visible(option)}", remedy=_takes(kind))
    for option in known[: kind.required]:
        if option not in options:
            raise UsageError(f"{name} needs the option {option}", remedy=_takes(kind))
    values = {}
    for option, text in options.items():
        try:
            values[option] = kind.options[option](text)
        except ValueError as error:
            message = f"{name}: {option}={visible(text)}: {error}"
            raise UsageError(message, remedy=_takes(kind)) from error
    return values


def _takes(kind: JudgeKind) -> str:
    """What can be given, such as ``Options are path, and optionally exact``."""
    known = list(kind.options)
    needed, others = known[: kind.required], known[kind.required :]
    if not needed:
        return f"Options are {', '.join(others)}, each optional: --option NAME=VALUE"
    more = f", and optionally {', '.join(others)}" if others else ""
    return f"Options are {', '.join(needed)}{more}: --option NAME=VALUE"


def _unknown(name: str, others: Iterable[str]) -> UsageError:
    names = [*KINDS, *others]
    known = f"Known are {', '.join(names)}"
    return UsageError(
        f"there is no judge called {visible(name)!r}",
        why=did_you_mean(name, names) or known,
        remedy="Name one that is known, or your own as package.module:function or "
        "path/to/file.py:function",
    )
