"""Registries that fail: a server that answers every request with the status in its address."""

from __future__ import annotations

import http.server
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Addresses:
    """Where what fails can be found.

    Attributes:
        plain: without a status behind it, ``http://127.0.0.1:PORT``.
        tls: the same, with a certificate that nobody has signed.
        closed: a port on which nothing listens.
    """

    plain: str
    tls: str
    closed: str

    def put_into(self, text: str) -> str:
        """The text with the words PLAIN, TLS and CLOSED replaced by them."""
        return (
            text.replace("PLAIN", self.plain)
            .replace("TLS", self.tls)
            .replace("CLOSED", self.closed)
        )


class _Failing(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        word = self.path.split("/")[1]
        self.send_response(int(word) if word.isdigit() else 503)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_HEAD = do_GET  # noqa: N815 - the name that the library looks for

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
        """Say nothing."""


class _Server(http.server.ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """A client that does not believe the certificate hangs up."""


@contextmanager
def failing(place: Path) -> Iterator[Addresses]:
    """Servers on this machine for as long as the context lasts."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(_certificate(place))
    with ExitStack() as stack:
        plain, tls = (stack.enter_context(_server()) for _ in range(2))
        tls.socket = context.wrap_socket(tls.socket, server_side=True)
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            closed = f"http://127.0.0.1:{unused.getsockname()[1]}"
        yield Addresses(
            f"http://127.0.0.1:{plain.server_port}", f"https://localhost:{tls.server_port}", closed
        )


@contextmanager
def _server() -> Iterator[_Server]:
    server = _Server(("127.0.0.1", 0), _Failing)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _certificate(place: Path) -> Path:
    """A key and a certificate that it signs itself, in one file."""
    file = place / "self-signed.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
         "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", file, "-out",
         place / "certificate.pem"],
        check=True,
        capture_output=True,
    )  # fmt: skip
    file.write_text(file.read_text() + (place / "certificate.pem").read_text())
    return file
