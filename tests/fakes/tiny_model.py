"""A real model server with a model of half a megabyte whose weights are random.

The server is llama.cpp's, in a virtual environment of its own below the user's cache directory: it
is compiled there once, which takes minutes. A door in front of it turns what an OpenAI client sends
into what this server binds its answers by, and keeps the answers short: random text has no end.

    with serving(tmp_path) as model:
        model.seed = 7
        ask(model.url)

The server's environment runs this file, too, which writes the model: ``tiny_model.py write FILE``.
"""

from __future__ import annotations

import fcntl
import json
import logging
import os
import socket
import subprocess
import sys
import threading
import time
import venv
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from pathlib import Path
from typing import Any

REQUIREMENTS = ("llama-cpp-python[server]==0.3.36", "gguf==0.19.0")

#: Tokens of a prompt and its answer together; each byte is a token.
CONTEXT = 64 * 1024

_WIDTH, _INNER, _HEADS, _LAYERS = 64, 192, 4, 2
_WEIGHTS_SEED, _SHARPNESS = 20_251, 0.1
_FIRST_BYTE = 3  # the token of byte 0

#: Seconds for compiling the server, for its start, for one answer.
_COMPILING, _STARTING, _ANSWERING = 3600.0, 60.0, 300.0

#: Shows the answers beside a test that fails: the prompt's nonces differ from run to run, and with
#: them what a seed brings about.
_LOG = logging.getLogger(__name__)
_LOG.setLevel(logging.INFO)

_LONGEST_TEXT, _LONGEST_LIST, _LONGEST_ANSWER = 24, 2, 16_384


@dataclass(frozen=True)
class Answer:
    """What the model said, and the schema by which the client wanted to bind it."""

    schema: Mapping[str, Any]
    text: str


class TinyModel(ThreadingHTTPServer):
    """The door before the server.

    Attributes:
        seed: of the next answers.
        words: values out of which the answers choose for properties of these names; such an answer
            still fits the schema, and some of what it quotes is really there.
        answers: all of them.
    """

    daemon_threads = True

    def __init__(self, server: int) -> None:
        super().__init__(("127.0.0.1", 0), _Door)
        self.seed = 0
        self.words: Mapping[str, Sequence[object]] = {}
        self.answers: list[Answer] = []
        self._server = server
        self._one_at_a_time = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def ask(self, asked: Mapping[str, Any]) -> tuple[int, bytes]:
        """Status and body of the server's response."""
        schema = asked["response_format"]["json_schema"]["schema"]
        request = {
            "messages": asked["messages"],
            "response_format": {"type": "json_object", "schema": narrowed(schema, self.words)},
            "max_tokens": _LONGEST_ANSWER,
            "seed": self.seed,
            "temperature": 1.0,
            # The server's grammar lets control characters into strings; JSON does not.
            "logit_bias": {str(_FIRST_BYTE + byte): -100.0 for byte in range(0x20)},
        }
        with self._one_at_a_time:
            status, body = _posted(self._server, json.dumps(request).encode())
        if status == 200:
            text = json.loads(body)["choices"][0]["message"]["content"]
            self.answers.append(Answer(schema, text))
            _LOG.info("seed %d: %s", self.seed, text)
        return status, body


class _Door(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: TinyModel

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))))
        if (asked.get("response_format") or {}).get("type") == "json_schema":
            status, body = self.server.ask(asked)
        else:
            status, body = 400, b'{"error": {"message": "ask with a schema", "code": null}}'
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        pass


def narrowed(schema: Any, words: Mapping[str, Sequence[object]]) -> Any:
    """A schema all of whose instances are short and fit the given one as well."""
    if isinstance(schema, list):
        return [narrowed(each, words) for each in schema]
    if not isinstance(schema, dict):
        return schema
    narrow = {key: narrowed(value, words) for key, value in schema.items()}
    if schema.get("type") == "string" and not {"enum", "const"} & schema.keys():
        narrow["maxLength"] = min(_LONGEST_TEXT, schema.get("maxLength", _LONGEST_TEXT))
    if schema.get("type") == "array":
        narrow["maxItems"] = min(_LONGEST_LIST, schema.get("maxItems", _LONGEST_LIST))
    if isinstance(schema.get("properties"), dict):
        chosen = {name: {"enum": list(of)} for name, of in words.items()}
        own = {name: chosen.get(name, narrow["properties"][name]) for name in schema["properties"]}
        narrow["properties"] = own
    return narrow


@contextmanager
def serving(directory: Path) -> Iterator[TinyModel]:
    """The model behind its door, in a process of its own; the directory takes model and log."""
    python, file, port = str(environment()), directory / "tiny.gguf", _free_port()
    subprocess.run([python, "-P", __file__, "write", str(file)], check=True, timeout=_STARTING)
    options = {"model": file, "host": "127.0.0.1", "port": port, "n_ctx": CONTEXT, "n_threads": 1}
    argv = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    command = [python, "-m", "llama_cpp.server", *argv, "--chat_format", "chatml"]
    with (directory / "server.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=directory, stdout=log, stderr=log)
        try:
            _await(process, port, directory / "server.log")
            with TinyModel(port) as model:
                thread = threading.Thread(target=lambda: model.serve_forever(0.01), daemon=True)
                thread.start()
                yield model
                model.shutdown()
        finally:
            process.terminate()
            process.wait()


def _await(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    until = time.monotonic() + _STARTING
    while time.monotonic() < until and process.poll() is None:
        with suppress(OSError), closing(socket.create_connection(("127.0.0.1", port), 1)):
            return
        time.sleep(0.1)
    raise RuntimeError(f"the model's server did not start: {log.read_text()[-2000:]}")


def _posted(port: int, body: bytes) -> tuple[int, bytes]:
    with closing(HTTPConnection("127.0.0.1", port, timeout=_ANSWERING)) as connection:
        headers = {"content-type": "application/json"}
        connection.request("POST", "/v1/chat/completions", body, headers)
        response = connection.getresponse()
        return response.status, response.read()


def _free_port() -> int:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port: int = taken.getsockname()[1]
        return port


def environment() -> Path:
    """The Python of the environment with the server in it, which is made where it is missing.

    Raises:
        subprocess.CalledProcessError: when the server cannot be installed.
    """
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "prjury-tests"
    home = cache / "-".join(REQUIREMENTS).replace("[server]", "")
    python, done = home / "bin" / "python", home / "installed"
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # several test processes may come here at once
        if not done.exists():
            venv.create(home, with_pip=True, clear=True)
            install = [str(python), "-m", "pip", "install", "--quiet", *REQUIREMENTS]
            subprocess.run(["nice", "-n", "19", *install], check=True, timeout=_COMPILING)
            done.touch()
    return python


def write(path: str) -> None:
    """Writes the model: Llama's architecture, a token for each byte, random weights."""
    gguf, numpy = import_module("gguf"), import_module("numpy")
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(_WIDTH)
    writer.add_block_count(_LAYERS)
    writer.add_feed_forward_length(_INNER)
    writer.add_head_count(_HEADS)
    writer.add_head_count_kv(_HEADS)
    writer.add_rope_dimension_count(_WIDTH // _HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    tokens = _add_tokens(writer, gguf.TokenType)
    chance = numpy.random.default_rng(_WEIGHTS_SEED)
    for name, shape in _shapes(tokens):
        weights = chance.standard_normal(shape) if len(shape) > 1 else numpy.ones(shape)
        # Every token is about as likely as every other one, so that a seed makes a difference.
        weights = weights * _SHARPNESS if name == "output.weight" else weights
        writer.add_tensor(name, weights.astype(numpy.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _add_tokens(writer: Any, kind: Any) -> int:
    """Adds the vocabulary; the result is its size."""
    tokens = [b"<unk>", b"<s>", b"</s>", *(b"<0x%02X>" % byte for byte in range(256))]
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens)
    writer.add_token_scores([0.0] * len(tokens))
    writer.add_token_types([kind.UNKNOWN, kind.CONTROL, kind.CONTROL, *[kind.BYTE] * 256])
    writer.add_unk_token_id(0)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_add_space_prefix(False)
    return len(tokens)


def _shapes(tokens: int) -> Iterator[tuple[str, tuple[int, ...]]]:
    yield "token_embd.weight", (tokens, _WIDTH)
    yield "output_norm.weight", (_WIDTH,)
    yield "output.weight", (tokens, _WIDTH)
    for layer in range(_LAYERS):
        yield f"blk.{layer}.attn_norm.weight", (_WIDTH,)
        yield f"blk.{layer}.ffn_norm.weight", (_WIDTH,)
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            yield f"blk.{layer}.{name}.weight", (_WIDTH, _WIDTH)
        for name in ("ffn_gate", "ffn_up"):
            yield f"blk.{layer}.{name}.weight", (_INNER, _WIDTH)
        yield f"blk.{layer}.ffn_down.weight", (_WIDTH, _INNER)


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] != "write":
        sys.exit(__doc__)
    write(sys.argv[2])
