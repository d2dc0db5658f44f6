"""Evidence of tests that another CI ran, from its JUnit reports; nothing is run."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from prjury.app import steps
from prjury.app.composition import build_ports, builds
from prjury.app.request import ReviewRequest, RunEnvironment
from prjury.errors import CannotJudgeError, UsageError
from prjury.git.open_snapshot import NothingToReview
from prjury.judges.builds.reported import ReportedTests, read_places
from prjury.judges.builds.stage import BuiltEvidence, record_reports, tree_of
from prjury.policy.tiers import BuildOptions
from prjury.resources import program_version

#: The words with which a line of the input `junit` may begin.
_KEYS = ("head", "base", "result")


class JunitPlaces(Struct, frozen=True):
    """Where another CI's reports are: files, and directories with XML files."""

    head: Sequence[Path]
    base: Sequence[Path] = ()
    #: How the CI's job on the head ended, in the words of GitHub's `needs.JOB.result`; empty where
    #: that is not known.
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


def read_junit(text: str, environ: Mapping[str, str]) -> JunitPlaces:
    """The places that the input names.

    A line each: ``head: PATH``, ``base: PATH``, ``result: WORD``; without a key it is the head's.
    Paths begin at the workspace.
    """
    paths_by_key: dict[str, list[str]] = {key: [] for key in _KEYS}
    for line in filter(None, map(str.strip, text.splitlines())):
        key, colon, value = line.partition(":")
        has_key = bool(colon) and key in _KEYS
        paths_by_key[key if has_key else "head"].append(value.strip() if has_key else line)
    if not paths_by_key["head"] or len(paths_by_key["result"]) > 1:
        raise UsageError(
            "The input junit names no reports of the head, or more than one result",
            remedy="Give lines such as `head: reports/head`, `base: reports/base` and "
            "`result: success`",
        )
    root = Path(environ.get("GITHUB_WORKSPACE") or ".")
    head, base = ([root / path for path in paths_by_key[key]] for key in ("head", "base"))
    return JunitPlaces(head, base, "".join(paths_by_key["result"]))


class JunitReports(Struct, frozen=True):
    """Evidence that is made of reports when it is asked for (`prjury.ports.Evidence`)."""

    request: ReviewRequest
    environment: RunEnvironment
    places: JunitPlaces

    def __str__(self) -> str:
        return "of the JUnit reports"

    def read(self) -> bytes:
        """The evidence.

        Raises:
            CannotJudgeError: ``report_missing`` and the like, or ``evidence_missing`` where the
                change is not there any more.
        """
        outcome = junit_evidence(self.request, self.environment, self.places)
        if isinstance(outcome, NothingToReview):
            raise CannotJudgeError(
                "there is no evidence of the tests", why=outcome.reason, reason="evidence_missing"
            )
        return json.dumps(outcome.evidence, allow_nan=False).encode()
