from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from fakes.bare_report import report
from prjury.action.job import ALLOWED, INPUTS, OUTPUTS, Inputs, read_inputs
from prjury.doctor.examination import read_workflows
from prjury.doctor.workflows import Level, Setup, examine_setup
from prjury.publishers.files import list_outputs
from prjury.secret_env import SECRET_VARIABLES

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
EXAMPLES = ROOT / ".github" / "workflows" / "examples"
SHOWN = sorted(EXAMPLES.glob("*.yml"))
#: What each job of the examples may do, and why nothing less will do is said beside it there.
LEAST = {
    "prjury-shared.yml prjury": "contents: read, pull-requests: write, checks: write, "
    "statuses: read, actions: read",
    "prjury.yml prjury": "contents: read, pull-requests: write, checks: write, statuses: read",
    "prjury-queue.yml prjury": "contents: read, pull-requests: read, statuses: read, actions: read",
    "prjury-build.yml build": "contents: read",
    "prjury-judge.yml collect": "contents: read, actions: read, checks: read, statuses: read, "
    "pull-requests: read",
    "prjury-judge.yml judge": "",
    "prjury-judge.yml publish": "statuses: write, checks: write, pull-requests: write, "
    "actions: read",
    "prjury-comment.yml comment": "contents: read, pull-requests: write, actions: write, "
    "statuses: write, checks: write",
    "prjury-comment.yml conflicts": "contents: read, pull-requests: write, checks: write, "
    "statuses: write",
    "prjury-backport.yml backport": "contents: write, pull-requests: write",
}
SHA = re.compile(r"[\w-]+/[\w./-]+@[0-9a-f]{40}")


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text())


ACTION = read(ROOT / "action.yml")
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]


def test_the_inputs_are_those_of_the_table() -> None:
    declared = {name: entry["default"] for name, entry in ACTION["inputs"].items()}
    # The job's own token is the one default that only the runner knows.
    assert declared.pop("github-token") == "${{ github.token }}"
    usual = {name: getattr(Inputs(), name.replace("-", "_")) for name in declared}
    assert declared == {**usual, "build": "true"}
    assert list(ACTION["inputs"]) == list(INPUTS)


def test_every_allowed_value_is_described() -> None:
    for name, allowed in ALLOWED.items():
        description = ACTION["inputs"][name]["description"]
        assert [value for value in allowed if f"`{value}`" not in description] == []


def test_the_outputs_are_those_of_the_table() -> None:
    assert tuple(ACTION["outputs"]) == OUTPUTS
    for name, entry in ACTION["outputs"].items():
        assert entry["value"] == f"${{{{ steps.review.outputs.{name} }}}}"
        assert entry["description"]


def test_a_report_sets_no_output_that_is_not_declared() -> None:
    assert set(list_outputs(report())) < set(OUTPUTS)


def test_every_input_is_handed_over_as_a_variable() -> None:
    handed = {
        name: value for name, value in STEPS[-1]["env"].items() if name.startswith("PRJURY_INPUT_")
    }
    assert handed == {INPUTS[name]: f"${{{{ inputs.{name} }}}}" for name in INPUTS}


def test_secret_inputs_are_taken_out_of_the_environment() -> None:
    secret = {INPUTS[name] for name in INPUTS if re.search("token|key", name)}
    assert secret
    assert secret <= set(SECRET_VARIABLES)


def test_it_needs_no_container_and_no_other_action() -> None:
    assert ACTION["runs"]["using"] == "composite"
    assert [step for step in STEPS if "uses" in step] == []


@pytest.mark.parametrize("step", STEPS, ids=lambda step: str(step["name"]))
def test_no_step_can_be_reached_from_the_checkout(step: dict[str, Any]) -> None:
    assert step["shell"] == "bash"
    assert "${{" not in step["run"]
    assert step["run"].startswith("set -euo pipefail\n")
    assert step["env"]["BASH_ENV"] == ""
    assert step["env"]["LD_PRELOAD"] == ""
    before_cd = step["run"].split('cd "')[0]
    assert "python" not in before_cd
    isolated = re.findall(r"python3?\"? (-\w+)", step["run"].replace('uv/bin/uv" python', ""))
    assert set(isolated) == {"-I"}


@pytest.mark.parametrize(
    ("there", "lacking"), [((), "git and Python 3"), (("git",), "Python 3"), (("python3",), "git")]
)
def test_what_a_bare_container_lacks_is_named_in_one_line(
    tmp_path: Path, there: tuple[str, ...], lacking: str
) -> None:
    for name in ("rm", "mkdir"):
        (tmp_path / name).symlink_to(shutil.which(name) or "")
    for name in there:
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    laid = tmp_path / "prjury" / "uv" / "bin"  # by an earlier step
    laid.parent.mkdir(parents=True)
    laid.symlink_to(tmp_path)
    env = {"PATH": str(tmp_path), "RUNNER_TEMP": str(tmp_path), "MODE": "review"}
    bash = shutil.which("bash")
    assert bash
    run = subprocess.run(
        [bash, "-c", STEPS[0]["run"]], env=env, capture_output=True, text=True, check=False
    )
    assert run.returncode == 2
    (line,) = run.stdout.splitlines()
    assert line.startswith(f"::error title=PR Jury::This runner or container lacks {lacking}. ")
    assert not laid.is_symlink()


def test_the_installer_is_pinned_by_hash() -> None:
    text = (ROOT / ".github" / "uv-requirements.txt").read_text()
    assert re.findall(r"^(\w+)==[\d.]+ ", text, re.MULTILINE) == ["uv"]
    assert len(re.findall(r"--hash=sha256:[0-9a-f]{64}", text)) > 10
    assert "--require-hashes" in STEPS[0]["run"]
    assert "pip sync --quiet --require-hashes" in STEPS[0]["run"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_are_pinned_bounded_and_without_rights_of_their_own(path: Path) -> None:
    workflow = read(path)
    assert workflow["permissions"] == {}
    ended_by = str(workflow["concurrency"]["cancel-in-progress"])
    releases = path.name == "release.yml"  # which nothing may cut off
    assert ended_by == str(not releases) or "github.event.action == 'synchronize'" in ended_by
    for job in workflow["jobs"].values():
        assert 0 < job["timeout-minutes"] <= (180 if path.name == "nightly.yml" else 60)
        assert "permissions" in job
        for step in job["steps"]:
            uses = step.get("uses", "./")
            assert uses == "./" or SHA.fullmatch(uses)
            assert "${{" not in step.get("run", "")
            if uses.startswith("actions/checkout@"):
                assert step["with"]["persist-credentials"] is False


def test_our_own_jury_is_the_example_with_the_version_under_test() -> None:
    """And without a key: the action that would hold it is the pull request's own."""
    own = read(ROOT / ".github" / "workflows" / "prjury.yml")
    example = read(EXAMPLES / "prjury.yml")
    job, shown = own["jobs"].pop("prjury"), example["jobs"].pop("prjury")
    checkout, review, *keep = job.pop("steps")
    shown_review, *shown_keep = shown.pop("steps")
    assert (own, job) == (example, shown)
    assert "if" not in job
    assert checkout["uses"].startswith("actions/checkout@")
    assert (review.pop("uses"), shown_review.pop("uses")) == ("./", "OWNER/pr-jury@COMMIT")
    assert shown_review["with"].pop("model-api-key") == "${{ secrets.OPENAI_API_KEY }}"
    assert (review, keep) == (shown_review, shown_keep)


@pytest.mark.parametrize("name", ["prjury.yml", "prjury-queue.yml", "prjury-build.yml"])
def test_the_log_of_a_build_is_kept_whatever_became_of_the_job(name: str) -> None:
    (job,) = read(EXAMPLES / name)["jobs"].values()
    step = job["steps"][-1]
    assert (step["if"], step["continue-on-error"]) == ("always()", True)
    assert step["with"]["path"].startswith("${{ runner.temp }}/prjury-report")
    assert "build-log" in read(ROOT / "action.yml")["outputs"]


def test_our_own_workflows_are_in_order_by_our_own_doctor() -> None:
    read_ones, unread = read_workflows(ROOT)
    assert unread == []
    found = examine_setup(Setup(tuple(read_ones), is_home=True))
    assert [one.sentence for one in found if one.level is not Level.FINE] == []


@pytest.mark.parametrize("path", SHOWN, ids=lambda path: path.name)
def test_examples_are_pinned_and_run_no_text_of_their_own(path: Path) -> None:
    workflow = read(path)
    assert workflow["permissions"] == {}
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    assert [step for step in steps if "run" in step] == []
    used = {step["uses"] for step in steps} - {"OWNER/pr-jury@COMMIT"}
    assert [uses for uses in used if not SHA.fullmatch(uses)] == []
    assert not any(uses.startswith("actions/checkout@") for uses in used)


def test_every_job_of_the_examples_has_the_least_permissions() -> None:
    found = {
        f"{path.name} {name}": ", ".join(f"{key}: {one}" for key, one in job["permissions"].items())
        for path in SHOWN
        for name, job in read(path)["jobs"].items()
    }
    assert found == LEAST


@pytest.mark.parametrize("path", SHOWN, ids=lambda path: path.name)
def test_no_job_of_the_examples_holds_a_key_and_may_write_for_strangers(path: Path) -> None:
    workflow = read(path)
    for name, job in workflow["jobs"].items():
        has_key = "secrets." in str(job).replace("secrets.OPENAI_API_KEY != ''", "")
        writes = "write" in job["permissions"].values()
        trusted = path.name in {"prjury.yml", "prjury-shared.yml"}  # forks get no secrets there
        assert not (has_key and writes) or (trusted and name == "prjury")


def test_every_input_has_the_type_of_its_field() -> None:
    inputs = read_inputs({"PRJURY_INPUT_BUILD": "false"})
    assert inputs.build is False
    assert "sekret" not in repr(read_inputs({"PRJURY_INPUT_GITHUB_TOKEN": "sekret"}))


def test_what_builds_the_package_is_pinned_with_all_that_it_needs() -> None:
    """`uv sync --locked` checks these against the lock file as well."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        pinned = tomllib.load(file)["tool"]["uv"]["build-constraint-dependencies"]
    names = {line.partition("==")[0] for line in pinned if line.count("==") == 1}
    backend = {"hatchling", "packaging", "pathspec", "pluggy", "trove-classifiers"}
    assert names == {*backend, "hatch-fancy-pypi-readme"}
