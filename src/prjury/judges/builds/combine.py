"""From the judgments of several builds of one tree to one. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from prjury.judges.builds.plan import BuildPlan
from prjury.jury.judgment import Judgment, Status
from prjury.jury.score import BooleanScore
from prjury.snapshot.model import PullRequest, visible

#: A change that edits one of these chooses its own checks, or the build that judges it.
_DEFINITIONS = re.compile(
    r"""\A(
      \.(github/(workflows|actions)|circleci|buildkite|woodpecker|semaphore|tekton|cirrus)/.*
    | (.*/)?action\.ya?ml
    | (.*/)?Jenkinsfile[^/]*
    | \.?(gitlab-ci|travis|cirrus|drone|woodpecker|appveyor|azure-pipelines|bitbucket-pipelines
        |cloudbuild|buildspec|codefresh)\.(ya?ml|star)
    )\Z""",
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)


def unless_edited(judgment: Judgment, pull: PullRequest) -> Judgment:
    """The judgment, or ABSTAIN instead of a PASS of checks that the change has written itself.

    What runs elsewhere for a change is defined by the change's own files.
    """
    paths = (path for file in pull.files for path in (file.path, file.old_path) if path)
    edited = next(filter(_DEFINITIONS.match, paths), None)
    if edited is None or judgment.status is not Status.PASS:
        return judgment
    return Judgment.abstained(
        f"this change edits {visible(edited)}, which says what is run elsewhere. All passed "
        f"there, but by the change's own rules, so look at it. {judgment.reasoning}",
        "build_changed",
        checks=judgment.checks,
        metadata={**judgment.metadata, "reason": "build_changed"},
    )


WORST_FIRST = (Status.FAIL, Status.ERROR, Status.ABSTAIN, Status.PASS)


def combine_outcomes(judgments: Sequence[Judgment], notes: Sequence[str] = ()) -> Judgment:
    """One judgment: the worst status, and the words and checks of all, the worst first.

    Args:
        notes: what the recognition left out, for the reader.
    """
    ordered = sorted(judgments, key=lambda one_judgment: WORST_FIRST.index(one_judgment.status))
    worst = ordered[0]
    said = [
        _named(one_judgment) if len(ordered) > 1 else one_judgment.reasoning
        for one_judgment in ordered
    ]
    words = "; ".join([*(one.removesuffix(".") for one in said[:-1]), said[-1]])
    voted = worst.status in {Status.PASS, Status.FAIL}
    return Judgment(
        worst.status,
        _with_notes(words, notes),
        BooleanScore(worst.status is Status.PASS) if voted else None,
        label=worst.label,
        checks=tuple(check for one_judgment in ordered for check in one_judgment.checks),
        metadata=_metadata(ordered) if len(ordered) > 1 else worst.metadata,
    )


def _with_notes(words: str, notes: Sequence[str]) -> str:
    """The words with the notes in brackets; a sentence that ends in brackets has one pair."""
    if not notes:
        return words
    open_end = words.endswith(")") and words.count("(") == words.count(")") == 1
    return f"{words[:-1] if open_end else f'{words} ('}{'; ' * open_end}{'; '.join(notes)})"


def _named(one_judgment: Judgment) -> str:
    directory = one_judgment.metadata.get("directory")
    where = f" in {directory}" if directory else ""
    return f"{one_judgment.metadata.get('system', 'build')}{where}: {one_judgment.reasoning}"


def _metadata(ordered: Sequence[Judgment]) -> dict[str, Any]:
    """The worst one's, with the failures and commands of all, and each by itself in ``builds``."""
    every = [one_judgment.metadata for one_judgment in ordered]
    tests = _tests_of([one["tests"] for one in every if one.get("tests")])
    subjects = [str(one["subject"]) for one in every if "subject" in one]
    return {
        **every[0],
        "subject": ", ".join(subjects),
        "command": "; ".join(str(one.get("command", "")) for one in every),
        "failures": [failure for one in every for failure in one.get("failures", ())],
        "fixed": [test for one in every for test in one.get("fixed", ())],
        "failure_counts": _counts_of([one.get("failure_counts") or {} for one in every]),
        "tests": tests,
        "test_files": 0 if tests else max(one.get("test_files") or 0 for one in every),
        "builds": [
            {
                **{key: one[key] for key in one if key != "failures"},
                "status": one_judgment.status.value,
            }
            for one_judgment, one in zip(ordered, every, strict=True)
        ],
    }


def _tests_of(every: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """The counts of tests of all builds together; what one build does not know is not known."""
    if not every:
        return None
    bases = [one["base"] for one in every if one["base"]]
    lost = [one["vanished"] for one in every]
    whole = len(bases) == len(every)
    return {
        **_sum(every),
        "vanished": None if None in lost else sum(lost),
        "base": _sum(bases) if whole else None,
    }


def _sum(every: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    return {key: sum(one[key] for one in every) for key in ("run", "failed", "skipped")}


def _counts_of(every: Sequence[Mapping[str, Mapping[str, int]]]) -> dict[str, dict[str, int]]:
    states = dict.fromkeys(state for one in every for state in one)
    totals = {state: Counter[str]() for state in states}
    for state, total in totals.items():
        for one in every:
            total.update(one.get(state, {}))
    return {state: dict(total) for state, total in totals.items()}


def build_changed(
    judgment: Judgment, ours: Sequence[BuildPlan], theirs: Sequence[BuildPlan]
) -> Judgment:
    """The judgment, or ABSTAIN where the change replaces a tested build that the base has.

    A PASS would come from a build that the change has chosen itself.

    Args:
        judgment: a PASS.
        ours: every build of the merged tree.
        theirs: every build of the base.
    """
    lost = [plan for plan in theirs if plan.tests and not any(one.covers(plan) for one in ours)]
    if not lost:
        return judgment
    here = [plan for plan in ours if plan.directory == lost[0].directory] or list(ours)
    now = f"{here[0].system}, `{here[0].without_setup}`" if here else "nothing"
    return Judgment.abstained(
        f"this change replaces the build that judges it: the base is tested by {lost[0].system}, "
        f"`{lost[0].without_setup}`, the merged tree by {now}, which passed. Look at it, or name "
        f"the build in the policy: `build: {{command: {lost[0].text}}}`.",
        "build_changed",
        checks=judgment.checks,
        metadata={**judgment.metadata, "reason": "build_changed"},
    )


def new_builds(ours: Sequence[BuildPlan], theirs: Sequence[BuildPlan]) -> tuple[str, ...]:
    """What a reader should know where the base has no build, or one without tests."""
    if not theirs:
        return ("no build was recognised on the base",)
    there = {plan.directory: plan for plan in theirs if not plan.tests}
    return tuple(
        f"the base's own build, `{there[plan.directory].without_setup}`, has no tests"
        for plan in ours
        if plan.tests and plan.directory in there
    )
