"""Brings a pull request's objects to this machine, into a bare repository of our own.

Only objects are fetched: no work tree, no hooks, no submodules. A local clone lends its objects, so
that little has to travel; a shallow history is deepened as far as the merge base.
"""

from __future__ import annotations

import base64
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from urllib.parse import unquote, urlsplit

from msgspec import Struct, field

from prjury.errors import SourceError
from prjury.git.command import Git, GitError
from prjury.git.history import is_base_uncertain, merge_bases
from prjury.git.operator import OperatorRepository, is_sha, refuse_invalid_ref
from prjury.git.store import make_bare_repository
from prjury.ports.types import BranchTip
from prjury.scratch import scratch
from prjury.snapshot.model import visible

_DEPTH = 50
_DEEPEN = (200, 1_000, 5_000)
_USERINFO = re.compile(r"//[^/@\s]+@")
#: The operator's own transport settings that a fetch may use.
TRANSPORT_VARIABLES = (
    "HOME",
    "HTTPS_PROXY",
    "https_proxy",
    "ALL_PROXY",
    "all_proxy",
    "NO_PROXY",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "GIT_SSL_CAINFO",
    "GIT_SSH_COMMAND",
    "SSH_AUTH_SOCK",
)


class Transport(Struct, frozen=True):
    """How git may reach a remote."""

    environ: Mapping[str, str] = field(default_factory=dict)
    #: Sent as a header to the remote's host alone; never on a command line.
    token: str | None = None
    protocols: str = "https:ssh"
    timeout: float = 300.0

    def environment(self, url: str) -> dict[str, str]:
        """Return the variables for git, with the token as a header for this URL."""
        env = {name: self.environ[name] for name in TRANSPORT_VARIABLES if name in self.environ}
        env["GIT_ALLOW_PROTOCOL"] = self.protocols
        if userinfo := self._choose_https_credentials(url):
            secret = base64.b64encode(userinfo.encode()).decode()
            env["GIT_CONFIG_COUNT"] = "2"
            env["GIT_CONFIG_KEY_0"] = f"http.{strip_credentials(url)}.extraHeader"
            env["GIT_CONFIG_VALUE_0"] = f"Authorization: Basic {secret}"
            env["GIT_CONFIG_KEY_1"] = "http.followRedirects"
            env["GIT_CONFIG_VALUE_1"] = "false"
        return env

    def _choose_https_credentials(self, url: str) -> str | None:
        """Return ``user:password``: the token for GitHub, else what the URL itself holds."""
        parts = urlsplit(url)
        if parts.scheme != "https":
            return None
        server = urlsplit(self.environ.get("GITHUB_SERVER_URL") or "https://github.com")
        if self.token and parts.hostname == server.hostname:
            return f"x-access-token:{self.token}"
        return unquote(parts.netloc.rpartition("@")[0]) or None


def strip_credentials(url: str) -> str:
    """Return an https URL without user name and password; other URLs as they are."""
    parts = urlsplit(url)
    if parts.scheme != "https":
        return url
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


class Remote(Struct, frozen=True):
    """Where to fetch from: a URL of the operator's, never one out of a pull request."""

    url: str
    transport: Transport = Transport()

    @property
    def address(self) -> str:
        """The URL for git's command line and for messages."""
        return strip_credentials(self.url)

    def run(self, git: Git, *args: str) -> bytes:
        """Run a git command that talks to the remote."""
        transport = self.transport
        try:
            output, code, stderr = git.try_run(
                *args, env=transport.environment(self.url), timeout=transport.timeout
            )
        except GitError as error:
            if error.reason == "timeout":
                raise _make_fetch_error(
                    f"no answer in {transport.timeout:g} s", "fetch_timeout"
                ) from error
            raise
        if code:
            reason = stderr.splitlines()[-1] if stderr else f"exit code {code}"
            raise _make_fetch_error(visible(_USERINFO.sub("//", reason)), "fetch_failed")
        return output


def _make_fetch_error(why: str, reason: str) -> SourceError:
    return SourceError(
        f"the pull request could not be fetched: {why}",
        why="The remote is unreachable, has no such ref, or refuses this token",
        remedy="Check the number and `contents: read`, or fetch it yourself and name both "
        "sides with --base and --head",
        reason=reason,
    )


def refspec(name: str) -> str:
    """Write the refspec of a commit by its full name, of a ref, or else of a branch."""
    refuse_invalid_ref(name)
    if is_sha(name):
        return f"+{name}:refs/commits/{name}"
    ref = name if name.startswith("refs/") else f"refs/heads/{name}"
    return f"+{ref}:{ref}"


@contextmanager
def fetch_temp_repository(
    remote: Remote, refspecs: Sequence[str], lender: OperatorRepository | None, repo_name: str
) -> Iterator[OperatorRepository]:
    """Fetch the refspecs into a repository that is gone when the block ends."""
    with scratch("prjury-fetch-") as directory:
        make_bare_repository(directory, lender)
        git = Git(directory)
        depth = () if lender else (f"--depth={_DEPTH}",)
        _fetch(git, remote, refspecs, depth)
        _deepen_to_merge_base(git, remote, refspecs, refspecs[:2], "--unshallow")
        alone = threading.Lock()  # git itself refuses a second fetch at the same time

        def bring(name: str) -> None:
            with alone:
                sides = [refspec(name), refspecs[-1]]
                _fetch(git, remote, sides[:1], depth)
                _deepen_to_merge_base(git, remote, sides, sides)

        yield OperatorRepository(
            git,
            repo_name,
            None,
            directory,
            lender.object_format if lender else "sha1",
            lenders=lender.object_directories if lender else (),
            remote_url=remote.address,
            bring=bring,
            remote_branches=lambda: branches(remote),
        )


def _fetch(git: Git, remote: Remote, refspecs: Sequence[str], options: Sequence[str]) -> None:
    args = ("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance")
    remote.run(git, *args, *options, "--end-of-options", remote.address, *refspecs)


def _deepen_to_merge_base(
    git: Git, remote: Remote, refspecs: Sequence[str], sides: Sequence[str], *last_resort: str
) -> None:
    """Fetch more history until it is certain where the two sides part."""
    head, base = (git.text("rev-parse", side.partition(":")[2]) for side in sides)
    for step in (*(f"--deepen={count}" for count in _DEEPEN), *last_resort):
        if not is_base_uncertain(git, base, head, merge_bases(git, base, head)):
            return
        _fetch(git, remote, refspecs, (step,))


def branches(remote: Remote) -> list[BranchTip]:
    """List the branches of a remote; their dates are not known."""
    output = _ls_remote(remote, "--heads")
    rows = (line.split("\t", 1) for line in output.splitlines())
    return [BranchTip(ref.removeprefix("refs/heads/"), sha) for sha, ref in rows]


def fetch_default_branch(remote: Remote) -> str:
    """Return the name of the branch that the remote's HEAD points to."""
    output = _ls_remote(remote, "--symref", only="HEAD")
    match = re.match(r"ref: refs/heads/([^\t\n]+)\tHEAD\n", output)
    if not match:
        raise SourceError(
            f"{visible(remote.address)} does not say which its default branch is",
            remedy="Name it with --base BRANCH",
            reason="no_default_branch",
        )
    return match[1]


def _ls_remote(remote: Remote, option: str, *, only: str = "") -> str:
    args = ("ls-remote", option, "--end-of-options", remote.address, *filter(None, [only]))
    with scratch("prjury-remote-") as nowhere:
        return remote.run(Git(nowhere), *args).decode("utf-8", "surrogateescape")
