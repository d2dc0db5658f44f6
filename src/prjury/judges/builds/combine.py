"""From the judgments of several builds of one tree to one. Pure."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from prjury.judges.builds.environment import POLICY, Snippet, give_reason, paste
from prjury.judges.builds.plan import BuildPlan
from prjury.jury.judgment import Judgment, Status
from prjury.jury.score import BooleanScore
from prjury.snapshot.model import PullRequest, visible

#: A change that edits one of these chooses its own checks, or the build that judges it.
_DIRECTORIES = (
    ".github/workflows/", ".github/actions/", ".circleci/", ".buildkite/", ".woodpecker/",
    ".semaphore/", ".tekton/", ".cirrus/",
)  # fmt: skip
_FILES = frozenset(
    "gitlab-ci travis cirrus drone woodpecker appveyor azure-pipelines bitbucket-pipelines "
    "cloudbuild buildspec codefresh".split()
)


def _defines_checks(path: str) -> bool:
    lowered = path.lower()
    name = lowered.rpartition("/")[2]
    stem, _, suffix = name.removeprefix(".").rpartition(".")
    if lowered.startswith(_DIRECTORIES) or name in {"action.yml", "action.yaml"}:
        return True
    in_root = "/" not in lowered and stem in _FILES and suffix in {"yml", "yaml", "star"}
    return in_root or name.startswith("jenkinsfile")


def list_touched(pull: PullRequest) -> tuple[str, ...]:
    """The paths of a change, before and after it."""
    return tuple(path for file in pull.files for path in (file.path, file.old_path) if path)


def refuse_edited(judgment: Judgment, pull: PullRequest) -> Judgment:
    """The judgment, or ABSTAIN instead of a PASS of checks that the change has written itself.

    What runs elsewhere for a change is defined by the change's own files.
    """
    edited = next(filter(_defines_checks, list_touched(pull)), None)
    if edited is None or judgment.status is not Status.PASS:
        return judgment
    words = (
        f"this change edits {visible(edited)}, which says what is run elsewhere. All passed "
        f"there, but by the change's own rules, so look at it. {judgment.reasoning}"
    )
    return doubt(judgment, words, "build_changed")


def doubt(
    judgment: Judgment, words: str, reason: str, snippet: Snippet | None = None, **more: object
) -> Judgment:
    """The ABSTAIN in the place of a judgment, whose checks and facts stay."""
    answer = {"reason": reason, **paste("", snippet)} if snippet else give_reason(reason)
    metadata = {**judgment.metadata, **answer, **more}
    return Judgment.abstained(words, reason, checks=judgment.checks, metadata=metadata)


WORST_FIRST = (Status.FAIL, Status.ERROR, Status.ABSTAIN, Status.PASS)


def combine_judgments(judgments: Sequence[Judgment], notes: Sequence[str] = ()) -> Judgment:
    """One judgment: the worst status, and the words and checks of all, the worst first."""
    ordered = sorted(judgments, key=lambda judgment: WORST_FIRST.index(judgment.status))
    worst = ordered[0]
    words = [judgment.reasoning for judgment in ordered]
    if len(ordered) > 1:
        words = [f"{_name_build(judgment)}: {judgment.reasoning}" for judgment in ordered]
    reasoning = "; ".join([*(text.removesuffix(".") for text in words[:-1]), words[-1]])
    voted = worst.status in {Status.PASS, Status.FAIL}
    return Judgment(
        worst.status,
        f"{reasoning} ({'; '.join(notes)})" if notes else reasoning,
        BooleanScore(worst.status is Status.PASS) if voted else None,
        label=worst.label,
        checks=tuple(check for judgment in ordered for check in judgment.checks),
        metadata=_merge_metadata(ordered) if len(ordered) > 1 else worst.metadata,
    )


def _name_build(judgment: Judgment) -> str:
    directory = judgment.metadata.get("directory")
    where = f" in {directory}" if directory else ""
    return f"{judgment.metadata.get('system', 'build')}{where}"


def _merge_metadata(ordered: Sequence[Judgment]) -> dict[str, Any]:
    every = [judgment.metadata for judgment in ordered]
    tests = _sum_tests([metadata["tests"] for metadata in every if metadata.get("tests")])
    builds = [{**judgment.metadata, "status": judgment.status.value} for judgment in ordered]
    for build in builds:
        build.pop("failures", None)
    return {
        **every[0],
        "subject": ", ".join(str(one["subject"]) for one in every if "subject" in one),
        "command": "; ".join(str(one.get("command", "")) for one in every),
        "failures": [failure for one in every for failure in one.get("failures", ())],
        "failure_counts": _sum_failures([one.get("failure_counts") or {} for one in every]),
        "tests": tests,
        "test_files": 0 if tests else max(one.get("test_files") or 0 for one in every),
        "builds": builds,
    }


def _sum_tests(every: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """The counts of tests of all builds together; what one build does not know is not known."""
    bases = [counts["base"] for counts in every]
    lost = [counts["vanished"] for counts in every]
    vanished = None if None in lost else sum(lost)
    base = _sum_counts(bases) if all(bases) else None
    return {**_sum_counts(every), "vanished": vanished, "base": base} if every else None


def _sum_counts(every: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    return {key: sum(counts[key] for counts in every) for key in ("run", "failed", "skipped")}


def _sum_failures(every: Sequence[Mapping[str, Mapping[str, int]]]) -> dict[str, dict[str, int]]:
    totals: dict[str, Counter[str]] = {}
    for counts in every:
        for state, kinds in counts.items():
            totals.setdefault(state, Counter()).update(kinds)
    return {state: dict(total) for state, total in totals.items()}


def refuse_replaced_build(
    judgment: Judgment, ours: Sequence[BuildPlan], theirs: Sequence[BuildPlan]
) -> Judgment:
    """The judgment, or ABSTAIN where the change replaces a tested build that the base has."""
    lost = [plan for plan in theirs if plan.tests and not any(one.covers(plan) for one in ours)]
    if not lost:
        return judgment
    builds = [plan for plan in ours if plan.directory == lost[0].directory] or list(ours)
    now = f"{builds[0].system}, `{builds[0].without_setup}`" if builds else "nothing"
    snippet = Snippet("yaml", POLICY, f"build: {{command: {json.dumps(lost[0].text)}}}")
    words = (
        f"this change replaces the build that judges it: the base is tested by {lost[0].system}, "
        f"`{lost[0].without_setup}`, the merged tree by {now}, which passed. Look at it, or name "
        f"the build in the policy: `build: {{command: {lost[0].text}}}`."
    )
    return doubt(judgment, words, "build_changed", snippet)


def find_new_builds(ours: Sequence[BuildPlan], theirs: Sequence[BuildPlan]) -> tuple[str, ...]:
    """The notes where the base has no build, or one without tests."""
    if not theirs:
        return ("no build was recognised on the base",)
    untested = {plan.directory: plan for plan in theirs if not plan.tests}
    return tuple(
        f"the base's own build, `{untested[plan.directory].without_setup}`, has no tests"
        for plan in ours
        if plan.tests and plan.directory in untested
    )
