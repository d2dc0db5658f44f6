"""What stands behind which door in a run: the only place that decides it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from prjury.config.schema import BuildOptions, Config
from prjury.models.bench import ModelBench
from prjury.models.memory import memory_at
from prjury.ports import Checks, Doors, Memory, NoMemory
from prjury.request import ReviewRequest, Surroundings
from prjury.sources.evidence import EvidenceFile
from prjury.sources.git.store import Store
from prjury.sources.github.checks import checks_of
from prjury.sources.shell import ContainedShell


@dataclass(frozen=True)
class Wired:
    """The doors of a run, and the models behind them, whose spending is told in the end."""

    doors: Doors
    models: ModelBench


def review_doors(
    request: ReviewRequest, surroundings: Surroundings, config: Config, store: Store
) -> Wired:
    """The doors of a review.

    Raises:
        ConfigError: for an address of a model server that must not be used.
    """
    doors = build_doors(surroundings, config, store)
    sources = {build.from_ for build in builds(config)}
    if "checks" in sources:
        url = request.wanted.url or store.operator.remote_url
        doors = _with_checks(doors, checks_of(url, surroundings.environ, offline=request.offline))
    if request.evidence and "evidence" in sources:
        doors = replace(doors, evidence=EvidenceFile(request.evidence))
    models = ModelBench(
        config.models,
        config.limits,
        surroundings.environ,
        flag=request.model,
        offline=request.offline,
        untrusted=not (request.trusts_policy or request.config),
    )
    memory = _memory(request, surroundings, config, models.secret)
    return Wired(replace(doors, models=models, memory=memory), models)


def _memory(
    request: ReviewRequest, surroundings: Surroundings, config: Config, secret: bytes
) -> Memory:
    """Answers of earlier runs; none where a build of untrusted code could have written them."""
    builds_here = request.build and any(build.from_ == "run" for build in builds(config))
    if builds_here and not secret:
        return NoMemory()
    return memory_at(surroundings.environ, secret)


def model_doors(config: Config) -> Doors:
    """The door to the models alone, of which none has a key: to see what a policy asks for.

    Raises:
        ConfigError: for a provider that is not known, or an address that must not be used.
    """
    models = ModelBench(config.models, config.limits, {})
    models.panel()
    nobody: Any = None
    return Doors(nobody, nobody, nobody, models=models)


def build_doors(surroundings: Surroundings, config: Config, store: Store) -> Doors:
    """The doors that a build needs, and no others."""
    sandbox = config.sandbox
    shell = ContainedShell(
        surroundings.environ, extra_env=sandbox.env, level=sandbox.level, network=sandbox.network
    )
    return Doors(store, shell, surroundings.progress, redact=surroundings.redact)


def builds(config: Config) -> list[BuildOptions]:
    """The options of every build judge of the policy."""
    return [entry.build for tier in config.tiers for entry in tier.judges if entry.build]


def _with_checks(doors: Doors, checks: Checks | str) -> Doors:
    if isinstance(checks, str):
        return replace(doors, checks_missing=checks)
    return replace(doors, checks=checks)
