"""From a policy's text to a `Policy`, or to an error that names key path, line and cure."""

from __future__ import annotations

import hashlib
import inspect
import json
import re
import textwrap
import types
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

import msgspec.structs
from msgspec import Struct, ValidationError
from msgspec.structs import replace

from prjury.errors import ConfigError, did_you_mean
from prjury.policy.fields import (
    SENTENCES,
    Duration,
    MisfitError,
    NamedEntry,
    PolicySection,
    TypeForm,
    convert_section,
    to_plain,
)
from prjury.policy.options import CommandOptions, VotingEntry
from prjury.policy.schema import Config, complete_config
from prjury.policy.tiers import OPTIONS, SEATS, BuildOptions, JudgeEntry
from prjury.policy.yaml_reader import Document, KeyPath, read_yaml
from prjury.snapshot.model import visible

_Section = TypeVar("_Section", bound=PolicySection)

#: What to use for keys of earlier releases, by the key above (empty at the top) and their own.
_KEYS = {
    ("gate", "override"): "an override is a comment now: `/prjury override REASON`",
    ("backport", "override"): "use `/prjury backport BRANCH`, or a label that asks for a branch",
    ("backport", "most"): "name the branches with `backport: {branches: […]}`",
    ("backport", "trailers"): "leave it out: lines such as `Backport-to: 1.2.x` always count",
    ("open", "title"): "leave it out: the title is `[BRANCH] TITLE`",
    ("models", "fallback"): "leave it out, or seat several models with `models: {panel: […]}`",
    ("sandbox", "mounts"): "name what a build may read with `sandbox: {lend: [npmrc]}`",
    ("suppressions", "ecosystem"): "use `suppressions: {allow: false}` for all of them",
    ("patterns", "suppressions"): "use `suppressions: {allow: false}`",
    ("patterns", "ecosystem"): "use `suppressions: {allow: false}`",
}


class Policy(Struct, frozen=True):
    """A configuration with every default filled in, and where it came from."""

    config: Config
    #: ``base:<sha>:<path>``, ``default`` or ``file:<path>``.
    source: str

    def adapt_to_branch(self, branch: str) -> Policy:
        tiers = [tier.adapt_to_branch(branch) for tier in self.config.tiers]
        return Policy(replace(self.config, tiers=tiers), self.source)

    @property
    def built_elsewhere(self) -> Policy:
        """The policy where its builds were made in another job."""
        tiers = [tier.with_judges(map(_take_evidence, tier.judges)) for tier in self.config.tiers]
        return Policy(replace(self.config, tiers=tiers), self.source)

    @property
    def resolved(self) -> Mapping[str, Any]:
        resolved: dict[str, Any] = to_plain(self.config)
        tiers = [
            {key: value for key, value in tier.items() if key != "when" or value}
            for tier in resolved["tiers"]
        ]
        return {**resolved, "extend": [], "tiers": tiers}

    @property
    def hash(self) -> str:
        """sha256 in 64 hex digits; changes when and only when the resolved configuration does."""
        text = json.dumps(self.resolved, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()


def _take_evidence(entry: JudgeEntry) -> JudgeEntry:
    options = entry.options
    if isinstance(options, BuildOptions) and options.from_ == "run":
        return entry.with_options(options.with_changes(from_="evidence"))
    if isinstance(options, CommandOptions) and options.from_ == "run":
        return entry.with_options(replace(options, from_="evidence"))
    return entry


def default_policy() -> Policy:
    return Policy(complete_config(Config()), "default")


def parse_policy(
    text: str, source: str, *, shown_name: str | None = None, commit: str | None = None
) -> Policy:
    """The policy that a file's text describes; an empty file is the default one."""
    document = read_yaml(text, shown_name or source)
    try:
        return Policy(complete_config(read_section(document, Config), commit), source)
    except MisfitError as error:
        text = f"{join_keys(error.path)}: {error}"
        raise make_refusal(document, [Problem(error.path, text)]) from error


def read_section(document: Document, expected: type[_Section]) -> _Section:
    """The document as a section; an empty one has only defaults."""
    value = {} if document.value is None else document.value
    try:
        return convert_section(value, expected)
    except ValidationError as error:
        raise make_refusal(document, list(find_problems(value, expected))) from error


def read_options(values: object, expected: type[_Section]) -> _Section:
    """Options that a program hands over, with durations in seconds."""
    try:
        return convert_section(values, expected, needs_units=False)
    except ValidationError as error:
        problems = find_problems(values, expected, needs_units=False)
        raise ValueError("; ".join(each.text for each in problems)) from error


def make_config(value: object, commit: str | None = None) -> Config:
    """The configuration that a value of JSON describes, such as one that was resolved before."""
    return complete_config(read_options(value, Config), commit)


def json_schema() -> dict[str, Any]:
    """The JSON Schema of the configuration file, for editors."""
    sections = [Config, *OPTIONS.values(), *VotingEntry.FORMS.values()]
    _, components = msgspec.json.schema_components(
        sections,
        schema_hook=lambda kind: (
            dict(_DURATION) if kind is Duration else {"$ref": f"#/$defs/{kind.__name__}"}
        ),
        ref_template="#/$defs/{name}",
    )
    for name, section in _list_sections(Config):
        for each in msgspec.structs.fields(section):
            _complete_key_schema(components[name]["properties"][each.encode_name], each, components)
    build = components["BuildOptions"]
    options = {
        key: {"anyOf": [form, {"type": "null"}], **{word: form[word] for word in _BESIDE}}
        for key, form in build["properties"].items()
    }
    coverage = {"type": "array", "items": {"type": "string"}, "description": _COVERAGE}
    components |= {
        "BuildSection": {**build, "properties": {**options, "coverage": coverage}},
        "JudgeEntry": _make_entry_schema(JudgeEntry, {"not": {"enum": list(SEATS)}}),
        "VotingEntry": _make_entry_schema(VotingEntry, {"enum": list(VotingEntry.FORMS)}),
    }
    config = components.pop("Config")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:prjury:policy:v1",
        **config,
        "title": "PR Jury configuration",
        "$defs": components,
    }


_BESIDE = ("description", "default")
_COVERAGE = "the coverage reports that it writes, as globs"
_DURATION = {"type": "string", "pattern": r"^\d+(\.\d+)?\s*(s|m|h)$"}


def _complete_key_schema(
    entry: dict[str, Any], key: msgspec.structs.FieldInfo, sections: Mapping[str, Any]
) -> None:
    """Add to a key's schema what msgspec leaves out: description, default and names of keys."""
    for each in _list_alternatives(key.type):
        if get_origin(each) is dict and get_origin(get_args(each)[0]) is Literal:
            entry["propertyNames"] = {"enum": list(get_args(get_args(each)[0]))}
    if words := [one for one in get_args(key.type)[1:] if isinstance(one, str)]:
        entry["description"] = words[0]
    elif "$ref" in entry:
        entry["description"] = sections[entry["$ref"].rpartition("/")[2]]["description"]
    if callable(key.default_factory):
        default = key.default_factory()
        if isinstance(default, Duration):
            entry["default"] = f"{default:g}s"
        elif isinstance(default, list) and all(isinstance(item, str) for item in default):
            entry["default"] = default


def _list_sections(form: TypeForm) -> Iterator[tuple[str, type[PolicySection]]]:
    for each in _list_alternatives(form):
        if _has_keys(each):
            if issubclass(each, PolicySection):
                yield each.__name__, each
            for inner in each.forms().values():
                yield from _list_sections(inner)
        else:
            for inner in get_args(each):
                yield from _list_sections(inner)


def _make_entry_schema(kind: type[NamedEntry], name: dict[str, Any]) -> dict[str, Any]:
    properties = {
        key: {"$ref": f"#/$defs/{form.__name__}", "description": inspect.getdoc(form)}
        if isinstance(form, type)
        else {"type": "number", "minimum": 0, "description": "of its vote, if votes are weighed"}
        for key, form in kind.FORMS.items()
    }
    mapping = {
        "type": "object",
        "properties": properties,
        "propertyNames": name,
        "additionalProperties": kind.OPEN,
    }
    words = (kind.__doc__ or "").partition("\n")[0]
    return {"description": words, "anyOf": [{"type": "string", **name}, mapping]}


class Problem(Struct, frozen=True):
    """What is wrong at a key path; the text names the path."""

    path: KeyPath
    text: str


def make_refusal(document: Document, problems: Sequence[Problem]) -> ConfigError:
    """The error with all problems, in the order of the file."""
    placed = _place_problems(document, problems)
    sentences = [f"{document.source} line {line}: {text}" for line, _, text in placed]
    return ConfigError("; ".join(sentences)).at(list_places(document, problems))


def list_places(document: Document, problems: Iterable[Problem]) -> list[str]:
    """``file:line:column: text`` for each, in the order of the file."""
    placed = _place_problems(document, problems)
    return [f"{document.source}:{line}:{column}: {text}" for line, column, text in placed]


def _place_problems(document: Document, problems: Iterable[Problem]) -> list[tuple[int, int, str]]:
    return sorted({(*document.place_of(each.path), each.text) for each in problems})


def find_problems(
    value: object, form: TypeForm, path: KeyPath = (), *, needs_units: bool = True
) -> Iterator[Problem]:
    """Find all that is wrong in a value of a file, at the key paths where it is."""
    try:
        convert_section(value, form, needs_units=needs_units)
    except ValidationError as error:
        inner = [*_find_key_problems(value, form, path)]
        for key, item, part in _pair_with_types(value, form):
            inner += find_problems(item, part, (*path, key), needs_units=needs_units)
        if isinstance(error.__cause__, MisfitError):
            path = (*path, *error.__cause__.path)
        yield from inner or [Problem(path, _word_problem(error, value, form, path))]


def _pair_with_types(value: object, form: TypeForm) -> Iterator[tuple[str | int, object, Any]]:
    """List what stands in a value, each with its form."""
    for each in _list_alternatives(form):
        arguments = get_args(each)
        if get_origin(each) is list and isinstance(value, list):
            for number, item in enumerate(value):
                yield number, item, arguments[0]
        elif get_origin(each) is dict and isinstance(value, dict):
            for key, item in value.items():
                yield key, key, arguments[0]
                yield key, item, arguments[1]
        elif _has_keys(each) and isinstance(value, dict | str):
            forms: Mapping[str, Any] = each.forms()
            parts: Any = value
            if isinstance(value, str):  # a name alone
                parts = {value: {}} if _has_keys(forms.get(value)) else {}
            elif issubclass(each, NamedEntry):
                parts = each.spell_out(value)
            yield from ((key, item, forms[key]) for key, item in parts.items() if key in forms)


def _list_alternatives(form: TypeForm) -> Iterator[Any]:
    """The forms that a value may have, each alone and without its description."""
    origin: Any = get_origin(form)
    if origin is Annotated:
        yield from _list_alternatives(get_args(form)[0])
    elif origin in {Union, types.UnionType}:
        for each in get_args(form):
            yield from _list_alternatives(each)
    elif written := getattr(form, "FORM", None):  # such as `Words`
        yield from (*_list_alternatives(written), str)
    elif form is not type(None):
        yield form


def _has_keys(form: TypeForm) -> bool:
    return isinstance(form, type) and issubclass(form, PolicySection | NamedEntry)


def _find_key_problems(value: object, form: TypeForm, path: KeyPath) -> Iterator[Problem]:
    sections = [each for each in _list_alternatives(form) if _has_keys(each)]
    is_open = any(issubclass(each, NamedEntry) and each.OPEN for each in sections)
    allowed = {key for each in sections for key in each.forms()}
    if not sections or is_open or not isinstance(value, dict):
        return
    for key in value.keys() - allowed:
        place = (*path, key)
        words = ["", *(part for part in place if isinstance(part, str))]
        if instead := _KEYS.get((words[-2], words[-1])):
            yield Problem(place, f"{join_keys(place)} is gone; {instead}")
            continue
        meant = did_you_mean(key, allowed) or f"Allowed are {', '.join(sorted(allowed))}"
        text = f"{join_keys(place)} is not a known key; {meant[:1].lower()}{meant[1:]}"
        yield Problem(place, text)
    for each in sections:
        for key in msgspec.structs.fields(each) if issubclass(each, PolicySection) else ():
            if key.required and key.encode_name not in value:
                text = f"{join_keys((*path, key.encode_name))}: this key is needed"
                yield Problem(path, text)


def join_keys(path: KeyPath) -> str:
    """``tiers[0].judges[1]``."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return visible(text)


_HOSTS = (
    "a list of hosts is not supported, for a build has the whole network or none; write `false`, "
    "or `true` and let the runner's proxy or firewall allow these hosts alone"
)
_LENGTH = re.compile(r"Expected `(array|object|str)` of length (?:(>=|<=) )?(\d+)")
_RANGE = re.compile(r"Expected `(?:int|float)` (>=|<=) ([\d.]+)")
_COUNTED = dict.fromkeys(("array", "object"), ("entry", "entries"))
_COUNTED["str"] = ("character", "characters")
_WORDS = {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}


def _word_problem(error: ValidationError, value: object, form: TypeForm, path: KeyPath) -> str:
    text = str(error).partition(" - at ")[0]
    name = join_keys(path) or "the file"
    if isinstance(value, list) and name == "sandbox.network":
        return f"{name}: {_HOSTS}"
    if match := _LENGTH.match(text):
        word = {">=": "at least ", "<=": "at most "}.get(match[2], "")
        singular, plural = _COUNTED[match[1]]
        counted = f"1 {singular} is" if match[3] == "1" else f"{match[3]} {plural} are"
        return f"{name}: {word}{counted} expected here"
    for pattern, sentence in SENTENCES.items():
        if repr(pattern) in text:
            return f"{name}: {sentence}, not {_show_value(value)}"
    if match := _RANGE.match(text):
        word = "at least" if match[1] == ">=" else "at most"
        number = match[2].removesuffix(".0")
        return f"{name}: a number of {word} {number} is expected here, not {_show_value(value)}"
    if isinstance(error.__cause__, ValueError | TypeError):
        is_told = isinstance(value, dict | list) or text.startswith(f"{value} ")
        is_told = is_told or (isinstance(value, str) and repr(value) in text)
        return f"{name}: {text}" if is_told else f"{name}: {text}, not {_show_value(value)}"
    if text.startswith(("Expected", "Invalid")):
        text = f"{_describe_expected_types(form)} is expected here"
    return f"{name}: {text}, not {_show_value(value)}"


def _describe_expected_types(form: TypeForm) -> str:
    names: list[str] = []
    for each in _list_alternatives(form):
        origin: Any = get_origin(each)
        if origin is Literal:
            names += [repr(word) for word in get_args(each)]
        elif isinstance(each, type) and issubclass(each, Enum):
            names += [repr(str(member.value)) for member in each]
        elif origin in {list, tuple}:
            names.append("a list")
        else:
            kinds = each.__mro__ if isinstance(each, type) else ()
            words = [_WORDS[kind] for kind in kinds if kind in _WORDS]
            names += words[:1] or ["a mapping of keys to values"]
    return " or ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _show_value(value: object) -> str:
    shown = visible(json.dumps(value, ensure_ascii=False, default=str))
    return textwrap.shorten(shown, 60, placeholder="…")
