"""Which checks of a commit count, and how those have ended. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from glob import escape
from typing import Literal

from prjury.ports.types import CheckResult

SUCCEEDED = "success"
FAILED = frozenset({"failure", "timed_out", "startup_failure", "error"})
#: GitHub accepts these for a required check; here they prove nothing.
NEUTRAL = frozenset({"neutral", "skipped"})

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
        """Whether the check has that name, and comes from that app where one is named."""
        qualified = _OF_APP.fullmatch(self.text)
        if qualified is None:
            return _alike(self.text, run.name)
        return _alike(qualified["app"], run.app) and _alike(qualified["name"], run.name)


def _alike(pattern: str, text: str) -> bool:
    """Whether the pattern stands for the text; a star alone is no sign for itself."""
    return fnmatchcase(text, escape(pattern).replace("[*]", "*"))


#: What reports checks and neither builds nor tests, by app or by name: coverage and quality gates,
#: licence agreements, previews, and bots that look after dependencies or queues.
NO_BUILDS = tuple(
    map(
        Name,
        (
            *("codecov:*", "*:codecov/*", "*:codecov*"),
            *("coveralls:*", "*:coverage/*", "*:Coveralls*"),
            *("codacy-production:*", "*:codacy/*", "*:Codacy *", "*:codeclimate*", "qltysh:*"),
            *("sonarqubecloud:*", "sonarcloud:*", "*:SonarCloud*", "*:SonarQube*"),
            *("deepsource-io:*", "*:DeepSource*", "*:CodeFactor*"),
            *("*:codebeat*", "*:LGTM analysis*"),
            *("*:license/cla", "*:cla/*", "*:EasyCLA*", "google-cla:*", "dco:*", "*:DCO"),
            *("netlify:*", "*:netlify/*", "*:deploy/netlify*", "vercel:*", "*:Vercel*"),
            *("*:renovate/*", "renovate:*", "mergify:*", "*:Mergify*"),
            *("*:security/snyk*", "*:Socket Security*", "*:GitGuardian*", "*:CodeRabbit*"),
        ),
    )
)


@dataclass(frozen=True)
class CheckNames:
    """The checks that the policy wants to see; none at all stand for every check that there is.

    Attributes:
        left_out: those that do not count even then.
    """

    names: tuple[Name, ...] = ()
    left_out: tuple[Name, ...] = ()

    @classmethod
    def of(cls, option: Sequence[str] | Literal["auto", "all"]) -> CheckNames:
        """The names in the option ``checks``."""
        if option == "auto":
            return cls(left_out=NO_BUILDS)
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
        if self.everything:
            return not self.leaves_out(run)
        return any(name.matches(run) for name in self.names)

    def leaves_out(self, run: CheckResult) -> bool:
        """Whether it does not count although none is named: it builds nothing."""
        return any(name.matches(run) for name in self.left_out)


@dataclass(frozen=True)
class CheckSummary:
    """The checks of a commit that count, in the order in which they were reported.

    Attributes:
        runs: those that one of the names stands for.
        left_out: those that build nothing.
    """

    names: CheckNames
    runs: tuple[CheckResult, ...]
    left_out: tuple[CheckResult, ...] = ()

    @classmethod
    def of(cls, runs: Sequence[CheckResult], names: CheckNames) -> CheckSummary:
        """Those of the checks that count."""
        left_out = tuple(filter(names.leaves_out, runs))
        return cls(names, tuple(filter(names.count, runs)), left_out)

    def _ended(self, how: Collection[str | None]) -> tuple[CheckResult, ...]:
        return tuple(run for run in self.runs if run.conclusion in how)

    @property
    def failed(self) -> tuple[CheckResult, ...]:
        """Those that failed."""
        return self._ended(FAILED)

    @property
    def pending(self) -> tuple[CheckResult, ...]:
        """Those that have not ended."""
        return self._ended([None])

    @property
    def succeeded(self) -> tuple[CheckResult, ...]:
        """Those that succeeded."""
        return self._ended([SUCCEEDED])

    @property
    def neutral(self) -> tuple[CheckResult, ...]:
        """Those that are neutral or were skipped."""
        return self._ended(NEUTRAL)

    @property
    def undecided(self) -> tuple[CheckResult, ...]:
        """Those that ended in another way, such as cancelled, or an unknown one."""
        known = self._ended({None, SUCCEEDED, *FAILED, *NEUTRAL})
        return tuple(run for run in self.runs if run not in known)

    @property
    def missing(self) -> tuple[str, ...]:
        """The names that no check has."""
        return tuple(n.text for n in self.names.names if not any(map(n.matches, self.runs)))

    @property
    def unproved(self) -> tuple[str, ...]:
        """The names under which nothing succeeded; where every check counts, one is enough."""
        if self.names.everything:
            return () if self.succeeded else tuple(dict.fromkeys(run.name for run in self.runs))
        named = self.names.names
        return tuple(n.text for n in named if not any(map(n.matches, self.succeeded)))

    @property
    def ended(self) -> float:
        """When the last one ended, in seconds since 1970; 0 where that is not known."""
        return max((run.ended for run in self.runs), default=0.0)

    @property
    def tested_base(self) -> str | None:
        """The base commit that all of them were merged with; empty if one ran on the head alone.

        None where that is not known of one, or differs.
        """
        bases = {run.base for run in self.succeeded}
        if "" in bases:
            return ""
        return next(iter(bases)) if len(bases) == 1 else None

    @property
    def complete(self) -> bool:
        """Whether everything that is wanted is there and has ended."""
        return bool(self.runs) and not self.pending and not self.missing
