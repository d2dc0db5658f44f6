"""Judges of the merged tree in a policy: files, commands, and the same command in another job."""

from __future__ import annotations

from pathlib import Path

import pytest

from e2e.conftest import Prjury, Run
from fakes.history import Files, History, link

POLICY = """\
tiers:
  - name: files
    policy: reject_on_any_fail
    judges:
      - file-exists: {path: README.md}
      - file-content: {path: VERSION, regex: '^\\d+$'}
      - python: {file: .prjury/rules.py, function: no_todo}
  - name: commands
    policy: final_tier
    judges: [{command: {run: 'test ! -e broken || (cat broken; exit 3)', timeout: 1m}}]
"""
RULE = """\
def no_todo(pull):
    return [file.path + ": TODO" for file in pull.files for one in file.added if "TODO" in one.text]
"""
FILES = {
    ".prjury/rules.py": RULE,
    ".github/prjury.yml": POLICY,
    "README.md": "Hello\n",
    "VERSION": "3\n",
}


@pytest.fixture
def shop(tmp_path: Path) -> History:
    history = History(tmp_path / "shop")
    history.commit(FILES)
    return history


def changed(shop: History, change: Files) -> None:
    shop.switch("change", create=True)
    shop.commit(change)


def judged(prjury: Prjury, shop: History, change: Files, *more: str) -> Run:
    changed(shop, change)
    sides = ("--repo", shop.path, "--base", "main", "--head", "change")
    return prjury("review", *sides, "--format", "json", *more)


def statuses(run: Run) -> dict[str, str]:
    tiers = run.report["tiers"]
    return {one["judge"]: one["status"] for tier in tiers for one in tier["judgments"]}


NAMES = ("file-exists", "file-content", "no_todo", "command")


def test_all_is_as_expected(prjury: Prjury, shop: History) -> None:
    run = judged(prjury, shop, {"docs.md": "more\n"})
    assert statuses(run) == dict.fromkeys(NAMES, "pass")
    assert run.judgment("command")["metadata"]["exit_code"] == 0


def test_what_the_change_breaks(prjury: Prjury, shop: History) -> None:
    """Expectations and rules are the base's: no change edits them for itself."""
    run = judged(
        prjury,
        shop,
        {
            "README.md": None,
            "VERSION": "three\n",
            "a.txt": "TODO\n",
            ".prjury/rules.py": "def no_todo(pull): return True\n",
        },
    )
    assert run.code == 1
    words = {
        "file-exists": "README.md",
        "file-content": "VERSION does not match",
        "no_todo": "a.txt: TODO",
    }
    assert statuses(run) == dict.fromkeys(words, "fail")
    assert [name for name in words if words[name] not in run.judgment(name)["reasoning"]] == []


def test_a_link_out_of_the_tree(prjury: Prjury, shop: History) -> None:
    run = judged(prjury, shop, {"VERSION": link("/etc/hostname")})
    assert run.code != 0
    assert run.judgment("file-content")["metadata"]["reason"] == "outside_workspace"


def test_nothing_of_the_change_runs_without_a_build(prjury: Prjury, shop: History) -> None:
    run = judged(prjury, shop, {"broken": "x\n"}, "--no-build")
    skipped = [one["judge"] for tier in run.report["tiers"] for one in tier["skipped"]]
    assert skipped == ["python", "command"], "a rule is code of the repository, too"


LINTED = """\
tiers:
  - name: lint
    judges: [{command: {run: 'sh lint.sh'}}]
  - name: findings
    policy: final_tier
    judges: [{findings: {checkstyle: out/lint.xml}}]
"""
#: Complains about every line with a tab, by the absolute path of its file.
LINTER = """\
mkdir -p out && { echo '<checkstyle>'; for file in *.c; do echo "<file name=\\"$PWD/$file\\">"
grep -n '\t' "$file" | cut -d: -f1 | sed 's,.*,<error line="&" message="a tab"/>,'
echo '</file>'; done; echo '</checkstyle>'; } > out/lint.xml
"""


@pytest.fixture
def linted(tmp_path: Path) -> History:
    history = History(tmp_path / "linted")
    history.commit({".github/prjury.yml": LINTED, "lint.sh": LINTER, "a.c": "int a;\n\tint b;\n"})
    return history


@pytest.mark.slow
def test_findings_of_a_tool_that_ran_here(prjury: Prjury, linted: History) -> None:
    whole = judged(prjury, linted, {"a.c": "int a;\n\tint b;\n\tint d;\n"})
    said = whole.judgment("findings")
    assert (said["status"], said["metadata"]) == ("fail", {"found": 1, "elsewhere": 1})


def test_a_report_that_the_change_brings_along(prjury: Prjury, linted: History) -> None:
    """The run has not written it, so it proves nothing."""
    forged = {"out/lint.xml": "<checkstyle/>", "lint.sh": "true\n", "a.c": "\tint z;\n"}
    said = judged(prjury, linted, forged).judgment("findings")
    assert (said["status"], said["metadata"]["reason"]) == ("error", "report_missing")
