"""What stands behind which door in a run: the only place that decides it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from prjury.app.request import ReviewRequest, RunEnvironment
from prjury.git.open_snapshot import Snapshot
from prjury.git.store import Store
from prjury.github.checks import checks_of
from prjury.jury.population import NOT_APPLICABLE
from prjury.loading import load_everything
from prjury.models.memory import memory_at
from prjury.models.panel import ModelPanel
from prjury.policy.schema import BuildOptions, Config, PullsConfig
from prjury.ports import Checks, Memory, Models, NoMemory, NoModels, Ports
from prjury.sandbox import ContainedShell
from prjury.snapshot.model import PullRequest


@dataclass(frozen=True)
class Composition:
    """The doors of a run, and the models behind them, whose spending is told in the end."""

    doors: Ports
    models: ModelPanel


def review_ports(
    request: ReviewRequest, surroundings: RunEnvironment, config: Config, photo: Snapshot
) -> Composition:
    """The doors of a review.

    Raises:
        ConfigError: for an address of a model server that must not be used.
    """
    bench = model_panel(request, surroundings, config)
    doors = program_ports(request, surroundings, config, photo.store, bench)
    memory = _memory(request, surroundings, config, bench.secret)
    models = models_for(photo.pull, config.pulls, request.actor) or bench
    return Composition(replace(doors, models=models, memory=memory), bench)


def program_ports(
    request: ReviewRequest,
    surroundings: RunEnvironment,
    config: Config,
    store: Store,
    bench: ModelPanel | None = None,
) -> Ports:
    """The doors of the judges that ask no model.

    Args:
        bench: the models that may be asked after a build.
    """
    doors = build_ports(surroundings, config, store, bench)
    sources = {build.from_ for build in builds(config)}
    if "checks" in sources:
        url = request.wanted.url or store.operator.remote_url
        doors = _with_checks(doors, checks_of(url, surroundings.environ, offline=request.offline))
    if request.evidence and "evidence" in sources:
        doors = replace(doors, evidence=request.evidence)
    return doors


def model_panel(request: ReviewRequest, surroundings: RunEnvironment, config: Config) -> ModelPanel:
    """The models that the operator has.

    Raises:
        ConfigError: for an address of a model server that must not be used, or a named model
            whose key is not set.
    """
    return ModelPanel(
        config.models,
        config.limits,
        surroundings.environ,
        flag=request.model if request.models else None,
        offline=request.offline,
        untrusted=not (request.trusts_policy or request.config),
    )


def models_for(pull: PullRequest, policy: PullsConfig, actor: str | None) -> Models | None:
    """Nobody, where the policy has models asked of other pull requests only; else None.

    A draft is asked about when it is ready: a tier of models that blocks is closed until then. A
    bot's change is the bot's as long as nobody else has pushed to it.
    """
    if pull.draft and not policy.drafts:
        return NoModels("a draft: models are asked when it is ready (pulls.drafts)", "draft")
    bots = {f"{name}[bot]" for name in policy.bots}
    if pull.author in bots and actor in {None, pull.author}:
        return NoModels(f"a pull request of {pull.author} (pulls.bots)", NOT_APPLICABLE)
    return None


def _memory(
    request: ReviewRequest, surroundings: RunEnvironment, config: Config, secret: bytes
) -> Memory:
    """Answers of earlier runs; none where a build of untrusted code could have written them."""
    if builds_here(request, config) and not secret:
        return NoMemory()
    return memory_at(surroundings.environ, secret)


def model_ports(config: Config) -> Ports:
    """The door to the models alone, of which none has a key: to see what a policy asks for.

    Raises:
        ConfigError: for a provider that is not known, or an address that must not be used.
    """
    models = ModelPanel(config.models, config.limits, {})
    models.panel()
    nobody: Any = None
    return Ports(nobody, nobody, nobody, models=models)


def build_ports(
    surroundings: RunEnvironment, config: Config, store: Store, bench: ModelPanel | None = None
) -> Ports:
    """The doors that a build needs, and no others; a build begins when everything is loaded."""

    def load() -> None:
        load_everything()
        if bench:
            bench.wait()

    sandbox = config.sandbox
    shell = ContainedShell(
        surroundings.environ,
        extra_env=sandbox.env,
        level=sandbox.level,
        network=sandbox.network,
        before=load,
    )
    return Ports(store, shell, surroundings.progress, redact=surroundings.redact)


def builds_here(request: ReviewRequest, config: Config) -> bool:
    """Whether code of the change may run."""
    return request.build and any(build.from_ == "run" for build in builds(config))


def builds(config: Config) -> list[BuildOptions]:
    """The options of every build judge of the policy."""
    return [entry.build for tier in config.tiers for entry in tier.judges if entry.build]


def _with_checks(doors: Ports, checks: Checks | str) -> Ports:
    if isinstance(checks, str):
        return replace(doors, checks_missing=checks)
    return replace(doors, checks=checks)
