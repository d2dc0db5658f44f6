"""Mutation testing of the court: changes `prjury.jury` in small ways, and asks who notices.

    uv run --with mutmut python tests/mutate.py [--sample N] [MODULE ...]

Works in a copy of the tree, prints the mutants that nobody noticed and the counts by module;
``mutmut show NAME`` in that copy shows one.

This file is also the pytest plugin of such a run.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hypothesis import Phase, is_hypothesis_test, settings

if TYPE_CHECKING:
    import pytest

ROOT = Path(__file__).resolve().parents[1]
COURT = Path("src/prjury/jury")

#: mutmut mutates what has one of the first two, and there is nothing in the last.
LEFT_AS_IT_IS = {"staticmethod", "classmethod", "overload"}

#: A module that is not there.
NONE = "prjury.jury.none.*"

#: Starts a process of its own, which neither finds the mutants nor should.
NOT_HERE = {"test_asyncio_is_not_loaded_for_calls_that_do_not_wait"}


def pytest_collection() -> None:
    """The same examples in every run, and no time spent on making a failing one smaller."""
    phases = [Phase.explicit, Phase.generate]
    settings.register_profile("mutants", settings(), derandomize=True, phases=phases)
    settings.load_profile("mutants")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Quick tests first. Those with two backslashes in their id cannot be asked for by name."""
    items[:] = [item for item in items if item.name not in NOT_HERE and r"\\" not in item.nodeid]
    items.sort(key=lambda item: is_hypothesis_test(getattr(item, "obj", None)))


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("modules", nargs="*", help="score, library.retry, …; all by default")
    parser.add_argument("--sample", type=int, metavar="N", help="so many of all, at random")
    parser.add_argument("--seed", type=int, default=0, help="which ones (default: %(default)s)")
    options = parser.parse_args(arguments)
    directory = Path(tempfile.mkdtemp(prefix="prjury-mutants-"))
    _copy(directory)
    for path in sorted((directory / COURT).rglob("*.py")):
        _open_to_mutation(path)
    patterns = [f"prjury.jury.{module}.*" for module in options.modules]
    if options.sample:
        _run(directory, [NONE])  # makes them all
        every = sorted(name for name, _ in _results(directory))
        patterns = random.Random(options.seed).sample(every, options.sample)  # noqa: S311 - no secret
    failed = _run(directory, patterns)
    if not failed:
        _report(directory)
    return failed


def _run(directory: Path, patterns: Sequence[str]) -> int:
    env = {**os.environ, "PYTHONPATH": str(directory / "tests")}
    argv = ["mutmut", "run", "--max-children", "2", *patterns]
    return subprocess.run(argv, cwd=directory, env=env, check=False).returncode


def _copy(directory: Path) -> None:
    for name in ("src", "tests"):
        shutil.copytree(ROOT / name, directory / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy2(ROOT / "pyproject.toml", directory)


def _open_to_mutation(path: Path) -> None:
    """Writes ``@property def x`` as ``def x`` and ``x = property(x)``, which is the same.

    mutmut leaves alone what is decorated.
    """
    lines = path.read_text().splitlines(keepends=True)
    found = sorted(_decorated("".join(lines)), key=lambda node: node.lineno, reverse=True)
    for node in found:
        decorator = node.decorator_list[0]
        again = f"{node.name} = {ast.unparse(decorator)}({node.name})\n"
        lines.insert(node.end_lineno or node.lineno, " " * node.col_offset + again)
        del lines[decorator.lineno - 1]
    path.write_text("".join(lines))


def _decorated(source: str) -> Iterator[ast.FunctionDef]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef) and len(node.decorator_list) == 1:
            decorator = node.decorator_list[0]
            if isinstance(decorator, ast.Name) and decorator.id not in LEFT_AS_IT_IS:
                yield node


def _results(directory: Path) -> Iterator[tuple[str, str]]:
    argv = ["mutmut", "results", "--all", "true"]
    told = subprocess.run(argv, cwd=directory, capture_output=True, text=True, check=True)
    for line in told.stdout.splitlines():
        if ": " in line:
            name, _, status = line.strip().rpartition(": ")
            yield name, status


def _report(directory: Path) -> None:
    results = [each for each in _results(directory) if each[1] != "not checked"]
    counts = Counter(
        (name.rpartition(".")[0].removeprefix("prjury.jury."), status) for name, status in results
    )
    alive = [f"{name}: {status}\n" for name, status in results if status != "killed"]
    rows = [f"{module:24}{status:16}{n}\n" for (module, status), n in sorted(counts.items())]
    sys.stdout.writelines([*alive, *rows, f"in {directory}\n"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
