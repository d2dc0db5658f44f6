"""GitHub's git side: bare repositories over https on loopback, for whoever has a known token.

A certificate authority of a few hours vouches for it; git is told of it by ``GIT_SSL_CAINFO``.
"""

from __future__ import annotations

import base64
import os
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

from fakes.history import ENVIRONMENT


class GitServer:
    """The server; see `serving`.

    Attributes:
        tokens: who may read; anonymous readers are turned away, as from a private repository.
        requests: method and path of what was asked.
    """

    def __init__(self, repositories: Path, certificates: Path) -> None:
        self.repositories = repositories
        self.authority = certificates / "ca.pem"
        self.tokens: set[str] = set()
        self.requests: list[tuple[str, str]] = []
        _certify(certificates)
        self._server = _Server(self, certificates)

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self._server.server_port}"

    def knows(self, authorization: str) -> bool:
        scheme, _, secret = authorization.partition(" ")
        if scheme.lower() != "basic":
            return False
        _, _, token = base64.b64decode(secret).decode().partition(":")
        return token in self.tokens


@contextmanager
def serving(repositories: Path, certificates: Path) -> Iterator[GitServer]:
    """A server of the repositories ``owner/name.git`` below a directory, until the block ends."""
    served = GitServer(repositories, certificates)
    thread = threading.Thread(target=served._server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield served
    finally:
        served._server.shutdown()
        served._server.server_close()
        thread.join(5)


def _certify(place: Path) -> None:
    place.mkdir(parents=True, exist_ok=True)
    make = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
    make += ["-noenc", "-days", "1"]
    own = ["-subj", "/CN=Authority of a test", "-keyout", "ca.key", "-out", "ca.pem"]
    host = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    host += ["-addext", "basicConstraints=critical,CA:FALSE", "-CA", "ca.pem", "-CAkey", "ca.key"]
    for more in (own, [*host, "-keyout", "host.key", "-out", "host.pem"]):
        subprocess.run([*make, *more], cwd=place, capture_output=True, check=True)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, served: GitServer, certificates: Path) -> None:
        self.served = served
        super().__init__(("127.0.0.1", 0), _Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificates / "host.pem", certificates / "host.key")
        # Whoever connects and says nothing must not keep others waiting.
        self.socket = context.wrap_socket(
            self.socket, server_side=True, do_handshake_on_connect=False
        )

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Quiet: a client that goes away is no event."""


class _Handler(BaseHTTPRequestHandler):
    """Hands a request to ``git http-backend``, which is a CGI program."""

    def handle_any(self) -> None:
        served = cast(_Server, self.server).served
        served.requests.append((self.command, self.path))
        if not served.knows(self.headers.get("Authorization", "")):
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="GitHub"')
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        length = int(self.headers.get("Content-Length") or 0)
        done = subprocess.run(
            ["git", "http-backend"],
            env=self._environment(served.repositories),
            input=self.rfile.read(length),
            capture_output=True,
            check=True,
        )
        head, _, body = done.stdout.partition(b"\r\n\r\n")
        fields = [line.partition(": ")[::2] for line in head.decode().splitlines()]
        self.send_response(int(dict(fields).get("Status", "200").split()[0]))
        for name, value in fields:
            if name != "Status":
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _environment(self, repositories: Path) -> dict[str, str]:
        url = urlsplit(self.path)
        return ENVIRONMENT | {
            "PATH": os.environ["PATH"],
            "GIT_PROJECT_ROOT": str(repositories),
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            "REQUEST_METHOD": self.command,
            "PATH_INFO": url.path,
            "QUERY_STRING": url.query,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": self.headers.get("Content-Length", ""),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "REMOTE_ADDR": "127.0.0.1",
            # As GitHub does: any object that a ref reaches may be asked for by name.
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "uploadpack.allowAnySHA1InWant",
            "GIT_CONFIG_VALUE_0": "true",
        }

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base's name
        """Quiet: the tests read `requests`."""

    do_GET = do_POST = handle_any  # noqa: N815 - names that the base calls
