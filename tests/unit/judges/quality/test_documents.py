from __future__ import annotations

from prjury.judges.quality.prompt_input import LONGEST_LINE, document
from prjury.report.redact import Redactor


def lines(text: str) -> list[tuple[int, str]]:
    return [(row.line, row.text) for row in document("answer", "answer", text, Redactor()).rows]


def test_a_text_is_its_numbered_lines() -> None:
    assert lines("one\ntwo\r\n\nfour\n") == [(1, "one"), (2, "two"), (3, ""), (4, "four")]
    assert lines("") == []


def test_a_document_is_no_file() -> None:
    section = document("answer", "answer", "one", str)
    assert (section.path, section.is_file) == ("answer", False)
    assert section.value["kind"] == "answer"


def test_hidden_characters_are_visible_and_secrets_gone() -> None:
    token = "ghp_" + "a1" * 20
    assert lines(f"a\u202eb {token}") == [(1, "a\\u{202e}b [redacted: GitHub token]")]


def test_a_line_that_nobody_writes_is_cut_visibly() -> None:
    ((_, text),) = lines("x" * (LONGEST_LINE + 7))
    assert text == "x" * LONGEST_LINE + "… (+7 characters)"
