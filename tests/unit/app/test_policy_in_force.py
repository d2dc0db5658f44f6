"""Which policy is in force, and what is said where another one is at hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from fakes.repository import BASE, HEAD, FakeRepository, Files, pull_between
from prjury.app.policy_in_force import answers_commands, note_policy_or_ci_edits, policy_in_force
from prjury.errors import ConfigError, SourceError
from prjury.snapshot.model import PullRequest

PATH = ".github/prjury.yml"
STRICT = "version: 1\ngate: {coverage_floor: 1.0}\n"
LAX = "version: 1\ngate: {coverage_floor: 0.0}\n"


def case(before: Files, after: Files) -> tuple[PullRequest, FakeRepository]:
    repository = FakeRepository({BASE: before, HEAD: after})
    return pull_between(before, after), repository


def test_the_base_decides_whatever_the_head_says() -> None:
    pull, repository = case({PATH: STRICT}, {PATH: LAX})
    policy = policy_in_force(pull, repository, None)
    assert policy.config.gate.coverage_floor == 1.0
    assert policy.source == f"base:{BASE}:{PATH}"
    (note,) = note_policy_or_ci_edits(pull, repository, None, None)
    assert "the base's policy is in force until it is merged" in note


@pytest.mark.parametrize("name", ["prjury-comment.yml", "prjury-conflicts.yml"])
def test_commands_are_answered_where_the_base_has_their_workflow(name: str) -> None:
    file = {f".github/workflows/{name}": "on: {}\n"}
    assert answers_commands(*case(file, {})) == (name == "prjury-comment.yml")
    assert not answers_commands(*case({}, file))


def test_what_a_policy_names_is_where_the_policy_is(tmp_path: Path) -> None:
    text = "tiers: [{name: a, policy: final_tier, judges: [{patterns: {paths: [x.yml]}}]}]\n"
    own = tmp_path / "own.yml"
    own.write_text(text)
    pull, repository = case({PATH: text}, {PATH: text})
    for file, commit in ((None, BASE), (own, None)):
        patterns = policy_in_force(pull, repository, file).config.tiers[0].judges[0].patterns
        assert patterns
        assert patterns.commit == commit


@pytest.mark.parametrize("key", ["commit", "_commit"])
def test_no_policy_says_itself_where_it_is(key: str) -> None:
    judge = f"{{patterns: {{{key}: {HEAD}}}}}"
    text = f"tiers: [{{name: a, policy: final_tier, judges: [{judge}]}}]\n"
    pull, repository = case({PATH: text}, {PATH: text})
    with pytest.raises(ConfigError, match=f"patterns.{key} is not a known key"):
        policy_in_force(pull, repository, None)


def test_a_policy_that_the_change_introduces_is_not_in_force() -> None:
    pull, repository = case({"a.py": "1\n"}, {"a.py": "1\n", PATH: LAX})
    assert policy_in_force(pull, repository, None).source == "default"
    (note,) = note_policy_or_ci_edits(pull, repository, None, None)
    assert "the default policy is in force" in note


def test_the_operators_own_file_is_taken_as_it_is(tmp_path: Path) -> None:
    own = tmp_path / "own.yml"
    own.write_text(LAX)
    pull, repository = case({PATH: STRICT}, {PATH: STRICT})
    policy = policy_in_force(pull, repository, own)
    assert (policy.config.gate.coverage_floor, policy.source) == (0.0, f"file:{own}")
    assert note_policy_or_ci_edits(pull, repository, own, None) == ()


@pytest.mark.parametrize(
    ("path", "runs"),
    [
        (".github/workflows/review.yml", True),
        ("action.yml", True),
        ("tools/judge/action.yaml", True),
        ("docs/.github/workflows/x.yml", False),
        ("reaction.yml", False),
        ("action.yml.md", False),
    ],
)
def test_a_change_of_the_workflow_is_pointed_out(path: str, runs: bool) -> None:
    pull, repository = case({"a.py": "1\n", path: "on: push\n"}, {"a.py": "1\n"})
    words = f"this change touches the workflow {path}: it runs as changed"
    notes = note_policy_or_ci_edits(pull, repository, None, None)
    assert [note.startswith(words) for note in notes] == [True] * runs


def test_a_file_that_is_not_committed_yet_is_pointed_out(tmp_path: Path) -> None:
    (tmp_path / ".github").mkdir()
    (tmp_path / PATH).write_text(LAX)
    pull, repository = case({"a.py": "1\n"}, {"a.py": "2\n"})
    (note,) = note_policy_or_ci_edits(pull, repository, None, tmp_path)
    assert f"--config {PATH}" in note


@pytest.mark.parametrize("case_", ["120000", "160000", "directory", "gone"])
def test_what_is_no_file_in_its_place_is_refused(case_: str) -> None:
    files = {f"{PATH}/x.yml" if case_ == "directory" else PATH: STRICT}
    pull, repository = case(files, files)
    if case_.isdecimal():
        repository.modes[PATH] = case_
    if case_ == "gone":  # a partial clone lacks it
        repository.gone.update(entry.blob for entry in repository.files(BASE))
    with pytest.raises((ConfigError, SourceError)) as error:
        policy_in_force(pull, repository, None)
    reason = "object_missing" if case_ == "gone" else "config_not_regular_file"
    assert error.value.reason == reason


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"\xff\xfe\x00", "not UTF-8"), ("gate: off\n", "gate: a mapping"), ("a: [", "not YAML")],
)
def test_a_wrong_one_names_file_and_branch(content: str | bytes, words: str) -> None:
    pull, repository = case({PATH: content}, {PATH: content})
    with pytest.raises(ConfigError, match=words) as error:
        policy_in_force(pull, repository, None)
    assert f"{PATH} of {pull.base.ref}" in str(error.value)


def test_a_path_that_somebody_named_has_to_exist() -> None:
    pull, repository = case({"a.py": "1\n"}, {"a.py": "2\n"})
    with pytest.raises(ConfigError, match=r"no nope\.yml in"):
        policy_in_force(pull, repository, None, "nope.yml")
