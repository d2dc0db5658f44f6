"""The backport verdicts alone: the value, its JSON and its lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from prjury.report.model import Backport
from prjury.report.redact import Redact
from prjury.report.sanitise import BY_SHAPE
from prjury.report.wording import verdict_words
from prjury.snapshot.model import PullRequest, printable, visible

if TYPE_CHECKING:
    from prjury.report.codec import Json

SCHEMA_NAME = "prjury/backports/v1"

#: So many branches are named in the headline.
_FEW = 4
_SHORT, _LONGEST_REF = 12, 60
_SUITABLE = "suitable"


@dataclass(frozen=True)
class Backports:
    """The backport verdicts on a change."""

    pull: PullRequest
    backports: tuple[Backport, ...]
    policy: str
    policy_hash: str
    version: str
    notes: tuple[str, ...] = ()
    elapsed_ms: int = 0

    @property
    def headline(self) -> str:
        """``Backport of #7 Fix the cart: 1.1.x suitable, 1.0.x needs a human``."""
        pull = self.pull
        ref = printable(pull.head.ref)
        ref_text = ref[:_SHORT] if ref.startswith(pull.head.sha) else ref[:_LONGEST_REF]
        name = ref_text if pull.number is None else f"#{pull.number}"
        title = f" {visible(pull.title)}" if pull.title.strip() else ""
        return f"Backport of {name}{title}: {self._outcome()}"

    def _outcome(self) -> str:
        if len(self.backports) <= _FEW:
            words = (f"{printable(one.branch)} {verdict_words(one)}" for one in self.backports)
            return ", ".join(words)
        counts = Counter(verdict_words(one) for one in self.backports)
        return ", ".join(f"{words} {count}" for words, count in counts.items())

    @property
    def unjudged(self) -> Sequence[Backport]:
        """The branches without a verdict."""
        return [one for one in self.backports if one.verdict == "error"]

    @property
    def unsuitable(self) -> Sequence[Backport]:
        """The branches that are not `suitable` as the change is."""
        return [one for one in self.backports if one.verdict != _SUITABLE]


def backports_to_json(found: Backports, redact: Redact = BY_SHAPE) -> Json:
    """Return the JSON ``prjury/backports/v1``, whose parts are those of the report."""
    from prjury.report.codec import (  # noqa: PLC0415 - the terminal needs no models of JSON
        backport_to_json,
        printable_json,
        pull_to_json,
    )

    value = {
        "schema": SCHEMA_NAME,
        "headline": found.headline,
        "pull": pull_to_json(found.pull),
        "backports": [backport_to_json(one) for one in found.backports],
        "policy": {"source": found.policy, "hash": found.policy_hash},
        "notes": list(found.notes),
        "elapsed_ms": found.elapsed_ms,
        "version": found.version,
    }
    printed: Json = printable_json(value, redact)
    return printed
