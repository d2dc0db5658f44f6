from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fakes.llm import SMALL, Notebook, alone, always, answer, changed, context, ports, quote, reply
from prjury.app.registry import Unwanted, seat_judges
from prjury.errors import ConfigError
from prjury.judges.quality.judge import ModelBackedJudge
from prjury.judges.quality.kinds import DESCRIPTION, make_description, make_prompt_judge
from prjury.jury.judgment import Status
from prjury.policy.load import make_config, read_options
from prjury.policy.tiers import PromptOptions, QuestionOptions
from prjury.ports import ChatModel

ASKED = {"metric": "Is every unit metric?", "round": "Is every number rounded?"}
COMMIT = "a" * 40
SAYS = {"text": "Units matter. {{ criteria }}"}


def options(commit: str | None = None, **more: Any) -> PromptOptions:
    given = {"name": "units", "criteria": ASKED, **(more or SAYS)}
    return read_options(given, PromptOptions).at(commit)


def own_judge(
    model: ChatModel, chosen: PromptOptions | None = None, **more: Any
) -> ModelBackedJudge[Any]:
    return alone(make_prompt_judge(chosen or options(), ports(model, **more)))


def instructions(chosen: PromptOptions, **more: Any) -> str:
    model = always(reply(ASKED))
    own_judge(model, chosen, **more).judge(context(SMALL))
    return model.asked[0].system


def test_it_goes_by_its_own_name_and_asks_its_own_questions() -> None:
    model = always(reply(ASKED, metric=answer("fail", [quote()])))
    made = own_judge(model)
    judgment = made.judge(context(SMALL))
    assert (made.name, judgment.status) == ("units", Status.FAIL)
    assert [check.name for check in judgment.failed_checks] == ["metric"]
    assert model.asked[0].name.startswith("units/")
    assert "- `metric`: Is every unit metric?" in model.asked[0].system


@pytest.mark.parametrize("commit", [None, COMMIT])
def test_its_text_may_be_a_file_of_the_base(commit: str | None) -> None:
    files = {"judges/units.md": "Use metres.\n"}
    text = instructions(options(commit, file="judges/units.md"), files=files)
    assert "# What matters\n\nUse metres.\n" in text


@pytest.mark.parametrize(
    "path",
    ["judges/feet.md", "./judges/units.md", "../judges/units.md", "judges", "/judges/units.md", ""],
)
def test_a_file_that_is_not_there_is_a_clear_error(path: str) -> None:
    model = always(reply(ASKED))
    made = own_judge(model, options(COMMIT, file=path), files={"judges/units.md": "Use metres."})
    with pytest.raises(ConfigError, match="is not a file of the base") as error:
        made.judge(context(SMALL))
    assert error.value.reason == "prompt_invalid"
    assert model.asked == []


def test_a_file_of_the_machine_is_read_for_the_operators_own_policy_alone(tmp_path: Path) -> None:
    path = tmp_path / "units.md"
    path.write_text("Use furlongs.")
    assert "Use furlongs." in instructions(options(file=str(path)))
    made = own_judge(always(reply(ASKED)), options(COMMIT, file=str(path)))
    with pytest.raises(ConfigError, match="is not a file of the base"):
        made.judge(context(SMALL))


@pytest.mark.parametrize("content", [None, b"\xff\xfe"])
def test_a_file_of_the_machine_that_cannot_be_read_is_a_clear_error(
    tmp_path: Path, content: bytes | None
) -> None:
    path = tmp_path / "units.md"
    if content is not None:
        path.write_bytes(content)
    made = own_judge(always(reply(ASKED)), options(file=str(path)))
    with pytest.raises(ConfigError, match="cannot be read: ") as error:
        made.judge(context(SMALL))
    assert error.value.reason == "prompt_invalid"


def test_a_directory_of_the_machine_is_no_prompt(tmp_path: Path) -> None:
    made = own_judge(always(reply(ASKED)), options(file=str(tmp_path)))
    with pytest.raises(ConfigError, match="cannot be read: Is a directory"):
        made.judge(context(SMALL))


def test_whoever_sees_the_description_only_lowers() -> None:
    assert make_prompt_judge(options(**SAYS, sees_description=True), ports()).lowers_only
    assert not make_prompt_judge(options(), ports()).lowers_only


STORY: dict[str, Any] = {
    "title": "Repair add",
    "body": "It subtracted.\n\nNow it adds; also faster.",
}
CLAIM = quote("/description", 5, "Now it adds; also faster.")


def story_judge(model: ChatModel, **more: Any) -> ModelBackedJudge[Any]:
    return alone(make_description(QuestionOptions(), ports(model, **more)))


def test_secrets_and_hidden_characters_of_the_description_are_not_sent() -> None:
    model = always(reply(DESCRIPTION.criteria))
    token = "ghp_" + "a1" * 20
    story_judge(model).judge(context(SMALL, title=f"Use {token}", body="a\u202eb"))
    assert token not in model.asked[0].user
    assert "a\\\\u{202e}b" in model.asked[0].user


@pytest.mark.parametrize("memory", [False, True])
def test_evidence_from_the_description_is_true_and_no_place(memory: bool) -> None:
    model = always(reply(DESCRIPTION.criteria, kept=answer("fail", [CLAIM])))
    made = story_judge(model, **({"memory": Notebook()} if memory else {}))
    for _ in range(2):
        judgment = made.judge(context(SMALL, **STORY))
        assert judgment.status is Status.FAIL
        (check,) = judgment.failed_checks
        assert (check.location, check.evidence) == (None, CLAIM["quote"])
    assert len(model.asked) == (1 if memory else 2)


def test_a_claim_that_is_not_there_is_dropped() -> None:
    model = always(
        reply(DESCRIPTION.criteria, kept=answer("fail", [{**CLAIM, "quote": "Now it flies."}]))
    )
    judgment = story_judge(model).judge(context(SMALL, **STORY))
    assert (judgment.status, judgment.label) == (Status.ABSTAIN, "no_opinion")
    assert judgment.metadata["review"]["dropped"]["no_quote"] == 1


@pytest.mark.parametrize("memory", [False, True])
def test_a_file_that_is_called_like_the_description_hides_nothing(memory: bool) -> None:
    evil = changed("description", "+evil()", "+x = 1")
    first = {**CLAIM, "line": 1, "end_line": 1}
    found = {**first, "path": "description", "quote": "evil()"}
    claim = {**first, "quote": "Nothing"}
    model = always(
        reply(DESCRIPTION.criteria, told=answer("fail", [found]), kept=answer("fail", [claim]))
    )
    made = story_judge(model, **({"memory": Notebook()} if memory else {}))
    for _ in range(2):
        judgment = made.judge(context(evil, title="Nothing"))
        assert judgment.metadata["review"]["dropped"]["no_quote"] == 0
        kept, told = judgment.failed_checks
        assert (kept.location, str(told.location)) == (None, "description:1")


def test_a_description_that_leaves_no_room_is_not_asked_about() -> None:
    model = always(reply(DESCRIPTION.criteria), room=2_000)
    body = "\n".join(["many words of no use"] * 1_000)
    judgment = story_judge(model).judge(context(SMALL, title="T", body=body))
    assert (judgment.status, judgment.label) == (Status.ABSTAIN, "too_large")
    assert model.asked == []


def test_documentation_is_not_its_business() -> None:
    model = always(reply(DESCRIPTION.criteria))
    judgment = story_judge(model).judge(context(changed("README.md", "+x"), **STORY))
    assert judgment.label == "not_applicable"


# It lowers, and never lifts.


def tier(quality: str, story: str, voting: Any) -> Status:
    """What a tier of both comes to, as the registry seats them."""
    config = make_config(
        {
            "tiers": [
                {
                    "name": "quality",
                    "policy": "final_tier",
                    "advisory": False,
                    "voting": voting,
                    "judges": [{"quality": {"criteria": ["risk"]}}, DESCRIPTION.name],
                }
            ]
        }
    )
    model = always(lambda prompt: story if prompt.name.startswith(DESCRIPTION.name) else quality)
    cascade = seat_judges(config, ports(model), Unwanted({})).cascade
    return cascade.vote(context(SMALL, **STORY)).status


PRAISE = reply(DESCRIPTION.criteria)
REGRET = reply(DESCRIPTION.criteria, kept=answer("fail", [CLAIM]), told=answer("fail", [CLAIM]))
GOOD, BAD = reply(["risk"]), reply(["risk"], risk=answer("fail", [quote()]))
MEAN = {"weighted_average": {"threshold": 0.5}}


@pytest.mark.parametrize("voting", ["majority", "consensus", "median", MEAN])
def test_praise_lifts_no_tier(voting: Any) -> None:
    assert tier(BAD, PRAISE, voting) is Status.FAIL
    assert tier(GOOD, PRAISE, voting) is Status.PASS


@pytest.mark.parametrize("voting", ["majority", "consensus", {"average": {"threshold": 0.7}}])
def test_a_claim_that_is_not_kept_lowers_it(voting: Any) -> None:
    assert tier(GOOD, REGRET, voting) is Status.FAIL
