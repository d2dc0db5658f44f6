"""The questions that the quality judge asks."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from prjury.errors import ConfigError
from prjury.jury.library.presets import CRITERIA
from prjury.policy.questions import CRITERION_NAME, QualityOptions, plain_name

#: The questions that have a name, with everything that belongs to them.
KNOWN: Mapping[str, str] = MappingProxyType({name: CRITERIA[name].text for name in CRITERIA})


def chosen(options: QualityOptions) -> Mapping[str, str]:
    """The questions by the names of their criteria, in the order of the configuration.

    Raises:
        ConfigError: for a name that is not known, is listed twice or cannot be a key.
    """
    if isinstance(options.criteria, list):
        return MappingProxyType(_by_name(options.criteria))
    for name, question in options.criteria.items():
        if not CRITERION_NAME.fullmatch(name):
            raise ConfigError(
                f"quality.criteria names {name!r}",
                remedy="A name has up to 60 letters, digits, dots, hyphens and underscores and "
                "starts with a letter",
            )
        if not question.strip():
            raise ConfigError(f"quality.criteria.{name} asks nothing", remedy="Write a question")
    return MappingProxyType(dict(options.criteria))


def _by_name(names: list[str]) -> dict[str, str]:
    """The questions of these names, in which a hyphen is as good as an underscore."""
    chosen_names = [plain_name(name) for name in names]
    for given, name in zip(names, chosen_names, strict=True):
        if name not in KNOWN:
            raise ConfigError(
                f"quality.criteria names {given!r}, which has no question of its own",
                remedy=f"Use {', '.join(KNOWN)}, or write criteria as name: question",
            )
    if len(set(chosen_names)) != len(names):
        raise ConfigError("quality.criteria lists a name twice", remedy="Remove one of them")
    return {name: KNOWN[name] for name in chosen_names}
