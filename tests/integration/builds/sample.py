"""What a fixture project is: a small tree that builds, and changes that break it somewhere."""

from __future__ import annotations

from dataclasses import dataclass, field
from textwrap import dedent
from typing import TypeAlias

from fakes.history import Entry

#: A path and what stands there; None deletes it.
Tree: TypeAlias = dict[str, str | Entry | None]


def text(source: str) -> str:
    """A file's text as it is written in an indented literal, without the first line end."""
    return dedent(source).removeprefix("\n")


@dataclass(frozen=True)
class Breakage:
    """Files that break a project, and what the judge has to say about it.

    Attributes:
        place: ``path:line`` of the first cause, or the path alone where the tool tells no line.
        message: a part of the cause in words.
        check: the one that says it.
    """

    files: Tree
    place: str
    message: str = ""
    check: str = "compiles"


@dataclass(frozen=True)
class Sample:
    """A project of one build system, or of two.

    All have a part ``core`` that ``app`` is built upon, and a part ``other`` beside them.

    Attributes:
        system: what the judge calls it.
        needs: the programs without which nothing of it can be built.
        registry: what must be in reach, since the build downloads from there; empty for nothing.
        tree: builds, and all its tests pass.
        harmless: a change to ``core`` that breaks nothing.
        broken: ``core`` does not compile, or cannot be loaded.
        failing: a test of ``core`` fails.
        worse: a test of ``app`` fails, for a reason of its own.
        aside: a test of ``other`` fails; None where every change runs everything.
        luck: a test of ``core`` that fails only when it runs for the first time in its tree; None
            where single tests cannot be run again.
        deadly: a test of ``core`` that ends the process that runs it.
        goes_on: every test runs, whichever fails.
        modules: what the judge builds where only ``core`` changes, in its own words.
        lock: the command that writes the lock file, whose content depends on the registry.
    """

    name: str
    system: str
    needs: tuple[str, ...]
    tree: Tree
    harmless: Tree
    broken: Breakage
    failing: Breakage
    worse: Breakage
    registry: str = ""
    aside: Tree | None = None
    luck: Tree | None = None
    deadly: Tree | None = None
    goes_on: bool = True
    modules: tuple[str, ...] = ()
    lock: tuple[str, ...] = field(default=())
