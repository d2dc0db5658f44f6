"""Hand-made pull requests, verdicts and reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from prjury.judges.merge.judge import decide
from prjury.jury.cascade import conclude
from prjury.jury.gate import GatePolicy
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Check, Judgment, Location
from prjury.jury.score import NumericalScore
from prjury.jury.verdicts import JuryVerdict, TierAttempt, TierPolicy, Verdict
from prjury.jury.voting import AverageVoting, Ballot, ConsensusVoting, ErrorPolicy, VotingStrategy
from prjury.report.assemble import assemble
from prjury.report.judge_facts import BuildFacts, TestFacts
from prjury.report.model import Backport, Cost, PolicyOrigin, Report, Sandbox, SkippedJudge
from prjury.snapshot.merge_style import Habit, Way
from prjury.snapshot.model import (
    Conflict,
    ConflictRegion,
    ConflictType,
    FileChange,
    FileKind,
    FileStatus,
    LineSpan,
    MergeTrial,
    PullRequest,
    Side,
)

HEAD = "1f0c" * 10
BASE = "abc1234" + "0" * 33
TREE = "7" * 40

TIERS = [
    {"name": "build", "judges": ["merge", {"build": {"command": "auto"}}]},
    {"name": "version-patterns", "judges": ["patterns"]},
    {"name": "quality", "judges": [{"quality": {"runs": 1}, "weight": 1.0}]},
]


def file(
    path: str,
    additions: int = 10,
    deletions: int = 2,
    kind: FileKind = FileKind.SOURCE,
    status: FileStatus = FileStatus.MODIFIED,
    unread: str | None = None,
) -> FileChange:
    return FileChange(path, status, kind, additions, deletions, new_blob="b" * 40, unread=unread)


FILES = (
    file("README.md", 4, 0, FileKind.DOCS),
    file("package-lock.json", 900, 850, FileKind.LOCK),
    file("pom.xml", 3, 1, FileKind.CONFIG),
    file("src/main/java/shop/Cart.java", 42, 7),
    file("src/main/java/shop/Order.java", 18, 3),
    file("src/test/java/shop/CartTests.java", 31, 0, FileKind.TEST, FileStatus.ADDED),
)


def pull(
    files: Sequence[FileChange] = FILES,
    merge: MergeTrial | None = None,
    url: str | None = "https://github.com/acme/shop/pull/42",
    **more: Any,
) -> PullRequest:
    values: dict[str, Any] = {
        "repo": "acme/shop",
        "base": Side("main", BASE),
        "head": Side("cart-totals", HEAD),
        "merge_base": BASE,
        "merge": merge or MergeTrial(TREE),
        "files": tuple(files),
        "behind": 3,
        "ahead": 2,
        "number": 42,
        "title": "Round cart totals once",
        "author": "mia",
        "url": url,
        **more,
    }
    return PullRequest(**values)


def ballot(
    judge: str,
    judgment: Judgment,
    elapsed_ms: int = 200,
    kind: JudgeType = JudgeType.DETERMINISTIC,
    weight: float = 1.0,
) -> Ballot:
    """A ballot; those of the judges of merges and builds are known for what they are."""
    if judge in {"merge", "build"}:
        judgment = judgment.with_metadata(facts=judge)
    return Ballot(judge, judgment, weight, kind, elapsed_ms)


def tier(
    name: str,
    *ballots: Ballot,
    policy: TierPolicy = TierPolicy.REJECT_ON_ANY_FAIL,
    advisory: bool = False,
    skipped_because: str | None = None,
    averaged: float | None = None,
) -> TierAttempt:
    verdict = None
    if ballots:
        voting: VotingStrategy = ConsensusVoting(on_error=ErrorPolicy.PROPAGATE)
        if averaged is not None:
            voting = AverageVoting(averaged, on_error=ErrorPolicy.PROPAGATE)
        verdict = JuryVerdict(voting.aggregate(ballots), tuple(ballots))
    elapsed = max((b.elapsed_ms for b in ballots), default=0)
    return TierAttempt(name, policy, advisory, verdict, skipped_because, elapsed)


def verdict(*attempts: TierAttempt) -> Verdict:
    return conclude(attempts)


def report(
    *attempts: TierAttempt,
    pull_request: PullRequest | None = None,
    gate_policy: GatePolicy | None = None,
    skipped: Mapping[str, Sequence[SkippedJudge]] | None = None,
    **more: Any,
) -> Report:
    values: dict[str, Any] = {
        "policy": PolicyOrigin(f"base:{BASE}:.github/prjury.yml", "c" * 64, {"tiers": TIERS}),
        "sandbox": Sandbox("L2", network=True),
        "version": "0.1.0",
        "elapsed_ms": 187_000,
        **more,
    }
    if gate_policy:
        gate = {
            "block_on": sorted(gate_policy.block_on),
            "not_configured": gate_policy.not_configured,
            "coverage_floor": gate_policy.coverage_floor,
        }
        policy = values["policy"]
        values["policy"] = replace(policy, resolved={**policy.resolved, "gate": gate})
    return assemble(pull_request or pull(), verdict(*attempts), skipped=skipped or {}, **values)


WAY = Habit(Way.MERGE, "41 of the last 60 commits on the base are merges")
MERGED = decide(pull(), WAY)
COMMAND = {"subject": "`./mvnw -q verify`", "command": "./mvnw -q verify"}


def built(tests: TestFacts | None = None, **more: Any) -> dict[str, Any]:
    """The metadata of a build that was compared with its base."""
    facts = BuildFacts(compared=True, tests=tests, failures=more.pop("failures", {}))
    return {**facts.to_metadata(), **COMMAND, "exit_code": 0, **more}


BUILT = Judgment.passed(
    "passed in 3 min (with Java 21)",
    checks=[
        Check("build-executed", True, "`./mvnw -q verify`: exit code 0, 3 min"),
        Check("tests-passed", True, "212 tests in 14 reports"),
    ],
    metadata=built(TestFacts(212, skipped=3, vanished=0, base=TestFacts(210, skipped=3))),
)
READ = {"scope": {"read": [f.path for f in FILES if f.kind is not FileKind.LOCK], "unread": []}}
PATTERNS = Judgment.passed(
    "jackson-3, spring-boot-4 over 3 files: nothing found",
    checks=[
        Check("jackson-3", True, "13 rules over 3 files: nothing found"),
        Check("spring-boot-4", True, "15 rules over 3 files: nothing found"),
    ],
    metadata={"subject": "jackson-3, spring-boot-4", **READ},
)
NO_MODEL = Judgment.abstained(
    "no model key is set",
    "not_configured",
    metadata={"subject": "correctness, tests, conventions, risk"},
)


def quality_tier(judgment: Judgment, elapsed_ms: int = 4_200) -> TierAttempt:
    cast = ballot("quality", judgment, elapsed_ms, JudgeType.LLM_POWERED)
    return tier("quality", cast, policy=TierPolicy.FINAL_TIER, advisory=True)


def not_run(name: str, because: str, *, final: bool = False) -> TierAttempt:
    policy = TierPolicy.FINAL_TIER if final else TierPolicy.REJECT_ON_ANY_FAIL
    return tier(name, policy=policy, advisory=final, skipped_because=because)


def passed() -> Report:
    return report(
        tier("build", ballot("merge", MERGED), ballot("build", BUILT, 181_000)),
        tier("version-patterns", ballot("patterns", PATTERNS, 340)),
        quality_tier(NO_MODEL, 3),
        backports=(
            Backport(
                "1.1.x",
                "needs_human",
                applies=True,
                reasons=("it applies and it is a fix, but nobody has asked for it",),
                commands=("git switch -c backport-42-to-1.1.x 1.1.x", f"git cherry-pick -x {HEAD}"),
            ),
            Backport(
                "1.0.x",
                "needs_human",
                applies=False,
                conflicts=(
                    CONFLICTS[0],
                    Conflict(
                        "src/main/java/shop/Cart.java",
                        ConflictType.CONTENT,
                        False,
                        "Merge conflict in src/main/java/shop/Cart.java",
                    ),
                ),
                reasons=("conflicts in 2 files on 1.0.x @`89abcde`",),
            ),
        ),
    )


COMPILE_ERRORS = (
    ("src/main/java/shop/Cart.java", 42, "cannot find symbol `Money`", "Money total = sum();"),
    ("src/main/java/shop/Cart.java", 57, "incompatible types: `long` is not `int`", "int n = c();"),
    ("src/main/java/shop/Order.java", 12, "cannot find symbol `Money`", "import shop.Money;"),
)


def broken_build() -> Report:
    checks = [
        Check("build-executed", False, "`./mvnw -q verify`: exit code 1, 3 min"),
        *(
            Check("compile", False, message, Location(path, line), evidence=evidence)
            for path, line, message, evidence in COMPILE_ERRORS
        ),
        Check(
            "test",
            False,
            "shop.StockTests#restock: expected: 3 but was: 2 (on the base as well)",
            Location("src/test/java/shop/StockTests.java", 19),
            "warning",
        ),
    ]
    counts = {"new": {"compile": len(COMPILE_ERRORS)}, "pre_existing": {"test": 1}}
    first = "src/main/java/shop/Cart.java:42: cannot find symbol `Money`"
    build = Judgment.failed(
        f"failed with exit code 1: {first} (and 2 more) (with Java 21)",
        checks=checks,
        metadata=built(failures=counts, exit_code=1, summaries=["build-executed"]),
    )
    return report(
        tier("build", ballot("merge", MERGED), ballot("build", build, 181_000)),
        not_run("version-patterns", "build failed"),
        not_run("quality", "build failed", final=True),
    )


CONFLICTS = (
    Conflict(
        "pom.xml",
        ConflictType.CONTENT,
        False,
        "Merge conflict in pom.xml",
        (12, 12),
        (
            ConflictRegion(
                head=LineSpan(12, 1),
                onto=LineSpan(14, 1),
                texts=(("<version>2.1</version>",), ("<version>2.0.9</version>",)),
            ),
        ),
    ),
    Conflict(
        "src/main/java/shop/Cart.java",
        ConflictType.CONTENT,
        False,
        "Merge conflict in src/main/java/shop/Cart.java",
        (3, 48),
        (
            ConflictRegion(LineSpan(3, 1), LineSpan(3, 2), (("// mine",), ("// theirs", "//"))),
            ConflictRegion(
                head=LineSpan(42, 7),
                onto=LineSpan(44, 3),
                texts=(
                    tuple(f"        total += item{n}.price();" for n in range(7)),
                    ("        for (var item : items) {", "            sum(item);", "        }"),
                ),
            ),
        ),
    ),
)


def conflicting() -> Report:
    change = pull(merge=MergeTrial(None, CONFLICTS))
    merge = decide(change, WAY)
    build = Judgment.abstained("nothing to build: the merge has conflicts", "conflicts")
    return report(
        tier("build", ballot("merge", merge), ballot("build", build, 1)),
        not_run("version-patterns", "build failed"),
        not_run("quality", "build failed", final=True),
        pull_request=change,
        skipped={"quality": [SkippedJudge("quality", "--no-llm")]},
    )


def needs_a_human() -> Report:
    build = Judgment.abstained(
        "ended with exit code 0, but its test reports hold no test",
        "no_tests_found",
        metadata=COMMAND,
    )
    quality = Judgment.failed(
        "2 of 4 criteria passed; failed: tests, naming",
        score=NumericalScore(0.5),
        confidence=0.84,
        checks=[
            Check("correctness", True, "totals are rounded once, at the end"),
            Check(
                "tests",
                False,
                "no test covers a negative total",
                Location("src/test/java/shop/CartTests.java", 8, 31),
                evidence="void roundsOnce() {",
            ),
            Check("conventions", True),
            Check("naming", False, "`c` says little", Location("README.md", 3), "hint"),
        ],
        metadata={"model": "openai:gpt-5-mini", **READ},
    )
    return report(
        tier("build", ballot("merge", MERGED), ballot("build", build, 181_000)),
        tier("version-patterns", ballot("patterns", PATTERNS, 340)),
        quality_tier(quality),
        cost=Cost(4, 1, 21_400, 1_900, 0.0123),
        notes=("This pull request edits `.github/prjury.yml`; the base's version is in force.",),
    )


def panel() -> Report:
    """Two models side by side of which one objects, and a judge whose model refused."""
    check = Check(
        "correctness",
        False,
        "openai:gpt-6.1-terra: the remainder of the division is lost",
        Location("src/main/java/shop/Cart.java", 2),
        "warning",
        evidence="total = total / 2;",
    )
    names = ("correctness", "tests", "conventions", "risk")
    seats = [
        {
            "seat": "anthropic:claude-sonnet-5-5",
            "status": "pass",
            "score": 1.0,
            "criteria": dict.fromkeys(names, "pass"),
        },
        {
            "seat": "openai:gpt-6.1-terra",
            "status": "fail",
            "score": 0.5,
            "criteria": {**dict.fromkeys(names, "pass"), "correctness": "fail", "risk": "abstain"},
        },
        {
            "seat": "google:gemini-3.8-flash",
            "status": "pass",
            "score": 0.75,
            "criteria": {**dict.fromkeys(names, "pass"), "tests": "fail"},
        },
    ]
    usage = {"llm_calls": 5, "input_tokens": 18_240, "output_tokens": 2_310, "usd": 0.0671}
    quality = Judgment.passed(
        "2 pass, 1 fail of 3 answers: 3 of 4 criteria passed, the threshold is 0.70; failed: tests",
        score=NumericalScore(0.75),
        confidence=0.88,
        checks=[Check("correctness", True, "it does what its name says"), check],
        metadata={
            "model": "google:gemini-3.8-flash",
            "panel": seats,
            "usage": {**usage, "cached_calls": 1},
            **READ,
        },
    )
    refused = Judgment.abstained("The model refused to answer.", "refused")
    llm = JudgeType.LLM_POWERED
    return report(
        tier("build", ballot("merge", MERGED), ballot("build", BUILT, 181_000)),
        tier("version-patterns", ballot("patterns", PATTERNS, 340)),
        tier(
            "quality",
            ballot("quality", quality, 9_300, llm),
            ballot("tests-exercise-behaviour", refused, 2_100, llm),
            policy=TierPolicy.FINAL_TIER,
            advisory=True,
        ),
        cost=Cost(6, 1, 20_110, 2_310, 0.0702),
    )


def with_findings(
    count: int, message: str = "cannot find symbol `Foo`", severity: str = "error"
) -> Report:
    """A report of so many findings, each in a file of its own."""
    checks = [
        Check(
            f"rule-{n}",
            False,
            f"{message} {n}",
            Location(f"src/{message[:20]}/{n}.java", n + 1),
            "error" if severity == "error" else "warning",
            evidence=f"{message}\n```\n{n}",
            fix=message,
        )
        for n in range(count)
    ]
    judgment = Judgment.failed("many", checks=checks)
    return report(
        tier("t", ballot("patterns", judgment)),
        pull_request=pull([file(f"f{n}.java", unread="too many") for n in range(count)]),
    )


def environment() -> Report:
    """A build that could not download what it needs."""
    line = "repo.maven.apache.org: Temporary failure in name resolution"
    failed = Judgment.errored(
        f"it cannot be built here, and the change is not to blame: {line}",
        checks=[Check("environment", False, line)],
        metadata={
            "reason": "environment",
            "remedy": "run the job again; behind a proxy, set HTTPS_PROXY in the workflow",
            "log": "/tmp/01.log",
            **COMMAND,
        },
    )
    return report(
        tier("build", ballot("merge", MERGED), ballot("build", failed, 181_000)),
        not_run("version-patterns", "build could not be judged"),
        not_run("quality", "build could not be judged", final=True),
    )


def vanished() -> Report:
    """A build that passes with a test less than on the base."""
    tests = TestFacts(883, vanished=1, base=TestFacts(884))
    words = "1 test that ran on the base did not run here"
    lost = Judgment.abstained(
        f"{words}: shop.CartTests#roundsOnce",
        "tests_vanished",
        checks=[
            Check("tests-vanished", False, words, None, "warning", "shop.CartTests#roundsOnce")
        ],
        metadata={
            **built(tests),
            "snippet": {
                "language": "yaml",
                "where": ".github/prjury.yml",
                "text": "build: {vanished: warn}",
            },
        },
    )
    return report(
        tier("build", ballot("merge", MERGED), ballot("build", lost, 181_000)),
        tier("version-patterns", ballot("patterns", PATTERNS)),
        quality_tier(NO_MODEL, 3),
    )


def advised_against() -> Report:
    """A change that a model found a bug in, and that somebody wants on a release branch."""
    place = Location("src/main/java/shop/Cart.java", 42)
    bug = "a cart without items divides by zero in `total`, where `count` is 0"
    found = Judgment.failed(
        "3 of 4 criteria passed, but correctness failed",
        checks=[Check("correctness", False, bug, place, "error", "return sum / count;")],
        metadata={"model": "openai:gpt-5-mini"},
    )
    asked = Backport(
        "1.1.x",
        "suitable",
        applies=True,
        asked="yes",
        reasons=("asked for (the label backport-1.1)",),
        commands=("git switch -c backport-42-to-1.1.x 1.1.x", f"git cherry-pick -x {HEAD}"),
    )
    return report(
        tier("build", ballot("merge", MERGED), ballot("build", BUILT, 181_000)),
        tier("version-patterns", ballot("patterns", PATTERNS)),
        quality_tier(found),
        cost=Cost(4, 0, 20_000, 900, 0.02),
        backports=(asked,),
    )


def unread() -> Report:
    """A policy that wants more read than any judge has."""
    scope = {"scope": {"read": ["pom.xml"], "unread": []}}
    read = Judgment.passed("nothing found", metadata=scope)
    return report(tier("version-patterns", ballot("patterns", read)))


def not_built() -> Report:
    """A change that was merged and read, and not built: somebody said so."""
    return report(
        tier("build", ballot("merge", MERGED)),
        tier("version-patterns", ballot("patterns", PATTERNS)),
        quality_tier(NO_MODEL),
        skipped={"build": [SkippedJudge("build", "--no-build")]},
    )


def many() -> Report:
    """One rule in a dozen places, and a few more that only warn."""
    why = "`javax.servlet` moved to jakarta.servlet"
    line = "import javax.servlet.Filter;"
    rules: list[dict[str, Any]] = [
        {"rule": "jakarta/servlet", "path": f"src/F{n}.java", "line": 3, "why": why}
        for n in range(12)
    ]
    moved = [
        Check("jakarta/servlet", False, why, Location(f"src/F{n}.java", 3), "error", line)
        for n in range(12)
    ]
    mild = [Check("style", False, f"no. {n}", Location("src/A.java", n), "hint") for n in (4, 5)]
    reasoning = f"12 findings: {why} (src/F0.java:3 and 11 more places)"
    found = Judgment.failed(
        reasoning, checks=[*moved, *mild], metadata={"findings": rules, "summaries": []}
    )
    return report(
        tier("build", ballot("merge", MERGED), ballot("build", BUILT, 181_000)),
        tier("version-patterns", ballot("patterns", found)),
        quality_tier(NO_MODEL),
    )
