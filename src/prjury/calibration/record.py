"""The proof that failures of models are right, as a file of the repository. Pure."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from collections.abc import Sequence
from functools import cache
from math import exp, lgamma, log
from typing import Annotated, Any, TypeAlias

import msgspec
from msgspec import Meta, Struct, structs

from prjury.errors import ConfigError
from prjury.policy.yaml_reader import read_yaml
from prjury.report.judge_facts import ModelSetup

#: Of the failures that block, at least this share is right, at this confidence.
PROMISE, CONFIDENCE = 0.9, 0.9
#: Days that a record counts.
VALID_DAYS = 180

Count: TypeAlias = Annotated[int, Meta(ge=0)]


def join_model_setups(parts: Sequence[ModelSetup]) -> ModelSetup | None:
    """Return one setup for several judges; None for none."""
    if not parts:
        return None
    models = tuple(sorted({name for part in parts for name in part.models}))
    return ModelSetup(models, {judge: it for part in parts for judge, it in part.prompts.items()})


def keeps_promise(right: int, wrong: int) -> bool:
    """Compare the exact one-sided binomial bound of the answers with the promise."""
    total = right + wrong
    likelihood = 0.0
    for errors in range(wrong + 1):
        ways = lgamma(total + 1) - lgamma(errors + 1) - lgamma(total - errors + 1)
        likelihood += exp(ways + errors * log(1 - PROMISE) + (total - errors) * log(PROMISE))
    return total > 0 and likelihood <= 1 - CONFIDENCE


@cache
def fewest_answers(wrong: int) -> int:
    """Return how many answers the promise needs where so many of them are wrong."""
    total = 10 * wrong + 1  # a tenth of them wrong is too many
    while not keeps_promise(total - wrong, wrong):
        total += 1
    return total


class Counts(Struct, frozen=True):
    """What became of the errors that were reported; ``merged`` ones were still there then."""

    mended: Count = 0
    dismissed: Count = 0
    merged: Count = 0
    open: Count = 0

    @property
    def wrong(self) -> int:
        return self.dismissed + self.merged

    @property
    def missing(self) -> int:
        """Return how many more answers, all right, the promise needs; 0 where it is kept."""
        return max(0, fewest_answers(self.wrong) - self.mended - self.wrong)

    def __str__(self) -> str:
        total = self.mended + self.wrong + self.open
        verdict = f"{self.missing} more before it may block" if self.missing else "it may block"
        return (
            f"{total} told: {self.mended} mended, {self.dismissed} dismissed, "
            f"{self.merged} merged as it was, {self.open} open: {verdict}"
        )


class Record(Struct, frozen=True):
    """The proof, with a digest of all the rest."""

    models: tuple[str, ...]
    prompts: dict[str, str]
    mended: Count
    dismissed: Count
    merged: Count
    date: dt.date
    expires: dt.date
    digest: str = ""

    @classmethod
    def of(cls, setup: ModelSetup, counts: Counts, today: dt.date) -> Record:
        answers = (counts.mended, counts.dismissed, counts.merged)
        expires = today + dt.timedelta(VALID_DAYS)
        record = cls(setup.models, setup.prompts, *answers, today, expires)
        return structs.replace(record, digest=record.compute_digest())

    def compute_digest(self) -> str:
        values: dict[str, Any] = msgspec.to_builtins(self)
        del values["digest"]
        text = json.dumps(values, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    def find_flaw(self, today: dt.date) -> str | None:
        """Return why the record proves nothing today, whoever is asked; None if it does."""
        if self.digest != self.compute_digest():
            return "it was edited by hand"
        if not self.date <= today + dt.timedelta(1) or self.expires <= today:
            return f"it expired on {self.expires}"
        counts = Counts(self.mended, self.dismissed, self.merged)
        if counts.missing:
            answers = f"{counts.mended} right and {counts.wrong} wrong answers"
            return f"{answers} no longer keep the promise; {counts.missing} more do"
        return None

    def find_misfit(self, setup: ModelSetup) -> str | None:
        """Return why the record is about other models or questions; None if about these."""
        if set(self.models) != set(setup.models):
            return f"it is about {', '.join(self.models)}, not {', '.join(setup.models)}"
        others = [judge for judge, it in setup.prompts.items() if self.prompts.get(judge) != it]
        if others:
            return f"the questions of {', '.join(others)} are others now"
        return None

    def __str__(self) -> str:
        lines = [f"{key}: {json.dumps(value)}" for key, value in msgspec.to_builtins(self).items()]
        words = "# Written by `prjury calibrate`, read from the base; edited, it proves nothing."
        return "\n".join([words, *lines, ""])


def read_record(text: str, path: str) -> Record | str:
    """Read a record; where the file is none, return what is wrong with it."""
    try:
        return msgspec.convert(read_yaml(text, path).value, Record)
    except (ConfigError, msgspec.ValidationError) as error:
        return f"it cannot be read: {error}"
