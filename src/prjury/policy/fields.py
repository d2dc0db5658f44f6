"""What every part of the configuration is made of: strict sections, durations, shares, names.

The types say what a file may hold; `SENTENCES` says it in words, for those that are patterns.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Annotated, Any, ClassVar, Literal, Self, TypeAlias, TypeVar

import msgspec.structs
from msgspec import Meta, Struct

_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(s|m|h)")
_SECONDS = {"s": 1, "m": 60, "h": 3600}
_END = r"$(?!\n)"
_GLOB = rf"^(?!/)(?!(.*/)?\.\.(/|{_END}))[^\\]*[^\\\s][^\\]*{_END}"
_INSIDE = rf"^(?!(.*/)?\.{{0,2}}(/|{_END}))[\s\S]+{_END}"
_LABEL = rf"^(?=.*\S)[^,\r\n]{{1,50}}{_END}"
_BRANCH_LABEL = rf"^(?! )(?=.{{8,58}}{_END})[^{{}},\r\n]*\{{branch\}}[^{{}},\r\n]*(?<! ){_END}"
_BRANCH = (
    r"^[^\x00-\x20~^:\\\x7f-\xa0\xad\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff\ud800-\udfff]"
    rf"{{1,255}}{_END}"
)
_NAME = rf"^[A-Za-z][A-Za-z0-9_.-]{{0,59}}{_END}"
_VARIABLE = rf"^[A-Za-z_][A-Za-z0-9_]*{_END}"
_RULE = rf"^[a-z0-9][a-z0-9._-]*(/[a-z0-9._-]+)?{_END}"
_IDENTIFIER = rf"^(?=.{{1,60}}{_END})[A-Za-z0-9_]+(-[A-Za-z0-9_]+)*{_END}"
_COMMAND = r"^(?=[\s\S]*\S)[^\x00]+$"
_QUESTION = r"\S"

#: What a text has to be, by the pattern that it has to match.
SENTENCES: Mapping[str, str] = {
    _GLOB: "a glob is relative to the root of the repository, such as `gen/**`",
    _INSIDE: "a path inside the repository, such as .github/recipes/waf.yml",
    _LABEL: "a label has 1 to 50 characters, and neither a comma nor a line break",
    _BRANCH_LABEL: "a label has {branch} once and up to 50 other characters, with no comma, brace "
    "or line break, and no blank at its ends",
    _BRANCH: "a branch is a name such as 1.0.x, or a glob such as release/*",
    _NAME: "a name has up to 60 letters, digits, dots, hyphens and underscores, and a letter first",
    _VARIABLE: "a name has letters, digits and underscores",
    _RULE: "a rule is PACK or PACK/RULE, as the report writes it",
    _IDENTIFIER: "a name has up to 60 letters, digits and `_`, with hyphens between them",
    _COMMAND: "a command is needed",
    _QUESTION: "a question is needed",
}

Share: TypeAlias = Annotated[float, Meta(ge=0.0, le=1.0)]
#: Dollars, or the weight of a vote.
Amount: TypeAlias = Annotated[float, Meta(ge=0.0)]
Version: TypeAlias = Literal[1]
InsidePath: TypeAlias = Annotated[str, Meta(pattern=_INSIDE)]
Glob: TypeAlias = Annotated[str, Meta(pattern=_GLOB)]
Label: TypeAlias = Annotated[str, Meta(pattern=_LABEL)]
BranchLabel: TypeAlias = Annotated[str, Meta(pattern=_BRANCH_LABEL)]
BranchName: TypeAlias = Annotated[str, Meta(pattern=_BRANCH)]
Name: TypeAlias = Annotated[str, Meta(pattern=_NAME)]
Variable: TypeAlias = Annotated[str, Meta(pattern=_VARIABLE)]
#: A pack, or a rule as ``pack/rule``.
RuleName: TypeAlias = Annotated[str, Meta(pattern=_RULE)]
#: A pack's name, or a rule's within it.
Identifier: TypeAlias = Annotated[str, Meta(pattern=_IDENTIFIER)]
CommandLine: TypeAlias = Annotated[str, Meta(pattern=_COMMAND)]
Question: TypeAlias = Annotated[str, Meta(pattern=_QUESTION)]

_Section = TypeVar("_Section")
#: A type expression: a class, a union, an annotated type.
TypeForm: TypeAlias = Any
#: Read a value of a file as one of these forms.
Convert: TypeAlias = Callable[[object, TypeForm], Any]


class MisfitError(ValueError):
    """Values of a section that do not fit together; carries the path to the one that is named."""

    def __init__(self, key: str, text: str, *inner: str) -> None:
        super().__init__(text)
        self.path = (key, *inner)


class Duration(float):
    """Seconds, which a file writes as ``30m``."""


def seconds(number: float) -> Any:  # noqa: ANN401 - as msgspec types a field
    return msgspec.field(default_factory=partial(Duration, number))


def parse_duration(text: str) -> float:
    """Read ``30m`` as 1800.0 seconds, or raise a ValueError."""
    match = _DURATION.fullmatch(text.strip())
    if not match:
        raise ValueError("a duration is a number with a unit, such as 90s, 30m, 2h")
    return float(match[1]) * _SECONDS[match[2]]


def is_inside(path: str) -> bool:
    return not any(part in {"", ".", ".."} for part in path.split("/"))


class PolicySection(Struct, frozen=True, forbid_unknown_fields=True):
    """A part of the configuration: unknown keys and wrong types are errors."""

    @classmethod
    def forms(cls) -> Mapping[str, Any]:
        return {one.encode_name: one.type for one in msgspec.structs.fields(cls)}


class Words(tuple[str, ...]):
    """Texts, of which one alone may stand without a list."""

    __slots__ = ()
    #: What a list of them holds.
    FORM: ClassVar[TypeForm] = list[str]

    @classmethod
    def read(cls, value: object, convert: Convert) -> Self:
        return cls(convert([value] if isinstance(value, str) else value, cls.FORM))


class FilesOfPolicy(PolicySection, frozen=True, dict=True):
    """Options that name files: of the commit that the policy is from, or of this machine."""

    @property
    def commit(self) -> str | None:
        """The commit that holds the files, because it holds the policy; None for this machine."""
        commit: str | None = vars(self).get("_commit")
        return commit

    def at(self, commit: str | None) -> Self:
        """The same options with files of this commit, which no text may claim."""
        return self.with_changes({"_commit": commit})

    def with_changes(self, hidden: Mapping[str, object] = {}, **changes: Any) -> Self:  # noqa: ANN401 - whatever the fields are
        """The same options with other values; a bare `replace` would lose the commit."""
        copy = msgspec.structs.replace(self, **changes)
        vars(copy).update({**vars(self), **hidden})
        return copy


class NamedEntry:
    """One of several things by its name, alone or with options."""

    FORMS: ClassVar[Mapping[str, Any]] = {}
    #: Whether other keys than those of `forms` may stand there.
    OPEN: ClassVar[bool] = False
    name: str
    options: Any

    @classmethod
    def forms(cls) -> Mapping[str, Any]:
        return cls.FORMS

    @classmethod
    def spell_out(cls, value: object) -> dict[str, Any]:
        """A name as a name without options; a name without a value has none."""
        if isinstance(value, str):
            return {value: {}}
        if not isinstance(value, dict):
            raise TypeError("a name, or a name with its options, is expected here")
        return {key: {} if item is None else item for key, item in value.items()}

    @staticmethod
    def take_only(spelled: Mapping[str, Any], text: str) -> tuple[str, Any]:
        if len(spelled) != 1:
            raise ValueError(f"{text}, not {' and '.join(sorted(spelled)) or 'none'}")
        return next(iter(spelled.items()))

    @property
    def plain(self) -> Mapping[str, Any]:
        return {self.name: self.options}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NamedEntry) and self.plain == other.plain

    def __hash__(self) -> int:
        return hash(self.name)


def convert_section(value: object, form: type[_Section], *, needs_units: bool = True) -> _Section:
    """Read a value in one of the forms of the configuration, or raise msgspec's error."""
    convert = partial(convert_section, needs_units=needs_units)

    def read(kind: Any, item: object) -> object:  # noqa: ANN401 - a type
        if kind is Duration:
            return _read_seconds(item, needs_units=needs_units)
        return kind.read(item, convert)

    return msgspec.convert(value, form, dec_hook=read)


def _read_seconds(value: object, *, needs_units: bool) -> Duration:
    number = parse_duration(value) if isinstance(value, str) else value
    is_number = isinstance(number, int | float) and not isinstance(number, bool)
    if not is_number or not 0 < float(number) < math.inf:  # type: ignore[arg-type] # a number
        raise ValueError("a duration is more than 0 seconds, such as 90s, 30m, 2h")
    if needs_units and not isinstance(value, str):
        raise ValueError(f"{value} has no unit; write {value}s or {value}m")
    return Duration(number)  # type: ignore[arg-type] # as above


def to_plain(value: object) -> Any:  # noqa: ANN401 - JSON
    """The value as JSON holds it."""

    def encode(form: Any) -> object:  # noqa: ANN401 - one of ours
        return float(form) if isinstance(form, Duration) else form.plain

    return msgspec.json.decode(msgspec.json.encode(value, enc_hook=encode))
