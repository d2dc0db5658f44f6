"""A real server with a model that answers at random, but always in the form that is asked for."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest

from fakes.history import History
from fakes.render import to_comment, to_html, to_summary
from fakes.tiny_model import TinyModel, serving
from prjury.app.request import ReviewRequest, RunEnvironment
from prjury.app.review import run
from prjury.git.open_snapshot import NothingToReview, SnapshotRequest
from prjury.jury.gate import Gate
from prjury.jury.judgment import Judgment, Status
from prjury.report.codec import report_schema, report_to_json
from prjury.report.model import Report

pytestmark = pytest.mark.nightly

CALC = "def add(a, b):\n    return a + b\n"
MORE = "\n\ndef sub(a, b):\n    return a - b\n"
ENTITY = "package shop;\n\nimport javax.persistence.Entity;\n\n@Entity\nclass Item {\n}\n"
POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <parent>
    <groupId>org.springframework.boot</groupId>
    <artifactId>spring-boot-starter-parent</artifactId>
    <version>4.0.1</version>
  </parent>
  <groupId>shop</groupId>
  <artifactId>shop</artifactId>
  <version>1</version>
</project>
"""

#: The model's tier after the others, which go on however they end; and the model among the others.
TIERS = {
    "after": (
        "  - {name: ground, continue_on_reject: true, judges: [merge, patterns]}\n"
        "  - {name: quality, policy: final_tier, advisory: false, judges: [quality]}\n"
    ),
    "among": (
        "  - {name: all, policy: final_tier, advisory: false, judges: [merge, patterns, quality]}\n"
    ),
}
CHANGES = {"sound": Status.PASS, "outdated": Status.FAIL, "conflicting": Status.FAIL}

#: What answers are made of: anything, what can be read as an answer, what is sometimes true.
ANYTHING: dict[str, list[object]] = {}
READABLE: dict[str, list[object]] = {"confidence": [0, 0.25, 0.5, 0.75, 1]}
PLAUSIBLE: dict[str, list[object]] = {
    **READABLE,
    "path": ["calc.py"],
    "side": ["new"],
    "line": [5],
    "end_line": [5],
    "quote": ["def sub(a, b):", "def mul(a, b):"],
}

CASES = list(itertools.product(CHANGES, TIERS, (ANYTHING, READABLE, PLAUSIBLE)))
SEEDS = range(50)

#: From the best to the worst.
GATES = [Gate.SUCCESS, Gate.ACTION_REQUIRED, Gate.FAILURE]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TinyModel]:
    with serving(tmp_path_factory.mktemp("model")) as running:
        yield running


def repository(path: Path, change: str) -> Path:
    """One with a branch `change` that is sound, uses what is gone, or conflicts with main."""
    history = History(path)
    history.commit({"calc.py": CALC, "pom.xml": POM})
    history.switch("change", create=True)
    more = {"Item.java": ENTITY} if change == "outdated" else {}
    history.commit({"calc.py": CALC + MORE, **more}, "Add sub")
    if change == "conflicting":
        history.switch("main")
        history.commit({"calc.py": CALC + MORE.replace("sub", "mul")}, "Add mul")
    return path


def review(directory: Path, change: str, tiers: str, url: str, *, models: bool = True) -> Report:
    policy = directory / "policy.yml"
    default = "{provider: openai, name: tiny, timeout: 300s}"
    policy.write_text(
        f"version: 1\nmodels: {{base_url: '{url}', default: {default}}}\ntiers:\n{TIERS[tiers]}"
    )
    place = directory / change
    wanted = SnapshotRequest(
        place if place.exists() else repository(place, change), None, "main", "change"
    )
    request = ReviewRequest(wanted, policy, build=False, models=models, timeout=900)
    # No answer of an earlier run is there to be remembered.
    report = run(request, RunEnvironment({"XDG_CACHE_HOME": str(directory / "cache")}))
    assert not isinstance(report, NothingToReview)
    return report


def said_by_the_model(report: Report) -> Judgment:
    (judgment,) = (
        ballot.judgment
        for attempt in report.verdict.attempts
        for ballot in (attempt.verdict.ballots if attempt.verdict else ())
        if ballot.judge == "quality"
    )
    return judgment


@pytest.mark.parametrize("seed", SEEDS)
def test_a_random_answer_breaks_no_report_and_lifts_no_verdict(
    model: TinyModel, tmp_path: Path, seed: int
) -> None:
    change, tiers, words = CASES[seed % len(CASES)]
    model.seed, model.words, model.answers = seed, words, []
    without = review(tmp_path, change, tiers, model.url, models=False)
    report = review(tmp_path, change, tiers, model.url)
    assert without.verdict.status == CHANGES[change]
    assert model.answers
    for answer in model.answers:
        jsonschema.validate(json.loads(answer.text), answer.schema)
    assert GATES.index(report.gate) >= GATES.index(without.gate)
    if without.verdict.status == Status.FAIL:
        assert report.verdict.status == Status.FAIL
    written = json.loads(json.dumps(report_to_json(report)).encode())
    jsonschema.Draft202012Validator(report_schema()).validate(written)
    for render in (to_comment, to_summary, to_html):
        assert render(report).encode()


def test_random_answers_do_reach_the_vote(model: TinyModel, tmp_path: Path) -> None:
    model.words = PLAUSIBLE
    heard = set()
    for seed in range(len(SEEDS), 2 * len(SEEDS)):
        model.seed = seed
        place = tmp_path / str(seed)
        place.mkdir()
        heard.add(said_by_the_model(review(place, "sound", "after", model.url)).status)
        if {Status.PASS, Status.FAIL} <= heard:
            break
    assert {Status.PASS, Status.FAIL} <= heard
