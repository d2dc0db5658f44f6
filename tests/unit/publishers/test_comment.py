from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.bare_report import report
from fakes.render import to_comment
from prjury.publishers.comment import Marker

_FIRST = f"<!-- prjury:v1 key=k id=default head={'b' * 40} run=5.2 config=c -->\n## verdict\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (_FIRST, Marker("default", (5, 2), head="b" * 40)),
        ("<!-- prjury:v1 -->", Marker("default")),
        ("<!-- prjury:v1 id=x run=5 -->\r\n", Marker("x")),
        ("<!-- prjury:v1 id=x run=٣.1 -->", Marker("x")),
        ("<!-- prjury:v2 id=x -->", None),
        (" <!-- prjury:v1 id=x -->", None),
        ("> <!-- prjury:v1 id=x -->", None),
        ("<!-- prjury:v1 id=x --> more", None),
        ("", None),
    ],
)
def test_markers(text: str, expected: Marker | None) -> None:
    assert Marker.of(text) == expected


@given(st.text())
def test_any_text_has_a_marker_or_none(text: str) -> None:
    assert Marker.of(text) is None or text.startswith("<!-- prjury:v1")


def test_the_marker_of_a_real_comment_is_understood() -> None:
    expected = Marker("default", (12, 3), head="b" * 40, base="a" * 40)
    assert Marker.of(to_comment(report(), run="12.3")) == expected
