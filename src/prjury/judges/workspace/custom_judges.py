"""The operator's own judge, named as ``package.module:function`` or ``path/to/file.py:function``.

It is the operator's code and runs as such: with the operator's rights, and not contained.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Mapping
from functools import reduce
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

from prjury.errors import UsageError
from prjury.jury.context import JudgmentContext
from prjury.jury.guard import catch_crash, itself
from prjury.jury.judge import FunctionJudge, Judge, type_of
from prjury.jury.judgment import Judgment
from prjury.snapshot.model import visible

_FORMS = "Name a judge of yours as package.module:function or path/to/file.py:function"
_MODULE_OF_FILE = "prjury_own_judge"


def is_own(name: str) -> bool:
    """Return true if a name has the form of an own judge's."""
    return ":" in name or name.endswith(".py")


def make_own_judge(
    name: str, options: Mapping[str, str], directory: Path
) -> Judge[JudgmentContext]:
    """Make the judge of this name; one whose module or class crashes is a judge that says so.

    A function from a context to a judgment, plain or async, and an object with a method ``judge``
    are judges. A class, a function without parameters, and any function if there are options, is
    called with the options as keywords and has to return one. The directory is searched for files
    and modules.
    """
    place, _, attribute = name.rpartition(":")
    if not place or not attribute:
        raise UsageError(f"{visible(name)} does not say which function judges", remedy=_FORMS)
    target: Any = catch_crash(lambda: _load_target(place, attribute, options, directory), itself)
    if isinstance(target, UsageError):
        raise target
    if isinstance(target, Judgment):
        return FunctionJudge(lambda _: target, name, "could not be loaded")
    judge = getattr(target, "judge", target)
    if not callable(judge):
        raise UsageError(
            f"{visible(name)} is of type {type(target).__name__}, which cannot judge",
            why="A judge is a function of a JudgmentContext, or has a method `judge`",
            remedy="Name another one",
        )
    title = getattr(target, "name", None)
    label = title if isinstance(title, str) and title.strip() else name
    return FunctionJudge(judge, label, type=type_of(target))


def _load_target(place: str, attribute: str, options: Mapping[str, str], directory: Path) -> Any:  # noqa: ANN401 - anything, or the error of a wrong name
    load = _load_file if "/" in place or place.endswith(".py") else _load_module
    module = load(place, directory)
    if module is None:
        return UsageError(f"there is no module or file {visible(place)}", remedy=_FORMS)
    try:
        target: Any = reduce(getattr, attribute.split("."), module)
    except AttributeError:
        public = [word for word in vars(module) if not word.startswith("_")]
        return UsageError(
            f"there is no {visible(attribute)} in {visible(place)}",
            why=f"It holds {', '.join(sorted(public)[:10]) or 'nothing'}",
            remedy="Correct the name",
        )
    if not (options or inspect.isclass(target) or _takes_nothing(target)):
        return target
    try:
        return target(**options)  # what cannot be called raises TypeError
    except (TypeError, ValueError) as error:
        what = f"{visible(f'{place}:{attribute}')} refuses its options: {error}"
        return UsageError(what, remedy="Correct them: --option NAME=VALUE")


def _takes_nothing(target: object) -> bool:
    try:
        return inspect.isroutine(target) and not inspect.signature(target).parameters
    except ValueError:  # a built-in function that tells no signature
        return False


def _load_file(place: str, directory: Path) -> ModuleType | None:
    """Load a file's module, whose neighbours it can import; None if there is no such file."""
    file = directory / place
    if not file.is_file():
        return None
    _search_modules(file.parent)
    module = ModuleType(_MODULE_OF_FILE)
    module.__file__ = str(file)
    sys.modules[_MODULE_OF_FILE] = module
    SourceFileLoader(_MODULE_OF_FILE, str(file)).exec_module(module)
    return module


def _load_module(place: str, directory: Path) -> ModuleType | None:
    if not all(part.isidentifier() for part in place.split(".")):
        return None
    _search_modules(directory)
    try:
        return importlib.import_module(place)
    except ModuleNotFoundError as error:
        if f"{place}.".startswith(f"{error.name}."):
            return None
        raise  # the module is there, and needs another one that is not


def _search_modules(directory: Path) -> None:
    """Have a directory searched for modules after all others, so that it hides none of them."""
    place = str(directory.absolute())
    if place not in sys.path:
        sys.path.append(place)
