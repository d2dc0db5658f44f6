"""A workflow file: what starts it, and what its jobs run.

Values are taken where GitHub expects them and nowhere else, so that a file with aliases, which
GitHub allows, cannot make the reader walk without end.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, TypeAlias

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from prjury.errors import ConfigError
from prjury.policy.yaml_reader import KeyPath, read_yaml

LARGEST = 512 * 1024

#: Every scope at once, as `read-all` and `write-all` say it.
ALL = "*"
Permissions: TypeAlias = Mapping[str, str]

#: What starts a workflow where it names no types.
_GITHUBS_TYPES = ("opened", "synchronize", "reopened")
#: A name that depends on a condition: what it is where the condition does not hold comes last.
_EITHER = re.compile(
    r"\$\{\{(?P<condition>.+) && '(?P<then>[^']*)' \|\| '(?P<otherwise>[^']*)' *\}\}"
)
_FILTERS = ("paths", "paths-ignore", "branches", "branches-ignore")


def _mapping(value: object) -> Mapping[Any, Any]:
    return value if isinstance(value, Mapping) else {}


def _read_text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, str | int | float) else ""


def _read_words(value: object) -> tuple[str, ...]:
    texts = map(_read_text, value if isinstance(value, list | tuple) else [value])
    return tuple(text for text in texts if text)


def _read_texts(value: object) -> dict[str, str]:
    return {str(key): _read_text(item) for key, item in _mapping(value).items()}


def _permissions(value: object) -> Permissions:
    return {ALL: value.removesuffix("-all")} if isinstance(value, str) else _read_texts(value)


def _triggers(value: object) -> Mapping[str, Any]:
    if isinstance(value, Mapping):
        return {str(event): _trigger(_mapping(options)) for event, options in value.items()}
    return {event: {} for event in _read_words(value)}


def _trigger(options: Mapping[Any, Any]) -> dict[Any, Any]:
    return {**options, "filters": tuple(name for name in _FILTERS if name in options)}


def _jobs(value: object) -> list[Any]:
    return [{**_mapping(job), "id": str(key)} for key, job in _mapping(value).items()]


def _keys(value: object) -> tuple[str, ...]:
    return tuple(map(str, _mapping(value)))


def _run_defaults(value: object) -> dict[str, str]:
    return _read_texts(_mapping(value).get("run"))


def _image(value: object) -> str:
    return _read_text(value.get("image") if isinstance(value, Mapping) else value)


def _list_steps(value: object) -> list[Any]:
    return list(map(_mapping, value)) if isinstance(value, list) else []


def _defaults_of_inputs(value: object) -> dict[str, str]:
    return {
        str(name): _read_text(_mapping(one).get("default")) for name, one in _mapping(value).items()
    }


_Text: TypeAlias = Annotated[str, BeforeValidator(_read_text)]
_Words: TypeAlias = Annotated[tuple[str, ...], BeforeValidator(_read_words)]
_Texts: TypeAlias = Annotated[dict[str, str], BeforeValidator(_read_texts)]
_RunDefaults: TypeAlias = Annotated[dict[str, str], BeforeValidator(_run_defaults)]
_Granted: TypeAlias = Annotated[Permissions | None, BeforeValidator(_permissions)]
#: The inputs of a workflow or an action, with their defaults.
_Inputs: TypeAlias = Annotated[dict[str, str], BeforeValidator(_defaults_of_inputs)]
#: Whether a key is there, whatever it says.
_There: TypeAlias = Annotated[bool, BeforeValidator(lambda _: True)]
#: An expression may come to yes, and counts as one.
_Yes: TypeAlias = Annotated[
    bool, BeforeValidator(lambda value: _read_text(value) not in {"", "false"})
]


class _WorkflowPart(BaseModel):
    model_config = ConfigDict(frozen=True)


class Trigger(_WorkflowPart):
    """An event that starts a workflow, with the names of its filters and a caller's inputs."""

    types: Annotated[tuple[str, ...] | None, BeforeValidator(_read_words)] = None
    filters: tuple[str, ...] = ()
    workflows: _Words = ()
    inputs: _Inputs = Field(default_factory=dict)

    @property
    def started_by(self) -> tuple[str, ...]:
        """The types of a pull request's event that start it."""
        return self.types or _GITHUBS_TYPES


class WorkflowStep(_WorkflowPart):
    """A step of a job; a text that is not given is empty, a line that is not known is 0."""

    name: _Text = ""
    uses: _Text = ""
    run: _Text = ""
    condition: _Text = Field("", alias="if")
    continues: _Yes = Field(default=False, alias="continue-on-error")
    inputs: _Texts = Field(default_factory=dict, alias="with")
    env: _Texts = Field(default_factory=dict)
    directory: _Text = Field("", alias="working-directory")
    shell: _Text = ""
    line: int = 0

    @property
    def action(self) -> str:
        """The action without its version."""
        return self.uses.partition("@")[0]


class WorkflowJob(_WorkflowPart):
    """A job; ``uses`` is the workflow that it calls, with these inputs; ``container`` an image."""

    id: str
    title: _Text = Field("", alias="name")
    condition: _Text = Field("", alias="if")
    needs: _Words = ()
    uses: _Text = ""
    inputs: _Texts = Field(default_factory=dict, alias="with")
    continues: _Yes = Field(default=False, alias="continue-on-error")
    has_concurrency: _There = Field(default=False, alias="concurrency")
    strategy: Annotated[Mapping[Any, Any], BeforeValidator(_mapping)] = Field(default_factory=dict)
    inherits_secrets: _There = Field(default=False, alias="secrets")
    permissions: _Granted = None
    env: _Texts = Field(default_factory=dict)
    runs_on: _Words = Field((), alias="runs-on")
    services: Annotated[tuple[str, ...], BeforeValidator(_keys)] = ()
    container: Annotated[str, BeforeValidator(_image)] = ""
    defaults: _RunDefaults = Field(default_factory=dict)
    steps: Annotated[tuple[WorkflowStep, ...], BeforeValidator(_list_steps)] = ()

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


class Workflow(_WorkflowPart):
    """A workflow file; ``defaults`` are those of its steps that run commands."""

    path: str
    title: _Text = Field("", alias="name")
    triggers: Annotated[Mapping[str, Trigger], BeforeValidator(_triggers)] = Field(
        default_factory=dict, alias="on"
    )
    permissions: _Granted = None
    has_concurrency: _There = Field(default=False, alias="concurrency")
    env: _Texts = Field(default_factory=dict)
    defaults: _RunDefaults = Field(default_factory=dict)
    jobs: Annotated[tuple[WorkflowJob, ...], BeforeValidator(_jobs)] = ()

    @property
    def name(self) -> str:
        """What `workflow_run` knows it by: its path where it has no name."""
        return self.title or self.path


class CompositeAction(_WorkflowPart):
    """An action that is a list of steps; its inputs are with their defaults."""

    path: str
    inputs: _Inputs = Field(default_factory=dict)
    steps: Annotated[tuple[WorkflowStep, ...], BeforeValidator(_list_steps)] = ()


def read_workflow(text: str, path: str) -> Workflow:
    """Read a workflow; ConfigError when it is no YAML, too large, or not a mapping."""
    top, lines = _load_document(text, path)
    for name, job in _mapping(top.get("jobs")).items():
        _number_steps(_mapping(job).get("steps"), ("jobs", name, "steps"), lines)
    return Workflow.model_validate({**top, "path": path})


def read_composite(text: str, path: str) -> CompositeAction | None:
    """Read an ``action.yml``; None if it is a program or an image."""
    top, lines = _load_document(text, path)
    runs = _mapping(top.get("runs"))
    if runs.get("using") != "composite":
        return None
    _number_steps(runs.get("steps"), ("runs", "steps"), lines)
    inputs = {"inputs": top.get("inputs"), "steps": runs.get("steps"), "path": path}
    return CompositeAction.model_validate(inputs)


def _number_steps(steps: object, path: KeyPath, lines: Mapping[KeyPath, int]) -> None:
    """Note the first line of each step's commands; those of a block stand below their key."""
    for index, step in enumerate(steps if isinstance(steps, list) else ()):
        if isinstance(step, dict):
            line = lines.get((*path, index, "run"), 0)
            step["line"] = line + ("\n" in _read_text(step.get("run"))) if line else 0


def _load_document(text: str, path: str) -> tuple[Mapping[Any, Any], Mapping[KeyPath, int]]:
    """Our strict reader, or where it refuses what GitHub allows, one that only knows strings."""
    lines: Mapping[KeyPath, int] = {}
    try:
        document = read_yaml(text, path, LARGEST)
        top, lines = document.value, document.lines
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
