from __future__ import annotations

import pytest

from prjury.judges.builds.test_settings import find_changed_test_settings
from prjury.snapshot.model import FileChange, FileKind, FileStatus


@pytest.mark.parametrize(
    ("path", "before", "after", "counts"),
    [
        ("CMakeLists.txt", "option(SHOP_TEST 'x' ON)", "option(SHOP_TEST 'x' OFF)", True),
        (
            "CMakeLists.txt",
            "add_test(NAME a\n  COMMAND a\n)",
            "add_test(NAME a\n  COMMAND b\n)",
            True,
        ),
        (
            "CMakeLists.txt",
            "add_test(NAME a\n  COMMAND a\n)\nx()",
            "add_test(NAME a\n  COMMAND a\n)\ny()",
            False,
        ),
        ("CMakeLists.txt", "set(BUILD_TESTING ON)", "set(BUILD_TESTING OFF)", True),
        ("CMakeLists.txt", "option(SHARED 'x' ON)", "option(SHARED 'x' OFF)", False),
        ("lib/meson_options.txt", "value : true", "value : false", True),
        ("tests/do_tests", "exit $failed;", "exit 0;", True),
        ("tests/run-all.sh", "exit $failed", "exit 0", True),
        ("tests/test16.c", "int main", "int main()", False),
        ("pyproject.toml", "[tool.pytest]\nx = 1", "[tool.pytest]\nx = 2", True),
        ("pyproject.toml", "[project]\nname = 'a'", "[project]\nname = 'b'", False),
    ],
)
def test_a_setting_of_tests_is_told_from_others(
    path: str, before: str, after: str, *, counts: bool
) -> None:
    file = FileChange(path, FileStatus.MODIFIED, FileKind.CONFIG, old_blob="a", new_blob="b")
    contents: dict[str, bytes | None] = {"a": before.encode(), "b": after.encode()}
    assert find_changed_test_settings([file], lambda _: contents) == ((path,) if counts else ())
