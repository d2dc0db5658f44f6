"""Which checks of a commit count, and how those have ended. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fnmatch import fnmatchcase
from glob import escape
from typing import Literal

from msgspec import Struct

from prjury.ports.types import CheckResult

FAILED = frozenset({"failure", "timed_out", "startup_failure", "error"})
#: GitHub accepts these for a required check; here they prove nothing.
NEUTRAL = frozenset({"neutral", "skipped"})
#: What reports checks and neither builds nor tests: coverage and quality gates, licence agreements,
#: previews, and bots that look after dependencies or queues.
NO_BUILDS = (
    "codecov:*", "*:codecov/*", "*:codecov*", "coveralls:*", "*:coverage/*", "*:Coveralls*",
    "codacy-production:*", "*:codacy/*", "*:Codacy *", "*:codeclimate*", "qltysh:*",
    "sonarqubecloud:*", "sonarcloud:*", "*:SonarCloud*", "*:SonarQube*", "deepsource-io:*",
    "*:DeepSource*", "*:CodeFactor*", "*:codebeat*", "*:LGTM analysis*", "*:license/cla", "*:cla/*",
    "*:EasyCLA*", "google-cla:*", "dco:*", "*:DCO", "netlify:*", "*:netlify/*",
    "*:deploy/netlify*", "vercel:*", "*:Vercel*", "*:renovate/*", "renovate:*", "mergify:*",
    "*:Mergify*", "*:security/snyk*", "*:Socket Security*", "*:GitGuardian*", "*:CodeRabbit*",
)  # fmt: skip

#: The policy's option: names, each ``name`` or ``app:name``, or a word for every check.
Wanted = Sequence[str] | Literal["auto", "all"]


def matches(pattern: str, run: CheckResult) -> bool:
    """True if a check has this name, or ``app:name``; ``*`` stands for any text."""
    app, colon, name = pattern.partition(":")
    plain = all(sign.isascii() and (sign.isalnum() or sign in "_@*.[]-") for sign in app)
    if colon and app and plain and name[:1].strip():
        return _is_like(app, run.app) and _is_like(name, run.name)
    return _is_like(pattern, run.name)


def _is_like(pattern: str, text: str) -> bool:
    return fnmatchcase(text, escape(pattern).replace("[*]", "*"))


class CheckSummary(Struct, frozen=True):
    """The checks of a commit that count, in the order in which they were reported.

    Attributes:
        runs: those that one of the names stands for, or all where none is named.
        names: those that the policy wants to see.
        left_out: those that build nothing.
    """

    runs: tuple[CheckResult, ...] = ()
    names: tuple[str, ...] = ()
    left_out: tuple[CheckResult, ...] = ()

    @classmethod
    def of(cls, runs: Sequence[CheckResult], wanted: Wanted = "all") -> CheckSummary:
        """Summarise the checks that count."""
        if not isinstance(wanted, str):
            counting = tuple(run for run in runs if any(matches(name, run) for name in wanted))
            return cls(counting, tuple(dict.fromkeys(wanted)))
        patterns = NO_BUILDS if wanted == "auto" else ()
        left_out = tuple(run for run in runs if any(matches(name, run) for name in patterns))
        return cls(tuple(run for run in runs if run not in left_out), (), left_out)

    @property
    def exact(self) -> bool:
        """True if it is known how many checks there will be."""
        return bool(self.names) and not any("*" in name for name in self.names)

    def _select(self, conclusions: Collection[str | None]) -> tuple[CheckResult, ...]:
        return tuple(run for run in self.runs if run.conclusion in conclusions)

    @property
    def failed(self) -> tuple[CheckResult, ...]:
        """Those that failed."""
        return self._select(FAILED)

    @property
    def pending(self) -> tuple[CheckResult, ...]:
        """Those that have not ended."""
        return self._select([None])

    @property
    def succeeded(self) -> tuple[CheckResult, ...]:
        """Those that succeeded."""
        return self._select(["success"])

    @property
    def neutral(self) -> tuple[CheckResult, ...]:
        """Those that are neutral or were skipped."""
        return self._select(NEUTRAL)

    @property
    def undecided(self) -> tuple[CheckResult, ...]:
        """Those that ended in another way, such as cancelled, or an unknown one."""
        others = {None, "success", *FAILED, *NEUTRAL}
        return tuple(run for run in self.runs if run.conclusion not in others)

    @property
    def missing(self) -> tuple[str, ...]:
        """The names that no check has."""
        return self._find_names_without(self.runs)

    @property
    def unproved(self) -> tuple[str, ...]:
        """The names under which nothing succeeded; where every check counts, one is enough."""
        if self.names:
            return self._find_names_without(self.succeeded)
        return () if self.succeeded else tuple(dict.fromkeys(run.name for run in self.runs))

    def _find_names_without(self, runs: Sequence[CheckResult]) -> tuple[str, ...]:
        return tuple(name for name in self.names if not any(matches(name, run) for run in runs))

    @property
    def ended(self) -> float:
        """The end of the last one, in seconds since 1970; 0 where that is not known."""
        return max((run.ended for run in self.runs), default=0.0)

    @property
    def tested_base(self) -> str | None:
        """The base that all were merged with; empty if one ran on the head alone, None if open."""
        bases = {run.base for run in self.succeeded}
        if "" in bases:
            return ""
        return next(iter(bases)) if len(bases) == 1 else None

    @property
    def complete(self) -> bool:
        """True if everything that is wanted is there and has ended."""
        return bool(self.runs) and not self.pending and not self.missing
