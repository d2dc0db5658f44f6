"""The questions that the quality judge asks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from prjury.config.schema import QualityOptions
from prjury.errors import ConfigError

KNOWN: Mapping[str, str] = MappingProxyType(
    {
        "correctness": "Does the changed code do what it evidently means to do, also at its edges "
        "and when something fails?",
        "tests": "Do tests in this change, or tests that it visibly relies on, exercise the "
        "behaviour that it changes?",
        "conventions": "Does the change keep to the naming, structure and style of the code around "
        "it?",
        "risk": "Is the change free of security holes, data loss and broken compatibility that a "
        "maintainer would have to be told about?",
    }
)

#: Names become keys of the reply, and providers take no others there.
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,59}")


def chosen(options: QualityOptions) -> Mapping[str, str]:
    """The questions by the names of their criteria, in the order of the configuration.

    Raises:
        ConfigError: for a name that is not known, is listed twice or cannot be a key.
    """
    if isinstance(options.criteria, list):
        return MappingProxyType(_by_name(options.criteria))
    for name, question in options.criteria.items():
        if not _NAME.fullmatch(name):
            raise ConfigError(
                f"quality.criteria names {name!r}",
                remedy="A name has up to 60 letters, digits, dots, hyphens and underscores and "
                "starts with a letter",
            )
        if not question.strip():
            raise ConfigError(f"quality.criteria.{name} asks nothing", remedy="Write a question")
    return MappingProxyType(dict(options.criteria))


def _by_name(names: list[str]) -> dict[str, str]:
    for name in names:
        if name not in KNOWN:
            raise ConfigError(
                f"quality.criteria names {name!r}, which has no question of its own",
                remedy=f"Use {', '.join(KNOWN)}, or write criteria as name: question",
            )
    if len(set(names)) != len(names):
        raise ConfigError("quality.criteria lists a name twice", remedy="Remove one of them")
    return {name: KNOWN[name] for name in names}
