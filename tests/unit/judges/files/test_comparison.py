from __future__ import annotations

import random
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from fakes.file_pairs import FORM, MEANING
from prjury import (
    Judgment,
    JudgmentContext,
    PomComparisonJudge,
    SemanticComparisonJudge,
    Status,
    SupersetJudge,
    SyntaxComparisonJudge,
    TextComparisonJudge,
    XmlComparisonJudge,
)
from prjury.code.languages import LANGUAGES
from prjury.code.parser import Parsed, Parser, make_job
from prjury.deadline import Deadline
from prjury.judges.files.judges import ClassVersionJudge
from prjury.judges.files.meaning import find_meaning
from prjury.manifests.manifest import ManifestError

HERE = Path(__file__)
SOURCES = sorted((HERE.parents[4] / "src/prjury/jury").rglob("*.py"))


def same(path: str, first: str, second: str) -> bool:
    meaning = find_meaning(path)
    return bool(meaning(first) == meaning(second))


@pytest.mark.parametrize(("path", "first", "second"), FORM)
def test_pairs_that_differ_in_form(path: str, first: str, second: str) -> None:
    assert same(path, first, second)


@pytest.mark.parametrize(("path", "first", "second"), MEANING)
def test_pairs_that_differ_in_meaning(path: str, first: str, second: str) -> None:
    assert not same(path, first, second)


CHANGES = {"==": "!=", "+": "-", "and": "or", "True": "False", "<": "<=", "not": "", "is": "=="}


def mutants(text: str, count: int) -> Iterator[str]:
    """The text with one name, number or operator changed."""
    job = make_job(text, LANGUAGES["python"], as_tree=True)
    (parsed,) = Parser().parse([job], Deadline.after(10))
    assert isinstance(parsed, Parsed)
    chosen = random.Random(len(text))  # noqa: S311 - nothing secret
    leaves = [(start, end) for kind, start, end, below in parsed.tree if not below and end > start]
    made = 0
    while made < count:
        start, end = chosen.choice(leaves)
        word = text[start:end]
        other = CHANGES.get(word) or (f"{word}_" if word.isidentifier() else None)
        if other and text[start - 1] not in "#'\"":
            made += 1
            yield text[:start] + other + text[end:]


@pytest.mark.slow
def test_no_mutant_of_real_code_means_the_same() -> None:
    meaning = find_meaning("a.py")
    for path in SOURCES[2:5]:
        text = path.read_text()
        wanted = meaning(text)
        for each in mutants(text, 10):
            try:
                assert meaning(each) != wanted
            except ManifestError:
                continue


@pytest.fixture
def place(tmp_path: Path) -> Path:
    for name in ("work", "expected/src"):
        (tmp_path / name).mkdir(parents=True)
    return tmp_path


def judged(judge: SemanticComparisonJudge | ClassVersionJudge, place: Path) -> Judgment:
    return judge.judge(JudgmentContext("port it", workspace=place / "work"))


def test_a_directory_is_compared_file_by_file(place: Path) -> None:
    (place / "expected/src/a.py").write_text("import b\nimport a\n")
    (place / "expected/b.json").write_text('{"a": 1, "b": 2}')
    (place / "expected/c.txt").write_text("c\n")
    (place / "work/src").mkdir()
    (place / "work/src/a.py").write_text("# sorted\nimport a\nimport b\n")
    (place / "work/b.json").write_text('{"b": 3, "a": 1}')
    (place / "work/more.txt").write_text("more\n")
    judgment = judged(SemanticComparisonJudge(place / "expected"), place)
    assert judgment.status is Status.FAIL
    assert judgment.reasoning == "b.json is not what is expected (and 1 more)"
    assert judgment.effective_score == pytest.approx(1 / 3)
    assert [(check.passed, check.message) for check in judgment.checks] == [
        (False, "b.json is not what is expected"),
        (False, "there is no file c.txt"),
        (True, "src/a.py means what is expected"),
    ]
    assert judgment.checks[0].evidence is not None
    assert judgment.checks[0].evidence.splitlines()[-2:] == [
        '-{"a": 1, "b": 2}',
        '+{"b": 3, "a": 1}',
    ]


def test_a_file_may_belong_to_another_place(place: Path) -> None:
    (place / "expected/A.java").write_text("class A { int a; }")
    (place / "work/B.java").write_text("class A {\n  int a;\n}\n")
    judge = SyntaxComparisonJudge(place / "expected/A.java", "B.java")
    judgment = judged(judge, place)
    assert (judgment.status, judgment.reasoning) == (Status.PASS, "B.java means what is expected")


@pytest.mark.parametrize(
    ("judge", "expected", "found", "status"),
    [
        (TextComparisonJudge, "a b\n", "a\tb\n\n", Status.PASS),
        (TextComparisonJudge, "import a\n", "import b\n", Status.FAIL),
        (XmlComparisonJudge, "<a><b/></a>", "<a>\n<b></b></a>", Status.PASS),
        (XmlComparisonJudge, "<a/>", "<a><b/></a>", Status.FAIL),
        (XmlComparisonJudge, "<a/>", "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", Status.FAIL),
        (XmlComparisonJudge, "<a", "<a/>", Status.ERROR),
        (PomComparisonJudge, "<project><name>a</name></project>", "<project/>", Status.FAIL),
        (PomComparisonJudge, "<settings/>", "<project/>", Status.ERROR),
        (SyntaxComparisonJudge, "words", "other words", Status.ERROR),
        (SupersetJudge, "a\nc\n", "a\nb\n c\n", Status.PASS),
        (SupersetJudge, "a\nc\n", "c\na\n", Status.FAIL),
    ],
)
def test_each_way_of_comparing(
    judge: type[SemanticComparisonJudge], expected: str, found: str, status: Status, place: Path
) -> None:
    (place / "expected/file").write_text(expected)
    (place / "work/file").write_text(found)
    assert judged(judge(place / "expected/file"), place).status is status


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.json", "[" * 100_000),
        ("a.json", '{"a": 1, "a": 2}'),
        ("a.yml", "a: &a [1]\nb: *a\n"),
        ("a.yml", "[" * 10_000),
        ("a.yml", "- " * 10_000),
        ("a.yml", "a: 1\nb: {c: 1, c: 2}\n"),
        ("a.yml", "1: a\ntrue: b\n"),
        ("a.toml", "a = [" * 10_000),
        ("a.xml", "<a>" * 10_000),
        ("a.py", "(" * 10_000),
        ("a.py", "def f(:\n"),
    ],
)
def test_what_cannot_be_understood(name: str, text: str, place: Path) -> None:
    sound = {"json": "{}", "yml": "a: 1\n", "toml": "a = 1\n", "xml": "<a/>", "py": "a = 1\n"}
    (place / "expected" / name).write_text(text)
    (place / "work" / name).write_text(sound[name.partition(".")[2]])
    judgment = judged(SemanticComparisonJudge(place / "expected" / name), place)
    assert judgment.metadata["reason"] == "not_comparable"
    (place / "expected" / name).write_text(sound[name.partition(".")[2]])
    (place / "work" / name).write_text(text)
    assert judged(SemanticComparisonJudge(place / "expected" / name), place).status is Status.FAIL


@pytest.mark.parametrize("expected", ["missing", "expected/src"])
def test_nothing_to_compare_with(expected: str, place: Path) -> None:
    judgment = judged(SemanticComparisonJudge(place / expected), place)
    assert judgment.metadata["reason"] == "no_expectation"


def test_a_link_out_of_the_workspace_is_not_followed(place: Path) -> None:
    (place / "expected/a.txt").write_text("secret")
    (place / "work/a.txt").symlink_to(place / "expected/a.txt")
    judgment = judged(SemanticComparisonJudge(place / "expected"), place)
    assert judgment.metadata["reason"] == "outside_workspace"


def a_class(major: int) -> bytes:
    return struct.pack(">IHH", 0xCAFEBABE, 0, major)


@pytest.mark.parametrize(
    ("release", "exactly", "status", "reasoning"),
    [
        (17, False, Status.PASS, "all 2 classes are for Java 17 or lower"),
        (21, True, Status.FAIL, "2 of 2 classes are not for Java 21"),
        (11, False, Status.FAIL, "1 of 2 classes are not for Java 11 or lower"),
    ],
)
def test_class_versions(
    release: int, exactly: bool, status: Status, reasoning: str, place: Path
) -> None:
    (place / "work/A.class").write_bytes(a_class(61))
    (place / "work/B.class").write_bytes(a_class(52))
    judgment = judged(ClassVersionJudge(release, exactly=exactly), place)
    assert (judgment.status, judgment.reasoning) == (status, reasoning)
    assert judgment.metadata["classes"] == {"8": 1, "17": 1}


def test_no_directory_of_classes_or_expectations_is_passed_over(place: Path) -> None:
    (place / "work/node_modules/a").mkdir(parents=True)
    (place / "work/node_modules/a/A.class").write_bytes(a_class(65))
    assert judged(ClassVersionJudge(17), place).status is Status.FAIL
    (place / "expected/.venv").mkdir()
    (place / "expected/.venv/a.txt").write_text("a")
    (place / "expected/link").symlink_to(place)
    judgment = judged(SemanticComparisonJudge(place / "expected"), place)
    assert judgment.reasoning == "there is no file .venv/a.txt"


def test_classes_that_are_none(place: Path) -> None:
    assert judged(ClassVersionJudge(17), place).metadata["reason"] == "no_classes"
    (place / "work/A.class").write_bytes(b"\xca\xfe")
    assert judged(ClassVersionJudge(17), place).metadata["reason"] == "unreadable"
    (place / "work/A.class").write_bytes(a_class(61)[::-1])
    assert judged(ClassVersionJudge(17), place).metadata["reason"] == "unreadable"


@pytest.mark.parametrize(
    ("release", "error"), [(0, ValueError), (True, TypeError), ("17", TypeError)]
)
def test_a_release_that_cannot_be(release: object, error: type[Exception]) -> None:
    with pytest.raises(error):
        ClassVersionJudge(release)  # type: ignore[arg-type]
