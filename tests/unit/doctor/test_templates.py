"""The workflows and the policy that `prjury init` writes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from prjury.action.job import ALLOWED, INPUTS
from prjury.cli.init import Situation, render_workflows_and_policy
from prjury.policy import POLICY_PATH
from prjury.policy.load import default_policy, json_schema, parse_policy

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = ROOT / ".github" / "workflows" / "examples"
WORKFLOWS = sorted(EXAMPLES.iterdir())
#: A required check is ended by a new head and by nothing else.
ENDED_BY = "${{ github.event.action == 'synchronize' }}"
PIN = re.compile(r"[\w-]+/[\w-]+@[0-9a-f]{40}")


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text())


def test_the_examples_are_what_init_writes() -> None:
    apart, alone = Situation(forks=True), Situation(queue=True, backport=True)
    texts = {**render_workflows_and_policy(apart), **render_workflows_and_policy(alone)}
    written = {Path(path).name: text for path, text in texts.items()}
    shared = {path.name: path.read_text() for path in WORKFLOWS if path.stem != "prjury-shared"}
    assert shared.items() <= written.items()


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_is_pinned_bounded_and_without_rights_of_its_own(path: Path) -> None:
    workflow = read(path)
    assert path.read_text().startswith("# PR Jury")
    assert workflow["permissions"] == {}
    assert workflow["concurrency"]["cancel-in-progress"] in {True, ENDED_BY}
    for job in workflow["jobs"].values():
        assert 0 < job["timeout-minutes"] <= 60
        assert job["runs-on"] == "ubuntu-24.04"
        assert "permissions" in job
        for step in job["steps"]:
            assert "run" not in step
            assert step["uses"] == "OWNER/pr-jury@COMMIT" or PIN.fullmatch(step["uses"])


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_an_upload_that_fails_turns_no_green_gate_red(path: Path) -> None:
    steps = [step for job in read(path)["jobs"].values() for step in job["steps"]]
    for step in steps:
        if "upload-artifact" not in step["uses"]:
            continue
        assert step["with"]["overwrite"] is True
        hands_over = step["name"].startswith("Hand the ")  # without it there is no verdict
        assert step.get("continue-on-error", False) is not hands_over


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_every_pin_and_every_permission_is_explained(path: Path) -> None:
    lines = path.read_text().splitlines()
    pins = [line for line in lines if "uses: actions/" in line]
    rights = [line for line in lines if re.match(r"      [a-z-]+: (read|write)\b", line)]
    assert [line for line in pins if not re.search(r"@[0-9a-f]{40} # v\d+\.\d+\.\d+$", line)] == []
    assert [line for line in rights if " # to " not in line] == []


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_the_action_is_given_inputs_that_it_has(path: Path) -> None:
    for job in read(path)["jobs"].values():
        for step in job["steps"]:
            if step["uses"] == "OWNER/pr-jury@COMMIT":
                given = step.get("with", {})
                assert given.keys() <= INPUTS.keys()
                assert given.get("mode", "review") in ALLOWED["mode"]


def test_the_gate_has_one_name_in_every_mode() -> None:
    jobs = {path.name: read(path)["jobs"] for path in WORKFLOWS}
    name, idle = jobs["prjury.yml"]["prjury"]["name"], "&& 'Nothing to judge' || 'prjury' }}"
    assert name.endswith(idle)
    review = jobs["prjury.yml"]["prjury"]["steps"][0]
    condition = name.removeprefix("${{ ").removesuffix(idle).strip()
    assert review["if"] == f"${{{{ !({condition}) }}}}"
    assert condition in read(EXAMPLES / "prjury.yml")["concurrency"]["group"]
    assert jobs["prjury-queue.yml"]["prjury"]["name"] == "prjury"
    others = [*jobs["prjury-build.yml"].values(), *jobs["prjury-judge.yml"].values()]
    assert "prjury" not in {job["name"] for job in others}


def test_a_repository_calls_the_shared_workflow_as_the_page_shows() -> None:
    page = (ROOT / ".github" / "docs" / "github" / "organisations.md").read_text()
    caller = yaml.safe_load(page.partition("```yaml\n")[2].partition("```")[0])
    (calling,) = caller["jobs"].values()
    shared, alone = (read(EXAMPLES / f"{name}.yml") for name in ("prjury-shared", "prjury"))
    (job,) = shared["jobs"].values()
    given, (judged, *_), (review, *_) = (
        shared[True]["workflow_call"],
        job["steps"],
        alone["jobs"]["prjury"]["steps"],
    )
    assert calling["permissions"] == job["permissions"]
    assert calling["secrets"].keys() == given["secrets"].keys()
    assert caller[True] == alone[True]
    assert judged["with"].keys() - {"github-token", "model-api-key"} == given["inputs"].keys()
    assert (judged["if"], job["name"]) == (review["if"], alone["jobs"]["prjury"]["name"])
    assert shared["concurrency"] == alone["concurrency"]
    assert f"`{next(iter(caller['jobs']))} / prjury`" in page


def test_only_one_job_of_four_holds_the_key() -> None:
    jobs = {
        (path.name, name): str(job)
        for path in WORKFLOWS
        for name, job in read(path)["jobs"].items()
        if path.name in {"prjury-build.yml", "prjury-judge.yml"}
    }
    used = {where: text.replace("secrets.OPENAI_API_KEY != ''", "") for where, text in jobs.items()}
    assert [name for (_, name), text in used.items() if "secrets." in text] == ["judge"]
    assert read(EXAMPLES / "prjury-judge.yml")["jobs"]["judge"]["permissions"] == {}


def test_answers_are_remembered_only_where_nothing_of_a_change_runs() -> None:
    cached = {
        (path.name, name)
        for path in WORKFLOWS
        for name, job in read(path)["jobs"].items()
        if any(step["uses"].startswith("actions/cache@") for step in job["steps"])
    }
    assert cached == {("prjury-judge.yml", "judge")}
    assert list(read(EXAMPLES / "prjury-judge.yml")[True]) == ["workflow_run"]


def test_the_schema_describes_every_key_and_lies_where_editors_look() -> None:
    schema = json_schema()
    assert schema["$id"] == "urn:prjury:policy:v1"
    assert list(_undescribed(schema)) == []
    assert json.loads((ROOT / ".github" / "prjury.schema.json").read_text()) == schema


def _undescribed(node: Any) -> Iterator[str]:
    for item in node if isinstance(node, list) else node.values() if isinstance(node, dict) else ():
        yield from _undescribed(item)
    if isinstance(node, dict):
        for name, key in node.get("properties", {}).items():
            if not key.get("description"):
                yield name


def test_the_policy_that_init_writes_is_short_and_the_default_one() -> None:
    for from_checks in (False, True):
        text = render_workflows_and_policy(Situation(), from_checks=from_checks)[POLICY_PATH]
        assert len(text.splitlines()) <= 10
        assert text.startswith("# yaml-language-server: $schema=")
        written = parse_policy(text, "file:policy.yml")
        assert (written.hash == default_policy().hash) is not from_checks
