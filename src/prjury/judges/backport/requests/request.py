"""What somebody says about backports of a change, before anybody knows which branch is meant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from prjury.snapshot.model import visible

#: ``told`` is of what became of a backport, which is neither a wish nor a refusal.
Answer: TypeAlias = Literal["yes", "no", "told"]

#: A target that stands for all branches.
EVERYWHERE = "*"

#: The source of what labels say.
THE_LABEL = "the label"

#: Characters of a quote.
_LONGEST = 120


@dataclass(frozen=True, slots=True)
class BackportRequest:
    """One thing that somebody says.

    Attributes:
        target: the branch, as it was written; `EVERYWHERE` for all, None where none is named.
        source: where it stands, such as ``the label`` or ``@alice``.
        text: the words themselves.
    """

    answer: Answer
    target: str | None
    source: str
    text: str

    def __str__(self) -> str:
        text = visible(" ".join(self.text.split()))
        quote = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
        return f"{self.source}: {quote}"
