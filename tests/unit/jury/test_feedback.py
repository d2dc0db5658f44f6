from __future__ import annotations

import pytest

from prjury.jury.cascade import CascadedJury, Tier
from prjury.jury.context import JudgmentContext
from prjury.jury.judge import Judge, judge
from prjury.jury.judgment import Check, Judgment, Location
from prjury.jury.jury import Jury
from prjury.jury.verdicts import JuryVerdict, TierPolicy
from prjury.jury.voting import ConsensusVoting, MajorityVoting

CONTEXT = JudgmentContext("g")
JAVAC = "error: cannot find symbol\n  symbol:   class Foo\n  location: class Bar"


def saying(name: str, judgment: Judgment) -> Judge[JudgmentContext]:
    def said(context: JudgmentContext) -> Judgment:
        return judgment

    return judge(name=name)(said)


def verdict(*judgments: Judgment) -> JuryVerdict:
    judges = [saying(f"judge{n}", one) for n, one in enumerate(judgments, 1)]
    return Jury(judges, ConsensusVoting()).vote(CONTEXT)


def test_what_is_wrong_where_on_what_evidence_and_what_would_help() -> None:
    check = Check.bad(
        "compiles", "cannot find symbol", Location("A.java", 3), evidence=JAVAC, fix="import x.Foo"
    )
    text = verdict(Judgment.failed("1 error", checks=[Check.ok("merges"), check])).feedback()
    head, item = text.split("\n\n")
    assert head.startswith("FAIL: ")
    assert item == (
        "1. compiles (judge1): cannot find symbol\n"
        "   Where: A.java:3\n"
        "   Evidence:\n"
        "     error: cannot find symbol\n"
        "       symbol:   class Foo\n"
        "       location: class Bar\n"
        "   What would make it pass: import x.Foo"
    )


def test_the_same_in_three_places_is_told_once() -> None:
    places = [
        Check.bad("np", "gone", Location("a.py", n), evidence="np.float_") for n in (5, 9, 13)
    ]
    text = verdict(Judgment.failed("3 findings", checks=places)).feedback()
    assert text.count("gone") == 1
    assert "Where: a.py:5, a.py:9, a.py:13" in text


@pytest.mark.parametrize(
    ("places", "shown", "more"),
    [(9, 9, ""), (10, 10, ""), (11, 10, " and 1 more place"), (13, 10, " and 3 more places")],
)
def test_ten_places_are_named_and_the_others_counted(places: int, shown: int, more: str) -> None:
    checks = [Check.bad("np", "gone", Location("a.py", n)) for n in range(1, places + 1)]
    named = ", ".join(f"a.py:{n}" for n in range(1, shown + 1))
    text = verdict(Judgment.failed("findings", checks=checks)).feedback()
    assert text.endswith(f"\n\n1. np (judge1): gone\n   Where: {named}{more}")


def test_only_failed_checks_that_block_are_told() -> None:
    checks = [
        Check.bad("style", "ugly", severity="warning"),
        Check.ok("merges", "fine"),
        Check.bad("compiles", "broken"),
    ]
    text = verdict(Judgment.failed("1 error", checks=checks)).feedback()
    assert text.endswith("\n\n1. compiles (judge1): broken")
    text = verdict(Judgment.failed("too ugly", checks=checks[:2])).feedback()
    assert text.endswith("\n\n1. judge1 (fail): too ugly")


def test_failures_come_before_errors_and_passes_are_not_told() -> None:
    text = verdict(
        Judgment.passed("fine", checks=[Check.bad("style", severity="hint")]),
        Judgment.errored("no JDK", metadata={"remedy": "install JDK 21"}),
        Judgment.failed("two tests fail"),
        Judgment.abstained("nothing to test", "not_applicable"),
    ).feedback()
    assert [line for line in text.splitlines() if line[:2] in {"1.", "2.", "3."}] == [
        "1. judge3 (fail): two tests fail",
        "2. judge2 (error): no JDK",
    ]
    assert "What would make it pass: install JDK 21" in text


def test_nothing_is_wrong() -> None:
    said = verdict(Judgment.passed("fine"))
    assert said.feedback() == str(said.aggregated)


@pytest.mark.parametrize("limit", [0, 1, 20, 100, 300, 1000])
def test_it_is_bounded_and_what_is_left_out_is_counted(limit: int) -> None:
    checks = [Check.bad(f"c{n}", "x" * 60, evidence="e" * 100) for n in range(40)]
    text = verdict(Judgment.failed("many", checks=checks)).feedback(limit)
    assert len(text) <= limit
    if limit >= 300:
        shown = sum(line.partition(".")[0].isdigit() for line in text.splitlines())
        assert f"… and {40 - shown} more" in text


def test_as_much_is_told_as_fits() -> None:
    checks = [Check.bad(f"c{n}", "x" * 60) for n in (1, 2, 3)]
    said = verdict(Judgment.failed("many", checks=checks))
    head, one, two, three = said.feedback().split("\n\n")
    whole = f"{head}\n\n{one}\n\n{two}\n\n{three}"
    two_of_three = f"{head}\n\n{one}\n\n{two}\n\n… and 1 more"
    one_of_three = f"{head}\n\n{one}\n\n… and 2 more"
    none_of_three = f"{head}\n\n… and 3 more"
    assert said.feedback(len(whole)) == whole
    assert said.feedback(len(whole) - 1) == two_of_three
    assert said.feedback(len(two_of_three)) == two_of_three
    assert said.feedback(len(two_of_three) - 1) == one_of_three
    assert said.feedback(len(one_of_three)) == one_of_three
    assert said.feedback(len(one_of_three) - 1) == f"{head}\n\n{one[:-2]}…\n\n… and 2 more"
    assert said.feedback(len(none_of_three)) == none_of_three
    assert said.feedback(len(none_of_three) + 2) == none_of_three  # an empty line more is no item
    assert said.feedback(len(none_of_three) + 3) == f"{head}\n\n…\n\n… and 2 more"
    assert said.feedback(len(none_of_three) - 1) == f"{none_of_three[:-2]}…"


def test_tiers_that_were_not_asked_have_nothing_to_say() -> None:
    first = Jury([saying("build", Judgment.failed("broken"))], MajorityVoting())
    second = Jury([saying("model", Judgment.failed("ugly"))], MajorityVoting())
    cascade = CascadedJury([Tier("first", first), Tier("last", second, TierPolicy.FINAL_TIER)])
    text = cascade.vote(CONTEXT).feedback()
    assert text == "FAIL: first: build: broken\n\n1. build (fail): broken"


def test_advice_is_no_feedback_and_nested_juries_are_looked_into() -> None:
    inner = Jury(
        [saying("deep", Judgment.failed("broken", checks=[Check.bad("deep-check")]))],
        MajorityVoting(),
    )
    advice = Jury([saying("model", Judgment.failed("ugly"))], MajorityVoting())
    cascade = CascadedJury(
        [
            Tier("advice", advice, TierPolicy.REJECT_ON_ANY_FAIL, advisory=True),
            Tier("last", Jury([inner.as_judge("inner")], MajorityVoting()), TierPolicy.FINAL_TIER),
        ]
    )
    text = cascade.vote(CONTEXT).feedback()
    assert "1. deep-check (deep)" in text
    assert "ugly" not in text


def test_control_characters_are_left_out_and_half_characters_escaped() -> None:
    check = Check.bad("c", "no \udcff", Location("a\x07.py"), evidence="\ta\x1bb", fix="x\x00y")
    text = verdict(
        Judgment.failed("bad \x1b[31mred\x00"), Judgment.failed("worse", checks=[check])
    ).feedback()
    _, *items = text.split("\n\n")
    assert items == [
        "1. judge1 (fail): bad [31mred",
        (
            "2. c (judge2): no \\udcff\n   Where: a.py\n   Evidence:\n     ab\n"
            "   What would make it pass: xy"
        ),
    ]
    assert not {"\x00", "\x1b"} & set(text)
