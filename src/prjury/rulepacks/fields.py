"""What the fields of a pack may hold, with errors that say what is wrong."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import re2
from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field

from prjury.code.languages import LANGUAGES
from prjury.manifests.versions import Requirement
from prjury.policy.schema import PolicySection

_MIN_LITERAL = 3


def without_warnings() -> re2.Options:
    """RE2 options that keep the library from writing to standard error."""
    options = re2.Options()
    options.log_errors = False
    return options


def _regex(text: str) -> str:
    try:
        re2.compile(text, without_warnings())
    except re2.error as error:
        reason = error.args[0]
        told = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else reason
        raise ValueError(f"RE2 refuses {text!r}: {told}") from error
    return text


def _language(name: str) -> str:
    if name not in LANGUAGES:
        raise ValueError(f"{name!r} is not a language; known are {', '.join(sorted(LANGUAGES))}")
    return name


def _literal(text: str) -> str:
    if len(text) < _MIN_LITERAL or text != text.strip():
        raise ValueError(f"a literal is at least {_MIN_LITERAL} characters of code, not {text!r}")
    return text


def _requirement(value: object) -> object:
    return Requirement.parse(value) if isinstance(value, str) else value


def _listed(value: object) -> object:
    """One word stands for a list of one."""
    return [value] if isinstance(value, str) else value


Regex: TypeAlias = Annotated[str, AfterValidator(_regex)]
LanguageName: TypeAlias = Annotated[str, AfterValidator(_language)]
Identifier: TypeAlias = Annotated[
    str, Field(pattern=r"^[A-Za-z0-9_]+(-[A-Za-z0-9_]+)*$", max_length=60)
]
Clue: TypeAlias = Annotated[str, AfterValidator(_literal)]
Words: TypeAlias = Annotated[list[str], BeforeValidator(_listed)]
Requirements: TypeAlias = Annotated[
    list[Annotated[Requirement, BeforeValidator(_requirement)]],
    BeforeValidator(_listed),
    Field(min_length=1),
]


class PackSection(PolicySection):
    """A part of a pack; requirements are values of our own."""

    model_config = ConfigDict(arbitrary_types_allowed=True)
