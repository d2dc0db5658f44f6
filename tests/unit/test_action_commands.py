"""Commands in comments: the first line, exactly, and no options."""

from __future__ import annotations

import pytest

from prjury.action.history import CommentCommand, is_command, parse_command_or_why, read_command

READ = {
    "/prjury help": CommentCommand("help"),
    "/prjury review\r\nPlease, again.": CommentCommand("review"),
    "/prjury fix\n/prjury override x": CommentCommand("fix"),
    "/prjury dismiss 3 it is --right; $(id)": CommentCommand("dismiss", 3, "it is --right; $(id)"),
    "/prjury override red machine": CommentCommand("override", words="red machine"),
    "/prjury backport release/1.x": CommentCommand("backport", words="release/1.x"),
}
NOT_UNDERSTOOD = (
    "/prjury",
    "/prjury ",
    "/prjury  review",
    "/prjury Review",
    "/prjury review  ",
    "/prjury review --model x",
    "/prjury review config=evil.yml",
    "/prjury dismiss 0 reason",
    "/prjury dismiss ٣ reason",
    "/prjury dismiss 1",
    "/prjury dismiss 1  ",
    "/prjury dismiss x reason",
    "/prjury override",
    "/prjury override " + "x" * 301,
    "/prjury backport",
    "/prjury backport --onto",
    "/prjury backport 1.x 2.x",
    "/prjury backport $(id)",
)


@pytest.mark.parametrize("body", READ)
def test_a_command_is_the_first_line(body: str) -> None:
    assert is_command(body)
    assert read_command(body) == READ[body]


@pytest.mark.parametrize("body", NOT_UNDERSTOOD)
def test_nothing_but_the_words_themselves_is_a_command(body: str) -> None:
    assert is_command(body)
    assert read_command(body) is None


@pytest.mark.parametrize(
    "body", ["", " /prjury help", "> /prjury help", "/prjuryx", "/PRJURY help", "a\n/prjury help"]
)
def test_other_comments_do_not_speak_to_us(body: str) -> None:
    assert not is_command(body)


LACKING = {
    "/prjury dismiss 1": "The reason is missing",
    "/prjury dismiss reason": "The number of the finding is missing",
    "/prjury override": "The reason is missing",
    "/prjury override \u200b\u2060": "The reason is missing",
    "/prjury backport $(id)": "The branch is missing",
    "/prjury review now": "takes no words",
    "/prjury rerun": "use `/prjury review`",
    "/prjury explain 1": "the finding itself",
    "/prjury frobnicate": "",
}


@pytest.mark.parametrize("body", LACKING)
def test_a_command_that_is_not_exact_is_told_what_it_lacks(body: str) -> None:
    complaint = parse_command_or_why(body)
    assert isinstance(complaint, str)
    assert LACKING[body] in complaint
    assert bool(complaint) is (body != "/prjury frobnicate")
