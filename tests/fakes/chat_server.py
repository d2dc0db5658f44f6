"""A server on loopback that speaks OpenAI's chat completions, with scripted faults.

It answers as Anthropic's and Google's servers do as well, for it looks at no path.

Each request is answered by the next behaviour of the script; the last one stays. What was asked is
kept in `requests`.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeAlias


@dataclass(frozen=True)
class Asked:
    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]

    @property
    def mode(self) -> str:
        format_ = self.body.get("response_format") or {}
        return str(format_.get("type", "none"))


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: ChatServer

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.requests.append(Asked(self.path, headers, json.loads(raw or b"{}")))
        try:
            self.server.next_behaviour()(self)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def do_GET(self) -> None:
        self.do_POST()

    def send(self, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        names = {"content-type": "application/json", "content-length": str(len(body))}
        for name, value in {**names, **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        pass


Behaviour: TypeAlias = Callable[[Handler], None]


class ChatServer(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, script: list[Behaviour]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.script = script
        self.requests: list[Asked] = []
        self.released = threading.Event()
        self.flooded = 0
        self._lock = threading.Lock()

    @property
    def root(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    @property
    def url(self) -> str:
        return f"{self.root}/v1"

    def next_behaviour(self) -> Behaviour:
        with self._lock:
            return self.script.pop(0) if len(self.script) > 1 else self.script[0]

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hangs up in the middle is what many tests are about."""


@contextmanager
def serving(*script: Behaviour) -> Iterator[ChatServer]:
    server = ChatServer(list(script))
    thread = threading.Thread(target=lambda: server.serve_forever(0.01), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.released.set()
        server.shutdown()
        server.server_close()
        thread.join()


@dataclass(frozen=True)
class Completion:
    """A chat completion as the API writes it."""

    text: str | None
    finish: str = "stop"
    refusal: str | None = None
    usage: tuple[int, int] = (100, 20)
    more: Mapping[str, Any] = field(default_factory=dict)

    @property
    def json(self) -> bytes:
        message = {"role": "assistant", "content": self.text, "refusal": self.refusal}
        used = {
            "prompt_tokens": self.usage[0],
            "completion_tokens": self.usage[1],
            "total_tokens": sum(self.usage),
        }
        value = {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1_700_000_000,
            "model": "test-model",
            "choices": [{"index": 0, "message": message, "finish_reason": self.finish}],
            "usage": used,
            **self.more,
        }
        return json.dumps(value).encode()


def says(text: str | None, finish: str = "stop", refusal: str | None = None) -> Behaviour:
    return lambda handler: handler.send(200, Completion(text, finish, refusal).json)


def claude_says(
    *texts: str, thinking: str = "", stop: str = "end_turn", usage: Mapping[str, int] | None = None
) -> Behaviour:
    """A message as Anthropic's API writes it."""
    parts: list[Mapping[str, str]] = [{"type": "text", "text": text} for text in texts]
    if thinking:
        parts.insert(0, {"type": "thinking", "thinking": thinking, "signature": "c2ln"})
    value = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-test",
        "content": parts,
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": usage or {"input_tokens": 100, "output_tokens": 20},
    }
    return raw(200, json.dumps(value).encode())


def gemini_says(text: str, finish: str = "STOP", thinking: str = "") -> Behaviour:
    """A generated content as Google's API writes it."""
    parts: list[Mapping[str, object]] = [{"text": text}]
    if thinking:
        parts.insert(0, {"text": thinking, "thought": True})
    value = {
        "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": finish}],
        "usageMetadata": {
            "promptTokenCount": 100,
            "cachedContentTokenCount": 60,
            "candidatesTokenCount": 20,
            "thoughtsTokenCount": 7,
            "totalTokenCount": 127,
        },
        "modelVersion": "gemini-test",
        "responseId": "r1",
    }
    return raw(200, json.dumps(value).encode())


def raw(status: int, body: bytes, **headers: str) -> Behaviour:
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda handler: handler.send(status, body, names)


def fails(status: int, code: str | None = None, **headers: str) -> Behaviour:
    error = {"message": f"no: {SERVER_SECRET}", "type": "error", "code": code}
    return raw(status, json.dumps({"error": error}).encode(), **headers)


def redirects(to: str, status: int = 307) -> Behaviour:
    return raw(status, b"", location=to)


def hangs(handler: Handler) -> None:
    handler.server.released.wait(30)
    handler.close_connection = True


def hangs_up(handler: Handler) -> None:
    handler.send_response(200)
    handler.send_header("content-length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"id": ')
    handler.close_connection = True


def drips(handler: Handler) -> None:
    """Sends a good answer, but a byte at a time and so slowly that nobody lives to see its end."""
    handler.send_response(200)
    handler.send_header("content-type", "application/json")
    handler.send_header("content-length", "100000")
    handler.end_headers()
    while not handler.server.released.wait(0.05):
        handler.wfile.write(b" ")
        handler.wfile.flush()


def floods(handler: Handler, size: int = 100 * 1024 * 1024) -> None:
    """Sends a body without a length that only ends after a hundred megabytes."""
    handler.send_response(200)
    handler.send_header("content-type", "application/json")
    handler.send_header("transfer-encoding", "chunked")
    handler.end_headers()
    chunk = b" " * 65_536
    for _ in range(size // len(chunk)):
        handler.wfile.write(b"10000\r\n" + chunk + b"\r\n")
        handler.server.flooded += len(chunk)
    handler.wfile.write(b"0\r\n\r\n")


def only_json_mode(good: Behaviour) -> Behaviour:
    """Refuses schemas, as many servers for local models do."""

    def answer(handler: Handler) -> None:
        if handler.server.requests[-1].mode == "json_schema":
            fails(400, "invalid_request")(handler)
        else:
            good(handler)

    return answer


#: Stands in the body of every scripted error and must never be repeated.
SERVER_SECRET = "body-of-the-server-error"
