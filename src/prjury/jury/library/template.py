"""Texts with placeholders such as ``{goal}``, filled from a context in a single pass.

What is filled in is never looked at again, so braces in an agent's output reach for nothing. Other
braces stay as they are; ``{{goal}}`` stands for the text ``{goal}`` itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar, cast

from prjury.errors import CannotJudgeError
from prjury.jury.context import JudgmentContext
from prjury.jury.frozen import FrozenDict

if TYPE_CHECKING:
    import typing_extensions

    #: The context of which a prompt is made, that of the placeholders where it is a text.
    PromptT = typing_extensions.TypeVar("PromptT", default=JudgmentContext)
else:
    PromptT = TypeVar("PromptT")

_NAME = r"[A-Za-z_]\w*(?:\.[\w-]+)*"
_PLACEHOLDER = re.compile(rf"\{{\{{({_NAME})\}}\}}|\{{({_NAME})\}}", re.ASCII)

#: The placeholders that every context can fill: its fields, by name.
FIELDS = tuple(each.name for each in fields(JudgmentContext) if each.name != "metadata")


def placeholders(text: str) -> tuple[str, ...]:
    """The names of the placeholders in the text, in their order, each once."""
    names = (match[2] for match in _PLACEHOLDER.finditer(text))
    return tuple(dict.fromkeys(name for name in names if name))


def fill(text: str, value: Callable[[str], str]) -> str:
    """The text with every placeholder replaced by its value, all in one pass."""

    def find_value(match: re.Match[str]) -> str:
        return f"{{{match[1]}}}" if match[1] else value(match[2])

    return _PLACEHOLDER.sub(find_value, text)


@dataclass(frozen=True)
class Template:
    """A text with placeholders; called with a context, it is filled.

    They are the names of the context's fields, such as ``{goal}`` and ``{execution_time}`` (in
    seconds), the ``constants``, and ``{metadata.key}`` for a value in the metadata. None is filled
    in as nothing, what is not text as JSON. ValueError for a placeholder that is not known.
    """

    text: str
    constants: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.text, str):
            raise TypeError(f"a template is text or a function, not {self.text!r}")
        object.__setattr__(self, "constants", FrozenDict(self.constants))
        names = {*FIELDS, *self.constants}
        for name in placeholders(self.text):
            if name not in names and not name.startswith("metadata."):
                offered = ", ".join(f"{{{word}}}" for word in (*FIELDS, *self.constants))
                raise ValueError(
                    f"the placeholder {{{name}}} is none of {offered} and {{metadata.key}}; "
                    f"write {{{{{name}}}}} where the text {{{name}}} is meant"
                )

    def __call__(self, context: JudgmentContext, /) -> str:
        """The filled text; CannotJudgeError when the context's metadata has no such value."""
        return fill(self.text, lambda name: self._value(name, context))

    def _value(self, name: str, context: JudgmentContext) -> str:
        if name in self.constants:
            return self.constants[name]
        head, _, path = name.partition(".")
        return _show_field(_require(context.metadata, path) if path else getattr(context, head))


def template_of(template: str | Callable[[PromptT], str]) -> Callable[[PromptT], str]:
    """The function itself, or the text as one."""
    if callable(template):
        return template
    return cast("Callable[[PromptT], str]", Template(template))


def _require(metadata: Mapping[str, Any], dotted_path: str) -> object:
    value: object = metadata
    for key in dotted_path.split("."):
        if not isinstance(value, Mapping) or key not in value:
            raise CannotJudgeError(
                f"The context's metadata has no {dotted_path!r}",
                why="The template asks for it",
                reason="prompt_incomplete",
            )
        value = value[key]
    return value


def _show_field(value: object) -> str:
    match value:
        case None:
            return ""
        case bool() | int() | float() | list() | tuple() | Mapping():
            return json.dumps(value, ensure_ascii=False, default=str)
        case timedelta():
            return f"{value.total_seconds():.1f}"
    return str(value)
