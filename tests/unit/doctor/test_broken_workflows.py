"""One defect each, in what `prjury init` writes: exactly one sentence tells it, with its fix."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from prjury.app.app_token import with_app_token
from prjury.doctor.finding import Diagnosis, Level
from prjury.doctor.run_checks import examine_setup
from prjury.doctor.setup import Setup
from prjury.manifests.workflow import read_workflow
from prjury.policy.schema import OverrideConfig

TEMPLATES = Path(__file__).resolve().parents[3] / "templates" / "workflows"
ALONE, BUILD = "prjury.yml", "prjury-build.yml"
JUDGE, QUEUE = "prjury-judge.yml", "prjury-queue.yml"
OVERRIDE = "prjury-override.yml"
BACKPORT = "prjury-backport.yml"
CONFLICTS = "prjury-conflicts.yml"
COMMENT = "prjury-comment.yml"
APART = (BUILD, JUDGE, OVERRIDE)
WAYS = {
    BACKPORT: (ALONE, BACKPORT),
    CONFLICTS: (ALONE, CONFLICTS),
    ALONE: (ALONE, QUEUE),
    QUEUE: (ALONE, QUEUE),
    **dict.fromkeys(APART, APART),
}
PINNED = "octo/pr-jury@" + "0123456789" * 4
AT = ".github/workflows"


def text_of(name: str) -> str:
    return (TEMPLATES / name).read_text().replace("OWNER/pr-jury@COMMIT", PINNED)


def set_up(texts: dict[str, str], **more: object) -> Setup:
    read = tuple(read_workflow(text, f"{AT}/{name}") for name, text in texts.items())
    there = frozenset(workflow.path for workflow in read)
    return Setup(read, **{"default_branch": "main", "on_default": there, **more})  # type: ignore[arg-type] # the fields of Setup


def complaints(setup: Setup) -> list[str]:
    return [told(one) for one in examine_setup(setup) if one.level is not Level.FINE]


def told(finding: Diagnosis) -> str:
    return f"{finding.level}: {finding.sentence}"


def replaced(text: str, old: str, new: str) -> str:
    assert text.count(old) >= 1, old
    return text.replace(old, new, 1)


@dataclass(frozen=True)
class Defect:
    file: str
    old: str
    new: str
    level: str
    text: str


STRANGE_TYPES = "[opened, synchronize, reopened, ready_for_review, edited, labeled, unlabeled]"
BUILD_TYPES = "[opened, synchronize, reopened, ready_for_review, edited]"
SKIPPED = "and a skipped job counts as success for a required check"
HANGS = (
    "where that leaves a change out, the required check never starts and blocks the merge; "
    "remove the filter"
)
NOT_FETCHED = "without which it cannot work; add it"
AGAIN = "write the workflows with `prjury init --forks`"


LABELS = "{types: [labeled, unlabeled]}"
STAYS_OPEN = "the gate stays open when the label that opened it is removed"


def lacking(name: str, otherwise: str, event: str = "") -> str:
    return f"`pull_request{event}` lacks the type `{name}`, so that {otherwise}; add it to `types`"


def needless(job: str, does: str, permission: str) -> str:
    what = f"the job `{job}` {does} and has the permission `{permission}`"
    return f"{what}, which it does not need; remove it"


DEFECTS = {
    "no opened": Defect(
        ALONE, "[opened, ", "[", "problem", lacking("opened", "a new pull request is not judged")
    ),
    "no synchronize": Defect(
        ALONE, " synchronize,", "", "problem", lacking("synchronize", "new commits are not judged")
    ),
    "no reopened": Defect(
        BUILD,
        " reopened,",
        "",
        "problem",
        lacking("reopened", "a reopened pull request is not judged"),
    ),
    "no edited": Defect(
        BUILD,
        ", edited]",
        "]",
        "problem",
        lacking(
            "edited", "a pull request that is moved to another base stays judged by the old one"
        ),
    ),
    "no ready_for_review": Defect(
        ALONE,
        " ready_for_review,",
        "",
        "warning",
        lacking("ready_for_review", "a draft is not judged when it becomes ready"),
    ),
    "no labeled": Defect(
        ALONE,
        ", labeled, unlabeled]",
        "]",
        "warning",
        lacking("labeled", "a maintainer's label cannot override the gate"),
    ),
    "no unlabeled": Defect(ALONE, ", unlabeled]", "]", "problem", lacking("unlabeled", STAYS_OPEN)),
    "a label that nobody hears": Defect(
        OVERRIDE,
        "[opened, synchronize, reopened, edited, labeled, unlabeled]",
        "[opened]",
        "warning",
        lacking("labeled", "a maintainer's label cannot override the gate", "_target"),
    ),
    "a label that nobody takes off": Defect(
        OVERRIDE,
        "[opened, synchronize, reopened, edited, labeled, unlabeled]",
        "[labeled]",
        "problem",
        lacking("unlabeled", STAYS_OPEN, "_target"),
    ),
    "another label": Defect(
        OVERRIDE,
        "github.event.label.name == 'prjury:override'",
        "github.event.label.name == 'it''s fine'",
        "warning",
        "it waits for the label `it's fine`, and by the policy `prjury:override` overrides the "
        "gate; put that one into its `if`",
    ),
    "another label at the step": Defect(
        OVERRIDE,
        "      - name: Tell the last verdict again\n",
        "      - name: Tell the last verdict again\n"
        "        if: github.actor != 'x' && github.event.label.name=='skip'\n",
        "warning",
        "it waits for the label `skip`, and by the policy `prjury:override` overrides the gate; "
        "put that one into its `if`",
    ),
    "an override that sets no status": Defect(
        OVERRIDE,
        "      statuses: write # to set the status `prjury`, the required check\n",
        "",
        "problem",
        f"the job `override` lacks the permission `statuses: write`, {NOT_FETCHED}",
    ),
    "an override that finds no verdict": Defect(
        OVERRIDE,
        "      actions: read # to take the last verdict from the run that found it; `write` with "
        "PRJURY_READS_TITLES, to start that run again\n",
        "",
        "problem",
        f"the job `override` lacks the permission `actions: read`, {NOT_FETCHED}",
    ),
    "an override that may push": Defect(
        OVERRIDE,
        "      statuses: write",
        "      contents: write\n      statuses: write",
        "problem",
        needless("override", "only reports the verdict again", "contents: write"),
    ),
    "an override with a key": Defect(
        OVERRIDE,
        "          mode: publish\n",
        "          mode: publish\n          model-api-key: ${{ secrets.OPENAI_API_KEY }}\n",
        "problem",
        "`mode: publish` asks no model and is given `model-api-key`; give it to `mode: decide` "
        "alone",
    ),
    "an override that checks the change out": Defect(
        OVERRIDE,
        "      - name: Tell the last verdict again\n",
        "      - run: gh pr checkout 7\n      - name: Tell the last verdict again\n",
        "problem",
        "it checks out what a pull request brings under `pull_request_target`, where secrets are; "
        "do that under `pull_request`, and hand results over as an artifact",
    ),
    "an override called like the gate": Defect(
        OVERRIDE,
        "    name: Override\n",
        "    name: prjury\n",
        "problem",
        "the job `override` is called `prjury` like the required check and can turn it green; "
        "give it another name",
    ),
    "an override without turns": Defect(
        OVERRIDE,
        "concurrency:\n",
        "x-concurrency:\n",
        "warning",
        "it has no `concurrency`, so that a label that is taken off at once may open the gate for "
        "good; add it as `prjury init` does",
    ),
    "paths": Defect(
        ALONE,
        f"types: {STRANGE_TYPES}",
        f"types: {STRANGE_TYPES}\n    paths: ['src/**']",
        "problem",
        f"`pull_request` is filtered by `paths`: {HANGS}",
    ),
    "paths-ignore": Defect(
        BUILD,
        f"types: {BUILD_TYPES}",
        f"types: {BUILD_TYPES}\n    paths-ignore: ['docs/**']",
        "problem",
        f"`pull_request` is filtered by `paths-ignore`: {HANGS}",
    ),
    "branches": Defect(
        ALONE,
        f"types: {STRANGE_TYPES}",
        f"types: {STRANGE_TYPES}\n    branches: [main]",
        "warning",
        f"`pull_request` is filtered by `branches`: {HANGS}",
    ),
    "branches of the run": Defect(
        JUDGE,
        "types: [completed]",
        "types: [completed]\n    branches: [main]",
        "problem",
        f"`workflow_run` is filtered by `branches`: {HANGS}",
    ),
    "only pushes": Defect(
        QUEUE,
        "merge_group:\n    types: [checks_requested]",
        "push:",
        "warning",
        "no pull request starts it; add `pull_request` to its `on`",
    ),
    "pull_request_target": Defect(
        QUEUE,
        "merge_group:\n    types: [checks_requested]",
        "merge_group:\n  pull_request_target:",
        "problem",
        "`mode: review` runs the change's code, and `pull_request_target` gives it secrets and a "
        "token that can write; use `pull_request`, for forks there is `prjury init --forks`",
    ),
    "a build beside the key": Defect(
        BUILD,
        "  pull_request:",
        "  workflow_run:\n  pull_request:",
        "problem",
        "`mode: build` runs the change's code, and `workflow_run` gives it secrets and a token "
        "that can write; use `pull_request`, for forks there is `prjury init --forks`",
    ),
    "checkout of the head": Defect(
        JUDGE,
        "      - name: Collect\n",
        "      - uses: actions/checkout@" + "0" * 40 + "\n        with:\n"
        "          ref: ${{ github.event.workflow_run.head_sha }}\n"
        "      - name: Collect\n",
        "problem",
        "it checks out what a pull request brings under `workflow_run`, where secrets are; do that "
        "under `pull_request`, and hand results over as an artifact",
    ),
    "checkout by gh": Defect(
        JUDGE,
        "      - name: Collect\n",
        "      - run: gh pr checkout 7\n      - name: Collect\n",
        "problem",
        "it checks out what a pull request brings under `workflow_run`, where secrets are; do that "
        "under `pull_request`, and hand results over as an artifact",
    ),
    "unsafe checkout": Defect(
        JUDGE,
        "          mode: collect\n",
        "          mode: collect\n          allow-unsafe-pr-checkout: true\n",
        "problem",
        "it sets `allow-unsafe-pr-checkout`, which lets a stranger's code run beside secrets; "
        "remove it",
    ),
    "if": Defect(
        ALONE,
        "    runs-on: ubuntu",
        "    if: '!github.event.pull_request.draft'\n    runs-on: ubuntu",
        "problem",
        f"the job `prjury` has an `if`, {SKIPPED}; remove the `if`",
    ),
    "if in the queue": Defect(
        QUEUE,
        "    name: prjury #",
        "    if: github.actor != 'x'\n    name: prjury #",
        "problem",
        f"the job `prjury` has an `if`, {SKIPPED}; remove the `if`",
    ),
    "needs": Defect(
        ALONE,
        "    runs-on: ubuntu",
        "    needs: [lint]\n    runs-on: ubuntu",
        "problem",
        f"the job `prjury` needs `lint`: if that fails it is skipped, {SKIPPED}; remove `needs`",
    ),
    "if at the step": Defect(
        ALONE,
        "        if: ${{ !(github.event.action == 'edited' &&",
        "        if: ${{ !(github.event.action == 'labeled' &&",
        "problem",
        "the step with PR Jury in the job `prjury` has an `if`, and without the step the job is "
        "green; remove the `if`",
    ),
    "continue-on-error": Defect(
        ALONE,
        "    timeout-minutes: 60",
        "    timeout-minutes: 60\n    continue-on-error: true",
        "problem",
        "the job `prjury` is green whatever the verdict is, because of `continue-on-error`; "
        "remove it",
    ),
    "continue-on-error at the step": Defect(
        QUEUE,
        "      - name: Review\n",
        "      - name: Review\n        continue-on-error: ${{ true }}\n",
        "problem",
        "the job `prjury` is green whatever the verdict is, because of `continue-on-error`; "
        "remove it",
    ),
    "fail-on never": Defect(
        ALONE,
        "        with:\n          github-token",
        "        with:\n          fail-on: never\n          github-token",
        "warning",
        "`fail-on: never` keeps the job `prjury` green, so that it is not gating; remove it when "
        "the verdict is to count",
    ),
    "no finaliser": Defect(
        JUDGE,
        "    if: always() && ",
        "    if: ",
        "problem",
        "the job `publish` lacks `if: always()`: where a job before it fails, the status `prjury` "
        "never comes; add it",
    ),
    "a finaliser with conditions": Defect(
        JUDGE,
        "      - name: Publish\n",
        "      - name: Publish\n        if: needs.judge.result == 'success'\n",
        "problem",
        "the job `publish` lacks `if: always()`: where a job before it fails, the status `prjury` "
        "never comes; add it",
    ),
    "two names": Defect(
        QUEUE,
        "    name: prjury #",
        "    name: Queue #",
        "problem",
        "the gate has several names, `prjury`, `Queue`, and where one of them is required the "
        "others never arrive; call every such job `prjury`",
    ),
    "a matrix": Defect(
        ALONE,
        "    timeout-minutes: 60",
        "    timeout-minutes: 60\n    strategy: {matrix: {os: [a, b]}}",
        "problem",
        "the job `prjury` has a matrix, whose checks have other names than the required one; "
        "remove the matrix",
    ),
    "a build called like the gate": Defect(
        BUILD,
        "    name: Build\n",
        "    name: prjury\n",
        "problem",
        "the job `build` is called `prjury` like the required check and can turn it green; give "
        "it another name",
    ),
    "nothing to fetch with": Defect(
        ALONE,
        "      contents: read # to fetch both sides of the pull request\n",
        "",
        "problem",
        f"the job `prjury` lacks the permission `contents: read`, {NOT_FETCHED}",
    ),
    "no comment": Defect(
        ALONE,
        "      pull-requests: write # to write the comment and the review\n",
        "      pull-requests: read\n",
        "warning",
        "the job `prjury` lacks the permission `pull-requests: write`, without which it cannot "
        "comment; add it",
    ),
    "no status": Defect(
        JUDGE,
        "      statuses: write # to set the status `prjury`, the required check\n",
        "",
        "problem",
        f"the job `publish` lacks the permission `statuses: write`, {NOT_FETCHED}",
    ),
    "no verdict of the pull request": Defect(
        QUEUE,
        "      actions: read # to read the verdict of the pull request\n",
        "",
        "warning",
        "the job `prjury` lacks the permission `actions: read`, without which it cannot reuse "
        "the verdict on the pull request; add it",
    ),
    "no head of the pull request": Defect(
        QUEUE,
        "      pull-requests: read # to find the head of the pull request\n",
        "",
        "warning",
        "the job `prjury` lacks the permission `pull-requests: read`, without which it cannot "
        "reuse the verdict on the pull request; add it",
    ),
    "no statuses of others": Defect(
        JUDGE,
        "      statuses: read # to read what they say by status\n",
        "",
        "warning",
        "the job `collect` lacks the permission `statuses: read`, without which it cannot read "
        "what other checks say by status; add it",
    ),
    "a review that may push": Defect(
        ALONE,
        "contents: read #",
        "contents: write #",
        "problem",
        needless("prjury", "runs the change's code", "contents: write"),
    ),
    "a build that may comment": Defect(
        BUILD,
        "      contents: read",
        "      pull-requests: write\n      contents: read",
        "problem",
        needless("build", "runs the change's code", "pull-requests: write"),
    ),
    "a judge that may write": Defect(
        JUDGE,
        "    permissions: {}\n    # An",
        "    permissions: {statuses: write}\n    # An",
        "problem",
        needless("judge", "holds the model's key", "statuses: write"),
    ),
    "write-all": Defect(
        BUILD,
        "    permissions:\n      contents: read # to fetch both sides of the pull request\n",
        "    permissions: write-all\n",
        "problem",
        needless("build", "runs the change's code", "write-all"),
    ),
    "a secret in the build": Defect(
        BUILD,
        "          mode: build",
        "          mode: build\n          model-api-key: ${{ secrets.OPENAI_API_KEY }}",
        "problem",
        "the job `build` runs the change's code and is given a secret; remove it, the judge has "
        "the model's key",
    ),
    "a secret for all steps of the build": Defect(
        BUILD,
        "permissions: {}\n",
        "permissions: {}\nenv:\n  TOKEN: ${{ secrets['NPM'] }}\n",
        "problem",
        "the job `build` runs the change's code and is given a secret; remove it, the judge has "
        "the model's key",
    ),
    "a key that writes": Defect(
        JUDGE,
        "          mode: publish\n",
        "          mode: publish\n          model-api-key: ${{ secrets.OPENAI_API_KEY }}\n",
        "problem",
        "`mode: publish` asks no model and is given `model-api-key`; give it to `mode: decide` "
        "alone",
    ),
    "a backport that cannot make a branch": Defect(
        BACKPORT,
        "contents: write",
        "contents: read",
        "problem",
        "the job `backport` lacks the permission `contents: write`, without which it cannot work; "
        "add it",
    ),
    "a backport that may do more": Defect(
        BACKPORT,
        "      pull-requests: write",
        "      statuses: write\n      pull-requests: write",
        "problem",
        "the job `backport` only opens pull requests and has the permission `statuses: write`, "
        "which it does not need; remove it",
    ),
    "conflicts that may do more": Defect(
        CONFLICTS,
        "contents: read",
        "contents: write",
        "problem",
        "the job `conflicts` only tells of conflicts and has the permission `contents: write`, "
        "which it does not need; remove it",
    ),
    "conflicts with the name of the gate": Defect(
        CONFLICTS,
        "name: Conflicts",
        "name: prjury",
        "problem",
        "the job `conflicts` is called `prjury` like the required check and can turn it green; "
        "give it another name",
    ),
    "a backport with the name of the gate": Defect(
        BACKPORT,
        "name: Backport",
        "name: prjury",
        "problem",
        "the job `backport` is called `prjury` like the required check and can turn it green; "
        "give it another name",
    ),
    "no such mode": Defect(
        QUEUE,
        "mode: review",
        "mode: revue",
        "problem",
        "there is no `mode: revue`; the modes are review, build, collect, decide, publish, "
        "backport, conflicts, comment",
    ),
    "another name of the build": Defect(
        JUDGE,
        "workflows: [PR Jury build]",
        "workflows: [Jury build, CI]",
        "problem",
        "it waits for `Jury build`, `CI`, but the build is called `PR Jury build`; put that name "
        "into `workflow_run.workflows`",
    ),
    "too early": Defect(
        JUDGE,
        "types: [completed]",
        "types: [requested]",
        "problem",
        "`workflow_run` lacks the type `completed`, so that it never judges; add it",
    ),
    "evidence that nobody checks": Defect(
        JUDGE,
        "      PRJURY_VERDICT_SHA256: ${{ needs.judge.outputs.sha256 }}\n",
        "",
        "problem",
        "the job `publish` does not learn from `PRJURY_VERDICT_SHA256` which file to take; copy "
        "its `env` from what `prjury init --forks` writes",
    ),
    "the placeholder": Defect(
        ALONE,
        PINNED,
        "OWNER/pr-jury@COMMIT",
        "problem",
        "it still holds `OWNER/pr-jury@COMMIT`; put the action's repository and commit there",
    ),
    "an input that there is not": Defect(
        ALONE,
        "          github-token:",
        "          working-directory: sub\n          github-token:",
        "problem",
        "the action has no input `working-directory`, and nothing reads it; there are base, build, "
        "config, fail-on, github-token, head, junit, mode, model, model-api-key, model-base-url, "
        "python-version",
    ),
    "a misspelt input": Defect(
        ALONE,
        "          github-token:",
        "          model-key: x\n          github-token:",
        "problem",
        "the action has no input `model-key`, and nothing reads it; did you mean model-api-key?",
    ),
}


@pytest.mark.parametrize(
    "way",
    [
        (ALONE,),
        (ALONE, QUEUE),
        (ALONE, BACKPORT),
        APART,
        (*APART, QUEUE),
        (*APART, BACKPORT),
        (ALONE, COMMENT),
    ],
)
def test_what_init_writes_is_fine(way: tuple[str, ...]) -> None:
    assert complaints(set_up({name: text_of(name) for name in way})) == []


def test_jobs_that_post_as_an_app_are_measured_by_its_rights() -> None:
    way = (*APART, CONFLICTS, BACKPORT, COMMENT)
    texts = {name: with_app_token(text_of(name)) for name in way}
    assert complaints(set_up(texts)) == []
    assert set_up(texts).has_app
    for old, new, told_as in (
        ("permission-statuses: write", "permission-statuses: read", "lacks the permission"),
        ("permission-actions: read", "permission-contents: write", "which it does not need"),
    ):
        changed = {**texts, JUDGE: replaced(texts[JUDGE], old, new)}
        assert any(told_as in one for one in complaints(set_up(changed)))


@pytest.mark.parametrize("name", DEFECTS)
def test_a_defect_is_told_in_one_sentence(name: str) -> None:
    defect = DEFECTS[name]
    texts = {file: text_of(file) for file in WAYS[defect.file]}
    texts[defect.file] = replaced(texts[defect.file], defect.old, defect.new)
    expected = f"{defect.level}: {AT}/{defect.file}: {defect.text}"
    assert complaints(set_up(texts)) == [expected]


def test_every_sentence_says_what_to_do() -> None:
    assert [name for name, one in DEFECTS.items() if "; " not in one.text] == []


def test_without_pr_jury_that_is_the_one_problem() -> None:
    text = "on: push\njobs: {a: {runs-on: ubuntu-24.04, steps: [{run: make}]}}\n"
    problem = "problem: .github/workflows: no workflow runs PR Jury; write one with `prjury init`"
    assert complaints(set_up({"ci.yml": text})) == [problem]
    assert complaints(set_up({})) == [problem]


def test_a_workflow_elsewhere_is_not_looked_into() -> None:
    text = "on: pull_request\njobs: {a: {uses: octo/ci/.github/workflows/prjury.yml@v1}}\n"
    assert complaints(set_up({"ci.yml": text})) == [
        (
            f"not checked: {AT}/ci.yml: it calls a workflow elsewhere, and only this directory "
            "is looked at"
        )
    ]


def test_a_build_without_a_judge_is_told() -> None:
    assert complaints(set_up({BUILD: text_of(BUILD)})) == [
        f"problem: {AT}/{BUILD}: it builds, and no job judges that; {AGAIN}"
    ]


def test_a_judge_without_a_build_is_told() -> None:
    assert complaints(set_up({JUDGE: text_of(JUDGE), OVERRIDE: text_of(OVERRIDE)})) == [
        f"problem: {AT}/{JUDGE}: it judges builds, and nothing builds; {AGAIN}"
    ]


def test_a_missing_link_of_the_chain_is_told() -> None:
    whole = text_of(JUDGE)
    start = whole.index("  # Runs whatever became")
    found = complaints(set_up({BUILD: text_of(BUILD), JUDGE: whole[:start]}))
    assert found == [f"problem: {AT}/{JUDGE}: no job has `mode: publish`; {AGAIN}"]


def test_a_judge_that_waits_for_nothing_is_told() -> None:
    text = text_of(JUDGE).replace("workflow_run: #", "workflow_dispatch: #", 1)
    texts = {name: text_of(name) for name in APART} | {JUDGE: text}
    assert complaints(set_up(texts)) == [
        (
            f"problem: {AT}/{JUDGE}: it judges builds and does not wait for one by "
            f"`workflow_run`; {AGAIN}"
        )
    ]


def test_both_ways_at_once_are_one_too_many() -> None:
    texts = {name: text_of(name) for name in (ALONE, *APART)}
    assert complaints(set_up(texts)) == [
        (
            f"problem: {AT}/{ALONE}: it judges pull requests, and {AT}/{JUDGE} does so "
            "too; keep the one that fits, for a pull request has one gate"
        )
    ]


def test_a_judge_has_to_be_on_the_default_branch() -> None:
    texts = {name: text_of(name) for name in APART}
    elsewhere = set_up(texts, on_default=frozenset())
    assert complaints(elsewhere) == [
        f"warning: {AT}/{name}: GitHub starts it from `main` only, where it is not; merge it"
        for name in (JUDGE, OVERRIDE)
    ]
    nowhere = set_up(texts, default_branch=None, on_default=None)
    assert complaints(nowhere) == [
        (
            f"not checked: {AT}/{name}: GitHub starts it from the default branch only, and "
            "which branch that is is not known here; make sure that it is merged there"
        )
        for name in (JUDGE, OVERRIDE)
    ]


def test_a_label_that_the_policy_names_and_nobody_hears_is_told() -> None:
    texts = {name: text_of(name) for name in (BUILD, JUDGE)}
    assert complaints(set_up(texts, override=OverrideConfig(label="ship it"))) == [
        (
            f"warning: {AT}/{JUDGE}: no workflow listens to the label `ship it`, which overrides "
            "the gate by the policy; write it with `prjury init --forks`, or set "
            "`gate: {override: {label: null}}`"
        )
    ]


def test_another_label_in_the_policy_is_told() -> None:
    texts = {name: text_of(name) for name in APART}
    assert complaints(set_up(texts, override=OverrideConfig(label="ship it"))) == [
        (
            f"warning: {AT}/{OVERRIDE}: it waits for the label `prjury:override`, and by the "
            "policy `ship it` overrides the gate; put that one into its `if`"
        )
    ]


@pytest.mark.parametrize("label", ["prjury:override", "PRJury:Override"])
def test_github_compares_labels_without_their_case(label: str) -> None:
    texts = {name: text_of(name) for name in APART}
    assert complaints(set_up(texts, override=OverrideConfig(label=label))) == []


def test_an_override_for_every_label_is_fine() -> None:
    texts = {name: text_of(name) for name in APART}
    condition = "    if: github.event.label.name == 'prjury:override' || "
    texts[OVERRIDE] = replaced(texts[OVERRIDE], condition, "    if: github.event.label || ")
    assert complaints(set_up(texts)) == []


def test_a_gate_that_waits_for_another_label_than_the_policys() -> None:
    texts = {name: text_of(name) for name in (ALONE, QUEUE)}
    texts[ALONE] = texts[ALONE].replace("prjury:override", "go")
    told_of_it = (
        "it waits for the label `go`, and by the policy `prjury:override` overrides the gate"
    )
    (found,) = complaints(set_up(texts))
    assert found == (
        f"warning: {AT}/{ALONE}: {told_of_it}; put that one into its `if`, name and `concurrency`"
    )


@pytest.mark.parametrize("way", [(ALONE,), (BUILD, JUDGE)])
def test_where_nobody_can_overrule_no_label_need_be_heard(way: tuple[str, ...]) -> None:
    texts = {name: text_of(name).replace(", labeled, unlabeled]", "]") for name in way}
    nobody = set_up(texts, override=OverrideConfig(label=None))
    found = list(examine_setup(nobody))
    assert [told(one) for one in found if one.level is not Level.FINE] == []
    assert "nobody can override the gate, as the policy says" in {one.text for one in found}


def test_a_workflow_for_a_label_that_never_counts_is_told() -> None:
    texts = {name: text_of(name) for name in APART}
    assert complaints(set_up(texts, override=OverrideConfig(label=None))) == [
        (
            f"warning: {AT}/{OVERRIDE}: it waits for a label, and by `gate.override.label` of the "
            "policy none overrides the gate; remove it, or name the label there"
        )
    ]


def test_of_a_policy_that_cannot_be_read_no_label_is_known() -> None:
    texts = {BUILD: text_of(BUILD), JUDGE: text_of(JUDGE)}
    assert complaints(set_up(texts, override=None)) == []


def test_an_override_of_what_nobody_judges_is_told() -> None:
    expected = (
        f"problem: {AT}/{OVERRIDE}: it overrides a status, and no job here judges and sets one"
    )
    alone = {OVERRIDE: text_of(OVERRIDE)}
    assert complaints(set_up(alone)) == [f"{expected}; {AGAIN}"]
    beside = {**alone, ALONE: text_of(ALONE)}
    assert complaints(set_up(beside)) == [
        f"{expected}; {AT}/{ALONE} listens to the label itself, so remove this one"
    ]


def test_one_workflow_may_hear_builds_and_labels() -> None:
    """`mode: publish` goes by the event, so both may stand in one file."""
    event = "workflow_run: # zizmor"
    text = replaced(text_of(JUDGE), event, f"pull_request_target: {LABELS}\n  {event}")
    text = replaced(
        text, "always() && github.event.workflow_run.event == 'pull_request'", "always()"
    )
    assert complaints(set_up({BUILD: text_of(BUILD), JUDGE: text})) == []


def test_another_workflow_cannot_take_the_name_of_the_gate() -> None:
    other = "on: pull_request\njobs: {x: {name: prjury, runs-on: a, steps: [{run: 'true'}]}}\n"
    assert complaints(set_up({ALONE: text_of(ALONE), "other.yml": other})) == [
        (
            f"problem: {AT}/other.yml: the job `x` is called `prjury` like the required check "
            "and can turn it green; give it another name"
        )
    ]


def test_an_unsafe_workflow_of_somebody_else_is_a_warning() -> None:
    other = (
        "on: {pull_request_target: {}}\njobs: {x: {runs-on: a, steps: [{uses: actions/checkout@v4,"
        " with: {ref: '${{ github.event.pull_request.head.sha }}'}}]}}\n"
    )
    assert complaints(set_up({ALONE: text_of(ALONE), "other.yml": other})) == [
        (
            f"warning: {AT}/other.yml: it checks out what a pull request brings under "
            "`pull_request_target`, where secrets are; do that under `pull_request`, and hand "
            "results over as an artifact"
        )
    ]


def test_jobs_without_permissions_are_warned_of_once() -> None:
    text = (
        f"on: {{pull_request: {{types: {STRANGE_TYPES}}}}}\nconcurrency: x\n"
        "jobs: {prjury: {runs-on: ubuntu-24.04, timeout-minutes: 9, steps: "
        f"[{{uses: {PINNED}}}]}}}}\n"
    )
    assert complaints(set_up({ALONE: text})) == [
        (
            f"warning: {AT}/{ALONE}: the job `prjury` declares no `permissions` and gets the "
            "repository's default, which may be too much or too little; list them as `prjury init` "
            "does"
        )
    ]
