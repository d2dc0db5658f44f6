"""A workflow file as far as the checks read it.

Values are taken where GitHub expects them and nowhere else, so that a file with aliases, which
GitHub allows, cannot make the reader walk without end.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from prjury.errors import ConfigError
from prjury.policy.yaml_reader import read_yaml

LARGEST = 512 * 1024

#: Every scope at once, as `read-all` and `write-all` say it.
ALL = "*"
Permissions = Mapping[str, str]

#: What starts a workflow where it names no types.
_GITHUBS_TYPES = ("opened", "synchronize", "reopened")
_FILTERS = ("paths", "paths-ignore", "branches", "branches-ignore")


@dataclass(frozen=True)
class Trigger:
    """An event that starts a workflow.

    Attributes:
        types: None where the file leaves them to GitHub.
        filters: the names of the filters by which it may not start.
        workflows: the names that `workflow_run` waits for.
    """

    types: tuple[str, ...] | None = None
    filters: tuple[str, ...] = ()
    workflows: tuple[str, ...] = ()

    @property
    def started_by(self) -> tuple[str, ...]:
        """The types of a pull request's event that start it."""
        return self.types or _GITHUBS_TYPES


@dataclass(frozen=True)
class WorkflowStep:
    """A step of a job; what is not given is an empty text."""

    uses: str = ""
    run: str = ""
    condition: str = ""
    continues: bool = False
    inputs: Mapping[str, str] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)

    @property
    def action(self) -> str:
        """The action without its version."""
        return self.uses.partition("@")[0]


@dataclass(frozen=True)
class WorkflowJob:
    """A job.

    Attributes:
        name: what its check is called.
        uses: the reusable workflow that it calls.
        permissions: None where the job says nothing of them.
    """

    id: str
    name: str
    condition: str = ""
    needs: tuple[str, ...] = ()
    uses: str = ""
    continues: bool = False
    has_concurrency: bool = False
    has_matrix: bool = False
    inherits_secrets: bool = False
    permissions: Permissions | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    steps: tuple[WorkflowStep, ...] = ()


@dataclass(frozen=True)
class Workflow:
    """A workflow file.

    Attributes:
        name: what `workflow_run` knows it by: its path where it has no name.
    """

    path: str
    name: str
    triggers: Mapping[str, Trigger] = field(default_factory=dict)
    permissions: Permissions | None = None
    has_concurrency: bool = False
    env: Mapping[str, str] = field(default_factory=dict)
    jobs: tuple[WorkflowJob, ...] = ()


def read_workflow(text: str, path: str) -> Workflow:
    """The workflow in a file's text.

    Raises:
        ConfigError: when it is no YAML, too large, or not a mapping.
    """
    top = _loaded(text, path)
    if not isinstance(top, Mapping):
        raise ConfigError(f"{path} is no workflow: it holds no keys")
    return Workflow(
        path,
        _text(top.get("name")) or path,
        _triggers(top.get("on")),
        _permissions(top),
        "concurrency" in top,
        _texts(top.get("env")),
        tuple(_job(str(key), value) for key, value in _mapping(top.get("jobs")).items()),
    )


def _loaded(text: str, path: str) -> Any:  # noqa: ANN401 - YAML
    """Our strict reader, or where it refuses what GitHub allows, one that only knows strings."""
    try:
        return read_yaml(text, path, LARGEST).value
    except ConfigError as refusal:
        if refusal.reason != "config_alias_forbidden":
            raise
    try:
        return yaml.load(text, yaml.BaseLoader)  # noqa: S506 - it makes nothing but strings
    except (yaml.YAMLError, RecursionError) as error:
        raise ConfigError(f"{path} is not YAML that GitHub reads") from error


def _triggers(value: object) -> Mapping[str, Trigger]:
    if isinstance(value, Mapping):
        return {str(event): _trigger(options) for event, options in value.items()}
    return {event: Trigger() for event in _words(value)}


def _trigger(value: object) -> Trigger:
    options = _mapping(value)
    return Trigger(
        _words(options["types"]) if "types" in options else None,
        tuple(name for name in _FILTERS if name in options),
        _words(options.get("workflows")),
    )


def _job(key: str, value: object) -> WorkflowJob:
    job = _mapping(value)
    steps = job.get("steps")
    return WorkflowJob(
        key,
        _text(job.get("name")) or key,
        _text(job.get("if")),
        _words(job.get("needs")),
        _text(job.get("uses")),
        _says_yes(job.get("continue-on-error")),
        "concurrency" in job,
        "matrix" in _mapping(job.get("strategy")),
        "secrets" in job,
        _permissions(job),
        _texts(job.get("env")),
        tuple(map(_step, steps)) if isinstance(steps, list) else (),
    )


def _step(value: object) -> WorkflowStep:
    step = _mapping(value)
    return WorkflowStep(
        _text(step.get("uses")),
        _text(step.get("run")),
        _text(step.get("if")),
        _says_yes(step.get("continue-on-error")),
        _texts(step.get("with")),
        _texts(step.get("env")),
    )


def _permissions(place: Mapping[Any, Any]) -> Permissions | None:
    if "permissions" not in place:
        return None
    value = place["permissions"]
    if isinstance(value, str):
        return {ALL: value.removesuffix("-all")}
    return _texts(value)


def _says_yes(value: object) -> bool:
    """An expression may come to yes, and counts as one."""
    return _text(value) not in {"", "false"}


def _mapping(value: object) -> Mapping[Any, Any]:
    return value if isinstance(value, Mapping) else {}


def _texts(value: object) -> Mapping[str, str]:
    return {str(key): _text(item) for key, item in _mapping(value).items()}


def _words(value: object) -> tuple[str, ...]:
    if isinstance(value, list):
        return tuple(text for text in map(_text, value) if text)
    text = _text(value)
    return (text,) if text else ()


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, str | int | float) else ""
