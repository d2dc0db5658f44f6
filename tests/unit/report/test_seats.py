from __future__ import annotations

from typing import Any

import pytest

from prjury.jury.judgment import Judgment
from prjury.report.judge_facts import PanelFacts


def panel(metadata: dict[str, Any]) -> PanelFacts:
    return PanelFacts.of(Judgment.passed("ok", metadata=metadata))


@pytest.mark.parametrize("metadata", [{}, {"panel": []}, {"panel": "x"}, {"panel": [1, None]}])
def test_where_there_are_none_there_is_no_table(metadata: dict[str, Any]) -> None:
    assert panel(metadata).seats == ()
