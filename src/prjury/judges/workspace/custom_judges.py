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
from prjury.jury.guard import catch_crash, itself
from prjury.jury.judge import FunctionJudge, Judge, type_of
from prjury.jury.judgment import Judgment
from prjury.snapshot.model import visible

_FORMS = "Name a judge of yours as package.module:function or path/to/file.py:function"
_MODULE_OF_FILE = "prjury_own_judge"


def is_own(name: str) -> bool:
    """Return true if a name has the form of an own judge's."""
    return ":" in name or name.endswith(".py")


def own_judge(name: str, options: Mapping[str, str], directory: Path) -> Judge[JudgmentContext]:
    """Make the judge of this name; one whose module or factory crashes is a judge that says so.

    Args:
        name: its place. A function from a context to a judgment, plain or async, is a judge; so
            is an object with a method ``judge``. A class, a function that takes no context, and any
            function if options are given are called with the options and have to return one.
        options: keywords for the class or function, as text.
        directory: searched for files and modules, after all other places.

    Raises:
        UsageError: when there is nothing of that name, when it is nothing that judges, or when it
            does not take these options.
    """
    place, _, attribute = name.rpartition(":")
    if not place or not attribute:
        raise UsageError(f"{visible(name)} does not say which function judges", remedy=_FORMS)
    is_file = "/" in place or place.endswith(".py")
    load = _load_file if is_file else _load_module
    module: Any = catch_crash(lambda: load(place, directory), itself)
    if module is None:
        kind = "file" if is_file else "module"
        raise UsageError(f"there is no {kind} {visible(place)}", remedy=_FORMS)
    if isinstance(module, Judgment):
        return _crashed_judge(name, module)
    target = _find_attribute(module, attribute, name)
    if not _is_factory(target, options):
        _check_options(lambda: target, options, name)
        return _as_judge(target, name)
    _check_options(target, options, name)
    product: Any = catch_crash(lambda: _call_factory(target, options, name), itself)
    if isinstance(product, UsageError):
        raise product
    return (
        _crashed_judge(name, product) if isinstance(product, Judgment) else _as_judge(product, name)
    )


def _crashed_judge(name: str, crash: Judgment) -> Judge[JudgmentContext]:
    return FunctionJudge(lambda _: crash, name, "could not be loaded")


def _load_file(place: str, directory: Path) -> Any:  # noqa: ANN401 - or the judgment of a crash
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


def _load_module(place: str, directory: Path) -> Any:  # noqa: ANN401 - as above
    """Import a module; None if there is none."""
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


def _find_attribute(module: ModuleType, attribute: str, name: str) -> Any:  # noqa: ANN401 - anything
    try:
        return reduce(getattr, attribute.split("."), module)
    except AttributeError as error:
        public = [word for word in vars(module) if not word.startswith("_")]
        raise UsageError(
            f"there is no {visible(attribute)} in {visible(name.rpartition(':')[0])}",
            why=f"It holds {', '.join(sorted(public)[:10]) or 'nothing'}",
            remedy="Correct the name",
        ) from error


def _is_factory(target: object, options: Mapping[str, str]) -> bool:
    """Return true for what has to be called to get a judge: it is none, and cannot be asked."""
    if inspect.isclass(target):
        return True
    if callable(getattr(target, "judge", None)) or not callable(target):
        return False
    return bool(options) or not _accepts(target, None)


def _accepts(function: Callable[..., object], *arguments: object, **options: object) -> bool:
    try:
        inspect.signature(function).bind(*arguments, **options)
    except TypeError:
        return False
    except ValueError:  # a built-in function without a signature
        return True
    return True


def _check_options(factory: Callable[..., object], options: Mapping[str, str], name: str) -> None:
    if _accepts(factory, **options):
        return
    keywords = [
        f"{word}{'' if parameter.default is parameter.empty else ' (optional)'}"
        for word, parameter in inspect.signature(factory).parameters.items()
    ]
    words = ", ".join(map(visible, options))
    problem = f"does not take the options {words}" if words else "cannot be made without options"
    raise UsageError(
        f"{visible(name)} {problem}",
        why=f"It takes {', '.join(keywords) or 'none'}",
        remedy="Correct them: --option NAME=VALUE",
    )


def _call_factory(factory: Callable[..., object], options: Mapping[str, str], name: str) -> object:
    """Call the factory; a value that it refuses is the operator's mistake, and comes back."""
    try:
        return factory(**options)
    except ValueError as error:
        return UsageError(
            f"{visible(name)} refuses its options: {error}", remedy="Correct the values"
        )


def _as_judge(target: object, name: str) -> Judge[JudgmentContext]:
    judge = getattr(target, "judge", None)
    if callable(judge):
        title = getattr(target, "name", None)
        own = title if isinstance(title, str) and title.strip() else name
        return FunctionJudge(judge, own, type=type_of(target))
    if callable(target):
        return FunctionJudge(target, name)
    raise UsageError(
        f"{visible(name)} is of type {type(target).__name__}, which cannot judge",
        why="A judge is a function from a JudgmentContext to a Judgment, or has a method `judge`",
        remedy="Name another one",
    )
