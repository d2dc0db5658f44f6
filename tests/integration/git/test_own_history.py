"""The photograph against git's own figures, over every commit of a real history: this one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from prjury.git.operator import OperatorRepository, open_repository
from prjury.git.store import open_store
from prjury.git.take_snapshot import Caps, take_snapshot

#: Another clone to look at instead, such as that of a large project.
PLACE = Path(os.environ.get("PRJURY_REAL_REPOSITORY") or Path(__file__).resolve().parents[3])
CAPS = Caps(files=10**6, added_lines=10**8, text_bytes=10**10)


def _pairs(repository: OperatorRepository) -> list[tuple[str, str]]:
    listing = repository.git.text("rev-list", "--no-merges", "--max-count=500", "--parents", "HEAD")
    rows = [line.split() for line in listing.splitlines()]
    return [(row[1], row[0]) for row in rows if len(row) == 2]


def _numstat(repository: OperatorRepository, old: str, new: str) -> tuple[int, int]:
    listing = repository.git.text("diff-tree", "-r", "-M50%", "--numstat", old, new)
    rows = [line.split("\t") for line in listing.splitlines()]
    counted = [(int(added), int(deleted)) for added, deleted, _ in rows if added != "-"]
    return sum(added for added, _ in counted), sum(deleted for _, deleted in counted)


@pytest.mark.nightly
def test_every_commit_counts_as_git_counts_it() -> None:
    repository = open_repository(PLACE)
    pairs = _pairs(repository)
    if not pairs:
        pytest.skip("a shallow clone has no history to look at")
    wrong = []
    with open_store(repository) as store:
        for old, new in pairs:
            pull = take_snapshot(store, repository.resolve(old), repository.resolve(new), caps=CAPS)
            text = [file for file in pull.files if file.unread != "not text (NUL bytes or UTF-16)"]
            ours = sum(file.additions for file in text), sum(file.deletions for file in text)
            if ours != _numstat(repository, old, new):
                wrong.append((new, ours, _numstat(repository, old, new)))
            assert pull.merge.tree == repository.git.text("rev-parse", f"{new}^{{tree}}")
    assert wrong == []
