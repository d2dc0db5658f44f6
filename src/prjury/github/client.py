"""The one place that speaks with GitHub's REST API, through PyGithub's requester.

PyGithub's own retries are off: it repeats a POST after a cut connection, which posts twice, and it
sleeps as long as a rate limit says. `RetryBudget` waits instead, within a budget, and only where it
is safe.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Literal, Self, TypeVar
from urllib.parse import quote, urlsplit

from msgspec import Struct

from prjury.errors import PrJuryError, SourceError, UsageError
from prjury.github.payload import PullFacts, at, read_pull, text
from prjury.github.repo_client import RepoClient

if TYPE_CHECKING:
    from github import Github

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


def advise_on_403(message: str, permission: str) -> tuple[str, Literal["permission", "forbidden"]]:
    """The remedy for a 403 and its machine-readable word: ``permission`` or ``forbidden``."""
    for words, remedy in _FORBIDDEN:
        if words.search(message):
            return remedy, "forbidden"
    if _NEW_LABEL.search(message):
        more = "or create the label in the repository once"
        return f"Give the token the permission `issues: write`, {more}", "permission"
    return f"Give the token the permission `{permission}`", "permission"


def join_error_messages(data: object) -> str:
    """GitHub's own message and the reasons below it, on one line; a page of HTML has none."""
    if not isinstance(data, Mapping):
        return ""
    errors = data.get("errors")
    reasons = [_reason(one) for one in errors] if isinstance(errors, list) else []
    parts = [
        _clean_line(data.get("message")),
        "; ".join(list(filter(None, reasons))[:_MOST_ERRORS]),
    ]
    return ": ".join(filter(None, parts))


def _reason(error: object) -> str:
    if not isinstance(error, Mapping):
        return _clean_line(error)
    if message := _clean_line(error.get("message")):
        return message
    return " ".join(_list_words(error))


def _list_words(error: Mapping[object, object]) -> Iterator[str]:
    for name in ("resource", "field", "code"):
        if word := _clean_line(error.get(name)):
            yield word.replace("_", " ")


def _clean_line(value: object) -> str:
    return " ".join(value.split())[:_LONGEST].rstrip(".") if isinstance(value, str) else ""


class Trouble(Struct, frozen=True):
    """A failed request."""

    what: str
    why: str
    remedy: str
    reason: str
    #: The seconds after which GitHub asks to be tried again, None where it does not say.
    wait: float | None = None
    transient: bool = False
    #: Whether the request was certainly not carried out.
    refused: bool = True

    def phrase_error(self, error: type[PrJuryError]) -> PrJuryError:
        """The trouble as one of our own errors."""
        return error(self.what, why=self.why, remedy=self.remedy, reason=self.reason)


def list_pygithub_errors() -> tuple[type[Exception], ...]:
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


def diagnose(error: Exception, task: str, permission: str, now: float) -> Trouble:
    """The trouble behind a foreign error."""
    from github import GithubException, RateLimitExceededException  # noqa: PLC0415 - heavy, late
    from github.GithubException import IncompletableObject  # noqa: PLC0415 - the same
    from requests import RequestException  # noqa: PLC0415 - comes with PyGithub

    what = f"Could not {task}"
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
        return _diagnose_bad_response(what, error)
    headers = {name.lower(): value for name, value in (error.headers or {}).items()}
    limited = isinstance(error, RateLimitExceededException)
    if limited or error.status == 429 or (error.status == 403 and _is_held_back(headers)):  # noqa: PLR2004 - Too Many Requests
        return _diagnose_rate_limit(what, headers, now)
    return _diagnose_status(what, error.status, join_error_messages(error.data), permission)


def _diagnose_bad_response(failure: str, error: Exception) -> Trouble:
    detail = str(error) if type(error) is ValueError else type(error).__name__
    return Trouble(
        failure,
        f"The answer is not what GitHub sends ({detail[:120]}); a proxy may stand in between",
        "Check GITHUB_API_URL and the proxy settings",
        "bad_response",
        refused=False,
    )


def _is_held_back(headers: Mapping[str, str]) -> bool:
    return "retry-after" in headers or headers.get("x-ratelimit-remaining") == "0"


def _diagnose_rate_limit(failure: str, headers: Mapping[str, str], now: float) -> Trouble:
    wait = _number(headers.get("retry-after"))
    if wait is None and headers.get("x-ratelimit-remaining") == "0":
        reset = _number(headers.get("x-ratelimit-reset"))
        # One second more, because nobody knows when within that second the limit is reset.
        wait = None if reset is None else max(0.0, reset - _their_time(headers, now)) + 1
    wait = 60.0 if wait is None else wait
    return Trouble(
        failure,
        f"GitHub's rate limit is used up for another {wait:.0f} s",
        "Run again later, or give a token with a limit of its own",
        "rate_limited",
        wait=wait,
        transient=True,
    )


def _diagnose_status(failure: str, status: int, detail: str, permission: str) -> Trouble:
    message = f"GitHub answers {status}{f': {detail}' if detail else ''}"
    if status >= 500:  # noqa: PLR2004 - a server's own failures
        return Trouble(
            failure, message, "Run again later", "server_error", transient=True, refused=False
        )
    why, remedy, reason = {
        401: (message, "Give a valid token", "bad_credentials"),
        403: (message, *advise_on_403(detail, permission)),
        404: (
            f"{message}: it does not exist, or the token may not see it",
            f"Check the name; a private repository takes a token with `{permission}`",
            "not_found",
        ),
    }.get(status, (message, "Check what was asked for", "refused"))
    return Trouble(failure, why, remedy, reason)


def _their_time(headers: Mapping[str, str], ours: float) -> float:
    """The time by GitHub's clock, which its resets go by."""
    try:
        return parsedate_to_datetime(headers.get("date", "")).timestamp()
    except (ValueError, OverflowError):
        return ours


def _number(value: str | None) -> float | None:
    return float(value) if value and value.isascii() and value.isdecimal() else None


Result = TypeVar("Result")

GITHUB_API = "https://api.github.com"
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
#: The account behind the token that every job gets.
ACTIONS_BOT = "github-actions[bot]"


@dataclass(frozen=True)
class Connection:
    """Where GitHub is and how fast it is asked."""

    api_url: str = GITHUB_API
    #: None reads anonymously.
    token: str | None = field(default=None, repr=False)
    #: Seconds for a connection and for each read.
    timeout: int = 30
    seconds_between_requests: float = 0.25
    seconds_between_writes: float = 1.0
    #: The permissions to write that the whole work takes, such as ``checks: write``. Where one to
    #: read is missed, it is these that are named.
    takes: frozenset[str] = frozenset()
    #: That the token acts as; empty if it has to be asked for.
    account: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "api_url", _require_api_url(self.api_url))
        if self.token is not None and not (self.token.isascii() and self.token.isprintable()):
            raise UsageError("The GitHub token holds characters that no token has")


def _require_api_url(url: str) -> str:
    try:
        parts = urlsplit(url.strip())
        plain = parts.scheme == "http" and parts.hostname in LOOPBACK
        usable = (parts.scheme == "https" or plain) and parts.hostname and (parts.port or 1) > 0
    except ValueError:
        usable = False
    if not usable or "@" in parts.netloc or parts.query or parts.fragment:
        raise UsageError(
            f"{url[:200]!r} cannot be GitHub's API",
            why="It has to be an https:// address without user name and query",
            remedy="Set GITHUB_API_URL, such as https://ghe.example.com/api/v3",
        )
    return url.strip().rstrip("/")


@dataclass
class RetryBudget:
    """How often a request is tried, and how long is waited for all of them together."""

    attempts: int = 4
    #: Seconds of waiting that are left; a longer wait is never begun.
    budget: float = 300.0
    #: Seconds before the second try where GitHub names no time; doubled every time.
    first_wait: float = 1.0
    sleep: Callable[[float], None] = time.sleep
    jitter: Callable[[], float] = random.random

    def wait_to_retry(self, attempt: int, trouble: Trouble, *, repeatable: bool) -> bool:
        """Sleeps until the next try; False at once where there must be none."""
        if not trouble.transient or attempt >= self.attempts:
            return False
        if not (repeatable or trouble.refused):
            return False
        backoff = self.first_wait * 2 ** (attempt - 1) * (1 + self.jitter())
        seconds = max(trouble.wait or 0.0, backoff)
        if seconds > self.budget:
            return False
        self.budget -= seconds
        self.sleep(seconds)
        return True


class GitHub:
    """A connection to GitHub; close it, or use it as a context manager."""

    def __init__(self, connection: Connection, patience: RetryBudget | None = None) -> None:
        self.connection = connection
        self._patience = patience or RetryBudget()
        self._opened: Github | None = None
        self._account: str | None = connection.account or None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the sockets; the next request would open new ones."""
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    @property
    def sleep(self) -> Callable[[float], None]:
        """Waits so many seconds, as between two tries of a request."""
        return self._patience.sleep

    def repo(self, name: str) -> RepoClient:
        """A repository, for reading; failures are SourceErrors."""
        return RepoClient(self, name, SourceError)

    def pull(self, repo: str, number: int) -> PullFacts:
        """Return what GitHub says about a pull request."""
        task, needs = f"read pull request {repo}#{number}", "pull-requests: read"
        return self.repo(repo).get(task, f"/pulls/{number}", read_pull, needs=needs)

    def fetch_may_write(self, repo: str, login: str) -> bool:
        """Return true if an account may push to a repository; who may only triage may not."""
        try:
            right = self.repo(repo).get(
                f"tell what {login} may do in {repo}",
                f"/collaborators/{quote(login)}/permission",
                lambda answer: at(answer, "permission"),
            )
        except SourceError as error:
            if error.reason != "not_found":
                raise
            return False
        return right in {"admin", "write", "maintain"}

    def fetch_own_login(self) -> str:
        """The account that the token acts as; an installation's token acts as a bot."""
        if self._account is None:
            is_installation = (self.connection.token or "").startswith("ghs_")
            self._account = (
                self._fetch_bot_login()
                if is_installation
                else self._fetch_user_login() or self._fetch_bot_login()
            )
        return self._account

    def ask(
        self,
        task: str,
        call: Callable[[], Result],
        *,
        error: type[PrJuryError] = SourceError,
        needs: str = "metadata: read",
        repeatable: bool = True,
    ) -> Result:
        """Return the result of a call of PyGithub's requester, tried again where that is safe.

        What is not ``repeatable`` is not tried again where nobody knows whether it was carried out.
        """
        attempt, writing = 1, needs.replace(": read", ": write")
        needs = writing if writing in self.connection.takes else needs
        while True:
            try:
                return call()
            except list_pygithub_errors() as foreign:
                trouble = diagnose(foreign, task, needs, time.time())
                if not self._patience.wait_to_retry(attempt, trouble, repeatable=repeatable):
                    raise trouble.phrase_error(error) from foreign
            attempt += 1

    @property
    def api(self) -> Github:
        """PyGithub's own object, made on first use; every request through it goes into `ask`."""
        if self._opened is None:
            self._opened = _open_client(self.connection)
        return self._opened

    def _fetch_user_login(self) -> str:
        """The person behind the token; empty for an installation, which may not ask."""
        try:
            return self.ask(
                "tell whose token this is",
                lambda: _login(
                    at(self.api.requester.requestJsonAndCheck("GET", "/user")[1], "login")
                ),
            )
        except SourceError as error:
            if error.reason != "permission":
                raise
        return ""

    def _fetch_bot_login(self) -> str:
        """Installations may not ask `/user`, but GraphQL tells them who they are."""
        query = "query { viewer { login } }"
        try:
            login = self.ask(
                "tell which app this token belongs to",
                lambda: _login(
                    self.api.requester.graphql_query(query, {})[1]["data"]["viewer"]["login"]
                ),
            )
        except SourceError as error:
            if error.reason in {"unreachable", "server_error", "rate_limited"}:
                raise
            return ACTIONS_BOT
        return login if login.endswith("[bot]") else f"{login}[bot]"


def _open_client(connection: Connection) -> Github:
    from github import Auth, Github  # noqa: PLC0415 - takes a third of a second to import

    return Github(
        base_url=connection.api_url,
        auth=Auth.Token(connection.token) if connection.token else None,
        timeout=connection.timeout,
        user_agent="prjury",
        per_page=100,
        retry=None,
        seconds_between_requests=connection.seconds_between_requests,
        seconds_between_writes=connection.seconds_between_writes,
        lazy=True,
    )


def _login(value: object) -> str:
    if not text(value):
        raise ValueError("there is no login")
    return text(value)
