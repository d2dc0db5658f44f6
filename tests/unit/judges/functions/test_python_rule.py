"""Rules of a team: what they see, what they may answer, and what becomes of those that fail."""

from __future__ import annotations

import os

import pytest

from fakes.repository import BASE, FakeRepository, pull_between
from prjury.deadline import Deadline
from prjury.errors import ConfigError
from prjury.judges.context import PullRequestContext
from prjury.judges.functions.judge import PythonRule, make
from prjury.jury.judgment import Judgment, Status
from prjury.policy.load import read_options
from prjury.policy.options import FunctionOptions
from prjury.ports import Ports, SilentProgress
from prjury.sandbox.contained import ContainedShell
from prjury.snapshot.model import PullRequest

pytestmark = pytest.mark.slow

RULES = ".prjury/rules.py"
BEFORE = {"a.py": "x = 1\n", "CHANGELOG.md": "old\n"}
TOUCHED = pull_between(BEFORE, {**BEFORE, "CHANGELOG.md": "new\n", "a.py": "x = 1\ny = 2\n"})
UNTOUCHED = pull_between(BEFORE, {**BEFORE, "a.py": "x = 2\nprint(x)\n"})
GONE = pull_between(BEFORE, {"a.py": "x = 1\n"})


def rule(text: str, function: str = "changelog", timeout: float = 30.0) -> PythonRule:
    values = {"file": RULES, "function": function, "timeout": timeout}
    options = read_options(values, FunctionOptions).at(BASE)
    repository = FakeRepository({BASE: {RULES: text}})
    return make(options, Ports(repository, ContainedShell(os.environ), SilentProgress()))


def judged(text: str, pull: PullRequest = UNTOUCHED, timeout: float = 30.0) -> Judgment:
    context = PullRequestContext("merge", pull=pull, deadline=Deadline.after(60))
    return rule(text, timeout=timeout).judge(context)


CHANGELOG = '''\
def changelog(pull):
    """The CHANGELOG says what is new."""
    return "CHANGELOG.md" in pull.paths
'''


def test_three_lines_ask_for_a_changelog() -> None:
    assert judged(CHANGELOG, TOUCHED).status is Status.PASS
    failed = judged(CHANGELOG)
    assert (failed.status, failed.reasoning) == (
        Status.FAIL,
        "not so: The CHANGELOG says what is new.",
    )
    assert judged(CHANGELOG, GONE).status is Status.FAIL, "a file that goes away says nothing"


def body(text: str) -> str:
    return f"def changelog(pull):\n    {text}\n"


PRINTS = """return [
        {"path": file.path, "line": line.line, "message": "a print"}
        for file in pull.files for line in file.added if "print(" in line.text
    ]"""


def test_added_lines_as_findings() -> None:
    failed = judged(body(PRINTS))
    assert (failed.status, failed.reasoning) == (Status.FAIL, "a print")
    assert [str(check.location) for check in failed.failed_checks] == ["a.py:2"]
    assert judged(body(PRINTS), TOUCHED).status is Status.PASS


@pytest.mark.parametrize(
    ("text", "status", "words"),
    [
        ('return "no: " + pull.base.ref', Status.FAIL, "no: main"),
        ("return []", Status.PASS, "changelog"),
        ('return ["one", "two"]', Status.FAIL, "one (and 1 more)"),
        ('return {"status": "abstain", "reasoning": "docs", "label": "not_applicable"}',
         Status.ABSTAIN, "docs"),
        ('return {"status": "pass", "reasoning": "fine"}', Status.PASS, "fine"),
        ('return {"status": "error", "reasoning": "unclear"}', Status.ERROR, "unclear"),
    ],
)  # fmt: skip
def test_answers(text: str, status: Status, words: str) -> None:
    said = judged(body(text))
    assert (said.status, said.reasoning) == (status, words)


@pytest.mark.parametrize(
    ("text", "reason", "words"),
    [
        ("pass", "answer_invalid", "got `null` - at `$.answer`"),
        ("return ''", "answer_invalid", "of length >= 1 - at `$.answer`"),
        ("return 1", "answer_invalid", "got `int` - at `$.answer`"),
        (
            'return {"status": "pass"}',
            "answer_invalid",
            "missing required field `reasoning`",
        ),
        ("return [None]", "answer_invalid", "got `null` - at `$.answer[0]`"),
        ("return object()", "rule_failed", "not JSON serializable"),
        ("return 1 / 0", "rule_failed", "ZeroDivisionError: division by zero"),
        ("return pull.titel", "rule_failed", "has no attribute 'titel'"),
        ("import yaml", "rule_failed", "No module named 'yaml'"),
        ("import os; os._exit(0)", "answer_invalid", "ended without an answer"),
        (
            r"import os; open('answer.json', 'wb').write(b'{\"answer\": \"\xff\"}'); os._exit(0)",
            "answer_invalid",
            "invalid start byte",
        ),
    ],
)
def test_what_is_no_answer_is_an_error(text: str, reason: str, words: str) -> None:
    said = judged(body(text))
    assert (said.status, said.metadata["reason"]) == (Status.ERROR, reason)
    assert words in said.reasoning


def test_a_rule_that_never_ends() -> None:
    said = judged(body("import time; time.sleep(60)"), timeout=0.5)
    assert (said.status, said.metadata["reason"]) == (Status.ERROR, "timeout")
    assert said.reasoning == "changelog did not answer within 0.5 s."


def test_it_is_called_once_and_before_anything_else() -> None:
    context = PullRequestContext("merge", pull=TOUCHED, deadline=Deadline.after(60))
    judge = rule(body("import time; return str(time.time_ns())"))
    judge.prepare(context)
    assert judge.judge(context).reasoning == judge.judge(context).reasoning


def test_it_holds_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "ghs_0123456789")
    said = judged(body("import os; return repr(sorted(os.environ))"))
    assert "TOKEN" not in said.reasoning


def test_the_file_has_to_be_in_the_base() -> None:
    options = read_options({"file": RULES, "function": "f"}, FunctionOptions).at(BASE)
    ports = Ports(FakeRepository({BASE: {}}), ContainedShell(os.environ), SilentProgress())
    with pytest.raises(ConfigError, match=r"there is no file \.prjury/rules\.py in the base"):
        make(options, ports)
