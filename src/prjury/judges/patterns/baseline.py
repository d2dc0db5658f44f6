"""The baseline: findings that were known when they were accepted.

A file of JSON in the repository, a list with one entry for each finding:

    {"rule": "jakarta/servlet", "path": "src/A.java", "fingerprint": "1f0c..."}

The fingerprint is that of the rule, the path and the line's text without its blanks, and of how
many of the same there are before it in the file. Line numbers may move; a further copy is new.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from prjury.errors import ConfigError
from prjury.judges.patterns.match import FileScan, Hit
from prjury.ports import Repository
from prjury.snapshot.kinds import REGULAR_MODES
from prjury.snapshot.model import printable, visible

MAX_BYTES = 16 * 1024 * 1024
_KEYS = ("rule", "path", "fingerprint")
_BLANKS = " \t\r\n"
_WRITE = "Write it: prjury judge patterns --workspace DIR --option write_baseline=FILE"


@dataclass(frozen=True, slots=True)
class Known:
    """An entry, and the line of the baseline on which it stands."""

    rule: str
    path: str
    fingerprint: str
    line: int


@dataclass(frozen=True)
class Baseline:
    """What is known; without a file, nothing."""

    file: str = ""
    entries: tuple[Known, ...] = ()

    def stale(
        self, found: Collection[str], packs: Collection[str], unread: Collection[str]
    ) -> list[Known]:
        """Entries that match nothing, as far as these packs have looked at their files."""
        return [
            entry
            for entry in self.entries
            if entry.fingerprint not in found
            and entry.rule.partition("/")[0] in packs
            and entry.path not in unread
        ]


def fingerprints(
    path: str, scan: FileScan, hits: Sequence[Hit], added: Collection[int]
) -> list[str]:
    """The fingerprint of each hit.

    Of several with the same text, those that the pull request does not touch are counted first: a
    copy that it adds above a known line is the one that is new.
    """
    lines = scan.content.decode("utf-8", "replace").removeprefix("\ufeff").split("\n")
    texts = ["".join(lines[hit.lines[0] - 1].split()) for hit in hits]
    order = sorted(
        range(len(hits)),
        key=lambda n: (hits[n].line_among(added) is not None, hits[n].lines, hits[n].spans),
    )
    seen: Counter[tuple[str, str]] = Counter()
    found = [""] * len(hits)
    for number in order:
        same = (hits[number].active.name, texts[number])
        parts = (same[0], printable(path), same[1], str(seen[same]))
        digest = hashlib.sha256("\0".join(parts).encode("utf-8", "backslashreplace"))
        found[number] = digest.hexdigest()[:16]
        seen[same] += 1
    return found


def load_baseline(repository: Repository, tree: str, file: str) -> Baseline:
    """The baseline as a commit or tree has it; ConfigError when it is missing or malformed."""
    blobs = {e.path: e.blob for e in repository.files(tree) if e.mode in REGULAR_MODES}
    content = repository.read([blobs[file]])[blobs[file]] if file in blobs else None
    if content is None:
        raise _wrong(
            f"patterns.baseline: there is no file {visible(file)} at the base",
            remedy=f"{_WRITE}, and commit it; or leave the option out",
        )
    return read_baseline(content, file)


def read_baseline(content: bytes, file: str) -> Baseline:
    """The entries; for anything that is not such a list, a ConfigError names the line."""
    name = visible(file)
    if len(content) > MAX_BYTES:
        raise _wrong(f"{name} is larger than {MAX_BYTES // 1024**2} MiB")
    try:
        text = content.decode("utf-8-sig")
        return Baseline(file, tuple(_read_entry(*entry, name) for entry in _entries(text)))
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise _wrong(f"{name} line {line} is not UTF-8") from error
    except json.JSONDecodeError as error:
        raise _wrong(f"{name} line {error.lineno} is not a baseline: {error.msg}") from error
    except RecursionError as error:
        raise _wrong(f"{name} is not a baseline: it is nested too deeply") from error


def _entries(text: str) -> Iterator[tuple[Any, int]]:
    """The values of a JSON list, each with its line."""
    decoder, at = json.JSONDecoder(), _skip_words(text, 0)
    at, line, counted = _past(text, at, "["), 1, 0
    while text[at : at + 1] != "]":
        line, counted = line + text.count("\n", counted, at), at
        value, end = decoder.raw_decode(text, at)
        yield value, line
        at = _skip_words(text, end)
        if text[at : at + 1] != "]":
            at = _past(text, at, ",")
    rest = _skip_words(text, at + 1)
    if rest < len(text):
        raise json.JSONDecodeError("something follows the list", text, rest)


def _skip_words(text: str, at: int) -> int:
    while at < len(text) and text[at] in _BLANKS:
        at += 1
    return at


def _past(text: str, at: int, mark: str) -> int:
    """Past a mark and the blanks after it."""
    if text[at : at + 1] != mark:
        raise json.JSONDecodeError(f"{mark!r} is missing", text, at)
    return _skip_words(text, at + 1)


def _read_entry(value: object, line: int, name: str) -> Known:
    if not isinstance(value, dict) or set(value) != set(_KEYS):
        raise _wrong(f"{name} line {line}: an entry has exactly the keys {', '.join(_KEYS)}")
    if not all(isinstance(value[key], str) and value[key] for key in _KEYS):
        raise _wrong(f"{name} line {line}: {', '.join(_KEYS)} are texts that are not empty")
    return Known(value["rule"], value["path"], value["fingerprint"], line)


def baseline_text(entries: Iterable[tuple[str, str, str]]) -> str:
    """The text of a baseline with these rules, paths and fingerprints; one line for each."""
    ordered = sorted({(path, rule, mark) for rule, path, mark in entries})
    lines = [
        json.dumps(dict(zip(_KEYS, (rule, path, mark), strict=True)), ensure_ascii=False)
        for path, rule, mark in ordered
    ]
    return "[" + ",".join(f"\n  {line}" for line in lines) + "\n]\n"


def _wrong(what: str, remedy: str = _WRITE) -> ConfigError:
    return ConfigError(what, remedy=remedy, reason="baseline_invalid")
