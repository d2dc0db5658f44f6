"""Each voting strategy of the registry can be written in a policy and is found by library users."""

from __future__ import annotations

from pathlib import Path

import pytest

import prjury
from prjury.app.registry import VOTING
from prjury.policy.voting import VotingEntry

PAGE = Path(__file__).parents[3] / ".github" / "docs" / "voting.md"


def test_a_policy_can_name_exactly_the_strategies_of_the_registry() -> None:
    assert VotingEntry.FORMS.keys() == VOTING.keys()


@pytest.mark.parametrize("name", VOTING)
def test_a_strategy_is_named_after_its_row_and_public(name: str) -> None:
    strategy = VOTING[name]()
    assert strategy.name == name
    assert type(strategy).__name__ in prjury.__all__


@pytest.mark.parametrize("name", VOTING)
def test_the_page_explains_a_strategy(name: str) -> None:
    assert type(VOTING[name]()).__name__ in PAGE.read_text()
