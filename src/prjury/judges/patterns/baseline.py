"""The baseline, a JSON list in the repository of findings that were known when accepted.

    {"rule": "jakarta/servlet", "path": "src/A.java", "fingerprint": "1f0c..."}

The fingerprint is that of the rule, the path and the line's text without its blanks, and of how
many of the same there are before it in the file. Line numbers may move; a further copy is new.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Annotated

from msgspec import Meta, Struct, ValidationError, convert
from msgspec.json import encode

from prjury.errors import ConfigError
from prjury.judges.patterns.match import FileScan, Hit
from prjury.ports import Repository
from prjury.snapshot.kinds import REGULAR_MODES
from prjury.snapshot.model import printable, visible

MAX_BYTES = 16 * 1024 * 1024
_WRITE = "Write it: prjury judge patterns --workspace DIR --option write_baseline=FILE"


class Known(Struct, frozen=True, forbid_unknown_fields=True):
    """An entry; none of its texts is empty."""

    rule: Annotated[str, Meta(min_length=1)]
    path: Annotated[str, Meta(min_length=1)]
    fingerprint: Annotated[str, Meta(min_length=1)]


class Baseline(Struct, frozen=True):
    """What is known; without a file, nothing."""

    file: str = ""
    text: str = ""
    entries: tuple[Known, ...] = ()

    def list_stale_entries_and_lines(
        self, fingerprints: Collection[str], packs: Collection[str], unread: Collection[str]
    ) -> list[tuple[Known, int]]:
        """Return entries that match nothing, as far as these packs have looked, and their lines."""
        return [
            (entry, self.text.count("\n", 0, max(0, self.text.find(entry.fingerprint))) + 1)
            for entry in self.entries
            if entry.fingerprint not in fingerprints
            and entry.rule.partition("/")[0] in packs
            and entry.path not in unread
        ]


def compute_fingerprints(
    path: str, scan: FileScan, hits: Sequence[Hit], added: Collection[int]
) -> list[str]:
    """Return the fingerprint of each hit; of equal ones, those that stood there count first."""
    lines = scan.content.decode("utf-8", "replace").removeprefix("\ufeff").split("\n")
    texts = ["".join(lines[hit.lines[0] - 1].split()) for hit in hits]
    order = sorted(
        range(len(hits)),
        key=lambda n: (hits[n].line_among(added) is not None, hits[n].lines, hits[n].spans),
    )
    seen: Counter[tuple[str, str]] = Counter()
    digests = [""] * len(hits)
    for number in order:
        same = (hits[number].active.name, texts[number])
        parts = (same[0], printable(path), same[1], str(seen[same]))
        digest = hashlib.sha256("\0".join(parts).encode("utf-8", "backslashreplace"))
        digests[number] = digest.hexdigest()[:16]
        seen[same] += 1
    return digests


def load_baseline(repository: Repository, tree: str, file: str) -> Baseline:
    """Read the baseline of a commit or tree; ConfigError when it is missing or malformed."""
    blobs = {e.path: e.blob for e in repository.files(tree) if e.mode in REGULAR_MODES}
    content = repository.read([blobs[file]])[blobs[file]] if file in blobs else None
    if content is None:
        raise _wrong(
            f"patterns.baseline: there is no file {visible(file)} at the base",
            remedy=f"{_WRITE}, and commit it; or leave the option out",
        )
    return parse_baseline(content, file)


def parse_baseline(content: bytes, file: str) -> Baseline:
    """Read the entries; for anything that is not such a list, a ConfigError names the line."""
    name = visible(file)
    if len(content) > MAX_BYTES:
        raise _wrong(f"{name} is larger than {MAX_BYTES // 1024**2} MiB")
    try:
        text = content.decode("utf-8-sig")
        return Baseline(file, text, tuple(_read_entries(text, name)))
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise _wrong(f"{name} line {line} is not UTF-8") from error
    except json.JSONDecodeError as error:
        raise _wrong(f"{name} line {error.lineno} is not a baseline: {error.msg}") from error
    except (ValueError, RecursionError) as error:  # a number without end, or a depth
        raise _wrong(f"{name} is not a baseline: {error}") from error


def _read_entries(text: str, name: str) -> Iterator[Known]:
    values = json.loads(text)
    if not isinstance(values, list):
        raise _wrong(f"{name} line 1 is not a baseline: it is no list")
    for number, value in enumerate(values):
        try:
            yield convert(value, Known)
        except ValidationError as error:
            line = _find_line_of_item(text, number)
            raise _wrong(f"{name} line {line} is not an entry: {error}") from error


def _find_line_of_item(text: str, index: int) -> int:
    end = text.index("[") + 1
    for _ in range(index + 1):
        at = end
        while text[at] in " \t\r\n,":
            at += 1
        end = json.JSONDecoder().raw_decode(text, at)[1]
    return text.count("\n", 0, at) + 1


def baseline_text(entries: Iterable[tuple[str, str, str]]) -> str:
    """Return the text of a baseline with these rules, paths and fingerprints, one on each line."""
    ordered = sorted({(path, rule, mark) for rule, path, mark in entries})
    lines = [encode(Known(rule, path, mark)).decode() for path, rule, mark in ordered]
    return "[" + ",".join(f"\n  {line}" for line in lines) + "\n]\n"


def _wrong(what: str, remedy: str = _WRITE) -> ConfigError:
    return ConfigError(what, remedy=remedy, reason="baseline_invalid")
