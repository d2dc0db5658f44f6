"""What GitHub says where it refuses a request, and what is to be done about it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

#: A 403 that no permission of the token helps against, by GitHub's words, and what does help.
_FORBIDDEN = tuple(
    (re.compile(words, re.IGNORECASE), remedy)
    for words, remedy in (
        (r"\bSAML\b", "Authorize the token for the organization's single sign-on"),
        (r"\bIP allow list\b", "Let the runner's address into the organization's IP allow list"),
        (r"\barchived\b", "Unarchive the repository: nothing can be written to an archived one"),
        (r"\blocked\b", "Unlock the conversation, or switch this off in the policy"),
        (r"\bsuspended\b", "Have the suspension of the app or the account lifted"),
        (r"\bmore than \d+ comments\b", "Switch `publish.comment` off, or open a new pull request"),
    )
)
_NEW_LABEL = re.compile(r"\bcreate labels?\b", re.IGNORECASE)
_MOST_ERRORS, _LONGEST = 3, 200


def answer_to_403(message: str, permission: str) -> tuple[str, str]:
    """The remedy for a 403 and its machine-readable word: ``permission`` or ``forbidden``.

    Args:
        message: what GitHub says.
        permission: what the request takes, such as ``pull-requests: write``.
    """
    for words, remedy in _FORBIDDEN:
        if words.search(message):
            return remedy, "forbidden"
    if _NEW_LABEL.search(message):
        more = "or create the label in the repository once"
        return f"Give the token the permission `issues: write`, {more}", "permission"
    return f"Give the token the permission `{permission}`", "permission"


def message_of(data: object) -> str:
    """GitHub's own message and the reasons below it, on one line; a page of HTML has none."""
    if not isinstance(data, Mapping):
        return ""
    errors = data.get("errors")
    reasons = [_reason(one) for one in errors] if isinstance(errors, list) else []
    parts = [_line(data.get("message")), "; ".join(list(filter(None, reasons))[:_MOST_ERRORS])]
    return ": ".join(filter(None, parts))


def _reason(error: object) -> str:
    """One of ``errors``: a text, or what is wrong with which field."""
    if not isinstance(error, Mapping):
        return _line(error)
    if said := _line(error.get("message")):
        return said
    return " ".join(_words(error))


def _words(error: Mapping[object, object]) -> Iterator[str]:
    for name in ("resource", "field", "code"):
        if word := _line(error.get(name)):
            yield word.replace("_", " ")


def _line(value: object) -> str:
    return " ".join(value.split())[:_LONGEST].rstrip(".") if isinstance(value, str) else ""
