"""How deep and how large a judge is that is made of judges, and where that ends."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

#: Judges within judges, counted in levels. Deeper ones are mistakes, such as a jury made in a loop.
MAX_DEPTH = 10

#: Questions that one vote may ask. Each costs a thread at worst, and usually a model's call.
MAX_QUESTIONS = 1000


@dataclass(frozen=True, slots=True)
class Extent:
    """Levels of judges within a judge, and the questions that asking it once may come to."""

    depth: int = 1
    questions: int = 1

    @classmethod
    def of(cls, judge: object) -> Extent:
        """The extent of a judge: its own where it knows it, else that of its `members`.

        A judge made of judges names them in ``members`` and, if it asks each of them several
        times, how often in ``runs``. What names none counts as one question.
        """
        known = getattr(judge, "extent", None)
        if isinstance(known, Extent):
            return known
        members = getattr(judge, "members", ())
        if not isinstance(members, tuple) or not members:
            return cls()
        return cls.around(members, runs=getattr(judge, "runs", 1))

    @classmethod
    def around(cls, members: Iterable[object], *, runs: int = 1) -> Extent:
        """The extent of something that asks each of these judges so many times."""
        inner = [cls.of(member) for member in members]
        deepest = max(extent.depth for extent in inner)
        return cls(deepest + 1, runs * sum(extent.questions for extent in inner))

    def within_limits(self, what: str) -> Extent:
        """The extent itself.

        Raises:
            ValueError: when it is deeper or larger than any jury needs to be.
        """
        if self.depth > MAX_DEPTH:
            raise ValueError(
                f"{what} is nested {self.depth} levels deep; the limit is {MAX_DEPTH}. "
                "Seat the inner judges directly"
            )
        if self.questions > MAX_QUESTIONS:
            raise ValueError(
                f"{what} would ask {self.questions} questions in one vote; the limit is "
                f"{MAX_QUESTIONS}. Split it into tiers, or lower the number of runs"
            )
        return self
