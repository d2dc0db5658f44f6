"""Where in the tree a test failed."""

from __future__ import annotations

import pytest

from prjury.judges.builds.results.lines import find_place
from prjury.judges.builds.results.tree import TreeFiles


@pytest.mark.parametrize("path", ["test_a.py", "mit leer/größe & maß/test_a.py", "a b.py"])
def test_pytest_names_a_file_with_blanks_as_it_is(path: str) -> None:
    lines = ["    def test_a():", ">       assert 1 == 2", "E       assert 1 == 2", ""]
    tree = TreeFiles(frozenset({path}))
    assert find_place([*lines, f"{path}:2: AssertionError"], tree, last=True) == (path, "2")


def test_a_package_that_was_installed_from_the_tree_is_found_there() -> None:
    tree = TreeFiles(frozenset({"src/shop/cart.py", "test_a.py", "six.py"}))
    place = ".tox/py/lib/python3.11/site-packages"
    lines = ["test_a.py:1: in test_a", f"{place}/shop/cart.py:7: in total"]
    assert find_place(lines, tree, last=True) == ("src/shop/cart.py", "7")
    assert tree.find("/x/venv/lib/python3.11/site-packages/shop/cart.py") == "src/shop/cart.py"
    assert tree.find(f"{place}/six.py") is None
    assert tree.find(f"{place}/toys/cart.py") is None
