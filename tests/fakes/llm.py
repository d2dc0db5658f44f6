"""Pull requests and replies for tests of the quality judge."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from prjury.config.schema import QualityOptions
from prjury.deadline import Deadline
from prjury.dialogue import Prompt, Reply
from prjury.errors import CannotJudgeError
from prjury.judges.context import PullRequestContext
from prjury.judges.llm.criteria import chosen
from prjury.judges.llm.judge import QualityJudge
from prjury.ports import ChatModel
from prjury.pull.kinds import kind_of
from prjury.pull.model import (
    FileChange,
    FileStatus,
    Hunk,
    Line,
    MergeTrial,
    PullRequest,
    Side,
)
from prjury.report.redact import Redact, Redactor

FOUR = ("correctness", "tests", "conventions", "risk")


def hunk(*texts: str, start: int = 1) -> Hunk:
    """A hunk of diff lines with their signs: ``"+added"``, ``"-removed"``, ``" context"``."""
    old, new = start, start
    lines = []
    for text in texts:
        sign, content = text[0], text[1:]
        lines.append(
            Line(sign, old if sign in " -" else None, new if sign in " +" else None, content)
        )
        old += sign in " -"
        new += sign in " +"
    return Hunk(start, old - start, start, new - start, "", tuple(lines))


def changed(path: str, *texts: str, start: int = 1) -> FileChange:
    hunks = (hunk(*texts, start=start),) if texts else ()
    added = sum(text.startswith("+") for text in texts)
    return FileChange(path, FileStatus.MODIFIED, kind_of(path), added, hunks=hunks)


def pull(*files: FileChange, **more: Any) -> PullRequest:
    side = Side("main", "a" * 40)
    request = PullRequest("o/r", side, Side("topic", "b" * 40), "c" * 40, MergeTrial("d" * 40))
    return replace(request, files=files, **more)


def context(*files: FileChange, seconds: float = 60, **more: Any) -> PullRequestContext:
    request = pull(*files, **more)
    return PullRequestContext(request.title, pull=request, deadline=Deadline.after(seconds))


SMALL = changed("src/app.py", " def add(a, b):", "-    return a - b", "+    return a + b")


def quote(path: str = "src/app.py", line: int = 2, text: str = "return a + b") -> dict[str, Any]:
    return {"path": path, "side": "new", "line": line, "end_line": line, "quote": text}


def answer(
    verdict: str = "pass", evidence: Iterable[Mapping[str, Any]] = (), confidence: float = 0.9
) -> dict[str, Any]:
    return {
        "evidence": list(evidence),
        "reasoning": f"because it is {verdict}",
        "verdict": verdict,
        "confidence": confidence,
    }


def document(names: Iterable[str] = FOUR, **answers: Any) -> dict[str, Any]:
    """A reply in which every criterion passes unless told otherwise."""
    return {"criteria": {name: answers.get(name, answer()) for name in names}}


def reply(names: Iterable[str] = FOUR, **answers: Any) -> str:
    return json.dumps(document(names, **answers))


FAILING = answer("fail", [quote()])


@dataclass
class Talker:
    """A model that says what it is told to say, and keeps what it was asked."""

    says: Iterable[str | CannotJudgeError | Callable[[Prompt], str]]
    name: str = "test:talker"
    asked: list[Prompt] = field(default_factory=list)
    deadlines: list[Deadline] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._next = iter(self.says)

    def ask(self, prompt: Prompt, deadline: Deadline) -> Reply:
        self.asked.append(prompt)
        self.deadlines.append(deadline)
        said = next(self._next)
        if isinstance(said, CannotJudgeError):
            raise said
        text = said if isinstance(said, str) else said(prompt)
        return Reply(text, "talker-1", 1000, 50, 0.01)


def always(text: str) -> Talker:
    return Talker(itertools.repeat(text))


def words() -> Callable[[], str]:
    count = itertools.count(1)
    return lambda: f"{next(count):032x}"


def judge(
    model: ChatModel | None,
    redact: Redact = Redactor(),  # noqa: B008 - frozen
    budget: int = 30_000,
    **options: Any,
) -> QualityJudge:
    chosen_options = QualityOptions(**options)
    return QualityJudge(
        chosen(chosen_options),
        chosen_options.threshold,
        chosen_options.runs,
        model,
        "no model key is set",
        redact,
        budget,
        words(),
    )
