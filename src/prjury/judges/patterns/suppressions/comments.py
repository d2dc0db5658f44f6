"""Comments by which other tools are silenced: ``noqa``, ``nolint``, ``eslint-disable``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from prjury.judges.patterns.suppressions.directive import ANY, CommentPage, Directive

#: What stands for every tool in a list of tools.
_ALL_TOOLS = frozenset({"all", "prjury"})

_NOQA = re.compile(
    r"#\s*noqa(?P<codes>:\s*(?P<list>[A-Z]+\d+(?:[,\s]+[A-Z]+\d+)*))?(?![\w:])", re.IGNORECASE
)
_NOLINT = re.compile(r"//\s?nolint(?::(?P<list>[\w./,-]+))?(?=\s|$)")
_ESLINT = re.compile(
    r"(?://|/\*)\s*eslint-(?P<what>disable-next-line|disable-line|disable|enable)(?![\w-])"
)


def noqa(page: CommentPage) -> Iterator[Directive]:
    """``# noqa`` over its own line, with the codes that it names if it names some."""
    for span in page.comments:
        for match in _NOQA.finditer(page.text(span)):
            codes = re.split(r"[,\s]+", match["list"].upper()) if match["list"] else [ANY]
            line = page.source.line_at(span[0] + match.start())
            yield Directive("noqa", match[0].strip(), line, range(line, line + 1), frozenset(codes))


def nolint(page: CommentPage) -> Iterator[Directive]:
    """``//nolint`` over its line; on a line of its own over the statement that follows."""
    ends: dict[int, int] = {}
    for item in page.items:
        lines = page.lines(item)
        ends[lines.start] = max(lines.stop, ends.get(lines.start, 0))
    for span in page.comments:
        match = _NOLINT.match(page.text(span))
        if match:
            tools = frozenset(match["list"].split(",")) if match["list"] else _ALL_TOOLS
            names = frozenset({ANY}) if tools & _ALL_TOOLS else tools
            line = page.first(span)
            stop = max(line + 2, ends.get(line + 1, 0)) if page.alone(span) else line + 1
            yield Directive("nolint", match[0], line, range(line, stop), names)


def eslint(page: CommentPage) -> Iterator[Directive]:
    """``eslint-disable`` for a line, or from one comment to the ``eslint-enable`` that ends it."""
    disabled: dict[str, int] = {}
    for span in page.comments:
        match = _ESLINT.match(page.text(span))
        if not match:
            continue
        names, lines = _rules(page.text(span)[match.end() :]), page.lines(span)
        block = match[0].startswith("/*")
        if match["what"] == "disable" and block:
            for name in names:
                disabled.setdefault(name, lines.start)
        elif match["what"] == "enable" and block:
            ended = disabled.keys() if ANY in names else disabled.keys() & set(names)
            for name in sorted(ended):
                yield _eslint("disable", name, range(disabled.pop(name), lines.stop))
        elif match["what"] == "disable-line":
            yield from (_eslint("disable-line", name, lines) for name in names)
        elif match["what"] == "disable-next-line":
            below = range(lines.start, lines.stop + 1)
            yield from (_eslint("disable-next-line", name, below) for name in names)
    for name, line in disabled.items():
        yield _eslint("disable", name, range(line, page.source.numbers[-1] + 1))


def _eslint(what: str, name: str, lines: range) -> Directive:
    text = f"eslint-{what}" + ("" if name == ANY else f" {name}")
    return Directive("eslint-disable", text, lines.start, lines, frozenset({name}))


def _rules(text: str) -> list[str]:
    """The rules that are named, without our own name before them; one for all where none is."""
    listed = text.removesuffix("*/").partition(" -- ")[0].split(",")
    names = [name.strip().removeprefix("prjury/") for name in listed if name.strip()]
    return names or [ANY]
