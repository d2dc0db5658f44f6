"""How deep and how large a judge is that is made of judges, and where that ends."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

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

        A judge made of judges names them in ``members``, a tuple or list, and, if it asks each of
        them several times, how often in ``runs``. What names none counts as one question.

        Raises:
            ValueError: for a judge that is a member of itself.
        """
        return _Survey().of(judge)

    @classmethod
    def around(cls, members: Iterable[object], *, runs: int = 1) -> Extent:
        """The extent of something that asks each of these judges so many times."""
        return _Survey().around(members, runs)

    def beside(self, other: Extent) -> Extent:
        """The extent of something that asks the questions of both."""
        return Extent(max(self.depth, other.depth), self.questions + other.questions)

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


@dataclass
class _Survey:
    """One walk through judges within judges; what is seated in many places is counted once.

    `known` holds the judges themselves too, so that no other can take the identity of one.
    """

    path: list[object] = field(default_factory=list)
    known: dict[int, tuple[object, Extent]] = field(default_factory=dict)

    def of(self, judge: object) -> Extent:
        if any(judge is outer for outer in self.path):
            raise ValueError(f"a {type(judge).__name__} is, at some depth, a member of itself")
        if id(judge) not in self.known:
            self.known[id(judge)] = judge, self._measure_extent(judge)
        return self.known[id(judge)][1]

    def around(self, members: Iterable[object], runs: int) -> Extent:
        inner = [self.of(member) for member in members]
        deepest = max((extent.depth for extent in inner), default=0)
        return Extent(deepest + 1, runs * sum(extent.questions for extent in inner))

    def _measure_extent(self, judge: object) -> Extent:
        own = getattr(judge, "extent", None)
        if isinstance(own, Extent):
            return own
        members = _members(judge)
        # Members that are made anew whenever they are asked for have no end.
        if not members or len(self.path) > MAX_DEPTH:
            return Extent()
        self.path.append(judge)
        extent = self.around(members, _runs(judge))
        self.path.pop()
        return extent


def _members(judge: object) -> list[object]:
    """The members that can be asked; other things may go by that name, such as a team's people."""
    named: object = getattr(judge, "members", ())
    members: list[object] = [*named] if isinstance(named, tuple | list) else []
    return [m for m in members if callable(m) or callable(getattr(m, "judge", None))]


def _runs(judge: object) -> int:
    named: object = getattr(judge, "runs", 1)
    return max(named, 1) if isinstance(named, int) else 1
