"""Where two sides of a file collide, by its three versions: a file may hold lines like markers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from prjury.snapshot.model import ConflictRegion, Hunk, LineSpan

Lines = Sequence[str]


def lines_of(content: bytes) -> tuple[str, ...]:
    """The lines with their ends; a line ends at a line feed and nowhere else, as for git."""
    text = content.decode("utf-8", "surrogateescape")
    lines = [f"{line}\n" for line in text.split("\n")]
    last = lines.pop().removesuffix("\n")
    return (*lines, last) if last else tuple(lines)


class Edit(Struct, frozen=True):
    """What a side changes: so many lines of the base and what stands there instead, from 0."""

    base: range
    side: range


def edits_of(hunks_without_context: Iterable[Hunk]) -> tuple[Edit, ...]:
    """The edits behind a patch without context."""
    return tuple(
        Edit(
            _range(hunk.old_start, hunk.old_lines),
            _range(hunk.new_start, hunk.new_lines),
        )
        for hunk in hunks_without_context
    )


def _range(start: int, count: int) -> range:
    """A hunk without lines on a side names the line before the place, one with lines the first."""
    first = start if count == 0 else start - 1
    return range(first, first + count)


class Region(Struct, frozen=True):
    """A place where both sides change the base and do not agree, counted in lines from 0."""

    base: range
    onto: range
    head: range


class ThreeWay(Struct, frozen=True):
    """A file on the base (if it is there), on which it is merged onto (ours), and at the head."""

    base: tuple[str, ...] | None
    onto: tuple[str, ...]
    head: tuple[str, ...]
    regions: tuple[Region, ...] = ()

    @classmethod
    def of(
        cls,
        base: Lines,
        onto: Lines,
        head: Lines,
        onto_and_head_edits: tuple[Sequence[Edit], Sequence[Edit]],
    ) -> ThreeWay:
        """The three versions with the places where the sides' edits touch and differ."""
        differing = (
            region
            for region in _find_overlaps(*onto_and_head_edits)
            if _slice(onto, region.onto) != _slice(head, region.head)
        )
        return cls(tuple(base), tuple(onto), tuple(head), tuple(differing))

    @classmethod
    def drop_base(cls, onto: Lines, head: Lines, edits: Sequence[Edit]) -> ThreeWay:
        """A file that both sides add: they collide wherever they differ."""
        nothing = range(0)
        regions = (Region(nothing, edit.base, edit.side) for edit in edits)
        return cls(None, tuple(onto), tuple(head), tuple(regions))

    def texts(self, region: Region) -> tuple[Lines, Lines, Lines]:
        """The region's lines on the base, on our side and on theirs."""
        return (
            _slice(self.base or (), region.base),
            _slice(self.onto, region.onto),
            _slice(self.head, region.head),
        )

    def trim(self, region: Region) -> ConflictRegion:
        """The lines that differ, without those at both ends on which the sides agree."""
        _, near, far = self.texts(region)
        before = _agreeing(near, far)
        after = _agreeing(near[before:][::-1], far[before:][::-1])
        return ConflictRegion(
            head=_span(region.head, before, after),
            onto=_span(region.onto, before, after),
            texts=(tuple(far[before : len(far) - after]), tuple(near[before : len(near) - after])),
        )


class SideNames(Struct, frozen=True):
    """What both sides are called in sentences: what is merged onto, and what is merged."""

    onto: str = "the base"
    head: str = "the head"


#: The names in a merge.
BASE_AND_HEAD = SideNames()


def _slice(lines: Lines, where: range) -> Lines:
    return lines[where.start : where.stop]


def _agreeing(onto: Lines, head: Lines) -> int:
    pairs = zip(onto, head, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(onto), len(head)))


def _span(where: range, before: int, after: int) -> LineSpan:
    return LineSpan(where.start + before + 1, len(where) - before - after)


def _find_overlaps(onto: Sequence[Edit], head: Sequence[Edit]) -> Iterator[Region]:
    edits = [(edit, 0) for edit in onto] + [(edit, 1) for edit in head]
    edits.sort(key=lambda pair: (pair[0].base.start, pair[0].base.stop), reverse=True)
    while edits:
        start, stop = edits[-1][0].base.start, edits[-1][0].base.stop
        cluster: tuple[list[Edit], list[Edit]] = ([], [])
        while edits and edits[-1][0].base.start <= stop:
            edit, side = edits.pop()
            stop = max(stop, edit.base.stop)
            cluster[side].append(edit)
        if all(cluster):
            base = range(start, stop)
            yield Region(base, _cover(base, cluster[0]), _cover(base, cluster[1]))


def _cover(base: range, edits: Sequence[Edit]) -> range:
    first, last = edits[0], edits[-1]
    return range(
        first.side.start - (first.base.start - base.start),
        last.side.stop + (base.stop - last.base.stop),
    )
