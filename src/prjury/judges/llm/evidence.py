"""Compares what the model quotes with what the change says. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from prjury.judges.llm.reply import Answer, Quote
from prjury.judges.llm.sheet import Piece


class Lines:
    """The lines that the model was shown, by path, side and number."""

    def __init__(self, pieces: Iterable[Piece]) -> None:
        self._texts: dict[tuple[str, str], dict[int, str]] = defaultdict(dict)
        self._paths: dict[str, str] = {}
        for piece in pieces:
            path = piece.heading["path"]
            self._paths[path] = piece.path
            for row in piece.rows:
                self._texts[path, row.side][row.line] = row.text
                if row.old is not None:
                    self._texts[path, "old"][row.old] = row.text

    def path_of(self, quote: Quote) -> str:
        """The file's path as the report prints it."""
        return self._paths[quote.path]

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
    """An answer with the part of its evidence that is true.

    Attributes:
        verdict: ``pass``, ``fail`` or ``abstain``; a failure without true evidence abstains.
        dropped: how many quotes did not match.
    """

    answer: Answer
    verdict: str
    quotes: tuple[Quote, ...]
    dropped: int

    @property
    def counted(self) -> bool:
        """Whether it counts for or against the change."""
        return self.verdict != "abstain"


def verified(answers: Mapping[str, Answer], lines: Lines) -> dict[str, Finding]:
    """The answers by criterion, each with its verified evidence alone."""
    return {name: _finding(answer, lines) for name, answer in answers.items()}


def _finding(answer: Answer, lines: Lines) -> Finding:
    quotes = tuple(quote for quote in answer.evidence if lines.hold(quote))
    unfounded = answer.verdict == "fail" and not quotes
    verdict = "abstain" if unfounded else answer.verdict
    return Finding(answer, verdict, quotes, len(answer.evidence) - len(quotes))
