"""Many reviews in one process, many killed half-way, and the same one twenty times elsewhere."""

from __future__ import annotations

import gc
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from fakes.history import History
from fakes.waiting import eventually
from prjury.app.request import ReviewRequest, RunEnvironment
from prjury.app.review import run
from prjury.git.open_snapshot import SnapshotRequest

REVIEWS, KILLS, RUNS = 500, 200, 20
#: What a process may have more after many reviews than after a few: caches of the interpreter.
SHARE = 1.05
POLICY = """version: 1
build: {command: {test: "sh check.sh"}}
"""
CHECK = "echo tested; sleep 0.05; exit 0\n"

pytestmark = pytest.mark.nightly


@pytest.fixture
def project(tmp_path: Path) -> History:
    history = History(tmp_path / "project")
    files = {".github/prjury.yml": POLICY, "check.sh": CHECK, "calc.py": "x = 1\n"}
    history.commit(files, "start")
    history.switch("change", create=True)
    history.commit({"calc.py": "x = 2\n"}, "Change x")
    return history


@pytest.fixture
def environ(tmp_path: Path) -> Mapping[str, str]:
    for name in ("home", "tmp"):
        (tmp_path / name).mkdir()
    names = ("PATH", "LANG")
    return {name: os.environ[name] for name in names if name in os.environ} | {
        "HOME": str(tmp_path / "home"),
        "TMPDIR": str(tmp_path / "tmp"),
    }


def measure() -> dict[str, float]:
    """Return what this process holds: pages, descriptors, mounts, threads, children."""
    gc.collect()
    held = Path("/proc/self")
    return {
        "memory": float((held / "statm").read_text().split()[1]),
        "descriptors": len(list((held / "fd").iterdir())),
        "mounts": len((held / "mounts").read_text().splitlines()),
        "threads": len(list((held / "task").iterdir())),
        "children": len((held / f"task/{os.getpid()}/children").read_text().split()),
    }


def leftovers(place: Path) -> list[str]:
    paths = (str(path.relative_to(place)) for path in (place / "tmp").rglob("*"))
    return sorted(path for path in paths if "prjury-logs-" not in path)


def wait_for_removal(place: Path) -> None:
    """Wait until programs that remove scratch directories, beside what comes next, have ended."""
    eventually(lambda: not leftovers(place), 20)
    time.sleep(0.5)


@pytest.mark.needs("git")
def test_five_hundred_reviews_leave_nothing(
    project: History, environ: Mapping[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HOME", "TMPDIR"):
        monkeypatch.setenv(name, environ[name])
    request = ReviewRequest(SnapshotRequest(project.path, base="main", head="change"), offline=True)
    after_few: dict[str, float] = {}
    for number in range(REVIEWS):
        report = run(request, RunEnvironment(environ))
        assert report.gate.value == "success", report.headline
        if number == REVIEWS // 5:
            wait_for_removal(tmp_path)
            after_few = measure()
    wait_for_removal(tmp_path)
    after_many = measure()
    growth = after_many.pop("memory") / after_few.pop("memory")
    assert growth <= SHARE
    assert after_many == after_few
    assert leftovers(tmp_path) == []


def find_marked(marker: str) -> list[str]:
    """Return the processes whose environment or command line holds a marker."""
    processes = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            words = (place / "environ").read_bytes() + (place / "cmdline").read_bytes()
        except OSError:
            continue
        if marker.encode() in words:
            processes.append(place.name)
    return processes


def test_two_hundred_kills_leave_nothing(
    project: History, environ: Mapping[str, str], tmp_path: Path
) -> None:
    mounts = Path("/proc/self/mounts").read_text()
    command = [sys.executable, "-m", "prjury", "review", "--repo", str(project.path), "--offline"]
    ends = [signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP]
    for number in range(KILLS):
        with subprocess.Popen(
            command, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as process:
            time.sleep(0.1 + number * 37 % 190 / 100)
            process.send_signal(ends[number % len(ends)])
            process.wait(30)
    until = time.monotonic() + 10
    while find_marked(str(tmp_path)) and time.monotonic() < until:
        time.sleep(0.2)
    assert find_marked(str(tmp_path)) == []
    assert Path("/proc/self/mounts").read_text() == mounts
    time.sleep(61)  # what is younger could be that of a run that has not locked it yet
    done = subprocess.run(command, env=environ, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    wait_for_removal(tmp_path)
    assert leftovers(tmp_path) == []


def _places(tmp_path: Path) -> Iterator[Mapping[str, str]]:
    locales, zones = ("C", "C.UTF-8", "de_DE.UTF-8", "tr_TR.UTF-8"), ("UTC", "Asia/Kolkata", "")
    for number in range(RUNS):
        home = tmp_path / f"home {number} ü"
        home.mkdir()
        (home / ".gitconfig").write_text(
            "[core]\n\tquotePath = false\n\tautocrlf = true\n[diff]\n\tnoprefix = true\n"
            "\talgorithm = patience\n\tmnemonicPrefix = true\n[merge]\n\tconflictStyle = zdiff3\n"
            "[color]\n\tui = always\n"
            if number % 2
            else ""
        )
        yield {
            "HOME": str(home),
            "PATH": os.environ["PATH"],
            "LC_ALL": locales[number % len(locales)],
            "TZ": zones[number % len(zones)],
            "PYTHONHASHSEED": str(number),
            "COLUMNS": str(40 + 10 * number),
        }


def test_twenty_runs_elsewhere_give_the_same_report(project: History, tmp_path: Path) -> None:
    project.switch("main")
    project.commit({"other.py": "y = 3\n"}, "Add y")
    reports = []
    for number, environ in enumerate(_places(tmp_path)):
        done = subprocess.run(
            [sys.executable, "-m", "prjury", "review", "--repo", str(project.path), "--offline",
             "--base", "main", "--head", "change", "--format", "json"],
            env=environ, cwd=environ["HOME"], umask=(0o022, 0o077, 0o000)[number % 3],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        reports.append(drop_times(json.loads(done.stdout)))
    assert all(report == reports[0] for report in reports)


def drop_times(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: drop_times(value) for key, value in data.items() if key not in TIMES}
    if isinstance(data, str):
        return re.sub(r"\b\d+\.\d s\b", "N s", data)
    return [drop_times(each) for each in data] if isinstance(data, list) else data


#: Keys that hold how long something took, and where its log is.
TIMES = frozenset({"elapsed_ms", "seconds", "ms", "log", "duration_ms"})
