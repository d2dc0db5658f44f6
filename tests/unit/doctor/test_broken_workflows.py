"""One defect each, in what `prjury init` writes: exactly one sentence tells it, with its fix."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from prjury.cli.init import Situation, render_workflows_and_policy
from prjury.doctor.workflows import Level, Setup, examine_setup
from prjury.manifests.workflow import read_workflow

EXAMPLES = Path(__file__).resolve().parents[3] / ".github" / "workflows" / "examples"
ALONE, BUILD, JUDGE = "prjury.yml", "prjury-build.yml", "prjury-judge.yml"
QUEUE, BACKPORT, COMMENT = "prjury-queue.yml", "prjury-backport.yml", "prjury-comment.yml"
APART = (BUILD, JUDGE, COMMENT)
WAYS = {
    **dict.fromkeys((ALONE, QUEUE, BACKPORT), (ALONE, QUEUE, BACKPORT, COMMENT)),
    COMMENT: (ALONE, COMMENT),
    **dict.fromkeys((BUILD, JUDGE), APART),
}
PINNED = "octo/pr-jury@" + "0123456789" * 4
AT = ".github/workflows"
STATUS = ("PRJURY_GATE: job", "PRJURY_GATE: status")


def texts_of(*names: str) -> dict[str, str]:
    """The files as `prjury init` writes them."""
    texts = {name: (EXAMPLES / name).read_text() for name in names}
    if JUDGE in texts and COMMENT in texts:
        texts[COMMENT] = texts[COMMENT].replace(*STATUS)
    return {name: text.replace("OWNER/pr-jury@COMMIT", PINNED) for name, text in texts.items()}


def set_up(texts: dict[str, str], **more: object) -> Setup:
    read = tuple(read_workflow(text, f"{AT}/{name}") for name, text in texts.items())
    there = frozenset(workflow.path for workflow in read)
    return Setup(read, **{"default_branch": "main", "on_default": there, **more})  # type: ignore[arg-type] # the fields of Setup


def complaints(setup: Setup) -> list[str]:
    every = list(examine_setup(setup))
    return [f"{one.level}: {one.sentence}" for one in every if one.level is not Level.FINE]


#: The file, what stands in place of what there, the level, and how its sentence begins.
_TABLE = Path(__file__).with_suffix(".yml").read_text(encoding="utf-8")
DEFECTS = {name: tuple(row.values()) for name, row in yaml.safe_load(_TABLE).items()}


@pytest.mark.parametrize(
    "way",
    [
        (ALONE, COMMENT),
        (ALONE, COMMENT, QUEUE),
        (ALONE, BACKPORT),
        APART,
        (*APART, QUEUE, BACKPORT),
    ],
)
def test_what_init_writes_is_fine(way: tuple[str, ...]) -> None:
    assert complaints(set_up(texts_of(*way))) == []


SETUPS = ("pnpm/action-setup", "astral-sh/setup-uv", "oven-sh/setup-bun", "ruby/setup-ruby")


@pytest.mark.parametrize("action", SETUPS)
@pytest.mark.parametrize("way", [(ALONE, COMMENT), APART])
def test_steps_that_set_up_tools_are_not_taken_for_ours(way: tuple[str, ...], action: str) -> None:
    texts = texts_of(*way)
    step = f"    steps:\n      - uses: {action}@v1\n        with:\n          bun-version: 1\n\n"
    texts[way[0]] = texts[way[0]].replace("    steps:\n", step, 1)
    assert complaints(set_up(texts)) == []


def test_conflicts_alone_are_fine() -> None:
    files = render_workflows_and_policy(Situation(no_comments=True), action=PINNED)
    setup = set_up({Path(path).name: text for path, text in files.items() if "workflows" in path})
    assert complaints(setup) == []
    assert [one.mode for one in setup.uses] == ["review", "conflicts"]


@pytest.mark.parametrize("name", DEFECTS)
def test_a_defect_is_told_in_one_sentence(name: str) -> None:
    file, old, new, level, begins = DEFECTS[name]
    texts = texts_of(*WAYS[file])
    assert old in texts[file]
    texts[file] = texts[file].replace(old, new, 1)
    (found,) = complaints(set_up(texts))
    assert found.startswith(f"{level}: {AT}/{file}: {begins}")
    assert "; " in found  # and after it the fix


def test_without_pr_jury_that_is_the_one_problem() -> None:
    text = "on: push\njobs: {a: {runs-on: ubuntu-24.04, steps: [{run: make}]}}\n"
    problem = "problem: .github/workflows: no workflow runs PR Jury; write one with `prjury init`"
    assert complaints(set_up({"ci.yml": text})) == [problem]
    assert complaints(set_up({})) == [problem]


def test_a_workflow_elsewhere_is_not_looked_into() -> None:
    text = "on: pull_request\njobs: {a: {uses: octo/ci/.github/workflows/prjury.yml@v1}}\n"
    (found,) = complaints(set_up({"ci.yml": text}))
    assert found.startswith(f"not checked: {AT}/ci.yml: it calls a workflow elsewhere")


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ((BUILD,), "no job has `mode: collect`, `mode: decide`, `mode: publish`; "),
        ((JUDGE, COMMENT), "no job has `mode: build`; "),
        ((BUILD, JUDGE), "nothing closes the gate of a new head"),
    ],
)
def test_a_missing_link_of_the_chain_is_told(files: tuple[str, ...], words: str) -> None:
    (found,) = complaints(set_up(texts_of(*files)))
    assert words in found


def test_both_ways_at_once_are_one_too_many() -> None:
    (found,) = complaints(set_up(texts_of(ALONE, *APART)))
    assert found.startswith(f"problem: {AT}/{JUDGE}: it judges pull requests, and {AT}/{ALONE}")


@pytest.mark.parametrize("branch", ["main", None])
def test_a_judge_has_to_be_on_the_default_branch(branch: str | None) -> None:
    there = None if branch is None else frozenset[str]()
    found = complaints(set_up(texts_of(*APART), default_branch=branch, on_default=there))
    level = "not checked" if branch is None else "warning"
    start = "GitHub starts it from"
    assert [one.partition(start)[0] for one in found] == [
        f"{level}: {AT}/{name}: " for name in (JUDGE, COMMENT)
    ]


def test_another_workflow_cannot_take_the_name_of_the_gate() -> None:
    other = "on: pull_request\njobs: {x: {name: prjury, runs-on: a, steps: [{run: 'true'}]}}\n"
    (found,) = complaints(set_up({**texts_of(ALONE), "other.yml": other}))
    assert found.startswith(f"problem: {AT}/other.yml: the job `x` is called `prjury` like")


def test_jobs_without_permissions_are_warned_of_once() -> None:
    text = texts_of(ALONE)[ALONE].replace("permissions: {}\n", "")
    start, _, rest = text.partition("    permissions:\n")
    (found,) = complaints(set_up({ALONE: start + rest[rest.index("    steps:") :]}))
    assert "declares no `permissions`" in found
