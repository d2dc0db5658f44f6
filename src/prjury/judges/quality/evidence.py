"""Compare what a model quotes with what it was shown, and merge its answers on all chunks. Pure."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from prjury.judges.quality.prompt_input import Section
from prjury.judges.quality.question import Answer, Quote

#: A verdict that its own author believes less than this contradicts itself.
LEAST_CONFIDENCE = 0.5

#: Characters by which a part of a line is recognised.
_LEAST_PART = 12
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
        self._judged: set[tuple[str, str, int]] = set()
        for section in sections:
            path = section.heading["path"]
            self._paths.add(path)
            if section.is_file:
                self._files[path] = section.path
            for row in section.rows:
                # Every line of a document is the work; of a file only what changes.
                if row.sign != " " or not section.is_file:
                    self._judged.add((path, row.side, row.line))
                self._texts[path, row.side][row.line] = row.text
                if row.old is not None:
                    self._texts[path, "old"][row.old] = row.text

    def path_of(self, quote: Quote) -> str | None:
        """The file's path as the report prints it; None for a document that is no file."""
        return self._files.get(quote.path)

    def hold(self, quote: Quote) -> bool:
        """Whether exactly these lines hold exactly this text, white space at its ends aside."""
        lines = self._texts.get((quote.path, quote.side), {})
        # The count is compared first: a range of ten million lines is not walked.
        if not quote.quote.strip() or not 0 <= quote.end_line - quote.line < len(lines):
            return False
        texts = [lines.get(number) for number in range(quote.line, quote.end_line + 1)]
        if None in texts:
            return False
        said = quote.quote.replace("\r\n", "\n").strip()
        return said == "\n".join(text for text in texts if text is not None).strip()

    def find(self, quote: Quote) -> Quote | None:
        """Return the quote at the lines where it stands, with their text; None if there are none.

        A quote that does not hold is moved to the one place of its file and side where its lines,
        or a part of a line, stand among what changes. White space does not count, nor do the signs
        and numbers of a diff, nor `a/` and `b/` before the path. Several such places are none.
        """
        said = quote.model_copy(update={"path": self._known_path(quote)})
        if self.hold(said):
            return said
        texts = self._texts.get((said.path, said.side), {})
        plain = {number: _plain(text) for number, text in texts.items()}
        places = (_places(plain, lines, said.line) for lines in _readings(said))
        found = next(filter(None, places), ())
        if len(found) != 1 or not self._changes(said, found[0]):
            return None
        first, last = found[0].start, found[0].stop - 1
        text = "\n".join(texts[number] for number in found[0])
        return said.model_copy(update={"line": first, "end_line": last, "quote": text})

    def _known_path(self, quote: Quote) -> str:
        """The path, without the `a/` or `b/` of a diff where only that makes it known."""
        bare = quote.path[2:] if quote.path.startswith(("a/", "b/")) else quote.path
        return bare if quote.path not in self._paths and bare in self._paths else quote.path

    def _changes(self, quote: Quote, lines: range) -> bool:
        return any((quote.path, quote.side, line) in self._judged for line in lines)


def _readings(quote: Quote) -> Iterator[Sequence[str]]:
    """The quoted lines as they are, and without what a diff or the prompt puts before each."""
    lines = quote.quote.replace("\r\n", "\n").split("\n")
    yield _plain_lines(lines)
    for prefix in _PREFIXES[quote.side]:
        if all(prefix.match(line) for line in lines if line.strip()):
            yield _plain_lines(prefix.sub("", line, count=1) for line in lines)


def _places(texts: Mapping[int, str], said: Sequence[str], claimed: int) -> Sequence[range]:
    """Where these lines stand: the claimed place, or else every one; or every line they are in."""
    if not any(said):
        return ()
    starts = [number for number, text in texts.items() if text == said[0]]
    whole = [
        range(start, start + len(said))
        for start in starts
        if all(texts.get(start + at) == line for at, line in enumerate(said))
    ]
    if whole or len(said) > 1 or len(said[0]) < _LEAST_PART:
        return [place for place in whole if place.start == claimed] or whole
    return [range(number, number + 1) for number, text in texts.items() if said[0] in text]


def _plain_lines(lines: Iterable[str]) -> Sequence[str]:
    """The lines with their white space evened out, without blank ones at either end."""
    return "\n".join(map(_plain, lines)).strip("\n").split("\n")


def _plain(text: str) -> str:
    return " ".join(text.split())


@dataclass(frozen=True)
class VerifiedAnswer:
    """The answer to one question, with the part of its evidence that is true.

    Attributes:
        said: what the model said: ``pass``, ``fail`` or ``abstain``.
        quotes: the evidence that is there.
        dropped: how many quotes did not match.
        relocated: how many of the quotes stand elsewhere, or otherwise, than the model said.
    """

    said: str
    confidence: float
    reasoning: str
    quotes: tuple[Quote, ...] = ()
    dropped: int = 0
    relocated: int = 0

    @property
    def verdict(self) -> str:
        """What counts: a failure needs true evidence, and a verdict its own author's belief.

        A pass needs no evidence, but one that rests on nothing but inventions is none.
        """
        unfounded = not self.quotes and (self.said == "fail" or self.dropped > 0)
        return "abstain" if unfounded or self.confidence < LEAST_CONFIDENCE else self.said

    @property
    def counted(self) -> bool:
        """Whether it counts for or against the change."""
        return self.verdict != "abstain"


#: What a model says of one chunk, by criterion.
Findings = Mapping[str, VerifiedAnswer]


def verify(answers: Mapping[str, Answer], lines: Lines) -> dict[str, VerifiedAnswer]:
    """The answers by criterion, each with its verified evidence alone."""
    return {name: _finding(answer, lines) for name, answer in answers.items()}


def _finding(answer: Answer, lines: Lines) -> VerifiedAnswer:
    found = [(quote, lines.find(quote)) for quote in answer.evidence]
    quotes = tuple(there for _, there in found if there)
    relocated = sum(there is not None and there != said for said, there in found)
    dropped = len(found) - len(quotes)
    return VerifiedAnswer(
        answer.verdict, answer.confidence, answer.reasoning, quotes, dropped, relocated
    )


#: Digits to which a share is rounded before it meets the threshold.
DIGITS = 12


@dataclass(frozen=True)
class Opinion:
    """The findings of every chunk that was answered.

    Attributes:
        chunks: findings by criterion, one mapping a chunk, all about the same criteria.
    """

    chunks: Sequence[Findings]
    lines: Lines

    @cached_property
    def findings(self) -> dict[str, VerifiedAnswer]:
        """One finding a criterion: a failure somewhere is one, else a pass somewhere."""
        return {name: _merged([chunk[name] for chunk in self.chunks]) for name in self.chunks[0]}

    def answers_to(self, name: str) -> Iterator[VerifiedAnswer]:
        """What is said of a criterion: each failure where it fails, else the one finding."""
        failures = [chunk[name] for chunk in self.chunks if chunk[name].verdict == "fail"]
        yield from failures or [self.findings[name]]

    @cached_property
    def counted(self) -> dict[str, VerifiedAnswer]:
        """The criteria that count for or against the change."""
        return {name: finding for name, finding in self.findings.items() if finding.counted}

    def share(self, names: Iterable[str]) -> float | None:
        """The share of passed criteria among those of these that count; None where none does."""
        verdicts = [self.findings[name].verdict for name in names if name in self.counted]
        return round(verdicts.count("pass") / len(verdicts), DIGITS) if verdicts else None

    @property
    def has_quorum(self) -> bool:
        """Whether at least half of the criteria count, and something on half of the chunks.

        One pass beside three answers that quote what is not there is no approval.
        """
        chunks = sum(map(speaks, self.chunks))
        enough = chunks * 2 >= len(self.chunks)
        return enough and len(self.counted) * 2 >= len(self.findings)

    @property
    def doubts(self) -> tuple[str, ...]:
        """The criteria that are said to fail, without conviction or evidence that is there."""
        return tuple(
            name
            for name, finding in self.findings.items()
            if finding.said == "fail" and not finding.counted
        )

    @property
    def evidence(self) -> dict[str, int]:
        """How many quotes are true, how many of these had to be moved, how many are thrown away."""
        every = [finding for chunk in self.chunks for finding in chunk.values()]
        return {
            "verified": sum(len(finding.quotes) for finding in every),
            "relocated": sum(finding.relocated for finding in every),
            "dropped": sum(finding.dropped for finding in every),
        }


def speaks(findings: Findings) -> bool:
    """Whether anything that is said of a chunk counts."""
    return any(finding.counted for finding in findings.values())


def _merged(findings: Sequence[VerifiedAnswer]) -> VerifiedAnswer:
    """What several chunks say of one criterion.

    The surest failure; else a failure without true evidence, which leaves the question open; else
    the least sure pass, for approval of the whole is no surer than that of its weakest part.
    """
    failed = [finding for finding in findings if finding.verdict == "fail"]
    doubted = [finding for finding in findings if finding.said == "fail"]
    passed = [finding for finding in findings if finding.verdict == "pass"]
    if failed:
        return _with_all_quotes(max(failed, key=_confidence), failed)
    if doubted or not passed:
        return (doubted or list(findings))[0]
    return _with_all_quotes(min(passed, key=_confidence), passed)


def _confidence(finding: VerifiedAnswer) -> float:
    return finding.confidence


def _with_all_quotes(speaker: VerifiedAnswer, same: Sequence[VerifiedAnswer]) -> VerifiedAnswer:
    others = (quote for finding in same if finding is not speaker for quote in finding.quotes)
    return replace(speaker, quotes=(*speaker.quotes, *others))
