"""Which tests of the base did not run; one that moved or was renamed is not among them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prjury.judges.builds.compare import Vanished, find_usual_prefix, find_vanished_tests
from prjury.judges.builds.failure import Results

IDS = st.lists(
    st.builds(
        "test:{}:{}".format, st.sampled_from(["a.py", "b.py"]), st.sampled_from(["t", "u", "long"])
    )
)


def lost(base: list[str], here: list[str], counted: tuple[int, int] = (0, 0)) -> Vanished:
    return find_vanished_tests(
        Results(ran=tuple(here), counted=counted[1]), Results(ran=tuple(base), counted=counted[0])
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("test:tests/test_a.py:test_price", "test:tests/unit/test_b.py:test_price"),
        ("test:core:shop.PriceTest#adds", "test:core:shop.cost.CostTest#adds"),
        ("test:core:shop.PriceTest#addsUp()", "test:core:shop.PriceTest#addsItUp()"),
        ("test:tests/test_a.py:test_price", "test:tests/test_a.py:test_unit_price"),
        ("test:tests/test_a.py:test_price", "test:tests/test_a.py:test_price_of_book"),
        ("test:shop/core:TestPrice/free", "test:shop/prices:TestPrice/free"),
        ("test:crate:tests::adds", "test:crate:price::tests::adds"),
        ("test:a.py:test_p[1-x::y]", "test:b.py:test_p[1-x::y]"),
        ("test:a.py:test_p[7f3a99e1-x]", "test:a.py:test_p[completely another value]"),
        ("test:a.py (1):test_price", "test:a.py:test_price"),
    ],
)
def test_a_test_that_was_moved_or_renamed_is_not_lost(before: str, after: str) -> None:
    assert lost([before, "test:z:stays"], [after, "test:z:stays"]) == Vanished()


@pytest.mark.parametrize(
    ("before", "after", "others"),
    [
        ("test:a.py:test_refund_of_half", "test:a.py:checkUnits", []),
        ("test:a.py:test_one", "test:a.py:test_eins", ["test:a.py:test_two"]),
        ("test:a.py:test_one", "test:a.py:test_eins", []),
        ("test:a.py:test_one", "test:a.py:test_eins", ["test:a.py:a.price"]),
        ("test:m:TestOne", "test:m:TestEins", ["test:m:TestTwo"]),
        ("test:m:should add", "test:m:should be green", []),
        ("test:app/[id]/a.test.ts:adds", "test:app/[slug]/b.test.ts:shows the page", []),
    ],
)
def test_what_all_names_share_makes_no_two_alike(
    before: str, after: str, others: list[str]
) -> None:
    assert lost([before, *others], [after, *others]).count == 1


@pytest.mark.parametrize(
    ("names", "prefix"),
    [
        (["test_one", "test_two"], "test_"),
        (["test_price", "test_price_of"], "test_"),
        (["TestOne", "TestTwo"], "Test"),
        (["test_one", "shop.price", "test_two"], "test_"),
        (["should add", "should be green", "README.rst"], "should "),
        (["adds", "takes"], ""),
        (["adds_up", "takes_off", "x"], ""),
        ([], ""),
    ],
)
def test_what_all_names_share(names: list[str], prefix: str) -> None:
    assert find_usual_prefix(names) == prefix


def test_many_tests_whose_parameters_change_at_random_are_not_lost() -> None:
    before, after = ([f"test:a.py:t[{n}-{side}]" for n in range(1000)] for side in ("xyz", "q"))
    assert lost(before, after) == Vanished()


def test_fewer_tests_of_a_test_that_is_a_program() -> None:
    before, after = {"test::a": 9, "test::b": 2, "test::c": 1}, {"test::a": 7, "test::b": 3}
    ran = ("test::a", "test::b")
    vanished = find_vanished_tests(Results(ran=ran, within=after), Results(ran=ran, within=before))
    assert vanished == Vanished(("a: 2 of its 9 tests",), 2)


def test_tests_that_are_only_counted() -> None:
    assert lost([], [], (5, 3)) == Vanished((), 2)
    assert lost([], [], (3, 5)) == Vanished()
    assert lost(["test:a:x", "test:a:y"], [], (0, 2)) == Vanished()
    assert lost([], ["test:a:x"], (2, 0)) == Vanished((), 1)


@given(IDS)
def test_the_same_tests_lose_nothing(ids: list[str]) -> None:
    assert lost(ids, ids[::-1]) == Vanished()


@given(IDS, IDS)
def test_never_more_is_lost_than_ran_and_never_less_than_the_difference(
    base: list[str], here: list[str]
) -> None:
    count = lost(base, here).count
    assert max(0, len(base) - len(here)) <= count <= len(base)
