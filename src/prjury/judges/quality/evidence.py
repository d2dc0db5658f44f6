"""Read replies, compare claims with what was shown, and merge answers on all chunks. Pure."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from prjury.judges.quality.prompt_input import Section

#: Bytes; a longer reply is not read.
LONGEST_REPLY = 64 * 1024

_FENCE = re.compile(r"```(?:json)?[ \t]*\n(.*)\n```", re.DOTALL | re.IGNORECASE)
#: Words of the model in a message of the decoder's.
_FOREIGN = re.compile(r"(unknown field|enum value) (.*(?= - at )|.*)", re.DOTALL)
#: Keys whose values may be written in capitals.
_CHOICES = frozenset({"severity", "verdict"})


class InvalidReplyError(ValueError):
    """The reply is not what was asked for; the text says why without repeating the reply."""


class ReportedFinding(Struct, frozen=True, forbid_unknown_fields=True):
    """A claim about a place (lines from 1), and what is said to stand there."""

    path: str
    side: Literal["new", "old"]
    line: Annotated[int, Meta(ge=1, le=10_000_000)]
    end_line: Annotated[int, Meta(ge=1, le=10_000_000)]
    quote: str
    claim: str
    severity: Literal["error", "warning"]
    category: str
    suggestion: str

    def covers(self, number: int | None) -> bool:
        return self.line <= (number or 0) <= self.end_line


class Answer(Struct, frozen=True, forbid_unknown_fields=True):
    """The answer to one criterion's question; its confidence is in 0..1."""

    findings: Annotated[list[ReportedFinding], Meta(max_length=50)]
    reasoning: str
    verdict: Literal["pass", "fail", "abstain"]
    confidence: Annotated[float, Meta(ge=0.0, le=1.0)]


class _Document(Struct, frozen=True, forbid_unknown_fields=True):
    criteria: dict[str, Answer]


def make_answer_schema(criteria: Iterable[str]) -> dict[str, Any]:
    """Return the JSON Schema of a reply about these criteria: every key required, none besides."""
    text = {"type": "string"}
    finding = _object(
        path=text,
        side={"type": "string", "enum": ["new", "old"]},
        line={"type": "integer"},
        end_line={"type": "integer"},
        quote=text,
        claim=text,
        severity={"type": "string", "enum": ["error", "warning"]},
        category=text,
        suggestion=text,
    )
    answer = _object(
        findings={"type": "array", "items": finding},
        reasoning=text,
        verdict={"type": "string", "enum": ["pass", "fail", "abstain"]},
        confidence={"type": "number"},
    )
    return _object(criteria=_object(**dict.fromkeys(criteria, answer)))


def _object(**properties: object) -> dict[str, Any]:
    shape = {"type": "object", "properties": properties, "required": list(properties)}
    return {**shape, "additionalProperties": False}


def read_answers(text: str, criteria: Iterable[str]) -> Mapping[str, Answer]:
    """Read the answers by criterion, in the order of the criteria."""
    if len(text.encode(errors="replace")) > LONGEST_REPLY:
        raise InvalidReplyError(f"it is longer than {LONGEST_REPLY} bytes")
    bare = text.strip()
    fenced = _FENCE.fullmatch(bare)
    try:
        value = json.loads(fenced[1] if fenced else bare, object_pairs_hook=_lower_distinct_choices)
        answers = msgspec.convert(value, _Document).criteria
    except InvalidReplyError:
        raise
    except msgspec.ValidationError as error:
        raise InvalidReplyError(_FOREIGN.sub(r"\1", str(error))) from None
    except (ValueError, RecursionError):
        raise InvalidReplyError("it is not one JSON value and nothing else") from None
    expected = list(criteria)
    if missing := [name for name in expected if name not in answers]:
        raise InvalidReplyError(f"there is no answer for {', '.join(missing)}")
    if len(answers) > len(expected):
        raise InvalidReplyError("there are answers to criteria that were not asked for")
    return {name: answers[name] for name in expected}


def _lower_distinct_choices(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise InvalidReplyError("an object has the same key twice")
    for name in value.keys() & _CHOICES:
        if isinstance(value[name], str):
            value[name] = value[name].lower()
    return value


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
        #: Of each path as the report prints it; None for a document that is no file.
        self._files: dict[str, str | None] = {}
        self._changed: set[tuple[str, str, int]] = set()
        self._near: set[tuple[str, str, int]] = set()
        for section in sections:
            path = section.heading["path"]
            self._files[path] = section.path if section.is_file else None
            for passage in section.passages:
                # Every line of a document is the work; of a file only what changes.
                changed = [row for row in passage.rows if row.sign != " " or not section.is_file]
                self._changed.update((path, row.side, row.line) for row in changed)
                for row in passage.rows:
                    for side in ("new", "old"):
                        if (number := row.number(side)) is not None:
                            self._texts[path, side][number] = row.text
                            self._near.update([(path, side, number)] if changed else ())

    def path_of(self, finding: ReportedFinding) -> str | None:
        return self._files.get(finding.path)

    def matches_quote(self, finding: ReportedFinding) -> bool:
        """Compare the quote with exactly these lines, white space at its ends aside."""
        lines = self._texts.get((finding.path, finding.side), {})
        # The count is compared first: a range of ten million lines is not walked.
        if not finding.quote.strip() or not 0 <= finding.end_line - finding.line < len(lines):
            return False
        texts = [lines.get(number) for number in range(finding.line, finding.end_line + 1)]
        quote = finding.quote.replace("\r\n", "\n").strip()
        return None not in texts and quote == "\n".join(map(str, texts)).strip()

    def changes(self, finding: ReportedFinding) -> bool:
        return not self._changed.isdisjoint(_list_places(finding))

    def is_near(self, finding: ReportedFinding) -> bool:
        """True if one of its lines stands in a passage in which something changes."""
        return not self._near.isdisjoint(_list_places(finding))

    def relocate(self, finding: ReportedFinding) -> ReportedFinding | None:
        """Return the finding at the one place where its quote stands; None if there is none.

        A quote that does not hold is moved to where its lines, or a part of a line, stand among
        what changes. White space does not count, nor do signs and numbers of a diff.
        """
        if finding.path not in self._files and finding.path[:2] in {"a/", "b/"}:  # as in a diff
            finding = replace(finding, path=finding.path[2:])
        if self.matches_quote(finding):
            return finding
        texts = self._texts.get((finding.path, finding.side), {})
        plain = {number: _normalise(text) for number, text in texts.items()}
        for lines in _readings(finding):
            places = _find_quote(plain, lines, finding.line)
            if len(places) == 1:
                first, last = places[0].start, places[0].stop - 1
                text = "\n".join(texts[number] for number in places[0])
                moved = replace(finding, line=first, end_line=last, quote=text)
                return moved if self.changes(moved) else None
            if places:
                return None
        return None


def _list_places(finding: ReportedFinding) -> Iterator[tuple[str, str, int]]:
    for number in range(finding.line, finding.end_line + 1):
        yield finding.path, finding.side, number


def _readings(finding: ReportedFinding) -> Iterator[Sequence[str]]:
    lines = finding.quote.replace("\r\n", "\n").split("\n")
    yield _normalise_lines(lines)
    for prefix in _PREFIXES[finding.side]:
        if all(prefix.match(line) for line in lines if line.strip()):
            yield _normalise_lines(prefix.sub("", line, count=1) for line in lines)


def _find_quote(texts: Mapping[int, str], quote: Sequence[str], line: int) -> Sequence[range]:
    """Return the lines that the quote means: the named place, or else every possible one."""
    if not any(quote):
        return ()
    whole = [
        range(start, start + len(quote))
        for start in texts
        if all(texts.get(start + at) == text for at, text in enumerate(quote))
    ]
    if whole:
        return [place for place in whole if place.start == line] or whole
    if len(quote) > 1:
        return ()
    if _overlap(texts.get(line, ""), quote[0], _LEAST_PART_THERE):
        return [range(line, line + 1)]
    return [
        range(at, at + 1) for at, text in texts.items() if _overlap(text, quote[0], _LEAST_PART)
    ]


def _overlap(text: str, quote: str, least: int) -> bool:
    return min(len(text), len(quote)) >= least and (quote in text or quote.startswith(text))


def _normalise_lines(lines: Iterable[str]) -> Sequence[str]:
    return "\n".join(map(_normalise, lines)).strip("\n").split("\n")


def _normalise(text: str) -> str:
    return " ".join(text.split())


Count: TypeAlias = Annotated[int, Meta(ge=0)]


class Claim(Struct, frozen=True, forbid_unknown_fields=True):
    """A finding whose quote stands in the change, and what a second question came to, if asked."""

    finding: ReportedFinding
    #: Unclear where the second question has no answer, or cannot be answered.
    second: Literal["confirmed", "refuted", "unclear"] | None = None


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
        return self.no_quote + self.not_changed

    @property
    def errors(self) -> list[Claim]:
        """The claims by which the criterion fails; of an answer that does not, confirmed ones."""
        standing = {None, "confirmed"} if self.word == "fail" else {"confirmed"}
        return [c for c in self.claims if c.finding.severity == "error" and c.second in standing]

    @property
    def verdict(self) -> str:
        """The answer that counts: a failure needs an error that stands and was not refuted.

        What is only warned of, or was refuted, is no failure; what was invented, or could not be
        confirmed, leaves the question open.
        """
        if self.errors:
            return "fail"
        if self.word != "fail":
            return "abstain" if self.dropped and not self.claims else self.word
        settled = [c.finding.severity == "warning" or c.second == "refuted" for c in self.claims]
        return "pass" if settled and all(settled) else "abstain"

    @property
    def counted(self) -> bool:
        return self.verdict != "abstain"

    @property
    def doubted(self) -> bool:
        """True if it is said to fail, without an error that stands."""
        return self.word == "fail" and not self.counted


#: The answers about one chunk, by criterion.
Answers = Mapping[str, VerifiedAnswer]


def verify_answers(answers: Mapping[str, Answer], lines: Lines) -> dict[str, VerifiedAnswer]:
    verified = {}
    for name, answer in answers.items():
        claims, relocated, no_quote, not_changed = list[Claim](), 0, 0, 0
        for finding in answer.findings:
            placed = lines.relocate(finding)
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
        joined[name] = replace(_combine(answers), **_add_counts(answers))
    return joined


def _add_counts(answers: Sequence[VerifiedAnswer]) -> dict[str, int]:
    names = ("total", "relocated", "no_quote", "not_changed")
    return {name: sum(getattr(answer, name) for answer in answers) for name in names}


#: Digits to which a share is rounded before it meets the threshold.
DIGITS = 12


class Opinion(Struct, frozen=True, dict=True):
    """The answers on every chunk that was answered, all about the same criteria."""

    chunks: Sequence[Answers]
    lines: Lines

    @cached_property
    def answers(self) -> dict[str, VerifiedAnswer]:
        """One answer a criterion: a failure somewhere is one, else a pass somewhere."""
        return {name: _combine([chunk[name] for chunk in self.chunks]) for name in self.chunks[0]}

    @cached_property
    def counted(self) -> dict[str, VerifiedAnswer]:
        return {name: answer for name, answer in self.answers.items() if answer.counted}

    @property
    def failed(self) -> list[str]:
        return [name for name, answer in self.counted.items() if answer.verdict == "fail"]

    def share(self, names: Iterable[str]) -> float | None:
        """The share of passed criteria among those of these that count; None where none does."""
        verdicts = [self.answers[name].verdict for name in names if name in self.counted]
        return round(verdicts.count("pass") / len(verdicts), DIGITS) if verdicts else None

    @property
    def finding_counts(self) -> dict[str, object]:
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


def _combine(answers: Sequence[VerifiedAnswer]) -> VerifiedAnswer:
    """Return one answer for several to the same question, with the claims of all of them.

    A failure speaks for all; else one that leaves the question open; else the least sure pass, for
    approval of the whole is no surer than that of its weakest part.
    """
    failed = [answer for answer in answers if answer.verdict == "fail"]
    doubted = [answer for answer in answers if answer.doubted]
    passed = [answer for answer in answers if answer.verdict == "pass"]
    if failed:
        speaker = max(failed, key=lambda answer: answer.confidence)
    elif doubted or not passed:
        speaker = (doubted or answers)[0]
    else:
        speaker = min(passed, key=lambda answer: answer.confidence)
    claims: dict[tuple[object, ...], Claim] = {}
    for claim in (*speaker.claims, *(c for answer in answers for c in answer.claims)):
        finding = claim.finding
        place = (finding.path, finding.side, finding.line, finding.end_line, finding.severity)
        claims.setdefault(place, claim)
    return replace(speaker, claims=tuple(claims.values()))
