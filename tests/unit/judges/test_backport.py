"""The backport judge's decision from one trial pick."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from prjury.deadline import Deadline
from prjury.errors import PrJuryError, SourceError, UsageError
from prjury.exchange import PickTrial, TreeEntry
from prjury.judges.backport import decide, is_open, try_backport, with_opinion
from prjury.jury.judgment import Check, Judgment
from prjury.pull.landing import Commit, RebaseTrial
from prjury.pull.model import Conflict, ConflictType, MergeTrial, PullRequest, Side

TIP = "e" * 40
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
CLEAN = PickTrial(MergeTrial("f" * 40), TIP)
CONFLICT = Conflict("a.py", ConflictType.CONTENT, mechanical=False, reason="the same code")


@dataclass(frozen=True)
class PickingRepository:
    """A repository whose every pick ends as told."""

    outcome: PickTrial | PrJuryError

    def pick(self, base: str, head: str, onto: str) -> PickTrial:
        assert (base, head) == (PULL.merge_base, PULL.head.sha)
        if isinstance(self.outcome, PrJuryError):
            raise self.outcome
        return self.outcome

    def files(self, commit: str) -> Sequence[TreeEntry]:
        return []

    def read(self, blobs: Sequence[str]) -> Mapping[str, bytes | None]:
        return {}

    def export(self, tree: str, directory: Path) -> Sequence[str]:
        raise NotImplementedError

    def recent(self, tip: str, count: int) -> Sequence[Commit]:
        raise NotImplementedError

    def rebase(self, base: str, head: str, deadline: Deadline) -> RebaseTrial:
        raise NotImplementedError


def test_a_clean_pick_still_needs_a_human() -> None:
    backport = try_backport(PULL, "1.x", PickingRepository(CLEAN))

    assert (backport.verdict, backport.applies) == ("needs_human", True)
    assert backport.reasons == (
        "picks cleanly onto 1.x @eeeeeee",
        "whether it belongs there is not judged yet",
    )


def test_one_commit_is_picked_as_it_is() -> None:
    assert decide(PULL, "release/1.x", CLEAN).commands == (
        f"git switch -c backport-7-to-release-1.x {TIP}",
        f"git cherry-pick -x {PULL.head.sha}",
    )


def test_several_commits_are_picked_as_one() -> None:
    commands = decide(replace(PULL, ahead=2, number=None), "1.x", CLEAN).commands

    assert commands == (
        f"git switch -c backport-cccccccccccc-to-1.x {TIP}",
        (
            f"git cherry-pick \"$(git commit-tree '{PULL.head.sha}^{{tree}}' -p {PULL.merge_base} "
            "-m 'Fix Ada'\\''s bug')\""
        ),
    )


def test_conflicts_are_listed_with_the_commands_that_show_them() -> None:
    trial = PickTrial(MergeTrial(None, (CONFLICT,)), TIP)
    backport = decide(PULL, "1.x", trial)

    assert (backport.verdict, backport.applies) == ("needs_human", False)
    assert backport.conflicts == (CONFLICT,)
    assert backport.reasons == ("conflicts in 1 file on 1.x @eeeeeee",)
    assert len(backport.commands) == 2


def test_an_empty_pick_is_already_present() -> None:
    backport = decide(PULL, "1.x", replace(CLEAN, empty=True))

    assert (backport.verdict, backport.applies, backport.commands) == ("already_present", True, ())


@pytest.mark.parametrize("error", [SourceError("no such branch"), UsageError("no such branch")])
def test_infrastructure_is_never_not_suitable(error: PrJuryError) -> None:
    backport = try_backport(PULL, "1.x", PickingRepository(error))

    assert (backport.verdict, backport.applies) == ("error", None)
    assert backport.reasons == ("no such branch.",)


def test_a_trial_that_could_not_be_made_is_an_error() -> None:
    trial = PickTrial(MergeTrial(None, impossible="git is too old"), TIP)

    assert decide(PULL, "1.x", trial).verdict == "error"
    assert decide(PULL, "1.x", trial).reasons == ("git is too old",)


def test_git_20_shell_characters_of_a_branch_are_not_in_the_commands() -> None:
    commands = decide(PULL, "a;$(touch CANARY)`touch CANARY`|'y~2", CLEAN).commands

    assert commands[0] == f"git switch -c backport-7-to-a-touch-CANARY-touch-CANARY-y-2 {TIP}"


OPEN = decide(PULL, "1.x", CLEAN)


def test_an_opinion_is_added_to_what_is_open() -> None:
    check = Check("fixes", passed=False, message="it is a feature")
    against = Judgment.failed("2 of 4 criteria passed", checks=(check,))
    for opinion, words in (
        (Judgment.passed("4 of 4"), ("a model finds it suitable (4 of 4)",)),
        (
            against,
            ("a model advises against (2 of 4 criteria passed)", "fixes: it is a feature"),
        ),
        (Judgment.abstained("it refused", "refused"), ("no answer of a model (it refused)",)),
    ):
        told = with_opinion(OPEN, opinion)
        assert told.verdict == "needs_human"
        assert told.reasons == (OPEN.reasons[0], *words)


def test_nothing_is_said_of_a_model_that_is_not_there() -> None:
    assert with_opinion(OPEN, Judgment.abstained("no key", "not_configured")) == OPEN


def test_only_a_clean_pick_is_worth_an_opinion() -> None:
    assert is_open(OPEN)
    assert not is_open(decide(PULL, "1.x", PickTrial(MergeTrial(None, (CONFLICT,)), TIP)))
    assert not is_open(decide(PULL, "1.x", replace(CLEAN, empty=True)))
