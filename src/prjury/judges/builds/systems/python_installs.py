"""What a project installs for its tests, where only scripts and its CI say so. Pure."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator
from contextlib import suppress

from prjury.judges.builds.systems.source_tree import SourceTree

_SETUP = "setup.py"
_NOX = "noxfile.py"
_STRING = re.compile(r"""["']([^"'\n]*)["']""")
_TESTS_REQUIRE = re.compile(r"\btests?_require(?:s|ments)?\s*=\s*\[([^\]]*)\]")
_EXTRA = re.compile(r"""["']([\w-]+)["']\s*(?::|\]\s*=)""")
_SESSION = re.compile(r"^def\s+(\w+)\(", re.MULTILINE)
_FOR_TESTS = re.compile(r"(?:^|_)(?:unit_?)?(?:tests?|pytest|unit)(?:_|$)")
_INSTALL = re.compile(r"\bsession\.install\(([^()]*)\)")
_PIP = re.compile(r"\bpip3?\s+install\s+(.*)")
#: A requirement by its name, with extras and a version; no option, path, address or expression.
_REQUIREMENT = re.compile(r"[A-Za-z0-9][\w.-]*(?:\[[\w,.-]+\])?(?:[<>=!~][\w.,<>=!~*+-]*)?")
_OWN = re.compile(r"(?:file:)?\.(\[[\w,-]+\])")
#: Tools beside the tests that a CI installs in the same breath.
_BESIDE = frozenset(
    "pip setuptools wheel build twine flake8 mypy black ruff isort pylint pre-commit codecov "
    "coveralls virtualenv tox nox tox-gh-actions poetry pdm hatch pipenv uv check-manifest".split()
)


def setup_extras(root: SourceTree) -> list[str]:
    """The names that ``setup.py`` may give to extras."""
    text = root.text(_SETUP)
    return _EXTRA.findall(text) if "extras_require" in text else []


def scripted_installs(root: SourceTree, commands: Iterable[str]) -> list[str]:
    """The arguments of pip for what ``setup.py``, ``noxfile.py`` and the CI name for tests.

    Args:
        commands: of the job that tests pull requests.
    """
    found = list(_wanted(root, _tests_require(root)))
    found = found or list(_wanted(root, _nox(root)))
    return found or list(_wanted(root, _pip(commands)))


def _tests_require(root: SourceTree) -> Iterator[str]:
    for listed in _TESTS_REQUIRE.findall(root.text(_SETUP)):
        yield from _STRING.findall(listed)


def _nox(root: SourceTree) -> Iterator[str]:
    """What the sessions for tests install."""
    text = root.text(_NOX)
    _, *sessions = _SESSION.split(text)
    for name, body in zip(sessions[::2], sessions[1::2], strict=True):
        if _FOR_TESTS.search(name):
            for arguments in _INSTALL.findall(body):
                yield from _STRING.findall(arguments)


def _pip(commands: Iterable[str]) -> Iterator[str]:
    parts = (part for command in commands for part in re.split(r"[;&|\n]+", command))
    for named in filter(None, map(_PIP.search, parts)):
        with suppress(ValueError):
            yield from shlex.split(named[1], comments=True)


def _wanted(root: SourceTree, words: Iterable[str]) -> Iterator[str]:
    """The words that may be taken as they are: requirements, files with them, the own extras."""
    before = ""
    for word in words:
        option, before = before, word
        if word.startswith("-r") and word[2:] in root.files:
            yield from ("-r", word[2:])
        elif option in {"-r", "--requirement"}:
            yield from ("-r", word) * (word in root.files)
        elif own := _OWN.fullmatch(word.removeprefix("-e")):
            yield from ("-e", f".{own[1]}")
        elif option.startswith("-") and option not in {"-e", "-U", "--upgrade", "-q"}:
            continue  # perhaps its value
        elif _REQUIREMENT.fullmatch(word) and _name(word) not in _BESIDE:
            yield word


def _name(requirement: str) -> str:
    return re.split(r"[\[<>=!~]", requirement, maxsplit=1)[0].lower()
