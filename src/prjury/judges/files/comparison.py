"""Two texts compared by what they mean: as source code, XML, POM, data, or words.

A comparer takes what is expected and what was found. It returns None where both mean the same, else
the difference in a few words. The texts come from somebody who is not trusted: documents that refer
to others, entities, and nesting without end are refused.
"""

from __future__ import annotations

import contextlib
import difflib
import json
import re
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import PurePosixPath
from typing import Any, TypeAlias

from prjury.code.languages import Language, language_of
from prjury.code.parser import NotParsed, Parsed, Parser, job
from prjury.code.source import UnreadableError, decode, resolved
from prjury.deadline import Deadline
from prjury.judges.files.form import FORMS
from prjury.judges.files.pom import pom_meaning
from prjury.judges.files.syntax import Canonical, NotComparableError, canonical
from prjury.manifests.manifest import ManifestError
from prjury.manifests.syntax import toml_of

#: Seconds for parsing all texts.
_SECONDS = 60.0
_MOST_LINES = 40
_WIDEST_LINE = 160
_SPACE = re.compile(r"\s+")

#: Brings a text into a form in which two texts that mean the same are equal.
#: It raises `NotComparableError` where the text cannot be understood.
Meaning: TypeAlias = Callable[[str], object]


def words(text: str) -> list[str]:
    """The lines that hold something, with single blanks."""
    lines = (_SPACE.sub(" ", line).strip() for line in text.splitlines())
    return [line for line in lines if line]


class SourceTexts:
    """Source code of several files, parsed together the first time that one is asked for."""

    def __init__(self, texts: Iterable[tuple[str, str]]) -> None:
        """Take the path and the text of each; those in languages without a parser are left out."""
        self._waiting = {
            (language.name, text): language
            for path, text in texts
            if (language := language_here(path))
        }
        self._parsed: dict[tuple[str, str], Parsed | NotParsed] = {}

    def meaning(self, language: Language, text: str) -> Canonical:
        """The canonical syntax tree of a text.

        Raises:
            NotComparableError: where it cannot be parsed.
        """
        key = (language.name, text)
        plain = _plain(language, text)
        if key not in self._parsed:
            self._waiting.setdefault(key, language)
            self._parse()
        parsed = self._parsed[key]
        if isinstance(parsed, NotParsed):
            raise NotComparableError(f"it could not be parsed ({parsed})")
        return canonical(plain, parsed, language)

    def _parse(self) -> None:
        jobs, keys = [], []
        for key, language in self._waiting.items():
            with contextlib.suppress(NotComparableError):  # said when it is asked for
                jobs.append(job(_plain(language, key[1]), language, tree=True))
                keys.append(key)
        replies = Parser().parse(jobs, Deadline.after(_SECONDS))
        self._parsed.update(zip(keys, replies, strict=True))
        self._waiting.clear()


def _plain(language: Language, text: str) -> str:
    try:
        return resolved(decode(text.encode()), language)
    except UnreadableError as error:
        raise NotComparableError(str(error)) from error


def language_here(path: str) -> Language | None:
    """The language of a file, if its source code can be compared."""
    language = language_of(path)
    return language if language and language.name in FORMS else None


def json_value(text: str) -> object:
    """JSON; the order of keys has no meaning, a key that is given twice is refused."""
    try:
        return _typed(json.loads(text, object_pairs_hook=_once))
    except RecursionError as error:
        raise NotComparableError("it is nested without end") from error
    except ValueError as error:
        raise NotComparableError(f"it is not JSON: {error}") from error


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("a key is given twice")
    return made


def yaml_value(text: str) -> object:
    """The YAML documents of a text, without aliases."""
    import yaml  # noqa: PLC0415 - only for YAML

    try:
        if any(isinstance(token, yaml.AliasToken) for token in yaml.scan(text)):
            raise NotComparableError("it has aliases, which are not followed")
        return [_typed(document) for document in yaml.safe_load_all(text)]
    except RecursionError as error:
        raise NotComparableError("it is nested without end") from error
    except (yaml.YAMLError, ValueError) as error:
        raise NotComparableError(f"it is not YAML: {str(error).splitlines()[0]}") from error


def toml_value(text: str) -> object:
    """TOML; the order of keys and tables has no meaning."""
    try:
        return _typed(toml_of(text))
    except ManifestError as error:
        raise NotComparableError(str(error)) from error


def _typed(value: object) -> object:
    """The value with the type of its numbers: ``1``, ``1.0`` and ``true`` are not the same."""
    if isinstance(value, dict):
        return {("key", str(type(key)), key): _typed(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_typed(each) for each in value]
    return (type(value).__name__, repr(value) if value != value else value)  # noqa: PLR0124 - NaN


def xml_value(text: str) -> str:
    """XML in its canonical form; comments, prefixes and blanks around texts have no meaning."""
    from xml.etree.ElementTree import canonicalize  # noqa: PLC0415 - only for XML

    from defusedxml import DefusedXmlException  # noqa: PLC0415 - the same
    from defusedxml.ElementTree import ParseError, fromstring  # noqa: PLC0415 - the same

    plain = text.removeprefix("\ufeff")
    try:
        fromstring(plain, forbid_dtd=True)
        return canonicalize(plain, strip_text=True, rewrite_prefixes=True)
    except DefusedXmlException as error:
        raise NotComparableError("it has a document type or entities, which are refused") from error
    except (ParseError, ValueError, RecursionError) as error:
        raise NotComparableError(f"it is not XML: {error}") from error


_BY_SUFFIX: dict[str, Meaning] = {
    ".json": json_value,
    ".yml": yaml_value,
    ".yaml": yaml_value,
    ".toml": toml_value,
    ".xml": xml_value,
}


def meaning_of(path: str, sources: SourceTexts) -> Meaning:
    """How a file of this name is compared: as code, POM, XML, data, or else as words."""
    if PurePosixPath(path).name == "pom.xml":
        return pom_meaning
    if (by_suffix := _BY_SUFFIX.get(PurePosixPath(path).suffix.lower())) is not None:
        return by_suffix
    language = language_here(path)
    return partial(sources.meaning, language) if language else words


def difference(expected: str, found: str) -> tuple[str, int]:
    """A short diff of two texts, blanks aside, and the first line of the second one in it."""
    pair = [_squeezed(text) for text in (expected, found)]
    numbers = [number for number, _ in pair[1]]
    before, after = ([line for _, line in side] for side in pair)
    lines = list(difflib.unified_diff(before, after, "expected", "found", n=1, lineterm=""))
    first = next((at for at, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), None)
    at = min(len(before), len(after)) if first is None else first
    line = numbers[min(at, len(numbers) - 1)] if numbers else 1
    return "\n".join(_shortened(lines)), line


def _squeezed(text: str) -> list[tuple[int, str]]:
    lines = enumerate(text.splitlines(), start=1)
    return [(number, _SPACE.sub(" ", line).strip()) for number, line in lines if line.strip()]


def _shortened(lines: list[str]) -> Iterable[str]:
    for line in lines[:_MOST_LINES]:
        yield line if len(line) <= _WIDEST_LINE else f"{line[: _WIDEST_LINE - 1]}…"
    if len(lines) > _MOST_LINES:
        yield f"… and {len(lines) - _MOST_LINES} more lines"
