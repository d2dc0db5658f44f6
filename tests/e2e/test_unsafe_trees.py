"""Trees that no ordinary git makes: an error in every mode, whatever is built or not."""

from __future__ import annotations

from pathlib import Path

import pytest

from e2e.conftest import Prjury
from fakes.history import History, crafted_tree

HFS = ".g\u200cit"
NAMES = ["..", ".", ".git", ".GIT", "git~1", ".git. ", ".git::$INDEX_ALLOCATION", HFS, "a/b"]
ELSEWHERE = (
    "version: 1\ntiers:\n  - name: build\n    judges: [merge, {build: {from: checks}}]\n"
    "  - {name: version-patterns, policy: final_tier, judges: [patterns]}\n"
)
NO_MERGE = "version: 1\ntiers: [{name: only, policy: final_tier, judges: [patterns]}]\n"


def with_entry(history: History, name: str, below: str = "") -> None:
    """A branch ``odd`` whose tree holds a file of this name."""
    history.commit({"a.py": "x = 1\n", "sub/b.py": "y = 1\n"})
    history.branch("release")
    blob = history.git("hash-object", "-w", "--stdin", stdin=b"z = 1\n")
    tree = crafted_tree(history, [("100644", name, blob)])
    if below:
        tree = crafted_tree(history, [("40000", below, tree)])
    else:
        plain = history.git("rev-parse", "HEAD:a.py")
        tree = crafted_tree(history, [("100644", name, blob), ("100644", "a.py", plain)])
    commit = history.git("commit-tree", tree, "-p", "HEAD", "-m", "odd")
    history.git("update-ref", "refs/heads/odd", commit)


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History(tmp_path / "repo", bare=True)


@pytest.mark.parametrize("name", NAMES)
def test_f10_an_odd_entry_is_an_error_without_a_build(
    history: History, prjury: Prjury, name: str
) -> None:
    with_entry(history, name)
    args = ("--repo", history.path, "--base", "main", "--head", "odd", "--no-llm")
    run = prjury("review", *args, "--no-build", "--format", "json")

    assert run.code == 3, run.out
    assert run.report["verdict"]["status"] == "error"
    assert run.judgment("merge")["metadata"]["reason"] == "unsafe_tree"
    assert "merge (unsafe tree)" in run.complaint
    assert "could be written outside of the tree" in run.judgment("merge")["reasoning"]


def test_f10_object_names_of_any_length(tmp_path: Path, prjury: Prjury) -> None:
    history = History(tmp_path / "long", bare=True, object_format="sha256")
    with_entry(history, "..", below="sub")
    args = ("--repo", history.path, "--base", "main", "--head", "odd", "--no-llm")
    run = prjury("review", *args, "--no-build", "--format", "json")

    assert run.code == 3, run.out
    assert "the path `sub/..`" in run.judgment("merge")["reasoning"]


@pytest.mark.parametrize("policy", [ELSEWHERE, NO_MERGE], ids=["checks", "no merge judge"])
def test_f10_an_odd_directory_is_an_error_by_every_policy(
    history: History, tmp_path: Path, prjury: Prjury, policy: str
) -> None:
    with_entry(history, "config.py", below=".GIT")
    (tmp_path / "policy.yml").write_text(policy)
    args = ("--repo", history.path, "--base", "main", "--head", "odd", "--format", "json")
    run = prjury("review", *args, "--config", tmp_path / "policy.yml", "--offline")

    assert run.code == 3, run.out
    assert run.report["verdict"]["gate"] == "action_required"


def test_f10_nothing_odd_is_brought_to_another_branch(history: History, prjury: Prjury) -> None:
    with_entry(history, "..")
    args = ("--repo", history.path, "--base", "main", "--head", "odd", "--onto", "release")
    run = prjury("backport", *args, "--format", "json")

    assert run.code == 3, run.out
    (branch,) = run.report["backports"]
    assert branch["verdict"] == "error"
    assert "`..`" in branch["reasons"][0]
