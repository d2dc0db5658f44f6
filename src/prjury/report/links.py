"""Permalinks into the forge: a file at the head's commit, a line, a pull request."""

from __future__ import annotations

import re
from urllib.parse import quote

from prjury.jury.judgment import Location
from prjury.report.redact import Redact, redact_text
from prjury.report.sanitise import BY_SHAPE
from prjury.snapshot.model import PullRequest, printable

_PULL_URL = re.compile(r"(https?://[A-Za-z0-9.-]+(?::\d+)?/[\w.-]+/[\w.-]+)/pull/\d+/?", re.ASCII)
_SHA = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")

#: Forges show these rendered, without line numbers, unless they are asked for the source.
_RENDERED = (".md", ".markdown", ".adoc", ".asciidoc", ".rst", ".org", ".mdx", ".svg")
#: A longer link costs more of a comment than it is worth.
_LONGEST = 600


class Links:
    """Where files of one pull request can be seen; nowhere without the pull request's URL.

    A path in which ``redact`` finds a secret is not linked.
    """

    def __init__(self, pull: PullRequest, redact: Redact = BY_SHAPE) -> None:
        match = _PULL_URL.fullmatch(pull.url or "") if _SHA.fullmatch(pull.head.sha) else None
        self._root, self._head, self._redact = match[1] if match else "", pull.head.sha, redact
        #: The pull request's own page, if its address is one that we know how to write.
        self.pull_url = pull.url if match else None
        self._paths = {printable(file.path): file.path for file in pull.files}
        self._files: dict[str, str | None] = {}

    def to_artifacts(self, run: str | None) -> str | None:
        """Return where the files of a workflow run are; None outside of one."""
        number = (run or "").partition(".")[0]
        is_linkable = self._root and number.isascii() and number.isdigit()
        return f"{self._root}/actions/runs/{number}#artifacts" if is_linkable else None

    def to(self, place: Location) -> str | None:
        """Return the permalink of a place, percent-encoded and safe in any attribute."""
        if place.path not in self._files:
            self._files[place.path] = self._link_file(place.path)
        file = self._files[place.path]
        url = f"{file}{_write_anchor(place)}" if file else None
        return url if url and len(url) <= _LONGEST else None

    def _link_file(self, shown: str) -> str | None:
        if not self._root or redact_text(shown, self._redact) != shown:
            return None
        path = self._paths.get(shown, shown).encode("utf-8", "surrogateescape")
        return f"{self._root}/blob/{self._head}/{quote(path, safe='/')}"


def _write_anchor(place: Location) -> str:
    if place.line is None:
        return ""
    query = "?plain=1" if place.path.lower().endswith(_RENDERED) else ""
    end = f"-L{place.end_line}" if place.end_line and place.end_line != place.line else ""
    return f"{query}#L{place.line}{end}"
