"""What a machine lacks by the words of tools, and what to paste, by ``remedies.yml``. Pure.

A strict row makes a failure the machine's without a look at the base; the others word what to do
where neither side could be judged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from prjury.judges.builds.source_tree import parents_of
from prjury.manifests.spans import read_span
from prjury.policy import POLICY_PATH
from prjury.snapshot.model import printable

_TABLE = Path(__file__).with_name("remedies.yml").read_bytes()  # before a build could change it
_LONGEST_LINE, _LONGEST_NAME = 220, 60
#: Lines behind the word of a package manager in which the cause is looked for.
_REACH = 12
#: From the version of a class file to that of Java.
_BEFORE_JAVA_1 = 44
_LANGUAGES = {"a shell": "sh", "a comment": "text"}


class Snippet(Struct, frozen=True):
    """Lines to paste, and where: by default into the policy."""

    language: str = "yaml"
    where: str = POLICY_PATH
    text: str = ""


class Remedy(Struct, frozen=True):
    """What the machine lacks by a line of a tool, and what to do; it `passes` if tried again."""

    line: str
    words: str
    snippet: Snippet
    passes: bool = False
    strict: bool = False
    download: bool = False


class Paste(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Lines of the table to paste."""

    paste: str
    where: str = "the workflow"


class Row(Paste, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A row of the table; see there."""

    marks: tuple[str, ...]
    remedy: str
    tool: str = ""
    setup: str = ""
    strict: bool = False
    download: bool = False
    passes: bool = False
    service: bool = False
    missing: bool = False


class Table(Struct, frozen=True, forbid_unknown_fields=True):
    """All rows, the words of failed downloads, and what to paste by reasons."""

    rows: tuple[Row, ...]
    downloads: tuple[str, ...]
    pastes: dict[str, Paste]


@cache
def read_table() -> Table:
    return msgspec.yaml.decode(_TABLE, type=Table)


def find_remedy(
    lines: Sequence[str],
    tree_paths: frozenset[str] = frozenset(),
    versions: Mapping[str, str] | None = None,
    *,
    strict: bool = True,
) -> Remedy | None:
    if not strict and (submodule := _find_submodule_remedy(lines, tree_paths)):
        return submodule
    lowered = [line.lower() for line in lines]
    for at, line in enumerate(lowered):  # Java only repeats the name of a host that it knows not
        host = line.partition("://")[2].partition("/")[0]
        if host and line.partition(" -> [help")[0].rstrip().endswith(f"): {host}"):
            lowered[at] += " unknown host"
    for row in read_table().rows:
        if strict and not row.strict:
            continue
        for mark in row.marks:
            for index, line in enumerate(lowered):
                value = match_mark(mark, line, lines[index])
                if value is None or (row.missing and is_of_tree(value, tree_paths)):
                    continue
                if row.download and strict and not _is_download_failure(lowered, index):
                    continue
                return _make_remedy(row, lines[index], value, mark, versions or {})
    return None


def match_mark(mark: str, lowered: str, line: str) -> str | None:
    """The text in a line for the mark's ``{}``, empty for a mark without; None for no match."""
    before, gap, after = mark.partition("{}")
    start = _find_pattern_end(before, lowered, 0)
    if start < 0 or (gap and _find_pattern_end(after, lowered, start) < 0):
        return None
    if not gap:
        return ""
    if not after:  # up to the first word with a digit; the first word where none has one
        words = line[start:].split()
        ends = (end for end, word in enumerate(words[:3], 1) if any(map(str.isdigit, word)))
        return " ".join(words[: next(ends, 1)]).strip("'\"`{}").rstrip(".,:;")[:_LONGEST_NAME]
    text = line[start : lowered.find(after.partition("…")[0], start)].strip()
    if not before:
        text = text.split()[-1] if text else ""
    return text.strip("'\"`‘’:")[:_LONGEST_NAME]


def _find_pattern_end(pattern: str, line: str, start: int) -> int:
    """Return the end of the last part, which ``…`` separates from the others; -1 for none."""
    for part in pattern.split("…"):
        at = line.find(part, start)
        if at < 0:
            return -1
        start = at + len(part)
    return start


def _is_download_failure(lines: Sequence[str], index: int) -> bool:
    """A package manager says, here or just before, that a download failed."""
    near = [line.strip() for line in lines[max(0, index - _REACH) : index + 1]]
    return any(
        line.startswith(mark[1:]) if mark.startswith("^") else mark in line
        for line in near
        for mark in read_table().downloads
    )


def _make_remedy(row: Row, line: str, value: str, mark: str, versions: Mapping[str, str]) -> Remedy:
    version = versions.get(row.tool, "")
    if mark.startswith("class file"):
        major = value.partition(".")[0]
        value = str(int(major) - _BEFORE_JAVA_1) if major.isdecimal() else ""
    words = row.remedy.replace("{name}", printable(value))
    if row.tool and value:
        comparison = f"; here is {version}" if version else ""
        words = f"this project wants {row.tool} {printable(value)}{comparison}: {words}"
    shown, snippet = line.strip()[:_LONGEST_LINE], _make_snippet(row, value, row.setup)
    return Remedy(shown, words, snippet, row.passes, row.strict, row.download)


def _make_snippet(row: Paste, value: str = "", tool: str = "") -> Snippet:
    number = choose_number(value, tool)
    text = row.paste.strip().replace("{version}", number).replace("{name}", printable(value))
    return Snippet(_LANGUAGES.get(row.where, "yaml"), row.where, text)


def make_reason_facts(
    reason: str,
    snippet: Snippet | None = None,
    remedy: str = "",
    wants: Sequence[tuple[str, str]] = (),
) -> dict[str, Any]:
    """Metadata of what is no answer; the lines to paste are the table's where none are given."""
    table = read_table()
    rows = [(row, version) for tool, version in wants for row in table.rows if row.setup == tool]
    if reason == "environment" and rows:
        row, version = rows[0]
        snippet = _make_snippet(row, version, row.setup)
    elif snippet is None and reason in table.pastes:
        snippet = _make_snippet(table.pastes[reason])
    words = {"remedy": remedy, "snippet": snippet and msgspec.to_builtins(snippet)}
    return {"reason": reason, **{name: value for name, value in words.items() if value}}


def choose_number(value: str, tool: str) -> str:
    """A version that a range allows, as set-up actions take it."""
    span = read_span(value, "runtime", tool) if tool and value else None
    if span and span.low:
        return ".".join(map(str, span.low))
    number = "".join(sign if sign.isdigit() or sign == "." else " " for sign in value).split()
    return number[0].strip(".") if number else "…"


def is_of_tree(name: str, tree: frozenset[str]) -> bool:
    """A file or directory of the tree has the name of a module, package or header."""
    if name.startswith("."):
        return True
    below = f"/{name if '/' in name else name.replace('::', '/').replace('.', '/')}"
    return any(f"{below}/" in f"/{path}" or f"{below}." in f"/{path}." for path in tree)


_SUBMODULE = (
    "builds see no submodules: take the result of a build elsewhere (`build: {from: evidence}` or "
    "`{from: checks}`), or a system's own copy of what is missing (`build: {command: …}`): `%s`"
)


def _find_submodule_remedy(lines: Sequence[str], tree: frozenset[str]) -> Remedy | None:
    """The entry of the tree below which a missing file lies, although it is no directory."""
    for line in lines:
        for word in line.split():
            path = word.strip("'\"`‘’,.:;()[]")
            place = next((place for place in parents_of(path) if place in tree), "")
            if "/" in path and place:
                snippet = Snippet(text="build: {from: checks}")
                return Remedy(line.strip()[:_LONGEST_LINE], _SUBMODULE % printable(place), snippet)
    return None


def lacks_service(message: str) -> bool:
    """A test fails because a database or the like does not answer."""
    lowered = message.lower()
    marks = (mark for row in read_table().rows if row.service for mark in row.marks)
    refused = ("refused", "dial ", "connect", "no such file", "daemon")
    return any(word in lowered for word in refused) and any(mark in lowered for mark in marks)
