"""Earning the gate on the command line: pushes, merges and dismissals in a real repository."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from fakes.llm import answer, quote, reply
from fakes.providers import PATH, TEXT, Policy, Said, Shop, policy, typed
from prjury.calibration.answers import Counts, Record, read_model_setup
from prjury.report.codec import ReportJson, read_form
from prjury.report.judge_facts import ModelSetup

RULES = policy(advisory="auto", review={"confirm": True})
LOST = "An overflow of the sum is lost."
WRONG = reply(correctness=answer("fail", [quote(PATH, 24, TEXT, claim=LOST)]))


class Repository:
    """A shop whose pushes are reviewed by one scripted model; the reports lie in a directory."""

    def __init__(self, place: Path) -> None:
        self.shop = Shop(place)
        self.reports = place / "reports"
        self.reports.mkdir()

    def review(self, text: str = WRONG, rules: Policy = RULES, model: str = "answers") -> Said:
        script = self.shop.place / f"{model}.json"
        holds = reply(["holds"], holds=answer("pass"))
        entries = [{"prompt": "confirm", "text": holds}, {"prompt": "quality", "text": text}]
        script.write_text(json.dumps(entries * 2))
        said = self.shop.review(rules, "--model", f"scripted:{script}")
        number = len(list(self.reports.iterdir()))
        (self.reports / f"{number}.json").write_text(said.out)
        return said

    def calibrate(self, *more: str, reports: Path | None = None) -> tuple[int, str]:
        place = str(self.shop.history.path)
        words = ["calibrate", str(reports or self.reports), "--repo", place, *more]
        code, out, _ = typed(words, self.shop.environ)
        return code, out

    def mend(self, text: str = "    return int(a) + int(b)") -> None:
        source = (self.shop.history.path / PATH).read_text().replace(TEXT, text)
        self.shop.history.commit({PATH: source}, "Mend")

    def commit_record(self, counts: Counts, today: Any, setup: ModelSetup | None = None) -> None:
        report = read_form(json.loads((self.reports / "0.json").read_text()), ReportJson)
        record = Record.of(setup or read_model_setup(report) or ModelSetup((), {}), counts, today)
        self.shop.history.switch("main")
        self.shop.history.commit({".github/prjury-calibration.yml": str(record)}, "Earn")
        self.shop.history.switch("change")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path)


def test_an_error_whose_lines_a_later_push_changes_is_mended(repository: Repository) -> None:
    repository.review()
    repository.mend()
    repository.review(reply())
    code, out = repository.calibrate()
    assert code == 1
    assert out.splitlines()[0] == (
        "1 told: 1 mended, 0 dismissed, 0 merged as it was, 0 open: 21 more before it may block"
    )


def test_an_error_that_a_model_only_forgets_is_not_mended(repository: Repository) -> None:
    repository.review()
    repository.shop.history.commit({"README.md": "More.\n"}, "Say more")
    repository.review(reply())
    assert "0 mended, 0 dismissed, 0 merged as it was, 1 open" in repository.calibrate()[1]


def test_an_error_that_is_dismissed_was_wrong(repository: Repository) -> None:
    report = repository.review().report
    (check,) = [c for c in report["tiers"][-1]["judgments"][0]["checks"] if not c["passed"]]
    word = {"finding": check["fingerprint"], "by": "ann", "reason": "It cannot overflow."}
    (repository.reports / "0.json").write_text(json.dumps({**report, "dismissals": [word]}))
    assert (
        "0 mended, 1 dismissed, 0 merged as it was, 0 open: 37 more" in (repository.calibrate()[1])
    )


def _merge(repository: Repository, *options: str) -> None:
    history = repository.shop.history
    history.switch("main")
    history.git("merge", "-q", *options, "change")
    if "--squash" in options:
        history.git("commit", "-q", "-m", "Add for real")


def _rebase(repository: Repository) -> None:
    history = repository.shop.history
    history.switch("main")
    history.commit({"other.txt": "other\n"}, "Other")
    history.git("cherry-pick", "change")


@pytest.mark.parametrize(
    "merge",
    [
        lambda repository: _merge(repository, "--no-ff", "--no-edit"),
        lambda repository: _merge(repository, "--squash"),
        _rebase,
    ],
    ids=["merge", "squash", "rebase"],
)
def test_an_error_that_is_merged_as_it_was_was_wrong(
    repository: Repository, merge: Callable[[Repository], None]
) -> None:
    repository.review()
    assert "1 open" in repository.calibrate()[1]
    merge(repository)
    assert "1 merged as it was, 0 open" in repository.calibrate()[1]


def test_a_change_that_is_nothing_but_a_merge_is_not_merged_before_it_is(
    repository: Repository,
) -> None:
    history = repository.shop.history
    history.switch("main")
    history.commit({"other.txt": "other\n"}, "Other")
    parents = ("-p", "main", "-p", "main~1")
    merge = history.git("commit-tree", "change^{tree}", *parents, "-m", "Merge it all").strip()
    history.git("branch", "-f", "change", merge)
    history.switch("change")
    repository.review()
    history.switch("main")
    history.commit({"third.txt": "third\n"}, "Third")
    assert "0 merged as it was, 1 open" in repository.calibrate()[1]


def test_warnings_and_errors_that_nobody_confirmed_are_not_counted(repository: Repository) -> None:
    minor = quote(PATH, 24, TEXT, severity="warning")
    repository.review(reply(conventions=answer("fail", [minor])))
    repository.review(WRONG, policy(advisory="auto"))
    assert repository.calibrate()[1].startswith("0 told: ")


def test_enough_right_answers_write_a_record_by_which_the_tier_blocks(
    repository: Repository,
) -> None:
    before = repository.review()
    assert (before.code, before.status) == (0, "pass")
    repository.mend()
    after = repository.review(reply())
    for number in range(22):
        for push, said in enumerate((before, after)):
            report = said.report
            report["pull"]["number"] = number + 1
            place = repository.reports / f"{number}-{push}.json"
            place.write_text(json.dumps(report))
    for name in ("0.json", "1.json"):
        (repository.reports / name).unlink()
    code, out = repository.calibrate()
    assert (code, out.splitlines()[0]) == (
        0,
        "22 told: 22 mended, 0 dismissed, 0 merged as it was, 0 open: it may block",
    )
    record = repository.shop.history.path / ".github/prjury-calibration.yml"
    text = record.read_text()
    record.unlink()
    repository.shop.history.switch("main")
    repository.shop.history.commit({".github/prjury-calibration.yml": text}, "Earn")
    repository.shop.history.switch("change")
    repository.shop.history.git("reset", "-q", "--hard", "change~1")
    again = repository.review()
    assert (again.code, again.status) == (1, "fail")
    assert again.report["tiers"][-1]["advisory"] is False


def test_a_record_of_other_models_or_an_old_one_says_why_it_does_not_count(
    repository: Repository,
) -> None:
    repository.review()
    today = datetime.now(UTC).date()
    repository.commit_record(Counts(mended=22), today)
    assert repository.review().code == 1
    other = repository.review(model="other")
    assert other.code == 0
    assert "it is about scripted:answers.json, not scripted:other.json" in str(
        other.report["notes"]
    )
    repository.commit_record(Counts(mended=22), today - timedelta(181))
    assert "it expired on" in str(repository.review().report["notes"])
    repository.commit_record(Counts(mended=22, merged=1), today)
    assert "no longer keep the promise" in str(repository.review().report["notes"])
    fewer = policy(
        advisory="auto", review={"confirm": True}, judge={"quality": {"criteria": ["correctness"]}}
    )
    repository.commit_record(Counts(mended=22), today)
    said = repository.review(reply(["correctness"], correctness=answer("fail", [])), fewer)
    assert "the questions of quality are others now" in str(said.report["notes"])


def test_two_directories_are_compared_by_change_and_finding(
    repository: Repository, tmp_path: Path
) -> None:
    repository.review()
    there = tmp_path / "there"
    there.mkdir()
    (there / "a.json").write_text(repository.review(reply(), model="other").out)
    (repository.reports / "1.json").unlink()
    code, out = repository.calibrate("--against", str(there))
    assert code == 0
    assert f"quality {PATH}: {LOST}" in out
    assert "quality: fail against pass" in out
    assert "0 errors told by both, 1 by one" in out
