"""Whether a part of the build gave up for a reason that is known. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from prjury.judges.builds.failure import Failure

#: Goals that are told right after their causes, by the tool that tells of them; make also says how
#: deep it was called.
_AT_ONCE = re.compile(
    r"\w*(?P<make>make)(?:\[(?P<level>\d+)\])?: |(?P<cargo>test failed: )|"
    r"(?P<npm>npm )|(?P<pnpm>\[?ELIFECYCLE\]? )|(?P<yarn>error Command failed|The command failed)|"
    r"(?P<tox>\S+: exit \d+)"
)

#: A tool that called another one says so within this many lines, a make that called one at once.
_NEAR = 30
_AT_HAND = 2


def root_cause(failures: Iterable[tuple[int, Failure]]) -> Iterator[Failure]:
    """The failures in order; a goal without a cause before it stands for itself.

    Such a goal is an error that nobody could read. It must not pass for the consequence of a
    failing test that something else tells of.
    """
    caused, last = False, _Goal("", 0, -_NEAR - 1)
    for number, failure in failures:
        match = _AT_ONCE.match(failure.message) if failure.kind == "goal" else None
        if not match:
            caused = caused or failure.kind != "goal"
            yield failure
            continue
        goal = _Goal(
            "make" if match["make"] else str(match.lastgroup), int(match["level"] or 0), number
        )
        yield failure if caused or goal.called(last) else replace(failure, kind="error")
        caused, last = False, goal


@dataclass(frozen=True)
class _Goal:
    tool: str
    level: int
    number: int

    def called(self, other: _Goal) -> bool:
        """Whether the other one, told just before, was called by this one."""
        distance = self.number - other.number
        if self.tool == other.tool:
            return other.level > self.level and distance <= _AT_HAND
        return distance <= _NEAR
