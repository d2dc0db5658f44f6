"""Compares what the model quotes with what it was shown. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from prjury.judges.llm.asking.reply import Answer, Quote
from prjury.judges.llm.material.sheet import Piece

#: A verdict that its own author believes less than this contradicts itself.
LEAST_CONFIDENCE = 0.5


class Lines:
    """The lines that the model was shown, by path, side and number."""

    def __init__(self, pieces: Iterable[Piece]) -> None:
        self._texts: dict[tuple[str, str], dict[int, str]] = defaultdict(dict)
        self._files: dict[str, str] = {}
        for piece in pieces:
            path = piece.heading["path"]
            if piece.is_file:
                self._files[path] = piece.path
            for row in piece.rows:
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


@dataclass(frozen=True)
class Finding:
    """The answer to one question, with the part of its evidence that is true.

    Attributes:
        said: what the model said: ``pass``, ``fail`` or ``abstain``.
        quotes: the evidence that is there.
        dropped: how many quotes did not match.
    """

    said: str
    confidence: float
    reasoning: str
    quotes: tuple[Quote, ...] = ()
    dropped: int = 0

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


#: What a model says of one sheet, by criterion.
Findings = Mapping[str, Finding]


def verified(answers: Mapping[str, Answer], lines: Lines) -> dict[str, Finding]:
    """The answers by criterion, each with its verified evidence alone."""
    return {name: _finding(answer, lines) for name, answer in answers.items()}


def _finding(answer: Answer, lines: Lines) -> Finding:
    quotes = tuple(quote for quote in answer.evidence if lines.hold(quote))
    dropped = len(answer.evidence) - len(quotes)
    return Finding(answer.verdict, answer.confidence, answer.reasoning, quotes, dropped)
