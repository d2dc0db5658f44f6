"""The models that the operator has: made of choices, and seated for each judge."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, get_args

import msgspec
from msgspec import Meta
from msgspec.structs import asdict, replace

from prjury.deadline import Deadline
from prjury.errors import ConfigError, UsageError
from prjury.models.choose import (
    AUTO,
    HOSTED,
    ChosenModel,
    MissingModel,
    ModelChoice,
    Provider,
    WantedModel,
    choose_model,
)
from prjury.models.wrappers import (
    Budget,
    BudgetedModel,
    BusyError,
    RateLimit,
    RateLimitedModel,
    RecordedModel,
    RetryingModel,
    SchemaRefusedError,
    Spent,
    not_installed,
)
from prjury.policy.schema import LimitsConfig, ModelConfig, ModelsConfig, ReviewConfig
from prjury.ports import ChatModel, NoRecorder, Panel, Recorder
from prjury.ports.messages import ModelError, ModelReason, Prompt, Reply, UnsentError

if TYPE_CHECKING:
    from prjury.models.wire import Mode


class UnavailableModel:
    """Keeps its seat, so that nobody believes that all were asked, and answers with the reason."""

    def __init__(self, absent: MissingModel, room: int) -> None:
        self._absent = absent
        self.name = absent.name
        self.identity = f"absent {absent.name}"
        self.room = room

    def ask(self, prompt: Prompt, deadline: Deadline) -> Reply:  # noqa: ARG002 - nobody is asked
        raise UnsentError(
            f"{self._absent.name} cannot be asked: {self._absent.why}",
            "unauthorized",
            remedy="Make it available, or take it out of models in the policy",
        )

    def price(self, input_tokens: int, output_tokens: int) -> float | None:  # noqa: ARG002
        return 0.0


#: A command and all that follows it, for its arguments may hold commas.
_COMMAND = re.compile(r"(?:^|,)\s*command:(.*)", re.DOTALL)


def names_a_program(text: str) -> bool:
    return _COMMAND.search(text) is not None


def parse_model_spec(
    text: str, place: str, models: ModelsConfig, *, allow_script: bool = False
) -> list[WantedModel]:
    """Return the models that are named, one seat each, with the options that the policy has.

    The text is ``provider:name``, a name alone, ``command:PROGRAM ARGS``, ``scripted:FILE`` or
    ``auto``; several are parted by commas, a command comes last.
    """
    command = _COMMAND.search(text)
    names = (text[: command.start()] if command else text).split(",")
    configs = [_parse_config(name.strip(), models) for name in names if name.strip()]
    if command:
        configs.append(_parse_command(command[1], place, models.default))
    if not configs:
        raise ConfigError(f"{place} names no model", remedy="Write provider:name, or auto")
    return [WantedModel(config, place, allow_script) for config in configs]


def _parse_config(text: str, models: ModelsConfig) -> ModelConfig:
    """Return a listed model as it is, any other with the default's options.

    Address and key go with the provider that they were written down for, and with no other.
    """
    if text == AUTO:
        return models.default
    provider, colon, name = text.partition(":")
    if not colon:
        provider, name = (models.default.provider if models.default.base_url else AUTO), text
    for listed in (models.default, *models.panel):
        if (listed.provider, listed.name) == (provider, name or None):
            return listed
    changes: dict[str, object] = {"provider": provider, "name": name or None}
    if provider != models.default.provider:
        changes |= {"base_url": None, "key_env": None}
    return replace(models.default, **changes, command=None, answer=None)


def _parse_command(text: str, place: str, default: ModelConfig) -> ModelConfig:
    try:
        argv = shlex.split(text)
    except ValueError as error:
        raise ConfigError(f"{place} holds a command that cannot be read: {error}") from None
    if not argv:
        raise ConfigError(f"{place} command: names no program", remedy="Write command:PROGRAM ARGS")
    blank = dict.fromkeys(("name", "answer", "base_url", "key_env"))
    return replace(default, provider="command", command=argv, **blank)


#: A key, and the code, go where a policy says. That of a commit is somebody else's word when one
#: looks at another's repository, unless the operator takes it for his own.
_NOT_TRUSTED = (
    "the policy of the base names a server, a key or a program for models; "
    "nothing is sent there without --trust-policy, or --config with a policy of your own"
)


class ModelPanel:
    """Seats models, which judges share with their budget and pace; none is contacted yet.

    Of an untrusted policy it takes no address, key or program.
    """

    def __init__(  # noqa: PLR0913 - where models come from, and who keeps what they say
        self,
        config: ModelsConfig,
        limits: LimitsConfig,
        environ: Mapping[str, str],
        *,
        flag: str | None = None,
        offline: bool = False,
        untrusted: bool = False,
        recorder: Recorder | None = None,
        answers: AnswerFile | None = None,
        review: ReviewConfig | None = None,
    ) -> None:
        self._review = review or ReviewConfig(confirm=False)
        self._recorder, self._answers = recorder or NoRecorder(), answers
        self._config = config.without_addresses if untrusted and flag else config
        self._environ = environ
        self._flag = None if flag in {None, "", AUTO} else flag
        self._offline = offline
        self._untrusted = untrusted and not self._flag
        self._budget = Budget(limits)
        self._lock = threading.Lock()
        self._loading: threading.Thread | None = None
        self._models: dict[ModelChoice, ChatModel] = {}
        self._paces: dict[object, RateLimit] = {}
        if self._flag and not offline:
            self._refuse_unavailable(self._flag)

    @property
    def spent(self) -> Spent:
        return self._budget.spent

    @property
    def keys_digest(self) -> bytes:
        """One digest of the keys of all models that could be asked, which only this user knows."""
        config = self._config
        configs = (config.default, *config.panel, *filter(None, [config.chair]))
        own = {model.key_env for model in configs if model.key_env}
        names = sorted(own | {wiring.key for wiring in HOSTED.values()})
        keys = [self._environ.get(name, "").strip() for name in names]
        return hashlib.sha256("\n".join(keys).encode()).digest() if any(keys) else b""

    def panel(self, judge_spec: str = AUTO) -> Panel:
        """Return who is asked: by the flag, or else by the judge's wish, or else by the policy."""
        if self._untrusted and (self._config.reaches_out or names_a_program(judge_spec)):
            return Panel(missing=_NOT_TRUSTED, label="policy_not_trusted")
        choices = [self._choose_model(each) for each in self._list_wanted_models(judge_spec)]
        absent = [choice for choice in choices if isinstance(choice, MissingModel)]
        if len(absent) == len(choices):
            return Panel(missing="; ".join(dict.fromkeys(each.why for each in absent)))
        retry, config = self._config.retry, self._config.chair
        chair = WantedModel(config, "models.chair") if config and not self._flag else None
        return Panel(
            tuple(map(self._open_model, choices)),
            absent={each.name: each.why for each in absent},
            chair=self._open_model(self._choose_model(chair)) if chair else None,
            confidence=retry.confidence,
            rounds=retry.iterations,
            trigger=retry.trigger,
            passes=self._review.passes,
            confirm=self._review.confirm,
            refusal=self._budget.refusal,
        )

    def start_loading_clients(self) -> None:
        """Begin to load the clients of the seated models, which takes seconds; return at once."""
        with self._lock:
            providers = sorted({choice.provider for choice in self._models} & set(HOSTED))
        if providers:
            self._loading = threading.Thread(
                target=_load, args=(providers,), name="models", daemon=True
            )
            self._loading.start()

    def wait(self) -> None:
        """Wait until the clients are loaded; a build could change their files."""
        if self._loading:
            self._loading.join()

    def _refuse_unavailable(self, flag: str) -> None:
        """Refuse a model that the operator names and that nobody could ask."""
        for spec in parse_model_spec(flag, "--model", self._config, allow_script=True):
            choice = self._choose_model(spec)
            if isinstance(choice, MissingModel):
                raise ConfigError(
                    f"--model {flag} cannot be asked: {choice.why}",
                    remedy="Set the key, name another model, or leave --model out",
                )

    def _list_wanted_models(self, judge_spec: str) -> list[WantedModel]:
        config = self._config
        if self._flag:
            return parse_model_spec(self._flag, "--model", config, allow_script=True)
        if judge_spec not in {"", AUTO}:
            return parse_model_spec(judge_spec, "a judge's `model`", config)
        if config.panel:
            return [WantedModel(one, f"models.panel.{i}") for i, one in enumerate(config.panel)]
        return [WantedModel(config.default, "models.default")]

    def _choose_model(self, wanted: WantedModel) -> ModelChoice | MissingModel:
        return choose_model(wanted, self._config, self._environ, offline=self._offline)

    def _open_model(self, choice: ModelChoice | MissingModel) -> ChatModel:
        if isinstance(choice, MissingModel):
            return UnavailableModel(choice, self._config.default.room)
        with self._lock:
            if choice not in self._models:
                address = (choice.provider, choice.base_url or choice.command)
                pace = self._paces.setdefault(address, RateLimit(self._config.rate))
                model = make_chat_model(choice, self._environ, budget=self._budget, pace=pace)
                self._models[choice] = RecordedModel(model, self._recorder, self._answers)
            return self._models[choice]


def _load(providers: Sequence[Provider]) -> None:
    with suppress(ImportError):  # the first question reports it
        from prjury.models.wire import load  # noqa: PLC0415 - heavy and optional

        load(providers)


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
        return 0.0

    def ask(self, prompt: Prompt, deadline: Deadline) -> Reply:  # noqa: ARG002 - it takes no time
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
        try:
            from prjury.models.wire import price_of  # noqa: PLC0415 - heavy and optional
        except ImportError:
            return None
        return price_of(self._choice, input_tokens, output_tokens)

    def ask(self, prompt: Prompt, deadline: Deadline) -> Reply:
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
            from prjury.models.wire import request_reply  # noqa: PLC0415 - heavy and optional
        except ImportError:
            raise not_installed(self._choice.provider) from None
        # Looked at last: to load the client takes seconds.
        if not deadline.remaining:
            raise UnsentError("There is no time left to ask the model", "timeout")
        return request_reply(self._choice, prompt, mode, deadline)


def make_chat_model(
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
