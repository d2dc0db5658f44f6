from __future__ import annotations

import asyncio
import concurrent.futures
import subprocess
import time
from datetime import timedelta
from types import SimpleNamespace as Thing
from typing import NoReturn

import pytest

from prjury.errors import CannotJudgeError
from prjury.jury.context import ExecutionStatus
from prjury.jury.library.execution import (
    Execution,
    document_text,
    list_document_texts,
    output_of,
    perform,
    wait_for_reply,
)


def raising(crash: BaseException) -> Execution[object]:
    def work() -> NoReturn:
        raise crash

    return perform(work)


def slowly() -> list[str]:
    time.sleep(0.02)
    return ["a"]


def test_what_has_to_be_waited_for_is_waited_for() -> None:
    async def work() -> str:
        await asyncio.sleep(0.02)
        return "done"

    done = perform(work)
    assert (done.result, done.status) == ("done", ExecutionStatus.SUCCESS)
    assert done.elapsed > timedelta(milliseconds=19)
    assert wait_for_reply(work()) == "done"
    assert wait_for_reply("as it is") == "as it is"


class ReadTimeout(Exception):  # noqa: N818 - clients name theirs like this
    pass


class Slow(ReadTimeout):
    pass


@pytest.mark.parametrize(
    ("crash", "status", "error"),
    [
        (ValueError("no"), ExecutionStatus.FAILED, "ValueError: no"),
        (KeyError("k"), ExecutionStatus.FAILED, "KeyError: 'k'"),
        (ValueError("\udcff"), ExecutionStatus.FAILED, "ValueError: \\udcff"),
        (StopIteration(), ExecutionStatus.FAILED, "StopIteration"),
        (TimeoutError("late"), ExecutionStatus.TIMEOUT, "TimeoutError: late"),
        (Slow("late"), ExecutionStatus.TIMEOUT, f"{__name__}.Slow: late"),
        (
            subprocess.TimeoutExpired("agent", 3),
            ExecutionStatus.TIMEOUT,
            "subprocess.TimeoutExpired: Command 'agent' timed out after 3 seconds",
        ),
        (
            asyncio.CancelledError("stop"),
            ExecutionStatus.CANCELLED,
            "asyncio.exceptions.CancelledError: stop",
        ),
        (
            concurrent.futures.CancelledError(),
            ExecutionStatus.CANCELLED,
            "concurrent.futures._base.CancelledError",
        ),
    ],
)
def test_what_is_raised_is_told(crash: BaseException, status: ExecutionStatus, error: str) -> None:
    done = raising(crash)
    assert (done.result, done.status, done.error) == (None, status, error)
    assert done.reason is None
    assert done.elapsed >= timedelta(0)


def test_a_group_of_one_is_told_as_what_it_holds() -> None:
    async def work() -> str:
        async with asyncio.TaskGroup() as group:
            group.create_task(late())
        return "never"

    async def late() -> None:
        raise TimeoutError("late")

    done = perform(work)
    assert (done.status, done.error) == (ExecutionStatus.TIMEOUT, "TimeoutError: late")
    several = raising(ExceptionGroup("both", [TimeoutError("late"), ValueError("no")]))
    assert several.status is ExecutionStatus.FAILED
    assert several.error == "ExceptionGroup: both (2 sub-exceptions)"
    inner = ExceptionGroup("a", [CannotJudgeError("No money", reason="budget")])
    assert raising(ExceptionGroup("b", [inner])).reason == "budget"


@pytest.mark.parametrize("crash", [KeyboardInterrupt(), SystemExit(3), GeneratorExit()])
def test_the_users_own_end_goes_on(crash: BaseException) -> None:
    with pytest.raises(type(crash)) as raised:
        raising(crash)
    assert raised.value is crash


@pytest.mark.parametrize(
    ("document", "text"),
    [
        ("plain", "plain"),
        ({"text": "a"}, "a"),
        ({"page_content": "b", "text": 3}, "b"),
        (Thing(page_content="c"), "c"),
        ({"title": "d"}, None),
        (Thing(title="e"), None),
        (7, None),
    ],
)
def test_the_text_of_a_document(document: object, text: str | None) -> None:
    assert document_text(document) == text


@pytest.mark.parametrize(
    ("blocks", "text"),
    [
        ([{"type": "text", "text": "a"}, {"text": "b"}], "ab"),
        ([Thing(text="c"), "d"], "cd"),
        ([{"text": "e"}, {"image": "f"}], '[{"text": "e"}, {"image": "f"}]'),
        ([{"text": 3}], '[{"text": 3}]'),
    ],
)
def test_a_reply_in_blocks(blocks: list[object], text: str) -> None:
    assert output_of(Thing(content=blocks)) == text


@pytest.mark.parametrize(
    ("response", "texts"),
    [
        ({"documents": ["a", {"text": "b"}]}, ["a", "b"]),
        ({"documents": [], "context": "c"}, ["c"]),
        ({"source_documents": [Thing(page_content="d")]}, ["d"]),
        (Thing(source_nodes=[Thing(text="e")]), ["e"]),
        (Thing(source_nodes=None, documents=["f"]), ["f"]),
        ({"documents": ["a", {"title": "b"}]}, []),
        ({"documents": 7}, []),
        ({"source_nodes": ["g"]}, []),
        ("text", []),
    ],
)
def test_the_documents_of_a_response(response: object, texts: list[str]) -> None:
    assert list_document_texts(response) == texts
