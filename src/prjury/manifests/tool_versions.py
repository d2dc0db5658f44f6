"""Reads files that name the versions of tools for version managers: asdf, mise, SDKMAN, jenv."""

from __future__ import annotations

import re
from collections.abc import Iterable

from prjury.manifests.manifest import Manifest, Role, runtime
from prjury.manifests.syntax import load_toml, table, text_of

#: Names of tools that managers spell in ways of their own.
_NAMES = {
    "nodejs": "node", "golang": "go", "openjdk": "java", "dotnet-core": "dotnet",
    "packagemanager": "",
}  # fmt: skip
#: A version behind the name of a vendor: ``temurin-21.0.2+13``, ``21.0.2-tem``, ``ruby-3.3.0``.
_VERSION = re.compile(
    r"(?:^|[a-z](?:32|64)?-|[a-z](?!(?:32|64)-))v?(\d+(?:\.\d+){0,3})(?![\d.]*[a-z]{3,}\d)"
)
_PAIR = r"(?m)^[ \t]*([^\s#=]+)(?:[ \t]*=[ \t]*|[ \t]+)([^\s#=]+)"


def read_tool_list(content: bytes) -> Manifest:
    """Read lines of a tool and its versions, as asdf and SDKMAN have them; the first one counts."""
    return _make_pins(match.groups() for match in re.finditer(_PAIR, text_of(content)))


def read_mise(content: bytes) -> Manifest:
    pairs = []
    for name, value in table(load_toml(text_of(content)), "tools").items():
        first = value[0] if isinstance(value, list) and value else value
        pairs.append((name, str(first.get("version") if isinstance(first, dict) else first)))
    return _make_pins(pairs)


def read_single_tool(content: bytes, tool: str) -> Manifest:
    """Read the version of one tool that is all of a file."""
    return _make_pins([(tool, text_of(content).strip().partition("\n")[0])])


def _make_pins(pairs: Iterable[tuple[str, ...]]) -> Manifest:
    pins = []
    for name, text in pairs:
        tool = name.lower().rpartition(":")[2].rpartition("/")[2]
        if match := _VERSION.search(text):
            pins.append(runtime(_NAMES.get(tool, tool), match[1], role=Role.LOCKED))
    return Manifest(coordinates=tuple(pins))
