"""A build that ran elsewhere: what it leaves behind, and what the judge makes of that."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from fakes.shell import Scripted, ScriptedShell, SilentProgress
from fakes.trees import TreeRepository, pull_context
from prjury.errors import CannotJudgeError
from prjury.judges.builds import make
from prjury.judges.builds.compare import compare
from prjury.judges.builds.decide import decide
from prjury.judges.builds.evidence import (
    Run,
    StepRun,
    TreeRun,
    pack_report,
    read_evidence,
    redact_and_clean,
    unpack_report,
    validate_run,
)
from prjury.judges.builds.failure import Failure, Results
from prjury.judges.builds.plan import BuildPlan, BuildStep
from prjury.judges.builds.stage import BuiltEvidence, build_and_record
from prjury.judges.context import PullRequestContext
from prjury.jury.judge import ask
from prjury.jury.judgment import Judgment, Status
from prjury.policy.load import read_options
from prjury.policy.tiers import BuildOptions
from prjury.ports import Ports
from prjury.resources import program_version
from prjury.snapshot.model import MergeTrial, Side
from strategies import json_values

BASE, HEAD, MERGED = "b" * 40, "a" * 40, "c" * 40
COMPILE = "a.c:3:5: error: expected ';' before 'x'\n"
TESTS = "FAILED a.py::test_{} - no\n1 failed, 1 passed in 0.1s\n"


@dataclass(frozen=True)
class File:
    """Evidence in memory."""

    content: bytes
    error: CannotJudgeError | None = None

    def read_evidence_bytes(self) -> bytes:
        if self.error:
            raise self.error
        return self.content


@dataclass
class Project:
    """A change of a C file whose build is one command; the base is built first."""

    options: Mapping[str, Any] = field(default_factory=lambda: {"command": "make ci"})
    context: PullRequestContext = field(default_factory=pull_context)

    def __post_init__(self) -> None:
        pull = structs.replace(
            self.context.pull,
            base=Side("main", BASE),
            head=Side("topic", HEAD),
            merge=MergeTrial(MERGED),
        )
        self.context = replace(self.context, pull=pull)

    @property
    def repository(self) -> TreeRepository:
        return TreeRepository({MERGED: {"a.c": "int x;\n"}, BASE: {"a.c": "int y;\n"}})

    def build(self, *scripts: Scripted) -> BuiltEvidence:
        ports = Ports(self.repository, ScriptedShell(scripts), SilentProgress())
        options = read_options({"from": "evidence", **self.options}, BuildOptions)
        return build_and_record(options, ports, self.context)

    def judge(self, evidence: object, error: CannotJudgeError | None = None) -> Judgment:
        content = evidence if isinstance(evidence, bytes) else json.dumps(evidence).encode()
        return self.ask(File(content, error))

    def ask(self, file: File | None) -> Judgment:
        shell = ScriptedShell()
        ports = Ports(self.repository, shell, SilentProgress(), evidence=file)
        options = read_options({"from": "evidence", **self.options}, BuildOptions)
        judgment = ask(make(options, ports), self.context)
        assert shell.commands == []
        return judgment


def reason(judgment: Judgment) -> str:
    assert judgment.status is Status.ERROR, judgment.reasoning
    return str(judgment.metadata["reason"])


class TestThereAndBack:
    def test_a_green_build(self) -> None:
        project = Project()
        built = project.build(Scripted(0, "fine\n"))
        assert built.ballot.judgment.status is Status.PASS
        assert {key: built.evidence[key] for key in built.evidence if key != "builds"} == {
            "schema": "prjury/build-evidence/v2",
            "version": program_version(),
            "base": BASE,
            "head": HEAD,
            "merged_tree": MERGED,
            "sandbox": {"level": "L1"},
            "commands": [],
        }
        judgment = project.judge(built.evidence)
        assert judgment.status is Status.PASS
        assert judgment.metadata["from"] == "evidence"
        assert judgment.checks == built.ballot.judgment.checks

    @pytest.mark.parametrize(
        ("scripts", "status"),
        [
            ([Scripted(0), Scripted(2, COMPILE)], Status.FAIL),
            ([Scripted(2, COMPILE), Scripted(2, COMPILE)], Status.ERROR),
            ([Scripted(1, TESTS.format("a")), Scripted(1, TESTS.format("b"))], Status.FAIL),
            ([Scripted(0), Scripted(1, TESTS.format("a")), Scripted(0)], Status.FAIL),
            ([Scripted(2, "x\n"), Scripted(0, "2 passed in 0.1s\n")], Status.ABSTAIN),
            ([Scripted(-9, stopped="timeout"), Scripted(-9, stopped="timeout")], Status.FAIL),
        ],
        ids=["new", "alike", "tests", "again", "no-comparison", "stopped"],
    )
    def test_it_is_judged_as_it_is_there(self, scripts: Sequence[Scripted], status: Status) -> None:
        project = Project()
        built = project.build(*scripts)
        here, judgment = built.ballot.judgment, project.judge(built.evidence)
        assert here.status is judgment.status is status, here.reasoning
        assert judgment.checks == here.checks
        assert {**judgment.metadata} == {**here.metadata, "from": "evidence"}

    def test_a_tool_that_is_missing(self) -> None:
        project = Project()
        missing = CannotJudgeError("`make` is not installed", reason="tool_missing")
        built = project.build(Scripted(error=missing))
        assert built.evidence["builds"][0]["error"] == {
            "reason": "tool_missing",
            "message": "`make` is not installed.",
        }
        assert reason(project.judge(built.evidence)) == "tool_missing"

    def test_documentation_needs_no_evidence(self) -> None:
        project = Project(context=pull_context(changed=["README.md"]))
        assert project.build().evidence["builds"] == []
        assert project.ask(None).label == "not_applicable"

    def test_a_judge_that_crashes_leaves_what_there_is(self) -> None:
        project = Project()
        built = project.build(Scripted(0, error=SystemError("boom")))  # type: ignore[arg-type] # any exception at all
        assert built.ballot.judgment.status is Status.ERROR
        assert built.evidence["builds"] == []
        assert reason(project.judge(built.evidence)) == "evidence_missing"

    def test_secrets_do_not_leave(self) -> None:
        token = "ghp_" + "a1B2" * 9
        built = Project().build(Scripted(2, f"{token}\n"), Scripted(0, f"{token}\n"))
        assert token not in json.dumps(built.evidence)

    def test_one_that_edits_what_is_run_elsewhere(self) -> None:
        project = Project(context=pull_context(changed=["a.c", ".github/workflows/build.yml"]))
        judgment = project.judge(project.build(Scripted(0)).evidence)
        assert (judgment.status, judgment.label) == (Status.ABSTAIN, "build_changed")
        failed = project.judge(project.build(Scripted(0), Scripted(2, COMPILE)).evidence)
        assert failed.status is Status.FAIL


GREEN = Project().build(Scripted(0)).evidence


def green(**more: Any) -> dict[str, Any]:
    """A green build's evidence, some of it replaced."""
    return {**json.loads(json.dumps(GREEN)), **more}


class TestOtherEvidence:
    def test_without_any(self) -> None:
        assert reason(Project().ask(None)) == "evidence_missing"
        error = CannotJudgeError("there is no evidence at x", reason="evidence_missing")
        assert reason(Project().judge(b"", error)) == "evidence_missing"

    @pytest.mark.parametrize("key", ["head", "base", "merged_tree"])
    def test_of_another_change(self, key: str) -> None:
        assert reason(Project().judge(green(**{key: "d" * 40}))) == "evidence_mismatch"
        if key == "merged_tree":
            assert reason(Project().judge(green(merged_tree=None))) == "evidence_mismatch"

    @pytest.mark.parametrize("key", ["system", "directory", "command"])
    def test_of_another_build(self, key: str) -> None:
        judgment = Project().judge(green(builds=[{**GREEN["builds"][0], key: "other"}]))
        assert reason(judgment) == "evidence_mismatch"

    def test_of_more_builds(self) -> None:
        more = [{**GREEN["builds"][0], "directory": f"d{number}"} for number in range(5)]
        judgment = Project().judge(green(builds=[GREEN["builds"][0], *more]))
        assert reason(judgment) == "evidence_mismatch"

    def test_a_build_beside_it_that_fails_counts(self) -> None:
        evidence = green()
        evidence["builds"][0]["run"]["head"]["steps"][0]["exit_code"] = 1
        assert Project().judge(evidence).status is not Status.PASS


def twist_step(**more: Any) -> Callable[[dict[str, Any]], object]:
    return lambda run: run["head"]["steps"][0].update(more)


def twist_results(**more: Any) -> Callable[[dict[str, Any]], object]:
    return lambda run: run["head"]["results"].update(more)


def twist_failure(**more: Any) -> Callable[[dict[str, Any]], object]:
    failure = {"kind": "test", "message": "no", "line": 3, "path": "a.c"}
    return lambda run: run["head"].update(failures=[{**failure, **more}])


@pytest.mark.parametrize(
    "twist",
    [
        twist_step(seconds=-1.0),
        twist_step(seconds=True),
        twist_step(exit_code="0"),
        twist_step(exit_code=False),
        twist_step(exit_code=0.5),
        twist_step(stopped="time out"),
        twist_step(command="true"),
        twist_step(name="setup"),
        twist_step(verdict="pass"),
        lambda run: run["head"].update(steps=[]),
        lambda run: run["head"].update(steps=run["head"]["steps"] * 2),
        lambda run: run["head"].update(steps=None),
        lambda run: run["head"].update(allowed=-1),
        lambda run: run.update(status="pass"),
        lambda run: run.update(head=None),
        lambda run: run.update(kept={"a": "!"}),
        twist_results(tests=-1),
        twist_results(ran=[1]),
        twist_failure(state="old"),
        twist_failure(state="pre_existing"),
        twist_failure(state="flaky"),
        twist_failure(path="../../etc/passwd"),
        twist_failure(kind="warning"),
        twist_failure(line=0),
        twist_failure(message="x" * 10_001),
        twist_failure(verdict="pass"),
    ],
)
def test_what_no_build_can_have_left_behind(twist: Callable[[dict[str, Any]], object]) -> None:
    evidence = green()
    twist(evidence["builds"][0]["run"])
    assert reason(Project().judge(evidence)) == "evidence_invalid"


def twist_build(**more: object) -> dict[str, object]:
    return {"builds": [{**GREEN["builds"][0], **more}]}


@pytest.mark.parametrize(
    "more",
    [
        {"verdict": "pass"},
        {"schema": "prjury/build-evidence/v1"},
        {"schema": None},
        {"head": "main"},
        {"head": "A" * 40},
        {"base": "b" * 40 + "\n"},
        {"sandbox": {"level": "L9"}},
        {"builds": {}},
        {"builds": GREEN["builds"] * 2},
        twist_build(system=1),
        twist_build(run=None),
        twist_build(error={"reason": "x", "message": "y"}),
        twist_build(run=None, error={"reason": "a b", "message": "x"}),
        twist_build(run=None, error={"reason": "x", "message": ""}),
    ],
)
def test_what_is_no_evidence(more: dict[str, object]) -> None:
    assert reason(Project().judge(green(**more))) == "evidence_invalid"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"{}",
        b"\xff",
        b"\xef\xbb\xbf{}",
        b'{"a": 1, "a": 1}',
        b'{"a": NaN}',
        b'{"a": -Infinity}',
        b'{"a": 1e999}',
        b'{"a": ' + b"9" * 5_000 + b"}",
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"[]," * 4_000_001,
        b'{"\\u202e": 1, "schema": 1}',
        json.dumps(GREEN).replace('"seconds": 0.5', '"seconds": NaN', 1).encode(),
        json.dumps(GREEN).replace('"seconds": 0.5', '"seconds": 1e999', 1).encode(),
    ],
    ids=lambda content: str(content[:12]),
)
def test_it_is_refused(content: bytes) -> None:
    with pytest.raises(CannotJudgeError) as caught:
        read_evidence(content)
    assert caught.value.reason == "evidence_invalid"
    assert caught.value.what.isprintable()
    assert len(caught.value.what) < 300


@given(json_values())
def test_any_json_is_refused_or_read(value: object) -> None:
    with pytest.raises(CannotJudgeError):
        read_evidence(json.dumps(value).encode())


STEP = StepRun("test", "make ci", 1, None, 0.5, "the end", "/tmp/x.log")


def test_an_attempt_before_one_that_passed_is_none_of_the_failures() -> None:
    attempt = Failure("test", "no", "a.c", 3, "t", state="flaky")
    results = Results(1, 1, ran=(attempt.id,), flaky=(attempt,))
    step = msgspec.structs.replace(STEP, exit_code=0)
    run = Run(TreeRun((step,), failures=(attempt,), results=results))
    validate_run(run.head)
    plan = BuildPlan("make", (BuildStep("test", "make ci"),))
    assert decide(compare(plan, run, frozenset(), BuildOptions())).status is Status.PASS


def test_names_of_tests_without_a_form_are_compared_as_they_are() -> None:
    base = TreeRun((STEP,), results=Results(1, 1, ran=("odd",)))
    run = Run(TreeRun((STEP,), failures=(Failure("test", "no", name="t"),)), base=base)
    plan = BuildPlan("make", (BuildStep("test", "make ci"),))
    assert decide(compare(plan, run, frozenset(), BuildOptions())).status is Status.FAIL


@given(st.text(st.characters(codec=None), max_size=20))
def test_what_leaves_this_machine_is_cleaned(text: str) -> None:
    step = msgspec.structs.replace(STEP, tail=f"{text} SECRET", log="SECRET")
    failure = Failure("test", "SECRET", name="SECRET", details=text)
    results = Results(problems=("SECRET",), ran=("SECRET",), by_runner={"SECRET": 1})
    run = Run(TreeRun((step,), 1.0, (failure,), results), reports={"a": pack_report(b"SECRET")})
    cleaned = redact_and_clean(run, lambda words: words.replace("SECRET", "***"))
    encoded = msgspec.json.encode(cleaned)
    assert b"SECRET" not in encoded
    assert encoded.count(b"***") == 7
    assert unpack_report(cleaned.reports["a"] or b"") == b"***"
    assert redact_and_clean([{"SECRET"}], lambda words: words.replace("SECRET", "***")) == [{"***"}]


@pytest.mark.parametrize("packed", [pack_report(b"a" * (20 * 1024**2 + 1)), b"!", b""])
def test_a_kept_report_is_bounded(packed: bytes) -> None:
    with pytest.raises(ValueError, match="a kept report is damaged"):
        unpack_report(packed)
