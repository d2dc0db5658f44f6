"""A build that ran elsewhere: what it leaves behind, and what the judge makes of that."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.repository import FakeRepository
from fakes.shell import Scripted, ScriptedShell, SilentProgress
from fakes.trees import pull_context
from prjury.errors import CannotJudgeError
from prjury.judges.builds import make
from prjury.judges.builds.record import read_evidence
from prjury.judges.builds.stage import BuiltEvidence, build_evidence
from prjury.judges.context import PullRequestContext
from prjury.jury.judge import ask
from prjury.jury.judgment import Judgment, Status
from prjury.policy.schema import BuildOptions
from prjury.ports import Ports
from prjury.snapshot.model import MergeTrial, Side
from strategies import json_values

BASE, HEAD, MERGED = "b" * 40, "a" * 40, "c" * 40
COMPILE = "a.c:3:5: error: expected ';' before 'x'\n"


@dataclass
class Trees(FakeRepository):
    """Trees that can be written out."""

    def nearest_tag(self, commit: str) -> str:
        """There is none."""
        return ""

    def export(self, tree: str, directory: Path) -> Sequence[str]:
        for path, text in self.commits[tree].items():
            (directory / path).write_text(str(text))
        return ()


@dataclass(frozen=True)
class Told:
    """Evidence in memory."""

    content: bytes
    error: CannotJudgeError | None = None

    def read(self) -> bytes:
        if self.error:
            raise self.error
        return self.content


@dataclass
class Project:
    """A change of a C file whose build is one command."""

    options: Mapping[str, Any] = field(default_factory=lambda: {"command": "make ci"})
    context: PullRequestContext = field(default_factory=pull_context)

    def __post_init__(self) -> None:
        pull = replace(
            self.context.pull,
            base=Side("main", BASE),
            head=Side("topic", HEAD),
            merge=MergeTrial(MERGED),
        )
        self.context = replace(self.context, pull=pull)

    @property
    def repository(self) -> Trees:
        return Trees({MERGED: {"a.c": "int x;\n"}, BASE: {"a.c": "int y;\n"}})

    def build(self, *scripts: Scripted) -> BuiltEvidence:
        ports = Ports(self.repository, ScriptedShell(scripts), SilentProgress())
        options = BuildOptions.model_validate({"from": "evidence", **self.options})
        return build_evidence(options, ports, self.context, "1.2.3")

    def judge(self, evidence: object, error: CannotJudgeError | None = None) -> Judgment:
        content = evidence if isinstance(evidence, bytes) else json.dumps(evidence).encode()
        return self.ask(Told(content, error))

    def ask(self, told: Told | None) -> Judgment:
        shell = ScriptedShell()
        ports = Ports(self.repository, shell, SilentProgress(), evidence=told)
        options = BuildOptions.model_validate({"from": "evidence", **self.options})
        judgment = ask(make(options, ports), self.context)
        assert shell.commands == []
        return judgment


def reason(judgment: Judgment) -> str:
    assert judgment.status is Status.ERROR, judgment.reasoning
    return str(judgment.metadata["reason"])


class TestThereAndBack:
    def test_a_green_build(self) -> None:
        project = Project()
        done = project.build(Scripted(0, "fine\n"))
        assert done.ballot.judgment.status is Status.PASS
        assert {key: done.evidence[key] for key in done.evidence if key != "builds"} == {
            "schema": "prjury/build-evidence/v1",
            "version": "1.2.3",
            "base": BASE,
            "head": HEAD,
            "merged_tree": MERGED,
            "sandbox": {"level": "L1"},
        }
        judgment = project.judge(done.evidence)
        assert judgment.status is Status.PASS
        assert judgment.reasoning == "passed in 0.5 s (built elsewhere, read from its evidence)"
        assert judgment.metadata["from"] == "evidence"
        assert judgment.checks == done.ballot.judgment.checks

    def test_a_broken_build(self) -> None:
        project = Project()
        done = project.build(Scripted(2, COMPILE), Scripted(0))
        here = done.ballot.judgment
        assert here.status is Status.FAIL
        judgment = project.judge(done.evidence)
        assert judgment.status is Status.FAIL
        assert judgment.reasoning == f"{here.reasoning} (built elsewhere, read from its evidence)"
        assert judgment.checks == here.checks
        assert {**judgment.metadata} == {**here.metadata, "from": "evidence"}

    def test_a_base_that_is_broken_as_well(self) -> None:
        project = Project()
        done = project.build(Scripted(2, COMPILE), Scripted(2, COMPILE))
        assert done.ballot.judgment.metadata["reason"] == "base_broken"
        judgment = project.judge(done.evidence)
        assert (judgment.status, judgment.metadata["reason"]) == (Status.FAIL, "base_broken")
        other = Project({"command": "make ci", "pre_existing": "block"})
        assert other.judge(done.evidence).status is Status.FAIL

    def test_a_tool_that_is_missing(self) -> None:
        project = Project()
        missing = CannotJudgeError("`make` is not installed", reason="tool_missing")
        done = project.build(Scripted(error=missing))
        assert done.evidence["builds"][0]["error"] == {
            "reason": "tool_missing",
            "message": "`make` is not installed.",
        }
        judgment = project.judge(done.evidence)
        assert reason(judgment) == reason(done.ballot.judgment) == "tool_missing"
        assert judgment.reasoning.startswith("`make` is not installed.")

    def test_documentation_needs_no_evidence(self) -> None:
        project = Project(context=pull_context(changed=["README.md"]))
        done = project.build()
        assert done.ballot.judgment.label == "not_applicable"
        assert done.evidence["builds"] == []
        assert project.judge(done.evidence).label == "not_applicable"
        assert project.ask(None).label == "not_applicable"

    def test_a_judge_that_crashes_leaves_what_there_is(self) -> None:
        project = Project()
        done = project.build(Scripted(0, error=SystemError("boom")))  # type: ignore[arg-type] # any exception at all
        assert done.ballot.judgment.status is Status.ERROR
        assert done.evidence["builds"] == []
        assert reason(project.judge(done.evidence)) == "evidence_missing"

    def test_secrets_do_not_leave(self) -> None:
        token = "ghp_" + "a1B2" * 9
        done = Project().build(Scripted(2, f"{token}\n"), Scripted(0, f"{token}\n"))
        assert token not in json.dumps(done.evidence)

    def test_one_that_edits_what_is_run_elsewhere(self) -> None:
        project = Project(context=pull_context(changed=["a.c", ".github/workflows/build.yml"]))
        judgment = project.judge(project.build(Scripted(0)).evidence)
        assert (judgment.status, judgment.label) == (Status.ABSTAIN, "build_changed")
        assert ".github/workflows/build.yml" in judgment.reasoning
        failed = project.judge(project.build(Scripted(2, COMPILE), Scripted(0)).evidence)
        assert failed.status is Status.FAIL


GREEN = Project().build(Scripted(0)).evidence


def green(**more: Any) -> dict[str, Any]:
    """A green build's evidence, some of it replaced."""
    return {**json.loads(json.dumps(GREEN)), **more}


class TestOtherEvidence:
    def test_without_any(self) -> None:
        judgment = Project().ask(None)
        assert reason(judgment) == "evidence_missing"
        assert judgment.reasoning == (
            "the policy takes the build from its evidence, and none was named. Run `prjury build` "
            "where the change may be built, or `prjury evidence from-junit` on the reports of its "
            "CI, and name the file that it writes: `prjury review --evidence build-evidence.json`."
        )

    def test_a_file_that_is_not_there(self) -> None:
        error = CannotJudgeError("there is no evidence at x", reason="evidence_missing")
        assert reason(Project().judge(b"", error)) == "evidence_missing"

    @pytest.mark.parametrize(
        ("key", "value", "words"),
        [
            ("head", "d" * 40, f"its head is {'d' * 40}, and here it is {HEAD}"),
            ("base", "d" * 40, f"its base is {'d' * 40}, and here it is {BASE}"),
            ("merged_tree", "d" * 40, f"its merged tree is {'d' * 40}, and here it is {MERGED}"),
            ("merged_tree", None, f"its merged tree is none, and here it is {MERGED}"),
        ],
    )
    def test_of_another_change(self, key: str, value: str | None, words: str) -> None:
        judgment = Project().judge(green(**{key: value}))
        assert reason(judgment) == "evidence_mismatch"
        assert judgment.reasoning.startswith(f"the evidence is of another build: {words}.")

    def test_of_no_build(self) -> None:
        judgment = Project().judge(green(builds=[]))
        assert reason(judgment) == "evidence_missing"
        assert judgment.reasoning.startswith("the evidence holds nothing about `make ci`; run ")
        assert judgment.metadata["command"] == "make ci"

    @pytest.mark.parametrize(
        ("key", "value"), [("system", "make"), ("directory", "sub"), ("command", "true")]
    )
    def test_of_another_build(self, key: str, value: str) -> None:
        judgment = Project().judge(green(builds=[{**GREEN["builds"][0], key: value}]))
        assert reason(judgment) == "evidence_mismatch"
        assert "which is not wanted here" in judgment.reasoning

    def test_of_more_builds(self) -> None:
        more = [{**GREEN["builds"][0], "directory": f"d{number}"} for number in range(5)]
        judgment = Project().judge(green(builds=[GREEN["builds"][0], *more]))
        assert reason(judgment) == "evidence_mismatch"
        assert "it ran `make ci`, `make ci`, `make ci` and 2 more, which is not" in (
            judgment.reasoning
        )

    def test_of_the_same_build_twice(self) -> None:
        judgment = Project().judge(green(builds=GREEN["builds"] * 2))
        assert reason(judgment) == "evidence_invalid"
        assert "the same build is recorded twice" in judgment.reasoning

    def test_steps_that_are_left_out(self) -> None:
        project = Project({"command": {"build": "make", "test": "make test"}})
        evidence = project.build(Scripted(0)).evidence
        assert project.judge(evidence).status is Status.PASS
        evidence["builds"][0]["case"]["merged"]["steps"].pop()
        judgment = project.judge(evidence)
        assert reason(judgment) == "evidence_invalid"
        assert "the steps after step 1 are left out" in judgment.reasoning

    def test_a_verdict_is_not_read(self) -> None:
        for key in ("verdict", "status", "judgment"):
            judgment = Project().judge(green(**{key: "pass"}))
            assert reason(judgment) == "evidence_invalid"
            assert f"{key}: Extra inputs are not permitted" in judgment.reasoning

    @pytest.mark.parametrize("name", ["prjury/build-evidence/v2", "prjury/report/v1", "", None])
    def test_another_version(self, name: str | None) -> None:
        judgment = Project().judge(green(schema=name))
        assert reason(judgment) == "evidence_invalid"
        assert "schema: Input should be 'prjury/build-evidence/v1'" in judgment.reasoning

    def test_both_a_case_and_an_error(self) -> None:
        error = {"reason": "tool_missing", "message": "no"}
        for build in ({"error": error}, {"case": None}):
            judgment = Project().judge(green(builds=[{**GREEN["builds"][0], **build}]))
            assert reason(judgment) == "evidence_invalid"
            assert "a build has either a case or an error" in judgment.reasoning

    def test_a_build_beside_it_that_fails_counts(self) -> None:
        evidence = green()
        evidence["builds"][0]["case"]["merged"]["steps"][0]["exit_code"] = 1
        assert Project().judge(evidence).status is Status.FAIL


class TestWhatIsNoEvidence:
    @pytest.mark.parametrize(
        ("content", "words"),
        [
            (b"", "it is not JSON: Expecting value"),
            (b"{", "it is not JSON: Expecting property name"),
            (b"[]", "the whole: Input should be a valid mapping of keys to values"),
            (b"null", "the whole: Input should be a valid mapping of keys to values"),
            (b"{}", "schema: this key is needed"),
            (b"\xff", "it is not JSON: 'utf-8' codec can't decode byte 0xff"),
            (b"\xef\xbb\xbf{}", "it is not JSON"),
            (b'{"a": 1, "a": 1}', "it is not JSON: a key is repeated"),
            (b'{"a": NaN}', "it is not JSON: NaN is no number"),
            (b'{"a": -Infinity}', "it is not JSON: -Infinity is no number"),
            (b'{"a": 1e999}', "it is not JSON: a number is too large"),
            (b'{"a": ' + b"9" * 5_000 + b"}", "it is not JSON: Exceeds the limit"),
            (b"[" * 100_000, "it is not JSON: it is nested too deeply"),
            (b'{"a":' * 100_000, "it is not JSON: it is nested too deeply"),
            (b"[]," * 4_000_001, "it is not JSON: it has more than 4000000 parts"),
            (b'{"\\u202e": 1, "schema": 1}', "schema: Input should be"),
        ],
        ids=lambda value: value if isinstance(value, str) else str(value[:12]),
    )
    def test_it_is_refused(self, content: bytes, words: str) -> None:
        with pytest.raises(CannotJudgeError) as caught:
            read_evidence(content)
        assert caught.value.reason == "evidence_invalid"
        assert caught.value.what.startswith(f"the evidence of the build is refused: {words}")
        assert caught.value.what.isprintable()
        assert len(caught.value.what) < 300

    @pytest.mark.parametrize(
        ("twist", "place"),
        [
            (lambda told: told.update(head="main"), "head"),
            (lambda told: told.update(head="A" * 40), "head"),
            (lambda told: told.update(base="b" * 40 + "\n"), "base"),
            (lambda told: told.update(sandbox={"level": "L9"}), "sandbox.level"),
            (lambda told: told.update(builds={}), "builds"),
            (lambda told: told["builds"][0].update(system=1), "builds.0.system"),
            (
                lambda told: told["builds"][0].update(
                    case=None, error={"reason": "a b", "message": "x"}
                ),
                "builds.0.error.reason",
            ),
            (
                lambda told: told["builds"][0].update(
                    case=None, error={"reason": "x", "message": ""}
                ),
                "builds.0.error.message",
            ),
        ],
    )
    def test_the_place_is_told(self, twist: Callable[[dict[str, Any]], object], place: str) -> None:
        evidence = green()
        twist(evidence)
        judgment = Project().judge(evidence)
        assert reason(judgment) == "evidence_invalid"
        assert judgment.reasoning.startswith(f"the evidence of the build is refused: {place}: ")

    @given(json_values() | st.fixed_dictionaries(dict.fromkeys(GREEN, json_values())))
    def test_anything_else_is_refused_in_order(self, value: Any) -> None:
        content = json.dumps(value).encode()
        with pytest.raises(CannotJudgeError) as caught:
            read_evidence(content)
        assert caught.value.reason == "evidence_invalid"

    @given(st.binary(max_size=40))
    def test_and_so_are_any_bytes(self, content: bytes) -> None:
        with pytest.raises(CannotJudgeError):
            read_evidence(content)

    def test_a_hostile_key_is_shown_and_cut(self) -> None:
        judgment = Project().judge(green(**{"\x1b[2J\u202e" + "x" * 5_000: 1}))
        assert reason(judgment) == "evidence_invalid"
        assert "refused: \\x1b[2J\\u202exxx" in judgment.reasoning
        assert len(judgment.reasoning) < 500
