"""Which checks of a commit count, and how those have ended. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from glob import escape
from typing import Literal

from msgspec import Struct

from prjury.ports.types import CheckResult

#: GitHub accepts neutral and skipped ones for a required check; here they prove nothing.
_ENDS: Mapping[str | None, str] = {
    None: "pending", "success": "succeeded", "neutral": "neutral", "skipped": "neutral",
    **dict.fromkeys(("failure", "timed_out", "startup_failure", "error"), "failed"),
}  # fmt: skip
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
    """The checks of a commit that count, by their ends; `names` are those that the policy wants.

    Nothing succeeded under `unproved` names; without names one success is enough. `left_out` build
    nothing; `undecided` ended otherwise, such as cancelled.
    """

    runs: tuple[CheckResult, ...] = ()
    names: tuple[str, ...] = ()
    left_out: tuple[CheckResult, ...] = ()
    failed: tuple[CheckResult, ...] = ()
    pending: tuple[CheckResult, ...] = ()
    succeeded: tuple[CheckResult, ...] = ()
    neutral: tuple[CheckResult, ...] = ()
    undecided: tuple[CheckResult, ...] = ()
    missing: tuple[str, ...] = ()
    unproved: tuple[str, ...] = ()

    @classmethod
    def of(cls, runs: Sequence[CheckResult], wanted: Wanted = "all") -> CheckSummary:
        """Summarise the checks that count."""
        names = () if isinstance(wanted, str) else tuple(dict.fromkeys(wanted))
        passed_over = _select(runs, NO_BUILDS) if wanted == "auto" else ()
        counting = _select(runs, names) if names else tuple(r for r in runs if r not in passed_over)
        ends: dict[str, list[CheckResult]] = {}
        for run in counting:
            ends.setdefault(_ENDS.get(run.conclusion, "undecided"), []).append(run)
        succeeded = tuple(ends.get("succeeded", ()))
        unproved = tuple(name for name in names if not _select(succeeded, [name]))
        if not (names or succeeded):
            unproved = tuple(dict.fromkeys(run.name for run in counting))
        missing = tuple(name for name in names if not _select(counting, [name]))
        by_end = {end: tuple(each) for end, each in ends.items()}
        return cls(counting, names, passed_over, missing=missing, unproved=unproved, **by_end)

    @property
    def exact(self) -> bool:
        """It is known how many checks there will be."""
        return bool(self.names) and not any("*" in name for name in self.names)

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
        """Everything that is wanted is there and has ended."""
        return bool(self.runs) and not self.pending and not self.missing


def _select(runs: Sequence[CheckResult], patterns: Sequence[str]) -> tuple[CheckResult, ...]:
    return tuple(run for run in runs if any(matches(pattern, run) for pattern in patterns))
