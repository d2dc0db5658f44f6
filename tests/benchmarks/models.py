"""How long judges wait for models: K judges, each asking a server that takes L seconds to answer.

    python tests/benchmarks/models.py --judges 8 --latency 2

A review of a small repository with a build that only waits, in which the clients are loaded, and a
tier of K judges of one question each, against a server on loopback. The limit for the tier is
1.15 x L + 0.2 s; beside it K bare requests at once from threads, and the whole process. Then the
same again, with its answers known; after a rebase; and a change of many files on several sheets,
of which one file changes.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, latency: float) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.latency = latency
        self.asked: list[dict[str, Any]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.asked.append(body)
        time.sleep(self.server.latency)
        message = {"role": "assistant", "content": json.dumps(_answer(body))}
        reply = {
            "id": "1",
            "object": "chat.completion",
            "created": 1,
            "model": "bench",
            "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
        }
        content = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        pass


def _answer(body: dict[str, Any]) -> dict[str, Any]:
    """A pass for every criterion that the request asks about."""
    if "response_format" not in body:
        return {}
    schema = body["response_format"]["json_schema"]["schema"]
    names = schema["properties"]["criteria"]["required"]
    answer = {"findings": [], "reasoning": "fine", "verdict": "pass", "confidence": 0.9}
    return {"criteria": dict.fromkeys(names, answer)}


@contextmanager
def serving(latency: float) -> Iterator[Server]:
    server = Server(latency)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()


def git(place: Path, *args: str) -> None:
    who = ("-c", "user.name=bench", "-c", "user.email=bench@example.org")
    subprocess.run(["git", *who, *args], cwd=place, check=True, capture_output=True)


def repository(place: Path, files: int = 1, lines: int = 3) -> None:
    git(place, "init", "-q", "-b", "main")
    for number in range(files):
        _write(place, number, lines, "base")
    git(place, "add", "-A")
    git(place, "commit", "-qm", "base")
    git(place, "switch", "-qc", "topic")
    for number in range(files):
        _write(place, number, lines, "topic")
    git(place, "commit", "-qam", "topic")


def _write(place: Path, number: int, lines: int, word: str) -> None:
    kept = "".join(f"kept_{number}_{line} = {line}\n" for line in range(6))
    text = "".join(f"{word}_{number}_{line} = {line}\n" for line in range(lines))
    (place / f"m{number:03d}.py").write_text(f"{kept}{text}")


def policy(place: Path, url: str, judges: int, room: int = 30_000, build: float = 0.0) -> Path:
    seats = [
        {"prompt": {"name": f"judge{n}", "text": f"Look at {n}", "criteria": {"fine": "Is it?"}}}
        for n in range(judges)
    ]
    value = {
        "version": 1,
        "tiers": [
            {"name": "build", "policy": "reject_on_any_fail", "judges": _first(build)},
            {"name": "models", "policy": "final_tier", "judges": seats},
        ],
        "models": {
            "default": {"name": "bench", "base_url": url, "provider": "openai", "room": room}
        },
        "limits": {"input_tokens": 10_000_000},
    }
    file = place.parent / "policy.yml"
    file.write_text(json.dumps(value))
    return file


def _first(build: float) -> list[Any]:
    return ["merge", *([{"build": {"command": f"sleep {build}"}}] if build else [])]


def review(place: Path, file: Path, cache: Path) -> tuple[float, float]:
    """Seconds of the tier of models and of the whole process."""
    started = time.perf_counter()
    argv = ["-m", "prjury", "review", "--repo", str(place), "--base", "main", "--head", "topic"]
    done = subprocess.run(
        [sys.executable, *argv, "--config", str(file), "--format", "json"],
        env={**os.environ, "XDG_CACHE_HOME": str(cache), "OPENAI_API_KEY": "none"},
        capture_output=True,
        text=True,
        check=False,
    )
    whole = time.perf_counter() - started
    report = json.loads(done.stdout)
    if report["verdict"]["status"] != "pass" or report["tiers"][1]["status"] != "pass":
        sys.exit(f"the review did not pass: {report['verdict']} {report['tiers'][1]['reasoning']}")
    return report["tiers"][1]["elapsed_ms"] / 1000, whole


def bare(url: str, count: int) -> float:
    """Seconds for so many requests at once without any client library."""

    def ask() -> None:
        request = urllib.request.Request(f"{url}/chat/completions", data=b"{}")  # noqa: S310
        urllib.request.urlopen(request).read()  # noqa: S310 - our own server

    threads = [threading.Thread(target=ask) for _ in range(count)]
    started = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.perf_counter() - started


def waiting(judges: int, latency: float, build: float) -> None:
    with tempfile.TemporaryDirectory() as directory, serving(latency) as server:
        place = Path(directory) / "repository"
        place.mkdir()
        repository(place)
        file, cache = policy(place, server.url, judges, build=build), Path(directory) / "cache"
        limit = 1.15 * latency + 0.2
        alone = bare(server.url, judges)
        server.asked.clear()
        tier, whole = review(place, file, cache)
        print(
            f"{judges} judges at {latency:g} s: tier {tier:.2f} s (limit {limit:.2f} s), ", end=""
        )
        print(f"whole process {whole:.2f} s; bare requests {alone:.2f} s; {_calls(server)}")
        again, whole = review(place, file, cache)
        print(f"  again: tier {again:.2f} s, whole process {whole:.2f} s; {_calls(server)}")
        _rebase(place)
        rebased, _ = review(place, file, cache)
        print(f"  after a rebase that moves every line: tier {rebased:.2f} s; {_calls(server)}")


def _rebase(place: Path) -> None:
    git(place, "switch", "-q", "main")
    for file in place.glob("m*.py"):
        file.write_text("# A line above.\n# And another.\n" + file.read_text())
    git(place, "commit", "-qam", "lines above")
    git(place, "switch", "-q", "topic")
    git(place, "rebase", "-q", "main")


def sheets(files: int) -> None:
    with tempfile.TemporaryDirectory() as directory, serving(0.0) as server:
        place = Path(directory) / "repository"
        place.mkdir()
        repository(place, files, 20)
        file, cache = policy(place, server.url, 1, room=4_000), Path(directory) / "cache"
        review(place, file, cache)
        print(f"{files} files: {_calls(server)}")
        _write(place, 7, 23, "topic")
        git(place, "commit", "-qam", "one more")
        review(place, file, cache)
        print(f"  one file grows: {_calls(server)}")


def _calls(server: Server) -> str:
    count = len(server.asked)
    server.asked.clear()
    return f"{count} calls"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--judges", type=int, default=8)
    parser.add_argument("--latency", type=float, default=2.0)
    parser.add_argument("--build", type=float, default=5.0, help="seconds; 0 for none")
    parser.add_argument("--files", type=int, default=60)
    arguments = parser.parse_args()
    waiting(arguments.judges, arguments.latency, arguments.build)
    sheets(arguments.files)


if __name__ == "__main__":
    main()
