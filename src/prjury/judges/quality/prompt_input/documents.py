"""Texts beside the change, as pieces of the same form: descriptions, answers, sources. Pure."""

from __future__ import annotations

from prjury.judges.quality.prompt_input.change import LONGEST_LINE
from prjury.judges.quality.prompt_input.chunk import ChunkRow, Passage, Section
from prjury.report.invisible_chars import one_kind_of_line_end, show_invisible
from prjury.report.redact import Redact, redacted
from prjury.snapshot.model import printable


def document(name: str, kind: str, text: str, redact: Redact) -> Section:
    """A text as numbered lines; what is longer than any line that people write is cut, visibly.

    Args:
        name: what evidence calls it in place of a path.
        kind: what it is: ``description``, ``answer``, ``context``, …
    """
    clean = redacted(printable(one_kind_of_line_end(text)), redact)
    lines = clean.removesuffix("\n").split("\n") if clean else []
    rows = tuple(
        ChunkRow("new", at, " ", _cut(show_invisible(line)))
        for at, line in enumerate(lines, start=1)
    )
    heading = {"path": show_invisible(redacted(printable(name), redact)), "kind": kind}
    return Section(printable(name), heading, (Passage("", rows),), is_file=False)


def _cut(line: str) -> str:
    more = len(line) - LONGEST_LINE
    return f"{line[:LONGEST_LINE]}… (+{more} characters)" if more > 0 else line
