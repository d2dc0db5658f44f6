"""Python's own unittest, which Django's ``manage.py test`` prints as well."""

from __future__ import annotations

import pytest

from prjury.judges.builds.results.python_runners import pytest as read_pytest
from prjury.judges.builds.results.python_runners import unittest
from prjury.judges.builds.results.runner_output import LogSection
from prjury.judges.builds.results.tree import TreeFiles

TREE = TreeFiles(frozenset({"shop/tests.py"}))
NAMES = [
    "test_bad (shop.tests.T.test_bad) ... FAIL",
    "test_doc (shop.tests.T.test_doc)",
    "Says something. ... ok",
    "test_ok (shop.tests.T.test_ok) ... ok",
    "",
]
FAILURE = [
    "=" * 70,
    "FAIL: test_bad (shop.tests.T.test_bad)",
    "-" * 70,
    "Traceback (most recent call last):",
    '  File "shop/tests.py", line 6, in test_bad',
    "    self.assertEqual(1 + 1, 3)",
    "AssertionError: 2 != 3",
    "",
]
END = ["-" * 70, "Ran 3 tests in 0.001s", "", "FAILED (failures=1)"]
SETUP = [
    "Found 3 test(s).",
    "Creating test database for alias 'default'...",
    "System check identified no issues (0 silenced).",
]
TEARDOWN = ["Destroying test database for alias 'default'..."]


def section(lines: list[str]) -> LogSection:
    return LogSection(lines, range(len(lines)), TREE)


@pytest.mark.parametrize(("before", "after"), [([], []), (SETUP, TEARDOWN)])
@pytest.mark.parametrize("names", [NAMES, []])
def test_file_line_and_message(before: list[str], after: list[str], names: list[str]) -> None:
    told = unittest(section([*before, *names, *FAILURE, *END, *after]))
    ((_, failure),) = told.failures
    assert (failure.kind, failure.place) == ("test", "shop/tests.py:6")
    assert failure.message == "AssertionError: 2 != 3"
    assert failure.id == "test:shop/tests.py:shop.tests.T#test_bad"
    verbose = [f"test:shop/tests.py:shop.tests.T#test_{name}" for name in ("bad", "doc", "ok")]
    assert (told.ran, told.counted) == ((verbose, 0) if names else ([], 3))


def test_an_assertion_of_an_installed_package() -> None:
    inside = ['  File ".venv/lib/site-packages/django/test/testcases.py", line 9, in assertX']
    told = unittest(section([*FAILURE[:-2], *inside, *FAILURE[-2:], *END]))
    ((_, failure),) = told.failures
    assert (failure.place, failure.message) == ("shop/tests.py:6", "AssertionError: 2 != 3")


def test_a_test_of_pytest_that_fails_in_an_installed_package() -> None:
    lines = [
        "____ test_bad ____",
        "shop/tests.py:6: in test_bad",
        ".venv/lib/site-packages/lib.py:9: ValueError",
        "FAILED shop/tests.py::test_bad - ValueError: no",
        "==== 1 failed in 0.1s ====",
    ]
    ((_, failure),) = read_pytest(section(lines)).failures
    assert (failure.place, failure.message) == ("shop/tests.py:6", "ValueError: no")
