"""``prjury-ignore[rule]`` in comments."""

from __future__ import annotations

import pytest

from fakes.repository import Files
from prjury.jury.judgment import Status
from unit.judges.patterns.bench import JAVA, adding, found, judged, pom

IMPORT = "import javax.persistence.Entity;"
UNUSED = "patterns/unused-suppression"


@pytest.mark.parametrize(
    "code",
    [
        f"{IMPORT} // prjury-ignore[persistence]\n",
        f"{IMPORT} // prjury-ignore[jakarta/persistence]: still on the old server\n",
        f"// prjury-ignore[persistence]\n{IMPORT}\n",
        f"/* prjury-ignore[jakarta/persistence] */\n{IMPORT}\n",
        f"/*\n * prjury-ignore[persistence]\n */{IMPORT}\n",
        f"// prjury-ignore[servlet, persistence]\nimport javax.servlet.A; {IMPORT}\n",
    ],
)
def test_a_comment_silences_its_line_and_the_next(code: str) -> None:
    judgment = adding(code)
    assert (judgment.status, judgment.label) == (Status.ABSTAIN, "suppressed_here")
    assert {severity for _, severity, _ in found(judgment)} == {"warning"}
    assert judgment.metadata["suppressed"] >= 1
    assert f"jakarta/persistence ({JAVA}:" in judgment.metadata["suppressions"][0] or (
        "servlet" in code
    )


@pytest.mark.parametrize(
    "code",
    [
        f"{IMPORT} // prjury-ignore[servlet]\n",
        f"// prjury-ignore[persistence]\n\n{IMPORT}\n",
        f"{IMPORT}\n// prjury-ignore[persistence]\n",
        f'class A {{ String s = "prjury-ignore[persistence]"; }}\n{IMPORT}\n',
        f"{IMPORT} // prjury-ignore\n",
        f"{IMPORT} // prjury-ignore[]\n",
        f"{IMPORT} // prjury-ignore[other/persistence]\n",
    ],
)
def test_anything_else_silences_nothing(code: str) -> None:
    judgment = adding(code)
    assert judgment.status is Status.FAIL
    assert judgment.metadata["suppressed"] == 0


def test_where_it_is_not_allowed_it_does_nothing_and_is_not_looked_for() -> None:
    judgment = adding(f"{IMPORT} // prjury-ignore[persistence]\n", suppressions=False)
    assert found(judgment) == [("jakarta/persistence", "error", 1)]
    assert adding("// prjury-ignore[persistence]\n", suppressions=False).checks[0].passed


@pytest.mark.parametrize("name", ["persistence", "jakarta/persistence", "jakarta/typo", "typo"])
def test_one_that_silences_nothing_is_a_hint(name: str) -> None:
    judgment = adding(f"class A {{\n  int a; // prjury-ignore[{name}]\n}}\n")
    assert judgment.status is Status.PASS
    assert found(judgment) == [(UNUSED, "hint", 2)]


def test_one_for_a_line_that_was_there_before_is_used() -> None:
    base = {"pom.xml": pom(), JAVA: f"package x;\n{IMPORT}\nclass A {{}}\n"}
    after: Files = {
        **base,
        JAVA: f"package x;\n// prjury-ignore[persistence]\n{IMPORT}\nclass A {{}}\n",
    }
    judgment = judged(base, after)
    assert found(judgment) == []
    assert judgment.metadata["suppressed"] == 0


def test_an_old_comment_silences_a_new_line() -> None:
    base = {"pom.xml": pom(), JAVA: "// prjury-ignore[persistence]\nclass A {}\n"}
    after: Files = {**base, JAVA: f"// prjury-ignore[persistence]\n{IMPORT}\nclass A {{}}\n"}
    judgment = judged(base, after)
    assert judgment.status is Status.PASS
    assert found(judgment) == [("jakarta/persistence", "warning", 2)]
    assert judgment.metadata["suppressed"] == 1
    assert judgment.reasoning.endswith("nothing else found; 1 finding silenced by prjury-ignore")


def test_what_is_no_error_may_be_silenced_and_is_a_hint() -> None:
    base = {"pyproject.toml": '[project]\nname = "x"\nrequires-python = ">=3.12"\n'}
    code = "from datetime import datetime\nnow = datetime.utcnow()"
    loud, quiet = (judged(base, {**base, "a.py": f"{code}{end}\n"}) for end in ("", "  # noqa"))
    assert [check.severity for check in loud.failed_checks] == ["warning"]
    assert quiet.status is Status.PASS
    assert [check.severity for check in quiet.failed_checks] == ["hint"]


def test_what_is_silenced_is_said() -> None:
    judgment = adding(f"package x;\n{IMPORT} // prjury-ignore[persistence]\n")
    assert judgment.reasoning == (
        f"this change silences 1 error by prjury-ignore: jakarta/persistence ({JAVA}:2)"
    )
    check = judgment.failed_checks[0]
    assert (check.name, check.severity) == ("jakarta/persistence", "warning")
    assert check.message.startswith(
        "silenced by a comment in this change (prjury-ignore): javax.persistence"
    )
    assert (str(check.location), check.evidence) == (
        f"{JAVA}:2",
        f"{IMPORT} // prjury-ignore[persistence]",
    )
    assert "jakarta" not in [check.name for check in judgment.checks if check.passed]


def test_a_silenced_finding_fails_at_no_threshold_and_is_said_beside_others() -> None:
    quiet = f"{IMPORT} // prjury-ignore[persistence]\n"
    strict = adding(quiet, options={"severity": "warning"})
    assert (strict.status, strict.label) == (Status.ABSTAIN, "suppressed_here")
    both = adding(quiet + "import javax.servlet.Filter;\n")
    assert both.status is Status.FAIL
    assert both.reasoning.endswith("; 1 finding silenced by prjury-ignore")


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("A.kt", "import javax.persistence.Entity // prjury-ignore[persistence]\n"),
        (
            "src/main/webapp/WEB-INF/web.xml",
            "<a>\n<!-- prjury-ignore[servlet] -->\n<b>javax.servlet.Filter</b></a>\n",
        ),
        ("a.jsp", '<%-- prjury-ignore[servlet] --%>\n<%@ page import="javax.servlet.Filter" %>\n'),
    ],
)
def test_in_other_languages(path: str, code: str) -> None:
    judgment = adding(code, path=path)
    assert [severity for _, severity, _ in found(judgment)] == ["warning"]
    assert judgment.metadata["suppressed"] == 1
