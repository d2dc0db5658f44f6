"""In which part of a file a line stands, told from everything above it.

A part is the names that lead to the line, outermost first: a table and a list in TOML, objects in
JSON, elements in XML, a section and an option in INI files, a block in ``go.mod``. None is a place
that is not known for certain.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import TypeAlias

Place: TypeAlias = tuple[str, ...] | None
Places: TypeAlias = Callable[[Sequence[str]], list[Place]]

_LONGEST_LINE = 1_000
_DEEPEST = 60
_JSON_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,"]')
_TOML_TOKEN = re.compile(r"""\"\"\"|'''|"(?:[^"\\]|\\.)*"|'[^']*'|#.*|[\[\]{}"']""")
_TOML_TABLE = re.compile(r"\s*\[\[?([^\[\]]+)\]\]?\s*(?:#.*)?")
_TOML_KEY = re.compile(r"""\s*["']?([\w.-]+)["']? *=""")
_XML_TOKEN = re.compile(
    r"""<!--.*?-->|<[/!?]?([\w:.-]+)(?:[^<>"']|"[^"<]*"|'[^'<]*')*>|<""", re.DOTALL
)
_INI_SECTION = re.compile(r"\[([^\]]+)\]\s*")
_INI_OPTION = re.compile(r"([\w.-]+)\s*[=:].*")
_GO_BLOCK = re.compile(r"(\w+) \(\s*(?://.*)?")


def anywhere(lines: Sequence[str]) -> list[Place]:
    """For files in which every line says all by itself."""
    return [()] * len(lines)


def in_json(lines: Sequence[str]) -> list[Place]:
    """The keys of the objects around each line."""
    found: list[Place] = []
    path: list[str] = []
    last = key = ""
    for line in lines:
        found.append(tuple(path))
        if len(line) > _LONGEST_LINE or len(path) > _DEEPEST:
            return _unknown(found, lines)
        for piece in _JSON_TOKEN.findall(line):
            if piece == '"' or (piece in "}]" and not path):
                return _unknown(found, lines)
            if piece in "}]":
                path.pop()
            elif piece in "{[":
                path.append(key)
            last, key = _json_key(piece, last, key)
    return found


def _json_key(piece: str, last: str, key: str) -> tuple[str, str]:
    """The last text that was seen, and the key whose value follows."""
    if piece.startswith('"'):
        return piece[1:-1], key
    return last, last if piece == ":" else ""


def in_toml(lines: Sequence[str]) -> list[Place]:
    """The table and the list that is open there, ``""`` for none."""
    found: list[Place] = []
    table = key = ""
    depth = 0
    for line in lines:
        found.append((table, key if depth else ""))
        if len(line) > _LONGEST_LINE:
            return _unknown(found, lines)
        if not depth and (header := _TOML_TABLE.fullmatch(line.rstrip())):
            table = re.sub(r"""["' ]""", "", header[1])
            continue
        if not depth:
            if line.lstrip().startswith("["):
                return _unknown(found, lines)
            named = _TOML_KEY.match(line)
            key = named[1] if named else ""
        pieces = _TOML_TOKEN.findall(line)
        if {'"""', "'''", '"', "'"} & set(pieces):
            return _unknown(found, lines)
        depth += sum((piece in "[{") - (piece in "]}") for piece in pieces)
    return found


def in_xml(lines: Sequence[str]) -> list[Place]:
    """The elements around each line; a line that begins in a tag or in a comment is nowhere."""
    starts = list(accumulate(map(len, lines), initial=0))[:-1]
    found: list[Place] = []
    path: list[str] = []
    for token in _XML_TOKEN.finditer("".join(lines)):
        found += [tuple(path)] * (bisect_right(starts, token.start()) - len(found))
        if not _entered(path, token) or len(path) > _DEEPEST:
            break
        found += [None] * (bisect_left(starts, token.end()) - len(found))
    else:
        return [*found, *[tuple(path)] * (len(lines) - len(found))]
    return [*found, *[None] * (len(lines) - len(found))]


def _entered(path: list[str], token: re.Match[str]) -> bool:
    """Follows a tag; whether it is one that can be followed."""
    text, name = token[0], token[1]
    if name is None:
        return text != "<"
    if text.startswith("</"):
        return bool(path) and path.pop() == name
    if not text.startswith(("<?", "<!")) and not text.endswith("/>"):
        path.append(name)
    return True


def in_ini(lines: Sequence[str]) -> list[Place]:
    """The section, and for an indented line the option that it goes on."""
    found: list[Place] = []
    section = option = ""
    for line in lines:
        indented = line[:1] in {" ", "\t"}
        found.append((section, option if indented else ""))
        if header := _INI_SECTION.fullmatch(line):
            section, option = header[1], ""
        elif not indented and (named := _INI_OPTION.fullmatch(line.rstrip())):
            option = named[1]
    return found


def in_go_mod(lines: Sequence[str]) -> list[Place]:
    """The block in parentheses."""
    found: list[Place] = []
    block = ""
    for line in lines:
        found.append((block,))
        if opened := _GO_BLOCK.fullmatch(line.strip()):
            block = opened[1]
        elif line.strip().startswith(")"):
            block = ""
    return found


def in_yaml(lines: Sequence[str]) -> list[Place]:
    """Nowhere in particular, but not within text over several lines."""
    found: list[Place] = []
    text: int | None = None
    for line in lines:
        indent = len(line) - len(line.lstrip(" "))
        if text is not None and line.strip() and indent <= text:
            text = None
        found.append(() if text is None else None)
        if text is None and re.search(r"(^|[ :-])[|>][+\-\d]*\s*(#.*)?$", line):
            text = indent
    return found


def _unknown(found: Sequence[Place], lines: Sequence[str]) -> list[Place]:
    """What is known up to here, and nothing from here on; the last line counts no more."""
    return [*found[:-1], *[None] * (len(lines) - len(found) + 1)]
