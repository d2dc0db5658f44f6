"""Compare what a model claims with what it was shown, and merge its answers on all chunks. Pure."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Annotated, Literal, TypeAlias

from msgspec import Meta, Struct
from msgspec.structs import replace

from prjury.judges.quality.prompt_input import Section
from prjury.judges.quality.question import Answer, ReportedFinding

#: Characters by which a part of a line is recognised anywhere in a file.
_LEAST_PART = 12
#: Characters by which a part of the very line that is named is recognised.
_LEAST_PART_THERE = 3
#: What stands before each line of a side, in the prompt and in a diff.
_PREFIXES = {
    "new": (re.compile(r"^[+ ]?\d+\|"), re.compile(r"^[+ ]")),
    "old": (re.compile(r"^[- ]?\d+\|"), re.compile(r"^[- ]")),
}


class Lines:
    """The lines that the model was shown, by path, side and number."""

    def __init__(self, sections: Iterable[Section]) -> None:
        self._texts: dict[tuple[str, str], dict[int, str]] = defaultdict(dict)
        self._files: dict[str, str] = {}
        self._paths: set[str] = set()
        self._changed: set[tuple[str, str, int]] = set()
        self._near: set[tuple[str, str, int]] = set()
        for section in sections:
            path = section.heading["path"]
            self._paths.add(path)
            if section.is_file:
                self._files[path] = section.path
            for passage in section.passages:
                # Every line of a document is the work; of a file only what changes.
                changed = [row for row in passage.rows if row.sign != " " or not section.is_file]
                self._changed.update((path, row.side, row.line) for row in changed)
                for row in passage.rows:
                    for side in ("new", "old"):
                        number = row.number(side)
                        if number is None:
                            continue
                        self._texts[path, side][number] = row.text
                        if changed:
                            self._near.add((path, side, number))

    def path_of(self, finding: ReportedFinding) -> str | None:
        """Return the file's path as the report prints it; None for a document that is no file."""
        return self._files.get(finding.path)

    def hold(self, finding: ReportedFinding) -> bool:
        """Compare the quote with exactly these lines, white space at its ends aside."""
        lines = self._texts.get((finding.path, finding.side), {})
        # The count is compared first: a range of ten million lines is not walked.
        if not finding.quote.strip() or not 0 <= finding.end_line - finding.line < len(lines):
            return False
        texts = [lines.get(number) for number in range(finding.line, finding.end_line + 1)]
        if None in texts:
            return False
        quote = finding.quote.replace("\r\n", "\n").strip()
        return quote == "\n".join(text for text in texts if text is not None).strip()

    def changes(self, finding: ReportedFinding) -> bool:
        """True if one of its lines is added or removed, or part of a document."""
        return any(place in self._changed for place in _list_places(finding))

    def is_near(self, finding: ReportedFinding) -> bool:
        """True if one of its lines stands in a passage in which something changes."""
        return any(place in self._near for place in _list_places(finding))

    def find(self, finding: ReportedFinding) -> ReportedFinding | None:
        """Return the finding at the one place where its quote stands; None if there is none.

        A quote that does not hold is moved to where its lines, or a part of a line, stand among
        what changes. White space does not count, nor do signs and numbers of a diff.
        """
        finding = replace(finding, path=self._strip_side(finding))
        if self.hold(finding):
            return finding
        texts = self._texts.get((finding.path, finding.side), {})
        plain = {number: _normalise(text) for number, text in texts.items()}
        for lines in _readings(finding):
            places = _find_places(plain, lines, finding.line)
            if len(places) == 1:
                first, last = places[0].start, places[0].stop - 1
                text = "\n".join(texts[number] for number in places[0])
                moved = replace(finding, line=first, end_line=last, quote=text)
                return moved if self.changes(moved) else None
            if places:
                return None
        return None

    def _strip_side(self, finding: ReportedFinding) -> str:
        """Return the path without the `a/` or `b/` of a diff, where only that makes it known."""
        bare = finding.path[2:] if finding.path.startswith(("a/", "b/")) else finding.path
        return bare if finding.path not in self._paths and bare in self._paths else finding.path


def _list_places(finding: ReportedFinding) -> Iterator[tuple[str, str, int]]:
    for number in range(finding.line, finding.end_line + 1):
        yield finding.path, finding.side, number


def _readings(finding: ReportedFinding) -> Iterator[Sequence[str]]:
    """Iterate over the quoted lines as they are, and without the signs that stand before each."""
    lines = finding.quote.replace("\r\n", "\n").split("\n")
    yield _normalise_lines(lines)
    for prefix in _PREFIXES[finding.side]:
        if all(prefix.match(line) for line in lines if line.strip()):
            yield _normalise_lines(prefix.sub("", line, count=1) for line in lines)


def _find_places(texts: Mapping[int, str], quote: Sequence[str], line: int) -> Sequence[range]:
    """Return the lines that the quote means: the named place, or else every possible one."""
    if not any(quote):
        return ()
    starts = [number for number, text in texts.items() if text == quote[0]]
    whole = [
        range(start, start + len(quote))
        for start in starts
        if all(texts.get(start + at) == text for at, text in enumerate(quote))
    ]
    if whole:
        return [place for place in whole if place.start == line] or whole
    if len(quote) > 1:
        return ()
    if _overlap(texts.get(line, ""), quote[0], _LEAST_PART_THERE):
        return [range(line, line + 1)]
    return [
        range(number, number + 1)
        for number, text in texts.items()
        if _overlap(text, quote[0], _LEAST_PART)
    ]


def _overlap(text: str, quote: str, least: int) -> bool:
    """True if the quote is a part of the line, or the line with words behind it."""
    shorter = min(text, quote, key=len)
    return len(shorter) >= least and (quote in text or quote.startswith(text))


def _normalise_lines(lines: Iterable[str]) -> Sequence[str]:
    """Return the lines with their white space evened out, without blank ones at either end."""
    return "\n".join(map(_normalise, lines)).strip("\n").split("\n")


def _normalise(text: str) -> str:
    return " ".join(text.split())


Count: TypeAlias = Annotated[int, Meta(ge=0)]
#: ``unclear`` where the second question has no answer, or cannot be answered.
SecondAnswer: TypeAlias = Literal["confirmed", "refuted", "unclear"]


class Claim(Struct, frozen=True, forbid_unknown_fields=True):
    """A finding whose quote stands in the change, and what a second question came to, if asked."""

    finding: ReportedFinding
    second: SecondAnswer | None = None

    @property
    def is_error(self) -> bool:
        """True if it counts against the change."""
        return self.finding.severity == "error" and self.second in {None, "confirmed"}


class VerifiedAnswer(Struct, frozen=True, forbid_unknown_fields=True):
    """The answer to one question, with those of its findings that stand in the change.

    Of the `total` some were moved, some quote what is not there or what is far from any change.
    """

    word: Literal["pass", "fail", "abstain"]
    confidence: Annotated[float, Meta(ge=0.0, le=1.0)]
    reasoning: str
    claims: tuple[Claim, ...] = ()
    total: Count = 0
    relocated: Count = 0
    no_quote: Count = 0
    not_changed: Count = 0

    @property
    def dropped(self) -> int:
        """The number of findings that do not count at all."""
        return self.no_quote + self.not_changed

    @property
    def errors(self) -> tuple[Claim, ...]:
        """The claims by which the criterion fails."""
        failing = self.word == "fail"
        return tuple(c for c in self.claims if c.is_error and (failing or c.second))

    @property
    def verdict(self) -> str:
        """The answer that counts: a failure needs an error that stands and was not refuted.

        What is only warned of, or was refuted, is no failure; what was invented, or could not be
        confirmed, leaves the question open.
        """
        if self.errors:
            return "fail"
        if self.word == "fail":
            settled = all(
                c.finding.severity == "warning" or c.second == "refuted" for c in self.claims
            )
            return "pass" if self.claims and settled else "abstain"
        unfounded = not self.claims and self.dropped > 0
        return "abstain" if unfounded else self.word

    @property
    def counted(self) -> bool:
        """True if it counts for or against the change."""
        return self.verdict != "abstain"


#: The answers about one chunk, by criterion.
Answers = Mapping[str, VerifiedAnswer]


def verify(answers: Mapping[str, Answer], lines: Lines) -> dict[str, VerifiedAnswer]:
    """Return the answers by criterion, each with the findings alone that stand in the change."""
    verified = {}
    for name, answer in answers.items():
        claims, relocated, no_quote, not_changed = list[Claim](), 0, 0, 0
        for finding in answer.findings:
            placed = lines.find(finding)
            if placed is None:
                no_quote += 1
            elif not lines.is_near(placed):
                not_changed += 1
            else:
                relocated += placed != finding
                claims.append(Claim(placed))
        words = answer.verdict, answer.confidence, answer.reasoning
        counts = len(answer.findings), relocated, no_quote, not_changed
        verified[name] = VerifiedAnswer(*words, tuple(claims), *counts)
    return verified


def join_passes(passes: Sequence[Answers]) -> dict[str, VerifiedAnswer]:
    """Return the union of independent answers to the same question, each place once."""
    joined = {}
    for name in passes[0]:
        answers = [each[name] for each in passes]
        joined[name] = replace(_merge(answers), **_add_counts(answers))
    return joined


_COUNTS = ("total", "relocated", "no_quote", "not_changed")


def _add_counts(answers: Sequence[VerifiedAnswer]) -> dict[str, int]:
    return {name: sum(getattr(answer, name) for answer in answers) for name in _COUNTS}


#: Digits to which a share is rounded before it meets the threshold.
DIGITS = 12


class Opinion(Struct, frozen=True, dict=True):
    """The answers on every chunk that was answered, all about the same criteria."""

    chunks: Sequence[Answers]
    lines: Lines

    @cached_property
    def answers(self) -> dict[str, VerifiedAnswer]:
        """One answer a criterion: a failure somewhere is one, else a pass somewhere."""
        return {name: _merge([chunk[name] for chunk in self.chunks]) for name in self.chunks[0]}

    @cached_property
    def counted(self) -> dict[str, VerifiedAnswer]:
        """The criteria that count for or against the change."""
        return {name: answer for name, answer in self.answers.items() if answer.counted}

    @property
    def failed(self) -> list[str]:
        """The criteria that fail."""
        return [name for name, answer in self.counted.items() if answer.verdict == "fail"]

    def share(self, names: Iterable[str]) -> float | None:
        """The share of passed criteria among those of these that count; None where none does."""
        verdicts = [self.answers[name].verdict for name in names if name in self.counted]
        return round(verdicts.count("pass") / len(verdicts), DIGITS) if verdicts else None

    @property
    def has_quorum(self) -> bool:
        """True if at least half of the criteria count, and something on half of the chunks."""
        chunks = sum(map(speaks, self.chunks))
        enough = chunks * 2 >= len(self.chunks)
        return enough and len(self.counted) * 2 >= len(self.answers)

    @property
    def doubts(self) -> tuple[str, ...]:
        """The criteria that are said to fail, without an error that stands."""
        return tuple(
            name
            for name, answer in self.answers.items()
            if answer.word == "fail" and not answer.counted
        )

    @property
    def review(self) -> dict[str, object]:
        """The counts of all findings, for a judgment's metadata."""
        every = [answer for chunk in self.chunks for answer in chunk.values()]
        counts = _add_counts(every)
        seconds = [claim.second for answer in every for claim in answer.claims]
        return {
            "reported": counts["total"],
            "relocated": counts["relocated"],
            "dropped": {name: counts[name] for name in ("no_quote", "not_changed")},
            "confirmed": seconds.count("confirmed"),
            "refuted": seconds.count("refuted"),
        }


def speaks(answers: Answers) -> bool:
    """True if anything that is said of a chunk counts."""
    return any(answer.counted for answer in answers.values())


def _merge(answers: Sequence[VerifiedAnswer]) -> VerifiedAnswer:
    """Return one answer for several to the same question, with the claims of all of them.

    A failure speaks for all; else one that leaves the question open; else the least sure pass, for
    approval of the whole is no surer than that of its weakest part.
    """
    failed = [answer for answer in answers if answer.verdict == "fail"]
    doubted = [answer for answer in answers if answer.word == "fail" and not answer.counted]
    passed = [answer for answer in answers if answer.verdict == "pass"]
    if failed:
        speaker = max(failed, key=lambda answer: answer.confidence)
    elif doubted or not passed:
        speaker = (doubted or list(answers))[0]
    else:
        speaker = min(passed, key=lambda answer: answer.confidence)
    claims: dict[tuple[object, ...], Claim] = {}
    for claim in (*speaker.claims, *(c for answer in answers for c in answer.claims)):
        finding = claim.finding
        place = (finding.path, finding.side, finding.line, finding.end_line, finding.severity)
        claims.setdefault(place, claim)
    return replace(speaker, claims=tuple(claims.values()))
