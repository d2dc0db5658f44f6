"""Whatever a pull request looks like: findings stand on added lines, and nowhere else."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes.repository import Files, pull_between
from prjury.jury.judgment import Judgment, Status
from unit.judges.patterns.bench import JAVA, bench, context, pom

LINES = st.sampled_from(
    [
        "import javax.persistence.Entity;",
        "import javax.sql.DataSource;",
        "import com.fasterxml.jackson.databind.ObjectMapper;",
        "  @MockBean Foo foo;",
        "  javax.servlet.Filter é😀;",
        "// import javax.servlet.Filter;",
        "/* import javax.jms.Queue;",
        "*/",
        '  String s = """',
        '""";',
        '"',
        "class A {",
        "}",
        "",
        "\r",
        "x\rimport javax.mail.Session;",
        "import \\u006aavax.inject.Inject;",
        "// prjury-ignore[persistence]",
    ]
)
TEXTS = st.lists(LINES, max_size=12).map("\n".join)


def judge(old: str, new: str) -> tuple[Judgment, set[int]]:
    before = {"pom.xml": pom(), JAVA: old}
    after = {"pom.xml": pom(), JAVA: new}
    pull = pull_between(before, after)
    added = {line.new for file in pull.files for line in file.added_lines if line.new}
    return bench(before, after).judge(context(pull)), added


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(TEXTS, TEXTS)
def test_only_added_lines_are_ever_reported(old: str, new: str) -> None:
    judgment, added = judge(old, new)
    places = [check.location for check in judgment.failed_checks]
    assert all(place is not None and place.line in added for place in places)
    rules = {
        (check.name, place.line)
        for check, place in zip(judgment.failed_checks, places, strict=True)
        if place
    }
    assert len(rules) == len(places)
    assert (judgment.status is Status.FAIL) == any(
        check.severity == "error" for check in judgment.failed_checks
    )


@settings(max_examples=25, deadline=None)
@given(TEXTS)
def test_what_is_there_already_is_never_reported(text: str) -> None:
    judgment, added = judge(text, text)
    assert added == set()
    assert judgment.failed_checks == ()


@settings(max_examples=25, deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_named_as_unread(content: bytes) -> None:
    before: Files = {"pom.xml": pom()}
    after: Files = {**before, JAVA: b"import javax.persistence.Entity;\n" + content}
    judgment = bench(before, after).judge(context(pull_between(before, after)))
    scope = judgment.metadata["scope"]
    unread = [entry["path"] for entry in scope["unread"]]
    assert sorted([*scope["read"], *unread]) == [JAVA]
    assert judgment.status is (Status.ABSTAIN if unread else Status.FAIL)
