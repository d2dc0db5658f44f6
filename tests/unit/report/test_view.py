"""What every rendering shows: steps that open a gate, rules in one entry, quiet backports."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from msgspec import structs

from fakes import reports as fake
from fakes.render import to_comment, to_feedback, to_html
from prjury.jury.gate import Gate, GatePolicy
from prjury.jury.judgment import Check, Judgment, Location, Status
from prjury.report.backports import backport_line
from prjury.report.headline import next_steps
from prjury.report.judge_facts import BuildFacts, RuleFacts, TestFacts
from prjury.report.model import Backport, PolicyOrigin, Report, SkippedJudge
from prjury.report.render import Renderer
from prjury.report.view import TableRow, fold_least_important_rows, page, rows
from prjury.report.wording import ADVISES_AGAINST
from prjury.resources import DOCUMENTATION
from prjury.snapshot.model import BEYOND_LIMIT, FileKind

#: A comment to paste, as builds have it in `remedies.yml`.
PASTED = {"snippet": {"text": "/prjury override I have read it", "where": "a comment"}}
RULE = "numpy-2/float-underscore"


def closed(judgment: Judgment, **more: Any) -> Report:
    return fake.report(fake.tier("build", fake.ballot("build", judgment)), **more)


def ruled(count: int) -> Report:
    """A report in which a rule finds so many places."""
    checks = [
        Check(
            RULE,
            False,
            f"`np.float_` was removed, line {number}",
            Location("a.py", number),
            evidence="x = np.float_(3)",
            fix="x = np.float64(3)",
        )
        for number in range(1, count + 1)
    ]
    facts = [
        RuleFacts(RULE, "a.py", number, applicability="machine-applicable").to_metadata()
        for number in range(1, count + 1)
    ]
    judgment = Judgment.failed("no", checks=checks, metadata={"findings": facts})
    return fake.report(fake.tier("patterns", fake.ballot("patterns", judgment)))


def test_a_rule_in_many_places_is_one_folded_entry_with_its_link_and_a_diff() -> None:
    (group,) = page(ruled(60)).must_fix
    assert (group.count, len(group.places)) == (60, 60)
    assert group.rule_url == f"{DOCUMENTATION}/rules/numpy-2.md#float-underscore"
    text = to_comment(ruled(60))
    assert text.count("```diff\n      -x = np.float_(3)\n      +x = np.float64(3)") == 1
    assert text.count("np.float64(3)") == 1
    assert "<details><summary>60 places</summary>" in text
    html = to_html(ruled(60))
    assert html.count('<span class="gone">-x = np.float_(3)</span>') == 1
    assert f'<a href="{group.rule_url}"' in html


@pytest.mark.parametrize("name", ["team/own", "../../x/y", "numpy-2/<b>", "f401"])
def test_only_pages_of_ours_are_linked(name: str) -> None:
    judgment = Judgment.failed(
        "no", checks=[Check(name, False, "x")], metadata={"findings": [{"rule": name}]}
    )
    (group,) = page(fake.report(fake.tier("t", fake.ballot("patterns", judgment)))).must_fix
    assert group.rule_url is None


@pytest.mark.parametrize(
    ("judgment", "words", "text"),
    [
        (
            Judgment.errored(
                "ERESOLVE",
                metadata={
                    "reason": "environment",
                    "remedy": "install with `--legacy-peer-deps`",
                    "snippet": {"text": "build:\n  command: x", "where": "prjury.yml"},
                },
            ),
            "Install with `--legacy-peer-deps`.",
            "build:\n  command: x",
        ),
        (
            Judgment.abstained("2 tests", "tests_vanished"),
            (
                "Let these tests run again; if they were meant to go, a maintainer may write "
                "`/prjury override REASON`. Or allow lost tests in every change."
            ),
            "build:\n  vanished: warn",
        ),
        (
            Judgment.abstained("no pack matches", "not_applicable"),
            "Name the command that builds and tests the project.",
            "build:\n  command: make test",
        ),
        (
            Judgment.abstained(
                "1 test",
                "tests_vanished",
                metadata={"snippet": {"text": "build: {vanished: warn}"}},
            ),
            (
                "Let these tests run again; if they were meant to go, a maintainer may write "
                "`/prjury override REASON`. Or allow lost tests in every change."
            ),
            "build: {vanished: warn}",
        ),
        (Judgment.errored("slow", metadata={"reason": "timeout"}), "Give it more time.", None),
        (
            Judgment.errored("no idea"),
            "Have a maintainer decide: `/prjury override REASON` opens the gate for this commit.",
            None,
        ),
        (
            Judgment.failed("exit 1", metadata={"command": "make test"}),
            "Reproduce it with `make test`.",
            None,
        ),
        (
            Judgment.failed("exit 1", metadata={"reason": "base_broken"}),
            "Fix the base first: what fails here fails there as well.",
            None,
        ),
    ],
)
def test_a_closed_gate_tells_what_opens_it(
    judgment: Judgment, words: str, text: str | None
) -> None:
    report = closed(judgment)
    (step,) = next_steps(report)
    assert step.words == words
    if text:
        assert step.snippet
        assert step.snippet.text == text
        assert all(line in to_comment(report) for line in text.splitlines())
    assert f"[Why is the gate closed?]({DOCUMENTATION}/gate.md" in to_comment(report)


def test_a_conflict_is_resolved_by_merging() -> None:
    report = fake.conflicting()
    assert "**Next:** Merge `main` into the branch, or rebase onto it" in to_comment(report)
    assert "**Next:** Merge `main` into the branch, or rebase onto it" in to_feedback(report)


def test_the_link_names_the_reason_and_no_other_word() -> None:
    report = closed(Judgment.errored("x", metadata={"reason": "environment"}))
    assert page(report).gate_page == f"{DOCUMENTATION}/gate.md#environment"
    report = closed(Judgment.errored("x", metadata={"reason": "<b>" + "x" * 99}))
    assert page(report).gate_page == f"{DOCUMENTATION}/gate.md"


def test_files_to_exempt_are_named_and_none_that_would_exempt_others() -> None:
    names = ["a'b.py", "**", "gen/x.py"]
    judgment = Judgment.passed("ok", metadata={"scope": {"read": [], "unread": []}})
    files = [fake.file(name, kind=FileKind.GENERATED) for name in names]
    pull = fake.pull([*files, fake.file("by_hand.py")])
    (step,) = next_steps(closed(judgment, pull_request=pull))
    assert step.snippet
    assert step.snippet.text.splitlines()[2:] == ["    - 'a''b.py'", "    - 'gen/x.py'"]


@pytest.mark.parametrize(
    ("asked", "band", "verdict", "first"),
    [
        (None, "unlikely", "not_suitable", False),
        (None, "grey", "needs_human", False),
        ("no", None, "suitable", False),
        (None, "likely", "suitable", True),
        ("yes", "unlikely", "not_suitable", True),
        ("yes", None, "not_requested", False),
    ],
)
def test_a_backport_stands_in_the_first_lines_where_somebody_wants_it(
    asked: Any, band: Any, verdict: Any, first: bool
) -> None:
    backport = Backport("1.x", verdict, applies=None, asked=asked, band=band)
    text = to_comment(replace(fake.passed(), backports=(backport,)))
    assert ("**Backport:** `1.x`" in text) == first
    assert ("nobody asked)</summary>" in text) != first


def test_branches_that_nobody_asked_for_are_named_once_and_told_nothing_more() -> None:
    idle = [Backport(f"{n}.x", "not_requested", applies=None) for n in (1, 2)]
    text = Renderer().terminal(replace(fake.passed(), backports=tuple(idle)))
    assert "Backport, not asked for: 1.x; 2.x" in text
    assert text.count("not asked for") == 1


def test_a_tier_with_a_skipped_judge_is_grey_and_not_called_passed() -> None:
    report = fake.report(
        fake.tier("build", fake.ballot("merge", fake.MERGED)),
        skipped={"build": [SkippedJudge("build", "--no-build")]},
    )
    (tier,) = page(report).tiers
    assert (tier.outcome.color, tier.outcome.word) == ("not-run", "build not run")
    assert [row.outcome.color for row in tier.rows] == ["pass", "not-run"]
    advice = fake.quality_tier(Judgment.failed("2 of 4 criteria pass"))
    (_, tier) = page(fake.report(fake.tier("b", fake.ballot("merge", fake.MERGED)), advice)).tiers
    assert (tier.outcome, tier.rows[0].outcome) == (ADVISES_AGAINST, ADVISES_AGAINST)


def test_the_log_is_the_runs_artifact_and_never_a_path_of_a_runner() -> None:
    report = closed(Judgment.failed("exit 1", metadata={"log": "/tmp/prjury-logs-x/01.log"}))
    text = to_comment(report, run="12.1")
    assert "[Full log](https://github.com/acme/shop/actions/runs/12#artifacts)" in text
    assert "/tmp/" not in text


def test_files_that_nobody_read_are_told_by_reason() -> None:
    files = [fake.file(f"f{n}.py", unread=f"{BEYOND_LIMIT}: 1,000 files") for n in range(2_600)]
    files.append(fake.file("x.lock", kind=FileKind.LOCK))
    text = to_comment(fake.report(fake.not_run("t", "x"), pull_request=fake.pull(files)))
    assert f"- {BEYOND_LIMIT}: 1,000 files (2,600 files): `f0.py`, `f1.py`, `f2.py`" in text
    assert len(text) < 3_000


def test_tests_come_with_their_difference() -> None:
    facts = BuildFacts(compared=True, tests=TestFacts(884, base=TestFacts(882)))
    built = Judgment.passed("884 tests pass", metadata=facts.to_metadata())
    report = closed(built)
    assert [row.words for row in page(report).rows] == ["884 tests, 2 more than on the base"]


def test_failed_tests_are_not_compared_with_the_base() -> None:
    facts = BuildFacts(compared=True, tests=TestFacts(884, failed=2, base=TestFacts(884)))
    failed = Judgment.failed("exit 1", metadata=facts.to_metadata())
    assert page(closed(failed)).rows[0].words == "884 tests, 2 failed, as many tests as on the base"


def test_nothing_is_told_of_branches_that_were_not_tried_unless_somebody_asked() -> None:
    idle = Backport("1.x", "not_applicable", applies=None, reasons=("not tried: it conflicts",))
    assert page(replace(fake.conflicting(), backports=(idle,))).backports == ()
    asked = structs.replace(idle, asked="yes")
    assert len(page(replace(fake.conflicting(), backports=(asked,))).backports) == 1


def test_a_conflict_is_reason_enough_for_files_that_nobody_read() -> None:
    assert fake.conflicting().coverage.not_checked
    assert page(fake.conflicting()).not_checked == ()


def test_the_question_of_a_prompt_and_ignored_rules_are_told() -> None:
    asked = Judgment.passed("fine", metadata={"question": "Is the changelog edited?"})
    policy = PolicyOrigin("default", "0" * 64, {"ignore": ["numpy-2/float", "docker"]})
    report = closed(asked, policy=policy)
    for text in (to_comment(report), to_html(report)):
        assert "Is the changelog edited?" in text
    assert "ignored: `numpy-2/float` and `docker`" in to_comment(report)


@pytest.mark.parametrize("answers", [True, False])
@pytest.mark.parametrize(
    "report",
    [
        fake.needs_a_human(),
        fake.unread(),
        fake.vanished(),
        closed(Judgment.abstained("2 tests", "tests_vanished")),
        closed(Judgment.abstained("edited", "build_changed", metadata=PASTED)),
        closed(
            Judgment.abstained("edited", "build_changed", metadata={**PASTED, "remedy": "look"})
        ),
    ],
)
def test_commands_are_named_where_they_are_answered(report: Report, answers: bool) -> None:
    told = replace(report, answers_commands=answers)
    assert ("/prjury " in to_comment(told, run="5.1")) == answers
    assert next_steps(told)
    assert answers or "/prjury " not in to_feedback(told) + to_html(told)


@pytest.mark.parametrize("answers", [True, False])
def test_a_local_branch_has_neither_comments_nor_a_required_check(answers: bool) -> None:
    told = replace(fake.unread(), answers_commands=answers, pull=fake.pull(number=None, url=None))
    (step,) = next_steps(told)
    assert step.words == "Have a maintainer read what was not checked and merge anyway."


def test_the_page_draws_its_symbols() -> None:
    html = to_html(fake.needs_a_human())
    assert not set(html) & set("✅❌⚠⚪⏭💡")
    assert '<use href="#i-error"/>' in html


def test_a_missing_model_that_the_policy_wants_is_a_key_to_set() -> None:
    quality = fake.tier("quality", fake.ballot("quality", fake.NO_MODEL))
    green = fake.tier("build", fake.ballot("merge", fake.MERGED))
    report = fake.report(green, quality, gate_policy=GatePolicy(not_configured="block"))
    assert (report.verdict.status, report.gate) == (Status.PASS, Gate.ACTION_REQUIRED)
    (step,) = next_steps(report)
    assert step.words.startswith("Set OPENAI_API_KEY")


def told(*every: TableRow) -> list[str]:
    return [f"{row.tier} | {row.judge} | {row.outcome.symbol} {row.words}" for row in every]


def test_one_row_per_judge_with_its_subject_and_its_words() -> None:
    assert told(*rows(fake.broken_build())) == [
        "build | merge onto `main` @`abc1234` | ✅ merges cleanly, 3 commits behind",
        "build | build: `./mvnw -q verify` | ❌ failed with exit code 1",
        "version-patterns | all judges | ⏭️ not run: build failed",
        "quality | all judges | ⏭️ not run: build failed",
    ]


def test_a_judge_that_was_not_asked_for_is_a_row() -> None:
    assert (
        told(*rows(fake.conflicting()))[-1]
        == "quality | quality | ⏭️ not run: the branch conflicts with its base"
    )


@pytest.mark.parametrize(
    ("skipped", "row"),
    [
        ((), "build | all judges | ⏭️ not run: t failed"),
        ((SkippedJudge("build", "--no-build"),), "build | build | ⏭️ not run: --no-build"),
    ],
)
def test_a_tier_that_did_not_run_is_one_row(skipped: tuple[SkippedJudge, ...], row: str) -> None:
    attempts = (fake.tier("t", fake.ballot("a", fake.MERGED)), fake.not_run("build", "t failed"))
    assert told(*rows(fake.report(*attempts, skipped={"build": skipped})))[1:] == [row]


def test_at_most_eight_rows_keep_the_worst_in_order() -> None:
    ballots = [fake.ballot(f"p{n}", Judgment.passed("ok")) for n in range(9)]
    ballots.append(fake.ballot("bad", Judgment.failed("no")))
    every = rows(fake.report(fake.tier("t", *ballots), fake.not_run("later", "t failed")))
    few = fold_least_important_rows(every, 8)
    assert len(few) == 8
    assert told(*few[-2:]) == [
        "t | bad | ❌ no",
        "t and later | 4 more judges | ✅ 3 pass and 1 not run",
    ]


REJECTED = "not tried: the change is rejected"


@pytest.mark.parametrize(
    ("backport", "words"),
    [
        (Backport("1.x", "needs_human", applies=True), "needs a human, picks cleanly"),
        (Backport("1.x", "suitable", applies=True), "suitable, picks cleanly"),
        (Backport("1.x", "not_applicable", applies=True, reasons=("empty",)), "not applicable"),
        (Backport("1.x", "not_applicable", applies=None, reasons=(REJECTED,)), REJECTED),
        (Backport("1.x", "already_present", applies=True), "already there"),
        (Backport("1.x", "error", applies=None, reasons=("no",)), "could not be tried"),
    ],
)
def test_the_verdict_comes_first_and_the_trial_does_not_contradict_it(
    backport: Backport, words: str
) -> None:
    assert backport_line(backport).partition(": ")[2] == words


def test_a_bar_shows_what_a_file_lost_however_long_the_file_is() -> None:
    html = to_html(fake.passed())
    (_, bar) = html.split("850 removed", 1)
    assert '<rect class="deleted" x="51" width="48"' in bar.partition("</svg>")[0]


def test_only_what_ran_took_time_and_only_opinions_can_be_dismissed() -> None:
    assert rows(fake.many())[-1].time == "–"
    assert "/prjury dismiss" in to_comment(fake.many(), run="5.1")
    assert "/prjury dismiss" not in to_comment(fake.broken_build(), run="5.1")
