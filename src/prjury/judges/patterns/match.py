"""Finds a rule's pattern in one file, and first which rules' clues stand in it at all."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cached_property

import re2

from prjury.code.languages import Language
from prjury.code.parser import Job, Parsed, Range, make_job
from prjury.code.source import Source, UnreadableError, find_comment_ranges
from prjury.manifests.formats import reader_of
from prjury.manifests.manifest import Coordinate, Manifest, ManifestError, Role
from prjury.manifests.settings import list_properties, plain_name, read_yaml_settings
from prjury.manifests.spans import surely_within
from prjury.manifests.syntax import fill_properties
from prjury.rulepacks.applicability import is_one_of
from prjury.rulepacks.rule import ManifestMatch, Match, Pack, PatternRule, make_quiet

#: A blank beside a dot within what may be a name; a sentence in a comment is none.
_LOOSE = re2.compile(r"\w\s+\.|\w\.[ \t]*\n\s*\w|\w\.[ \t]+[a-z]")
#: Over how many lines a match may reach for a change of any of them to be one of the match.
_LONGEST = 4
_AROUND_DOTS = re2.compile(r"\s+\.\s*|\.\s+")
#: The word that makes a file worth reading even where no rule finds anything.
MARKER = "prjury-ignore"


@dataclass(frozen=True)
class ActiveRule:
    """A rule that holds for a file, with its pack; ``repairs`` if its replacement is there."""

    pack: Pack
    rule: PatternRule
    repairs: bool = True

    @cached_property
    def name(self) -> str:
        return f"{self.pack.id}/{self.rule.id}"

    @property
    def established(self) -> tuple[str, str]:
        """The RE2 patterns of code, and of build files, that show the old way to be in use."""
        reasons = [it for it in (self.rule.kept_by, self.pack.kept_by) if it]
        code = next((it.code for it in reasons if it.code), "")
        return code, next((it.builds for it in reasons if it.builds), "")

    def list_matchers(self, language: Language, path: str) -> list[Match]:
        """The rule's ways of looking at such a file."""
        if language.name not in self.rule.languages:
            return []
        return [
            match
            for match in self.rule.match
            if language.name in match.languages
            and (not match.files or any(fnmatchcase(path, glob) for glob in match.files))
            and not any(fnmatchcase(path, glob) for glob in match.ignores)
        ]


class Prefilter:
    """An RE2 set of the clues of many rules; a text is gone through once for all of them."""

    def __init__(self, rules: Sequence[ActiveRule]) -> None:
        self.rules = rules
        by_clue: dict[str, list[ActiveRule]] = defaultdict(list)
        for active in rules:
            # GitHub does not tell small letters from capitals.
            ignore_case = "workflow" in active.rule.languages
            for clue in active.rule.clues:
                by_clue[f"(?i:{clue})" if ignore_case else clue].append(active)
        self._always = frozenset(each.name for each in rules if not each.rule.clues)
        self._owners = list(by_clue.values())
        self._set = re2.Set.SearchSet(make_quiet())
        for clue in by_clue:
            self._set.Add(clue)
        self._set.Compile()

    def candidates(self, text: str) -> list[ActiveRule]:
        """The rules that may find something in the text, in their own order."""
        content = text.encode("utf-8", "surrogateescape")
        hit = self._set.Match(content) or [] if self._owners else []
        names = {active.name for number in hit for active in self._owners[number]} | self._always
        return [active for active in self.rules if active.name in names]


@dataclass(frozen=True)
class Hit:
    """A place of a rule's pattern: git's lines, the telling one first, and spans of characters."""

    active: ActiveRule
    lines: tuple[int, ...]
    spans: tuple[Range, ...] = ()
    rewritten: str | None = None
    name: str = ""
    replacement: str = ""

    def join(self, other: Hit) -> Hit:
        """Return two hits that begin in the same line as one."""
        lines = (self.lines[0], *sorted({*self.lines[1:], *other.lines} - {self.lines[0]}))
        return replace(self, lines=lines, spans=tuple(sorted({*self.spans, *other.spans})))

    def line_among(self, lines: Collection[int]) -> int | None:
        """The first of its lines that is one of the given ones."""
        return next((line for line in self.lines if line in lines), None)


@dataclass(frozen=True)
class FileScan:
    """One file's text and bytes, and the rules that look at it."""

    path: str
    source: Source
    content: bytes
    rules: Sequence[ActiveRule]

    @cached_property
    def job(self) -> Job | None:
        """What the parser has to do; None where there is nothing that it could find."""
        language = self.source.language
        if language.parser is None or not (self._pairs or MARKER in self.source.text):
            return None
        return make_job(self.source.text, language, [config for _, config in self._configs])

    @cached_property
    def _configs(self) -> list[tuple[ActiveRule, dict[str, object]]]:
        language = self.source.language
        return [
            (active, dict(active.pack.make_ast_grep_config(match, language)))
            for active, match in self._pairs
            if match.parses
        ]

    @cached_property
    def _tight(self) -> str:
        text = self.source.text
        return str(_AROUND_DOTS.sub(".", text)) if _LOOSE.search(text) else text

    @cached_property
    def _pairs(self) -> list[tuple[ActiveRule, Match]]:
        return [
            (active, match)
            for active in self.rules
            for match in active.list_matchers(self.source.language, self.path)
            if match.may_find(self.source.text, self._tight, self.source.language)
        ]

    def hits(self, parsed: Parsed | None) -> list[Hit]:
        """Every line of the file in which a rule's pattern stands, once for each rule."""
        hits: dict[tuple[int, str], Hit] = {}
        for hit in self._list_hits(parsed):
            key = (hit.lines[0], hit.active.name)
            hits[key] = hits[key].join(hit) if key in hits else hit
        return [hits[key] for key in sorted(hits)]

    def _list_hits(self, parsed: Parsed | None) -> Iterator[Hit]:
        configs = self._configs if parsed else []
        for number, span in parsed.matches if parsed else ():
            yield self._at(configs[number][0], span)
        comments = self.comments(parsed)
        strings = parsed.strings if parsed else ()
        for active, match in self._pairs:
            if match.regex is not None:
                for span in _find_regex_ranges(match, self.source.text, comments, strings):
                    yield self._at(active, span)
        yield from self._list_setting_hits()
        yield from self._list_manifest_hits()

    def _list_setting_hits(self) -> Iterator[Hit]:
        pairs = [(active, match.settings) for active, match in self._pairs if match.settings]
        if not pairs:
            return
        plain = self.source.language.name == "properties"
        try:
            settings = list((list_properties if plain else read_yaml_settings)(self.source.text))
        except ManifestError as error:
            raise UnreadableError(str(error)) from error
        for active, names in pairs:
            by_plain = {plain_name(name): name for name in names}
            for setting in settings:
                if name := by_plain.get(plain_name(setting.name)):
                    span = (setting.start, setting.end)
                    new = names[name]
                    hit = replace(self._at(active, span), name=name, replacement=new)
                    yield replace(hit, rewritten=new) if plain and new else hit

    def _at(self, active: ActiveRule, span: Range) -> Hit:
        first, last = self.source.line_at(span[0]), self.source.line_at(max(span[0], span[1] - 1))
        lines = tuple(range(first, last + 1)) if last - first < _LONGEST else (first,)
        return Hit(active, lines, (span,))

    def comments(self, parsed: Parsed | None) -> Sequence[Range]:
        if parsed:
            return sorted(parsed.comments)
        return find_comment_ranges(self.source.text, self.source.language)

    def _list_manifest_hits(self) -> Iterator[Hit]:
        pairs = [(active, m.manifest) for active, m in self._pairs if m.manifest is not None]
        if not pairs:
            return
        try:
            manifest = reader_of(self.path, self.source.language.name)(self.content)
        except ManifestError as error:
            raise UnreadableError(str(error)) from error
        for active, match in pairs:
            yield from (Hit(active, lines) for lines in _list_manifest_lines(manifest, match))


def _find_regex_ranges(
    match: Match, text: str, comments: Sequence[Range], strings: Sequence[Range]
) -> Iterator[Range]:
    for place in re2.compile(match.regex).finditer(text):
        start, where = place.start(), "code"
        if _is_inside(start, comments):
            where = "comments"
        elif _is_inside(start, strings):
            where = "strings"
        if where == match.within:
            yield start, place.end()


def _is_inside(offset: int, ranges: Sequence[Range]) -> bool:
    at = bisect_right(ranges, (offset, float("inf")))
    return at > 0 and offset < ranges[at - 1][1]


def _list_manifest_lines(manifest: Manifest, match: ManifestMatch) -> Iterator[tuple[int, ...]]:
    roles = {Role[name.upper()] for name in match.roles}
    for coordinate in manifest.coordinates:
        if coordinate.role in roles and _matches_coordinate(coordinate, manifest, match):
            yield coordinate.lines
    for setting in manifest.settings:
        value = match.settings.get(setting.key)
        if setting.plugin == match.plugin and value in {setting.value, "*"}:
            yield (setting.line,)


def _matches_coordinate(coordinate: Coordinate, manifest: Manifest, match: ManifestMatch) -> bool:
    name = str(coordinate)
    if not coordinate.lines or is_one_of(name, match.except_):
        return False
    if coordinate.ecosystem == "runtime":
        fits = f"runtime:{name}" in match.dependencies
    else:
        fits = is_one_of(name, match.dependencies)
    if not fits or match.span is None:
        return fits
    version = fill_properties(coordinate.version or "", manifest.properties) or ""
    return surely_within(version, coordinate.ecosystem, coordinate.artifact, match.span)
