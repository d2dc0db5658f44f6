"""Evidence of tests that another CI ran, from its JUnit reports; nothing is run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from prjury.app import steps
from prjury.app.composition import build_ports, builds
from prjury.app.request import ReviewRequest, RunEnvironment
from prjury.errors import CannotJudgeError
from prjury.git.open_snapshot import NothingToReview
from prjury.judges.builds.reported import ReportedTests, read_places, refuse_no_reports
from prjury.judges.builds.stage import BuiltEvidence, record_reports, tree_of
from prjury.policy.tiers import BuildOptions
from prjury.resources import program_version


class JunitPlaces(Struct, frozen=True):
    """Where another CI's reports are: files, and directories with XML files.

    Attributes:
        result: how the CI's job on the head ended, in the words of GitHub's `needs.JOB.result`;
            empty where that is not known.
    """

    head: Sequence[Path]
    base: Sequence[Path] = ()
    result: str = ""

    @property
    def good(self) -> bool | None:
        """True if it succeeded; None where that is not known."""
        return self.result == "success" if self.result else None

    def refuse_unended(self) -> None:
        """Refuse reports that another run will replace."""
        if self.result not in {"", "success", "failure"}:
            raise CannotJudgeError(
                f"the job that makes the head's reports was {self.result}",
                remedy="run it again",
                reason="checks_incomplete",
            )


def junit_evidence(
    request: ReviewRequest, environment: RunEnvironment, places: JunitPlaces
) -> BuiltEvidence | NothingToReview:
    """Read the reports of both sides as what became of a change."""
    places.refuse_unended()
    refuse_no_reports((*places.head, *places.base))
    with steps.open_change(request) as change:
        if isinstance(change, NothingToReview):
            return change
        store, pull = change.snapshot.store, change.pull
        merged, base = (
            frozenset(entry.path for entry in store.files(tree))
            for tree in (tree_of(pull), pull.base.sha)
        )
        tests = ReportedTests(
            read_places(places.head, merged),
            read_places(places.base, base) if places.base else None,
            places.good,
        )
        options = next(iter(builds(change.config)), BuildOptions())
        ports = build_ports(environment, change.config, store)
        return record_reports(tests, options, ports, pull, program_version())
