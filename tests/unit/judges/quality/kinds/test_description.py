from __future__ import annotations

from typing import Any

import pytest

from fakes.llm import SMALL, Notebook, alone, always, answer, changed, context, ports, quote, reply
from prjury.app.registry import Unwanted, seat
from prjury.judges.quality.judge import ModelBackedJudge
from prjury.judges.quality.kinds import DESCRIPTION
from prjury.judges.quality.kinds import make_description as make
from prjury.jury.judgment import Status
from prjury.policy.load import make_config
from prjury.policy.tiers import QuestionOptions
from prjury.ports import ChatModel

STORY: dict[str, Any] = {
    "title": "Repair add",
    "body": "It subtracted.\n\nNow it adds; also faster.",
}
CLAIM = quote("/description", 5, "Now it adds; also faster.")


def story_judge(model: ChatModel, **more: Any) -> ModelBackedJudge[Any]:
    return alone(make(QuestionOptions(), ports(model, **more)))


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
    cascade = seat(config, ports(model), Unwanted({})).cascade
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
