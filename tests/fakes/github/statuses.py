"""Commit statuses."""

from __future__ import annotations

from fakes.github.exchange import REPO, Answer, Call, Payload, Routes, invalid

routes = Routes()

MOST_OF_A_CONTEXT = 1_000
LONGEST_DESCRIPTION = 140
_BASIC_PLANE = 0xFFFF
_STATES = {"error", "failure", "pending", "success"}


@routes("POST", f"{REPO}/statuses/{{sha}}", "statuses=write")
def create_status(call: Call) -> Answer:
    sha, body, fake = call["sha"], call.body, call.fake
    fake.known_commit(sha)
    state, context = body.get("state"), body.get("context") or "default"
    if state not in _STATES:
        raise invalid("Status", "state", "State is not included in the list")
    if len(body.get("description") or "") > LONGEST_DESCRIPTION:
        most = f"(maximum is {LONGEST_DESCRIPTION} characters)"
        raise invalid("Status", "description", f"description is too long {most}")
    if any(ord(character) > _BASIC_PLANE for character in body.get("description") or ""):
        raise invalid("Status", "description", "description doesn't accept 4-byte Unicode")
    if not str(body.get("target_url") or "https://").startswith(("http://", "https://")):
        raise invalid("Status", "target_url", "target_url must use http(s) scheme")
    if len(fake.statuses_of(sha, context)) >= MOST_OF_A_CONTEXT:
        message = "This SHA and context has reached the maximum number of statuses."
        raise invalid("Status", "base", message)
    moment = fake.moment()
    more: Payload = {"created_at": moment, "updated_at": moment}
    more |= {name: body.get(name) for name in ("description", "target_url")}
    created = fake.add_status(context, state, call.author, sha=sha, **more)
    return Answer(201, created, {"Location": created["url"]})


@routes("GET", f"{REPO}/commits/{{ref}}/statuses", "statuses=read")
def list_statuses(call: Call) -> Answer:
    return call.paged(call.fake.statuses_of(call.fake.resolve(call["ref"])))


def commit_of(status: Payload) -> str:
    return str(status["url"]).rpartition("/")[2]
