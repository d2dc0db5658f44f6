from __future__ import annotations

import pytest

from fakes import reports as fake
from prjury.jury.judgment import Location
from prjury.report.finding_view import Links

ROOT = f"https://github.com/acme/shop/blob/{fake.HEAD}"


def test_a_line_and_a_range_are_linked_at_the_head() -> None:
    links = Links(fake.pull())
    assert links.to(Location("src/A.java", 42)) == f"{ROOT}/src/A.java#L42"
    assert links.to(Location("src/A.java", 42, 44)) == f"{ROOT}/src/A.java#L42-L44"
    assert links.to(Location("src/A.java")) == f"{ROOT}/src/A.java"


def test_documents_are_linked_as_source() -> None:
    assert Links(fake.pull()).to(Location("README.md", 3)) == f"{ROOT}/README.md?plain=1#L3"


def test_every_character_that_could_end_a_link_is_quoted() -> None:
    link = Links(fake.pull()).to(Location("a b)](x)<\"'>?#%.java", 1))
    assert link == f"{ROOT}/a%20b%29%5D%28x%29%3C%22%27%3E%3F%23%25.java#L1"


def test_bytes_that_are_no_utf8_are_linked_as_they_are_stored() -> None:
    path = b"\xff.java".decode("utf-8", "surrogateescape")
    links = Links(fake.pull([fake.file(path)]))
    assert links.to(Location("\\xff.java")) == f"{ROOT}/%FF.java"


@pytest.mark.parametrize(
    "url",
    [
        None,
        "",
        "javascript:alert(1)",
        "https://github.com/acme/shop",
        "https://github.com/acme/shop/pull/42)](x",
        'https://github.com/a"b/shop/pull/42',
        "https://me:pw@github.com/acme/shop/pull/42",
    ],
)
def test_without_a_known_address_there_are_no_links(url: str | None) -> None:
    links = Links(fake.pull(url=url))
    assert links.to(Location("a.py", 1)) is None
    assert links.pull_url is None


def test_an_endless_path_is_not_linked() -> None:
    assert Links(fake.pull()).to(Location("é" * 300)) is None
