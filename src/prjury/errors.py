"""Every way a run can end badly, and the exit code of each.

    PrJuryError            70  a bug in PR Jury unless a subclass says otherwise
    ├── UsageError          2  the command line asks for something that makes no sense
    │   └── ConfigError     2  the configuration file is wrong: key path, value, allowed values
    ├── CannotJudgeError    3  the question was right, the answer could not be had
    ├── SourceError         4  no repository, no such ref, git or GitHub failing
    └── PublishError        5  the verdict exists, posting it failed

Each error reads as three parts: *what* happened, *why* that usually is, and what *to do*.
``reason`` is the machine-readable word that ends up in a judgment's ``metadata["reason"]``.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from enum import IntEnum
from typing import TypeVar

Kind = TypeVar("Kind", bound="PrJuryError")


class ExitCode(IntEnum):
    """The exit codes of the process; the numbers are part of the public contract."""

    OPEN = 0
    REJECTED = 1
    USAGE = 2
    NOT_JUDGED = 3
    SOURCE = 4
    NOT_PUBLISHED = 5
    BUG = 70
    INTERRUPTED = 130


class PrJuryError(Exception):
    """An expected failure in one line: what, why usually, what to do; a word as its ``reason``."""

    exit_code: ExitCode = ExitCode.BUG
    default_reason: str = "internal"

    def __init__(
        self, what: str, *, why: str = "", remedy: str = "", reason: str | None = None
    ) -> None:
        super().__init__(what)
        self.what = what
        self.why = why
        self.remedy = remedy
        self.reason = reason or self.default_reason

    def phrase_error(self, kind: type[Kind]) -> Kind:
        """The same failure as an error of another kind, with another exit code."""
        return kind(self.what, why=self.why, remedy=self.remedy, reason=self.reason)

    def __str__(self) -> str:
        sentences = [self.what.strip(), *map(_capitalize, (self.why, self.remedy))]
        parts = [part for part in sentences if part]
        return " ".join(part if part.endswith((".", "?", "!")) else part + "." for part in parts)


def _capitalize(text: str) -> str:
    """With a capital letter, for it follows a full stop."""
    text = text.strip()
    return text[:1].upper() + text[1:]


class UsageError(PrJuryError):
    """The command line asks for something that makes no sense."""

    exit_code = ExitCode.USAGE
    default_reason = "usage"


class ConfigError(UsageError):
    """The configuration is wrong; ``problems`` are like ``file:line:column: message``."""

    default_reason = "config_invalid"
    problems: tuple[str, ...] = ()

    def at(self, problems: Iterable[str]) -> ConfigError:
        """This error, with these problems."""
        self.problems = tuple(problems)
        return self


class CannotJudgeError(PrJuryError):
    """A judge, tool or tier could not give an answer; never to be mistaken for a failure."""

    exit_code = ExitCode.NOT_JUDGED
    default_reason = "could_not_judge"


class SourceError(PrJuryError):
    """The thing to be judged cannot be read: repository, ref, object, git or GitHub."""

    exit_code = ExitCode.SOURCE
    default_reason = "source_unavailable"


class PublishError(PrJuryError):
    """The verdict was reached but could not be posted; it is still written to files."""

    exit_code = ExitCode.NOT_PUBLISHED
    default_reason = "not_published"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """``Did you mean build?``, or an empty text where no known name is near."""
    close = get_close_matches(name, list(known), n=1)
    return f"Did you mean {close[0]}?" if close else ""
