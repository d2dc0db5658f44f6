"""A shell that answers from a script, and a progress that remembers."""

from __future__ import annotations

import atexit
import contextlib
import functools
import shutil
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from prjury.deadline import Deadline
from prjury.errors import CannotJudgeError
from prjury.judges.builds.workplace import REPOSITORY
from prjury.jury.voting import Ballot
from prjury.ports import Progress
from prjury.ports.types import Completed, ShellCommand


@dataclass
class SilentProgress:
    """Remembers what it was told; `react` may do something about it."""

    react: Callable[[str], None] = lambda text: None
    said: list[str] = field(default_factory=list)

    def say(self, text: str) -> None:
        self.said.append(text)
        self.react(text)

    def judge_started(self, jury: str, judge: str) -> None:
        """Not of interest."""

    def judge_finished(self, jury: str, ballot: Ballot) -> None:
        """Not of interest."""

    def close(self) -> None:
        pass


@dataclass(frozen=True)
class Scripted:
    """What a program is to do: print, write files into its directory, end."""

    exit_code: int = 0
    output: str = ""
    stopped: str | None = None
    files: Mapping[str, str] = field(default_factory=dict)
    error: CannotJudgeError | None = None


@functools.cache
def _place() -> Path:
    place = Path(tempfile.mkdtemp(prefix="fake-shell-"))
    atexit.register(shutil.rmtree, place)
    return place


def _fresh_directory() -> Path:
    return Path(tempfile.mkdtemp(dir=_place()))


@dataclass
class ScriptedShell:
    """Answers each command with the next script, the last one for ever; keeps the commands."""

    scripts: Sequence[Scripted] = (Scripted(),)
    directory: Path = field(default_factory=_fresh_directory)
    commands: list[ShellCommand] = field(default_factory=list)
    level: str = "L1"
    programs: Mapping[str, str] = field(default_factory=dict)
    withheld: Sequence[str] = ()
    gaps: Sequence[str] = ()
    lent: Sequence[str] = ()

    def copy_caches(self, programs: Collection[str], home: Path) -> None:
        """There are none."""

    def run(self, command: ShellCommand, deadline: Deadline, progress: Progress) -> Completed:
        if command.argv == REPOSITORY:
            return Completed(0, self.directory / "repository.log", 0.0)
        script = self.scripts[min(len(self.commands), len(self.scripts) - 1)]
        self.commands.append(command)
        if script.error:
            raise script.error
        for path, text in script.files.items():
            file = command.directory / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        log = self.directory / f"{len(self.commands):02d}.log"
        log.write_text(script.output.replace("{tree}", str(command.directory)))
        return Completed(script.exit_code, log, 0.5, script.stopped)

    def environment(self, extra: Sequence[str] = ()) -> Mapping[str, str]:
        return {"PATH": "/usr/bin:/bin"}

    def which(self, program: str) -> str | None:
        return self.programs.get(program)

    @contextlib.contextmanager
    def scratch(self) -> Iterator[Path]:
        with tempfile.TemporaryDirectory(prefix="fake-shell-") as place:
            yield Path(place)
