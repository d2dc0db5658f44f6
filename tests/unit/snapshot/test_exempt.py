"""Globs of files that the policy exempts, as a table."""

from __future__ import annotations

import pytest

from fakes import reports as fake
from prjury.snapshot.exempt import mark_exempt, matches


@pytest.mark.parametrize(
    ("glob", "path", "expected"),
    [
        ("*.min.js", "a.min.js", True),
        ("*.min.js", "static/deep/a.min.js", True),
        ("gen/**", "gen/a/b.py", True),
        ("gen/**", "src/gen/a.py", False),
        ("gen/", "gen/a/b.py", True),
        ("gen/*.py", "gen/a.py", True),
        ("gen/*.py", "gen/a/b.py", False),
        ("**/gen/*.py", "gen/b.py", True),
        ("**/gen/*.py", "a/b/gen/b.py", True),
        ("a?.py", "ab.py", True),
        ("a.py", "abpy", False),
        ("lib/a.jar", "lib/a.jar", True),
        ("lib/a.jar", "x/lib/a.jar", False),
        ("[a].py", "a.py", False),
    ],
)
def test_what_a_glob_speaks_of(glob: str, path: str, expected: bool) -> None:
    assert matches(path, glob) is expected


def test_files_say_who_exempts_them() -> None:
    files = (fake.file("gen/a.py"), fake.file("b.py"))
    first, second = mark_exempt(fake.pull(files), ["gen/**"]).files
    assert first.exempt == "`gen/**` in the policy's coverage.exempt"
    assert (first.readable, second.readable, second.exempt) == (False, True, None)
