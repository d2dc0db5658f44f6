"""Who asks, and how often they still may."""

from __future__ import annotations

from fakes.github.exchange import Answer, Call, Payload, Refusal, Routes
from fakes.github.payloads import self_payload

routes = Routes()


@routes("GET", "/user", needs="")
def user(call: Call) -> Answer:
    if call.author.installation:
        raise Refusal(403, "Resource not accessible by integration")
    return Answer(200, self_payload(call.fake.url, call.author))


def graphql(call: Call) -> Answer:
    """The queries of GraphQL that are asked here."""
    query, values = call.body["query"], call.body.get("variables") or {}
    if "pullRequests" in query:
        return merge_states(call)
    if "resolveReviewThread" in query:
        return _resolve(call, values["thread"])
    if "reviewThreads" in query:
        return Answer(200, {"data": _threads(call, values)})
    return Answer(200, {"data": {"viewer": {"login": call.author.login}}})


def _threads(call: Call, values: Payload) -> Payload:
    """A thread for each remark; bots are called without their suffix here."""
    page = f"/repos/{values['owner']}/{values['name']}/pulls/{values['number']}"
    nodes = [
        {
            "id": f"PRRT_{one['id']}",
            "isResolved": one["id"] in call.fake.resolved,
            "comments": {"nodes": [{"body": one["body"], "author": _actor(one["user"])}]},
        }
        for one in call.fake.review_comment_list
        if one["pull_request_url"].endswith(page)
    ]
    threads = {"nodes": nodes, "pageInfo": {"hasNextPage": False, "endCursor": None}}
    return {"repository": {"pullRequest": {"reviewThreads": threads}}}


def _actor(user: Payload) -> Payload:
    return {"__typename": user["type"], "login": user["login"].removesuffix("[bot]")}


def _resolve(call: Call, thread: str) -> Answer:
    """It takes the permission to write contents, whatever a token may do with pull requests."""
    if not (call.author.may("pull_requests=write") and call.author.may("contents=write")):
        error = {"type": "FORBIDDEN", "message": "Resource not accessible by integration"}
        return Answer(200, {"data": {"resolveReviewThread": None}, "errors": [error]})
    call.fake.resolved.add(int(thread.removeprefix("PRRT_")))
    return Answer(200, {"data": {"resolveReviewThread": {"thread": {"id": thread}}}})


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
