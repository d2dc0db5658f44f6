"""Comments and annotations in the code that silence findings: ours, and those of the ecosystems.

What is silenced stays a failed check, a warning at most, that names what silenced it.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from msgspec import Struct

from prjury.code.parser import Job, Parsed, Range
from prjury.code.source import Source
from prjury.judges.patterns.match import MARKER, ActiveRule, FileScan, Hit
from prjury.jury.judgment import Severity

#: Names of findings as a whole: every one, and those of APIs that are deprecated, or gone.
ANY, DEPRECATION, REMOVAL = "*", "*deprecation", "*removal"


@dataclass
class Directive:
    """One comment, annotation or name in it over ``lines``; used if it silenced anything."""

    label: str
    text: str
    line: int
    lines: range
    names: frozenset[str]
    used: bool = False

    def covers(self, hit: Hit, names: frozenset[str]) -> bool:
        """Return true if it speaks of a finding with these names, here."""
        return bool(self.names & names) and any(line in self.lines for line in hit.lines)

    def __str__(self) -> str:
        return f"{self.text} on line {self.line}"


def names_of(active: ActiveRule, severity: Severity) -> frozenset[str]:
    """Return every name by which a comment can mean a finding of this severity."""
    rule = active.rule
    lesser = severity != "error" and rule.deprecated is not None
    kind = DEPRECATION if lesser or rule.severity != "error" else REMOVAL
    return frozenset({ANY, kind, active.name, rule.id, *rule.codes})


class CommentPage(Struct, frozen=True):
    """A file as the readers of foreign comments see it: marks stand on some of the items."""

    source: Source
    comments: tuple[Range, ...]
    strings: tuple[Range, ...] = ()
    marks: tuple[Range, ...] = ()
    items: tuple[Range, ...] = ()

    def text(self, span: Range) -> str:
        return self.source.text[span[0] : span[1]]

    def first(self, span: Range) -> int:
        return self.source.line_at(span[0])

    def lines(self, span: Range) -> range:
        return range(self.first(span), self.source.line_at(max(span[0], span[1] - 1)) + 1)

    def stands_alone(self, span: Range) -> bool:
        """Return true if nothing but blanks stands before a place on its line."""
        begin = self.source.text.rfind("\n", 0, span[0]) + 1
        return not self.source.text[begin : span[0]].strip()


_DIRECTIVE = re.compile(re.escape(MARKER) + r"\[([^\]\n]{1,500})\]")


def read_ignore_comments(page: CommentPage) -> Iterator[Directive]:
    """Yield one for each name in each comment of ours."""
    for start, end in page.comments:
        for match in _DIRECTIVE.finditer(page.source.text, start, end):
            line = page.source.line_at(match.start())
            for name in map(str.strip, match[1].split(",")):
                text = f"{MARKER}[{name}]"
                yield Directive(MARKER, text, line, range(line, line + 2), frozenset({name}))


_OURS = "prjury:"
_WORDS = {
    "all": ANY, "removal": REMOVAL, "deprecation": DEPRECATION, "DEPRECATION": DEPRECATION,
    "staticcheck": "SA1019", "@typescript-eslint/no-deprecated": DEPRECATION,
}  # fmt: skip
_ALLOWED = re.compile(r"#\s*\[\s*(?:allow|expect)\s*\(([^()]*)\)\s*\]")
_MAX_TEXT = 100

#: Further ones in the same file silence nothing.
_MAX_MARKS = 500


class Probe(Struct, frozen=True):
    """The ast-grep rules of annotations and of what they can stand on, for files with the word."""

    word: str
    mark: Mapping[str, Any]
    item: Mapping[str, Any]


def _make_annotation_rules(regex: str) -> tuple[dict[str, Any], dict[str, Any]]:
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
    "java": Probe(
        "SuppressWarnings", *_make_annotation_rules(r"^@\s*(java\.lang\.)?SuppressWarnings\b")
    ),
    "kotlin": Probe("Suppress", *_make_annotation_rules(r"^@\s*(kotlin\.)?Suppress\b")),
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


def read_suppress_annotations(page: CommentPage) -> Iterator[Directive]:
    """``@SuppressWarnings`` and ``@Suppress`` over the declarations that they stand on."""
    items, strings = sorted(page.items), sorted(page.strings)
    for mark in page.marks[:_MAX_MARKS]:
        before = items[: bisect_right(items, (mark[0], len(page.source.text)))]
        item = next((span for span in reversed(before) if mark[1] <= span[1]), None)
        if item:
            inside = strings[bisect_left(strings, mark) : bisect_left(strings, (mark[1], 0))]
            words = [page.text(span).strip('"') for span in inside]
            label = "@SuppressWarnings" if "SuppressWarnings" in page.text(mark) else "@Suppress"
            # Other tools' warnings mean nothing here.
            names = (
                w.removeprefix(_OURS) if w.startswith(_OURS) else _WORDS.get(w, "") for w in words
            )
            yield _make_directive(page, label, mark, item, frozenset(names))


def read_rust_allows(page: CommentPage) -> Iterator[Directive]:
    """``#[allow(deprecated)]`` over the item that follows."""
    items = sorted(page.items, key=lambda span: (span[0], -span[1]))
    starts = [start for start, _ in items]
    for mark in page.marks[:_MAX_MARKS]:
        match = _ALLOWED.match(page.text(mark))
        lints = [word.strip() for word in match[1].split(",")] if match else []
        at = bisect_left(starts, mark[1])
        if "deprecated" in lints and at < len(items):
            yield _make_directive(page, "#[allow]", mark, items[at], frozenset({DEPRECATION}))


def _make_directive(
    page: CommentPage, label: str, mark: Range, item: Range, names: frozenset[str]
) -> Directive:
    text = " ".join(page.text(mark).split())[:_MAX_TEXT]
    return Directive(label, text, page.first(mark), page.lines(item), names)


#: What stands for every tool in a list of tools.
_ALL_TOOLS = frozenset({"all", "prjury"})

_NOQA = re.compile(
    r"#\s*noqa(?P<codes>:\s*(?P<list>[A-Z]+\d+(?:[,\s]+[A-Z]+\d+)*))?(?![\w:])", re.IGNORECASE
)
_NOLINT = re.compile(
    r"//(?:\s?nolint(?::(?P<list>[\w./,-]+))?|lint:ignore\s+(?P<checks>[\w,]+))(?=\s|$)"
)
_ESLINT = re.compile(
    r"(?://|/\*)\s*eslint-(?P<what>disable-next-line|disable-line|disable|enable)(?![\w-])"
)


def read_noqa(page: CommentPage) -> Iterator[Directive]:
    """``# noqa`` over its own line, with the codes that it names if it names some."""
    for span in page.comments:
        for match in _NOQA.finditer(page.text(span)):
            codes = re.split(r"[,\s]+", match["list"].upper()) if match["list"] else [ANY]
            line = page.source.line_at(span[0] + match.start())
            yield Directive("noqa", match[0].strip(), line, range(line, line + 1), frozenset(codes))


def read_nolint(page: CommentPage) -> Iterator[Directive]:
    """``//nolint`` over its line; on a line of its own over the statement that follows."""
    ends: dict[int, int] = {}
    for item in page.items:
        lines = page.lines(item)
        ends[lines.start] = max(lines.stop, ends.get(lines.start, 0))
    for span in page.comments:
        match = _NOLINT.match(page.text(span))
        if match:
            tools = frozenset((match["list"] or match["checks"] or "all").split(","))
            names = tools | {ANY if tools & _ALL_TOOLS else _WORDS.get(t, t) for t in tools}
            line = page.first(span)
            stop = max(line + 2, ends.get(line + 1, 0)) if page.stands_alone(span) else line + 1
            yield Directive("nolint", match[0], line, range(line, stop), names)


def read_eslint(page: CommentPage) -> Iterator[Directive]:
    """``eslint-disable`` for a line, or from one comment to the ``eslint-enable`` that ends it."""
    disabled: dict[str, int] = {}
    for span in page.comments:
        match = _ESLINT.match(page.text(span))
        if not match:
            continue
        listed = page.text(span)[match.end() :].removesuffix("*/").partition(" -- ")[0].split(",")
        # Our own name may stand before a rule's; without names, all rules are meant.
        names = [name.strip().removeprefix("prjury/") for name in listed if name.strip()] or [ANY]
        lines = page.lines(span)
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
    names = frozenset({name, _WORDS.get(name, name)})
    return Directive("eslint-disable", text, lines.start, lines, names)


Reader: TypeAlias = Callable[[CommentPage], Iterable[Directive]]

#: How the ecosystem of each language silences its own tools.
READERS: Mapping[str, Reader] = {
    "python": read_noqa,
    "go": read_nolint,
    **dict.fromkeys(("javascript", "typescript", "tsx"), read_eslint),
    **dict.fromkeys(("java", "kotlin"), read_suppress_annotations),
    "rust": read_rust_allows,
}

#: Directives over more lines are looked through one by one, so many of them in a file.
_FEW_LINES, _MAX_WIDE = 3, 1_000


def job_with_probe(scan: FileScan) -> Job | None:
    """Return the parser's job for the rules, and for annotations that silence."""
    job, probe = scan.job, _probe(scan)
    if not job or not probe:
        return job
    return {**job, "rules": [*job["rules"], {"rule": probe.mark}, {"rule": probe.item}]}


def take_suppressions(scan: FileScan, reply: Parsed | None) -> tuple[Parsed | None, Suppressions]:
    """Return the reply without what the probe asked, and what silences findings in the file."""
    job = scan.job
    marks: tuple[Range, ...] = ()
    items: tuple[Range, ...] = ()
    if reply and job and _probe(scan):
        own = len(job["rules"])
        marks, items = (tuple(s for n, s in reply.matches if n == own + at) for at in range(2))
        rest = (row for row in reply.matches if row[0] < own)
        reply = Parsed(tuple(rest), reply.comments, reply.strings)
    strings = reply.strings if reply else ()
    page = CommentPage(scan.source, tuple(scan.comments(reply)), strings, marks, items)
    reader = READERS.get(scan.source.language.name)
    return reply, Suppressions([*read_ignore_comments(page), *(reader(page) if reader else ())])


def _probe(scan: FileScan) -> Probe | None:
    probe = PROBES.get(scan.source.language.name)
    return probe if probe and probe.word in scan.source.text else None


class Suppressions:
    """The directives of one file, those over a line or two found by their lines."""

    def __init__(self, directives: Sequence[Directive]) -> None:
        wide = [directive for directive in directives if len(directive.lines) > _FEW_LINES]
        self.directives, self._wide = directives, wide[:_MAX_WIDE]
        self._at: dict[int, list[Directive]] = {}
        for directive in directives:
            for line in directive.lines if len(directive.lines) <= _FEW_LINES else ():
                self._at.setdefault(line, []).append(directive)

    def use_silencers(self, hit: Hit, severity: Severity) -> Directive | None:
        """Return the comment that silences the hit, ours before others; all such count as used."""
        names = names_of(hit.active, severity)
        near = [directive for line in hit.lines for directive in self._at.get(line, ())]
        covering = [directive for directive in (*near, *self._wide) if directive.covers(hit, names)]
        for directive in covering:
            directive.used = True
        return min(covering, key=lambda directive: directive.label != MARKER, default=None)

    def list_unused_names_and_lines(
        self, added: Collection[int], active: Collection[ActiveRule]
    ) -> list[tuple[str, int]]:
        """Return names and lines of added comments of ours that do nothing in packs that looked."""
        packs = {each.pack.id for each in active}
        return [
            (name, directive.line)
            for directive in self.directives
            if directive.label == MARKER and not directive.used and directive.line in added
            for name in directive.names
            if "/" not in name or name.rpartition("/")[0] in packs
        ]
