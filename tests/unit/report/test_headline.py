from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from fakes import reports as fake
from prjury.jury.gate import Gate, GatePolicy
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Check, Judgment, Location, Status
from prjury.jury.score import NumericalScore
from prjury.jury.verdicts import TierAttempt, TierPolicy
from prjury.report.headline import list_who_and_why
from prjury.report.judge_facts import BuildFacts, TestFacts
from prjury.snapshot.model import FileKind, FileStatus, MergeTrial

GREEN = fake.tier("build", fake.ballot("merge", fake.MERGED), fake.ballot("build", fake.BUILT))
LENIENT = GatePolicy(block_on=frozenset())
SURE = Judgment.passed("4 of 4 criteria pass", score=NumericalScore(1.0))


def build(judgment: Judgment) -> TierAttempt:
    return fake.tier("build", fake.ballot("build", judgment))


def failed(metadata: Mapping[str, Any] | None = None, *checks: Check) -> TierAttempt:
    return build(Judgment.failed("exit code 1", checks=checks, metadata=metadata))


def counting(failures: Mapping[str, Mapping[str, int]], *, compared: bool = True) -> dict[str, Any]:
    """The metadata of a build with so many failures."""
    return BuildFacts(compared=compared, failures=failures).to_metadata()


def error(name: str, line: int = 1) -> Check:
    return Check(name, passed=False, message=name, location=Location("A.java", line))


def headline(*attempts: TierAttempt, **more: Any) -> str:
    return fake.report(*attempts, **more).headline


def test_an_advisory_tier_advises_against() -> None:
    quality = fake.quality_tier(Judgment.failed("2 of 4 criteria pass"))
    report = fake.report(GREEN, quality)
    assert report.headline == "⚠️ May be merged, but quality advises against it"
    assert report.gate is Gate.SUCCESS
    assert list_who_and_why(report) == (("quality", "2 of 4 criteria pass"),)


READ = {"scope": {"read": ["a.py"], "unread": [], "outside": []}}
LOOKED = fake.tier("patterns", fake.ballot("patterns", Judgment.passed("ok", metadata=READ)))
UNREAD = "not built; no file read; no model asked"
A, DOCS = fake.file("a.py"), fake.file("README.md", kind=FileKind.DOCS)


@pytest.mark.parametrize(
    ("files", "line"),
    [
        ((), "Nothing found against it (no file changes; not built; no model asked)"),
        ((A,), "Nothing found against it (not built; no model asked)"),
        (
            (A, DOCS),
            "Nothing found against it (not built; 1 of 2 files not read; no model asked)",
        ),
        (
            (A, fake.file("b.rb")),
            "Nothing found against it (not built; 1 of 2 files not read; no model asked)",
        ),
        (
            (A, fake.file("go.sum", kind=FileKind.LOCK)),
            "Nothing found against it (not built; 1 of 2 files not read; no model asked)",
        ),
        (
            (DOCS,),
            "Nothing found against it (only documentation changes; not built; no model asked)",
        ),
        (
            (fake.file("a.py", 0, 9, status=FileStatus.DELETED),),
            "Nothing found against it (not built; no model asked)",
        ),
    ],
)
def test_what_was_not_built_is_not_ready(files: Any, line: str) -> None:
    aside = [{"path": file.path, "reason": "x"} for file in files if file.path != "a.py"]
    scope = {"scope": {"read": ["a.py"], "unread": [], "outside": aside}}
    patterns = fake.ballot("patterns", Judgment.passed("ok", metadata=scope))
    merged = fake.ballot("merge", fake.MERGED)
    report = fake.report(fake.tier("t", merged, patterns), pull_request=fake.pull(files))
    assert report.headline == f"✅ {line}"
    assert report.gate is Gate.SUCCESS


def test_content_that_nobody_can_read_needs_a_human() -> None:
    pull = fake.pull(
        [A, fake.file("lib/a.jar", 0, 0, FileKind.BINARY), fake.file("x.so", 0, 0, FileKind.BINARY)]
    )
    report = fake.report(GREEN, LOOKED, pull_request=pull)
    words = "lib/a.jar and 1 more changed, and no judge can read such content"
    assert report.headline == f"⚠️ Needs a human: {words}"
    assert (report.verdict.status, report.verdict.aggregated.label) == (
        Status.ABSTAIN,
        "unread_content",
    )
    assert report.gate is Gate.ACTION_REQUIRED
    assert list_who_and_why(report) == ()


def test_what_is_worse_stays_beside_unread_content() -> None:
    pull = fake.pull([fake.file("lib/a.jar", 0, 0, FileKind.BINARY)])
    for attempt in (
        failed(),
        build(Judgment.errored("x")),
        build(Judgment.abstained("x", "budget")),
    ):
        report = fake.report(attempt, pull_request=pull)
        assert report.verdict.status is attempt.status
        assert report.verdict.aggregated.label != "unread_content"


@pytest.mark.parametrize(
    ("judgment", "words"),
    [
        (Judgment.errored("no answer", metadata={"reason": "timeout"}), ": timeout"),
        (Judgment.errored("no answer"), ""),
        (Judgment.abstained("too dear", "budget"), ": budget"),
    ],
)
def test_an_advisory_tier_that_does_not_answer_is_said(judgment: Judgment, words: str) -> None:
    line = headline(GREEN, fake.quality_tier(judgment))
    assert line == f"✅ Ready to merge (quality gave no answer{words})"
    script = fake.ballot("script", judgment)
    tier = fake.tier("own", script, policy=TierPolicy.FINAL_TIER, advisory=True)
    line = headline(GREEN, fake.quality_tier(SURE), tier)
    assert line == f"✅ Ready to merge (script gave no answer{words})"
    report = fake.report(GREEN, tier, fake.quality_tier(fake.NO_MODEL))
    assert report.headline == f"✅ Ready to merge (no model asked; script gave no answer{words})"
    assert list_who_and_why(report) == (("script", judgment.reasoning),)


def test_a_tier_that_fails_by_its_score_has_no_failing_judge() -> None:
    low = Judgment.passed("meh", score=NumericalScore(0.4))
    attempt = fake.tier("t", fake.ballot("a", low), policy=TierPolicy.FINAL_TIER, averaged=0.7)
    assert "mean 0.40 of 1 is below the threshold 0.70" in headline(attempt)


def test_a_missed_floor_says_how_far() -> None:
    judgment = Judgment.passed("ok", metadata={"scope": {"read": [], "unread": []}})
    report = fake.report(build(judgment), pull_request=fake.pull([fake.file("a.py", 10)]))
    words = "only 0 of 10 added lines were judged; the floor is 95%"
    assert report.headline == f"⚪ Could not be judged: {words}"
    assert report.gate is Gate.ACTION_REQUIRED
    assert list_who_and_why(report) == ()


@pytest.mark.parametrize(
    "attempt", [failed(), build(Judgment.errored("x")), build(Judgment.abstained("x", "budget"))]
)
def test_a_verdict_that_the_gate_lets_through_says_so(attempt: TierAttempt) -> None:
    report = fake.report(GREEN, attempt, gate_policy=LENIENT)
    assert report.headline.endswith(" (not gating)")
    assert report.gate is Gate.SUCCESS


def test_a_missing_model_closes_the_gate_where_the_policy_asks_for_one() -> None:
    cast = fake.ballot("quality", fake.NO_MODEL, kind=JudgeType.LLM_POWERED)
    quality = fake.tier("quality", cast, policy=TierPolicy.FINAL_TIER)
    report = fake.report(GREEN, quality, gate_policy=GatePolicy(not_configured="block"))
    assert report.gate is Gate.ACTION_REQUIRED
    assert report.headline == (
        "⚠️ Needs a human: no model is configured for quality, and the policy requires one"
    )


def test_a_headline_is_one_line_of_visible_characters() -> None:
    nasty = Judgment.errored("a\x1b[31m\u202e\nb" + "x" * 500)
    line = headline(fake.tier("t", fake.ballot("j", nasty)))
    assert line.startswith("⚪ Could not be judged: j: a\\u{1b}[31m\\u{202e}")
    assert "\n" not in line
    assert len(line) < 250


@pytest.mark.parametrize(
    ("metadata", "words"),
    [
        ({"note": "flaky", "exit_code": 0}, "build has flaky tests"),
        ({"note": "pre_existing", "exit_code": 0}, "build fails as on the base"),
        ({"unbuilt": [{"path": "a.rb"}]}, "1 file not built"),
        (
            {"test_settings": ["tox.ini", "a.cfg"]},
            "build used test settings that this change edits: tox.ini and 1 more",
        ),
        ({"tests": None, "failure_counts": {}}, "build shows no test results"),
    ],
)
def test_what_a_build_that_passed_does_not_rest_on(metadata: dict[str, Any], words: str) -> None:
    built = fake.ballot("build", Judgment.passed("passed", metadata=metadata))
    assert headline(fake.tier("t", built)).endswith(f"({words}; no model asked)")


def test_a_jury_in_which_nobody_voted_says_why() -> None:
    cast = fake.ballot("docs", fake.NO_MODEL, kind=JudgeType.LLM_POWERED)
    report = fake.report(fake.tier("quality", cast, policy=TierPolicy.FINAL_TIER))
    words = "nobody voted for it; docs: no model key is set"
    assert (report.headline, report.gate) == (
        f"⚪ Could not be judged: {words}",
        Gate.ACTION_REQUIRED,
    )


def test_a_tier_that_did_not_accept_is_named_where_a_later_one_passes() -> None:
    lint = fake.ballot("lint", Judgment.failed("2 warnings"))
    quick = fake.tier("quick", lint, policy=TierPolicy.ACCEPT_ON_ALL_PASS)
    report = fake.report(quick, GREEN)
    assert report.gate is Gate.SUCCESS
    assert "lint fails and build decided after it" in report.headline
    human = fake.report(quick, build(Judgment.abstained("no tests found", "budget")))
    assert human.headline == "⚠️ Needs a human: build (budget)"


TESTED = {"failure_counts": {}, "tests": {"run": 9, "base": {"run": 9}}}


@pytest.mark.parametrize(
    ("behind", "metadata", "line"),
    [
        (3, {"from": "evidence", **TESTED}, "Ready to merge (no model asked)"),
        (
            3,
            {"from": "checks", "tested_base": fake.BASE, **TESTED},
            "Ready to merge (no model asked)",
        ),
        (0, {"from": "checks", **TESTED}, "Ready to merge (no model asked)"),
        (0, {"from": "checks"}, "Ready to merge (tests not compared; no model asked)"),
        (
            3,
            {"from": "checks", "tested_base": "1234567" + "0" * 33, **TESTED},
            (
                "Nothing found against it (CI tested this head on main@1234567, "
                "main is at abc1234; no model asked)"
            ),
        ),
        (
            3,
            {"from": "checks", "tested_base": "", **TESTED},
            (
                "Nothing found against it (CI tested this head alone, not its merge with main; "
                "no model asked)"
            ),
        ),
        (
            3,
            {"from": "checks"},
            (
                "Nothing found against it (CI tested this head, perhaps on an older main; "
                "tests not compared; no model asked)"
            ),
        ),
        (
            3,
            {"failure_counts": {}, "tests": {"run": 0, "skipped": 2}},
            "Nothing found against it (build ran no test, all were skipped; no model asked)",
        ),
    ],
)
def test_ready_is_said_of_a_tested_merge_with_this_base(
    behind: int, metadata: dict[str, Any], line: str
) -> None:
    built = fake.ballot("build", Judgment.passed("passed", metadata=metadata))
    pull = fake.pull(behind=behind)
    assert headline(fake.tier("t", built), pull_request=pull) == f"✅ {line}"


def cast(name: str, judgment: Judgment, **more: Any) -> TierAttempt:
    return fake.tier("t", fake.ballot(name, judgment), **more)


LOST = {
    "reason": "tests_vanished",
    **BuildFacts(tests=TestFacts(3, vanished=2), failures={}).to_metadata(),
}
RESULTLESS = BuildFacts(test_files=12, failures={}).to_metadata()
STOPPED = {"stopped_at": {"sha": "a" * 40, "subject": "Add it", "place": "commit 2 of 5"}}
MERGED, MODEL = fake.ballot("merge", fake.MERGED), JudgeType.LLM_POWERED
LINES = {
    "no key": ([GREEN, fake.quality_tier(fake.NO_MODEL)], "✅ Ready to merge (no model asked)"),
    "a finding that the change silences": (
        [cast("patterns", Judgment.abstained("this change silences 1 error", "suppressed_here"))],
        "⚠️ Needs a human: this change silences 1 error",
    ),
    "tests that no longer run": (
        [cast("build", Judgment.abstained("2 tests", "tests_vanished", metadata=LOST))],
        "⚠️ Needs a human: build lost 2 tests that ran on the base",
    ),
    "tests that left no results": (
        [cast("build", Judgment.passed("passed", metadata=RESULTLESS))],
        (
            "✅ Nothing found against it (build shows no test results, though the tree has 12 test "
            "files; no model asked)"
        ),
    ),
    "a broken base": (
        [failed({"reason": "base_broken"})],
        "❌ Do not merge: build fails, and so does the base",
    ),
    "a rebase that stops": (
        [cast("merge", Judgment.failed("no", metadata=STOPPED))],
        "❌ Do not merge: the rebase conflicts at commit 2 of 5",
    ),
    "a rebase that another judge tells": (
        [cast("build", Judgment.failed("no", metadata=STOPPED))],
        "❌ Do not merge: build: no",
    ),
    "a rebase in another form": (
        [cast("merge", Judgment.failed("no", metadata={"stopped_at": "x"}))],
        "❌ Do not merge: merge: no",
    ),
    "an error": ([build(Judgment.errored("x"))], "⚪ Could not be judged: build: x"),
    "an error with a reason": (
        [build(Judgment.errored("x", metadata={"reason": "sandbox_unavailable"}))],
        "⚪ Could not be judged: build (sandbox unavailable)",
    ),
    "nobody": (
        [fake.not_run("quality", "no judge was asked for", final=True)],
        "⚪ Could not be judged: no tier ran, so nobody judged",
    ),
    "nothing was built": (
        [fake.tier("t", MERGED, fake.ballot("patterns", Judgment.passed("nothing found")))],
        "✅ Nothing found against it (not built; no file read; no model asked)",
    ),
    "failures of the base": (
        [cast("build", Judgment.passed("failed as on the base", metadata={"exit_code": 1}))],
        "✅ Ready to merge (build fails as on the base; no model asked)",
    ),
    "a flaky failure": (
        [failed(counting({"flaky": {"test": 1}}))],
        "❌ Do not merge: build fails, 1 flaky test",
    ),
    "advice alone": (
        [fake.quality_tier(Judgment.failed("no tests"))],
        "⚪ Could not be judged: nobody voted for it, because all tiers that ran are advisory",
    ),
    "a silent judge beside one that answers": (
        [
            GREEN,
            fake.tier(
                "quality",
                fake.ballot("quality", SURE, kind=MODEL),
                fake.ballot("naming", Judgment.abstained("it refused", "refused"), kind=MODEL),
                policy=TierPolicy.FINAL_TIER,
                advisory=True,
            ),
        ],
        "✅ Ready to merge (naming gave no answer: refused)",
    ),
    "a failure that was outvoted": (
        [
            fake.tier(
                "t",
                MERGED,
                fake.ballot("x", fake.MERGED),
                fake.ballot("build", Judgment.failed("no", score=NumericalScore(0.0))),
                policy=TierPolicy.FINAL_TIER,
                averaged=0.5,
            )
        ],
        "⚠️ May be merged (build fails and was outvoted; no model asked)",
    ),
}


@pytest.mark.parametrize(("attempts", "line"), LINES.values(), ids=LINES)
def test_the_first_line_of(attempts: list[TierAttempt], line: str) -> None:
    assert headline(*attempts) == line


def test_the_first_line_of_merges_and_builds_that_end() -> None:
    assert fake.conflicting().headline == "❌ Do not merge: merge conflicts in 2 files"
    assert fake.needs_a_human().headline == "⚠️ Needs a human: build (no tests found)"
    pull = fake.pull(merge=MergeTrial(None, impossible="no common ancestor"))
    judgment = Judgment.errored("no common ancestor", metadata={"reason": "merge_impossible"})
    line = headline(cast("merge", judgment), pull_request=pull)
    assert line == "⚪ Could not be judged: merge (merge impossible)"
