"""A pull request's change as pieces: what of it a model may see, and why not the rest. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from prjury.judges.quality.prompt_input.chunk import ChunkRow, NotSent, Passage, Section
from prjury.report.invisible_chars import show_invisible
from prjury.report.redact import Redact, redacted
from prjury.snapshot.model import FileChange, FileKind, Hunk, printable

#: Kinds in the order in which they are read; a kind that is missing here is not sent at all.
SENT_KINDS = (
    FileKind.SOURCE,
    FileKind.TEST,
    FileKind.CONFIG,
    FileKind.DOCS,
    FileKind.SYMLINK,
    FileKind.GENERATED,
    FileKind.VENDORED,
)
#: A longer line is no text that anybody reviews; its file is not sent.
LONGEST_LINE = 20_000

_LEFT_OUT = "[redacted]"


def pieces_of(
    files: Iterable[FileChange], redact: Redact, longest_line: int = LONGEST_LINE
) -> tuple[tuple[Section, ...], tuple[NotSent, ...]]:
    """The files that a model sees, source before tests before the rest, and those it does not.

    Args:
        redact: takes secrets out of what is shown.
        longest_line: characters; a file with a longer one is not sent.
    """
    sections: list[tuple[int, Section]] = []
    left_out: list[NotSent] = []
    for file in files:
        section = _section(file, redact)
        reason = _why_not(file, section, min(longest_line, LONGEST_LINE))
        if reason:
            left_out.append(NotSent(section.path, reason, section.heading["path"]))
        else:
            sections.append((SENT_KINDS.index(file.kind), section))
    ordered = sorted(sections, key=lambda ranked: ranked[0])
    return tuple(section for _, section in ordered), tuple(left_out)


def _why_not(file: FileChange, section: Section, longest_line: int) -> str | None:
    if reason := file.unread or file.exempt:
        return reason
    if file.kind not in SENT_KINDS:
        return f"a {file.kind} file"
    longest = max((len(row.text) for row in section.rows), default=0)
    return f"has a line of {longest} characters" if longest > longest_line else None


def _section(file: FileChange, redact: Redact) -> Section:
    heading = {"path": file.path, "kind": file.kind.value, "status": file.status.value}
    if file.old_path and file.old_path != file.path:
        heading["old_path"] = file.old_path
    safe = {
        key: show_invisible(redacted(printable(value), redact)) for key, value in heading.items()
    }
    passages = tuple(_passage(hunk, redact) for hunk in file.hunks)
    return Section(printable(file.path), safe, passages)


def _passage(hunk: Hunk, redact: Redact) -> Passage:
    texts = _without_secrets([printable(line.text) for line in hunk.lines], redact)
    rows = []
    for line, text in zip(hunk.lines, texts, strict=True):
        side = "old" if line.new is None else "new"
        number = (line.old if line.new is None else line.new) or 0
        context = line.old if line.sign == " " else None
        rows.append(ChunkRow(side, number, line.sign, show_invisible(text), context))
    return Passage(show_invisible(redacted(printable(hunk.section), redact)), tuple(rows))


def _without_secrets(lines: list[str], redact: Redact) -> list[str]:
    """The lines without secrets, still as many: a secret may span several of them."""
    # A line feed is what separates them, so none may hide inside.
    lines = [line.replace("\n", " ") for line in lines]
    clean = redacted("\n".join(lines), redact).split("\n")
    if len(clean) == len(lines):
        return clean
    first = _alike(lines, clean)
    last = min(_alike(lines[::-1], clean[::-1]), min(len(lines), len(clean)) - first)
    return [*lines[:first], *[_LEFT_OUT] * (len(lines) - first - last), *lines[len(lines) - last :]]


def _alike(some: list[str], others: list[str]) -> int:
    """How many lines at the beginning are the same."""
    pairs = enumerate(zip(some, others, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(some), len(others)))
