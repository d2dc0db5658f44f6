"""What can go wrong between us and GitHub, told in our own words.

PyGithub, requests and a proxy in between fail in many ways. `diagnose` names each of them, says
whether waiting helps, and whether the request may have been carried out all the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

from prjury.errors import PrJuryError


@dataclass(frozen=True, slots=True)
class Trouble:
    """A failed request.

    Attributes:
        reason: a machine-readable word.
        wait: the seconds after which GitHub asks to be tried again, None where it does not say.
        transient: whether another try can help.
        refused: whether the request was certainly not carried out.
    """

    what: str
    why: str
    remedy: str
    reason: str
    wait: float | None = None
    transient: bool = False
    refused: bool = True

    def told_as(self, error: type[PrJuryError]) -> PrJuryError:
        """The trouble as one of our own errors."""
        return error(self.what, why=self.why, remedy=self.remedy, reason=self.reason)


def foreign_errors() -> tuple[type[Exception], ...]:
    """Everything that PyGithub and the libraries below it raise for an answer or the lack of one.

    Built-in errors are among them because PyGithub meets an answer of an unexpected form with
    whatever Python raises there; they are caught around single calls of PyGithub only.
    """
    from github import BadAttributeException, GithubException  # noqa: PLC0415 - heavy, hence late
    from requests import RequestException  # noqa: PLC0415 - comes with PyGithub

    return (
        GithubException,
        BadAttributeException,
        RequestException,
        ValueError,
        AssertionError,
        RuntimeError,
        LookupError,
        TypeError,
        AttributeError,
    )


def diagnose(error: Exception, doing: str, permission: str, now: float) -> Trouble:
    """The trouble behind a foreign error.

    Args:
        doing: what was tried, for the sentence "Could not …".
        permission: the permission that it takes, such as ``pull-requests: write``.
        now: seconds since the epoch, against which GitHub's reset times are read where its answer
            does not say what time it is there.
    """
    from github import GithubException, RateLimitExceededException  # noqa: PLC0415 - heavy, late
    from github.GithubException import IncompletableObject  # noqa: PLC0415 - the same
    from requests import RequestException  # noqa: PLC0415 - comes with PyGithub

    what = f"Could not {doing}"
    if isinstance(error, RequestException):
        return Trouble(
            what,
            f"GitHub cannot be reached ({type(error).__name__})",
            "Check the network and run again",
            "unreachable",
            transient=True,
            refused=False,
        )
    if isinstance(error, IncompletableObject) or not isinstance(error, GithubException):
        return _bad_response(what, error)
    headers = {name.lower(): value for name, value in (error.headers or {}).items()}
    limited = isinstance(error, RateLimitExceededException)
    if limited or error.status == 429 or (error.status == 403 and _held_back(headers)):  # noqa: PLR2004 - Too Many Requests
        return _rate_limited(what, headers, now)
    return _by_status(what, error.status, _said(error.data), permission)


def _bad_response(what: str, error: Exception) -> Trouble:
    detail = str(error) if type(error) is ValueError else type(error).__name__
    return Trouble(
        what,
        f"The answer is not what GitHub sends ({detail[:120]}); a proxy may stand in between",
        "Check GITHUB_API_URL and the proxy settings",
        "bad_response",
        refused=False,
    )


def _held_back(headers: Mapping[str, str]) -> bool:
    return "retry-after" in headers or headers.get("x-ratelimit-remaining") == "0"


def _rate_limited(what: str, headers: Mapping[str, str], now: float) -> Trouble:
    wait = _number(headers.get("retry-after"))
    if wait is None and headers.get("x-ratelimit-remaining") == "0":
        reset = _number(headers.get("x-ratelimit-reset"))
        # One second more, because nobody knows when within that second the limit is reset.
        wait = None if reset is None else max(0.0, reset - _their_time(headers, now)) + 1
    wait = 60.0 if wait is None else wait
    return Trouble(
        what,
        f"GitHub's rate limit is used up for another {wait:.0f} s",
        "Run again later, or give a token with a limit of its own",
        "rate_limited",
        wait=wait,
        transient=True,
    )


def _by_status(what: str, status: int, said: str, permission: str) -> Trouble:
    told = f"GitHub answers {status}{f': {said}' if said else ''}"
    if status >= 500:  # noqa: PLR2004 - a server's own failures
        return Trouble(what, told, "Run again later", "server_error", transient=True, refused=False)
    why, remedy, reason = {
        401: (told, "Give a valid token", "bad_credentials"),
        403: (told, f"Give the token the permission `{permission}`", "permission"),
        404: (
            f"{told}: it does not exist, or the token may not see it",
            f"Check the name; a private repository takes a token with `{permission}`",
            "not_found",
        ),
    }.get(status, (told, "Check what was asked for", "refused"))
    return Trouble(what, why, remedy, reason)


def _said(data: object) -> str:
    """GitHub's own message on one line; a page of HTML has none."""
    message = data.get("message") if isinstance(data, Mapping) else None
    return " ".join(message.split())[:200].rstrip(".") if isinstance(message, str) else ""


def _their_time(headers: Mapping[str, str], ours: float) -> float:
    """The time by GitHub's clock, which its resets go by."""
    try:
        return parsedate_to_datetime(headers.get("date", "")).timestamp()
    except (ValueError, OverflowError):
        return ours


def _number(value: str | None) -> float | None:
    return float(value) if value and value.isascii() and value.isdecimal() else None
