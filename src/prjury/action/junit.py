"""The input ``junit``: reports of tests that another CI ran, as evidence of a build."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from prjury.app.request import ReviewRequest, RunEnvironment
from prjury.app.stages.junit import JunitPlaces, junit_evidence
from prjury.errors import CannotJudgeError, UsageError
from prjury.git.open_snapshot import NothingToReview

_KEYS = ("head", "base", "result")


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
