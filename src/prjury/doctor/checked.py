"""A policy with everything that it names: judges, packs, models; and what in it is doubtful."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from prjury.app.composition import list_build_options, model_ports
from prjury.app.registry import ASKING, JUDGES, require_judge_factory, try_models
from prjury.errors import ConfigError, did_you_mean
from prjury.judges.builds.systems.recipes import load_recipe
from prjury.judges.merged_tree.tree import read_content_options
from prjury.policy.load import Policy, Problem, join_keys, make_refusal, parse_policy
from prjury.policy.options import FileContentOptions, FunctionOptions, PatternsOptions
from prjury.policy.schema import Config
from prjury.policy.yaml_reader import KeyPath, read_yaml
from prjury.rulepacks.find import list_known, load_provided
from prjury.rulepacks.load import list_heads, load_packs


def check_policy(text: str, shown_name: str, root: Path) -> Policy:
    """The policy in a text, with judges, packs and models that there are."""
    checked = parse_policy(text, f"file:{shown_name}", shown_name=shown_name)
    config = checked.config
    problems = [*_check_judges(config, root), *_check_recipes(config, root)]
    problems += _find_unknown_ignored_rules(config, root)
    problems = problems or list(_check_models(config))
    if problems:
        raise make_refusal(read_yaml(text, shown_name), problems)
    return checked


def _problem(path: KeyPath, error: ConfigError | str) -> Problem:
    text = str(error).rstrip(".")
    return Problem(path, f"{join_keys(path)}: {text[:1].lower()}{text[1:]}")


def _try(path: KeyPath, call: Callable[[], object]) -> Iterator[Problem]:
    try:
        call()
    except ConfigError as error:
        yield _problem(path, error)


def _check_judges(config: Config, root: Path) -> Iterator[Problem]:
    for i, tier in enumerate(config.tiers):
        for j, entry in enumerate(tier.judges):
            path: KeyPath = ("tiers", i, "judges", j)
            yield from _try(path, partial(require_judge_factory, entry.name))
            path = (*path, entry.name)
            if isinstance(entry.options, PatternsOptions):
                yield from _check_packs(entry.options, path, root)
            elif isinstance(entry.options, FunctionOptions):
                yield from _check_function(entry.options, path, root)
            elif isinstance(entry.options, FileContentOptions):
                yield from _try(path, partial(read_content_options, entry.options))


def _check_packs(options: PatternsOptions, path: KeyPath, root: Path) -> Iterator[Problem]:
    packs = {*list_heads(), *(provided.pack.id for provided in load_provided())}
    for number, place in enumerate(options.paths):
        try:
            packs |= {loaded.pack.id for loaded in load_packs([root / place])}
        except ConfigError as error:
            yield _problem((*path, "paths", number), error)
    for number, name in enumerate(() if options.packs == "auto" else options.packs):
        if name not in packs:
            yield _find_no_rule((*path, "packs", number), f"there is no pack {name!r}", name, packs)


def _find_no_rule(path: KeyPath, text: str, name: str, names: Collection[str]) -> Problem:
    meant = did_you_mean(name, names) or "`prjury rules list` names the packs"
    return _problem(path, f"{text}. {meant}")


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
            yield _find_no_rule(path, f"there is no rule or pack {name!r}", name, rules)


def _check_recipes(config: Config, root: Path) -> Iterator[Problem]:
    sources: dict[str, str] = {}
    for number, place in enumerate(config.build.options.recipes):
        path = ("build", "recipes", number)
        try:
            recipe = load_recipe(root / place, place)
        except ConfigError as error:
            yield _problem(path, error.problems[0] if error.problems else error)
            continue
        if (other := sources.setdefault(recipe.name, place)) != place:
            yield _problem(path, f"{other} is called {recipe.name} as well")


def _check_function(rule: FunctionOptions, path: KeyPath, root: Path) -> Iterator[Problem]:
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


def _check_models(config: Config) -> Iterator[Problem]:
    try:
        ports = model_ports(config)
    except ConfigError as error:
        yield Problem(("models",), str(error).rstrip("."))
        return
    for i, tier in enumerate(config.tiers):
        yield from _try(("tiers", i), partial(try_models, replace(config, tiers=[tier]), ports))


def find_unlikely_settings(config: Config) -> Iterator[Problem]:
    """Find what is allowed, and hardly meant: a gate that never opens, or that little closes."""

    def doubt(*path: str, text: str) -> Problem:
        return Problem(path, f"{'.'.join(path)}: {text}")

    models_only = [
        all(JUDGES.get(entry.name, "").startswith(ASKING) for entry in tier.judges)
        for tier in config.tiers
    ]
    advisory = [tier.advisory for tier in config.tiers]
    if all(
        how is True or (how == "auto" and only)
        for how, only in zip(advisory, models_only, strict=True)
    ):
        text = "every tier is advisory, so nobody votes and the gate never opens"
        yield doubt("tiers", text=f"{text}; set `advisory: false` for one")
    elif all(models_only):
        text = "only models are asked; where none is configured, nobody votes"
        yield doubt("tiers", text=f"{text} and the gate is closed")
    if not any(entry.patterns for tier in config.tiers for entry in tier.judges):
        text = "no tier has `patterns`, so versions are not looked at; `extend` adds judges and "
        yield doubt("tiers", text=f"{text}replaces none")
    missing = [word for word in ("fail", "error", "abstain") if word not in config.gate.block_on]
    if not config.gate.block_on:
        yield doubt("gate", "block_on", text="no verdict closes the gate, not even a failure")
    elif missing:
        text = f"the verdict {' or '.join(missing)} does not close the gate"
        yield doubt("gate", "block_on", text=text)
    if config.fix.enabled and not any(build.from_ == "run" for build in list_build_options(config)):
        yield doubt("fix", "enabled", text="no build runs here, so nothing is repaired")
    if config.gate.coverage_floor == 0:
        text = "the gate opens for changes that nobody has read"
        yield doubt("gate", "coverage_floor", text=text)
