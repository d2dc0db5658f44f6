from __future__ import annotations

from typing import Any

import pytest

from prjury.errors import ConfigError
from prjury.policy.load import make_config, parse_policy, read_options
from prjury.policy.tiers import PromptOptions, QualityOptions, QuestionOptions, SuitabilityOptions

COMMIT = "a" * 40
OWN: dict[str, Any] = {"name": "units", "criteria": {"metric": "Is it metric?"}, "text": "Units."}


def judge_of(text: str, commit: str | None = None) -> Any:
    """The options of the one judge in a policy."""
    policy = parse_policy(
        f"tiers: [{{name: t, policy: final_tier, judges: [{text}]}}]", "policy", commit=commit
    )
    (entry,) = policy.config.tiers[0].judges
    return entry


@pytest.mark.parametrize(
    ("name", "kind", "threshold"),
    [
        ("quality", QualityOptions, 0.7),
        ("tests-exercise-behaviour", QuestionOptions, 0.7),
        ("description-matches-change", QuestionOptions, 0.7),
        ("backport-suitability", SuitabilityOptions, 0.6),
    ],
)
def test_a_name_alone_is_enough(name: str, kind: type, threshold: float) -> None:
    entry = judge_of(name)
    assert (entry.name, type(entry.options)) == (name, kind)
    assert (entry.options.model, entry.options.runs) == ("auto", 1)
    assert entry.options.threshold == threshold


@pytest.mark.parametrize(
    "options",
    [
        "{runs: 0}",
        "{runs: 10}",
        "{runs: 1.0}",
        "{runs: true}",
        "{threshold: 1.1}",
        "{threshold: .nan}",
        "{threshold: '0.7'}",
        "{model: 7}",
        "{criteria: []}",
        "{criteria: {}}",
        "{guidelines: 'no'}",
        "{must: risk}",
        "{must: [correctness, beauty]}",
        "{criteria: [tests], must: [risk]}",
        "{temperature: 1}",
    ],
)
def test_what_makes_no_sense_is_refused(options: str) -> None:
    with pytest.raises(ConfigError, match="policy line 1: "):
        judge_of(f"{{quality: {options}}}")


def test_correctness_and_risk_must_pass_unless_the_policy_says_otherwise() -> None:
    assert judge_of("quality").options.must == ["correctness", "risk"]
    assert judge_of("{quality: {must: [tests]}}").options.must == ["tests"]
    assert judge_of("{quality: {must: []}}").options.must == []
    own = judge_of("{quality: {criteria: {api: Is it stable?, naming: Is it named?}, must: [api]}}")
    assert own.options.musts(["api", "naming"]) == {"api"}
    fewer = judge_of("{quality: {criteria: [tests, risk, sql-injection]}}").options
    assert fewer.musts(["tests", "risk", "sql_injection"]) == {"risk"}
    hyphen = judge_of("{quality: {criteria: [sql-injection], must: [sql_injection]}}").options
    assert hyphen.musts(["sql_injection"]) == {"sql_injection"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"text": None}, "give one of `file` and `text`"),
        ({"file": "a.md"}, "give one of `file` and `text`"),
        ({"criteria": {}}, "at least 1"),
        ({"criteria": {"metric": "  "}}, "criteria.metric: a question is needed"),
        ({"criteria": {f"c{n}": "Is it?" for n in range(21)}}, "at most 20"),
        ({"criteria": ["metric"]}, "a mapping"),
        ({"name": ""}, "up to 60 letters"),
        ({"name": "9lives"}, "up to 60 letters"),
        ({"name": "a b"}, "up to 60 letters"),
        ({"name": "x" * 61}, "up to 60 letters"),
        ({"commit": COMMIT}, "is not a known key"),
        ({"_commit": COMMIT}, "is not a known key"),
        ({"sees_description": "yes"}, "true or false"),
    ],
)
def test_one_that_makes_no_sense_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_options({**OWN, **changes}, PromptOptions)


@pytest.mark.parametrize("name", ["", " ", "a b", "9", "naïve", "x" * 61, '"}'])
def test_a_question_goes_by_a_name_that_models_can_answer_to(name: str) -> None:
    with pytest.raises(ValueError, match="name"):
        read_options({**OWN, "criteria": {name: "Is it?"}}, PromptOptions)


def test_the_commit_is_that_of_the_policy_and_no_claim_of_its_text() -> None:
    text = "{prompt: {name: units, file: a.md, criteria: {metric: Is it?}}}"
    assert judge_of(text, COMMIT).options.commit == COMMIT
    assert judge_of(text).options.commit is None
    with pytest.raises(ConfigError, match="commit is not a known key"):
        judge_of(text.replace("file: a.md", f"file: a.md, commit: {COMMIT}"))


def test_options_survive_the_way_through_the_whole_policy() -> None:
    value = {
        "tiers": [
            {
                "name": "t",
                "policy": "final_tier",
                "judges": [{"prompt": OWN, "weight": 2.0}, {"quality": {"runs": 3}}],
            }
        ]
    }
    own, quality = make_config(value).tiers[0].judges
    assert (own.options.name, own.weight) == ("units", 2.0)
    assert quality.options.runs == 3


@pytest.mark.parametrize("name", ["build", "merge", "patterns", "quality", "chair"])
def test_no_judge_of_ones_own_takes_the_name_of_another(name: str) -> None:
    with pytest.raises(ValueError, match="is the name of another judge"):
        PromptOptions(**{**OWN, "name": name})
