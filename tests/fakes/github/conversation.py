"""Comments of a pull request's conversation."""

from __future__ import annotations

from fakes.github.exchange import REPO, Answer, Call, Payload, Refusal, Routes
from fakes.github.payloads import user_payload

routes = Routes()

BODY_LIMIT = 65_536
WRITES = "issues=write; pull_requests=write"
READS = "issues=read; pull_requests=read"
_COMMENTS = f"{REPO}/issues/{{issue_number}}/comments"
_COMMENT = f"{REPO}/issues/comments/{{comment_id}}"


@routes("GET", _COMMENTS, READS)
def list_comments(call: Call) -> Answer:
    comments = [one for _, one in sorted(call.fake.comments.items())]
    here = f"/issues/{call['issue_number']}"
    return call.paged(
        [
            {**one, "reactions": _count_reactions(call, one)}
            for one in comments
            if one["issue_url"].endswith(here)
        ]
    )


def _count_reactions(call: Call, comment: Payload) -> Payload:
    contents = [content for on, _, content in call.fake.reactions if on == comment["id"]]
    kinds = ("+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes")
    counts = {kind: contents.count(kind) for kind in kinds}
    return {"url": f"{comment['url']}/reactions", "total_count": len(contents), **counts}


@routes("POST", _COMMENTS, WRITES)
def create_comment(call: Call) -> Answer:
    if call.fake.locked:
        raise Refusal(403, "Unable to create comment because issue is locked.")
    created = call.fake.add_comment(text_of(call), call.author, int(call["issue_number"]))
    return Answer(201, created, {"Location": created["url"]})


@routes("GET", _COMMENT, READS)
def get_comment(call: Call) -> Answer:
    return Answer(200, _comment(call))


@routes("PATCH", _COMMENT, WRITES)
def edit_comment(call: Call) -> Answer:
    body = text_of(call)
    comment = _comment(call)
    comment |= {"body": body, "updated_at": call.fake.moment()}
    return Answer(200, comment)


@routes("DELETE", _COMMENT, WRITES)
def delete_comment(call: Call) -> Answer:
    del call.fake.comments[_comment(call)["id"]]
    return Answer(204)


@routes("POST", f"{_COMMENT}/reactions", WRITES)
def react(call: Call) -> Answer:
    """The reaction of an account, made once: a second one of the same kind is the first."""
    comment, content = _comment(call), call.needed("content")
    key = (comment["id"], call.author.login, content)
    there = call.fake.reactions.get(key)
    call.fake.reactions[key] = there or {
        "id": call.fake.number(),
        "node_id": "REA_1",
        "user": user_payload(call.fake.url, call.author),
        "content": content,
        "created_at": call.fake.moment(),
    }
    return Answer(200 if there else 201, call.fake.reactions[key])


@routes("GET", f"{_COMMENT}/reactions", READS)
def list_reactions(call: Call) -> Answer:
    number = _comment(call)["id"]
    return call.paged([one for (on, *_), one in call.fake.reactions.items() if on == number])


def _comment(call: Call) -> Payload:
    comment = call.fake.comments.get(int(call["comment_id"]))
    if comment is None:
        raise Refusal(404, "Not Found")
    return comment


def text_of(call: Call) -> str:
    """A body that is neither blank nor too long."""
    body = call.body.get("body")
    if not isinstance(body, str) or not body.strip():
        raise Refusal(422, "Validation Failed", [{"code": "missing_field", "field": "body"}])
    check_length("IssueComment", body)
    return body


def check_length(resource: str, body: str) -> None:
    if len(body) > BODY_LIMIT:
        error = {
            "resource": resource,
            "code": "unprocessable",
            "field": "data",
            "message": f"Body is too long (maximum is {BODY_LIMIT} characters)",
        }
        raise Refusal(422, "Validation Failed", [error])
