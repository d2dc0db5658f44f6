"""Text, TOML and JSON of build files: whatever is wrong with one is a reason, never a crash."""

from __future__ import annotations

import codecs
import json
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import re2

from prjury.code.source import MAX_BYTES, MAX_LINE
from prjury.manifests.manifest import ManifestError

#: Lines by what stands on them.
Mentions: TypeAlias = Mapping[Any, Sequence[int]]

_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
#: `tomllib` takes quadratic time for a key of many parts.
_LONG_KEY = re2.compile(r"(?:[\w-][\"']?[ \t]*\.[ \t]*[\"']?[\w-]*){40}")
_QUOTED = re2.compile(r"\"((?:[^\"\\\n]|\\.)*)\"|'([^'\n]*)'")
_KEY = re.compile(r"\s*([\w-]+(?:\.[\w-]+)*)\s*=")
_PAIR = re2.compile(r'"((?:[^"\\\n]|\\.)*)"\s*:\s*"((?:[^"\\\n]|\\.)*)"')
#: A name that stands for a value, how often one is put in, and the longest text.
_PLACEHOLDER = re.compile(r"\$\{([^${}]+)\}|\$([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)")
_MAX_STEPS = 20
_MAX_LENGTH = 500


def text_of(content: bytes) -> str:
    """Decode a build file: UTF-8, or UTF-16 with a mark, lines of sound length, line feeds."""
    encoding = "utf-16" if content.startswith(_UTF_16) else "utf-8-sig"
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        raise ManifestError(f"not {encoding[:6].upper()} (byte {error.start})") from error
    if "\0" in text:
        raise ManifestError("not text (NUL bytes)")
    if any(len(line) > MAX_LINE for line in text.split("\n")):
        raise ManifestError(f"a line above {MAX_LINE} characters")
    return text.replace("\r\n", "\n")


def check_size(content: bytes, limit: int = MAX_BYTES) -> bytes:
    """Return the content; ManifestError if it has more bytes than the limit."""
    if len(content) > limit:
        raise ManifestError(f"larger than {limit // 1024} KiB")
    return content


def load_toml(text: str) -> dict[str, Any]:
    """Read TOML; ManifestError if it is none, or nested without end."""
    if _LONG_KEY.search(text):
        raise ManifestError("not TOML that a person would write: a key has more than 40 parts")
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise ManifestError("not TOML: nested without end") from error
    except ValueError as error:
        raise ManifestError(f"not TOML: {error}") from error


def load_json_object(text: str) -> dict[str, Any]:
    """Read a JSON object; ManifestError if it is none, or nested without end."""
    try:
        document = json.loads(text)
    except RecursionError as error:
        raise ManifestError("not JSON: nested without end") from error
    except ValueError as error:
        raise ManifestError(f"not JSON: {error}") from error
    if not isinstance(document, dict):
        raise ManifestError("not a JSON object")
    return document


def table(document: object, *keys: str) -> dict[str, Any]:
    """The table at the path of keys; an empty one where there is none."""
    for key in keys:
        document = document.get(key) if isinstance(document, dict) else None
    return document if isinstance(document, dict) else {}


def words(value: object) -> list[str]:
    """The strings of a list, in their order."""
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def strings(value: object) -> tuple[str, ...] | None:
    """The list of strings; empty for None, None for anything else."""
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        return None
    return tuple(value)


def word(value: object) -> str | None:
    """The value if it is a string that holds something."""
    return value if isinstance(value, str) and value.strip() else None


def index_toml_lines(text: str) -> Mentions:
    """The lines on which each quoted string, key and last part of a table's name stands."""
    places: dict[str, list[int]] = defaultdict(list)
    for number, line in enumerate(text.split("\n"), start=1):
        if line.lstrip().startswith("#"):
            continue
        for name in dict.fromkeys(_list_keys_and_strings(line)):
            places[name].append(number)
    return places


def _list_keys_and_strings(line: str) -> Iterator[str]:
    code = line.partition("#")[0].strip()
    if code.startswith("[") and code.endswith("]"):
        yield code.strip("[] ").rpartition(".")[2].strip(" \"'")
        return
    if key := _KEY.match(line):
        yield from (key[1], key[1].partition(".")[0])
    for match in _QUOTED.finditer(line):
        yield match[1] if match[1] is not None else match[2]


def index_json_pair_lines(text: str) -> Mentions:
    """The lines on which each pair of a key and a string stands, as they are written."""
    places: dict[tuple[str, str], list[int]] = defaultdict(list)
    line, place = 1, 0
    for match in _PAIR.finditer(text):
        line += text.count("\n", place, match.start())
        place = match.start()
        places[match[1], match[2]].append(line)
    return places


def lines_in(mentions: Mentions, key: object) -> tuple[int, ...]:
    return tuple(mentions.get(key, ()))


def fill_properties(text: str, properties: Mapping[str, str]) -> str | None:
    """Put the properties in; None for one that is missing, or a cycle of them."""
    for _ in range(_MAX_STEPS):
        match = _PLACEHOLDER.search(text)
        if not match:
            return text
        value = properties.get(match[1] or match[2])
        if value is None or len(text) + len(value) > _MAX_LENGTH:
            return None
        text = text[: match.start()] + value + text[match.end() :]
    return None
