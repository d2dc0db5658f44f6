"""Annotations and attributes that silence compilers: ``@SuppressWarnings``, ``#[allow]``.

They hold over the item that they stand on, and no import of Java or Kotlin is part of one.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from prjury.code.parser import Range
from prjury.judges.patterns.suppressions.directive import (
    ANY,
    DEPRECATION,
    REMOVAL,
    CommentPage,
    Directive,
)

_OURS = "prjury:"
_WORDS = {"all": ANY, "deprecation": DEPRECATION, "DEPRECATION": DEPRECATION, "removal": REMOVAL}
_ALLOWED = re.compile(r"#\s*\[\s*(?:allow|expect)\s*\(([^()]*)\)\s*\]")
_MAX_TEXT = 100

#: Further ones in the same file silence nothing.
_MAX_MARKS = 500


@dataclass(frozen=True)
class Probe:
    """What the parser is asked for besides the rules, in a file in which the word stands.

    Attributes:
        mark: the ast-grep rule of annotations or attributes.
        item: the ast-grep rule of what they can stand on.
    """

    word: str
    mark: Mapping[str, Any]
    item: Mapping[str, Any]

    @property
    def rules(self) -> list[dict[str, Any]]:
        """Both, as the parser takes them."""
        return [{"rule": dict(self.mark)}, {"rule": dict(self.item)}]


def _annotated(regex: str) -> tuple[dict[str, Any], dict[str, Any]]:
    mark = {"kind": "annotation", "regex": regex}
    # Without `all`, ast-grep gives the node that is had.
    return mark, {"all": [{"has": {"kind": "modifiers", "has": mark}}]}


def _kinds(*kinds: str) -> dict[str, Any]:
    return {"any": [{"kind": kind} for kind in kinds]}


_ATTRIBUTE = {"kind": "attribute_item"}
_GO_ITEMS = _kinds(
    *(f"{name}_declaration" for name in ("function", "method", "type", "var", "const", "import")),
    *(f"{name}_statement" for name in ("expression", "assignment", "if", "for", "return", "go")),
    *(f"{name}_statement" for name in ("defer", "expression_switch", "type_switch", "select")),
    "short_var_declaration",
    "import_spec",
    "field_declaration",
)

PROBES: Mapping[str, Probe] = {
    "java": Probe("SuppressWarnings", *_annotated(r"^@\s*(java\.lang\.)?SuppressWarnings\b")),
    "kotlin": Probe("Suppress", *_annotated(r"^@\s*(kotlin\.)?Suppress\b")),
    "rust": Probe(
        "deprecated",
        {**_ATTRIBUTE, "regex": r"^#\s*\[\s*(allow|expect)\b"},
        {
            "follows": _ATTRIBUTE,
            "not": _kinds("attribute_item", "line_comment", "block_comment"),
        },
    ),
    "go": Probe("nolint", {"kind": "comment", "regex": "nolint"}, _GO_ITEMS),
}


def declared(page: CommentPage) -> Iterator[Directive]:
    """``@SuppressWarnings`` and ``@Suppress`` over the declarations that they stand on."""
    items, strings = sorted(page.items), sorted(page.strings)
    for mark in page.marks[:_MAX_MARKS]:
        before = items[: bisect_right(items, (mark[0], len(page.source.text)))]
        item = next((span for span in reversed(before) if _within(mark, span)), None)
        if item:
            inside = strings[bisect_left(strings, mark) : bisect_left(strings, (mark[1], 0))]
            words = [page.text(span).strip('"') for span in inside]
            label = "@SuppressWarnings" if "SuppressWarnings" in page.text(mark) else "@Suppress"
            yield _over(page, label, mark, item, frozenset(map(_name, words)))


def allowed(page: CommentPage) -> Iterator[Directive]:
    """``#[allow(deprecated)]`` over the item that follows."""
    items = sorted(page.items, key=lambda span: (span[0], -span[1]))
    starts = [start for start, _ in items]
    for mark in page.marks[:_MAX_MARKS]:
        match = _ALLOWED.match(page.text(mark))
        lints = [word.strip() for word in match[1].split(",")] if match else []
        at = bisect_left(starts, mark[1])
        if "deprecated" in lints and at < len(items):
            yield _over(page, "#[allow]", mark, items[at], frozenset({DEPRECATION}))


def _over(
    page: CommentPage, label: str, mark: Range, item: Range, names: frozenset[str]
) -> Directive:
    text = " ".join(page.text(mark).split())[:_MAX_TEXT]
    return Directive(label, text, page.first(mark), page.lines(item), names)


def _name(word: str) -> str:
    """What a warning's name means here; other tools' warnings mean nothing."""
    if word.startswith(_OURS):
        return word.removeprefix(_OURS)
    return _WORDS.get(word, "")


def _within(inner: Range, outer: Range) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1]
