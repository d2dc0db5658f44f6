"""The words of a Gradle script, in Groovy or Kotlin. Pure.

A script is a program, and programs are not run here: what cannot be read off its words is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

#: More than this is no script that anybody wrote.
LARGEST = 1024**2

Kind: TypeAlias = Literal["word", "string", "mark", "line"]

#: What is never closed goes on to the end, so that nothing is looked through twice.
_TOKEN = re.compile(
    r"//[^\n]*|/\*(?:.*?\*/|.*)"
    r'|"""(?P<long>.*?)(?:"""|\Z)'
    r"|'''(?P<longer>.*?)(?:'''|\Z)"
    r'|"(?P<double>(?:\\.|[^"\\\n])*)"'
    r"|'(?P<single>(?:\\.|[^'\\\n])*)'"
    r"|(?P<word>[A-Za-z_]\w*)|(?P<line>\n)|(?P<mark>[^\s\w])",
    re.DOTALL,
)


@dataclass(frozen=True)
class Token:
    """A word, the content of a string, a single mark, or the end of a line.

    Attributes:
        fixed: whether a string says all that it is, with nothing to be put into it.
    """

    kind: Kind
    text: str
    fixed: bool = True


_END = Token("line", "\n")


def tokens(text: str) -> Sequence[Token]:
    """The words of a script in order; comments are left out."""
    return [token for match in _TOKEN.finditer(text[:LARGEST]) if (token := _token(match))]


def _token(match: re.Match[str]) -> Token | None:
    if match.lastgroup is None:
        return None
    content = match[match.lastgroup]
    if match.lastgroup in {"word", "mark"}:
        return Token("word" if match.lastgroup == "word" else "mark", content)
    if match.lastgroup == "line":
        return _END
    opened = match.lastgroup in {"double", "long"} and "$" in content
    return Token("string", content, fixed=not opened and "\\" not in content)


def at(script: Sequence[Token], index: int) -> Token:
    """The token there; before the beginning and after the end lines end."""
    return script[index] if 0 <= index < len(script) else _END


def blocks(script: Sequence[Token], name: str) -> frozenset[int]:
    """The places of the tokens in all blocks ``name { … }``, those in nested blocks among them."""
    depth, found = 0, set[int]()
    for index, token in enumerate(script):
        if depth:
            found.add(index)
        if token.kind == "mark" and (depth or at(script, index - 1).text == name):
            depth += {"{": 1, "}": -1}.get(token.text, 0)
    return frozenset(found)


def arguments(script: Sequence[Token], start: int) -> Sequence[Token] | None:
    """The strings of a call, from what follows the name of what is called.

    Returns:
        None where anything else is handed over, or nothing at all.
    """
    inside = at(script, start).text == "(" and at(script, start).kind == "mark"
    found: list[Token] = []
    expected = True
    for token in script[start + 1 if inside else start :]:
        if token.kind == "line" and (inside or (expected and found)):
            continue
        if token.kind == "string" and expected:
            found.append(token)
        elif not (token.kind == "mark" and token.text == "," and not expected):
            ended = (
                token.text == ")" if inside else token.kind == "line" or token.text in {";", "}"}
            )
            return found if found and ended else None
        expected = not expected
    return found if found and not inside else None
