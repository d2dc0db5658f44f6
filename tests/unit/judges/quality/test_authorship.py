from __future__ import annotations

import pytest

from fakes.llm import SMALL, pull
from prjury.judges.quality.reading import SAME_FAMILY, check_family

CLAUDE = ("anthropic:claude-x",)


@pytest.mark.parametrize(
    ("author", "body", "models", "family"),
    [
        ("claude[bot]", "", CLAUDE, "Anthropic"),
        ("ada", "Fix it.\n\nCo-Authored-By: Claude <noreply@anthropic.com>", CLAUDE, "Anthropic"),
        ("ada", "Generated with [Claude Code](https://x)", ("openrouter:claude-y",), "Anthropic"),
        ("openai-codex[bot]", "", ("openai:gpt-6.1-terra",), "OpenAI"),
        ("google-labs-jules[bot]", "", ("google:gemini-3.8-flash",), "Google"),
    ],
)
def test_a_family_that_judges_its_own_work_is_named(
    author: str, body: str, models: tuple[str, ...], family: str
) -> None:
    (check,) = check_family(pull(SMALL, author=author, body=body), models)
    assert (check.name, check.passed, check.severity) == (SAME_FAMILY, False, "hint")
    assert check.message.count(family) == 2


@pytest.mark.parametrize(
    ("author", "body", "models"),
    [
        ("claude[bot]", "", ("openai:gpt-6.1-terra",)),
        ("claude", "I am Claude, and I like this", CLAUDE),
        ("ada", "We asked Claude for its opinion", CLAUDE),
        (None, "", CLAUDE),
    ],
)
def test_nobody_else_is(author: str | None, body: str, models: tuple[str, ...]) -> None:
    assert check_family(pull(SMALL, author=author, body=body), models) == ()
