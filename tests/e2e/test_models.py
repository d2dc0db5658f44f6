"""The tier that asks models, as a user runs it: the real program against servers on loopback.

Each process loads the clients' libraries, which takes seconds, so what needs no process of its own
is in `integration.test_tier_over_http`.
"""

from __future__ import annotations

import gzip
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from fakes.aimock import Aimock, aimock, needs
from fakes.aimock import says as aimock_says
from fakes.chat_server import ChatServer, floods, hangs, raw, says, serving
from fakes.llm import answer, quote, reply
from fakes.providers import ANTHROPIC_KEY, LINE, OPENAI_KEY, PATH, TEXT, Policy, Said, Shop, policy

CLAUDE = "anthropic:claude-sonnet-5-5"
BLOCKING = policy(advisory=False)
FAILING = answer("fail", [quote(PATH, LINE, TEXT)])
BAD = reply(correctness=FAILING, risk=FAILING)
READY = "## ✅ Nothing found against it (not built)"

#: Bytes that a run may take beyond a normal one, whatever a server sends.
_MORE_MEMORY = 400 * 1024**2


@dataclass(frozen=True)
class Ran:
    """What a process has put out, and the most memory that it had, in bytes."""

    said: Said
    memory: int


def started(shop: Shop, args: Sequence[str]) -> subprocess.Popen[bytes]:
    """The program, with its output in files, where it cannot get stuck."""
    with (shop.place / "out").open("wb") as out, (shop.place / "err").open("wb") as err:
        return subprocess.Popen(
            [sys.executable, "-m", "prjury", *args],
            cwd=shop.place,
            env=shop.environ,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
        )


def ended(shop: Shop, process: subprocess.Popen[bytes]) -> Ran:
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    out, err = ((shop.place / name).read_text() for name in ("out", "err"))
    return Ran(Said(process.returncode, out, err, shop.files()), used.ru_maxrss * 1024)


def ran(shop: Shop, policy: Policy, *more: str) -> Ran:
    return ended(shop, started(shop, shop.command(policy, *more)))


def reviewed(shop: Shop, policy: Policy, *more: str) -> Said:
    return ran(shop, policy, *more).said


@pytest.fixture(scope="module")
def server() -> Iterator[Aimock]:
    needs("openai")
    needs("anthropic")
    with aimock(f"{OPENAI_KEY},{ANTHROPIC_KEY}") as running:
        yield replace(running, key=OPENAI_KEY)


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path)


def test_the_second_run_on_the_same_change_costs_nothing(server: Aimock, shop: Shop) -> None:
    shop.at(openai=server.openai)
    server.script(aimock_says(BAD))
    first = reviewed(shop, BLOCKING, "--model", "openai:local")
    assert (first.code, first.status, len(server.requests)) == (1, "fail", 1)
    assert first.first_line == "## ❌ Do not merge: quality fails, 2 findings"
    server.script(aimock_says(reply()))
    second = reviewed(shop, BLOCKING, "--model", "openai:local")
    assert (server.requests, second.cost["cached_calls"]) == ([], 1)
    assert (second.code, second.first_line) == (1, first.first_line)
    assert second.judgment["checks"] == first.judgment["checks"]


def seats(**servers: ChatServer) -> Policy:
    """A panel of one model for each server."""
    panel: list[dict[str, Any]] = [
        {"provider": "openai", "name": name, "base_url": server.url}
        for name, server in servers.items()
    ]
    return policy(advisory=False, models={"panel": panel})


def test_no_server_can_fill_the_memory(shop: Shop) -> None:
    bomb = raw(200, gzip.compress(b" " * 400 * 1024**2, 1), content_encoding="gzip")
    with serving(says(reply())) as good, serving(floods) as flood, serving(bomb) as small:
        normal = ran(shop, seats(one=good, two=good))
        hostile = ran(shop, seats(flood=flood, bomb=small))
    assert normal.said.code == 0
    assert (hostile.said.code, hostile.said.status) == (3, "abstain")
    reasons = [seat["reason"] for seat in hostile.said.judgment["metadata"]["panel"]]
    assert reasons == ["reply_too_large", "provider_error"]
    assert hostile.memory < normal.memory + _MORE_MEMORY


def test_ctrl_c_ends_a_run_whose_server_hangs(shop: Shop) -> None:
    with serving(hangs) as server:
        args = shop.at(openai=server.url).command(BLOCKING, "--model", "openai:local")
        process = started(shop, args)
        while not server.requests and process.poll() is None:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        interrupted = time.monotonic()
        said = ended(shop, process).said
        took = time.monotonic() - interrupted
    assert (said.code, said.out) == (130, "")
    assert said.err.splitlines()[-1] == "prjury: interrupted; nothing was published"
    assert took < 25  # the server would go on for 30 s
