"""Writes the record of a run: what was done when, how long it took, what it cost.

One file a run, private to this user, bounded in size and number. Texts are redacted and short;
prompts, replies and code are never in it, only their hashes. A journal that cannot be written says
so once and fails nothing.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct, field, structs

from prjury.jury.voting import Ballot
from prjury.ports import Progress, Recorder
from prjury.report.judge_facts import AgentFacts
from prjury.report.model import RepairRound
from prjury.report.sanitise import BY_SHAPE, Redact, log_line
from prjury.state_directory import make_private_directory

SCHEMA = "prjury/journal/v1"
#: Bytes of one file; the end of a run is written beyond it.
LARGEST_FILE = 4 * 1024 * 1024
#: Files that are kept; the oldest go first.
MOST_FILES = 200
#: Characters of a text.
LONGEST_TEXT = 300
_ALWAYS = frozenset({"verdict", "end"})
#: Calls of tools that are kept of one run of an agent, and what is known of each.
_MOST_TOOLS, _TOOL = 100, ("name", "target", "outcome")
#: What a judge says that runs a command begins like this.
_COMMAND = "$ "


def journal_directory(environ: Mapping[str, str]) -> Path | None:
    """``$XDG_STATE_HOME/prjury``, or ``~/.local/state/prjury``; None where neither can be had."""
    return make_private_directory(environ, "XDG_STATE_HOME", ".local/state")


class RunJournal(Struct, eq=False):
    """The journal of this run (`prjury.ports.Recorder`); its file is made with the first event."""

    environ: Mapping[str, str]
    command: str
    version: str = ""
    redact: Redact = BY_SHAPE
    warn: Callable[[str], None] = lambda _: None
    #: Bytes that may still be written.
    room: int = LARGEST_FILE
    started: float = field(default_factory=time.monotonic)
    lock: threading.Lock = field(default_factory=threading.Lock)
    descriptor: int | None = None
    failed: bool = False
    full: bool = False

    def record(self, event: str, /, **facts: object) -> None:
        """Write one event with its time; texts are redacted and cut."""
        at = round(time.monotonic() - self.started, 3)
        with self.lock:
            if self.failed:
                return
            try:
                if self.descriptor is None:
                    self.descriptor = self._start_file_and_prune()
                line = self._encode_event({"t": at, "event": event, **facts})
                if len(line) > self.room and event not in _ALWAYS:
                    if self.full:
                        return
                    line, self.full = self._encode_event({"t": at, "event": "full"}), True
                self.room -= len(line)
                os.write(self.descriptor, line)
            except (OSError, ValueError) as error:
                self.failed = True
                why = getattr(error, "strerror", None) or str(error)
                self.warn(f"the journal of this run is not written: {why}")

    def _encode_event(self, facts: Mapping[str, object]) -> bytes:
        plain = dict(facts)
        for name, value in facts.items():
            if not isinstance(value, int | float | None):
                plain[name] = log_line(str(value), LONGEST_TEXT, self.redact)
        return json.dumps(plain, separators=(",", ":")).encode() + b"\n"

    def _start_file_and_prune(self) -> int:
        place = journal_directory(self.environ)
        if place is None:
            raise OSError("neither XDG_STATE_HOME nor HOME names a directory of this user's")
        for old in journal_files(place)[: -(MOST_FILES - 1)]:
            with contextlib.suppress(OSError):
                old.unlink()
        now = datetime.now(UTC)
        descriptor, _ = tempfile.mkstemp(".jsonl", f"{now:%Y%m%dT%H%M%SZ}-{os.getpid()}-", place)
        facts = {"command": self.command, "version": self.version, "at": now.isoformat()}
        start = {"schema": SCHEMA, "t": 0.0, "event": "start", **facts}
        os.write(descriptor, self._encode_event(start))
        return descriptor


def journal_files(place: Path) -> list[Path]:
    """Return the journals in a directory, the newest last."""
    return sorted(file for file in place.glob("[0-9]*T[0-9]*Z-*.jsonl") if not file.is_symlink())


def record_tools(recorder: Recorder, agent: AgentFacts) -> None:
    """Keep what an agent says that it used, an event for each call."""
    for call in agent.tools[:_MOST_TOOLS]:
        recorder.record("tool", **{key: call[key] for key in _TOOL if call.get(key)})


def record_round(
    recorder: Recorder, started: float, costs: AgentFacts | RepairRound, **facts: object
) -> None:
    """Keep an attempt of an agent, begun at that monotonic time, with its number and status."""
    ms = round((time.monotonic() - started) * 1000)
    tokens = {"input_tokens": costs.input_tokens, "output_tokens": costs.output_tokens}
    recorder.record("round", ms=ms, usd=costs.usd, **tokens, **facts)


class RecordedProgress(Struct, frozen=True):
    """Progress that is written down as well: judges, and the commands that they run."""

    shown: Progress
    recorder: Recorder

    def judge_started(self, jury: str, judge: str) -> None:
        self.shown.judge_started(jury, judge)
        self.recorder.record("asked", tier=jury, judge=judge)

    def judge_finished(self, jury: str, ballot: Ballot) -> None:
        self.shown.judge_finished(jury, ballot)
        judgment = ballot.judgment
        agent = AgentFacts.parse(judgment)
        record_tools(self.recorder, agent)
        reasoning = judgment.reasoning.encode(errors="replace")
        self.recorder.record(
            "judged",
            tier=jury,
            judge=ballot.judge,
            status=judgment.status.value,
            label=judgment.label,
            score=judgment.score.normalized if judgment.score else None,
            confidence=judgment.confidence,
            ms=ballot.elapsed_ms,
            reasoning_sha256=hashlib.sha256(reasoning).hexdigest(),
            **{name: n for name, n in structs.asdict(agent).items() if n and name != "tools"},
        )

    def say(self, text: str) -> None:
        """Say what is being done right now; only commands are written down."""
        self.shown.say(text)
        if text.startswith(_COMMAND):
            self.recorder.record("command", text=text.removeprefix(_COMMAND))

    def close(self) -> None:
        self.shown.close()
