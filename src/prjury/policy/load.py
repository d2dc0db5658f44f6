"""From a policy's text to a `Policy`, or to an error that names key path, line and cure."""

from __future__ import annotations

import hashlib
import json
import textwrap
import types
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from prjury.errors import ConfigError, did_you_mean
from prjury.policy.gone import SEATS, replacement_of_key
from prjury.policy.schema import Config
from prjury.policy.tiers import JudgeEntry
from prjury.policy.voting import VotingEntry
from prjury.policy.yaml_reader import Document, KeyPath, read_yaml
from prjury.snapshot.model import visible

_Section = TypeVar("_Section", bound=BaseModel)

#: Where the policy stands in a repository.
POLICY_PATH = ".github/prjury.yml"


@dataclass(frozen=True)
class Policy:
    """A configuration with every default filled in, and where it came from.

    Attributes:
        source: ``base:<sha>:<path>``, ``default`` or ``file:<path>``.
        hash: sha256 of the resolved configuration, 64 hex digits.
    """

    config: Config
    source: str

    def on(self, branch: str) -> Policy:
        """The policy as it is for changes to a branch."""
        return Policy(self.config.on(branch), self.source)

    @property
    def built_elsewhere(self) -> Policy:
        """The policy where its builds were made in another job."""
        tiers = [
            tier.model_copy(update={"judges": list(map(_take_evidence, tier.judges))})
            for tier in self.config.tiers
        ]
        return Policy(self.config.model_copy(update={"tiers": tiers}), self.source)

    @property
    def resolved(self) -> Mapping[str, Any]:
        """The whole configuration as JSON, defaults included."""
        resolved: dict[str, Any] = self.config.model_dump(mode="json", by_alias=True)
        tiers = [_compact(tier) for tier in resolved["tiers"]]
        return {**resolved, "extend": [], "tiers": tiers}

    @property
    def hash(self) -> str:
        """Changes when and only when the resolved configuration does."""
        text = json.dumps(self.resolved, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()


def _take_evidence(entry: JudgeEntry) -> JudgeEntry:
    ran = entry.build or entry.command
    if ran is None or ran.from_ != "run":
        return entry
    return entry.model_copy(update={entry.name: ran.model_copy(update={"from_": "evidence"})})


def _compact(tier: dict[str, Any]) -> dict[str, Any]:
    judges = [{k: v for k, v in judge.items() if v is not None} for judge in tier["judges"]]
    compact = {**tier, "judges": judges, "voting": _named_only(tier["voting"])}
    cases = [{**case, "voting": _named_only(case["voting"])} for case in compact.pop("when")]
    return {**compact, "when": cases} if cases else compact


def _named_only(voting: dict[str, Any] | None) -> dict[str, Any] | None:
    return voting and {name: options for name, options in voting.items() if options is not None}


def default_policy() -> Policy:
    """The policy of a repository without a file."""
    return Policy(Config(), "default")


def read_policy(
    text: str, source: str, *, shown: str | None = None, commit: str | None = None
) -> Policy:
    """The policy that a file's text describes; an empty file is the default one.

    Args:
        source: recorded in the report.
        shown: what the file is called in messages, if not the same.
        commit: the commit that the text is from, and with it the files that it names.

    Raises:
        ConfigError: naming key path, line, value and what is allowed.
    """
    return Policy(validated(read_yaml(text, shown or source), Config, commit), source)


def validated(document: Document, model: type[_Section], commit: str | None = None) -> _Section:
    """The document as a section; an empty one has only defaults.

    Raises:
        ConfigError: naming key path, line, value and what is allowed.
    """
    value = {} if document.value is None else document.value
    try:
        return model.model_validate(value, context={"commit": commit, "written": True})
    except ValidationError as error:
        raise refused(document, list(_problems(error, document, model))) from error


def json_schema() -> dict[str, Any]:
    """The JSON Schema of the configuration file, for editors."""
    schema = Config.model_json_schema(by_alias=True)
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["$id"] = "urn:prjury:policy:v1"
    schema["title"] = "PR Jury configuration"
    _describe_references(schema, schema["$defs"])
    seated = {"not": {"enum": list(SEATS)}}
    schema["$defs"]["JudgeEntry"]["propertyNames"] = seated
    names: dict[str, dict[str, Any]]
    names = {"JudgeEntry": seated, "VotingEntry": {"enum": list(VotingEntry.model_fields)}}
    for entry, allowed in names.items():
        full = schema["$defs"][entry]
        schema["$defs"][entry] = {"anyOf": [{"type": "string", **allowed}, full]}
    return schema


def _describe_references(node: Any, sections: Mapping[str, Any]) -> None:  # noqa: ANN401 - JSON
    if isinstance(node, list):
        for item in node:
            _describe_references(item, sections)
    if not isinstance(node, dict):
        return
    for key in node.get("properties", {}).values():
        forms = [key, *key.get("anyOf", ())]
        names = [form["$ref"].rpartition("/")[2] for form in forms if "$ref" in form]
        if names and "description" not in key:
            key["description"] = sections[names[0]]["description"]
    for item in node.values():
        _describe_references(item, sections)


@dataclass(frozen=True)
class Problem:
    """What is wrong at a key path; the text names the path."""

    path: KeyPath
    text: str


def refused(document: Document, problems: Sequence[Problem]) -> ConfigError:
    """The error with all problems, in the order of the file."""
    placed = _place_problems(document, problems)
    reported = [f"{document.source} line {line}: {text}" for line, _, text in placed]
    return ConfigError("; ".join(reported)).at(placed_lines(document, problems))


def placed_lines(document: Document, problems: Iterable[Problem]) -> list[str]:
    """``file:line:column: text`` for each, in the order of the file."""
    placed = _place_problems(document, problems)
    return [f"{document.source}:{line}:{column}: {text}" for line, column, text in placed]


def _place_problems(document: Document, problems: Iterable[Problem]) -> list[tuple[int, int, str]]:
    return sorted({(*document.place_of(each.path), each.text) for each in problems})


def _problems(
    error: ValidationError, document: Document, model: type[BaseModel]
) -> Iterator[Problem]:
    details: list[dict[str, Any]] = [{**detail} for detail in error.errors()]
    paths = [tuple(part for part in each["loc"] if _stands(part, document)) for each in details]
    requirements_by_place: dict[tuple[KeyPath, str, str], list[str]] = {}
    for path, detail in zip(paths, details, strict=True):
        if detail["type"] in _OTHER_FORM and any(
            other[: len(path)] == path != other for other in paths
        ):
            continue  # another form of the value was meant, and the problem is inside of it
        name, requirement, given = _problem(path, detail, model)
        requirements_by_place.setdefault((path, name, given), []).append(requirement)
    for (path, name, given), requirements in requirements_by_place.items():
        yield Problem(path, f"{name}{_either(requirements)}{given}")


#: Errors that say only that a value is of another type.
_OTHER_FORM = frozenset(
    "bool_type dict_type list_type literal_error model_type string_type tuple_type".split()
)


def _either(requirements: Sequence[str]) -> str:
    first, *others = dict.fromkeys(requirements)
    return " or ".join([first, *[other.removeprefix("input should be ") for other in others]])


def _problem(path: KeyPath, detail: dict[str, Any], model: type[BaseModel]) -> tuple[str, str, str]:
    if detail["type"] == "missing":
        return f"{dotted((*path, detail['loc'][-1]))}: ", "this key is needed", ""
    name = dotted(path) or "the file"
    if detail["type"] == "extra_forbidden":
        wrong = str(detail["loc"][-1])
        place = path if path and path[-1] == wrong else (*path, wrong)
        if instead := replacement_of_key(place):
            return "", f"{dotted(place)} is gone; {instead}", ""
        if path and path[-1] == wrong:
            return "", f"{name} is not a known key{_hint(path, model)}", ""
        return f"{name}: ", f"{visible(wrong)} is not known{_hint((*path, wrong), model)}", ""
    return f"{name}: ", _requirement(detail), _show_value(detail)


def _stands(part: str | int, document: Document) -> bool:
    """Tell whether the part of a location is a key of the file, not a branch of a union type."""
    return isinstance(part, int) or any(part in path for path in document.lines)


def dotted(path: KeyPath) -> str:
    """``tiers[0].judges[1]``."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return visible(text)


def _requirement(detail: dict[str, Any]) -> str:
    message: str = detail["msg"].removeprefix("Value error, ")
    if detail["type"] in {"model_type", "model_attributes_type", "dict_type"}:
        return "a mapping of keys to values is expected here"
    if detail["type"] == "too_short":
        return "at least one entry is needed here"
    return message[:1].lower() + message[1:]


_WITHOUT_THE_VALUE = frozenset({"missing", "too_short", "complete"})


def _show_value(detail: dict[str, Any]) -> str:
    value = detail.get("input")
    whole = detail["type"] == "value_error" and isinstance(value, dict | list)
    if whole or isinstance(value, BaseModel) or detail["type"] in _WITHOUT_THE_VALUE:
        return ""
    shown = visible(json.dumps(value, ensure_ascii=False, default=str))
    return f", not {textwrap.shorten(shown, 60, placeholder='…')}"


def _hint(path: KeyPath, model: type[BaseModel]) -> str:
    allowed = list(_keys_at(path[:-1], model))
    if meant := did_you_mean(str(path[-1]), allowed) if path else "":
        return f"; {meant[:1].lower()}{meant[1:]}"
    return f"; allowed are {', '.join(sorted(allowed))}" if allowed else ""


def _keys_at(path: Sequence[str | int], model: type[BaseModel]) -> Iterator[str]:
    models: list[type[BaseModel]] = [model]
    for part in path:
        if isinstance(part, str):
            models = [m for model in models for m in _models_in(_annotation(model, part))]
    for candidate in models:
        for name, info in candidate.model_fields.items():
            yield info.alias or name


def _annotation(model: type[BaseModel], key: str) -> Any:  # noqa: ANN401 - a type expression
    for name, info in model.model_fields.items():
        if key in {name, info.alias}:
            return info.annotation
    return None


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:  # noqa: ANN401 - a type expression
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    elif get_origin(annotation) in {list, Union, types.UnionType}:
        for argument in get_args(annotation):
            yield from _models_in(argument)
