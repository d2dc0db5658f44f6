"""Labels of a pull request, who set them, and what people may do."""

from __future__ import annotations

from typing import Any

from fakes.github.accounts import Account
from fakes.github.exchange import REPO, Answer, Call, Payload, Refusal, Routes, invalid
from fakes.github.payloads import user_payload
from fakes.github.pulls import pull_of

routes = Routes()

READS = "issues=read; pull_requests=read"
WRITES = "issues=write; pull_requests=write"
LONGEST_NAME = 50
MOST_LABELS = 100
_ISSUE = f"{REPO}/issues/{{issue_number}}"
_LABELS = f"{_ISSUE}/labels"
#: The old names of what the newer roles may do.
_PERMISSIONS = {"maintain": "write", "triage": "read"}


@routes("GET", _LABELS, READS)
def list_labels(call: Call) -> Answer:
    return call.paged(_pull(call)["labels"])


@routes("POST", _LABELS, WRITES)
def add_labels(call: Call) -> Answer:
    """Labels that the repository does not have are made, which takes a permission of its own."""
    pull, names = _pull(call), _names(call)
    _check(pull, names)
    _make(call, names)
    for name in names:
        call.fake.add_label(pull["number"], name, call.author, call.repo)
    return Answer(200, pull["labels"])


@routes("DELETE", f"{_LABELS}/{{name}}", WRITES)
def remove_label(call: Call) -> Answer:
    pull = _pull(call)
    if not call.fake.remove_label(pull["number"], call["name"], call.author, call.repo):
        raise Refusal(404, "Label does not exist")
    return Answer(200, pull["labels"])


@routes("GET", f"{REPO}/collaborators/{{username}}/permission")
def permission(call: Call) -> Answer:
    name = call["username"]
    role = call.fake.roles.get(name)
    if role is None:
        raise Refusal(404, f"{name} is not a user")
    user = user_payload(call.fake.url, Account(name, id=8)) | {"role_name": role}
    permission = _PERMISSIONS.get(role, role)
    return Answer(200, {"permission": permission, "role_name": role, "user": user})


def _pull(call: Call) -> Payload:
    return pull_of(call, "issue_number")


def _names(call: Call) -> list[str]:
    """The names, in any of the forms in which GitHub takes them."""
    payload: Any = call.request.payload
    given = payload.get("labels") if isinstance(payload, dict) else payload
    if not isinstance(given, list):
        raise Refusal(422, 'Invalid request.\n\n"labels" wasn\'t supplied.')
    return [one["name"] if isinstance(one, dict) else one for one in given]


def _make(call: Call, names: list[str]) -> None:
    """Since April 2025 this takes ``issues: write``; to put a label on, the old ones will do."""
    fake = call.fake
    new = {name.lower() for name in names} - fake.known_labels
    if new and not call.author.may("issues=write"):
        raise Refusal(403, "You do not have permission to create labels on this repository.")
    fake.known_labels |= new


def _check(pull: Payload, names: list[str]) -> None:
    for name in names:
        if not name.strip() or len(name) > LONGEST_NAME:
            raise invalid(
                "Label", "name", f"name is too long (maximum is {LONGEST_NAME} characters)"
            )
    if len({one["name"] for one in pull["labels"]} | set(names)) > MOST_LABELS:
        raise invalid("Issue", "labels", f"An issue has {MOST_LABELS} labels at most")
