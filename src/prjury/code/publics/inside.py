"""Tells without parsing that changed lines lie inside of functions, or only import something.

Then no public name can change, and the parser is spared the file. Whatever is not laid out as usual
is left to the parser: nothing here proves that a name does change.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from prjury.code.imports import is_import
from prjury.code.languages import LANGUAGES

_REMARK = re.compile(r"\s*(?://(?!.*(?:\*/|`|\"\"\"))|\*(?!.*\*/))|\s*$")
_COMMENTS = re.compile(r"(?:\s|//[^\n]*\n|/\*(?:[^*]|\*(?!/))*\*/)*+")
#: Texts of several lines and comments, and other texts, in which they are none.
_PYTHON_TEXT = re.compile(
    r"#[^\n]*|\"\"\"(?s:(?:\\.|[^\\])*?)\"\"\"|'''(?s:(?:\\.|[^\\])*?)'''"
    r"|\"(?:\\.|[^\"\\\n])*+\"?|'(?:\\.|[^'\\\n])*+'?"
)
_PYTHON_REMARK = re.compile(r"\s*#(?!.*(?:\"\"\"|'''))|\s*(?:[rRuUbB]{0,2}\"\"\s*)?$")
_DEFINES = re.compile(r"\s*(?:async\s+)?def\s")
_HEADING_ENDS = re.compile(r":\s*(?:#.*)?$")
_IMPORTS = re.compile(r"\s*(?:from\s+[\w.]+\s+)?import\s+[\w.,*\s]+(?:#.*)?$")
_IMPORTS_MORE = re.compile(r"\s*from\s+[\w.]+\s+import\s*\([^)]*$")
_BRACE = re.compile(r"[{}]")
_WORD = re.compile(r"\w+")
_STATEMENT_ENDS = re.compile(r"[;{}]\s*$|^\s*$|\*/\s*$")
#: Lines of a statement that are looked at above the one in which its body opens.
_LONGEST_HEADING = 60

#: Headings in whose bodies names may be public; an empty one was too long to read.
_OPENS_TYPE: Mapping[str, re.Pattern[str]] = {
    "java": re.compile(r"^$|\b(class|interface|enum|record)\s+\w"),
    "kotlin": re.compile(r"^$|\b(class|interface)\s+\w|\bobject\b"),
    "typescript": re.compile(
        r"^$|\b(class|interface|enum|namespace|module|type)\s+[\w'\"]|^export \{|\bglobal \{"
    ),
    "go": re.compile(r"^$|\b(struct|interface)\s*\{$|^type\b"),
    "rust": re.compile(
        r"^$|\b(struct|enum|trait|mod|union)\s+\w|\bmacro_rules\b|^(unsafe )?impl\b"
    ),
}
#: How the heading of a function ends, or of a statement that only functions hold.
_OPENS_FUNCTION = re.compile(
    r"(?:[=-]>|\)(?:\s*(?::\s*[\w<>\[\]., |?&']+|throws\s+[\w., ]+|->[^{;]*|[\w.*\[\]]+"
    r"|\([^(){}]*\)))?)\s*\{$"
)


@dataclass(frozen=True, slots=True)
class Changed:
    """One state of a file.

    Attributes:
        blocks: the first and the last line, from 1, of each run of lines that the other lacks.
    """

    lines: Sequence[str]
    blocks: Sequence[tuple[int, int]]

    def of(self, block: tuple[int, int]) -> Sequence[str]:
        """The lines of a block."""
        return self.lines[block[0] - 1 : block[1]]


def changes_no_name(language: str, old: Changed, new: Changed, *, package: bool = False) -> bool:
    """Whether all changes lie inside of functions, or in imports that are not visible elsewhere.

    Args:
        package: whether it is a file whose imports are meant for others.
    """
    if language == "python":
        return _all_inside_def((old, new), package) or (
            any(map(_odd, (*old.lines, *new.lines)))
            and _all_inside_def((_without_texts(old), _without_texts(new)), package)
        )
    if language not in _OPENS_TYPE or _braces(old) != _braces(new):
        return False
    return all(
        _inside_braces(side, block, language) for side in (old, new) for block in side.blocks
    )


def _all_inside_def(sides: Sequence[Changed], package: bool) -> bool:  # noqa: FBT001
    return all(_inside_def(side, block, package) for side in sides for block in side.blocks)


def _without_texts(side: Changed) -> Changed:
    """The same without comments and texts of several lines, which are most of what changes."""
    text = _PYTHON_TEXT.sub(_emptied, "\n".join(side.lines))
    return Changed(text.split("\n"), side.blocks)


def _emptied(match: re.Match[str]) -> str:
    text = match[0]
    if text.startswith("#"):
        return ""
    return '""' + "\n" * text.count("\n") if text.startswith(('"""', "'''")) else text


def _braces(side: Changed) -> int:
    """How many braces more are opened than closed in the lines that change."""
    text = "\n".join(line for block in side.blocks for line in side.of(block))
    return text.count("{") - text.count("}")


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _odd(line: str) -> int:
    return (line.count('"""') + line.count("'''")) % 2


def _inside_def(side: Changed, block: tuple[int, int], package: bool) -> bool:  # noqa: FBT001
    lines = [line for line in side.of(block) if not _PYTHON_REMARK.match(line)]
    if any(map(_odd, lines)):
        return False
    lines = [line for line in lines if package or not _imports_silently(line, side.lines)]
    if not lines:
        return True
    limit, quotes = min(map(_indent, lines)), 0
    for at in range(block[0] - 2, -1, -1):
        line = side.lines[at]
        quotes += _odd(line)
        indent = _indent(line)
        if indent >= limit or _PYTHON_REMARK.match(line):
            continue
        if _DEFINES.match(line):
            return quotes % 2 == 0 and _heading_is_over(side.lines, at, block[0] - 1)
        if _IMPORTS_MORE.match(line):
            words = _WORD.findall(" ".join(lines))
            return not package and quotes % 2 == 0 and not _quoted(words, side.lines)
        limit = indent + line.lstrip().startswith((")", "]"))
        if not limit:
            break
    return False


def _imports_silently(line: str, lines: Sequence[str]) -> bool:
    """Whether it is an import whose names no list of public names can hold."""
    return _IMPORTS.match(line) is not None and not _quoted(_WORD.findall(line), lines)


def _quoted(words: Sequence[str], lines: Sequence[str]) -> bool:
    text = "\n".join(lines)
    return any(f'"{word}"' in text or f"'{word}'" in text for word in words)


def _heading_is_over(lines: Sequence[str], start: int, end: int) -> bool:
    """Whether the heading of the ``def`` in a line ends before another one."""
    depth = 0
    for line in lines[start:end]:
        depth += sum(map(line.count, "([{")) - sum(map(line.count, ")]}"))
        if depth == 0 and _HEADING_ENDS.search(line):
            return True
    return False


def _inside_braces(side: Changed, block: tuple[int, int], language: str) -> bool:
    changed = side.of(block)
    if _COMMENTS.fullmatch("\n".join([*changed, ""])):
        return True
    syntax = LANGUAGES[language].imports
    lines = [line for line in changed if not _REMARK.match(line) and not is_import(syntax, line)]
    if not lines:
        return True
    depths = accumulate(map(_step, _BRACE.findall("".join(lines))))
    if min(depths, default=0) < 0:
        return False
    limit, start = min(map(_indent, lines)), block[0] - 1
    while (start := _opening(side.lines, start)) >= 0:
        first, heading = _heading(side.lines, start)
        if _indent(first) >= limit or _OPENS_TYPE[language].search(heading):
            return False
        if _is_harmless(heading, language):
            return True
        # What an `else` belongs to stands as far to the left.
        limit = _indent(first) + first.lstrip().startswith("}")
    return False


def _step(brace: str) -> int:
    return 1 if brace == "{" else -1


def _opening(lines: Sequence[str], end: int) -> int:
    """The line above another one with the brace that is still open there; -1 without one."""
    depth = 0
    for at in range(end - 1, -1, -1):
        line = lines[at]
        if "{" in line or "}" in line:
            steps = accumulate(map(_step, reversed(_BRACE.findall(line))), initial=depth)
            *before, depth = steps
            if max(*before, depth) > 0:
                return at
    return -1


def _heading(lines: Sequence[str], at: int) -> tuple[str, str]:
    """The first line of the statement whose body opens in a line, and the statement up to there.

    One that is too long is empty.
    """
    parts, depth = [lines[at].strip()], _parentheses(lines[at])
    for start in range(at, max(at - _LONGEST_HEADING, -1), -1):
        above = lines[start - 1] if start else ""
        if depth >= 0 and _STATEMENT_ENDS.search(above):
            return lines[start], " ".join(reversed(parts))
        if not above.lstrip().startswith("//"):
            parts.append(above.strip())
            depth += _parentheses(above)
    return lines[at], ""


def _parentheses(line: str) -> int:
    return line.count("(") - line.count(")")


def _is_harmless(heading: str, language: str) -> bool:
    """Whether the body of a statement holds no public names, nor does anything inside of it."""
    if language == "typescript" and heading.startswith("import "):
        return True
    return bool(_OPENS_FUNCTION.search(heading))
