from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from fakes.llm import changed, hunk
from prjury.judges.quality.prompt_input import Material, Plan, Section, make_sections, plan_chunks
from prjury.report.sanitise import show_invisible
from prjury.snapshot.model import FileChange

BUDGET = 1_000


def sections(*files: FileChange) -> tuple[Section, ...]:
    laid_out, left_out = make_sections(files, str)
    assert left_out == ()
    return laid_out


def planned(*files: FileChange, budget: int = BUDGET) -> Plan:
    return plan_chunks(Material(sections(*files)), budget)


def chunks(made: Plan) -> list[tuple[str, ...]]:
    return [chunk.paths for chunk in made.chunks]


def digests(made: Plan) -> list[list[str]]:
    return [[section.digest for section in chunk.sections] for chunk in made.chunks]


def test_a_file_larger_than_a_sheet_is_split_between_hunks() -> None:
    hunks = tuple(hunk(*(f"+{h} {i:030d}" for i in range(8)), start=100 * h) for h in range(1, 5))
    made = planned(replace(changed("a.py"), hunks=hunks))
    assert len(made.chunks) > 1
    assert all(len(passage.rows) == 8 for section in made.sections for passage in section.passages)
    assert all(made.list_other_files(chunk) == () for chunk in made.chunks)


lines = st.lists(st.text(max_size=60).map(lambda text: "+" + text.replace("\n", "")), max_size=30)
files = st.lists(st.tuples(st.sampled_from(["a.py", "b.md", "t/test_c.py"]), lines), max_size=8)


@given(files, st.integers(300, 2_000))
def test_nothing_is_lost_and_no_sheet_is_too_large(
    raw: list[tuple[str, list[str]]], budget: int
) -> None:
    changes = [changed(f"{i}/{path}", *texts) for i, (path, texts) in enumerate(raw)]
    made = planned(*changes, budget=budget)
    for chunk in made.chunks:
        size = len(json.dumps([section.value for section in chunk.sections], ensure_ascii=False))
        assert size <= budget or len(list(chunk.rows)) == 1
        told = {*chunk.paths, *(section.path for section in made.list_other_files(chunk))}
        assert told == {change.path for change in changes}
    there = sorted(row.text for section in made.sections for row in section.rows)
    assert there == sorted(
        show_invisible(line.text) for c in changes for h in c.hunks for line in h.lines
    )


@given(files, st.integers(300, 2_000), st.integers(0, 100_000))
def test_other_line_numbers_are_no_other_plan(
    raw: list[tuple[str, list[str]]], budget: int, moved: int
) -> None:
    def at(start: int) -> list[FileChange]:
        return [changed(f"{i}/{path}", *t, start=start) for i, (path, t) in enumerate(raw)]

    assert digests(planned(*at(1), budget=budget)) == digests(
        planned(*at(1 + moved), budget=budget)
    )
