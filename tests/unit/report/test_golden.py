"""The comments as maintainers see them. ``PRJURY_UPDATE_GOLDEN=1`` writes them anew."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from fakes import reports as fake
from fakes.render import to_comment, to_feedback
from prjury.report.model import Report

GOLDEN = Path(__file__).resolve().parents[2] / "golden"
COMMENTS = {
    "comment-pass.md": fake.passed,
    "comment-build-failure.md": fake.broken_build,
    "comment-conflict.md": fake.conflicting,
    "comment-needs-a-human.md": fake.needs_a_human,
    "comment-panel.md": fake.panel,
    "comment-environment.md": fake.environment,
    "comment-vanished.md": fake.vanished,
    "comment-advice.md": fake.advised_against,
    "comment-unread.md": fake.unread,
    "comment-not-built.md": fake.not_built,
    "comment-many.md": fake.many,
}


@pytest.mark.parametrize(("name", "make"), COMMENTS.items())
def test_the_comment_reads_as_agreed(name: str, make: Callable[[], Report]) -> None:
    compare(name, to_comment(make(), run="1234567.1"))


def test_the_feedback_reads_as_agreed() -> None:
    compare("feedback-build-failure.md", to_feedback(fake.broken_build()))


def compare(name: str, text: str) -> None:
    file = GOLDEN / name
    if os.environ.get("PRJURY_UPDATE_GOLDEN"):
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")
