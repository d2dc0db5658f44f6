"""Commands in comments: the first line, exactly, and no options."""

from __future__ import annotations

import pytest

from prjury.action.commands import CommentCommand, is_command, read_command

READ = {
    "/prjury help": CommentCommand("help"),
    "/prjury review\r\nPlease, again.": CommentCommand("review"),
    "/prjury rerun\n/prjury override x": CommentCommand("rerun"),
    "/prjury explain 12": CommentCommand("explain", 12),
    "/prjury dismiss 3 it is --right; $(id)": CommentCommand("dismiss", 3, "it is --right; $(id)"),
    "/prjury override red machine": CommentCommand("override", words="red machine"),
    "/prjury backport release/1.x": CommentCommand("backport", words="release/1.x"),
    "/prjury fix": CommentCommand("fix"),
}
NOT_UNDERSTOOD = (
    "/prjury",
    "/prjury ",
    "/prjury  review",
    "/prjury Review",
    "/prjury review  ",
    "/prjury review --model x",
    "/prjury review config=evil.yml",
    "/prjury explain",
    "/prjury explain 0",
    "/prjury explain 1 2",
    "/prjury explain ٣",
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
