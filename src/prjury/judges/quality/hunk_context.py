"""Shows the model what a change stands in: the function around it, the headings of its classes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from prjury.code.definitions import definitions, has_definitions
from prjury.code.hunk_context import with_context
from prjury.code.languages import Language, language_of
from prjury.code.parser import Parser
from prjury.code.source import Source, UnreadableError, decode
from prjury.deadline import Deadline
from prjury.errors import SourceError
from prjury.ports import Repository
from prjury.snapshot.model import FileChange, FileKind, FileStatus, printable

#: What is looked at: so many files, and bytes of them together.
_FILES = 200
_BYTES = 8 * 1024 * 1024
#: Seconds for one text, and for all.
_SECONDS = 2.0
_ALL_SECONDS = 10.0

_KINDS = frozenset({FileKind.SOURCE, FileKind.TEST})
#: A new file is all there already, and of one that is gone nothing is left to show.
_STATUSES = frozenset({FileStatus.MODIFIED, FileStatus.RENAMED, FileStatus.COPIED})


def with_surroundings(
    files: Sequence[FileChange], repository: Repository, parser: Parser, deadline: Deadline
) -> tuple[FileChange, ...]:
    """The files in the same order, those of code with wider hunks; see `prjury.code.hunk_context`.

    What is added and removed stays the same. Context is a help and no duty: a file whose content
    is missing, cannot be read or parsed, or whose turn does not come in time stays as it is.

    Args:
        parser: one text takes it two seconds at most, whatever its own limit.
    """
    until = deadline.within(_ALL_SECONDS)
    texts = list(_texts(files, repository, until))
    quick = replace(parser, seconds=min(parser.seconds, _SECONDS))
    found = definitions([each.source for each in texts], quick, until)
    wider = {
        each.file.path: replace(each.file, hunks=with_context(each.file.hunks, each.text, scopes))
        for each, scopes in zip(texts, found, strict=True)
        if until.remaining and scopes
    }
    return tuple(wider.get(file.path, file) for file in files)


@dataclass(frozen=True)
class _Text:
    """A file's text at the head: as it is stored, and as the parser takes it."""

    file: FileChange
    text: str
    source: Source


def _texts(
    files: Sequence[FileChange], repository: Repository, deadline: Deadline
) -> Iterator[_Text]:
    """The texts of the files that may get more context, as many as are looked at.

    Small ones come first, so that a large one does not take the parser's time from them.
    """
    eligible = [(file, name) for file in files if (name := _language(file))][:_FILES]
    if not eligible or not deadline.remaining:
        return
    try:
        contents = repository.read(sorted({file.new_blob for file, _ in eligible if file.new_blob}))
    except SourceError:
        return
    left = _BYTES
    found = [
        (f, name, content) for f, name in eligible if (content := contents.get(f.new_blob or ""))
    ]
    for file, language, content in sorted(found, key=lambda each: len(each[2])):
        left -= len(content)
        with suppress(UnreadableError):
            if left >= 0:
                text = decode(content)
                yield _Text(file, text, Source.of(text, language))


def _language(file: FileChange) -> Language | None:
    """The language of a file that may get more context; None for any other file."""
    if file.kind not in _KINDS or file.status not in _STATUSES or not file.hunks:
        return None
    language = language_of(printable(file.path))
    return language if language and has_definitions(language) else None
