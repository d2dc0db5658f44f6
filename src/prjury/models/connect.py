"""From a choice to the model itself."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from prjury.deadline import Deadline
from prjury.errors import UsageError
from prjury.models.choose import ModelChoice
from prjury.models.wrappers import (
    Budget,
    BudgetedModel,
    BusyError,
    RateLimit,
    RateLimitedModel,
    RetryingModel,
    SchemaRefusedError,
    not_installed,
)
from prjury.ports import ChatModel
from prjury.ports.messages import ModelError, ModelReason, Prompt, Reply, UnsentError

if TYPE_CHECKING:
    from prjury.models.wire import Mode

#: The prompt of the entries that answer whatever has no entry of its own.
_ANY = "*"
_ROOM = 30_000


class ScriptedAnswer(BaseModel):
    """One recorded answer, or the way in which no answer came.

    Attributes:
        prompt: which prompt it answers: its `Prompt.sha256`, its name with or without the version
            (``quality/1``, ``quality``), or ``*`` for every other one.
        text: the reply as it came; a JSON value instead of a string is written out as JSON.
        error: the reason of the `ModelError` to raise instead.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    prompt: str = Field(_ANY, min_length=1)
    text: Any = None
    error: ModelReason | None = None
    model: str | None = None
    input_tokens: int = Field(0, ge=0)
    output_tokens: int = Field(0, ge=0)
    usd: float | None = Field(None, ge=0.0, allow_inf_nan=False)

    def reply(self, name: str) -> Reply:
        """The reply of the model that goes by this name unless the entry knows better."""
        text = self.text if isinstance(self.text, str) else json.dumps(self.text)
        return Reply(text, self.model or name, self.input_tokens, self.output_tokens, self.usd)


_ENTRIES = TypeAdapter(list[ScriptedAnswer])


class ScriptedModel:
    """Answers from a script: each entry once and in order; the last ``*`` entry stays for ever."""

    def __init__(
        self,
        entries: Iterable[ScriptedAnswer | Mapping[str, Any]],
        name: str = "scripted",
        room: int = _ROOM,
    ) -> None:
        self._entries = _ENTRIES.validate_python(list(entries))
        self.name = name
        self.room = room
        digest = hashlib.sha256(_ENTRIES.dump_json(self._entries)).hexdigest()
        self.identity = f"{name} {digest}"
        self._lock = threading.Lock()

    @classmethod
    def from_file(cls, path: Path, room: int = _ROOM) -> ScriptedModel:
        """The script in a file: a JSON list of entries, one JSON object, or one object per line.

        Raises:
            UsageError: when the file cannot be read or is no script.
        """
        try:
            return cls(_read(path.read_text(encoding="utf-8")), f"scripted:{path.name}", room)
        except OSError as error:
            what = f"The script {path} cannot be read: {error.strerror}"
            raise UsageError(what, remedy="Check --model scripted:FILE") from error
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(map(str, first["loc"])) or "the file"
            what = f"The script {path} is not valid: {place}: {first['msg']}"
            raise UsageError(what, remedy=_SHAPE) from error
        except ValueError as error:
            raise UsageError(f"The script {path} is not JSON or JSONL", remedy=_SHAPE) from error

    def price(self, input_tokens: int, output_tokens: int) -> float | None:  # noqa: ARG002
        """Nothing: what was recorded is paid for."""
        return 0.0

    def ask(self, prompt: Prompt, deadline: Deadline) -> Reply:  # noqa: ARG002 - it takes no time
        """The next recorded answer to this prompt.

        Raises:
            ModelError: when the entry says so, or when no entry is left.
        """
        entry = self._next(prompt)
        if entry is None:
            raise ModelError(
                f"The script holds no further answer to the prompt {prompt.name}",
                "provider_error",
                remedy=f"Record one for {prompt.sha256} or add an entry for {_ANY}",
                spent=Reply("", self.name, usd=0.0),
            )
        if entry.error:
            spent = entry.reply(self.name)
            raise ModelError(f"The script says {entry.error}", entry.error, spent=spent)
        return entry.reply(self.name)

    def _next(self, prompt: Prompt) -> ScriptedAnswer | None:
        names = (prompt.sha256, prompt.name, prompt.name.partition("/")[0], _ANY)
        with self._lock:
            for name in names:
                places = [i for i, entry in enumerate(self._entries) if entry.prompt == name]
                if places and name == _ANY and len(places) == 1:
                    return self._entries[places[0]]
                if places:
                    return self._entries.pop(places[0])
        return None


class AnswerFile:
    """Keeps what models answer as a script for `ScriptedModel`, and replaces a file of that name.

    Raises:
        UsageError: for a file that cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._write(b"", os.O_TRUNC)
        except OSError as error:
            what = f"--record {path} cannot be written: {error.strerror}"
            raise UsageError(what, remedy="Name a file in a directory that exists") from error

    def keep(self, prompt: Prompt, got: Reply | None, reason: str | None) -> None:
        """Add an answer, or the reason why there is none."""
        spent = got or Reply("", "")
        entry = ScriptedAnswer.model_validate(
            {
                "prompt": prompt.sha256,
                "text": None if reason else spent.text,
                "error": reason,
                "model": spent.model or None,
                "input_tokens": spent.input_tokens,
                "output_tokens": spent.output_tokens,
                "usd": spent.usd,
            }
        )
        line = json.dumps(entry.model_dump(exclude_none=True))
        self._write(f"{line}\n".encode(), os.O_APPEND)

    def _write(self, content: bytes, how: int) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | how
        with os.fdopen(os.open(self._path, flags, 0o600), "wb") as file:
            file.write(content)


_SHAPE = (
    'Write entries such as {"prompt": "quality", "text": "..."}; '
    f"an error is one of {', '.join(get_args(ModelReason))}"
)


def _read(text: str) -> list[Any]:
    try:
        value = json.loads(text)
    except json.JSONDecodeError:
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    return value if isinstance(value, list) else [value]


class ChosenModel:
    """Goes by its choice; how it is asked, and what that costs, is what differs."""

    def __init__(self, choice: ModelChoice) -> None:
        self._choice = choice
        self.name = str(choice)
        self.identity = choice.identity
        self.room = choice.room


#: The status of a server that did not expect what it was sent.
_BROKEN = 500


class HostedModel(ChosenModel):
    """Asks with a JSON Schema that binds, and in plain JSON mode where the server takes none.

    It asks once; see `RetryingModel` for servers that are busy.
    """

    def __init__(self, choice: ModelChoice) -> None:
        super().__init__(choice)
        self._mode: Mode = "schema"
        self._answered = False

    def price(self, input_tokens: int, output_tokens: int) -> float | None:
        """US dollars for so many tokens; None where the price is not known."""
        try:
            from prjury.models.wire import price  # noqa: PLC0415 - heavy and optional
        except ImportError:
            return None
        return price(self._choice, input_tokens, output_tokens)

    def ask(self, prompt: Prompt, deadline: Deadline) -> Reply:
        """The reply, within the deadline and within the choice's own time for one call.

        Raises:
            BusyError: when asking again later may help.
            ModelError: when there is no reply in time, or none that may be read as an answer.
        """
        until = deadline.within(self._choice.timeout)
        try:
            reply = self._ask_once(prompt, self._mode, until)
        except SchemaRefusedError:
            # Asked without it the server may still object, but then to something else.
            reply = self._ask_once(prompt, "json", until)
            self._mode = "json"
        except BusyError as busy:
            self._turn(busy)
            raise
        self._answered = True
        return reply

    def _turn(self, busy: BusyError) -> None:
        """Has the next try go the other way: some servers break at a schema instead of refusing."""
        own_server = self._choice.base_url is not None
        if own_server and not self._answered and busy.status == _BROKEN:
            self._mode = "json" if self._mode == "schema" else "schema"

    def _ask_once(self, prompt: Prompt, mode: Mode, deadline: Deadline) -> Reply:
        try:
            from prjury.models.wire import converse  # noqa: PLC0415 - heavy and optional
        except ImportError:
            raise not_installed(self._choice.provider) from None
        # Looked at last: to load the client takes seconds.
        if not deadline.remaining:
            raise UnsentError("There is no time left to ask the model", "timeout")
        return converse(self._choice, prompt, mode, deadline)


_NOTHING: Mapping[str, str] = {}


def connect(
    choice: ModelChoice,
    environ: Mapping[str, str] = _NOTHING,
    *,
    budget: Budget | None = None,
    pace: RateLimit | None = None,
) -> ChatModel:
    """The model that was chosen. Nothing is contacted and no client is loaded before it is asked.

    Each try of a hosted model waits for its turn and is counted; the pauses between them hold up
    nobody else.

    Args:
        choice: which model.
        environ: what a command may see of the operator's environment.
        budget: what may be spent; without one nothing is counted.
        pace: how fast it is asked; without one as fast as anybody asks.

    Raises:
        UsageError: when it is a script that cannot be read.
    """
    model = _bare(choice, environ)
    if budget is not None:
        model = BudgetedModel(model, budget, choice.max_output_tokens)
    if choice.provider == "scripted":
        return model
    if pace is not None:
        model = RateLimitedModel(model, pace)
    return RetryingModel(model)


def _bare(choice: ModelChoice, environ: Mapping[str, str]) -> ChatModel:
    if choice.provider == "scripted":
        return ScriptedModel.from_file(Path(choice.name), choice.room)
    if choice.provider == "command":
        from prjury.models.command import CommandModel  # noqa: PLC0415 - only where it is needed

        return CommandModel(choice, environ)
    return HostedModel(choice)
