from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prjury.jury.judgment import Judgment, Status
from prjury.jury.library.replies import with_confidence, yes_or_no


@pytest.mark.parametrize(
    ("reply", "status", "reasoning"),
    [
        ("Answer: YES\nReasoning: there is no problem", Status.PASS, "there is no problem"),
        ("Answer: NO\nReasoning: yes, but broken", Status.FAIL, "yes, but broken"),
        ("answer: yes\r\nreasoning: a\r\nb\r\n", Status.PASS, "a\nb"),
        ("Reasoning: it adds up,\nno doubt\n\nAnswer: Yes.", Status.PASS, "it adds up,\nno doubt"),
        ("**Answer:** YES\n**Reasoning:** `my_func` is fine", Status.PASS, "`my_func` is fine"),
        ("**Answer: NO**", Status.FAIL, "**Answer: NO**"),
        ("__Answer__: NO", Status.FAIL, "__Answer__: NO"),
        ("- Answer: no\n- Rationale: x_y", Status.FAIL, "x_y"),
        ("Final Answer: YES\nExplanation: fine", Status.PASS, "fine"),
        ("Answer：YES\nReason：fine", Status.PASS, "fine"),
        ("## Answer\n\nYES\n\n## Reasoning\n\nNo test fails.", Status.PASS, "No test fails."),
        ("Answer: “No”\nReasoning: x", Status.FAIL, "x"),
        ("Answer: YES ✅", Status.PASS, "Answer: YES ✅"),
        ("Answer: YES (quite sure). Reasoning: no fault", Status.PASS, "no fault"),
        ("Answer: NO - the build breaks", Status.FAIL, "Answer: NO - the build breaks"),
        ("YES", Status.PASS, "YES"),
        (" \n\ufeffno.\n", Status.FAIL, "no."),
        ("Yes, it is.", Status.PASS, "Yes, it is."),
        ("**NO**, it is not.", Status.FAIL, "**NO**, it is not."),
        ("__NO__, it is not.", Status.FAIL, "__NO__, it is not."),
        ("YES. Reasoning: no fault", Status.PASS, "no fault"),
        ("YES\nNo test fails.", Status.PASS, "YES\nNo test fails."),
        ("YES\n\nYes.", Status.PASS, "YES\n\nYes."),
        ("```\nAnswer: YES\nReasoning: a\n```", Status.PASS, "a"),
        ("```text\nNO\n```", Status.FAIL, "NO"),
        ("Answer: YES\nReasoning: it says\n> Answer: NO", Status.PASS, "it says\n> Answer: NO"),
        ("Answer: NO\n> Answer: YES\n```\nYES\n```", Status.FAIL, None),
        (
            "Answer: YES\nReasoning: it has\n```\nAnswer: NO\n```\nin a string",
            Status.PASS,
            "it has\n```\nAnswer: NO\n```\nin a string",
        ),
        ("YES. Reasoning: the reason: a", Status.PASS, "the reason: a"),
        ("Answer:\n  > Is it so?\nYES", Status.PASS, None),
        ("YES\n```\na\nNo.\n```\nb", Status.PASS, None),
        ("No problem!\nAnswer: YES", Status.PASS, "No problem!\nAnswer: YES"),
        ("Answer: YES\nReasoning: the name\nis yes.\nno.", Status.PASS, "the name\nis yes.\nno."),
    ],
)
def test_a_clear_answer(reply: str, status: Status, reasoning: str | None) -> None:
    assert yes_or_no(reply) == Judgment(status, reply if reasoning is None else reasoning)


@pytest.mark.parametrize(
    "reply",
    [
        "NO, wait: YES",
        "YES, there is no problem",
        "yes... No!",
        "Answer: YES, wait, no it fails",
        "Answer: NO --YES",
        "Answer: YES\nAnswer: NO",
        "YES\nAnswer: NO",
        "Answer: NO\n\nFinal answer: YES",
        "YES\nNo, wait.",
        "Answer: YES\nno: the tests fail",
        "Answer: NO\nReasoning: broken\nAnswer: YES",
        "Hear my reason: it is late\nNo.\nAnswer: YES",
        "YES\nNo.\nAnswer: YES\nfine",
    ],
)
def test_both_answers_are_none(reply: str) -> None:
    said = yes_or_no(reply)
    assert (said.status, said.label) == (Status.ABSTAIN, "no_answer")
    assert said.metadata == {"reason": "no_answer"}
    assert said.reasoning.startswith("the reply says both YES and NO: ")


@pytest.mark.parametrize(
    "reply",
    [
        "I cannot tell.",
        "The answer is YES.",
        "I say\nYES",
        "nothing",
        "XYES",
        "Not yet.",
        "yesterday it worked",
        "no-op",
        "No’s",
        "No problem at all",
        "Yes and no",
        "YES/NO",
        "yes|no",
        "Yes? It may be",
        "Yes it does",
        "yeſterday",
        "Answer: maybe",
        "Answer: YES or NO",
        "Answer: ABSTAIN",
        "Answer: no tests",
        "Answer: NO\nAnswer: perhaps",
        "Answer:\nReasoning: YES.",
        "> Answer: YES",
        "```\nAnswer: YES\n```\nis what the file says",
        "```\nAnswer: YES\n```\nand\n```\nAnswer: YES\n```",
        "```\nAnswer: YES",
        "Reasoning: fine\nYES",
        '{"answer": "yes"}',
        "*",
    ],
)
def test_no_answer(reply: str) -> None:
    said = yes_or_no(reply)
    assert (said.status, said.label) == (Status.ABSTAIN, "no_answer")
    assert said.reasoning.startswith("the reply says neither YES nor NO: ")


@pytest.mark.parametrize("reply", ["", "   ", "\ufeff\r\n\t", "```\n```", "```text\n \n```"])
def test_an_empty_reply_is_an_error(reply: str) -> None:
    problem = Judgment.errored("the reply is empty", metadata={"reason": "reply_invalid"})
    assert yes_or_no(reply) == problem


@pytest.mark.parametrize("piece", ["YES ", "* ", "Answer ", "> ", "```\n", "_", "final ", "\n"])
def test_long_replies_are_read_in_no_time(piece: str) -> None:
    assert yes_or_no(piece * 100_000 + "!").status in Status


@given(st.text() | st.text("YESNOyesno:., \n*_`>Answer?"))
def test_any_reply_has_a_judgment(reply: str) -> None:
    said = yes_or_no(reply)
    votes = {Status.PASS: "yes", Status.FAIL: "no"}
    if said.status in votes:
        assert votes[said.status] in reply.casefold()
    if said.status is Status.ERROR:
        assert not reply.strip("\ufeff \t\r\n`").strip()


@given(st.sampled_from(["YES", "NO"]), st.text().map(lambda text: text.replace("\n", " ")))
def test_the_reasoning_of_one_line_does_not_matter(answer: str, reasoning: str) -> None:
    said = yes_or_no(f"Answer: {answer}\nReasoning: {' '.join(reasoning.split())}")
    assert said.status is {"YES": Status.PASS, "NO": Status.FAIL}[answer]


# How sure the answer is.


@pytest.mark.parametrize(
    ("line", "number"),
    [
        ("Confidence: 0.85", 0.85),
        ("confidence: .5", 0.5),
        ("**Confidence:** 1", 1.0),
        ("- Confidence: 85 %", 0.85),
        ("Confidence: 0.9.", 0.9),
        ("Confidence: 0.2\nConfidence: 0.9", 0.9),
        ("Confidence: 85", None),
        ("Confidence: high", None),
        ("> Confidence: 0.9", None),
        ("I am 90 % sure", None),
        ("", None),
    ],
)
def test_the_confidence_is_the_number_of_the_last_such_line(
    line: str, number: float | None
) -> None:
    said = with_confidence(yes_or_no)(f"Answer: YES\nReasoning: it adds up\n{line}")
    assert (said.status, said.confidence) == (Status.PASS, number)
    if number is not None and line.count("\n") == 0:
        assert said.reasoning == "it adds up"


def test_what_is_no_answer_is_not_sure() -> None:
    said = with_confidence(yes_or_no)("Confidence: 0.9")
    assert (said.status, said.confidence) == (Status.ERROR, None)
