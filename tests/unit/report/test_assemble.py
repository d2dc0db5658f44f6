from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from fakes import reports as fake
from prjury.jury.gate import Gate, GatePolicy
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Judgment, Status
from prjury.jury.verdicts import TierPolicy
from prjury.report.assemble import gate_policy_of, measure_coverage
from prjury.report.model import Coverage, NotChecked, SkippedJudge
from prjury.snapshot.model import FileKind

NOBODY = "no judge read it"
OUTSIDE = "no judge looks at files of this kind"
UNTRIED = "not built, and no judge says that it read it"
BUILT = fake.ballot("build", Judgment.passed("ok"))


def scoped(*read: str, unread: Any = (), outside: Any = ()) -> dict[str, Any]:
    aside = [{"path": path, "reason": "no pack applies"} for path in outside]
    return {"scope": {"read": list(read), "unread": list(unread), "outside": aside}}


def measured(*judgments: Judgment, files: Any) -> Coverage:
    ballots = [fake.ballot(f"j{n}", judgment) for n, judgment in enumerate(judgments)]
    return measure_coverage(fake.pull(files), (fake.tier("t", *ballots),))


@pytest.mark.parametrize(
    "judgment",
    [Judgment.abstained("docs only", "not_applicable"), Judgment.errored("no sandbox")],
)
def test_a_build_that_did_not_run_has_judged_nothing(judgment: Judgment) -> None:
    files = (fake.file("a.py", 5),)
    coverage = measure_coverage(fake.pull(files), (fake.tier("t", fake.ballot("build", judgment)),))
    assert coverage == Coverage("tree", 1, 0, 0, 0, (NotChecked("a.py", UNTRIED),))


def test_what_the_build_cannot_have_looked_at_is_not_judged() -> None:
    ruby = {"path": "a.rb", "reason": "no build that ran knows this language", "counts": True}
    page = {"path": "app.js", "reason": "no build that ran knows this language", "counts": False}
    built = Judgment.passed("ok", metadata={"unbuilt": [ruby, page, "odd"]})
    files = (fake.file("a.py", 5), fake.file("a.rb", 7), fake.file("app.js", 3))
    coverage = measure_coverage(fake.pull(files), (fake.tier("t", fake.ballot("build", built)),))
    unknown = tuple(NotChecked(path, str(ruby["reason"])) for path in ("a.rb", "app.js"))
    assert coverage == Coverage("tree", 3, 1, 12, 5, unknown)


def test_a_build_judges_what_the_other_judges_stand_aside_from() -> None:
    aside = Judgment.abstained("no pack", "not_applicable", metadata=scoped(outside=["a.py"]))
    tier = fake.tier("t", BUILT, fake.ballot("patterns", aside))
    assert measure_coverage(fake.pull([fake.file("a.py", 5)]), (tier,)) == Coverage(
        "tree", 1, 1, 5, 5
    )


def test_files_outside_stay_out_of_the_totals_of_those_that_were_read() -> None:
    partly = Judgment.passed("ok", metadata=scoped("A.java", outside=["README.md"]))
    files = [fake.file("A.java", 5), fake.file("README.md", 3), fake.file("B.java", 2)]
    coverage = measured(partly, files=files)
    assert coverage == Coverage(
        "lines", 3, 1, 7, 5, (NotChecked("README.md", OUTSIDE), NotChecked("B.java", NOBODY))
    )


TIMED_OUT = [{"path": "a.py", "reason": "parser_timeout"}]


def advised(patterns: Judgment, quality: Judgment, *, advisory: bool = True) -> Coverage:
    """The coverage of ``a.py`` by a deterministic judge and a model."""
    model = fake.ballot("quality", quality, kind=JudgeType.LLM_POWERED)
    tiers = (
        fake.tier("p", fake.ballot("patterns", patterns)),
        fake.tier("q", model, advisory=advisory, policy=TierPolicy.FINAL_TIER),
    )
    return measure_coverage(fake.pull([fake.file("a.py", 5)]), tiers)


@pytest.mark.parametrize("advisory", [True, False])
def test_a_model_does_not_lift_what_a_deterministic_judge_could_not_read(advisory: bool) -> None:
    unread = Judgment.passed("ok", metadata=scoped("b.py", unread=TIMED_OUT))
    read = Judgment.passed("ok", metadata=scoped("a.py"))
    coverage = advised(unread, read, advisory=advisory)
    assert coverage == Coverage("lines", 1, 0, 5, 0, (NotChecked("a.py", "parser_timeout"),))


def test_an_advisory_judge_counts_only_where_no_blocking_one_speaks() -> None:
    aside = Judgment.abstained("x", "not_applicable", metadata=scoped(outside=["a.py"]))
    seen = Judgment.passed("ok", metadata=scoped("a.py"))
    silent = Judgment.abstained("x", "budget", metadata=scoped(unread=TIMED_OUT))
    assert advised(aside, seen) == Coverage("lines", 1, 1, 5, 5)
    assert advised(seen, silent) == Coverage("lines", 1, 1, 5, 5)
    assert advised(aside, silent) == Coverage("tree", 1, 0, 0, 0, (NotChecked("a.py", UNTRIED),))


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (FileKind.LOCK, "lock file"),
        (FileKind.BINARY, "binary file"),
        (FileKind.SUBMODULE, "submodule"),
    ],
)
def test_files_that_no_judge_can_read_are_named_and_their_lines_do_not_count(
    kind: FileKind, reason: str
) -> None:
    opaque = () if kind is FileKind.LOCK else ("x",)
    more = ", which only a human can judge, unless the base's policy names it"
    reason += f"{more} under `coverage.exempt`" if opaque else ""
    coverage = measured(Judgment.passed("ok"), files=[fake.file("x", 9, kind=kind)])
    assert coverage == Coverage("tree", 1, 0, 0, 0, (NotChecked("x", reason),), opaque)


def test_what_the_base_exempts_is_named_and_does_not_count() -> None:
    read = Judgment.passed("ok", metadata=scoped("a.py"))
    exempt = replace(fake.file("x.jar", 9, kind=FileKind.BINARY), exempt="by the base")
    coverage = measured(read, files=[fake.file("a.py", 2), exempt])
    assert coverage == Coverage("lines", 2, 1, 2, 2, (NotChecked("x.jar", "by the base"),))


def test_a_lock_file_that_a_reader_of_manifests_parses_is_read() -> None:
    read = Judgment.passed("ok", metadata=scoped("uv.lock"))
    coverage = measured(read, files=[fake.file("uv.lock", 9, kind=FileKind.LOCK)])
    assert coverage == Coverage("lines", 1, 1, 9, 9)


@pytest.mark.parametrize(
    ("path", "opaque"),
    [("lib/a.jar", True), ("a.so", True), ("x.wasm", True), ("tool", True), ("deps.tgz", True),
     ("logo.PNG", False), ("f.woff2", False), ("manual.pdf", False), ("data.parquet", False)],
)  # fmt: skip
def test_binary_content_that_may_be_executed_is_told_from_pictures(path: str, opaque: bool) -> None:
    swapped = fake.file(path, 0, 0, FileKind.BINARY)
    assert measured(BUILT.judgment, files=[swapped]).unread_content == ((path,) if opaque else ())
    gone = replace(swapped, new_blob=None)
    moved = replace(swapped, old_blob=swapped.new_blob)
    assert measured(BUILT.judgment, files=[gone, moved]).unread_content == ()


@pytest.mark.parametrize("scope", ["all", 3, {"read": "a.py"}, {"read": [3], "unread": ["b"]}, {}])
def test_a_malformed_declaration_never_counts_as_read(scope: Any) -> None:
    judgment = Judgment.passed("ok", metadata={"scope": scope})
    coverage = measured(judgment, files=[fake.file("a.py", 5)])
    assert coverage.scope == ("lines" if isinstance(scope, dict) else "tree")
    assert coverage.added_lines_total == (5 if isinstance(scope, dict) else 0)
    assert coverage.added_lines_judged == 0


UNREAD = Judgment.passed("ok", metadata={"scope": {"read": ["a.py"], "unread": []}})
HALF = fake.pull([fake.file("a.py", 50), fake.file("b.py", 50)], notes=("the tree is dirty",))
TIER = fake.tier("t", fake.ballot("j", UNREAD))


def test_a_pass_below_the_floor_is_an_error_with_a_closed_gate() -> None:
    report = fake.report(TIER, pull_request=HALF)
    assert report.verdict.status is Status.ERROR
    assert report.gate is Gate.ACTION_REQUIRED
    assert report.coverage.added_lines_judged == 50


def test_the_floor_is_the_policys() -> None:
    report = fake.report(TIER, pull_request=HALF, gate_policy=GatePolicy(coverage_floor=0.5))
    assert report.verdict.status is Status.PASS


def test_a_failure_below_the_floor_stays_a_failure() -> None:
    bad = Judgment.failed("no", metadata={"scope": {"read": [], "unread": []}})
    report = fake.report(fake.tier("t", fake.ballot("j", bad)), pull_request=HALF)
    assert report.verdict.status is Status.FAIL
    assert report.gate is Gate.FAILURE


def test_judges_that_were_never_seated_stay_with_their_tier() -> None:
    skipped = {"t": [SkippedJudge("build", "--no-build")], "gone": [SkippedJudge("x", "y")]}
    report = fake.report(TIER, skipped=skipped)
    assert [tier.skipped for tier in report.tiers] == [(SkippedJudge("build", "--no-build"),)]


def test_the_gate_that_was_applied_is_recorded() -> None:
    strict = GatePolicy(frozenset({Status.FAIL}), "block", 0.5)
    report = fake.report(TIER, gate_policy=strict)
    assert gate_policy_of(report.policy) == strict
    assert report.policy.resolved["tiers"] == fake.TIERS
