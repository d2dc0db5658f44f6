"""Parses texts in a process that can be killed: an in-process parse of hostile text cannot be.

A worker ends itself at a job that takes too long or too much memory: a hundred kilobytes of
``a<a<a<`` take tree-sitter 19 GB. One that dies otherwise gets one more chance with the same job.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct

from prjury.code import standby, worker
from prjury.code.languages import Language
from prjury.code.worker import MEMORY_LIMIT
from prjury.deadline import Deadline

Range: TypeAlias = tuple[int, int]
Job: TypeAlias = dict[str, Any]

#: How long one text may take, and all texts of a run together.
SECONDS = 10.0
ALL_SECONDS = 60.0

#: How often a worker may die at one text, and in one run, of something else than its own alarm.
_CHANCES = 2
_MAX_DEATHS = 6

_COMMAND = (sys.executable, "-I", worker.__file__)

#: Why a job has no reply.
TIMEOUT = "parser_timeout"
MEMORY = "parser_memory"
DIED = "parser_died"
REFUSED = "parser_error"


class Parsed(Struct, frozen=True):
    """A worker's reply in characters; a tree's nodes have a kind, a range, their children."""

    matches: tuple[tuple[int, Range], ...] = ()
    comments: tuple[Range, ...] = ()
    strings: tuple[Range, ...] = ()
    tree: tuple[tuple[str, int, int, int], ...] = ()


class NotParsed(Struct, frozen=True):
    """Why a text could not be parsed: one of the words above, and more if there is more."""

    reason: str
    detail: str = ""

    @property
    def crashed(self) -> bool:
        """Return true if the parser broke, rather than refusing to spend more time or memory."""
        return self.reason not in {TIMEOUT, MEMORY}

    def __str__(self) -> str:
        return f"{self.reason}: {self.detail}" if self.detail else self.reason


def job(
    text: str, language: Language, rules: Sequence[Mapping[str, Any]] = (), *, tree: bool = False
) -> Job:
    """The question about one text: rules, comments and strings, or the whole tree."""
    return {
        "language": language.parser,
        "text": text,
        "rules": list(rules),
        "comments": () if tree else language.comments,
        "strings": () if tree else language.strings,
        "tree": tree,
    }


class Parser(Struct, frozen=True):
    """Starts workers, with so many seconds for one text, and collects their replies."""

    seconds: float = SECONDS
    command: Sequence[str] = _COMMAND

    def parse(self, jobs: Sequence[Job], deadline: Deadline) -> list[Parsed | NotParsed]:
        """The replies in the order of the jobs; every job has one."""
        replies = self.check(jobs, deadline)
        return [
            each if isinstance(each, NotParsed) else msgspec.convert(each, Parsed)
            for each in replies
        ]

    def check(self, jobs: Sequence[Job], deadline: Deadline) -> list[Mapping[str, Any] | NotParsed]:
        """The same, as the worker says it."""
        done: list[Mapping[str, Any] | NotParsed] = []
        deaths, at = 0, (-1, 0)
        until = deadline.within(ALL_SECONDS)
        while len(done) < len(jobs) and until.remaining > 0 and deaths < _MAX_DEATHS:
            replies, ending = self._run_worker(jobs[len(done) :], until)
            done += replies
            if len(done) == len(jobs) or ending is None:
                break
            if ending == -signal.SIGALRM:
                done.append(NotParsed(TIMEOUT, f"more than {self.seconds:g} s"))
                continue
            if ending == -signal.SIGABRT:
                done.append(NotParsed(MEMORY, f"more than {MEMORY_LIMIT >> 20} MiB"))
                continue
            deaths += 1
            at = (len(done), at[1] + 1 if at[0] == len(done) else 1)
            if at[1] == _CHANCES:
                done.append(NotParsed(DIED, _describe_end(ending)))
        reason = DIED if deaths == _MAX_DEATHS else TIMEOUT
        done += [NotParsed(reason, "given up")] * (len(jobs) - len(done))
        return done

    def _run_worker(
        self, jobs: Sequence[Job], deadline: Deadline
    ) -> tuple[list[Mapping[str, Any] | NotParsed], int | None]:
        """One worker's replies as far as it came, and its exit code; None if it was stopped."""
        lines = _write_jobs(jobs)
        standing = standby.standing() if self.command is _COMMAND else None
        if standing:
            output, code = standing.run(lines, self.seconds, deadline.remaining)
            return _replies(output), code
        with subprocess.Popen(  # noqa: S603 - our own worker, by absolute path
            [*self.command, str(self.seconds)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={},
            cwd=Path("/"),
            start_new_session=True,
        ) as process:
            try:
                output, _ = process.communicate(lines, timeout=deadline.remaining)
            except subprocess.TimeoutExpired as expired:
                process.kill()
                return _replies(expired.output or b""), None
        return _replies(output), process.returncode


def _write_jobs(jobs: Sequence[Job]) -> bytes:
    """The worker's input: each rule once, and then the jobs."""
    table: dict[str, int] = {}
    lines: list[str] = []
    for each in jobs:
        rules = [table.setdefault(json.dumps(rule), len(table)) for rule in each["rules"]]
        lines.append(json.dumps({**each, "rules": rules}) + "\n")
    return "".join(["[", ",".join(table), "]\n", *lines]).encode()


def _replies(output: bytes) -> list[Mapping[str, Any] | NotParsed]:
    """The complete lines; a worker that dies in the middle of one has not answered."""
    replies = [json.loads(line) for line in output.split(b"\n")[:-1]]
    return [NotParsed(REFUSED, str(each["error"])) if "error" in each else each for each in replies]


def _describe_end(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    return f"signal {signal.Signals(-code).name}"
