"""Which adapter is behind each port in a run; decided here alone."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from msgspec.structs import replace

from prjury.app.request import ReviewRequest, RunEnvironment
from prjury.git.open_snapshot import Snapshot
from prjury.git.store import Store
from prjury.jury.threads import run_in_thread
from prjury.jury.voting import NOT_APPLICABLE, NOT_CONFIGURED
from prjury.loading import load_everything
from prjury.models.memory import CheckedFileMemory, memory_at
from prjury.models.panel import AnswerFile, ModelPanel
from prjury.policy.options import AgentOptions, CommandOptions
from prjury.policy.schema import Config, PullsConfig
from prjury.policy.tiers import BuildOptions
from prjury.ports import Agents, NoAgents, NoMemory, NoModels, Panel, Ports, Repository
from prjury.sandbox.contained import ContainedShell
from prjury.snapshot.model import PullRequest
from prjury.state_directory import make_private_directory


def make_review_ports(
    request: ReviewRequest, environment: RunEnvironment, config: Config, snapshot: Snapshot
) -> tuple[Ports, ModelPanel]:
    """The ports of a run, and the models behind them, which know what was spent."""
    panel = make_panel(request, environment, config)
    ports = make_program_ports(request, environment, config, snapshot.store, panel)
    # A build, or an agent, could have written answers of earlier runs.
    spoiled = runs_others(request, config) and not panel.keys_digest
    forgets = spoiled or request.record is not None
    memory = NoMemory() if forgets else memory_at(environment.environ, panel.keys_digest)
    withheld = withhold_draft_or_bot(snapshot.pull, config.pulls, request.actor)
    agents = make_agents_or_refusal(request, environment, config, withheld, panel)
    models = NoModels(withheld) if withheld else panel
    return replace(ports, models=models, memory=memory, agents=agents), panel


def make_agents_or_refusal(
    request: ReviewRequest,
    environment: RunEnvironment,
    config: Config,
    withheld: Panel | None,
    panel: ModelPanel,
) -> Agents:
    """The starter of agents. They may use the network, by which they reach their models."""
    if not request.models:
        return NoAgents("agents are not started with --no-llm", NOT_CONFIGURED)
    if withheld:
        return NoAgents(withheld.missing, withheld.label)
    from prjury.agents.command import AgentStarter  # noqa: PLC0415 - many reviews ask no model

    trusted = request.trusts_policy or request.config is not None
    shell = ContainedShell(
        environment.environ,
        extra_env=config.sandbox.env,
        level=config.sandbox.level,
        network=not request.offline,
        before=partial(_load_all, panel),
    )
    return AgentStarter(shell, environment.progress, environment.environ, trusted)


def make_program_ports(
    request: ReviewRequest,
    environment: RunEnvironment,
    config: Config,
    store: Store,
    panel: ModelPanel | None = None,
) -> Ports:
    ports = make_build_ports(environment, config, store, panel)
    sources = {each.from_ for each in list_run_options(config)}
    if "checks" in sources:
        from prjury.github.checks import make_checks_or_reason  # noqa: PLC0415 - few ask for them

        url = request.target.url or store.operator.remote_url
        checks = make_checks_or_reason(url, environment.environ, offline=request.offline)
        more = {"checks_missing": checks} if isinstance(checks, str) else {"checks": checks}
        ports = replace(ports, **more)
    if request.evidence and "evidence" in sources:
        ports = replace(ports, evidence=request.evidence)
    return ports


def make_panel(request: ReviewRequest, environment: RunEnvironment, config: Config) -> ModelPanel:
    return ModelPanel(
        config.models,
        config.limits,
        environment.environ,
        flag=request.model if request.models else None,
        offline=request.offline,
        untrusted=not (request.trusts_policy or request.config),
        recorder=environment.journal,
        answers=AnswerFile(request.record) if request.record else None,
        review=config.review,
    )


def withhold_draft_or_bot(pull: PullRequest, pulls: PullsConfig, actor: str | None) -> Panel | None:
    """Models that are not asked: of drafts, and of a bot's change until somebody else pushes."""
    if pull.draft and not pulls.drafts:
        missing = "a draft: models are asked when it is ready (pulls.drafts)"
        return Panel((), missing, "draft")
    bots = {f"{name}[bot]" for name in pulls.bots}
    if pull.author in bots and actor in {None, pull.author}:
        return Panel((), f"a pull request of {pull.author} (pulls.bots)", NOT_APPLICABLE)
    return None


def model_ports(config: Config) -> Ports:
    """The port to models alone, without keys: to check what a policy asks for."""
    models = ModelPanel(config.models, config.limits, {})
    models.panel()
    nothing: Any = None
    return Ports(nothing, nothing, nothing, models=models)


def make_build_ports(
    environment: RunEnvironment,
    config: Config,
    store: Repository,
    panel: ModelPanel | None = None,
    lend: Sequence[str] | None = None,
) -> Ports:
    """The ports that a build needs; a build begins when everything is loaded."""
    sandbox = config.sandbox
    shell = ContainedShell(
        environment.environ,
        extra_env=sandbox.env,
        level=sandbox.level,
        lend=sandbox.lend if lend is None else lend,
        hidden=(store.operator.common_dir,) if isinstance(store, Store) else (),
        network=sandbox.network,
        before=partial(_load_all, panel),
    )
    run_in_thread(lambda: shell.level)  # a program says it, in a while; whoever needs it asks again
    place = make_private_directory(environment.environ, "XDG_STATE_HOME", ".local/state")
    outcomes = CheckedFileMemory(place / "bases") if place else NoMemory()
    return Ports(
        store,
        shell,
        environment.progress,
        base_outcomes=outcomes,
        redact=environment.redact,
        journal=environment.journal,
    )


def _load_all(panel: ModelPanel | None) -> None:
    """Load all of ours before anything runs that is not trusted."""
    load_everything()
    if panel:
        panel.wait()


def runs_others(request: ReviewRequest, config: Config) -> bool:
    """Tell whether a build or an agent runs here."""
    options = [entry.options for tier in config.tiers for entry in tier.judges]
    agents = any(isinstance(each, AgentOptions) for each in options)
    builds = any(each.from_ == "run" for each in list_run_options(config))
    return (request.build and builds) or (request.models and agents)


def list_build_options(config: Config) -> list[BuildOptions]:
    return [entry.build for tier in config.tiers for entry in tier.judges if entry.build]


def list_command_options(config: Config) -> list[CommandOptions]:
    return [entry.command for tier in config.tiers for entry in tier.judges if entry.command]


def list_run_options(config: Config) -> list[BuildOptions | CommandOptions]:
    """The options of every judge of the policy whose outcome is that of a run of the change."""
    return [*list_build_options(config), *list_command_options(config)]
