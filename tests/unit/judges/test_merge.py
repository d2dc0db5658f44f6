"""The merge judge's decision."""

from __future__ import annotations

from dataclasses import replace

from prjury.config.schema import MergeOptions
from prjury.judges.merge import NAME, decide, make
from prjury.jury.judgment import Status
from prjury.pull.model import Conflict, ConflictType, MergeTrial, PullRequest, Side

PULL = PullRequest(
    "o/r", Side("main", "b" * 40), Side("change", "c" * 40), "a" * 40, MergeTrial("d" * 40)
)


def conflicting(*mechanical: bool) -> PullRequest:
    conflicts = tuple(
        Conflict(f"f{n}.py", ConflictType.CONTENT, easy, "imports only", (3, 9))
        for n, easy in enumerate(mechanical)
    )
    return replace(PULL, merge=MergeTrial(None, conflicts))


def test_a_clean_merge_passes() -> None:
    judgment = decide(replace(PULL, behind=3))

    assert judgment.status is Status.PASS
    assert judgment.reasoning == "clean, 3 behind"
    assert judgment.metadata["subject"] == "merge onto `main` @`bbbbbbb`"
    assert all(check.passed for check in judgment.checks)
    assert decide(PULL).reasoning == "clean, up to date"


def test_mrg_02_conflicts_fail_and_are_listed() -> None:
    judgment = decide(conflicting(True, False))

    assert judgment.status is Status.FAIL
    assert judgment.reasoning == "conflicts in 2 files, 1 needs a human, up to date"
    merge_clean, no_complex, first, second = judgment.checks
    assert not merge_clean.passed
    assert not no_complex.passed
    assert (first.severity, second.severity) == ("warning", "error")
    assert first.location is not None
    assert first.location.path == "f0.py"
    assert first.evidence == "lines 3 to 9 of the file with conflict markers"


def test_mechanical_conflicts_fail_as_well_and_say_so() -> None:
    judgment = decide(conflicting(True))

    assert judgment.status is Status.FAIL
    assert judgment.reasoning == "conflicts in 1 file, all mechanical, up to date"
    assert [check.name for check in judgment.checks if check.passed] == ["no-complex-conflicts"]


def test_no_trial_is_an_error_and_not_a_failure() -> None:
    judgment = decide(replace(PULL, merge=MergeTrial(None, impossible="git is too old")))

    assert judgment.status is Status.ERROR
    assert judgment.reasoning == "git is too old"
    assert judgment.metadata["reason"] == "merge_impossible"


def test_names_that_are_not_utf_8_are_shown() -> None:
    pull = replace(PULL, base=Side("\udcff", "b" * 40))
    odd = Conflict("\udcfe", ConflictType.MODIFY_DELETE, mechanical=False, reason="gone")
    judgment = decide(replace(pull, merge=MergeTrial(None, (odd,))))

    assert judgment.metadata["subject"] == r"merge onto `\xff` @`bbbbbbb`"
    location = judgment.checks[-1].location
    assert location is not None
    assert location.path == r"\xfe"
    assert judgment.checks[-1].message == "modify/delete conflict: gone"


def test_the_judge_is_called_merge() -> None:
    # The judge reads the photograph; no door is opened for it.
    judge = make(MergeOptions(), None)  # type: ignore[arg-type]

    assert judge.name == NAME == "merge"
