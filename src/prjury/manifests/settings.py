"""The settings of a program by dotted name: those in properties files, and in YAML."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from prjury.manifests.manifest import ManifestError

#: Levels and events of a YAML file that are read.
_DEEPEST, _MOST_EVENTS = 100, 200_000
_PROPERTY = re.compile(r"(?m)^[ \t\f]*(?![#!])((?:\\.|[^\\:=\s])+)")
_CONTINUED = re.compile(r"(?<!\\)(?:\\\\)*\\\r?\Z")
_INDEX = re.compile(r"\[[^\]]*\]")


class SettingName(NamedTuple):
    """A setting: its dotted name, and where its last part begins and ends in the text."""

    name: str
    start: int
    end: int


def list_properties(text: str) -> Iterator[SettingName]:
    continued = False
    start = 0
    for line in text.splitlines(keepends=True):
        match = None if continued else _PROPERTY.match(line)
        if match:
            yield SettingName(match[1], start + match.start(1), start + match.end(1))
        continued = bool(_CONTINUED.search(line.rstrip("\n")))
        start += len(line)


@dataclass
class _Level:
    """An open mapping or list; the names of a list's mappings are those of the list."""

    is_mapping: bool
    is_key: bool
    key: str | None = None
    names: tuple[str, ...] = field(default=())


def read_yaml_settings(text: str) -> Iterator[SettingName]:
    """Yield the settings of a YAML file; ManifestError for no YAML, or too deep or too large."""
    import yaml  # noqa: PLC0415 - loaded where there is such a file

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    levels: list[_Level] = []
    try:
        for number, event in enumerate(yaml.parse(text, Loader=loader)):
            if len(levels) > _DEEPEST or number > _MOST_EVENTS:
                raise ManifestError("it is too deep or too large")
            top = levels[-1] if levels else None
            if isinstance(event, yaml.CollectionEndEvent):
                ended = levels.pop()
                if levels:
                    levels[-1].key = "" if ended.is_key else None
            elif isinstance(event, yaml.CollectionStartEvent):
                names = (*top.names, top.key) if top and top.key else top.names if top else ()
                is_mapping = isinstance(event, yaml.MappingStartEvent)
                is_key = top is not None and top.is_mapping and top.key is None
                levels.append(_Level(is_mapping, is_key, names=names))
            elif isinstance(event, yaml.NodeEvent) and top and top.is_mapping:
                if top.key is not None:
                    top.key = None
                    continue
                top.key = event.value if isinstance(event, yaml.ScalarEvent) else ""
                start = event.start_mark.index if event.start_mark else 0
                end = event.end_mark.index if event.end_mark else start
                yield SettingName(".".join((*top.names, top.key)), start, end)
    except yaml.YAMLError as error:
        raise ManifestError(f"no YAML: {' '.join(str(error).split())[:200]}") from error


def plain_name(name: str) -> str:
    """Return a name as Spring compares it: without case, dashes, underscores and indexes."""
    return _INDEX.sub("", name).replace("-", "").replace("_", "").casefold()
