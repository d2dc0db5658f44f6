"""Notices when a model judges what a model of the same family has written. Pure.

Models prefer what they would have written themselves. Who wrote a change is told by the change's
own author and description; the models never see either.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from prjury.jury.judgment import Check
from prjury.snapshot.model import PullRequest

NAME = "same-family-as-author"

#: How a family's models are called, and how its agents sign what they write.
_MODELS: Mapping[str, re.Pattern[str]] = MappingProxyType(
    {
        "Anthropic": re.compile(r"^anthropic:|claude", re.IGNORECASE),
        "OpenAI": re.compile(r"\bgpt-|\bo[1-9]\b|codex", re.IGNORECASE),
        "Google": re.compile(r"^google:|gemini|gemma", re.IGNORECASE),
    }
)
_SIGNED = r"(?:co-authored-by:|generated (?:with|by)|authored by|written by)[^\n]{0,60}"
_AGENTS: Mapping[str, re.Pattern[str]] = MappingProxyType(
    {
        "Anthropic": re.compile(
            rf"^claude(?:-code)?\[bot\]$|{_SIGNED}claude", re.IGNORECASE | re.MULTILINE
        ),
        "OpenAI": re.compile(
            rf"^(?:chatgpt-codex-connector|openai-codex)\[bot\]$|{_SIGNED}(?:codex|chatgpt)",
            re.IGNORECASE | re.MULTILINE,
        ),
        "Google": re.compile(
            rf"^(?:gemini-code-assist|google-labs-jules|jules)\[bot\]$|{_SIGNED}(?:gemini|jules)",
            re.IGNORECASE | re.MULTILINE,
        ),
    }
)


def same_family(pull: PullRequest, models: Iterable[str]) -> tuple[Check, ...]:
    """A hint for each family that has written the change and judges it as well.

    Args:
        models: names such as ``anthropic:claude-x``.
    """
    signs = "\n".join(filter(None, (pull.author, pull.body)))
    names = list(models)
    return tuple(
        _check(family)
        for family, agents in _AGENTS.items()
        if agents.search(signs) and any(_MODELS[family].search(name) for name in names)
    )


def _check(family: str) -> Check:
    message = f"the change says that a model of {family} wrote it, and one of {family} judges it"
    return Check(NAME, False, message, severity="hint")  # noqa: FBT003 - the failed check is named
