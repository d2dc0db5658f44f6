"""A YAML reader for policies: no aliases, no tags, no repeated keys, no surprising types.

YAML 1.1 turns ``on`` into true, ``010`` into eight and ``1:30`` into ninety. Here a plain scalar is
null, true, false, a decimal number, or a string. The reader keeps the line of every key path.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import yaml

from prjury.errors import ConfigError

KeyPath: TypeAlias = tuple[str | int, ...]

MAX_BYTES = 64 * 1024
MAX_DEPTH = 20

#: libyaml reads the rule packs sixteen times faster; the result is the same.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_INTEGER = re.compile(r"[-+]?(0|[1-9]\d*)")
_FLOAT = re.compile(r"[-+]?(\d+\.\d*|\.\d+|\d+)([eE][-+]?\d+)?")
_WORDS = {"": None, "~": None, "null": None, "true": True, "false": False}
_LONGEST_NUMBER = 30


@dataclass
class Document:
    """A document's plain value and the line (from 1) on which each key path stands."""

    value: Any
    source: str
    lines: dict[KeyPath, int] = field(default_factory=dict)

    def line_of(self, path: KeyPath) -> int | None:
        """The line of the path, or of its nearest parent."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path)


def read_yaml(text: str, source: str, largest: int = MAX_BYTES) -> Document:
    """The document as plain dictionaries, lists and scalars.

    Args:
        source: what the text is called in messages, such as a file name.
        largest: bytes.

    Raises:
        ConfigError: for anything that is not plain YAML, with the line.
    """
    if len(text.encode("utf-8", "surrogatepass")) > largest:
        raise ConfigError(f"{source} is larger than {largest // 1024} KiB", reason="too_large")
    try:
        _refuse_tricks(text, source)
        nodes = list(yaml.compose_all(text, Loader=_LOADER))
    except yaml.YAMLError as error:
        raise _syntax_error(error, text, source) from error
    if len(nodes) > 1:
        raise ConfigError(f"{source} holds {len(nodes)} YAML documents; one is allowed")
    document = Document(None, source)
    if nodes and nodes[0] is not None:
        document.value = _convert(nodes[0], (), document)
    return document


def _refuse_tricks(text: str, source: str) -> None:
    """Aliases, tags and deep nesting, found before anything is built from them."""
    depth = 0
    event: yaml.Event
    for event in yaml.parse(text, Loader=_LOADER):
        if isinstance(event, yaml.AliasEvent):
            line = _line(event)
            raise ConfigError(
                f"{source} line {line} uses the alias *{event.anchor}",
                why="Aliases can make a small file expand without end",
                remedy="Write the value out",
                reason="config_alias_forbidden",
            )
        if tag := getattr(event, "tag", None):
            raise ConfigError(
                f"{source} line {_line(event)} has the tag {tag}, which is refused",
                remedy="Write plain YAML without tags",
                reason="config_tag_forbidden",
            )
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH:
            line = _line(event)
            raise ConfigError(f"{source} line {line} is nested deeper than {MAX_DEPTH} levels")


def _line(thing: yaml.Event | yaml.Node) -> int:
    mark = thing.start_mark
    return mark.line + 1 if mark else 1


def _syntax_error(error: yaml.YAMLError, text: str, source: str) -> ConfigError:
    mark = getattr(error, "problem_mark", None)
    where = f"{source} line {mark.line + 1}" if mark else source
    problem = getattr(error, "problem", None) or str(error).partition("\n")[0]
    if isinstance(error, yaml.reader.ReaderError):
        where = f"{source} line {text.count(chr(10), 0, error.position) + 1}"
        problem = f"it holds the character U+{error.character:04X}"
    return ConfigError(
        f"{where} is not YAML: {problem}", remedy="Check the indentation and quoting there"
    )


def _convert(node: yaml.Node, path: KeyPath, document: Document) -> Any:  # noqa: ANN401 - YAML
    document.lines[path] = _line(node)
    match node:
        case yaml.MappingNode():
            return dict(_pairs(node, path, document))
        case yaml.SequenceNode():
            return [_convert(item, (*path, i), document) for i, item in enumerate(node.value)]
    return _scalar(node, document.source)


def _pairs(node: yaml.MappingNode, path: KeyPath, document: Document) -> Iterator[tuple[str, Any]]:
    seen: set[str] = set()
    for key_node, value_node in node.value:
        line = _line(key_node)
        if not isinstance(key_node, yaml.ScalarNode):
            raise ConfigError(f"{document.source} line {line} has a key that is not a word")
        key = key_node.value
        here = (*path, key)
        if key in seen:
            told = ".".join(map(str, here))
            raise ConfigError(f"{document.source} line {line} repeats the key {told}")
        seen.add(key)
        value = _convert(value_node, here, document)
        document.lines[here] = line
        yield key, value


def _scalar(node: yaml.Node, source: str) -> Any:  # noqa: ANN401 - YAML
    text: str = node.value
    if getattr(node, "style", None):
        return text
    if text in _WORDS:
        return _WORDS[text]
    if len(text) > _LONGEST_NUMBER and _FLOAT.fullmatch(text):
        raise ConfigError(f"{source} line {_line(node)} has a number of {len(text)} characters")
    if _INTEGER.fullmatch(text):
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) and not _leading_zero(text) else text


def _leading_zero(text: str) -> bool:
    return bool(re.match(r"[-+]?0\d", text))
