"""Comments and annotations by which ecosystems silence their own tools."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prjury.code.languages import LANGUAGES, language_of
from prjury.code.parser import Parsed
from prjury.code.source import Source, find_comment_ranges
from prjury.code.worker import run_job_or_error
from prjury.judges.patterns.match import ActiveRule, FileScan
from prjury.judges.patterns.suppressions import (
    READERS,
    CommentPage,
    job_with_probe,
    take_suppressions,
)
from prjury.jury.judgment import Severity, Status
from prjury.policy.fields import convert_section
from prjury.rulepacks.rule import Pack, PatternRule
from unit.judges.patterns.bench import JAVA, adding, found

LANGUAGE_NAMES = ["python", "go", "javascript", "typescript", "tsx", "java", "kotlin", "rust"]
IMPORT = "import javax.persistence.Entity;"


TOLD: dict[str, Any] = {
    "id": "gone",
    "title": "gone",
    "why": "it is gone",
    "literals": ["old_api"],
    "match": [{"languages": LANGUAGE_NAMES, "regex": r"\bold_api\b"}],
    "message": "use new_api",
    "severity": "error",
    "confidence": "high",
    "references": ["https://example.org"],
}


def rule(**more: Any) -> PatternRule:
    made: PatternRule = convert_section({**TOLD, **more}, PatternRule)
    return made


GONE = rule()
OLD = rule(deprecated=["pypi:x >=1"])
CODED = rule(codes=["NPY201", "staticcheck", "n/no-old-api"])


def silenced(
    path: str,
    code: str,
    judged: PatternRule = GONE,
    severity: Severity = "error",
) -> dict[int, str]:
    """The lines whose finding is silenced, and by what."""
    pack = convert_section({"id": "p", "title": "p", "gate": ["pypi:x"], "rules": [TOLD]}, Pack)
    language = language_of(path)
    assert language
    active = ActiveRule(pack, judged)
    scan = FileScan(path, Source.of(code, language), code.encode(), (active,))
    job = job_with_probe(scan)
    assert job
    parsed = msgspec.convert(run_job_or_error(job), Parsed)
    ours, suppressions = take_suppressions(scan, parsed)
    told = {hit.lines[0]: suppressions.use_silencers(hit, severity) for hit in scan.hits(ours)}
    assert told
    return {line: str(by) for line, by in told.items() if by}


@pytest.mark.parametrize(
    ("comment", "expected"),
    [
        ("# noqa", True),
        ("#noqa", True),
        ("# NOQA", True),
        ("# noqa the server is old", True),
        ("# see below # noqa", True),
        ("# noqa: NPY201", False),
        ("# noqa: X001", False),
        ("# noqa:", False),
        ("# noqa: gone", False),
        ("# noqas", False),
        ("# type: ignore", False),
        ("# pragma: no cover", False),
        ("# pylint: disable=all", False),
    ],
)
def test_noqa_silences_its_line(comment: str, expected: bool) -> None:
    assert list(silenced("a.py", f"old_api()  {comment}\n")) == ([1] if expected else [])


@pytest.mark.parametrize("codes", ["NPY201", "E501, NPY201", "npy201,E501", "E501 NPY201"])
def test_noqa_with_a_code_that_is_the_rules(codes: str) -> None:
    assert silenced("a.py", f"old_api()  # noqa: {codes}\n", CODED)
    assert silenced("a.py", "old_api()  # noqa: NPY200\n", CODED) == {}


@pytest.mark.parametrize(
    ("comment", "expected"),
    [
        ("//nolint", True),
        ("// nolint", True),
        ("//nolint:all", True),
        ("//nolint:staticcheck,prjury", True),
        ("//nolint:prjury // still on the old server", True),
        ("//nolint:staticcheck", False),
        ("//lint:ignore SA1019 the old server", False),
        ("//nolintlint", False),
        ("// please nolint", False),
        ("/* nolint */", False),
    ],
)
def test_nolint_silences_its_line(comment: str, expected: bool) -> None:
    code = f"package a\n\nfunc f() {{\n\told_api() {comment}\n}}\n"
    assert list(silenced("a.go", code)) == ([4] if expected else [])


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("a.go", "package a\n\nvar x = old_api() //nolint:staticcheck\n"),
        ("a.go", "package a\n\nvar x = old_api() //nolint:gosec,staticcheck // for now\n"),
        ("a.go", "package a\n//lint:ignore SA1019 still on the old server\nvar x = old_api()\n"),
        (
            "a.ts",
            "// one\n// eslint-disable-next-line @typescript-eslint/no-deprecated\nold_api();\n",
        ),
    ],
)
def test_what_silences_deprecations_silences_them(path: str, code: str) -> None:
    deprecated = rule(severity="warning", codes=["SA1019"])
    assert list(silenced(path, code, deprecated, "warning")) == [3]
    assert silenced(path, code) == {}


def test_nolint_above_a_statement_is_about_all_of_it() -> None:
    code = (
        "package a\n\n//nolint\nfunc f() {\n\told_api()\n}\n\nfunc g() {\n\told_api()\n"
        "\t//nolint\n\tx.Do(\n\t\told_api(),\n\t)\n\told_api()\n}\n"
    )
    assert list(silenced("a.go", code)) == [5, 12]


@pytest.mark.parametrize("path", ["a.js", "a.ts", "a.tsx"])
@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("// eslint-disable-next-line\nold_api();\nold_api();\n", [2]),
        ("// eslint-disable-next-line no-eval, gone -- it is old\nold_api();\n", [2]),
        ("/* eslint-disable-next-line prjury/gone */\nold_api();\n", [2]),
        ("// eslint-disable-next-line p/gone\nold_api();\n", [2]),
        ("// eslint-disable-next-line no-eval\nold_api();\n", []),
        ("// eslint-disable-next-line no-eval -- gone\nold_api();\n", []),
        ("// eslint-disable-next-line n/no-old-api\nold_api();\n", []),
        ("// eslint-disable-next-lines\nold_api();\n", []),
        ("old_api(); // eslint-disable-line\nold_api();\n", [1]),
        ("old_api();\n/* eslint-disable */\nold_api();\nold_api();\n", [3, 4]),
        ("/* eslint-disable gone */\nold_api();\n/* eslint-enable gone */\nold_api();\n", [2]),
        ("/* eslint-disable */\nold_api();\n/* eslint-enable */\nold_api();\n", [2]),
        ("/* eslint-disable gone */\nold_api();\n/* eslint-enable */\nold_api();\n", [2]),
        ("/* eslint-disable gone */\n/* eslint-enable no-eval */\nold_api();\n", [3]),
        ("/* eslint-disable no-eval */\nold_api();\n", []),
        ("// eslint-disable\nold_api();\n", []),
        ('"/* eslint-disable */";\nold_api();\n', []),
    ],
)
def test_eslint(path: str, code: str, expected: list[int]) -> None:
    assert list(silenced(path, code)) == expected


@pytest.mark.parametrize(
    ("mark", "of_gone", "of_old"),
    [
        ('@SuppressWarnings("deprecation")', False, True),
        ('@SuppressWarnings("removal")', True, False),
        ('@SuppressWarnings({"unused", "removal"})', True, False),
        ('@SuppressWarnings(value = {"deprecation", "removal"})', True, True),
        ('@java.lang.SuppressWarnings("all")', True, True),
        ('@Override @SuppressWarnings("all")', True, True),
        ('@SuppressWarnings("prjury:gone")', True, True),
        ('@SuppressWarnings("prjury:p/gone")', True, True),
        ('@SuppressWarnings("prjury:other")', False, False),
        ('@SuppressWarnings("unused")', False, False),
        ('@SuppressWarnings(/* "all" */ "unused")', False, False),
        ("@SuppressWarnings(ALL)", False, False),
        ('@Other("all")', False, False),
    ],
)
def test_java_annotations(mark: str, of_gone: bool, of_old: bool) -> None:
    code = f"class A {{\n  {mark}\n  void f() {{\n    old_api();\n  }}\n  int b = old_api;\n}}\n"
    assert list(silenced("A.java", code)) == ([4] if of_gone else [])
    assert list(silenced("A.java", code, OLD, "warning")) == ([4] if of_old else [])


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ('import old_api;\n@SuppressWarnings("all")\nclass A {\n  int a = old_api;\n}\n', [4]),
        ('class A {\n  @SuppressWarnings("all") int a = old_api;\n  int b = old_api;\n}\n', [2]),
        (
            'class A {\n void f(@SuppressWarnings("all")\n old_api a) {\n  old_api b;\n }\n}\n',
            [3],
        ),
        (
            'class A {\n void f() {\n  @SuppressWarnings("all")\n  old_api b;\n  old_api c;\n }\n}',
            [4],
        ),
    ],
)
def test_an_annotation_is_about_its_own_declaration(code: str, expected: list[int]) -> None:
    assert list(silenced("A.java", code)) == expected


@pytest.mark.parametrize(
    ("mark", "of_gone", "of_old"),
    [
        ('@Suppress("DEPRECATION")', False, True),
        ('@Suppress("UNUSED", "DEPRECATION")', False, True),
        ('@Suppress("removal")', True, False),
        ('@Suppress("all")', True, True),
        ('@Suppress("prjury:gone")', True, True),
        ('@Suppress("UNUSED")', False, False),
    ],
)
def test_kotlin_annotations(mark: str, of_gone: bool, of_old: bool) -> None:
    code = f"import old_api\nclass A {{\n  {mark}\n  fun f() {{\n    old_api()\n  }}\n}}\n"
    assert list(silenced("A.kt", code)) == ([5] if of_gone else [])
    assert list(silenced("A.kt", code, OLD, "warning")) == ([5] if of_old else [])


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("#[allow(deprecated)]\nfn f() {\n    old_api();\n}\nfn g() { old_api() }\n", [3]),
        ("#[allow(unused, deprecated)]\n#[inline]\nfn f() {\n    old_api();\n}\n", [4]),
        ("#[expect(deprecated)]\nuse x::old_api;\nuse y::old_api;\n", [2]),
        ("fn f() {\n    #[allow(deprecated)]\n    let a = old_api();\n    old_api();\n}\n", [3]),
        ("#[allow(unused)]\nfn f() { old_api() }\n", []),
        ("#[deny(deprecated)]\nfn f() { old_api() }\n", []),
        ("// #[allow(deprecated)]\nfn f() { old_api() }\n", []),
    ],
)
def test_rust_attributes(code: str, expected: list[int]) -> None:
    assert list(silenced("a.rs", code, OLD, "warning")) == expected
    assert silenced("a.rs", code) == {}


def test_other_languages_know_only_our_own_comment() -> None:
    for name in ("yaml", "shell", "docker", "properties", "maven", "xml", "workflow"):
        assert name in LANGUAGES
        assert name not in READERS


@given(st.sampled_from(sorted(READERS)), st.text(max_size=200))
def test_no_comment_breaks_a_reader(name: str, text: str) -> None:
    language = LANGUAGES[name]
    source = Source.of(f"# noqa{text}\n//nolint{text}\n/* eslint-disable{text} */\n", language)
    spans = [(0, len(source.text)), *find_comment_ranges(source.text, language)]
    page = CommentPage(source, tuple(spans), (), tuple(spans), tuple(spans))
    for directive in READERS[name](page):
        assert directive.line in source.numbers
        assert "\n" not in str(directive) or name not in {"java", "kotlin", "rust"}


def test_what_an_annotation_silences_is_a_warning_that_says_so() -> None:
    code = (
        'class A {\n  @SuppressWarnings("removal")\n  void f() {\n'
        "    javax.persistence.Entity a;\n  }\n}\n"
    )
    judgment = adding(code, options={"severity": "warning"})
    assert (judgment.status, judgment.label) == (Status.ABSTAIN, "suppressed_here")
    assert found(judgment) == [("jakarta/persistence", "warning", 4)]
    check = judgment.failed_checks[0]
    assert check.message.startswith(
        "silenced by a comment in this change (@SuppressWarnings): javax.persistence"
    )
    assert judgment.metadata["suppressed"] == 1
    assert judgment.metadata["suppressions"] == (
        f'jakarta/persistence ({JAVA}:4), by @SuppressWarnings("removal") on line 2',
    )
    assert judgment.reasoning == (
        f"this change silences 1 error by @SuppressWarnings: jakarta/persistence ({JAVA}:4)"
    )


def test_comments_of_several_kinds_are_counted_each() -> None:
    code = f'@SuppressWarnings("all")\nclass A {{ javax.persistence.Entity a; }}\n{IMPORT}'
    assert adding(f"{code} // prjury-ignore[persistence]\n").reasoning == (
        "this change silences 2 errors by @SuppressWarnings (1), prjury-ignore (1): "
        f"jakarta/persistence ({JAVA}:2) and 1 more"
    )


def test_unused_foreign_comments_are_left_alone() -> None:
    code = '@SuppressWarnings("all")\nclass A { int javax_persistence; }\n'
    assert found(adding(code)) == []


def test_very_many_annotations_cost_no_more_than_the_file() -> None:
    many = "".join(f'@SuppressWarnings("all") int a{n};\n' for n in range(5_000))
    code = f"class A {{\n{many}javax.persistence.Entity b;\n}}\n"
    assert found(adding(code)) == [("jakarta/persistence", "error", 5_002)]
