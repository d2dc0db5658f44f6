"""A small repository whose change is judged or repaired by scripted agents."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from prjury.app.request import ReviewRequest, RunEnvironment
from prjury.app.review import run
from prjury.git.open_snapshot import SnapshotRequest
from prjury.ports import Progress, SilentProgress
from prjury.report.model import Report

BASE = {
    "shop/__init__.py": "",
    "shop/price.py": "def total(prices):\n    return sum(prices)\n",
    "tests/__init__.py": "",
    "tests/test_price.py": (
        "import unittest\n\nfrom shop.price import total\n\n\n"
        "class PriceTest(unittest.TestCase):\n"
        "    def test_sum(self):\n        self.assertEqual(total([1, 2]), 3)\n\n"
        "    def test_none(self):\n        self.assertEqual(total([]), 0)\n"
    ),
}
#: The change gives the function another name, and forgets the tests.
RENAMED = {"shop/price.py": "def sum_of(prices):\n    return sum(prices)\n"}
BUILD = {"build": {"command": "python3 -m unittest discover -v -s tests -t ."}}


def git(place: Path, *words: str) -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    done = subprocess.run(["git", *who, *words], cwd=place, check=True, capture_output=True)
    return done.stdout.decode()


def commit(place: Path, files: Mapping[str, str]) -> None:
    for path, text in files.items():
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_text(text)
    git(place, "add", "-A")
    git(place, "commit", "-qm", "work")


def repository(tmp_path: Path, change: Mapping[str, str] = RENAMED) -> Path:
    place = tmp_path / "shop"
    place.mkdir()
    git(place, "init", "-q", "-b", "main")
    commit(place, BASE)
    git(place, "switch", "-qc", "topic")
    commit(place, change)
    return place


class Events(list[dict[str, object]]):
    """A journal in memory."""

    def record(self, event: str, /, **facts: object) -> None:
        self.append({"event": event, **facts})


def review(
    place: Path,
    policy: Mapping[str, Any],
    journal: Events | None = None,
    progress: Progress | None = None,
    **environ: str,
) -> Report:
    """The report on the change; the policy is JSON, which is YAML."""
    file = place.parent / "policy.yml"
    file.write_text(json.dumps({"version": 1, "backport": {"branches": []}, **policy}))
    request = ReviewRequest(SnapshotRequest(place, base="main", head="topic"), config=file)
    given = {"PATH": os.environ["PATH"], "HOME": str(place.parent), **environ}
    shown, kept = progress or SilentProgress(), Events() if journal is None else journal
    return run(request, RunEnvironment(given, shown, journal=kept))
