"""What goes wrong where: the rows of the matrix, and the script for each of its cells."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fakes.github import (
    ACTIONS,
    NO_FAULT,
    FakeGitHub,
    Fault,
    rate_limited,
    refused,
    secondary_limit,
)
from fakes.github.faults import Moment
from integration.faults.stage import LABELS, NUMBER, Handed

MOMENTS: tuple[Moment, ...] = ("before", "during", "after")
TIMES = {"once": 1, "always": 10_000}
WRITES = r"comments|check-runs|statuses|reviews|labels"
#: What all three comments of one key begin with, whoever wrote their text.
_OURS = "<!-- prjury:v1 id=default run=3.1 -->\nof an earlier push"

Furnishing = Callable[[FakeGitHub, Handed], object]


def _nothing(_fake: FakeGitHub, _case: Handed) -> None:
    """As it is before the first run."""


def _commented(fake: FakeGitHub, _case: Handed) -> None:
    fake.add_comment(_OURS, ACTIONS)


def _commented_twice(fake: FakeGitHub, _case: Handed) -> None:
    for _ in range(2):
        fake.add_comment(_OURS, ACTIONS)


def _labelled(fake: FakeGitHub, case: Handed) -> None:
    (other,) = LABELS.keys() - {case.status}
    fake.add_label(NUMBER, LABELS[other])


@dataclass(frozen=True)
class Place:
    """A request of a job that can fail.

    Attributes:
        furnish: what has to be there for the request to be made.
        verdicts: with which verdicts it is made.
        modes: in which modes it is made.
    """

    name: str
    method: str
    path: str
    furnish: Furnishing = _nothing
    verdicts: tuple[str, ...] = ("pass", "fail")
    modes: tuple[str, ...] = ("review", "publish")


_PUBLISH = ("publish",)
PLACES = (
    Place("pull request of the run", "GET", r"/pulls\?", modes=_PUBLISH),
    Place("whose token this is", "POST", "/graphql"),
    Place("check run: list", "GET", "/check-runs?"),
    Place("check run: create", "POST", "/check-runs$"),
    Place("check run: update", "PATCH", "/check-runs/", modes=("review",)),
    Place("head, read again", "GET", f"/pulls/{NUMBER}$", modes=("review",)),
    Place("comment: list", "GET", f"/issues/{NUMBER}/comments"),
    Place("comment: create", "POST", f"/issues/{NUMBER}/comments"),
    Place("comment: edit", "PATCH", "/issues/comments/", _commented),
    Place("comment: delete", "DELETE", "/issues/comments/", _commented_twice),
    Place("review: list", "GET", f"/pulls/{NUMBER}/(reviews|comments)", verdicts=("fail",)),
    Place("review: create", "POST", f"/pulls/{NUMBER}/reviews", verdicts=("fail",)),
    Place("labels: list", "GET", "/labels"),
    Place("labels: add", "POST", "/labels"),
    Place("labels: remove", "DELETE", "/labels/", _labelled),
    Place("status: list", "GET", "/statuses", modes=_PUBLISH),
    Place("status: set", "POST", "/statuses/", modes=_PUBLISH),
)
ANYWHERE = Place("from the first write on", "POST", WRITES)


@dataclass(frozen=True)
class Kind:
    """A way to fail, as a maker of faults.

    Attributes:
        whole: whether the whole server fails from then on, not this one request.
        skew: seconds by which the server's clock is wrong.
    """

    name: str
    make: Callable[..., Fault]
    whole: bool = False
    skew: float = 0.0


def _far(method: str, path: str, **more: Any) -> Fault:
    return rate_limited(method, path, 3_600, **more)


def _near(skew: float) -> Callable[..., Fault]:
    """The reset is half a minute away by the server's own clock."""
    return lambda method, path, **more: rate_limited(method, path, skew + 30, **more)


KINDS = (
    Kind("502", Fault),
    Kind("503", lambda method, path, **more: refused(method, path, 503, "Unicorn!", **more)),
    Kind("422", lambda method, path, **more: refused(method, path, 422, "Invalid", **more)),
    Kind("409", lambda method, path, **more: refused(method, path, 409, "Conflict", **more)),
    Kind("connection cut", lambda method, path, **more: Fault(method, path, status=None, **more)),
    Kind("rate limit, for an hour", _far, whole=True),
    Kind("rate limit, for 30 s", _near(0), whole=True),
    Kind("the same, server's clock 1 h ahead", _near(3_600), whole=True, skew=3_600),
    Kind("the same, server's clock 1 h behind", _near(-3_600), whole=True, skew=-3_600),
    Kind("secondary limit", secondary_limit, whole=True),
)
BAD_GATEWAY = KINDS[0]


#: Shorter waits are between two tries of one request, not for a limit to end.
_A_LIMIT = 29.0


def prepare(fake: FakeGitHub, place: Place, kind: Kind, moment: Moment, times: str) -> None:
    """Writes the script of one cell."""
    fake.skew = kind.skew
    if not kind.whole:
        number = TIMES[times]
        fake.faults = [kind.make(place.method, place.path, times=number, moment=moment)]
        return

    def begin() -> None:
        """Whatever comes next is refused."""
        fake.faults.append(kind.make("*", "", times=TIMES["always"]))

    if moment == "before":
        fake.faults = [kind.make(place.method, place.path, action=begin)]
    else:
        status = NO_FAULT if moment == "after" else None
        fake.faults = [Fault(place.method, place.path, 1, moment, status, action=begin)]


def wait(fake: FakeGitHub, times: str, seconds: float) -> None:
    """What time changes: a limit that is there once has ended when it was waited for."""
    if times == "once" and seconds > _A_LIMIT:
        fake.faults.clear()
