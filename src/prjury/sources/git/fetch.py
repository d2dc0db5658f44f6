"""Brings a pull request's objects to this machine, into a bare repository of our own.

Only objects are fetched: no work tree, no hooks, no submodules. A local clone lends its objects, so
that little has to travel; a shallow history is deepened as far as the merge base.
"""

from __future__ import annotations

import base64
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from prjury.errors import SourceError
from prjury.pull.model import printable
from prjury.sources.git.command import Git
from prjury.sources.git.operator import OperatorRepository
from prjury.sources.git.store import lay_out

_DEPTH = 50
_DEEPEN = (200, 1_000, 5_000)
#: The operator's own transport settings that a fetch may use.
TRANSPORT_VARIABLES = (
    "HOME",
    "HTTPS_PROXY",
    "https_proxy",
    "ALL_PROXY",
    "NO_PROXY",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "GIT_SSL_CAINFO",
    "GIT_SSH_COMMAND",
    "SSH_AUTH_SOCK",
)


@dataclass(frozen=True)
class Remote:
    """Where to fetch from, and with what right.

    Attributes:
        url: an ``https``, ``ssh`` or (in tests) ``file`` URL from the operator, never from a pull
            request.
        token: sent as a header to that host alone; never on a command line.
        environ: the operator's environment, of which only transport settings are used.
        protocols: what git may speak.
    """

    url: str
    token: str | None = None
    environ: Mapping[str, str] = field(default_factory=dict)
    protocols: str = "https:ssh"
    timeout: float = 300.0

    @property
    def environment(self) -> dict[str, str]:
        """The variables for git, with the token as a header."""
        env = {name: self.environ[name] for name in TRANSPORT_VARIABLES if name in self.environ}
        env["GIT_ALLOW_PROTOCOL"] = self.protocols
        if self.token:
            secret = base64.b64encode(f"x-access-token:{self.token}".encode()).decode()
            env["GIT_CONFIG_COUNT"] = "2"
            env["GIT_CONFIG_KEY_0"] = f"http.{self.url}.extraHeader"
            env["GIT_CONFIG_VALUE_0"] = f"Authorization: Basic {secret}"
            env["GIT_CONFIG_KEY_1"] = "http.followRedirects"
            env["GIT_CONFIG_VALUE_1"] = "false"
        return env


@contextmanager
def fetched(
    remote: Remote, refspecs: Sequence[str], lender: OperatorRepository | None, name: str
) -> Iterator[OperatorRepository]:
    """A repository with the refs that the refspecs name; it is gone when the block ends.

    Args:
        refspecs: such as ``+refs/pull/7/head:refs/pull/7/head``; the first two are the sides whose
            merge base must be there.
        lender: a local clone whose objects need not travel.
        name: what the repository is called in reports.

    Raises:
        SourceError: when the remote does not answer or has no such ref.
    """
    directory = Path(tempfile.mkdtemp(prefix="prjury-fetch-"))
    try:
        lay_out(directory, lender)
        git = Git(directory, extra_env=remote.environment)
        _fetch(git, remote, refspecs, () if lender else (f"--depth={_DEPTH}",))
        _deepen(git, remote, refspecs)
        own = OperatorRepository(Git(directory), name, None, directory, _format(lender))
        yield replace(own, lenders=lender.object_directories if lender else ())
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _format(lender: OperatorRepository | None) -> str:
    return lender.object_format if lender else "sha1"


def _fetch(git: Git, remote: Remote, refspecs: Sequence[str], options: Sequence[str]) -> None:
    args = ("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance")
    _, code, stderr = git.try_run(
        *args, *options, "--end-of-options", remote.url, *refspecs, timeout=remote.timeout
    )
    if code:
        told = stderr.splitlines()[-1] if stderr else f"exit code {code}"
        raise SourceError(
            f"the pull request could not be fetched: {printable(told)}",
            why="The remote is unreachable, has no such ref, or refuses this token",
            remedy="Check the number and `contents: read`, or fetch it yourself and name both "
            "sides with --base and --head",
            reason="fetch_failed",
        )


def _deepen(git: Git, remote: Remote, refspecs: Sequence[str]) -> None:
    """More history until the first two refs have a common commit."""
    sides = [refspec.partition(":")[2] for refspec in refspecs[:2]]
    for step in (*(f"--deepen={count}" for count in _DEEPEN), "--unshallow"):
        shallow = (git.git_dir / "shallow").is_file()
        if not shallow or git.try_run("merge-base", *sides)[1] == 0:
            return
        _fetch(git, remote, refspecs, (step,))
