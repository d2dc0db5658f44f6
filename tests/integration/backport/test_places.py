"""Branches that are not there or not open, odd repositories, and changes that are in already."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from fakes.history import History
from integration.backport.bench import ASKED, Bench, Step, Story, lines
from prjury.errors import SourceError
from prjury.git.open_snapshot import NothingToReview
from prjury.report.backports import Backports

THREE = {"a.py": lines({3: "three"})}
REMOTE = {"base": "origin/main", "head": "origin/change", "labels": ASKED}


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path, Story(change=[THREE], main=[{"z.py": "z = 1\n"}]))


def verdicts(told: Backports) -> dict[str, str]:
    return {one.branch: one.verdict for one in told.backports}


def test_a_branch_that_is_not_there_keeps_no_other_from_its_verdict(bench: Bench) -> None:
    told = bench.judged("9.x", "1.x", "no such", "--output=x", labels=ASKED)
    assert list(verdicts(told).values()) == ["error", "suitable", "error", "error"]
    missing, _, odd, option = told.backports
    assert missing.reasons[0].startswith("there is no branch, ref or commit '9.x' in repo")
    assert (missing.applies, missing.branch_sha, missing.score) == (None, None, None)
    assert "'no such' is not the name of a branch" in odd.reasons[0]
    assert "'--output=x' is not the name of a branch" in option.reasons[0]
    assert [one.branch for one in told.unjudged] == ["9.x", "no such", "--output=x"]


@pytest.mark.parametrize("entry", ["1.x", "1.*", "?.x", "[0-9].x"])
def test_a_locked_branch(bench: Bench, entry: str) -> None:
    told = bench.judge(labels=ASKED, policy=f"locked: ['{entry}']")
    assert told.verdict == "not_applicable"
    assert told.reasons == (f"the policy locks 1.x (`{entry}`)",)
    assert told.branch_sha == bench.history.sha("1.x")


@pytest.mark.parametrize("name", ["1.x", "refs/heads/1.x"])
def test_the_branch_that_the_change_goes_to(bench: Bench, name: str) -> None:
    told = bench.judge(name, base="1.x")
    assert (told.verdict, told.reasons[0]) == (
        "not_applicable",
        f"the change is merged into {name} anyway",
    )


def test_a_change_without_a_common_commit_with_its_base(bench: Bench) -> None:
    bench.history.orphan("other")
    bench.history.commit(THREE, parents=())
    with pytest.raises(SourceError, match="no common commit"):
        bench.judge(head="other")


def test_without_a_name_the_policy_s_branches(bench: Bench) -> None:
    bench.history.branch("2.x", "main")
    bench.history.branch("topic", "main")
    assert [*verdicts(bench.judged())] == ["2.x", "1.x"]
    assert [*verdicts(bench.judged(policy="branches: ['1.*', gone]"))] == ["1.x", "gone"]
    with pytest.raises(NothingToReview) as caught:
        bench.outcome(policy="locked: ['*']")
    assert (
        "2.x not tried: locked by the policy; 1.x not tried: locked by the policy."
        in caught.value.what
    )


@pytest.fixture
def deep(tmp_path: Path) -> Bench:
    """A repository of which a shallow clone sees no common commit."""
    main: Sequence[Step] = [{f"m{number}.py": "m = 1\n"} for number in range(5)]
    branch = [{"own.py": f"own = {number}\n"} for number in range(5)]
    return Bench(tmp_path, Story(change=[THREE], main=main, branch=branch))


def test_a_shallow_clone_says_what_it_cannot_see(deep: Bench, tmp_path: Path) -> None:
    clone = deep.history.clone(tmp_path / "shallow", "--depth=3", "--no-single-branch")
    told = deep.judge("origin/1.x", repo=clone.path, **REMOTE)
    assert told.verdict == "suitable"
    assert told.reasons[1].startswith("not checked whether origin/1.x already has it")
    nobody = REMOTE | {"labels": ()}
    told = deep.judge("origin/1.x", repo=clone.path, **nobody, policy="default: yes")
    assert told.verdict == "needs_human"
    assert told.reasons[0].startswith("not checked whether origin/1.x already has it")


def test_a_clone_that_is_too_shallow(deep: Bench, tmp_path: Path) -> None:
    clone = deep.history.clone(tmp_path / "shallow", "--depth=1", "--no-single-branch")
    with pytest.raises(SourceError, match="shallow clone"):
        deep.judge("origin/1.x", repo=clone.path, **REMOTE)


def test_a_clone_without_trees_is_no_clone(bench: Bench, tmp_path: Path) -> None:
    clone = bench.history.clone(tmp_path / "partial", "--filter=tree:0", "--no-checkout")
    with pytest.raises(SourceError, match="missing or damaged"):
        bench.judge("origin/1.x", repo=clone.path, **REMOTE)


def test_a_clone_has_its_branches_from_its_remote(bench: Bench, tmp_path: Path) -> None:
    clone = bench.history.clone(tmp_path / "clone")
    clone.detach("origin/change")
    told = bench.judge(repo=clone.path, base=None, head=None, labels=ASKED)
    assert (told.verdict, told.branch_sha) == ("suitable", bench.history.sha("1.x"))


TWO: Sequence[Step] = ({"a.py": lines({4: "four"})}, {"a.py": lines({3: "three", 4: "four"})})


def landed(history: History, way: str) -> str:
    """Brings pull request 7 to main; the result is the last line of the commands to come."""
    history.pull_ref(7, "change")
    if way == "merge":
        unit = history.merge("change", message="Merge pull request #7 from ada/change")
        command = f"git cherry-pick -x -m 1 {unit}"
    elif way == "fast-forward":
        history.branch("main", "change")
        command = f"git cherry-pick -x {history.sha('change')}"
    else:
        unit = history.commit(TWO[-1] if isinstance(TWO[-1], dict) else {}, "Fix the count (#7)")
        command = f"git cherry-pick -x {unit}"
    history.extend("main", [({"z.py": "z = 2\n"}, "Later")])
    history.git("update-ref", "-d", "refs/heads/change")
    return command


@pytest.mark.parametrize("way", ["merge", "fast-forward", "squash"])
def test_a_pull_request_that_was_merged(tmp_path: Path, way: str) -> None:
    change = TWO if way != "fast-forward" else [THREE]
    bench = Bench(tmp_path, Story(change=change, main=[{"z.py": "z = 1\n"}]))
    command = landed(bench.history, way)
    told = bench.judged("1.x", number=7, base=None, head=None, labels=ASKED)
    (one,) = told.backports
    assert one.verdict == "suitable"
    assert one.commands[-1].startswith(command)
    (note,) = told.notes
    assert "in main already" in note

    bench.history.extend("1.x", [(THREE, "Fix the count\n\nBackport #7")])
    told = bench.judged("1.x", number=7, base=None, head=None, labels=ASKED)
    assert verdicts(told) == {"1.x": "already_present"}


def test_the_pick_of_a_merge_is_known_again(tmp_path: Path) -> None:
    bench = Bench(tmp_path, Story(change=TWO))
    command = landed(bench.history, "merge")
    bench.history.switch("1.x")
    bench.history.git(*command.split()[1:])
    bench.history.extend("1.x", [({"a.py": lines({3: "three", 4: "vier"})}, "Better")])
    told = bench.judge(number=7, base=None, head=None)
    assert (told.verdict, told.applies) == ("already_present", False)


def test_files_are_followed_as_git_follows_them(tmp_path: Path) -> None:
    start = {f"old/m{number}.py": lines({1: f"{number}"}) for number in range(3)}
    moved = {f"new/m{number}.py": lines({1: f"{number}"}) for number in range(3)}
    bench = Bench(tmp_path)
    bench.history.commit(start, "start")
    bench.history.branch("1.x")
    bench.history.commit({**dict.fromkeys(start), **moved}, "Rename the package")
    bench.history.commit({"new/late.py": lines({1: "late"})}, "A new part")
    bench.history.switch("change", create=True)
    fixed = {"new/m1.py": lines({1: "1", 9: "nine"}), "new/late.py": lines({1: "late", 9: "nine"})}
    bench.history.commit(fixed, "Fix the count")
    bench.history.switch("main")
    told = bench.judge(labels=ASKED)
    assert told.verdict == "needs_human", told.reasons
    assert [conflict.path for conflict in told.conflicts] == ["new/late.py"]
    assert any("`new/m1.py` is `old/m1.py` there" in reason for reason in told.reasons)


def test_a_label_or_a_milestone_names_a_branch_that_is_not_taken_by_itself(bench: Bench) -> None:
    for name in ("5.x", "4.x", "3.x", "widget-0.9.x"):
        bench.history.branch(name, "main")
    assert [*verdicts(bench.judged())] == ["5.x", "4.x", "3.x"]
    told = bench.judged(labels=("backport widget-0.9.x", "backport 1.x", "backport to 8.x"))
    assert verdicts(told)["widget-0.9.x"] == verdicts(told)["1.x"] == "suitable"
    assert told.notes == ("no branch is meant by the label: backport to 8.x",)
    assert verdicts(bench.judged(milestone="1.4"))["1.x"] == "suitable"


def test_what_mends_a_commit_is_asked_for_where_that_commit_is(bench: Bench) -> None:
    broken = bench.history.sha("1.x")
    bench.history.switch("change")
    bench.history.commit(
        {"a.py": lines({9: "nine"})}, f'Count again\n\nFixes: {broken[:12]} ("start")'
    )
    bench.history.switch("main")
    told = bench.judge(title="Count again")
    assert told.verdict == "suitable"
    assert told.reasons[0].startswith(f"asked for (a commit: Fixes: {broken[:12]}; 1.x has")
    bench.history.orphan("2.x")
    bench.history.commit({"a.py": lines({30: "x"})}, parents=())
    assert bench.judge("2.x", title="Count again").verdict == "not_requested"


def test_a_request_without_a_branch_asks_a_human(bench: Bench) -> None:
    told = bench.judge(title="Count", labels=("backport",))
    assert told.verdict == "needs_human"
    assert told.reasons[0].startswith("it applies, and is asked for without naming this branch")
