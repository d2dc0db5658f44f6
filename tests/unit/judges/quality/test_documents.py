from __future__ import annotations

from prjury.judges.quality.prompt_input import document
from prjury.report.sanitise import Redactor


def lines(text: str) -> list[tuple[int, str]]:
    return [(row.line, row.text) for row in document("answer", "answer", text, Redactor()).rows]


def test_hidden_characters_are_visible_and_secrets_gone() -> None:
    token = "ghp_" + "a1" * 20
    assert lines(f"a\u202eb {token}") == [(1, "a\\u{202e}b [redacted: GitHub token]")]
