"""The texts of the prompts: versioned templates, which a repository may override.

A template lies in ``templates/prompts``. A repository's own one, of the base commit and called
``.github/prjury/prompts/NAME.md.j2``, takes the place of the one of that name; it may extend
``judge.md.j2``, whose blocks are ``role``, ``material``, ``task``, ``answer``, ``criteria`` and
``form``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any

from jinja2 import DictLoader, StrictUndefined, TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from prjury.errors import ConfigError
from prjury.resources import template_texts

#: Where a repository's own templates and guidelines lie.
HOME = ".github/prjury"

#: What a template raises that is wrong, also one that calls itself without end.
_WRONG = (
    TemplateError,
    TypeError,
    ValueError,
    ArithmeticError,
    LookupError,
    AttributeError,
    RecursionError,
)

_NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True)
class Instructions:
    """What a template came to: a text and its version."""

    text: str
    version: str


@dataclass(frozen=True)
class Prompts:
    """The templates that are in force.

    Attributes:
        own: the repository's own ones, by their file names.
    """

    own: Mapping[str, str] = field(default_factory=lambda: _NOTHING)

    def render(self, name: str, values: Mapping[str, Any]) -> Instructions:
        """The template of this name, filled; what a value holds is never expanded again.

        Raises:
            ConfigError: when a template of the repository's own is wrong.
        """
        try:
            module = self._environment.get_template(f"{name}.md.j2").make_module(dict(values))
        except _WRONG as error:
            raise ConfigError(
                f"the prompt template {name}.md.j2 cannot be used: {' '.join(str(error).split())}",
                remedy=f"Correct it in {HOME}/prompts of the base branch",
                reason="prompt_invalid",
            ) from error
        version = getattr(module, "version", None)
        return Instructions(str(module).strip(), "unversioned" if version is None else str(version))

    @cached_property
    def _environment(self) -> ImmutableSandboxedEnvironment:
        # The text is sent to a model, not to a browser.
        return ImmutableSandboxedEnvironment(
            loader=DictLoader({**_shipped(), **self.own}),
            undefined=StrictUndefined,
            autoescape=False,
            trim_blocks=True,
            lstrip_blocks=True,
        )


def _shipped() -> dict[str, str]:
    """The templates that come with the program, by their file names."""
    texts = template_texts().items()
    return {
        path.removeprefix("prompts/"): text for path, text in texts if path.startswith("prompts/")
    }
