"""aimock, a model server that other people wrote: it speaks OpenAI and Anthropic, faults included.

The version is pinned in `tests/aimock`. It is installed once for all test runs, below the user's
cache directory. Where Node.js or the package is not to be had, the test is skipped; in CI it fails.

What no other server can be made to do is in `fakes.chat_server`: endless bodies, redirects,
compression, cookies, refusals, and answers that drip or stop in the middle.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

import pytest

PINNED = Path(__file__).resolve().parents[1] / "aimock"

#: One entry of aimock's script: ``response``, and ``chaos`` or ``match`` where they are wanted.
Answer: TypeAlias = Mapping[str, Any]

_LISTENING = re.compile(r"listening on (http://127\.0\.0\.1:\d+)")
_SECONDS_TO_INSTALL = 300.0
_SECONDS_TO_START = 60.0


def says(text: str, **more: Any) -> Answer:
    """A good answer; ``finishReason``, ``model``, ``usage``, ``reasoning`` are aimock's names."""
    return {"response": {"content": text, **more}}


def fails(status: int, message: str = "no", *, retry_after: int = 1, **error: str) -> Answer:
    """An error in the form of the provider that is asked; `retry_after` is sent with a 429."""
    body = {"message": message, **error}
    return {"response": {"error": body, "status": status, "retryAfter": retry_after}}


def chaos(answer: Answer | None = None, **faults: float) -> Answer:
    """What happens instead of the answer: ``disconnectRate=1``, ``malformedRate=1``, and so on.

    ``latencyMs``, 30,000 at most, is how long the answer takes.
    """
    return {**(answer or says("never sent")), "chaos": faults}


@dataclass(frozen=True)
class Asked:
    """A request as aimock noted it down; of a failed one it may have read no body."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    status: int


@dataclass(frozen=True)
class Aimock:
    """A running server, which lets nobody in who has not the key.

    Attributes:
        anthropic: the base URL for Anthropic's client.
    """

    anthropic: str
    key: str

    @property
    def openai(self) -> str:
        """The base URL for OpenAI's client."""
        return f"{self.anthropic}/v1"

    def script(self, *answers: Answer) -> None:
        """Forgets everything, then gives each answer once and in order; the last one stays."""
        self._control("reset", {})
        fixtures = [
            self._entry(place, answer, len(answers)) for place, answer in enumerate(answers)
        ]
        self._control("fixtures", {"fixtures": fixtures})

    @property
    def requests(self) -> list[Asked]:
        """What was asked since the last script, oldest first."""
        return [
            Asked(entry["path"], entry["headers"], entry["body"] or {}, entry["response"]["status"])
            for entry in self._control("journal")
        ]

    @staticmethod
    def _entry(place: int, answer: Answer, count: int) -> Answer:
        turn = {} if place == count - 1 else {"sequenceIndex": place}
        return {**answer, "match": {**turn, **answer.get("match", {})}}

    def _control(self, name: str, body: object = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        headers = {"content-type": "application/json", "x-api-key": self.key}
        request = urllib.request.Request(  # noqa: S310 - loopback
            f"{self.anthropic}/__aimock/{name}", data, headers
        )
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with direct.open(request, timeout=30) as response:
            return json.load(response)


def needs(library: str) -> None:
    """Skips the test where a client's library is not installed; in CI it fails."""
    if importlib.util.find_spec(library) is None:
        _unavailable(f"the library {library} is not installed")


@contextlib.contextmanager
def aimock(key: str) -> Iterator[Aimock]:
    """A server on a free port of loopback, without a script."""
    node = _program("node")
    entry = _installed() / "node_modules" / "@copilotkit" / "aimock" / "dist" / "cli.js"
    with tempfile.TemporaryDirectory(prefix="aimock-") as name:
        script, log = Path(name, "script.json"), Path(name, "log")
        script.write_text('{"fixtures": []}')
        with (
            log.open("wb") as output,
            subprocess.Popen(
                [node, entry, "--port", "0", "--host", "127.0.0.1", "--fixtures", script],
                cwd=name,
                env={"PATH": os.environ["PATH"], "HOME": name, "AIMOCK_API_KEYS": key},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            ) as process,
        ):
            try:
                yield Aimock(_address(process, log), key)
            finally:
                process.kill()


def _address(process: subprocess.Popen[bytes], log: Path) -> str:
    until = time.monotonic() + _SECONDS_TO_START
    while time.monotonic() < until:
        ended = process.poll() is not None
        if found := _LISTENING.search(log.read_text()):
            return found[1]
        if ended:
            break
        time.sleep(0.02)
    return _unavailable(f"aimock does not start: {log.read_text()[-500:]}")


def _installed() -> Path:
    """The directory that holds the pinned version; installed there if it is not there yet."""
    files = [PINNED / "package.json", PINNED / "package-lock.json"]
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:16]
    place = _cache() / f"aimock-{digest}"
    if not place.is_dir():
        place.parent.mkdir(parents=True, exist_ok=True)
        # Complete or not there at all: other test processes may be installing it as well.
        with tempfile.TemporaryDirectory(dir=place.parent) as making:
            _install(files, Path(making, "new"))
            with contextlib.suppress(OSError):  # somebody was faster
                Path(making, "new").rename(place)
    return place


def _install(files: list[Path], place: Path) -> None:
    npm = _program("npm")
    place.mkdir()
    for file in files:
        shutil.copy(file, place)
    quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier"]
    try:
        subprocess.run(
            [npm, "ci", *quiet, "--prefix", place],
            cwd=place,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=True,
            timeout=_SECONDS_TO_INSTALL,
        )
    except subprocess.CalledProcessError as error:
        _unavailable(f"aimock cannot be installed: {error.stderr[-500:]}")
    except subprocess.TimeoutExpired:
        _unavailable("aimock cannot be installed: npm takes too long")


def _cache() -> Path:
    place = os.environ.get("XDG_CACHE_HOME") or Path(os.environ.get("HOME", ""), ".cache")
    return (
        Path(place) if Path(place).is_absolute() else Path(tempfile.gettempdir())
    ) / "prjury-tests"


def _program(name: str) -> str:
    return shutil.which(name) or _unavailable(f"{name} is not installed")


def _unavailable(why: str) -> NoReturn:
    """Skips the test on a developer's machine; in CI nothing may go untested unnoticed."""
    if os.environ.get("CI"):
        pytest.fail(why, pytrace=False)
    pytest.skip(why)
