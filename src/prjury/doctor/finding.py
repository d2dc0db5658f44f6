"""A finding: one sentence, and how much it matters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Generic, TypeVar

from msgspec import Struct

from prjury.errors import PrJuryError

Subject = TypeVar("Subject")


class Level(StrEnum):
    """How much a finding matters; only problems make `prjury doctor` fail."""

    PROBLEM = "problem"
    WARNING = "warning"
    UNKNOWN = "not checked"
    FINE = "fine"


class Diagnosis(Struct, frozen=True):
    """One thing that was looked at."""

    level: Level
    about: str
    #: A sentence without its full stop: what is so, and after a semicolon the fix.
    text: str

    @property
    def sentence(self) -> str:
        """The whole sentence."""
        return f"{self.about}: {self.text}" if self.about else self.text


@dataclass(frozen=True, slots=True)
class DoctorCheck(Generic[Subject]):
    """A question to a subject."""

    fine: str
    ask: Callable[[Subject], Iterable[Diagnosis]]
    applies: Callable[[Subject], bool] = lambda _: True


def examine(subject: Subject, checks: Sequence[DoctorCheck[Subject]]) -> Iterator[Diagnosis]:
    """The findings of all checks; one that finds nothing says what is fine."""
    for check in (check for check in checks if check.applies(subject)):
        findings = list(check.ask(subject))
        yield from findings or [Diagnosis(Level.FINE, "", check.fine)]


#: Something that makes the gate wrong, open or stuck.
problem = partial(Diagnosis, Level.PROBLEM)
#: Something that is worth a look.
warning = partial(Diagnosis, Level.WARNING)
#: Something that could not be looked at.
unknown = partial(Diagnosis, Level.UNKNOWN)
#: Something that is as it should be.
fine = partial(Diagnosis, Level.FINE)


def join_sentence(error: PrJuryError) -> str:
    """An error's three parts as one sentence without its full stop."""
    first, *more = [part.strip().rstrip(".") for part in (error.what, error.why, error.remedy)]
    return "; ".join([first, *(_within(part) for part in more if part)])


def _within(part: str) -> str:
    word = part.partition(" ")[0]
    return part[:1].lower() + part[1:] if word[1:].islower() or len(word) == 1 else part
