from __future__ import annotations

import pytest

from prjury.models.choose import HOSTED, ModelChoice
from prjury.models.wire import price


@pytest.mark.parametrize("provider", HOSTED)
def test_every_default_model_has_a_price(provider: str) -> None:
    choice = ModelChoice(provider, HOSTED[provider].model)  # type: ignore[arg-type, index]
    cost = price(choice, 1_000_000, 1_000_000)
    assert cost is not None
    assert 0.1 < cost < 50


def test_an_unknown_model_or_server_has_none() -> None:
    assert price(ModelChoice("openai", "no-such-model"), 1000, 10) is None
    local = ModelChoice("openai", HOSTED["openai"].model, None, "http://127.0.0.1:1/v1")
    assert price(local, 1000, 10) is None
