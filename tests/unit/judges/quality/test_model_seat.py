"""Changes that need several sheets."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.llm import (
    FAILING,
    FOUR,
    SMALL,
    Said,
    Talker,
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
from prjury.jury.judgment import Judgment, Status
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


PASSING, HALF = reply(), reply(tests=FAILING, risk=FAILING)
SILENT = ModelError("no", "timeout")


def boom(prompt: Prompt) -> str:
    raise RuntimeError("boom")


def decided(*said: Said) -> Judgment:
    """What models come to that each say one thing."""
    models = [always(what, f"test:m{at}") for at, what in enumerate(said)]
    return judge(models).judge(context(SMALL))


def leak(prompt: Prompt) -> str:
    return reply(risk={**answer(), "reasoning": prompt.nonces[1]})


@pytest.mark.parametrize("at", range(3))
def test_one_seat_that_is_steered_is_enough_not_to_approve(at: int) -> None:
    said: list[Said] = [PASSING] * 3
    said[at] = leak
    judgment = decided(*said)
    assert (judgment.status, judgment.label) == (Status.ABSTAIN, "tainted")


def test_one_leak_taints_all_runs() -> None:
    judgment = judge(Talker([PASSING, PASSING, leak]), runs=3).judge(context(SMALL))
    assert (judgment.status, judgment.label) == (Status.ABSTAIN, "tainted")


said: st.SearchStrategy[Said] = st.sampled_from([PASSING, HALF, SILENT, "no", boom, leak])


@given(st.lists(said, min_size=1, max_size=5))
def test_whatever_models_say_a_pass_has_a_majority_of_passes(them: list[Said]) -> None:
    judgment = decided(*them)
    if judgment.status is Status.PASS:
        assert them.count(PASSING) > them.count(HALF)
        assert (them.count(PASSING) + them.count(HALF)) * 2 > len(them)
        assert leak not in them


def test_a_seat_that_does_not_keep_to_its_time_has_not_answered() -> None:
    def sleeps(prompt: Prompt) -> str:
        threading.Event().wait(5)
        return PASSING

    made = replace(judge([always(sleeps)]), parallel=True)
    judgment = made.judge(context(SMALL, seconds=0.4))
    assert (judgment.status, judgment.label) == (Status.ABSTAIN, "timeout")
    assert judgment.reasoning == "The model did not answer in time"
    assert judgment.metadata["scope"]["read"] == ()


criteria = st.sets(st.sampled_from(FOUR), min_size=1).map(sorted)
verdicts = st.sampled_from(["pass", "fail", "abstain"])


@given(criteria, st.sets(st.sampled_from(FOUR)), st.floats(0, 1), st.data())
def test_no_majority_of_seats_that_fail_a_must_is_ever_passed_over(
    names: list[str], wanted: set[str], threshold: float, data: st.DataObject
) -> None:
    must = sorted(wanted & set(names))
    said = data.draw(
        st.lists(st.fixed_dictionaries(dict.fromkeys(names, verdicts)), min_size=1, max_size=4)
    )
    replies = [{name: answer(word, [quote()]) for name, word in them.items()} for them in said]
    models = [always(reply(names, **them), f"test:m{at}") for at, them in enumerate(replies)]
    judgment = judge(models, criteria=names, must=must, threshold=threshold).judge(context(SMALL))
    broken = [them for them in said if any(them[name] == "fail" for name in must)]
    if 2 * len(broken) >= len(said):
        assert judgment.status is not Status.PASS
    if 2 * len(broken) > len(said):
        assert (judgment.status, judgment.effective_score) == (Status.FAIL, 0.0)
        assert set(judgment.metadata["must_failed"]) <= set(must)
        assert judgment.metadata["must_failed"]
    for name in must if judgment.status is Status.PASS else ():
        assert judgment.metadata["criteria"][name]["verdict"] != "fail"
