"""What a whole review does about its models, with recorded answers and a real repository."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from fakes.llm import reply
from prjury.app.request import ReviewRequest, RunEnvironment
from prjury.app.review import run
from prjury.git.open_snapshot import SnapshotRequest
from prjury.report.model import Report

BROKEN = {".github/prjury/prompts/suitability.md.j2": "{{ nobody.knows }}"}


def git(place: Path, *words: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    subprocess.run(["git", *who, *words], cwd=place, check=True, capture_output=True)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    made = tmp_path / "repository"
    made.mkdir()
    git(made, "init", "-q", "-b", "main")
    return made


def change(place: Path, base: dict[str, str] | None = None, title: str = "two") -> None:
    """A base with these files and a branch that changes one more of them."""
    for path, text in {"src/app.py": "x = 1\n", **(base or {})}.items():
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_text(text)
    git(place, "add", "-A")
    git(place, "commit", "-qm", "base")
    git(place, "branch", "1.x")
    git(place, "switch", "-qc", "topic")
    (place / "src/app.py").write_text("x = 2\n")
    git(place, "commit", "-qam", title)


def review(place: Path, *, build: bool = False, onto: tuple[str, ...] = ()) -> Report:
    script = place.parent / "script.json"
    script.write_text(json.dumps([{"prompt": "*", "text": reply()}]))
    policy = place.parent / "policy.yml"
    policy.write_text(
        "tiers:\n"
        "  - {name: build, policy: reject_on_any_fail,"
        " judges: [merge, {build: {command: 'true'}}]}\n"
        "  - {name: quality, policy: final_tier, judges: [quality]}\n"
    )
    request = ReviewRequest(
        SnapshotRequest(place, base="main", head="topic"),
        config=policy,
        build=build,
        model=f"scripted:{script}",
        backport_to=onto,
    )
    environ = {"PATH": "/usr/bin:/bin", "XDG_CACHE_HOME": str(place.parent / "cache")}
    return run(request, RunEnvironment(environ))


def test_answers_are_remembered_where_nothing_is_built(place: Path) -> None:
    change(place)
    assert [review(place).cost.cached_calls for _ in range(2)] == [0, 1]


def test_what_a_build_could_have_written_is_not_believed_without_a_key(place: Path) -> None:
    change(place)
    assert [review(place, build=build).cost.cached_calls for build in (False, True, True)] == [
        0
    ] * 3


def test_a_broken_template_of_the_backport_opinion_costs_no_review(place: Path) -> None:
    change(place, BROKEN, "Fix a crash in app")
    report = review(place, onto=("1.x",))
    (backport,) = report.backports
    assert report.verdict.status.value == "pass"
    assert any("cannot be used" in reason for reason in backport.reasons)
