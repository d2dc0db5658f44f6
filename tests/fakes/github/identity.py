"""Who asks, and how often they still may."""

from __future__ import annotations

from fakes.github.exchange import Answer, Call, Refusal, Routes
from fakes.github.payloads import self_payload

routes = Routes()


@routes("GET", "/user", needs="")
def user(call: Call) -> Answer:
    if call.author.installation:
        raise Refusal(403, "Resource not accessible by integration")
    return Answer(200, self_payload(call.fake.url, call.author))


@routes("GET", "/rate_limit", needs="")
def rate_limit(call: Call) -> Answer:
    limit, remaining, reset = (
        int(call.fake.rate[f"X-RateLimit-{name}"]) for name in ("Limit", "Remaining", "Reset")
    )
    rate = {"limit": limit, "remaining": remaining, "used": limit - remaining, "reset": reset}
    return Answer(200, {"resources": {"core": rate, "search": rate, "graphql": rate}, "rate": rate})


def viewer(call: Call) -> Answer:
    """The one query of GraphQL that is asked here."""
    return Answer(200, {"data": {"viewer": {"login": call.author.login}}})
