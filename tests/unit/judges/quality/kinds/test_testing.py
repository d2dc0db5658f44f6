from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from fakes.llm import SMALL, alone, always, answer, changed, context, paths_of, ports, quote, reply
from prjury.judges.quality.judge import ModelBackedJudge
from prjury.judges.quality.kinds import TESTS
from prjury.judges.quality.kinds import make_tests as make
from prjury.jury.judgment import Status
from prjury.policy.tiers import QuestionOptions
from prjury.ports import ChatModel

TEST = changed("tests/test_app.py", "+def test_add():", "+    assert add(1, 2) == 3")


def judge_of_tests(model: ChatModel, **more: Any) -> ModelBackedJudge[Any]:
    return alone(make(QuestionOptions(), ports(model, **more)))


@pytest.mark.parametrize(
    "files",
    [
        (SMALL,),
        (SMALL, changed("tests/test_app.py", "-def test_add():")),
        (SMALL, changed("README.md", "+assert")),
        (changed("README.md", "+more"),),
        (),
    ],
    ids=["source alone", "a test less", "docs", "docs alone", "nothing"],
)
def test_without_a_new_line_of_a_test_nobody_is_asked(files: tuple[Any, ...]) -> None:
    model = always(reply(TESTS.criteria))
    judgment = judge_of_tests(model).judge(context(*files))
    assert (judgment.status, judgment.label) == (Status.ABSTAIN, "not_applicable")
    assert model.asked == []


def test_it_sees_source_and_tests_and_nothing_else() -> None:
    others = [changed(path, "+x") for path in ("pom.xml", "README.md", "a.min.js", "uv.lock")]
    model = always(reply(TESTS.criteria))
    judgment = judge_of_tests(model).judge(context(*others, TEST, SMALL))
    assert paths_of(model.asked[0]) == ("src/app.py", "tests/test_app.py")
    for path in ("pom.xml", "README.md", "uv.lock"):
        assert path not in model.asked[0].user
    assert judgment.metadata["scope"] == {
        "read": ("src/app.py", "tests/test_app.py"),
        "unread": (),
    }


def test_a_test_that_cannot_be_read_is_no_reason_to_be_silent() -> None:
    unread = replace(changed("tests/test_app.py"), unread="larger than 1 MiB")
    judgment = judge_of_tests(always(reply(TESTS.criteria))).judge(context(SMALL, unread))
    assert judgment.metadata["scope"]["unread"] == (
        {"path": "tests/test_app.py", "reason": "larger than 1 MiB"},
    )


def test_a_test_that_proves_nothing_fails() -> None:
    def said(prompt: Any) -> str:
        quoted = quote("tests/test_app.py", 1, "def test_add():")
        return reply(TESTS.criteria, would_fail=answer("fail", [quoted]))

    judgment = judge_of_tests(always(said)).judge(context(SMALL, TEST))
    assert judgment.status is Status.FAIL
    assert str(judgment.failed_checks[0].location) == "tests/test_app.py:1"
