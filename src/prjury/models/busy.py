"""When a model server that is busy is asked again. Pure."""

from __future__ import annotations

from prjury.ports.messages import ModelError

#: How often one question is put at most.
TRIES = 3

_FIRST_PAUSE = 1.0
_LONGEST_PAUSE = 20.0


class UnansweredError(ModelError):
    """The server turned the request away before a model saw it, so that nothing is charged."""


class BusyError(UnansweredError):
    """The server asks for patience: too many requests, overloaded, or failing for now.

    Attributes:
        after: the seconds that it asks for, None where it names no usable number.
        status: the HTTP status, None where there is none.
    """

    after: float | None = None
    status: int | None = None


class SchemaRefusedError(UnansweredError):
    """The server does not take a JSON Schema for its reply."""


def pause(tried: int, after: float | None, remaining: float, chance: float) -> float | None:
    """The seconds to wait before the next try; None where trying again is of no use.

    Args:
        tried: how often the question has been put already.
        after: what the server asks for; its word counts, even if it exceeds our own pauses.
        remaining: the seconds until nobody waits any longer.
        chance: a random number in 0..1 that keeps clients from returning all at once.
    """
    if tried >= TRIES:
        return None
    own = min(_FIRST_PAUSE * 2 ** (tried - 1), _LONGEST_PAUSE) * (0.5 + chance / 2)
    seconds = own if after is None else max(0.0, after)
    return seconds if seconds < remaining else None
