"""Reviews of a pull request, and the comments on its lines."""

from __future__ import annotations

from fakes.github.conversation import check_length
from fakes.github.exchange import REPO, Answer, Call, Payload, Refusal, Routes
from fakes.github.payloads import HTML, user_payload
from fakes.github.pulls import READS, pull_of

routes = Routes()

WRITES = "pull_requests=write"
_REVIEWS = f"{REPO}/pulls/{{pull_number}}/reviews"
_REVIEW = f"{_REVIEWS}/{{review_id}}"
_STATES = {
    "APPROVE": "APPROVED",
    "REQUEST_CHANGES": "CHANGES_REQUESTED",
    "COMMENT": "COMMENTED",
    None: "PENDING",
}


@routes("GET", _REVIEWS, READS)
def list_reviews(call: Call) -> Answer:
    return call.paged(_reviews(call))


@routes("GET", _REVIEW, READS)
def get_review(call: Call) -> Answer:
    return Answer(200, _review(call))


@routes("POST", _REVIEWS, WRITES)
def create_review(call: Call) -> Answer:
    """All of a review or nothing of it: one wrong line and nothing is kept."""
    pull = pull_of(call)
    event, body = call.body.get("event"), call.body.get("body") or ""
    comments = call.body.get("comments") or []
    _check_event(call, pull, event, body, comments)
    check_length("PullRequestReview", body)
    for comment in comments:
        _check_comment(call, pull, comment)
    review = _payload(call, pull, _STATES[event], body)
    call.fake.review_list.append(review)
    for comment in comments:
        call.fake.review_comment_list.append(_comment_payload(call, pull, review, comment))
    return Answer(200, review)


@routes("PUT", _REVIEW, WRITES)
def edit_review(call: Call) -> Answer:
    review = _review(call)
    body = call.body.get("body") or ""
    if not body.strip() or not review["body"]:
        raise _unprocessable("Could not update review: its body cannot be blank")
    if review["user"]["login"] != call.author.login:
        raise Refusal(403, "Resource not accessible by integration")
    check_length("PullRequestReview", body)
    review["body"] = body
    return Answer(200, review)


@routes("GET", f"{REPO}/pulls/{{pull_number}}/comments", READS)
def list_review_comments(call: Call) -> Answer:
    url = pull_of(call)["url"]
    found = [one for one in call.fake.review_comment_list if one["pull_request_url"] == url]
    return call.paged(found)


def _check_event(
    call: Call, pull: Payload, event: str | None, body: str, comments: list[Payload]
) -> None:
    if event not in _STATES:
        raise _unprocessable(f"{event} is no event of a review")
    if event != "APPROVE" and event and not body.strip() and not comments:
        raise _unprocessable("Body can't be blank")
    own = pull["user"] and pull["user"]["login"] == call.author.login
    if own and event in {"APPROVE", "REQUEST_CHANGES"}:
        word = "approve" if event == "APPROVE" else "request changes on"
        raise _unprocessable(f"Can not {word} your own pull request")
    if event == "APPROVE" and call.author.slug == "github-actions":
        raise _unprocessable("GitHub Actions is not permitted to approve pull requests.")
    commit = call.body.get("commit_id") or pull["head"]["sha"]
    if commit != pull["head"]["sha"]:
        raise _unprocessable("The commit_id is not part of the pull request")


def _check_comment(call: Call, pull: Payload, comment: Payload) -> None:
    """A comment has to stand on lines of the diff; here only those at the head are in it."""
    lines = call.fake.diffs.get(pull["number"], {}).get(comment.get("path", ""))
    if lines is None:
        raise _unprocessable("Path could not be resolved")
    if not str(comment.get("body") or "").strip():
        raise _unprocessable("Body can't be blank")
    check_length("PullRequestReviewComment", comment["body"])
    if "position" in comment:
        _check_position(comment["position"], lines)
        return
    line, start = comment.get("line"), comment.get("start_line")
    if line not in lines or comment.get("side", "RIGHT") != "RIGHT":
        raise _unprocessable("Line could not be resolved")
    if start is None:
        return
    if start >= line:
        raise _unprocessable("Start line must precede the end line.")
    if start not in lines or comment.get("start_side", "RIGHT") != "RIGHT":
        raise _unprocessable("Start line could not be resolved")


def _check_position(position: int, lines: frozenset[int]) -> None:
    """Positions count the lines of the patch, of which each hunk has two here."""
    if not (1 <= position < 2 * len(lines)):
        raise _unprocessable("Position is invalid")


def _unprocessable(error: str) -> Refusal:
    return Refusal(422, "Unprocessable Entity", [error])


def _reviews(call: Call) -> list[Payload]:
    url = pull_of(call)["url"]
    return [one for one in call.fake.review_list if one["pull_request_url"] == url]


def _review(call: Call) -> Payload:
    for review in _reviews(call):
        if review["id"] == int(call["review_id"]):
            return review
    raise Refusal(404, "Not Found")


def _payload(call: Call, pull: Payload, state: str, body: str) -> Payload:
    number = call.fake.number()
    page = f"{HTML}/{call.repo}/pull/{pull['number']}#pullrequestreview-{number}"
    review = {
        "id": number,
        "node_id": f"PRR_{number}",
        "user": user_payload(call.fake.url, call.author),
        "body": body,
        "state": state,
        "html_url": page,
        "pull_request_url": pull["url"],
        "_links": {"html": {"href": page}, "pull_request": {"href": pull["url"]}},
        "commit_id": pull["head"]["sha"],
        "author_association": "CONTRIBUTOR",
    }
    return review if state == "PENDING" else review | {"submitted_at": call.fake.moment()}


def _comment_payload(call: Call, pull: Payload, review: Payload, comment: Payload) -> Payload:
    number, moment = call.fake.number(), call.fake.moment()
    url = f"{call.fake.url}/repos/{call.repo}/pulls/comments/{number}"
    page = f"{HTML}/{call.repo}/pull/{pull['number']}#discussion_r{number}"
    lines = {name: comment[name] for name in ("line", "start_line") if name in comment}
    links = {"self": url, "html": page, "pull_request": pull["url"]}
    return {
        "id": number,
        "node_id": f"PRRC_{number}",
        "url": url,
        "html_url": page,
        "pull_request_url": pull["url"],
        "pull_request_review_id": review["id"],
        "diff_hunk": "@@ -1,0 +1 @@\n+line",
        "path": comment["path"],
        "position": comment.get("position", 1),
        "original_position": comment.get("position", 1),
        "commit_id": review["commit_id"],
        "original_commit_id": review["commit_id"],
        "user": review["user"],
        "body": comment["body"],
        "created_at": moment,
        "updated_at": moment,
        "author_association": "CONTRIBUTOR",
        "side": comment.get("side", "RIGHT"),
        "subject_type": "line",
        "_links": {name: {"href": href} for name, href in links.items()},
    } | lines
