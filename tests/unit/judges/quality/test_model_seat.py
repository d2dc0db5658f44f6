"""Changes that need several sheets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from fakes.llm import (
    always,
    answer,
    context,
    first_quote,
    judge,
    long_file,
    paths_of,
    quote,
    reply,
    room_for,
)
from prjury.jury.judgment import Status
from prjury.ports.messages import ModelError, Prompt

FILES = (long_file("src/a.py", 15), long_file("src/b.py", 15), long_file("tests/test_c.py", 15))
#: Tokens in which any one of these files finds room, and no two.
ROOM = room_for(3, *FILES)


def by_path(**said: str | ModelError) -> Callable[[Prompt], str]:
    """Answers by the letter of the file that is shown first; the others pass."""

    def answers(prompt: Prompt) -> str:
        name = paths_of(prompt)[0].rpartition("/")[2].removeprefix("test_")[0]
        found = said.get(name, reply())
        if isinstance(found, ModelError):
            raise found
        return found

    return answers


def failing(prompt: Prompt) -> str:
    """Fails two of four criteria, with a quote of what is shown."""
    evidence = answer("fail", [first_quote(prompt)])
    return reply(risk=evidence, tests=evidence)


def fails_at(path: str) -> Callable[[Prompt], str]:
    return lambda prompt: failing(prompt) if path in paths_of(prompt) else reply()


@pytest.mark.parametrize("at", range(3))
def test_a_failure_on_one_sheet_fails_the_criterion(at: int) -> None:
    judgment = judge(always(fails_at(FILES[at].path), room=ROOM)).judge(context(*FILES))
    assert judgment.status is Status.FAIL
    assert judgment.metadata["share"] == 0.5
    assert {str(check.location) for check in judgment.failed_checks} == {f"{FILES[at].path}:1"}


def test_a_pass_needs_every_answer() -> None:
    model = always(by_path(b=ModelError("no", "timeout")), room=ROOM)
    judgment = judge(model).judge(context(*FILES))
    assert (judgment.status, judgment.label) == (Status.ABSTAIN, "timeout")
    assert judgment.reasoning == "1 of 3 parts have no answer: no."
    assert judgment.metadata["sheets"] == {"asked": 3, "silent": 1}


def test_a_proven_failure_stands_whatever_is_not_answered() -> None:
    def said(prompt: Prompt) -> str:
        if "src/b.py" in paths_of(prompt):
            raise ModelError("no", "timeout")
        return failing(prompt)

    judgment = judge(always(said, room=ROOM)).judge(context(*FILES))
    assert judgment.status is Status.FAIL
    assert judgment.metadata["scope"] == {
        "read": ("src/a.py", "tests/test_c.py"),
        "unread": ({"path": "src/b.py", "reason": "no answer: timeout"},),
    }


def test_what_fails_and_does_not_suffice_is_told_beside_the_silence() -> None:
    def said(prompt: Prompt) -> str:
        if "src/b.py" in paths_of(prompt):
            raise ModelError("no", "timeout")
        return reply(risk=answer("fail", [first_quote(prompt)]))

    judgment = judge(always(said, room=ROOM), must=[]).judge(context(*FILES))
    assert judgment.status is Status.ABSTAIN
    assert {(check.name, check.severity) for check in judgment.failed_checks} == {
        ("risk", "warning")
    }


def test_a_file_of_which_one_part_has_no_answer_is_unread() -> None:
    calls: Iterator[int] = iter(range(100))

    def said(prompt: Prompt) -> str:
        if next(calls):
            raise ModelError("no", "timeout")
        return failing(prompt)

    judgment = judge(always(said, room=ROOM)).judge(context(long_file("src/a.py", 60)))
    assert judgment.status is Status.FAIL
    assert judgment.metadata["scope"]["read"] == ()


def test_a_leak_on_one_sheet_taints_all_whatever_else_is_proven() -> None:
    def said(prompt: Prompt) -> str:
        if "src/b.py" in paths_of(prompt):
            return f"{prompt.nonces[1]} {reply()}"
        return failing(prompt)

    judgment = judge(always(said, room=ROOM)).judge(context(*FILES))
    assert (judgment.status, judgment.label) == (Status.ABSTAIN, "tainted")
    assert judgment.failed_checks == ()


def test_what_stands_on_another_sheet_cannot_be_quoted() -> None:
    first: list[dict[str, object]] = []

    def said(prompt: Prompt) -> str:
        first.append(first_quote(prompt))
        return reply(["risk"], risk=answer("fail", [first[0]]))

    judgment = judge(always(said, room=ROOM), criteria=["risk"]).judge(context(*FILES))
    assert judgment.metadata["review"]["dropped"]["no_quote"] == 2


def test_a_part_of_the_same_file_that_is_elsewhere_cannot_be_quoted() -> None:
    def said(prompt: Prompt) -> str:
        return reply(risk=answer("fail", [quote("src/a.py", 1, "line 0000 of src/a.py")]))

    judgment = judge(always(said, room=ROOM)).judge(context(long_file("src/a.py", 40)))
    chunks = judgment.metadata["sheets"]["asked"]
    assert judgment.metadata["review"]["dropped"]["no_quote"] == chunks - 1


def test_a_crash_on_one_sheet_is_an_error_of_the_judge() -> None:
    def said(prompt: Prompt) -> str:
        if "src/b.py" in paths_of(prompt):
            raise RuntimeError("boom")
        return reply()

    for parallel in (False, True):
        made = replace(judge(always(said, room=ROOM)), parallel=parallel)
        judgment = made.judge(context(*FILES))
        assert (judgment.status, judgment.metadata["reason"]) == (Status.ERROR, "crashed")
