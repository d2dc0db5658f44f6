"""Pull requests, models that say what they are told to, and judges that ask them."""

from __future__ import annotations

import inspect
import itertools
import json
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from msgspec import structs

from fakes.repository import FakeRepository, Files
from prjury.deadline import Deadline
from prjury.errors import CannotJudgeError
from prjury.judges.context import PullRequestContext
from prjury.judges.quality import kinds
from prjury.judges.quality.interview import CallContext
from prjury.judges.quality.judge import ModelBackedJudge
from prjury.judges.quality.model_seat import ModelSeat
from prjury.jury.judgment import Judgment
from prjury.policy.tiers import QualityOptions
from prjury.ports import ChatModel, Memory, NoMemory, Panel, Ports, Progress, Shell
from prjury.ports.messages import Prompt, Reply
from prjury.report.sanitise import Redact, Redactor
from prjury.snapshot.kinds import kind_of
from prjury.snapshot.model import FileChange, FileStatus, Hunk, Line, MergeTrial, PullRequest, Side

FOUR = ("correctness", "tests", "conventions", "risk")
BASE = "a" * 40
MISSING = "no model key is set"


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


def long_file(path: str, lines: int, start: int = 1) -> FileChange:
    """A file of so many added lines, of about 45 characters of a prompt each."""
    return changed(path, *(f"+line {i:04d} of {path}" for i in range(lines)), start=start)


def pull(*files: FileChange, **more: Any) -> PullRequest:
    side = Side("main", BASE)
    request = PullRequest("o/r", side, Side("topic", "b" * 40), "c" * 40, MergeTrial("d" * 40))
    return structs.replace(request, files=files, **more)


def context(*files: FileChange, seconds: float = 60, **more: Any) -> PullRequestContext:
    request = pull(*files, **more)
    return PullRequestContext(request.title, pull=request, deadline=Deadline.after(seconds))


SMALL = changed("src/app.py", " def add(a, b):", "-    return a - b", "+    return a + b")


def quote(
    path: str = "src/app.py", line: int = 2, text: str = "return a + b", **more: Any
) -> dict[str, Any]:
    """A finding about a line."""
    place = {"path": path, "side": "new", "line": line, "end_line": line, "quote": text}
    words = {"claim": "It adds where it should not.", "severity": "error", "category": "logic"}
    return {**place, **words, "suggestion": "", **more}


def answer(
    verdict: str = "pass", findings: Iterable[Mapping[str, Any]] = (), confidence: float = 0.9
) -> dict[str, Any]:
    return {
        "findings": list(findings),
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
INVENTED = answer("fail", [quote(text="os.system(user)")])

Said = str | CannotJudgeError | Callable[[Prompt], str]


@dataclass
class Talker:
    """A model that says what it is told to say, and keeps what it was asked."""

    says: Iterable[Said]
    name: str = "test:talker"
    options: str = ""
    room: int = 30_000
    asked: list[Prompt] = field(default_factory=list)
    deadlines: list[Deadline] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._next = iter(self.says)
        self._lock = threading.Lock()

    @property
    def identity(self) -> str:
        return f"{self.name} {self.options}"

    def price(self, input_tokens: int, output_tokens: int) -> float | None:
        return (input_tokens + output_tokens) / 100_000

    def ask(self, prompt: Prompt, deadline: Deadline) -> Reply:
        with self._lock:
            self.asked.append(prompt)
            self.deadlines.append(deadline)
            said = next(self._next)
        if isinstance(said, CannotJudgeError):
            raise said
        text = said if isinstance(said, str) else said(prompt)
        return Reply(text, "talker-1", 1000, 50, 0.01)


def always(said: Said, name: str = "test:talker", **more: Any) -> Talker:
    return Talker(itertools.repeat(said), name, **more)


def room_for(chunks: int, *files: FileChange) -> int:
    """The most tokens in which these files need so many sheets."""
    case, _ = judge(always("")).prepare_case(context(*files))
    assert not isinstance(case, Judgment)
    model_seats = (ModelSeat(always("", room=room), CallContext()) for room in range(5_000, 0, -1))
    return next(j.model.room for j in model_seats if len(j.plan(case).chunks) == chunks)


def material(prompt: Prompt) -> dict[str, Any]:
    """What stands under the nonce."""
    value: dict[str, Any] = json.loads(prompt.user)[prompt.nonces[0]]
    return value


def told(line: str) -> list[Any]:
    """Side, number, sign and text of a line as it stands in a prompt."""
    head, _, text = line.partition("|")
    return ["old" if head[0] == "-" else "new", int(head[1:]), head[0], text]


def paths_of(prompt: Prompt) -> tuple[str, ...]:
    """The files on the sheet that a prompt is about."""
    return tuple(file["path"] for file in material(prompt)["files"])


def first_quote(prompt: Prompt, of: str = "files") -> dict[str, Any]:
    """A true quote of the first line of the first file, or document, that is shown."""
    shown = material(prompt)[of][0]
    side, line, _, text = told(shown["hunks"][0]["lines"][0])
    return quote(shown["path"], line, text, side=side)


def words() -> Callable[[], str]:
    """Random words that are none: 1, 2, 3, …; the second one is the first question's canary."""
    count = itertools.count(1)
    return lambda: f"{next(count):032x}"


@dataclass
class Notebook:
    """A memory in a dictionary."""

    kept: dict[str, str] = field(default_factory=dict)

    def recall(self, key: str) -> str | None:
        return self.kept.get(key)

    def keep(self, key: str, value: str) -> None:
        self.kept[key] = value


@dataclass(frozen=True)
class Roster:
    """Models that are there whatever is wished for."""

    seated: Panel

    def panel(self, judge_spec: str = "auto") -> Panel:
        return self.seated


def ports(
    *models: ChatModel,
    redact: Redact = Redactor(),  # noqa: B008 - frozen
    memory: Memory = NoMemory(),  # noqa: B008 - it holds nothing
    files: Files | None = None,
    modes: Mapping[str, str] | None = None,
    **panel: Any,
) -> Ports:
    """The doors to these models and to a repository whose base holds these files."""
    closed: Any = None
    return Ports(
        FakeRepository({BASE: dict(files or {})}, dict(modes or {})),
        cast("Shell", closed),
        cast("Progress", closed),
        Roster(Panel(models, MISSING, **panel)),
        memory,
        redact=redact,
    )


def alone(judge: ModelBackedJudge[PullRequestContext]) -> ModelBackedJudge[PullRequestContext]:
    """The judge, asking one after the other, with words that can be told beforehand."""
    return replace(judge, word=words(), parallel=False)


_OF_DOORS = frozenset(inspect.signature(ports).parameters) | {
    "chair",
    "confidence",
    "rounds",
    "trigger",
    "passes",
    "confirm",
}


def judge(
    models: ChatModel | Sequence[ChatModel] | None, **options: Any
) -> ModelBackedJudge[PullRequestContext]:
    """A judge of quality; what is no option of its own belongs to `ports` or the panel."""
    listed = models if isinstance(models, Sequence) else [models]
    outside = {name: options.pop(name) for name in list(options) if name in _OF_DOORS}
    seated = [model for model in listed if model is not None]
    return alone(kinds.make_quality(QualityOptions(**options), ports(*seated, **outside)))
