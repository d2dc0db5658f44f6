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
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct, structs

from prjury.errors import SourceError
from prjury.jury.context import JudgmentContext
from prjury.jury.guard import Listener
from prjury.jury.judgment import Status
from prjury.jury.jury import Jury
from prjury.jury.verdicts import JuryVerdict
from prjury.jury.voting import Ballot
from prjury.ports import Progress, Recorder
from prjury.report.judge_facts import AgentFacts
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


class RunJournal:
    """The journal of this run (`prjury.ports.Recorder`); its file is made with the first event."""

    def __init__(
        self,
        environ: Mapping[str, str],
        command: str,
        *,
        version: str = "",
        redact: Redact = BY_SHAPE,
        warn: Callable[[str], None] = lambda _: None,
        largest: int = LARGEST_FILE,
    ) -> None:
        self._environ, self._command, self._version = environ, command, version
        self._redact, self._warn, self._left = redact, warn, largest
        self._began = time.monotonic()
        self._lock = threading.Lock()
        self._descriptor: int | None = None
        self._failed = self._full = False

    @property
    def began(self) -> bool:
        return self._descriptor is not None

    def record(self, event: str, /, **facts: object) -> None:
        """Write one event with its time; texts are redacted and cut."""
        at = round(time.monotonic() - self._began, 3)
        with self._lock:
            if self._failed:
                return
            try:
                if self._descriptor is None:
                    self._descriptor = self._create_file()
                line = self._encode_event({"t": at, "event": event, **facts})
                if len(line) > self._left and event not in _ALWAYS:
                    if self._full:
                        return
                    line, self._full = self._encode_event({"t": at, "event": "full"}), True
                self._left -= len(line)
                os.write(self._descriptor, line)
            except (OSError, ValueError, SourceError) as error:
                self._failed = True
                why = getattr(error, "strerror", None) or str(error)
                self._warn(f"the journal of this run is not written: {why}")

    def _encode_event(self, facts: Mapping[str, object]) -> bytes:
        plain = dict(facts)
        for name, value in facts.items():
            if not isinstance(value, int | float | None):
                plain[name] = log_line(str(value), LONGEST_TEXT, self._redact)
        return json.dumps(plain, separators=(",", ":")).encode() + b"\n"

    def _create_file(self) -> int:
        place = journal_directory(self._environ)
        if place is None:
            raise SourceError("neither XDG_STATE_HOME nor HOME names a directory of this user's")
        for old in journal_files(place)[: -(MOST_FILES - 1)]:
            with contextlib.suppress(OSError):
                old.unlink()
        now = datetime.now(UTC)
        name = f"{now:%Y%m%dT%H%M%SZ}-{os.getpid()}-{secrets.token_hex(3)}.jsonl"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC
        descriptor = os.open(place / name, flags, 0o600)
        facts = {"command": self._command, "version": self._version, "at": now.isoformat()}
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
    recorder: Recorder, number: int, status: Status, started: float, **facts: object
) -> None:
    """Keep an agent's attempt, which began at this moment of `time.monotonic`."""
    ms = round((time.monotonic() - started) * 1000)
    recorder.record("round", number=number, status=status, ms=ms, **facts)


class RecordedRounds(Struct, frozen=True):
    """A jury on an agent's attempts, each of which is kept as a round; the listener hears of it."""

    jury: Jury[JudgmentContext]
    listener: Listener
    recorder: Recorder

    def vote(self, context: JudgmentContext, /) -> JuryVerdict:
        details, worked = context.metadata, context.execution_time
        agent = AgentFacts.of_result(details)
        seconds = worked.total_seconds() if worked else 0.0
        started = time.monotonic() - seconds
        record_tools(self.recorder, agent)
        verdict = self.jury.vote(context, listener=self.listener)
        facts = {"agent": context.execution_status, "agent_ms": round(seconds * 1000)}
        number, usd = details["round"], agent.usd
        record_round(self.recorder, number, verdict.status, started, **facts, usd=usd)
        return verdict


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
        agent = AgentFacts.of(judgment)
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
