"""The files by which steps of a workflow hand variables and places of programs to later ones."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

#: The files that a step may write, as variables name them.
FILES = ("GITHUB_ENV", "GITHUB_PATH", "GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_STATE")
_LARGEST = 1024 * 1024
#: What no step sets for later ones: the run's own places, and what makes runners write reports.
_OURS = frozenset({"HOME", "TMPDIR", "NODE_OPTIONS", "PYTEST_ADDOPTS", "TOX_OVERRIDE", *FILES})


def step_environment(env: Mapping[str, str]) -> Mapping[str, str]:
    """The variables of the next step, with what earlier steps have written into the files."""
    for name in FILES:
        if path := env.get(name):
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            Path(path).touch()
    written = dict(_read_variables(_read_lines(env.get("GITHUB_ENV", ""))))
    variables = {**env, **{name: text for name, text in written.items() if name not in _OURS}}
    places = [line for line in _read_lines(env.get("GITHUB_PATH", "")) if Path(line).is_absolute()]
    search = os.pathsep.join([*reversed(places), variables.get("PATH", os.defpath)])
    return {**variables, "PATH": search}


def _read_lines(path: str) -> list[str]:
    file = Path(path) if path else None
    if file is None or file.is_symlink() or not file.is_file() or file.stat().st_size > _LARGEST:
        return []
    text = file.read_text("utf-8", errors="replace").replace("\0", "")
    return [line for line in text.splitlines() if line.strip()]


def _read_variables(lines: list[str]) -> Iterator[tuple[str, str]]:
    """``NAME=value``, or ``NAME<<END`` with a text of several lines."""
    remaining = iter(lines)
    for line in remaining:
        name, sign, value = line.partition("=")
        block, mark, end = line.partition("<<")
        if mark and (not sign or len(block) < len(name)):
            text = []
            for inner in remaining:
                if inner == end:
                    break
                text.append(inner)
            name, sign, value = block, "=", "\n".join(text)
        if sign and name.isidentifier():
            yield name, value
