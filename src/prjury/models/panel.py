"""The models that the operator has, seated for each judge."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress

from prjury.errors import ConfigError
from prjury.models.budget import Budget, Spent
from prjury.models.choose import (
    AUTO,
    KEYS,
    MissingModel,
    ModelChoice,
    Provider,
    WantedModel,
    choose_model,
)
from prjury.models.connect import connect
from prjury.models.fallback import FallbackModel
from prjury.models.model_spec import names_a_program, parse_model_spec
from prjury.models.rate_limit import RateLimit
from prjury.models.unavailable import UnavailableModel
from prjury.policy.models import ModelsConfig
from prjury.policy.schema import LimitsConfig
from prjury.ports import ChatModel, Panel

#: A key, and the code, go where a policy says. That of a commit is somebody else's word when one
#: looks at another's repository, unless the operator takes it for his own.
_NOT_TRUSTED = (
    "the policy of the base names a server, a key or a program for models; "
    "nothing is sent there without --trust-policy, or --config with a policy of your own"
)


class ModelPanel:
    """Seats models. Judges who want the same one share it, with its budget and its pace.

    Nothing is contacted and no client is loaded before somebody is asked.

    Args:
        config: the ``models`` section of the policy.
        limits: what all of them together may spend.
        environ: the operator's environment variables, for keys and addresses.
        flag: what ``--model`` says.
        offline: whether nothing may be contacted; only scripted models are left then.
        untrusted: whether the policy is somebody else's word: then it says which models are asked,
            and not by which address, key or program.

    Raises:
        ConfigError: for a `flag` that names a model which cannot be had, because its key is not
            set, or a provider that is not known.
    """

    def __init__(
        self,
        config: ModelsConfig,
        limits: LimitsConfig,
        environ: Mapping[str, str],
        *,
        flag: str | None = None,
        offline: bool = False,
        untrusted: bool = False,
    ) -> None:
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
            self._check(self._flag)

    @property
    def spent(self) -> Spent:
        """What all calls of the run have used so far."""
        return self._budget.spent

    @property
    def secret(self) -> bytes:
        """What only this user knows: the keys of all models that could be asked, as one digest."""
        config = self._config
        named = (config.default, *config.fallback, *config.panel, *filter(None, [config.chair]))
        names = sorted({*KEYS.values(), *(one.key_env for one in named if one.key_env)})
        keys = [self._environ.get(name, "").strip() for name in names]
        return hashlib.sha256("\n".join(keys).encode()).digest() if any(keys) else b""

    def panel(self, request: str = AUTO) -> Panel:
        """Who is asked: by the flag, or else by the judge's wish, or else by the policy.

        A model that cannot be had keeps its seat among others, and answers ``unauthorized``.

        Raises:
            ConfigError: for a provider that is not known, or an address that must not be used.
            UsageError: for a script that cannot be read.
        """
        if self._untrusted and (self._config.reaches_out or names_a_program(request)):
            return Panel(missing=_NOT_TRUSTED, label="policy_not_trusted")
        seats = [[self._choose(one) for one in seat] for seat in self._seats(request)]
        choices = [choice for seat in seats for choice in seat]
        absent = [choice.why for choice in choices if isinstance(choice, MissingModel)]
        if len(absent) == len(choices):
            return Panel(missing="; ".join(dict.fromkeys(absent)))
        retry = self._config.retry
        first = [seat[0] for seat in seats if len(seat) == 1]
        return Panel(
            tuple(map(self._seated, seats)),
            absent={one.name: one.why for one in first if isinstance(one, MissingModel)},
            chair=self._chair(),
            confidence=retry.confidence,
            rounds=retry.iterations,
            trigger=retry.trigger,
            refusal=self._budget.refusal,
        )

    def warm(self) -> None:
        """Begins to load the clients of the models that have been seated; returns at once.

        They take seconds, in which others can go on. Without a hosted model nothing is loaded.
        """
        with self._lock:
            providers = sorted({choice.provider for choice in self._models} & set(KEYS))
        if providers:
            self._loading = threading.Thread(
                target=_load, args=(providers,), name="models", daemon=True
            )
            self._loading.start()

    def wait(self) -> None:
        """Waits until the clients are loaded; a build could change their files."""
        if self._loading:
            self._loading.join()

    def _check(self, flag: str) -> None:
        """Refuses a model that the operator names and that nobody could ask."""
        for wanted in parse_model_spec(flag, "--model", self._config, script=True):
            choice = self._choose(wanted)
            if isinstance(choice, MissingModel):
                raise ConfigError(
                    f"--model {flag} cannot be asked: {choice.why}",
                    remedy="Set the key, name another model, or leave --model out",
                )

    def _seats(self, request: str) -> list[list[WantedModel]]:
        """For each seat the model that is wanted there, and those that stand in for it."""
        config = self._config
        if self._flag:
            return [[one] for one in parse_model_spec(self._flag, "--model", config, script=True)]
        if request not in {"", AUTO}:
            return [[one] for one in parse_model_spec(request, "a judge's `model`", config)]
        if config.panel:
            return [[WantedModel(one, f"models.panel.{i}")] for i, one in enumerate(config.panel)]
        others = [WantedModel(one, f"models.fallback.{i}") for i, one in enumerate(config.fallback)]
        return [[WantedModel(config.default, "models.default"), *others]]

    def _chair(self) -> ChatModel | None:
        """Who decides, by the policy; where the flag names who is asked, nobody else is."""
        chair = self._config.chair
        if chair is None or self._flag:
            return None
        return self._seated([self._choose(WantedModel(chair, "models.chair"))])

    def _choose(self, wanted: WantedModel) -> ModelChoice | MissingModel:
        return choose_model(wanted, self._config, self._environ, offline=self._offline)

    def _seated(self, choices: Sequence[ModelChoice | MissingModel]) -> ChatModel:
        models = [self._model(choice) for choice in choices]
        return models[0] if len(models) == 1 else FallbackModel(models)

    def _model(self, choice: ModelChoice | MissingModel) -> ChatModel:
        """The one model of this choice."""
        if isinstance(choice, MissingModel):
            return UnavailableModel(choice, self._config.default.room)
        with self._lock:
            if choice not in self._models:
                address = (choice.provider, choice.base_url or choice.command)
                pace = self._paces.setdefault(address, RateLimit(self._config.rate))
                model = connect(choice, self._environ, budget=self._budget, pace=pace)
                self._models[choice] = model
            return self._models[choice]


def _load(providers: Sequence[Provider]) -> None:
    with suppress(ImportError):  # whoever asks is told that it is missing
        from prjury.models.wire import load  # noqa: PLC0415 - heavy and optional

        load(providers)
