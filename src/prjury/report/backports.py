"""The backport verdicts alone: the value and its first line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from prjury.report.model import Backport
from prjury.report.wording import verdict_words
from prjury.snapshot.model import PullRequest, printable, visible

#: So many branches are named in the headline.
_FEW = 4
_SHORT, _LONGEST_REF = 12, 60
_SUITABLE = "suitable"


class Backports(Struct, frozen=True):
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
        return [one for one in self.backports if one.verdict == "error"]

    @property
    def unsuitable(self) -> Sequence[Backport]:
        """The branches that are not `suitable` as the change is."""
        return [one for one in self.backports if one.verdict != _SUITABLE]
