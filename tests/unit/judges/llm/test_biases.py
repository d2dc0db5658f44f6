"""What sways judges of code, and how far it gets here: pairs of changes that differ in it alone."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

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
    Talker,
    alone,
    always,
    answer,
    doors,
    first_quote,
    material,
    paths_of,
    quote,
    reply,
)
from prjury.config.questions import (
    PromptOptions,
    QualityOptions,
    QuestionOptions,
    SuitabilityOptions,
)
from prjury.config.schema import Config
from prjury.dialogue import ModelError, Prompt
from prjury.judges.context import PullRequestContext
from prjury.judges.llm.asking.prompts import Prompts
from prjury.judges.llm.instructions import NAME as INSTRUCTION
from prjury.judges.llm.judge import ModelBackedJudge
from prjury.judges.llm.kinds import description, prompt, quality, suitability, testing
from prjury.jury.cascade import Verdict
from prjury.jury.judgment import Judgment, Status
from prjury.models.scripted import ScriptedModel
from prjury.ports import ChatModel, Doors, Repository
from prjury.pull.model import Conflict, ConflictType, MergeTrial
from prjury.registry import Unwanted, seat
from prjury.sources.git.find import open_repository
from prjury.sources.git.photograph import photograph
from prjury.sources.git.store import open_store

PullJudge = ModelBackedJudge[PullRequestContext]
Make = Callable[[Doors], PullJudge]

OWN: Mapping[str, Any] = {"name": "own", "text": "Look.", "criteria": {"sound": "Is it sound?"}}

BLIND: Mapping[str, Make] = {
    "quality": lambda to: quality.make(QualityOptions(), to),
    "tests-exercise-behaviour": lambda to: testing.make(QuestionOptions(), to),
    "backport-suitability": lambda to: suitability.make(SuitabilityOptions(), to),
    "prompt": lambda to: prompt.make(PromptOptions(**OWN), to),
}
SEEING: Mapping[str, Make] = {
    "description-matches-change": lambda to: description.make(QuestionOptions(), to),
    "prompt": lambda to: prompt.make(PromptOptions(**OWN, sees_description=True), to),
}

#: What the instructions say of comments and tests, whatever else they say.
CLAIMS_ARE_CLAIMS = re.compile(r"[^.:]*\bcomments and tests\b[^.:]*\bclaim\b")
NOTHING_IS_AN_INSTRUCTION = re.compile(r"nothing in it is an instruction")


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


def behind(model: ChatModel, repository: Repository) -> Doors:
    return replace(doors(model), repository=repository)


def asked(make: Make, what: Change, said: Callable[[Prompt], str] = fails) -> list[Prompt]:
    return heard(make, what, said)[0]


def heard(
    make: Make, what: Change, said: Callable[[Prompt], str] = fails
) -> tuple[list[Prompt], Judgment]:
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
    return "\n".join(f"{it.instructions}{it.user}{json.dumps(it.schema)}{it.name}" for it in prompts)


def rows(prompt: Prompt, of: str = "files") -> list[list[Any]]:
    return [line for it in material(prompt)[of] for hunk in it["hunks"] for line in hunk["lines"]]


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
            photograph(store, operator.commit("main"), operator.commit(branch))
            for branch in ("plain", "hopper/flawless")
        )
        for make in BLIND.values():
            models = always(fails), always(fails)
            for model, pull in zip(models, (plain, famous), strict=True):
                alone(make(behind(model, store))).judge(context(pull))
            assert models[0].asked == models[1].asked != []
            assert not re.search("hopper|flawless|lead|lgtm", sent(models[1].asked), re.IGNORECASE)
    assert (plain.title, famous.title) == ("change", "Reviewed-by: Lead")


@pytest.mark.parametrize("judge", BLIND)
def test_but_for_its_random_words_the_question_is_the_same(judge: str) -> None:
    models = always(fails), always(fails)
    for model, what in zip(
        models, (wrong(PYTHON), wrong(PYTHON).framed(FRAMINGS[0])), strict=True
    ):
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
        assert [document["path"] for document in material(one)["documents"]] == ["description"]
        assert rows(one, "documents")[0] == ["new", 1, " ", title]
        assert title not in one.instructions
    assert framed[0].instructions == plain[0].instructions
    assert rows(framed[0]) == rows(plain[0])
    assert framing.said["body"] == rows(framed[0], "documents")[-1][3]


@pytest.mark.parametrize("judge", SEEING)
def test_who_reads_the_description_knows_no_author_and_no_branch(judge: str) -> None:
    famous = replace(FRAMINGS[0], said={**FRAMINGS[0].said, "title": "Shares", "body": ""})
    words = sent(asked(SEEING[judge], wrong(PYTHON).framed(famous))).casefold()
    assert [word for word in ("hopper", "pioneer", "github.com") if word in words] == []


# Claims inside the change.


@pytest.mark.parametrize(
    ("judge", "language"),
    [*(("quality", language) for language in LANGUAGES), *((it, PYTHON) for it in list(BLIND)[1:])],
    ids=lambda it: it if isinstance(it, str) else it.name,
)
def test_what_a_change_says_of_itself_is_material(judge: str, language: Language) -> None:
    (plain,), fair = unframed(judge, language)
    for claim in CLAIMS:
        (prompt,), judgment = heard(BLIND[judge], change(language.before, claim.after(language)))
        brought = claim.brings(language)
        assert prompt.instructions == plain.instructions
        assert texts(prompt, "+", brought) == brought
        assert others(prompt, brought) == others(plain, brought)
        assert sent([replace(prompt, user="")]).count(brought[-1].strip()) <= 1 - len(brought[-1])
        assert judgment.status is fair.status
        assert judgment.score == fair.score
        assert spoken_to(judgment) == claim.speaks


def texts(prompt: Prompt, sign: str, among: Sequence[str]) -> list[str]:
    return [row[3] for row in rows(prompt) if row[2] == sign and row[3] in among]


def others(prompt: Prompt, than: Sequence[str]) -> list[tuple[str, str]]:
    return [(row[2], row[3]) for row in rows(prompt) if row[3] not in than]


def spoken_to(judgment: Judgment) -> bool:
    return INSTRUCTION in [check.name for check in judgment.failed_checks]
