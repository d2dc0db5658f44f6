"""Which of a commit's checks count, and how they ended. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from prjury.ports.types import CheckResult

SUCCEEDED = "success"
FAILED = frozenset({"failure", "timed_out", "startup_failure", "error"})
#: GitHub lets these through a required check; here they prove nothing.
UNHEARD = frozenset({"neutral", "skipped"})

#: ``app:name``. A space after the colon, or another sign before it, makes it part of the name.
_OF_APP = re.compile(r"(?P<app>[\w@*.\[\]-]+):(?P<name>\S.*)", re.ASCII | re.DOTALL)


@dataclass(frozen=True)
class Name:
    """The name of checks as the policy gives it: ``name`` or ``app:name``.

    ``*`` stands for any text; everything else stands for itself. A commit status is reported by
    ``@login``.
    """

    text: str

    @property
    def exact(self) -> bool:
        """Whether there is one check of that name and no more."""
        return "*" not in self.text

    def matches(self, run: CheckResult) -> bool:
        """Whether the check bears that name, and comes from that app where one is named."""
        qualified = _OF_APP.fullmatch(self.text)
        if qualified is None:
            return _alike(self.text, run.name)
        return _alike(qualified["app"], run.app) and _alike(qualified["name"], run.name)


def _alike(pattern: str, text: str) -> bool:
    """Whether the pattern stands for the text, found without trying anything twice."""
    first, *rest = pattern.split("*")
    if not rest:
        return pattern == text
    *between, last = rest
    if not (text.startswith(first) and text.endswith(last)):
        return False
    at, end = len(first), len(text) - len(last)
    for part in between:
        found = text.find(part, at, end)
        if found < 0:
            return False
        at = found + len(part)
    return at <= end


@dataclass(frozen=True)
class CheckNames:
    """The checks that the policy wants to see; none at all stand for every check that there is."""

    names: tuple[Name, ...] = ()

    @classmethod
    def of(cls, option: Sequence[str] | Literal["all"]) -> CheckNames:
        """The names in the option ``checks``."""
        return cls() if option == "all" else cls(tuple(map(Name, dict.fromkeys(option))))

    @property
    def everything(self) -> bool:
        """Whether every check counts."""
        return not self.names

    @property
    def exact(self) -> bool:
        """Whether it is known how many checks there will be."""
        return not self.everything and all(name.exact for name in self.names)

    def count(self, run: CheckResult) -> bool:
        """Whether the check is one of them."""
        return self.everything or any(name.matches(run) for name in self.names)


@dataclass(frozen=True)
class CheckSummary:
    """The checks of a commit that count, in the order in which they were told.

    Attributes:
        runs: those that one of the names stands for.
    """

    names: CheckNames
    runs: tuple[CheckResult, ...]

    @classmethod
    def of(cls, runs: Sequence[CheckResult], names: CheckNames) -> CheckSummary:
        """Those of the checks that count."""
        return cls(names, tuple(filter(names.count, runs)))

    @property
    def failed(self) -> tuple[CheckResult, ...]:
        """Those that say no."""
        return tuple(run for run in self.runs if run.conclusion in FAILED)

    @property
    def pending(self) -> tuple[CheckResult, ...]:
        """Those that have not ended."""
        return tuple(run for run in self.runs if run.conclusion is None)

    @property
    def succeeded(self) -> tuple[CheckResult, ...]:
        """Those that say yes."""
        return tuple(run for run in self.runs if run.conclusion == SUCCEEDED)

    @property
    def unheard(self) -> tuple[CheckResult, ...]:
        """Those that ended without an opinion."""
        return tuple(run for run in self.runs if run.conclusion in UNHEARD)

    @property
    def undecided(self) -> tuple[CheckResult, ...]:
        """Those that ended in another way, such as cancelled, or one that nobody knows."""
        known = {None, SUCCEEDED, *FAILED, *UNHEARD}
        return tuple(run for run in self.runs if run.conclusion not in known)

    @property
    def missing(self) -> tuple[str, ...]:
        """The names that no check bears."""
        return tuple(n.text for n in self.names.names if not any(map(n.matches, self.runs)))

    @property
    def unproved(self) -> tuple[str, ...]:
        """The names under which nothing succeeded; where every check counts, one is enough."""
        if self.names.everything:
            return () if self.succeeded else tuple(dict.fromkeys(run.name for run in self.runs))
        named = self.names.names
        return tuple(n.text for n in named if not any(map(n.matches, self.succeeded)))

    @property
    def complete(self) -> bool:
        """Whether everything that is wanted is there and has ended."""
        return bool(self.runs) and not self.pending and not self.missing
