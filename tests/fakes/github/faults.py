"""What goes wrong, by script."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from fakes.github.exchange import Headers, Request

Moment = Literal["before", "during", "after"]

NO_FAULT = 0


@dataclass
class Fault:
    """What goes wrong with matching requests, so many times.

    Attributes:
        method: as in the request; ``"*"`` is any.
        path: a pattern that is searched for in the path, its query included.
        moment: ``"before"`` spares the state; ``"after"`` fails although the work was done;
            ``"during"`` does the work, sends half of the true answer and cuts the connection.
        status: the answer's status; None cuts the connection without an answer, `NO_FAULT` goes on.
        action: what happens at that moment, such as another run's write.
    """

    method: str
    path: str
    times: int = 1
    moment: Moment = "before"
    status: int | None = 502
    body: str = "<html><body>Bad gateway</body></html>"
    headers: Headers = field(default_factory=dict)
    action: Callable[[], None] = lambda: None

    def hits(self, request: Request, moment: Moment) -> bool:
        """Whether this request is meant; the one time that it was is used up then."""
        same_method = self.method in {request.method, "*"}
        matches = same_method and re.search(self.path, request.path) is not None
        if not (self.times and matches and self.moment == moment):
            return False
        self.times -= 1
        return True


def refused(method: str, path: str, status: int, message: str, **more: Any) -> Fault:
    """GitHub's own refusal, such as 409 or 422; `more` goes to the fault."""
    body = {"message": message, "documentation_url": "https://docs.github.com/rest"}
    return Fault(method, path, status=status, body=json.dumps(body), **more)


def rate_limited(method: str, path: str, reset_in: float = 60, **more: Any) -> Fault:
    """The primary limit: nothing remains until its reset, in seconds from now."""
    headers = {
        "X-RateLimit-Limit": "5000",
        "X-RateLimit-Remaining": "0",
        "X-RateLimit-Used": "5000",
        "X-RateLimit-Reset": str(int(time.time() + reset_in)),
        "X-RateLimit-Resource": "core",
    }
    message = "API rate limit exceeded for installation ID 1."
    return refused(method, path, 403, message, headers=headers, **more)


def secondary_limit(
    method: str, path: str, retry_after: int = 60, *, status: int = 403, **more: Any
) -> Fault:
    """The limit on bursts, which says in how many seconds to come again."""
    message = "You have exceeded a secondary rate limit. Please wait a few minutes."
    headers = {"Retry-After": str(retry_after)}
    return refused(method, path, status, message, headers=headers, **more)
