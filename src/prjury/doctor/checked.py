"""A policy with everything that it names: judges, packs, models; and what in it is doubtful."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import replace

from prjury.app.composition import builds, model_ports
from prjury.app.registry import ASKING, JUDGES, judge_factory, try_models
from prjury.errors import ConfigError, did_you_mean
from prjury.judges.builds.systems.recipes import recipe_at
from prjury.judges.merged_tree.tree import read_content_options
from prjury.policy.load import Policy, Problem, join_keys, make_refusal, read_policy
from prjury.policy.patterns import PatternsOptions
from prjury.policy.schema import Config
from prjury.policy.seats import FileContentOptions, FunctionOptions
from prjury.policy.tiers import TierConfig
from prjury.policy.yaml_reader import KeyPath, read_yaml
from prjury.rulepacks.find import list_known, load_provided
from prjury.rulepacks.load import list_heads, load_packs
from prjury.rulepacks.rule import Pack


def check_policy(text: str, shown: str, root: Path) -> Policy:
    """The policy in a text, with judges, packs and models that there are."""
    checked = read_policy(text, f"file:{shown}", shown=shown)
    config = checked.config
    problems = [*_bad_seats(config, root), *_bad_recipes(config, root)]
    problems += _find_unknown_ignored_rules(config, root)
    problems = problems or list(_bad_models(config))
    if problems:
        raise make_refusal(read_yaml(text, shown), problems)
    return checked


def _problem(path: KeyPath, error: ConfigError | str) -> Problem:
    text = str(error).rstrip(".")
    return Problem(path, f"{join_keys(path)}: {text[:1].lower()}{text[1:]}")


def _bad_seats(config: Config, root: Path) -> Iterator[Problem]:
    for i, tier in enumerate(config.tiers):
        for j, entry in enumerate(tier.judges):
            path: KeyPath = ("tiers", i, "judges", j)
            try:
                judge_factory(entry.name)
            except ConfigError as error:
                yield _problem(path, error)
            path = (*path, entry.name)
            if isinstance(entry.options, PatternsOptions):
                yield from _check_packs(entry.options, path, root)
            elif isinstance(entry.options, FunctionOptions):
                yield from _bad_rule(entry.options, path, root)
            elif isinstance(entry.options, FileContentOptions):
                try:
                    read_content_options(entry.options)
                except ConfigError as error:
                    yield _problem(path, error)


def _check_packs(options: PatternsOptions, path: KeyPath, root: Path) -> Iterator[Problem]:
    own: list[Pack] = []
    for number, place in enumerate(options.paths):
        try:
            own += [loaded.pack for loaded in load_packs([root / place])]
        except ConfigError as error:
            yield _problem((*path, "paths", number), error)
    if options.packs == "auto":
        return
    packs = {*list_heads(), *(p.id for p in own), *(it.pack.id for it in load_provided())}
    for number, name in enumerate(options.packs):
        if name not in packs:
            meant = did_you_mean(name, packs) or "`prjury rules list` names the packs"
            yield _problem((*path, "packs", number), f"there is no pack {name!r}. {meant}")


def _find_unknown_ignored_rules(config: Config, root: Path) -> Iterator[Problem]:
    ignored: dict[KeyPath, str] = {("ignore", i): name for i, name in enumerate(config.ignore)}
    for glob, names in config.per_file_ignores.items():
        ignored |= {("per_file_ignores", glob, i): name for i, name in enumerate(names)}
    if not ignored:
        return
    options = [entry.patterns for tier in config.tiers for entry in tier.judges if entry.patterns]
    places = [root / place for one in options for place in one.paths]
    packs = [*list_known([]), *(list_known(places) if places else ())]
    rules = {pack.id for pack in packs} | {f"{p.id}/{rule.id}" for p in packs for rule in p.rules}
    for path, name in ignored.items():
        if name not in rules:
            meant = did_you_mean(name, rules) or "`prjury rules list` names the packs"
            yield _problem(path, f"there is no rule or pack {name!r}. {meant}")


def _bad_recipes(config: Config, root: Path) -> Iterator[Problem]:
    sources: dict[str, str] = {}
    for number, place in enumerate(config.build.options.recipes):
        path = ("build", "recipes", number)
        try:
            recipe = recipe_at(root / place, place)
        except ConfigError as error:
            yield _problem(path, error.problems[0] if error.problems else error)
            continue
        if (other := sources.setdefault(recipe.name, place)) != place:
            yield _problem(path, f"{other} is called {recipe.name} as well")


def _bad_rule(rule: FunctionOptions, path: KeyPath, root: Path) -> Iterator[Problem]:
    try:
        parsed = ast.parse((root / rule.file).read_bytes())
    except OSError:
        yield _problem((*path, "file"), f"there is no {rule.file}")
    except (SyntaxError, ValueError) as error:
        yield _problem((*path, "file"), f"{rule.file} is not Python: {error}")
    else:
        functions = [one.name for one in parsed.body if isinstance(one, ast.FunctionDef)]
        if rule.function not in functions:
            meant = did_you_mean(rule.function, functions) or f"There are {', '.join(functions)}"
            words = f"{rule.file} has no function {rule.function!r}. {meant}"
            yield _problem((*path, "function"), words)


def _bad_models(config: Config) -> Iterator[Problem]:
    try:
        ports = model_ports(config)
    except ConfigError as error:
        yield Problem(("models",), str(error).rstrip("."))
        return
    for i, tier in enumerate(config.tiers):
        try:
            try_models(replace(config, tiers=[tier]), ports)
        except ConfigError as error:
            yield _problem(("tiers", i), error)


def find_doubts(config: Config) -> Iterator[Problem]:
    """Find what is allowed, and hardly meant: a gate that never opens, or that little closes."""
    if all(_advises(tier) for tier in config.tiers):
        text = "every tier is advisory, so nobody votes and the gate never opens"
        yield Problem(("tiers",), f"tiers: {text}; set `advisory: false` for one")
    elif all(map(_asks_models_only, config.tiers)):
        text = (
            "only models are asked; where none is configured, nobody votes and the gate is closed"
        )
        yield Problem(("tiers",), f"tiers: {text}")
    if not any(entry.patterns for tier in config.tiers for entry in tier.judges):
        text = "no tier has `patterns`, so versions are not looked at; `extend` adds judges and "
        yield Problem(("tiers",), f"tiers: {text}replaces none")
    missing = [word for word in ("fail", "error", "abstain") if word not in config.gate.block_on]
    if not config.gate.block_on:
        yield _doubt("block_on", "no verdict closes the gate, not even a failure")
    elif missing:
        yield _doubt("block_on", f"the verdict {' or '.join(missing)} does not close the gate")
    if config.fix.enabled and not any(build.from_ == "run" for build in builds(config)):
        text = "fix.enabled: no build runs here, so nothing is repaired"
        yield Problem(("fix", "enabled"), text)
    if config.gate.coverage_floor == 0:
        yield _doubt("coverage_floor", "the gate opens for changes that nobody has read")


def _doubt(key: str, text: str) -> Problem:
    return Problem(("gate", key), f"gate.{key}: {text}")


def _advises(tier: TierConfig) -> bool:
    return tier.advisory is True or (tier.advisory == "auto" and _asks_models_only(tier))


def _asks_models_only(tier: TierConfig) -> bool:
    return all(JUDGES.get(entry.name, "").startswith(ASKING) for entry in tier.judges)
