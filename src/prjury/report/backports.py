"""The backport judgement alone: its value, its JSON and its Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from prjury.report.codec import Json, backport_to_json, printable_json, pull_to_json
from prjury.report.model import Backport
from prjury.report.redact import Redact
from prjury.report.sanitise import BY_SHAPE
from prjury.report.wording import backport_words, verdict_words
from prjury.snapshot.model import PullRequest, printable, visible

SCHEMA_NAME = "prjury/backports/v1"

#: So many branches are named in the first line.
_FEW = 4
_SHORT, _LONGEST_REF = 12, 60
#: What may be done without asking anybody again.
_SUITABLE = "suitable"
_SYMBOLS = {
    "suitable": "✅",
    "suitable_with_changes": "⚠️",
    "needs_human": "⚪",
    "not_suitable": "❌",
    "already_present": "✅",
    "not_applicable": "⏭️",
    "error": "⚪",
}


@dataclass(frozen=True)
class Backports:
    """Whether a change can be brought to release branches.

    Attributes:
        policy: where the policy came from, as in the report.
        notes: what a reader has to know.
    """

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
        named = ref[:_SHORT] if ref.startswith(pull.head.sha) else ref[:_LONGEST_REF]
        name = named if pull.number is None else f"#{pull.number}"
        title = f" {visible(pull.title)}" if pull.title.strip() else ""
        return f"Backport of {name}{title}: {self._outcome()}"

    def _outcome(self) -> str:
        """The branches with their verdicts; of many, how many have which."""
        if len(self.backports) <= _FEW:
            told = (f"{printable(one.branch)} {verdict_words(one)}" for one in self.backports)
            return ", ".join(told)
        counts = Counter(verdict_words(one) for one in self.backports)
        return ", ".join(f"{words} {count}" for words, count in counts.items())

    @property
    def unjudged(self) -> Sequence[Backport]:
        """The branches for which there is no verdict."""
        return [one for one in self.backports if one.verdict == "error"]

    @property
    def unsuitable(self) -> Sequence[Backport]:
        """The branches to which it cannot be brought as it is."""
        return [one for one in self.backports if one.verdict != _SUITABLE]


def symbol_of(backport: Backport) -> str:
    """The verdict at a glance."""
    return _SYMBOLS[backport.verdict]


def backports_to_json(told: Backports, redact: Redact = BY_SHAPE) -> Json:
    """The judgement in the form ``prjury/backports/v1``; its parts are those of the report."""
    value = {
        "schema": SCHEMA_NAME,
        "headline": told.headline,
        "pull": pull_to_json(told.pull),
        "backports": [backport_to_json(one) for one in told.backports],
        "policy": {"source": told.policy, "hash": told.policy_hash},
        "notes": list(told.notes),
        "elapsed_ms": told.elapsed_ms,
        "version": told.version,
    }
    printed: Json = printable_json(value, redact)
    return printed


def line_of(backport: Backport) -> str:
    """``✅ 1.1.x: suitable, picks cleanly``."""
    return f"{symbol_of(backport)} {printable(backport.branch)}: {backport_words(backport)}"
