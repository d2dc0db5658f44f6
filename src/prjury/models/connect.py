"""From a choice to the model itself."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, get_args

import msgspec
from msgspec import Meta
from msgspec.structs import asdict

from prjury.deadline import Deadline
from prjury.errors import UsageError
from prjury.models.choose import ChosenModel, ModelChoice
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
_SHAPE = (
    'Write entries such as {"prompt": "quality", "text": "..."}; '
    f"an error is one of {', '.join(get_args(ModelReason))}"
)


class ScriptedAnswer(Reply, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One recorded answer, or the way in which no answer came.

    Attributes:
        text: the reply as it came; a JSON value instead of a string is written out as JSON.
        prompt: which prompt it answers: its `Prompt.sha256`, its name with or without the version
            (``quality/1``, ``quality``), or ``*`` for every other one.
        error: the reason of the `ModelError` to raise instead.
    """

    text: Any = None
    model: str = ""
    prompt: Annotated[str, Meta(min_length=1)] = _ANY
    error: ModelReason | None = None

    def reply(self, name: str) -> Reply:
        """Return the reply of the model of this name, unless the entry knows better."""
        text = self.text if isinstance(self.text, str) else _encode(self.text).decode()
        return Reply(text, self.model or name, self.input_tokens, self.output_tokens, self.usd)


_encode = msgspec.json.encode


class ScriptedModel:
    """Answers from a script: each entry once and in order; the last ``*`` entry stays for ever."""

    def __init__(
        self,
        entries: Iterable[ScriptedAnswer | Mapping[str, Any]],
        name: str = "scripted",
        room: int = _ROOM,
    ) -> None:
        self._entries = msgspec.convert(list(entries), list[ScriptedAnswer])
        self.name, self.room = name, room
        self.identity = f"{name} {sha256(_encode(self._entries)).hexdigest()}"
        self._lock = threading.Lock()

    @classmethod
    def from_file(cls, path: Path, room: int = _ROOM) -> ScriptedModel:
        """Read a script: a JSON list of entries, or one JSON object per line."""
        try:
            content = path.read_bytes().strip()
            if content.startswith(b"["):
                entries = msgspec.json.decode(content, type=list[ScriptedAnswer])
            else:
                entries = msgspec.json.Decoder(ScriptedAnswer).decode_lines(content)
        except OSError as error:
            what = f"The script {path} cannot be read: {error.strerror}"
            raise UsageError(what, remedy="Check --model scripted:FILE") from error
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise UsageError(f"The script {path} is not valid: {error}", remedy=_SHAPE) from error
        return cls(entries, f"scripted:{path.name}", room)

    def price(self, input_tokens: int, output_tokens: int) -> float | None:  # noqa: ARG002
        """Return nothing: what was recorded is paid for."""
        return 0.0

    def ask(self, prompt: Prompt, deadline: Deadline) -> Reply:  # noqa: ARG002 - it takes no time
        """Return the next recorded answer to this prompt."""
        entry = self._take_entry(prompt)
        if entry is None:
            raise ModelError(
                f"The script holds no further answer to the prompt {prompt.name}",
                "provider_error",
                remedy=f"Record one for {prompt.sha256} or add an entry for {_ANY}",
                spent=Reply("", self.name, usd=0.0),
            )
        reply = entry.reply(self.name)
        if entry.error:
            raise ModelError(f"The script says {entry.error}", entry.error, spent=reply)
        return reply

    def _take_entry(self, prompt: Prompt) -> ScriptedAnswer | None:
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
            self._append(b"", os.O_TRUNC)
        except OSError as error:
            what = f"--record {path} cannot be written: {error.strerror}"
            raise UsageError(what, remedy="Name a file in a directory that exists") from error

    def keep(self, prompt: Prompt, got: Reply | None, reason: str | None) -> None:
        """Add an answer, or the reason why there is none."""
        spent = asdict(got or Reply("", ""))
        text = None if reason else spent["text"]
        values = {**spent, "prompt": prompt.sha256, "text": text, "error": reason}
        self._append(_encode(msgspec.convert(values, ScriptedAnswer)) + b"\n")

    def _append(self, content: bytes, how: int = os.O_APPEND) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | how
        with os.fdopen(os.open(self._path, flags, 0o600), "wb") as file:
            file.write(content)


#: The status of a server that did not expect what it was sent.
_BROKEN = 500


class HostedModel(ChosenModel):
    """Asks with a JSON Schema that binds, and in plain JSON mode where the server takes none."""

    def __init__(self, choice: ModelChoice) -> None:
        super().__init__(choice)
        self._mode: Mode = "schema"
        self._answered = False

    def price(self, input_tokens: int, output_tokens: int) -> float | None:
        """Return US dollars for so many tokens; None where the price is not known."""
        try:
            from prjury.models.wire import price  # noqa: PLC0415 - heavy and optional
        except ImportError:
            return None
        return price(self._choice, input_tokens, output_tokens)

    def ask(self, prompt: Prompt, deadline: Deadline) -> Reply:
        """Return the reply, within the deadline and the choice's own time for one call."""
        until = deadline.within(self._choice.timeout)
        try:
            reply = self._ask_once(prompt, self._mode, until)
        except SchemaRefusedError:
            # Asked without it the server may still object, but then to something else.
            reply = self._ask_once(prompt, "json", until)
            self._mode = "json"
        except BusyError as busy:
            # Some servers break at a schema instead of refusing it: the next try goes without.
            own_server = self._choice.base_url is not None
            if own_server and not self._answered and busy.status == _BROKEN:
                self._mode = "json" if self._mode == "schema" else "schema"
            raise
        self._answered = True
        return reply

    def _ask_once(self, prompt: Prompt, mode: Mode, deadline: Deadline) -> Reply:
        try:
            from prjury.models.wire import converse  # noqa: PLC0415 - heavy and optional
        except ImportError:
            raise not_installed(self._choice.provider) from None
        # Looked at last: to load the client takes seconds.
        if not deadline.remaining:
            raise UnsentError("There is no time left to ask the model", "timeout")
        return converse(self._choice, prompt, mode, deadline)


def connect(
    choice: ModelChoice,
    environ: Mapping[str, str] = MappingProxyType({}),
    *,
    budget: Budget | None = None,
    pace: RateLimit | None = None,
) -> ChatModel:
    """Return the model that was chosen; nothing is contacted or loaded before it is asked.

    Each try waits for its turn and is counted. A script that cannot be read is a UsageError.
    """
    model: ChatModel
    if choice.provider == "scripted":
        model = ScriptedModel.from_file(Path(choice.name), choice.room)
    elif choice.provider == "command":
        from prjury.models.command import CommandModel  # noqa: PLC0415 - only where it is needed

        model = CommandModel(choice, environ)
    else:
        model = HostedModel(choice)
    if budget is not None:
        model = BudgetedModel(model, budget, choice.max_output_tokens)
    if choice.provider == "scripted":
        return model
    return RetryingModel(model if pace is None else RateLimitedModel(model, pace))
