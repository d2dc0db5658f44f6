"""Content that is made to hurt: each has a clear outcome, and what was not scanned is named."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from msgspec.structs import replace

from fakes.history import History, snapshot
from fakes.repository import BASE, HEAD, FakeRepository, Files, pull_between
from prjury.code.parser import Parser
from prjury.jury.judgment import Judgment, Status
from prjury.snapshot.model import Hunk, Line
from unit.judges.patterns.bench import JAVA, adding, bench, context, found, judged, pom

IMPORT = "import javax.persistence.Entity;"


def unread(judgment: Judgment) -> dict[str, str]:
    return {entry["path"]: entry["reason"] for entry in judgment.metadata["scope"]["unread"]}


@pytest.mark.slow
def test_a_hundred_thousand_hunks_are_all_looked_at() -> None:
    texts = ["int a;"] * 99_999 + ["javax.persistence.Entity b;"]
    code = "class A {\n" + "".join(f"{text}\n" for text in texts) + "}\n"
    base: Files = {"pom.xml": pom()}
    small = pull_between(base, {**base, JAVA: "x\n"})
    (file,) = small.files
    hunks = tuple(
        Hunk(number, 0, number, 1, "", (Line("+", None, number, text),))
        for number, text in enumerate(texts, start=2)
    )
    after: Files = {**base, JAVA: code}
    blob = pull_between(base, after).files[0].new_blob
    pull = replace(small, files=(replace(file, hunks=hunks, new_blob=blob),))
    begun = time.monotonic()
    repository = FakeRepository({BASE: base, HEAD: after})
    judgment = judged(base, after, pull=pull, repository=repository, parser=Parser())
    assert time.monotonic() - begun < 60
    assert found(judgment) == [("jakarta/persistence", "error", 100_001)]
    assert unread(judgment) == {}


@pytest.mark.slow
def test_more_hunks_than_one_pull_request_may_have_are_unread(tmp_path: Path) -> None:
    lines = [f"int a{number % 10};\n" for number in range(800_000)]
    history = History(tmp_path / "repo", bare=True)
    history.commit({"pom.xml": pom(), JAVA: "".join(lines), "B.java": "class B {}\n"})
    history.switch("change", create=True)
    lines[::8] = ["javax.persistence.Entity b;\n"] * 100_000
    history.commit({JAVA: "".join(lines), "B.java": "class B { int b; }\n"})
    pull = snapshot(history)
    files = {file.path: file for file in pull.files}
    assert files[JAVA].additions == 100_000
    base: Files = {"pom.xml": pom()}
    repository = FakeRepository({pull.base.sha: base}, gone={files["B.java"].new_blob or ""})
    judgment = judged(base, base, pull=pull, repository=repository)
    assert (judgment.status, judgment.label) == (Status.ABSTAIN, "unread")
    assert unread(judgment) == {JAVA: "larger than 1024 KiB"}
    assert judgment.metadata["scope"]["read"] == ("B.java",)


@pytest.mark.parametrize("path", [JAVA, "src/main/webapp/x.jsp"])
def test_a_minified_line_of_five_megabytes_is_unread(path: str) -> None:
    line = "javax.persistence.Entity a;" * 200_000
    assert len(line) > 5_000_000
    judgment = adding(f"{line}\n", path=path)
    assert (judgment.status, judgment.label) == (Status.ABSTAIN, "unread")
    assert unread(judgment) == {path: "a line above 20000 characters"}


@pytest.mark.parametrize("codec", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_wide_characters_are_unread(codec: str) -> None:
    judgment = adding(f"package x;\n{IMPORT}\n".encode(codec))
    assert (judgment.status, judgment.label) == (Status.ABSTAIN, "unread")
    assert unread(judgment) == {JAVA: "not text (NUL bytes)"}


@pytest.mark.parametrize("hidden", ["\0" + IMPORT, IMPORT + "\0", f"\n\n\0\n{IMPORT}"])
def test_nul_bytes_are_unread_and_hide_nothing(hidden: str) -> None:
    judgment = adding(f"package x;\n{hidden}\nclass A {{}}\n")
    assert (judgment.status, judgment.label) == (Status.ABSTAIN, "unread")
    assert unread(judgment) == {JAVA: "not text (NUL bytes)"}


def test_a_nul_byte_outside_the_added_lines_makes_the_file_unread_where_rules_look() -> None:
    base: Files = {"pom.xml": pom(), JAVA: "// \0\nclass A {}\n"}
    judgment = judged(base, {**base, JAVA: f"// \0\n{IMPORT}\nclass A {{}}\n"})
    assert (judgment.status, judgment.label) == (Status.ABSTAIN, "unread")
    assert unread(judgment) == {JAVA: "not text (NUL bytes)"}


@pytest.mark.parametrize(
    ("code", "line"),
    [
        (f"package x;\r{IMPORT}\rclass A {{}}\r", 1),
        (f"// x\r{IMPORT}\rclass A {{}}", 1),
        (f"package x;\r\n// x\r{IMPORT}\r\nclass A {{}}\r\n", 2),
        (f"/* x\r*/{IMPORT}\r", 1),
    ],
)
def test_lone_carriage_returns_end_lines_as_they_do_for_compilers(code: str, line: int) -> None:
    judgment = adding(code)
    assert found(judgment) == [("jakarta/persistence", "error", line)]
    assert unread(judgment) == {}


@pytest.mark.parametrize("mark", ["// prjury-ignore[persistence]", '@SuppressWarnings("all")'])
def test_comments_before_a_carriage_return_silence_as_they_do_before_a_line_feed(mark: str) -> None:
    judgment = adding(f"package x;\r{mark}\rclass A {{ javax.persistence.Entity a; }}\r")
    assert found(judgment) == [("jakarta/persistence", "warning", 1)]


@pytest.mark.slow
@pytest.mark.parametrize("nested", ["(" * 20_000, "a<" * 20_000, "{" * 20_000, "if(a)" * 20_000])
def test_deep_nesting_is_judged_or_named(nested: str) -> None:
    broken = "\n".join(nested[at : at + 10_000] for at in range(0, len(nested), 10_000))
    base: Files = {"pom.xml": pom()}
    after: Files = {
        **base,
        JAVA: f"{IMPORT}\nclass A {{ void f() {{\n{broken}\n}} }}\n",
        "B.java": f"package x;\n{IMPORT}\n",
    }
    judgment = judged(base, after, parser=Parser(seconds=5))
    places = [str(check.location) for check in judgment.failed_checks]
    assert "B.java:2" in places
    assert judgment.status is Status.FAIL
    reason = unread(judgment).get(JAVA)
    assert f"{JAVA}:1" in places if reason is None else reason.startswith("parser_")


def test_the_time_of_one_pull_request_is_limited_over_all_its_files() -> None:
    base: Files = {"pom.xml": pom()}
    after: Files = {**base, **{f"x{number}.java": IMPORT for number in range(250)}}

    def run_worker_with_exit_code(_lines: bytes, timeout: float) -> tuple[bytes, None]:
        time.sleep(timeout)
        return b"", None

    begun = time.monotonic()
    judge = bench(base, after, parser=Parser(run_worker_with_exit_code=run_worker_with_exit_code))
    judgment = judge.judge(context(pull_between(base, after), seconds=2))
    assert time.monotonic() - begun < 40
    assert (judgment.status, judgment.label) == (Status.ABSTAIN, "unread")
    assert len(unread(judgment)) == 250
