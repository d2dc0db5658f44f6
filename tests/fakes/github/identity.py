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


def graphql(call: Call) -> Answer:
    """The two queries of GraphQL that are asked here."""
    if "pullRequests" in call.body["query"]:
        return merge_states(call)
    return Answer(200, {"data": {"viewer": {"login": call.author.login}}})


def merge_states(call: Call) -> Answer:
    """GitHub tries a merge when somebody asks, and has the answer when he asks again."""
    given, words = (
        call.body["variables"],
        {True: "MERGEABLE", False: "CONFLICTING", None: "UNKNOWN"},
    )
    fake, name = call.fake, f"{given['owner']}/{given['name']}"
    found = [
        pull
        for (repo, _), pull in sorted(fake.pulls.items(), reverse=True)
        if (repo, pull["base"]["ref"], pull["state"]) == (name, given["base"], "open")
    ]
    nodes = [
        {
            "number": one["number"],
            "mergeable": words[one["mergeable"]],
            "headRefOid": one["head"]["sha"],
        }
        for one in found[: given["size"]]
    ]
    for one in found:
        one["mergeable"] = fake.can_merge(one)
    pulls = {"totalCount": len(found), "nodes": nodes}
    return Answer(200, {"data": {"repository": {"pullRequests": pulls}}})
