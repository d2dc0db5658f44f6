"""What becomes of a reviewer's words: golden comments, and six kinds of inventions.

    python -P tests/benchmarks/reviews.py

The reviewer is scripted: it knows the golden comments of `reviews.yml`, or invents. The model that
confirms knows which are which, and errs in one answer of five, either way. Both are asked by the
quality judge as it is.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from fakes.llm import answer, changed, context, judge, quote, reply
from prjury.deadline import Deadline
from prjury.jury.judgment import Check
from prjury.ports.messages import ModelError, Prompt, Reply
from prjury.snapshot.model import FileChange, FileKind

_DATA = Path(__file__).with_name("reviews.yml")
Finding = dict[str, Any]


@dataclass(frozen=True)
class Change:
    """A change and its golden comments, as findings."""

    file: FileChange
    golden: tuple[Finding, ...]

    @property
    def criterion(self) -> str:
        """The criterion under which a reviewer tells of them."""
        return "tests" if self.file.kind is FileKind.TEST else "correctness"

    def quote(self, number: int, claim: str, **more: Any) -> Finding:
        """A finding about the place of a golden comment with other words."""
        return {**self.golden[number % len(self.golden)], "claim": claim, **more}


def load_changes() -> list[Change]:
    """Return the changes of `reviews.yml`."""
    changes = []
    for entry in yaml.safe_load(_DATA.read_text("utf-8")):
        file = changed(entry["path"], *entry["rows"].splitlines())
        golden = tuple(_place(file, text, claim) for text, claim in entry["golden"].items())
        changes.append(Change(file, golden))
    return changes


def _place(file: FileChange, text: str, claim: str) -> Finding:
    for hunk in file.hunks:
        for line in hunk.lines:
            old = line.sign == "-" and f"-{line.text}" == text
            if old or (line.sign != "-" and line.text == text):
                number = (line.old if old else line.new) or 0
                side = "old" if old else "new"
                return quote(file.path, number, line.text, claim=claim, side=side)
    raise ValueError(f"{file.path} has no line {text!r}")


#: Inventions by kind, each beside nothing but one; the number is that of the golden comment whose
#: place is taken.
INVENTIONS: Mapping[str, Callable[[Change, int], Sequence[Finding]]] = {
    "quote nowhere": lambda change, n: [
        change.quote(n, "It deletes the disk.", quote="os.remove('/')  # all of it")
    ],
    "wrong line": lambda change, n: [
        change.quote(n, str(change.golden[(n + 1) % len(change.golden)]["claim"]) + " (here)")
    ],
    "false claim": lambda change, n: [change.quote(n, "This never ends for an empty input.")],
    "beside a true one": lambda change, n: [
        change.quote(n, str(change.golden[n]["claim"])),
        change.quote(n + 1, "This loses the caller's lock."),
    ],
    "speculation": lambda change, n: [
        change.quote(n, "This could be a problem if somebody misused it one day.")
    ],
    "style": lambda change, n: [
        change.quote(n, "The name could be more descriptive.", severity="warning")
    ],
}


@dataclass
class Reviewer:
    """Reports what it is told to, and confirms what is golden, mostly (`ports.ChatModel`).

    Attributes:
        errs: the share of wrong answers when it confirms; None where it cannot be asked.
    """

    findings: Sequence[Finding]
    criterion: str
    truths: frozenset[str]
    random: Random
    errs: float | None = 0.0
    name: str = "scripted:reviewer"
    identity: str = "reviewer"
    room: int = 30_000
    characters: int = 0
    calls: int = 0

    def price(self, input_tokens: int, output_tokens: int) -> float | None:
        return 0.0

    def ask(self, prompt: Prompt, deadline: Deadline) -> Reply:
        self.characters += prompt.size
        self.calls += 1
        if not prompt.name.startswith("confirm/"):
            verdict = answer("fail" if self.findings else "pass", self.findings)
            return Reply(reply(**{self.criterion: verdict}), self.name)
        if self.errs is None:
            raise ModelError("nobody answers", "timeout")
        claim = json.loads(prompt.user)[prompt.nonces[0]]["documents"][0]["hunks"][0]["lines"][-1]
        holds = (claim.partition("|")[2] in self.truths) != (self.random.random() < self.errs)
        return Reply(reply(["holds"], holds=answer("pass" if holds else "fail")), self.name)


@dataclass
class Outcome:
    """What arrived.

    Attributes:
        reported: findings that were looked for.
        arrived: those that arrived in their own words, at their own line.
        failed: those of them that fail a criterion.
    """

    reported: int = 0
    arrived: int = 0
    failed: int = 0
    calls: int = 0
    characters: int = 0

    @property
    def share_arrived(self) -> float:
        return self.arrived / self.reported

    @property
    def share_failed(self) -> float:
        return self.failed / self.reported


def review(
    changes: Sequence[tuple[Change, Sequence[Finding], Sequence[Finding]]],
    errs: float | None,
    seed: int = 1,
) -> Outcome:
    """Return what becomes of findings.

    Args:
        changes: each with the findings that are reported, and those that are looked for.
    """
    outcome, random = Outcome(), Random(seed)  # noqa: S311 - a simulation
    for change, reported, wanted in changes:
        truths = frozenset(str(finding["claim"]) for finding in change.golden)
        model = Reviewer(reported, change.criterion, truths, random, errs)
        judgment = judge(model, confirm=True, must=["correctness"]).judge(context(change.file))
        outcome.calls += model.calls
        outcome.characters += model.characters
        for finding in wanted:
            outcome.reported += 1
            checks = [c for c in judgment.failed_checks if _is_about(c, finding)]
            outcome.arrived += bool(checks)
            outcome.failed += any(c.severity == "error" for c in checks)
    return outcome


def _is_about(check: Check, finding: Finding) -> bool:
    """Tell whether a check says nothing but the finding's words, at its line."""
    said = check.message
    for remark in (" (a second question", " (the line itself does not change"):
        said = said.partition(remark)[0]
    place = check.location
    line = None if finding["side"] == "old" else finding["line"]
    return said == finding["claim"] and place is not None and place.line == line


def review_golden(errs: float | None, seed: int = 1) -> Outcome:
    """Return what becomes of the golden comments."""
    return review([(c, c.golden, c.golden) for c in load_changes()], errs, seed)


def review_inventions(kind: str, errs: float | None, seed: int = 1) -> Outcome:
    """Return what becomes of one kind of inventions."""
    invent = INVENTIONS[kind]
    return review(list(_invented(invent)), errs, seed + 100 * list(INVENTIONS).index(kind))


def _invented(
    invent: Callable[[Change, int], Sequence[Finding]],
) -> Iterator[tuple[Change, Sequence[Finding], Sequence[Finding]]]:
    for change in load_changes():
        for number in range(len(change.golden)):
            findings = invent(change, number)
            yield change, findings, findings[-1:]


def main() -> None:
    """Print the figures."""
    for title, errs in (("errs never", 0.0), ("errs 1 in 5", 0.2), ("cannot be asked", None)):
        golden = [review_golden(errs, seed) for seed in range(10)]
        arrived = sum(o.arrived for o in golden) / sum(o.reported for o in golden)
        failed = sum(o.failed for o in golden) / sum(o.reported for o in golden)
        changes = len(load_changes()) * len(golden)
        calls = sum(o.calls for o in golden) / changes
        characters = sum(o.characters for o in golden) / changes
        print(f"a second question that {title}")
        print(f"  golden: {arrived:.3f} in their own words, {failed:.3f} as failures; ", end="")
        print(f"{calls:.1f} calls, {characters:,.0f} characters a change")
        through = reported = 0
        for kind in INVENTIONS:
            outcomes = [review_inventions(kind, errs, seed) for seed in range(10)]
            failed_here = sum(o.failed for o in outcomes)
            reported_here = sum(o.reported for o in outcomes)
            through, reported = through + failed_here, reported + reported_here
            print(f"  {kind}: {failed_here / reported_here:.3f} as failures")
        print(f"  all inventions: {through / reported:.4f} as failures")


if __name__ == "__main__":
    main()
