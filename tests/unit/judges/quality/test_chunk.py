from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from fakes.llm import changed
from prjury.judges.quality.prompt_input import ChunkRow, Passage, Section, pieces_of
from prjury.snapshot.model import FileChange


def section(file: FileChange) -> Section:
    ((made,), _) = pieces_of([file], str)
    return made


FILE = changed("src/a.py", " same", "-gone", "+here")


def test_the_digest_knows_everything_else() -> None:
    others = [
        changed("src/b.py", " same", "-gone", "+here"),
        changed("src/a.py", " same", "-gone", "+Here"),
        changed("src/a.py", " same", "+gone", "+here"),
        changed("src/a.py", " same", "-gone", "+here", "+"),
        replace(FILE, old_path="src/old.py"),
        replace(FILE, hunks=(*FILE.hunks, *FILE.hunks)),
        replace(FILE, hunks=(replace(FILE.hunks[0], section="def f():"),)),
    ]
    assert len({section(file).digest for file in [FILE, *others]}) == len(others) + 1


rows = st.builds(
    ChunkRow, st.sampled_from(["new", "old"]), st.integers(1, 9_999_999), st.just("+"), st.text()
)


@given(st.text(), st.lists(rows, max_size=5))
def test_the_size_is_at_least_that_of_the_prompt(section: str, lines: list[ChunkRow]) -> None:
    made = Section("a.py", {"path": "a.py"}, (Passage(section, tuple(lines)),))
    assert made.size >= len(json.dumps(made.value, ensure_ascii=False, separators=(",", ":")))
