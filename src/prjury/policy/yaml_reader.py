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
_FLOAT = re.compile(r"(?![-+]?0\d)[-+]?(\d+\.\d*|\.\d+|\d+)([eE][-+]?\d+)?")
_WORDS = {"": None, "~": None, "null": None, "true": True, "false": False}
_LONGEST_NUMBER = 30


@dataclass
class Document:
    """A document's plain value, and the line and column (from 1) at which each key path stands."""

    value: Any
    source: str
    places: dict[KeyPath, tuple[int, int]] = field(default_factory=dict)

    def place_of(self, path: KeyPath) -> tuple[int, int]:
        """The line and the column of the path, or of its nearest parent."""
        while path and path not in self.places:
            path = path[:-1]
        return self.places.get(path, (1, 1))


def read_yaml(text: str, source: str, largest: int = MAX_BYTES) -> Document:
    """The document as plain dictionaries, lists and scalars; errors name the line."""
    if len(text.encode("utf-8", "surrogatepass")) > largest:
        raise ConfigError(f"{source} is larger than {largest // 1024} KiB", reason="too_large")
    try:
        _refuse_aliases_tags_and_depth(text, source)
        nodes = list(yaml.compose_all(text, Loader=_LOADER))
    except yaml.YAMLError as error:
        raise _make_syntax_error(error, text, source) from error
    if len(nodes) > 1:
        raise _refusal(source, _place(nodes[1]), "begins a second YAML document; one is allowed")
    document = Document(None, source)
    if nodes and nodes[0] is not None:
        document.value = _convert_node(nodes[0], (), document)
    return document


def _refuse_aliases_tags_and_depth(text: str, source: str) -> None:
    """Aliases, tags and deep nesting, found before anything is built from them."""
    depth = 0
    event: yaml.Event
    for event in yaml.parse(text, Loader=_LOADER):
        if isinstance(event, yaml.AliasEvent):
            raise _refusal(
                source,
                _place(event),
                f"uses the alias *{event.anchor}",
                why="Aliases can make a small file expand without end",
                remedy="Write the value out",
                reason="config_alias_forbidden",
            )
        if tag := getattr(event, "tag", None):
            what, reason = f"has the tag {tag}, which is refused", "config_tag_forbidden"
            remedy = "Write plain YAML without tags"
            raise _refusal(source, _place(event), what, remedy=remedy, reason=reason)
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH:
            raise _refusal(source, _place(event), f"is nested deeper than {MAX_DEPTH} levels")


def _place(thing: yaml.Event | yaml.Node) -> tuple[int, int]:
    mark = thing.start_mark
    return (mark.line + 1, mark.column + 1) if mark else (1, 1)


def _refusal(source: str, place: tuple[int, int], what: str, **more: str) -> ConfigError:
    line, column = place
    error = ConfigError(f"{source} line {line} {what}", **more)
    return error.at([f"{source}:{line}:{column}: {what}"])


def _make_syntax_error(error: yaml.YAMLError, text: str, source: str) -> ConfigError:
    remedy = "Check the indentation and quoting there"
    mark = getattr(error, "problem_mark", None)
    place = (mark.line + 1, mark.column + 1) if mark else (1, 1)
    line = "".join(text.splitlines()[place[0] - 1 : place[0]])
    problem = getattr(error, "problem", None) or str(error).partition("\n")[0]
    if isinstance(error, yaml.reader.ReaderError):
        before = text[: error.position]
        place = before.count("\n") + 1, len(before) - before.rfind("\n")
        problem = f"it holds the character U+{error.character:04X}"
    elif "\t" in line[: len(line) - len(line.lstrip())] + line[place[1] - 1 : place[1]]:
        problem, remedy = "a tab stands where YAML wants spaces", "Indent with spaces"
    return _refusal(source, place, f"is not YAML: {problem}", remedy=remedy)


def _convert_node(node: yaml.Node, path: KeyPath, document: Document) -> Any:  # noqa: ANN401 - YAML
    document.places[path] = _place(node)
    match node:
        case yaml.MappingNode():
            return dict(_convert_pairs(node, path, document))
        case yaml.SequenceNode():
            return [_convert_node(item, (*path, i), document) for i, item in enumerate(node.value)]
    return _convert_scalar(node, document.source)


def _convert_pairs(
    node: yaml.MappingNode, path: KeyPath, document: Document
) -> Iterator[tuple[str, Any]]:
    seen: set[str] = set()
    for key_node, value_node in node.value:
        if not isinstance(key_node, yaml.ScalarNode):
            raise _refusal(document.source, _place(key_node), "has a key that is not a word")
        key = key_node.value
        place = (*path, key)
        if key in seen:
            dotted = ".".join(map(str, place))
            raise _refusal(document.source, _place(key_node), f"repeats the key {dotted}")
        seen.add(key)
        value = _convert_node(value_node, place, document)
        document.places[place] = _place(key_node)
        yield key, value


def _convert_scalar(node: yaml.Node, source: str) -> Any:  # noqa: ANN401 - YAML
    text: str = node.value
    if getattr(node, "style", None):
        return text
    if text in _WORDS:
        return _WORDS[text]
    if len(text) > _LONGEST_NUMBER and _FLOAT.fullmatch(text):
        raise _refusal(source, _place(node), f"has a number of {len(text)} characters")
    if _INTEGER.fullmatch(text):
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) else text
