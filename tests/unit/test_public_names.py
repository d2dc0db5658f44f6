from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from importlib import import_module
from typing import Any

import pytest

import prjury

HEAVY = set("ast_grep_py git github jinja2 pydantic pydantic_ai rich typer yaml".split())


def imported_by(program: str) -> set[str]:
    """The modules that a fresh interpreter has loaded after the program."""
    tell = f"import sys; before = set(sys.modules); {program}; print(*(set(sys.modules) - before))"
    run = subprocess.run([sys.executable, "-c", tell], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


def type_checked_imports() -> dict[str, str]:
    """What the package imports for type checkers: names and their modules."""
    tree = ast.parse(inspect.getsource(prjury))
    return {
        alias.name: str(node.module)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("prjury.")
        for alias in node.names
    }


@pytest.mark.parametrize("name", prjury.__all__)
def test_every_public_name_resolves(name: str) -> None:
    value: Any = getattr(prjury, name)
    assert value is getattr(import_module(type_checked_imports()[name]), name)
    assert name in dir(prjury)


@pytest.mark.parametrize("name", prjury.__all__)
def test_every_public_name_and_its_methods_say_what_they_do(name: str) -> None:
    value: Any = getattr(prjury, name)
    functions = (
        inspect.getmembers_static(value, inspect.isfunction) if inspect.isclass(value) else ()
    )
    own = [
        function
        for method, function in functions
        if not method.startswith("_") and function.__module__.startswith("prjury.")
    ]
    silent = [each.__qualname__ for each in own if not inspect.getdoc(each)]
    assert silent == []
    assert inspect.getdoc(value) or not callable(value)


def test_every_public_name_is_imported_for_type_checkers_and_no_other() -> None:
    assert sorted(prjury.__all__) == sorted(type_checked_imports())


def test_other_names_do_not_exist() -> None:
    with pytest.raises(AttributeError, match="module 'prjury' has no attribute 'Guess'"):
        _ = prjury.Guess  # type: ignore[attr-defined]


def test_everything_can_be_imported_at_once() -> None:
    names: dict[str, Any] = {}
    exec("from prjury import *", names)  # noqa: S102 - the one way to try a star import here
    assert set(prjury.__all__) <= set(names)


def test_importing_the_package_imports_nothing_else() -> None:
    loaded = imported_by("import prjury")
    assert {name for name in loaded if name.startswith("prjury")} == {"prjury"}
    assert loaded & {"asyncio", "dataclasses", "importlib.metadata", *HEAVY} == set()


def test_the_court_needs_nothing_heavy() -> None:
    loaded = imported_by("from prjury import *")
    assert "prjury.jury.cascade" in loaded
    assert loaded & HEAVY == set()
