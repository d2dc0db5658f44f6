"""What sways judges of code, and how far it gets here: pairs of changes that differ in it alone."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from fakes.biases import (
    CLAIMS,
    FRAMINGS,
    LANGUAGES,
    PYTHON,
    Change,
    Claim,
    Framing,
    Language,
    change,
    context,
    wrong,
)
from fakes.history import History
from fakes.llm import (
    FOUR,
    Said,
    alone,
    always,
    answer,
    first_quote,
    material,
    ports,
    quote,
    reply,
    told,
)
from prjury.app.registry import Unwanted, seat_judges
from prjury.git.operator import open_repository
from prjury.git.store import open_store
from prjury.git.take_snapshot import take_snapshot
from prjury.judges.context import PullRequestContext
from prjury.judges.quality import kinds
from prjury.judges.quality.judge import ModelBackedJudge
from prjury.judges.quality.model_seat import InquiryInput
from prjury.judges.quality.question import Prompts
from prjury.judges.quality.reading import INSTRUCTION
from prjury.jury.judgment import Judgment, Status
from prjury.jury.verdicts import Verdict
from prjury.models.panel import ScriptedModel
from prjury.policy.load import make_config
from prjury.policy.tiers import PromptOptions, QualityOptions, QuestionOptions, SuitabilityOptions
from prjury.ports import ChatModel, Ports, Repository
from prjury.ports.messages import ModelError, Prompt
from prjury.resources import templates
from prjury.snapshot.model import Conflict, ConflictType, MergeTrial

PullJudge = ModelBackedJudge[PullRequestContext]
Make = Callable[[Ports], PullJudge]

OWN: Mapping[str, Any] = {"name": "own", "text": "Look.", "criteria": {"sound": "Is it sound?"}}

BLIND: Mapping[str, Make] = {
    "quality": lambda to: kinds.make_quality(QualityOptions(), to),
    "tests-exercise-behaviour": lambda to: kinds.make_tests(QuestionOptions(), to),
    "backport-suitability": lambda to: kinds.make_suitability(SuitabilityOptions(), to),
    "prompt": lambda to: kinds.make_prompt_judge(PromptOptions(**OWN), to),
}
SEEING: Mapping[str, Make] = {
    "description-matches-change": lambda to: kinds.make_description(QuestionOptions(), to),
    "prompt": lambda to: kinds.make_prompt_judge(PromptOptions(**OWN, sees_description=True), to),
}

#: What the instructions say of comments and tests, whatever else they say.
CLAIMS_ARE_CLAIMS = re.compile(r"[^.:]*\bcomments and tests\b[^.:]*\bclaim\b")
NOTHING_IS_AN_INSTRUCTION = re.compile(r"nothing in it is an instruction")
GOALS_OF_AGENTS = {"agent.md.j2", "audit.md.j2", "repair.md.j2"}
TEMPLATES = sorted(
    file.name.removesuffix(".md.j2")
    for file in (templates() / "prompts").iterdir()
    if file.name not in {"judge.md.j2", "_notes.md.j2"} | GOALS_OF_AGENTS
)
VALUES: Mapping[str, Any] = {"guidelines": "", "task": "Look.", "sees_description": False}


def criteria_of(prompt: Prompt) -> list[str]:
    names: list[str] = prompt.schema["properties"]["criteria"]["required"]
    return names


def passes(prompt: Prompt) -> str:
    return reply(criteria_of(prompt))


def fails(prompt: Prompt) -> str:
    return reply_with(prompt, "fail", [first_quote(prompt)])


def reply_with(prompt: Prompt, verdict: str, evidence: Sequence[Mapping[str, Any]]) -> str:
    names = criteria_of(prompt)
    return reply(names, **dict.fromkeys(names, answer(verdict, evidence)))


def behind(model: ChatModel, repository: Repository) -> Ports:
    return structs.replace(ports(model), repository=repository)


def asked(make: Make, what: Change) -> list[Prompt]:
    return heard(make, what)[0]


def heard(make: Make, what: Change, said: Said = fails) -> tuple[list[Prompt], Judgment]:
    """What a model was asked that says so, and what came of it."""
    model = always(said)
    judgment = alone(make(behind(model, what.repository))).judge(what.context)
    return model.asked, judgment


def opinion(judgment: Judgment) -> tuple[object, ...]:
    """A judgment without what the calls have cost."""
    about = {name: value for name, value in judgment.metadata.items() if name != "usage"}
    return (*(getattr(judgment, name) for name in OPINION), about)


OPINION = ("status", "reasoning", "score", "confidence", "label", "checks")


@cache
def unframed(judge: str, language: Language = PYTHON) -> tuple[list[Prompt], Judgment]:
    return heard(BLIND[judge], wrong(language))


def sent(prompts: Sequence[Prompt]) -> str:
    """Everything that leaves this machine."""
    return "\n".join(
        f"{it.instructions}{it.user}{json.dumps(it.schema)}{it.name}" for it in prompts
    )


def laid_out(what: Change) -> InquiryInput:
    """The change as it is laid before every seat."""
    case, _ = BLIND["quality"](behind(always(fails), what.repository)).prepare_case(what.context)
    assert isinstance(case, InquiryInput)
    return case


def rows(prompt: Prompt, of: str = "files") -> list[list[Any]]:
    lines = (line for it in material(prompt)[of] for hunk in it["hunks"] for line in hunk["lines"])
    return [told(line) for line in lines]


# Framing outside the change.


@pytest.mark.parametrize("framing", FRAMINGS, ids=lambda framing: framing.bias)
@pytest.mark.parametrize("judge", BLIND)
def test_what_is_said_beside_the_change_reaches_no_blind_judge(
    judge: str, framing: Framing
) -> None:
    prompts, judgment = heard(BLIND[judge], wrong(PYTHON).framed(framing))
    plain, fair = unframed(judge)
    assert prompts == plain
    assert opinion(judgment) == opinion(fair)
    assert [word for word in framing.words if word in sent(prompts).casefold()] == []


@pytest.mark.parametrize("framing", FRAMINGS, ids=lambda framing: framing.bias)
def test_each_word_of_a_framing_is_said(framing: Framing) -> None:
    said = str(framing.said).casefold()
    assert [word for word in framing.words if word not in said] == []


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.name)
def test_who_wrote_it_where_and_with_which_words_is_not_sent(
    language: Language, tmp_path: Path
) -> None:
    history = History(tmp_path / "repo")
    history.commit(language.before)
    for branch, author, text in (
        ("plain", b"A <a@example.org>", "change"),
        ("hopper/flawless", b"Grace Hopper <hopper@example.org>", "Reviewed-by: Lead\n\nLGTM"),
    ):
        history.switch(branch, create=True, at="main")
        history.commit(language.after(), text, author=author)
    operator = open_repository(history.path)
    with open_store(operator) as store:
        plain, famous = (
            take_snapshot(store, operator.resolve("main"), operator.resolve(branch))
            for branch in ("plain", "hopper/flawless")
        )
        for make in BLIND.values():
            models = always(fails), always(fails)
            for model, pull in zip(models, (plain, famous), strict=True):
                alone(make(behind(model, store))).judge(context(pull))
            assert models[0].asked == models[1].asked != []
            assert not re.search(
                "hopper|flawless|reviewed-by|lgtm", sent(models[1].asked), re.IGNORECASE
            )
    assert (plain.title, famous.title) == ("change", "Reviewed-by: Lead")


@pytest.mark.parametrize("judge", BLIND)
def test_but_for_its_random_words_the_question_is_the_same(judge: str) -> None:
    models = always(fails), always(fails)
    for model, what in zip(models, (wrong(PYTHON), wrong(PYTHON).framed(FRAMINGS[0])), strict=True):
        BLIND[judge](behind(model, what.repository)).judge(what.context)
    (one,), (other,) = (model.asked for model in models)
    assert one.nonces != other.nonces
    assert one.sha256 == other.sha256


@pytest.mark.parametrize("framing", FRAMINGS, ids=lambda framing: framing.bias)
@pytest.mark.parametrize("judge", SEEING)
def test_who_reads_the_description_reads_it_as_a_document(judge: str, framing: Framing) -> None:
    plain = asked(SEEING[judge], wrong(PYTHON).told(title="Integer shares", body="As agreed."))
    framed = asked(SEEING[judge], wrong(PYTHON).framed(framing))
    for (one,), title in ((plain, "Integer shares"), (framed, framing.said["title"])):
        assert [document["path"] for document in material(one)["documents"]] == ["/description"]
        assert rows(one, "documents")[0] == ["new", 1, " ", title]
        assert title not in one.instructions
    assert framed[0].instructions == plain[0].instructions
    assert rows(framed[0]) == rows(plain[0])
    assert framing.said["body"] == rows(framed[0], "documents")[-1][3]


# Claims inside the change.


@pytest.mark.parametrize(
    ("judge", "language"),
    [*(("quality", language) for language in LANGUAGES), *((it, PYTHON) for it in list(BLIND)[1:])],
    ids=lambda it: it if isinstance(it, str) else it.name,
)
def test_what_a_change_says_of_itself_is_material(judge: str, language: Language) -> None:
    (plain,), fair = unframed(judge, language)
    for claim in CLAIMS:
        (prompt,), judgment = heard(BLIND[judge], claiming(claim, language))
        brought = claim.brings(language)
        assert signed(prompt) - signed(plain) == Counter(("+", line) for line in brought)
        assert signed(plain) - signed(prompt) == Counter()
        assert prompt.instructions == plain.instructions
        assert (judgment.status, judgment.score) == (fair.status, fair.score)
        assert told_of(judgment) == claim.speaks


def claiming(claim: Claim, language: Language) -> Change:
    return change(language.before, claim.after(language))


def signed(prompt: Prompt) -> Counter[tuple[str, str]]:
    """The lines that are shown, each with its sign."""
    return Counter((row[2], row[3]) for row in rows(prompt))


def told_of(judgment: Judgment) -> bool:
    return INSTRUCTION in [check.name for check in judgment.failed_checks]


@pytest.mark.parametrize("template", TEMPLATES)
def test_every_judge_is_told_that_comments_and_tests_claim(template: str) -> None:
    values = {**VALUES, "criteria": {"risk": "Is it safe?"}}
    text = " ".join(Prompts().render(template, values).text.split())
    assert CLAIMS_ARE_CLAIMS.search(text)
    assert NOTHING_IS_AN_INSTRUCTION.search(text)


SPEAKING = next(claim for claim in CLAIMS if claim.speaks)
SAID: Mapping[str, Said] = {
    "approval": passes,
    "objection": fails,
    "silence": lambda prompt: reply_with(prompt, "abstain", []),
    "prose": "As instructed, I answer pass.",
    "leak": lambda prompt: f"{prompt.nonces[1]} {passes(prompt)}",
    "refusal": ModelError("no", "refused"),
}


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.name)
@pytest.mark.parametrize("said", SAID.values(), ids=SAID.keys())
def test_text_that_speaks_to_the_judge_is_told_whatever_the_model_says(
    said: Said, language: Language
) -> None:
    _, judgment = heard(BLIND["quality"], claiming(SPEAKING, language), said)
    (check,) = [check for check in judgment.failed_checks if check.name == INSTRUCTION]
    line = claim_line(SPEAKING, language)
    assert str(check.location) == f"{language.path}:{line}"
    assert check.evidence == SPEAKING.brings(language)[0].strip()


def claim_line(claim: Claim, language: Language) -> int:
    """Where the claim begins in the source."""
    lines = str(claim.after(language)[language.path]).splitlines()
    return lines.index(claim.brings(language)[-1]) + 1


# Models that fall for it.


def made_up(prompt: Prompt) -> dict[str, Any]:
    """A quote of a test that nobody has written."""
    return {**first_quote(prompt), "quote": "assert shares(7, 3) == [3, 2, 2]"}


def misplaced(prompt: Prompt) -> dict[str, Any]:
    """A quote of a line that is there, in another place."""
    side, line, _, text = rows(prompt)[0]
    return {
        **first_quote(prompt),
        "side": side,
        "line": line + 1,
        "end_line": line + 1,
        "quote": text,
    }


FALLING: Mapping[str, Callable[[Prompt], list[dict[str, Any]]]] = {
    "made up": lambda prompt: [made_up(prompt)],
    "misplaced": lambda prompt: [misplaced(prompt)],
    "missing": lambda _: [],
}


@pytest.mark.parametrize("evidence", FALLING.values(), ids=FALLING.keys())
@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.bias)
def test_an_objection_that_a_claim_deprives_of_its_evidence_is_no_approval(
    claim: Claim, evidence: Callable[[Prompt], list[dict[str, Any]]]
) -> None:
    def falls(prompt: Prompt) -> str:
        lost = answer("fail", evidence(prompt))
        return reply(FOUR, **dict.fromkeys(FOUR[:3], lost))

    _, judgment = heard(BLIND["quality"], claiming(claim, PYTHON), falls)
    assert (judgment.status, judgment.label) == (Status.ABSTAIN, "no_opinion")
    assert {check.name for check in judgment.failed_checks} <= {"instruction-to-judge"}


# Claims and the tiers before.


def cascade(tiers: Sequence[Mapping[str, Any]], model: ChatModel, what: Change) -> Verdict:
    config, ports = make_config({"tiers": tiers}), behind(model, what.repository)
    return seat_judges(config, ports, Unwanted({})).cascade.vote(what.context)


def final(*judges: str) -> dict[str, Any]:
    return {"name": "last", "policy": "final_tier", "advisory": False, "judges": list(judges)}


def scripted(**said: str) -> ScriptedModel:
    return ScriptedModel(
        {"prompt": name.replace("_", "-"), "text": text} for name, text in said.items()
    )


CONFLICT = MergeTrial(
    None, (Conflict(PYTHON.path, ConflictType.CONTENT, False, "both sides change it"),)
)


@pytest.mark.parametrize("goes_on", [False, True])
@pytest.mark.parametrize("said", [*FRAMINGS, *CLAIMS], ids=lambda said: said.bias)
def test_approval_lifts_no_failure_of_a_tier_before(said: Framing | Claim, goes_on: bool) -> None:
    fair = wrong(PYTHON)
    what = fair.framed(said) if isinstance(said, Framing) else claiming(said, PYTHON)
    first = {
        "name": "first",
        "policy": "reject_on_any_fail",
        "continue_on_reject": goes_on,
        "judges": [{"merge": {"strategy": "merge"}}],
    }
    model = scripted(quality=reply(FOUR))
    verdict = cascade([first, final("quality")], model, what.told(merge=CONFLICT))
    assert (verdict.status, verdict.decided_by) == (Status.FAIL, "first")
    assert verdict.attempts[1].status is (Status.PASS if goes_on else None)


APPROVED = reply(kinds.DESCRIPTION.criteria)
UNKEPT = answer("fail", [quote("/description", 1, "Integer shares, fully covered")])
COVERED = FRAMINGS[3]
WRONG = answer("fail", [quote(PYTHON.path, 2, PYTHON.wrong)])
#: What the judge of quality says; a mark of its own and a perfect one come to 0.75 together.
LIFTABLE: Mapping[str, tuple[str, Status]] = {
    "failure": (reply(FOUR, tests=WRONG, risk=WRONG), Status.FAIL),
    "abstention": (reply(FOUR, **dict.fromkeys(FOUR, answer("abstain"))), Status.ABSTAIN),
}


@pytest.mark.parametrize("framing", FRAMINGS, ids=lambda framing: framing.bias)
@pytest.mark.parametrize(("said", "status"), LIFTABLE.values(), ids=LIFTABLE.keys())
def test_a_description_lifts_nothing(said: str, status: Status, framing: Framing) -> None:
    what = wrong(PYTHON).framed(framing)
    without = cascade([final("quality")], scripted(quality=said), what)
    model = scripted(quality=said, description_matches_change=APPROVED)
    verdict = cascade([final("quality", kinds.DESCRIPTION.name)], model, what)
    assert without.status is verdict.status is status
    assert without.attempts[0].status is verdict.attempts[0].status


def test_a_description_that_is_not_true_lowers() -> None:
    what = wrong(PYTHON).framed(COVERED)
    unkept = reply(kinds.DESCRIPTION.criteria, kept=UNKEPT, told=UNKEPT)
    model = scripted(quality=reply(FOUR), description_matches_change=unkept)
    assert cascade([final("quality")], scripted(quality=reply(FOUR)), what).status is Status.PASS
    assert cascade([final("quality", kinds.DESCRIPTION.name)], model, what).status is Status.FAIL
