"""A workflow file: what starts it, and what its jobs run.

Values are taken where GitHub expects them and nowhere else, so that a file with aliases, which
GitHub allows, cannot make the reader walk without end.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypeAlias

import yaml
from msgspec import Struct

from prjury.errors import ConfigError
from prjury.policy.yaml_reader import KeyPath, read_yaml

LARGEST = 512 * 1024

#: Every scope at once, as `read-all` and `write-all` say it.
ALL = "*"
Permissions: TypeAlias = Mapping[str, str]
#: The line of each key path.
Lines: TypeAlias = Mapping[KeyPath, int]

#: What starts a workflow where it names no types.
_GITHUBS_TYPES = ("opened", "synchronize", "reopened")
#: A name that depends on a condition: what it is where the condition does not hold comes last.
_EITHER = re.compile(
    r"\$\{\{(?P<condition>.+) && '(?P<then>[^']*)' \|\| '(?P<otherwise>[^']*)' *\}\}"
)
_FILTERS = ("paths", "paths-ignore", "branches", "branches-ignore")


class Trigger(Struct, frozen=True):
    """An event that starts a workflow, its filters, and a caller's inputs, some of them flags."""

    types: tuple[str, ...] | None = None
    filters: tuple[str, ...] = ()
    workflows: tuple[str, ...] = ()
    inputs: Mapping[str, str] = {}
    flags: frozenset[str] = frozenset()

    @property
    def started_by(self) -> tuple[str, ...]:
        return self.types or _GITHUBS_TYPES


class WorkflowStep(Struct, frozen=True):
    """A step of a job; a text that is not given is empty, a line that is not known is 0."""

    name: str = ""
    uses: str = ""
    run: str = ""
    condition: str = ""
    continues: bool = False
    inputs: Mapping[str, str] = {}
    env: Mapping[str, str] = {}
    directory: str = ""
    shell: str = ""
    line: int = 0

    @property
    def action(self) -> str:
        return self.uses.partition("@")[0]


class WorkflowJob(Struct, frozen=True):
    """A job; ``uses`` is the workflow that it calls, with these inputs; ``container`` an image."""

    id: str
    title: str = ""
    condition: str = ""
    needs: tuple[str, ...] = ()
    uses: str = ""
    inputs: Mapping[str, str] = {}
    continues: bool = False
    strategy: Mapping[Any, Any] = {}
    inherits_secrets: bool = False
    permissions: Permissions | None = None
    env: Mapping[str, str] = {}
    runs_on: tuple[str, ...] = ()
    services: tuple[str, ...] = ()
    container: str = ""
    defaults: Mapping[str, str] = {}
    steps: tuple[WorkflowStep, ...] = ()

    @property
    def name(self) -> str:
        """What its check is called; where that depends, what it is called when there is work."""
        either = _EITHER.fullmatch(self.title)
        return either["otherwise"] if either else self.title or self.id

    @property
    def idle_if(self) -> str:
        """The condition under which it has another name, and so is another check; may be empty."""
        either = _EITHER.fullmatch(self.title)
        return either["condition"].strip() if either else ""

    @property
    def has_matrix(self) -> bool:
        """True if it is several jobs, each with a name of its own."""
        return "matrix" in self.strategy


class Workflow(Struct, frozen=True):
    """A workflow file; ``defaults`` are those of its steps that run commands."""

    path: str
    title: str = ""
    triggers: Mapping[str, Trigger] = {}
    permissions: Permissions | None = None
    env: Mapping[str, str] = {}
    defaults: Mapping[str, str] = {}
    jobs: tuple[WorkflowJob, ...] = ()

    @property
    def name(self) -> str:
        """What `workflow_run` knows it by: its path where it has no name."""
        return self.title or self.path


class CompositeAction(Struct, frozen=True):
    """An action that is a list of steps; its inputs are with their defaults."""

    path: str
    inputs: Mapping[str, str] = {}
    steps: tuple[WorkflowStep, ...] = ()


def read_workflow(text: str, path: str) -> Workflow:
    """Read a workflow; ConfigError when it is no YAML, too large, or not a mapping."""
    top, lines = _load_document(text, path)
    jobs = _mapping(top.get("jobs")).items()
    return Workflow(
        path=path,
        title=_read_text(top.get("name")),
        triggers=_read_triggers(top.get("on")),
        permissions=_read_permissions(top),
        env=_read_texts(top.get("env")),
        defaults=_read_texts(_mapping(top.get("defaults")).get("run")),
        jobs=tuple(_read_job(name, _mapping(job), lines) for name, job in jobs),
    )


def read_composite_action(text: str, path: str) -> CompositeAction | None:
    """Read an ``action.yml``; None if it is a program or an image."""
    top, lines = _load_document(text, path)
    runs = _mapping(top.get("runs"))
    if runs.get("using") != "composite":
        return None
    steps = _read_steps(runs.get("steps"), ("runs", "steps"), lines)
    return CompositeAction(path, _read_inputs(top.get("inputs")), steps)


def _read_triggers(value: object) -> Mapping[str, Trigger]:
    events = value if isinstance(value, Mapping) else dict.fromkeys(_read_words(value))
    triggers = {}
    for event, settings in events.items():
        options = _mapping(settings)
        inputs = _mapping(options.get("inputs"))
        flags = (name for name in inputs if _mapping(inputs[name]).get("type") == "boolean")
        triggers[str(event)] = Trigger(
            types=_read_words(options["types"]) if "types" in options else None,
            filters=tuple(name for name in _FILTERS if name in options),
            workflows=_read_words(options.get("workflows")),
            inputs=_read_inputs(inputs),
            flags=frozenset(map(str, flags)),
        )
    return triggers


def _read_job(name: str, job: Mapping[Any, Any], lines: Lines) -> WorkflowJob:
    return WorkflowJob(
        id=str(name),
        title=_read_text(job.get("name")),
        condition=_read_text(job.get("if")),
        needs=_read_words(job.get("needs")),
        uses=_read_text(job.get("uses")),
        inputs=_read_texts(job.get("with")),
        continues=_may_hold(job.get("continue-on-error")),
        strategy=_mapping(job.get("strategy")),
        inherits_secrets="secrets" in job,
        permissions=_read_permissions(job),
        env=_read_texts(job.get("env")),
        runs_on=_read_words(job.get("runs-on")),
        services=tuple(map(str, _mapping(job.get("services")))),
        container=_read_text(_mapping(job.get("container")).get("image", job.get("container"))),
        defaults=_read_texts(_mapping(job.get("defaults")).get("run")),
        steps=_read_steps(job.get("steps"), ("jobs", name, "steps"), lines),
    )


def _read_steps(value: object, path: KeyPath, lines: Lines) -> tuple[WorkflowStep, ...]:
    steps = []
    for number, item in enumerate(value if isinstance(value, list) else []):
        step = _mapping(item)
        line = lines.get((*path, number, "run"), 0)
        steps.append(
            WorkflowStep(
                name=_read_text(step.get("name")),
                uses=_read_text(step.get("uses")),
                run=_read_text(step.get("run")),
                condition=_read_text(step.get("if")),
                continues=_may_hold(step.get("continue-on-error")),
                inputs=_read_texts(step.get("with")),
                env=_read_texts(step.get("env")),
                directory=_read_text(step.get("working-directory")),
                shell=_read_text(step.get("shell")),
                # The lines of a block stand below its key.
                line=line + ("\n" in _read_text(step.get("run"))) if line else 0,
            )
        )
    return tuple(steps)


def _mapping(value: object) -> Mapping[Any, Any]:
    return value if isinstance(value, Mapping) else {}


def _read_text(value: object) -> str:
    text = str(value) if isinstance(value, str | int | float) else ""
    return text.lower() if isinstance(value, bool) else text


def _read_words(value: object) -> tuple[str, ...]:
    texts = map(_read_text, value if isinstance(value, list | tuple) else [value])
    return tuple(text for text in texts if text)


def _read_texts(value: object) -> dict[str, str]:
    return {str(key): _read_text(item) for key, item in _mapping(value).items()}


def _read_inputs(value: object) -> dict[str, str]:
    inputs = _mapping(value).items()
    return {str(name): _read_text(_mapping(item).get("default")) for name, item in inputs}


def _read_permissions(part: Mapping[Any, Any]) -> Permissions | None:
    if "permissions" not in part:
        return None
    value = part["permissions"]
    return {ALL: value.removesuffix("-all")} if isinstance(value, str) else _read_texts(value)


def _may_hold(value: object) -> bool:
    return _read_text(value) not in {"", "false"}


def _load_document(text: str, path: str) -> tuple[Mapping[Any, Any], Lines]:
    """Our strict reader, or where it refuses what GitHub allows, one that only knows strings."""
    lines: Lines = {}
    try:
        document = read_yaml(text, path, LARGEST)
        top = document.value
        lines = {key: line for key, (line, _) in document.places.items()}
    except ConfigError as refusal:
        if refusal.reason != "config_alias_forbidden":
            raise
        try:
            top = yaml.load(text, yaml.BaseLoader)  # noqa: S506 - it makes nothing but strings
        except (yaml.YAMLError, RecursionError) as error:
            raise ConfigError(f"{path} is not YAML that GitHub reads") from error
    if not isinstance(top, Mapping):
        raise ConfigError(f"{path} is no workflow: it holds no keys")
    return top, lines
