"""The operator's own judge, named as ``package.module:function`` or ``path/to/file.py:function``.

It is the operator's code and runs as such: with the operator's rights, and not contained.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Mapping
from functools import reduce
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

from prjury.errors import UsageError
from prjury.jury.context import JudgmentContext
from prjury.jury.guard import guarded
from prjury.jury.judge import FunctionJudge, Judge, type_of
from prjury.jury.judgment import Judgment
from prjury.snapshot.model import visible

_FORMS = "Name a judge of yours as package.module:function or path/to/file.py:function"
_MODULE_OF_FILE = "prjury_own_judge"


def is_own(name: str) -> bool:
    """Whether a name has the form of an own judge's."""
    return ":" in name or name.endswith(".py")


def own_judge(name: str, options: Mapping[str, str], directory: Path) -> Judge[JudgmentContext]:
    """The judge of this name; one whose module or factory crashes is a judge that says so.

    Args:
        name: where it is. A function from a context to a judgment, plain or async, is a judge; so
            is an object with a method ``judge``. A class, a function that takes no context, and any
            function if options are given are called with the options and have to return one.
        options: keywords for the class or function, as text.
        directory: where files and modules are looked for, after all other places.

    Raises:
        UsageError: when there is nothing of that name, when it is nothing that judges, or when it
            does not take these options.
    """
    place, _, attribute = name.rpartition(":")
    if not place or not attribute:
        raise UsageError(f"{visible(name)} does not say which function judges", remedy=_FORMS)
    module = guarded(lambda: _module(place, directory), _itself)
    if module is None:
        raise UsageError(f"there is no {_kind(place)} {visible(place)}", remedy=_FORMS)
    if isinstance(module, Judgment):
        return _crashed(name, module)
    found = _attribute(module, attribute, name)
    if not _is_factory(found, options):
        _check_options(lambda: found, options, name)
        return _judging(found, name)
    _check_options(found, options, name)
    made = guarded(lambda: _made(found, options, name), _itself)
    if isinstance(made, UsageError):
        raise made
    return _crashed(name, made) if isinstance(made, Judgment) else _judging(made, name)


def _itself(crash: Judgment) -> Any:  # noqa: ANN401 - in place of whatever was to be loaded
    return crash


def _crashed(name: str, crash: Judgment) -> Judge[JudgmentContext]:
    return FunctionJudge(lambda _: crash, name, "could not be loaded")


def _kind(place: str) -> str:
    return "file" if "/" in place or place.endswith(".py") else "module"


def _module(place: str, directory: Path) -> ModuleType | None:
    """The module, None where there is none; whatever goes wrong in it goes on."""
    if _kind(place) == "file":
        file = directory / place
        return _module_of(file) if file.is_file() else None
    if not all(part.isidentifier() for part in place.split(".")):
        return None
    _search(directory)
    try:
        return importlib.import_module(place)
    except ModuleNotFoundError as error:
        if f"{place}.".startswith(f"{error.name}."):
            return None
        raise  # the module is there, and needs another one that is not


def _module_of(file: Path) -> ModuleType:
    """A file's module; its neighbours can be imported by it."""
    _search(file.parent)
    module = ModuleType(_MODULE_OF_FILE)
    module.__file__ = str(file)
    sys.modules[_MODULE_OF_FILE] = module
    SourceFileLoader(_MODULE_OF_FILE, str(file)).exec_module(module)
    return module


def _search(directory: Path) -> None:
    """Has a directory searched for modules after all others, so that it hides none of them."""
    place = str(directory.absolute())
    if place not in sys.path:
        sys.path.append(place)


def _attribute(module: ModuleType, attribute: str, name: str) -> Any:  # noqa: ANN401 - anything
    try:
        return reduce(getattr, attribute.split("."), module)
    except AttributeError as error:
        public = [word for word in vars(module) if not word.startswith("_")]
        raise UsageError(
            f"there is no {visible(attribute)} in {visible(name.rpartition(':')[0])}",
            why=f"It holds {', '.join(sorted(public)[:10]) or 'nothing'}",
            remedy="Correct the name",
        ) from error


def _is_factory(found: object, options: Mapping[str, str]) -> bool:
    """Whether it has to be called to get a judge: no judge itself, and not fit to be asked."""
    if inspect.isclass(found):
        return True
    if callable(getattr(found, "judge", None)) or not callable(found):
        return False
    return bool(options) or not _fits(found, None)


def _fits(function: Callable[..., object], *arguments: object, **options: object) -> bool:
    """Whether a function can be called like this, as far as its signature tells."""
    try:
        inspect.signature(function).bind(*arguments, **options)
    except TypeError:
        return False
    except ValueError:  # a built-in function without a signature
        return True
    return True


def _check_options(factory: Callable[..., object], options: Mapping[str, str], name: str) -> None:
    if _fits(factory, **options):
        return
    keywords = [
        f"{word}{'' if parameter.default is parameter.empty else ' (optional)'}"
        for word, parameter in inspect.signature(factory).parameters.items()
    ]
    given = ", ".join(map(visible, options))
    problem = f"does not take the options {given}" if given else "cannot be made without options"
    raise UsageError(
        f"{visible(name)} {problem}",
        why=f"It takes {', '.join(keywords) or 'none'}",
        remedy="Correct them: --option NAME=VALUE",
    )


def _made(
    factory: Callable[..., object], options: Mapping[str, str], name: str
) -> object | UsageError:
    """What the factory makes; a value that it refuses is the operator's mistake."""
    try:
        return factory(**options)
    except ValueError as error:
        return UsageError(
            f"{visible(name)} refuses its options: {error}", remedy="Correct the values"
        )


def _judging(found: object, name: str) -> Judge[JudgmentContext]:
    """The judge, or a function as one."""
    judging = getattr(found, "judge", None)
    if callable(judging):
        title = getattr(found, "name", None)
        message = title if isinstance(title, str) and title.strip() else name
        return FunctionJudge(judging, message, type=type_of(found))
    if callable(found):
        return FunctionJudge(found, name)
    raise UsageError(
        f"{visible(name)} is of type {type(found).__name__}, which cannot judge",
        why="A judge is a function from a JudgmentContext to a Judgment, or has a method `judge`",
        remedy="Name another one",
    )
