from __future__ import annotations

from collections.abc import Iterator

import pytest

from integration.faults.runner import Runner, running_jobs
from integration.faults.stage import Handed, judged


@pytest.fixture(scope="session")
def cases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Handed]:
    """A verdict that passes and one that fails, by these words."""
    made = judged(tmp_path_factory.mktemp("judged"))
    return {**made, "newer": made["fail"].at(made["pass"].head)}


@pytest.fixture(scope="module")
def runner(cases: dict[str, Handed], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    with running_jobs(tmp_path_factory.mktemp("jobs"), cases) as runner:
        yield runner
