from __future__ import annotations

import pytest

from integration.faults.stage import Handed, judged


@pytest.fixture(scope="session")
def cases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Handed]:
    """A verdict that passes and one that fails, by these words."""
    return judged(tmp_path_factory.mktemp("judged"))
