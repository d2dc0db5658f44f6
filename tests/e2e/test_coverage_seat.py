"""Coverage in a policy: reports that the builds of the merged tree and of the base have written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from e2e.conftest import Prjury, Run
from fakes.history import Files, History

POLICY = """\
build: {command: python3 measure.py}
tiers:
  - name: build
    judges: [build]
  - name: coverage
    policy: final_tier
    judges: [{coverage: {report: lcov.info, %s}}]
"""
#: Stands for the tests: a line is covered unless it says that it is not.
MEASURE = """\
record = ["SF:shop.py"]
for number, line in enumerate(open("shop.py").read().splitlines(), 1):
    if line:
        record.append(f"DA:{number},{int('untested' not in line)}")
if record[1:]:
    print("\\n".join([*record, "end_of_record"]), file=open("lcov.info", "w"))
"""
BASE = "a = 1\nb = 2\nc = 3\nd = 'untested'\n"
WORSE = BASE + "e = 5\nf = 'untested'\n"


def judged(
    prjury: Prjury, place: Path, asked: str, change: Files, later: Files | None = None
) -> Run:
    shop = History(place)
    shop.commit({".github/prjury.yml": POLICY % asked, "measure.py": MEASURE, "shop.py": BASE})
    shop.switch("change", create=True)
    shop.commit(change)
    if later:
        shop.switch("main")
        shop.commit(later)
    return prjury("review", *sides(place), "--format", "json")


def sides(place: Path) -> tuple[Any, ...]:
    return ("--repo", place, "--base", "main", "--head", "change")


@pytest.mark.parametrize(
    ("asked", "change", "status", "words"),
    [
        ("baseline: base", {"shop.py": WORSE}, "fail", "is 66.66 % after 75 %, no drop"),
        (
            "baseline: base, mode: improved, minimum: 80",
            {"shop.py": BASE + "e = 5\n"},
            "pass",
            "20 % of the possible gain",
        ),
        (
            "minimum: 1",
            {"measure.py": "pass\n", "lcov.info": "SF:shop.py\nDA:1,1\nend_of_record\n"},
            "error",
            "nothing that ran has left a report at lcov.info",
        ),
    ],
)
def test_what_is_asked(
    prjury: Prjury, tmp_path: Path, asked: str, change: Files, status: str, words: str
) -> None:
    run = judged(prjury, tmp_path / "shop", asked, change)
    said = run.judgment("coverage")
    assert (said["status"], words in said["reasoning"]) == (status, True), said["reasoning"]


@pytest.mark.slow
def test_added_lines_are_those_of_the_merged_tree_built_here_or_before(
    prjury: Prjury, tmp_path: Path
) -> None:
    place = tmp_path / "shop"
    later = {"shop.py": "# one\n# more\n" + BASE}
    whole = judged(prjury, place, "mode: added_lines, minimum: 60", {"shop.py": WORSE}, later)
    said = whole.judgment("coverage")
    (found,) = [check for check in said["checks"] if check["name"] == "uncovered-lines"]
    assert found["location"] == {"path": "shop.py", "line": 8, "end_line": None}
    prjury("build", *sides(place))
    policy = place.with_name("elsewhere.yml")
    written = (POLICY % "mode: added_lines, minimum: 60").replace(".py}", ".py, from: evidence}")
    policy.write_text(written)
    before = ("--evidence", "build-evidence.json", "--config", policy)
    again = prjury("review", *sides(place), *before, "--format", "json")
    apart = again.judgment("coverage")
    assert (apart["status"], apart["reasoning"]) == ("fail", said["reasoning"])
    assert apart["checks"] == said["checks"]
