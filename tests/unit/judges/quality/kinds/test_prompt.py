from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fakes.llm import SMALL, alone, always, answer, context, ports, quote, reply
from prjury.errors import ConfigError
from prjury.judges.quality.judge import ModelBackedJudge
from prjury.judges.quality.kinds import make_prompt as make
from prjury.jury.judgment import Status
from prjury.policy.load import read_options
from prjury.policy.tiers import PromptOptions
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
    return alone(make(chosen or options(), ports(model, **more)))


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
    assert make(options(**SAYS, sees_description=True), ports()).lowers_only
    assert not make(options(), ports()).lowers_only
