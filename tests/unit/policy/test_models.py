from __future__ import annotations

from typing import Any

import pytest

from prjury.policy.load import read_options
from prjury.policy.schema import ModelConfig, ModelsConfig


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"provider": "openai", "key_env": "TEAM_KEY"},
        {"base_url": "https://llm.example/v1", "key_env": "TEAM_KEY"},
        {"provider": "command", "command": ["judge", "-p"], "answer": "result", "timeout": "2m"},
    ],
)
def test_what_fits_together_is_taken(config: dict[str, Any]) -> None:
    assert read_options(config, ModelConfig).room == 30_000


@pytest.mark.parametrize(
    ("config", "problem"),
    [
        ({"provider": "command"}, "belong together"),
        ({"command": ["x"]}, "belong together"),
        ({"provider": "command", "command": []}, "at least 1"),
        ({"answer": "result"}, "there is no command"),
        ({"provider": "command", "command": ["x"], "key_env": "A"}, "neither `key_env` nor"),
        ({"provider": "command", "command": ["x"], "base_url": "https://x"}, "neither `key_env`"),
        ({"key_env": "TEAM_KEY"}, "name `provider` as well"),
        ({"provider": "openai", "key_env": "TEAM-KEY"}, "letters, digits"),
        ({"provider": "openai", "key_env": "GITHUB_TOKEN"}, "credential of the runner"),
        ({"provider": "openai", "key_env": "gh_token"}, "credential of the runner"),
        ({"provider": "openai", "key_env": "ACTIONS_RUNTIME_TOKEN"}, "credential of the runner"),
        ({"temperature": 2.5}, "at most 2"),
        ({"thinking": "much"}, "'off', 'low', 'medium' or 'high'"),
        ({"max_output_tokens": 10}, "256"),
        ({"room": 100}, "2000"),
    ],
)
def test_what_contradicts_itself_is_refused(config: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        read_options(config, ModelConfig)


def test_a_panel_has_at_most_nine_models() -> None:
    assert len(read_options({"panel": [{}] * 9}, ModelsConfig).panel) == 9
    with pytest.raises(ValueError, match="at most 9"):
        read_options({"panel": [{}] * 10}, ModelsConfig)
