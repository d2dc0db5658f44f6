"""The lines that programs write for programs: ``go test -json``, messages of cargo and rustc."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from prjury.judges.builds.failure import Failure, with_details
from prjury.judges.builds.results.go_events import GoEvents
from prjury.judges.builds.results.runner_output import LogSection, RunnerOutput
from prjury.judges.builds.results.tree import TreeFiles


@dataclass(frozen=True)
class EventOutput:
    """What a line stands for.

    Attributes:
        text: as a person would read it; empty for nothing.
        plain: whether the text is to be read like the rest of the log.
    """

    text: str
    plain: bool = False


class Events:
    """Reads such lines one after the other.

    They come from the build tool itself: what the code under test prints is inside of them, or
    stands elsewhere.

    Attributes:
        told: what was read so far, without what `go` holds.
        go: the tests of ``go test -json``.
    """

    def __init__(self, tree: TreeFiles) -> None:
        """Starts with nothing."""
        self.told = RunnerOutput()
        self.go = GoEvents(tree)
        self._section = LogSection((), (), tree, tree.directory)

    def read(self, number: int, event: dict[str, Any]) -> EventOutput | None:
        """What the event says, None where it is none that is known."""
        action = event.get("Action")
        if isinstance(action, str) and ("Package" in event or "ImportPath" in event):
            text = self.go.read(number, event)
            return EventOutput(text, plain=action == "build-output")
        if isinstance(event.get("reason"), str) and event.keys() & {"package_id", "success"}:
            return self._message(number, event.get("message"))
        if event.get("$message_type") == "diagnostic":
            return self._message(number, event)
        return None

    def _message(self, number: int, message: object) -> EventOutput:
        """A compiler's message as cargo and rustc put it."""
        if not isinstance(message, dict):
            return EventOutput("")  # an artifact, the end of the build
        failure = self._failure(message)
        if failure:
            self.told.failures.append((number, failure))
        rendered = message.get("rendered")
        return EventOutput(rendered if isinstance(rendered, str) else "")

    def _failure(self, message: dict[str, Any]) -> Failure | None:
        level, text, spans = (message.get(key) for key in ("level", "message", "spans"))
        if not str(level).startswith("error") or not isinstance(text, str):
            return None
        places = [span for span in spans if isinstance(span, dict)] if spans else []
        if not places and text.startswith(("aborting due to", "could not compile")):
            return None  # a summary of what was told before
        span = next((span for span in places if span.get("is_primary")), {})
        path, line = span.get("file_name"), span.get("line_start")
        told = path if isinstance(path, str) else None
        failure = self._section.failure("compile", text, told, line)
        rendered = message.get("rendered")
        return with_details(failure, rendered.splitlines() if isinstance(rendered, str) else ())
