"""From findings to a verdict: what weighs more than what."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from msgspec.structs import replace

from prjury.judges.backport.checks.not_there_yet import AppliedCommits
from prjury.judges.backport.checks.picks_cleanly import CherryPickTrial
from prjury.judges.backport.checks.prerequisites import Prerequisites
from prjury.judges.backport.score import ChangeTraits, Score
from prjury.judges.backport.verdict import (
    BranchFacts,
    add_opinion_reasons,
    decide_backport,
    needs_opinion,
)
from prjury.jury.judgment import Check, Judgment
from prjury.ports.types import BranchTip
from prjury.snapshot.merge_style import HistoryCommit, RebaseTrial
from prjury.snapshot.model import Conflict, ConflictType, MergeTrial, PullRequest, Side

TIP = BranchTip("1.x", "e" * 40, 0, "9" * 40)
PULL = PullRequest(
    "o/r",
    Side("main", "b" * 40),
    Side("change", "c" * 40),
    "a" * 40,
    MergeTrial("d" * 40),
    ahead=1,
    number=7,
    title="Fix Ada's  bug",
)
CLEAN = CherryPickTrial(MergeTrial("f" * 40))
HARD = Conflict("a.py", ConflictType.CONTENT, mechanical=False, reason="the same code")
EASY = replace(HARD, mechanical=True, reason="imports only")
CONFLICT = CherryPickTrial(MergeTrial(None, (HARD,)))
FIRST = Prerequisites(
    (HistoryCommit("1" * 40, ("0" * 40,), "Before"),), CherryPickTrial(MergeTrial("8" * 40))
)


def failed(
    name: str, severity: Literal["error", "warning", "hint"] = "error", **more: Any
) -> Check:
    return Check(name, passed=False, message=f"{name} says no", severity=severity, **more)


def score(value: float) -> Score:
    return Score(value, reasons_for=("fix in the title",))


#: A branch that has a record, and what it says of the change.
LIKELY: dict[str, Any] = {"score": score(0.7), "reached": 9}
GREY: dict[str, Any] = {"score": score(0.5), "reached": 9}
RARE: dict[str, Any] = {"score": score(0.3), "reached": 9}
UNLIKELY: dict[str, Any] = {"score": score(0.01), "reached": 9}
FIX = ChangeTraits(fix=True, plain=True, recorded=True)
TITLE = ChangeTraits(fix=True, plain=True)
API = (failed("api"),)
LACKS = (failed("symbols"),)
VERSIONS = (failed("versions", fix="use the old name"),)

RULINGS: dict[str, tuple[dict[str, Any], str]] = {
    "likely": (LIKELY, "suitable"),
    "likely by its size alone": (LIKELY | {"reached": 2}, "not_requested"),
    "grey": (GREY, "needs_human"),
    "grey, and the policy says yes": (GREY | {"default": "yes"}, "suitable"),
    "rare": (RARE, "not_requested"),
    "rare, and a fix beyond doubt": (RARE | {"traits": FIX}, "needs_human"),
    "rare, and a fix by its title": (RARE | {"traits": TITLE}, "needs_human"),
    "rare, and the policy says no": (RARE | {"default": "no"}, "not_suitable"),
    "unlikely": (UNLIKELY, "not_requested"),
    "unlikely, and a fix beyond doubt": (UNLIKELY | {"traits": FIX}, "not_requested"),
    "unlikely, and asked for": (UNLIKELY | {"answer": "yes"}, "suitable"),
    "likely, and refused": (LIKELY | {"answer": "no"}, "not_suitable"),
    "no record": ({}, "not_requested"),
    "no record, and a fix by its title": ({"traits": TITLE}, "needs_human"),
    "breaks its users, and rare": (RARE | {"checks": API}, "not_requested"),
    "breaks its users, and unlikely": (UNLIKELY | {"checks": API}, "not_suitable"),
    "breaks its users, conflicts, and rare": (
        RARE | {"checks": API, "trial": CONFLICT},
        "not_suitable",
    ),
    "breaks its users, and likely": (LIKELY | {"checks": API}, "needs_human"),
    "breaks its users, and asked for": ({"checks": API, "answer": "yes"}, "needs_human"),
    "adds to the interface": (LIKELY | {"checks": (failed("api", "warning"),)}, "suitable"),
    "its interface was not checked": (LIKELY | {"checks": (failed("api", "hint"),)}, "suitable"),
    "lacks a name": (LIKELY | {"checks": LACKS}, "needs_human"),
    "lacks a name, and unlikely": (UNLIKELY | {"checks": LACKS}, "not_requested"),
    "lacks a name that something brings": (
        LIKELY | {"checks": LACKS, "first": FIRST},
        "suitable_with_changes",
    ),
    "lacks a name, and asked for": ({"answer": "yes", "checks": LACKS}, "needs_human"),
    "wrong for its versions": (LIKELY | {"checks": VERSIONS}, "suitable_with_changes"),
    "does not build": (LIKELY | {"checks": (failed("build"),)}, "needs_human"),
    "names not checked": (LIKELY | {"checks": (failed("symbols", "hint"),)}, "needs_human"),
    "names not checked, and asked for": (
        {"answer": "yes", "checks": (failed("symbols", "hint"),)},
        "suitable",
    ),
    "conflict": (GREY | {"trial": CONFLICT}, "not_requested"),
    "conflict, and likely": (LIKELY | {"trial": CONFLICT}, "needs_human"),
    "conflict, and a fix beyond doubt": (
        GREY | {"trial": CONFLICT, "traits": FIX},
        "not_requested",
    ),
    "conflict, it breaks its users, and grey": (
        GREY | {"trial": CONFLICT, "checks": API},
        "not_requested",
    ),
    "grey, and its changelog entry is elsewhere": (GREY | {"elsewhere": True}, "not_requested"),
    "a fix whose changelog entry is elsewhere": (
        LIKELY | {"traits": FIX, "elsewhere": True},
        "not_requested",
    ),
    "a dependency moved beyond a patch": (LIKELY | {"raises": True}, "not_requested"),
    "a dependency moved beyond a patch, and asked for": (
        UNLIKELY | {"raises": True, "answer": "yes"},
        "suitable",
    ),
    "a dependency moved beyond a patch, as a fix": (
        GREY | {"raises": True, "traits": FIX},
        "needs_human",
    ),
    "conflict, and rare": (RARE | {"trial": CONFLICT}, "not_requested"),
    "conflict, unlikely, asked for": (
        UNLIKELY | {"trial": CONFLICT, "answer": "yes"},
        "needs_human",
    ),
    "mechanical conflict": (
        GREY | {"trial": CherryPickTrial(MergeTrial(None, (EASY,)))},
        "suitable_with_changes",
    ),
    "something comes first, and it is a fix": (
        GREY | {"trial": CONFLICT, "first": FIRST, "traits": TITLE},
        "suitable_with_changes",
    ),
    "something comes first": (
        LIKELY | {"trial": CONFLICT, "first": FIRST},
        "suitable_with_changes",
    ),
    "something comes first, unlikely, asked for": (
        UNLIKELY | {"trial": CONFLICT, "first": FIRST, "answer": "yes"},
        "suitable_with_changes",
    ),
    "something comes first, asked for, and it breaks its users": (
        {"trial": CONFLICT, "first": FIRST, "checks": API, "answer": "yes"},
        "needs_human",
    ),
    "something comes first, and it does not build": (
        LIKELY | {"trial": CONFLICT, "first": FIRST, "checks": (failed("build"),)},
        "needs_human",
    ),
    "mechanical conflict, and taken back before": (
        GREY
        | {
            "trial": CherryPickTrial(MergeTrial(None, (EASY,))),
            "present": AppliedCommits("as 1234567", "1" * 40, reverted="2" * 40),
        },
        "needs_human",
    ),
    "nothing in it": ({"trial": replace(CLEAN, empty=True), "hollow": True}, "not_applicable"),
    "nothing of it is there": ({"trial": CONFLICT, "gone": True}, "not_applicable"),
    "its versions are there": ({"newer": True, "trial": CONFLICT}, "already_present"),
    "adds a migration": (
        LIKELY | {"checks": (failed("migrations", "warning"),)},
        "needs_human",
    ),
    "adds a migration, and asked for": (
        {"answer": "yes", "checks": (failed("migrations", "warning"),)},
        "suitable",
    ),
    "empty": (UNLIKELY | {"trial": replace(CLEAN, empty=True)}, "already_present"),
    "there": (
        {"present": AppliedCommits("1234567 is the same patch", "1" * 40)},
        "already_present",
    ),
    "there, and taken back": (
        LIKELY | {"present": AppliedCommits("as 1234567", "1" * 40, reverted="2" * 40)},
        "needs_human",
    ),
    "no trial": (
        LIKELY | {"trial": CherryPickTrial(MergeTrial(None, impossible="git is too old"))},
        "error",
    ),
    "no time": (
        {
            "trial": CherryPickTrial(
                MergeTrial(None), each=RebaseTrial(None, 9, unfinished="timeout")
            )
        },
        "error",
    ),
}


def case(**found: Any) -> BranchFacts:
    return BranchFacts(PULL, TIP, **{"trial": CLEAN, **found})


@pytest.mark.parametrize("name", RULINGS)
def test_what_weighs_more(name: str) -> None:
    found, verdict = RULINGS[name]
    backport = decide_backport(case(**found))
    assert backport.verdict == verdict
    assert backport.reasons or backport.asked or not backport.score


def test_what_decides_comes_first() -> None:
    picks = Check("picks-cleanly", passed=True, message="picks cleanly onto 1.x")
    backport = decide_backport(case(checks=(picks, *API), answer="yes", score=score(0.7)))
    assert backport.reasons == (
        "it is asked for, but it api says no",
        "picks cleanly onto 1.x",
    )
    assert (backport.score, backport.band) == (0.7, "likely")


def test_several_commits_are_picked_as_one() -> None:
    several = replace(PULL, ahead=2, number=None)
    assert decide_backport(replace(case(), pull=several)).commands == (
        f"git switch -c backport-cccccccccccc-to-1.x {TIP.sha}",
        (
            f"git cherry-pick \"$(git commit-tree '{PULL.head.sha}^{{tree}}' -p {PULL.merge_base} "
            "-m 'Fix Ada'\\''s bug')\""
        ),
    )


def test_commits_one_by_one_are_named_without_those_that_have_no_effect() -> None:
    each = RebaseTrial("f" * 40, 3, picked=3, emptied=1, made=("1" * 40, "3" * 40))
    commands = decide_backport(case(trial=replace(CLEAN, each=each))).commands
    assert commands[1] == f"git cherry-pick -x {'1' * 40} {'3' * 40}"


def test_git_20_shell_characters_of_a_branch_are_not_in_the_commands() -> None:
    odd = replace(TIP, name="a;$(touch CANARY)`touch CANARY`|'y~2")
    commands = decide_backport(replace(case(), tip=odd)).commands
    assert commands[0] == f"git switch -c backport-7-to-a-touch-CANARY-touch-CANARY-y-2 {TIP.sha}"


OPEN = decide_backport(case(**GREY))


def test_an_opinion_is_added_to_what_needs_opinion() -> None:
    check = Check("fixes", passed=False, message="it is a feature")
    against = Judgment.failed("2 of 4 criteria passed", checks=(check,))
    for opinion, words in (
        (Judgment.passed("4 of 4"), ("a model finds it suitable (4 of 4)",)),
        (
            against,
            ("a model advises against it (2 of 4 criteria passed)", "fixes: it is a feature"),
        ),
        (Judgment.abstained("it refused", "refused"), ("no answer from a model (it refused)",)),
    ):
        told = add_opinion_reasons(OPEN, opinion)
        assert told.verdict == "needs_human"
        assert told.reasons == (*OPEN.reasons, *words)


def test_nothing_is_said_of_a_model_that_is_not_there() -> None:
    assert add_opinion_reasons(OPEN, Judgment.abstained("no key", "not_configured")) == OPEN


def test_only_a_clean_pick_is_worth_an_opinion() -> None:
    assert needs_opinion(OPEN)
    assert not needs_opinion(decide_backport(case(trial=CONFLICT, **GREY)))
    assert not needs_opinion(decide_backport(case(trial=replace(CLEAN, empty=True))))
