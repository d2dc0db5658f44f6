"""Every shipped prompt as a model gets it. ``PRJURY_UPDATE_GOLDEN=1`` writes them anew.

The instructions of a version are never changed: `versions.json` knows them by their digest.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fakes.llm import (
    Talker,
    alone,
    always,
    answer,
    changed,
    context,
    first_quote,
    ports,
    reply,
    words,
)
from prjury.judges.context import PullRequestContext
from prjury.judges.quality.judge import Inquiry, ModelBackedJudge
from prjury.judges.quality.kinds import (
    RagContext,
    make_description,
    make_goal_inquiry,
    make_prompt_judge,
    make_quality,
    make_rag_inquiry,
    make_suitability,
    make_tests,
)
from prjury.jury.context import JudgmentContext
from prjury.policy.tiers import PromptOptions, QualityOptions, QuestionOptions, SuitabilityOptions
from prjury.ports import Panel, Ports
from prjury.ports.messages import Prompt
from prjury.ports.types import LinkedIssue
from prjury.resources import templates
from prjury.snapshot.model import FileChange

GOLDEN = Path(__file__).resolve().parents[3] / "golden" / "prompts"
VERSIONS = GOLDEN / "versions.json"
UPDATE = bool(os.environ.get("PRJURY_UPDATE_GOLDEN"))

#: A change of which a prompt has room for the source and its test, and not for the configuration.
FILES = (
    changed(
        "src/shares.py",
        " def shares(total, people):",
        "-    return [total / people] * people",
        "+    portion = total // people",
        "+    # The first one gets the remainder.",
        "+    return [portion] * people",
        start=4,
    ),
    changed("tests/test_shares.py", "+def test_shares():", "+    assert shares(6, 3) == [2, 2, 2]"),
    changed("pyproject.toml", "+keywords = [" + '"money", ' * 125 + "]"),
    changed("uv.lock", "+version = 1"),
)
ROOM = 400

#: Characters of JSON that stand on one line of a page.
WIDTH = 110

GUIDELINES = {".github/prjury/guidelines.md": "- Every public function has a docstring.\n"}
OWN: Mapping[str, Any] = {
    "name": "money",
    "text": "This package divides money. Nobody may lose a cent.",
    "criteria": {"exact": "Do the parts add up to the whole?"},
}


def of_change(make: Callable[[Ports], ModelBackedJudge[PullRequestContext]]) -> Prompt:
    """The first question that a judge of pull requests asks."""
    model = always(passes, room=ROOM)
    told = context(*FILES, title="Integer shares", body="Fixes #12. Nobody loses a cent any more.")
    told = replace(told, read_issues=lambda: (LinkedIssue(12, "Shares have fractions"),))
    alone(make(ports(model, files=GUIDELINES))).judge(told)
    return model.asked[0]


def of_work(inquiry: Inquiry[JudgmentContext], **more: Any) -> Prompt:
    """The first question that a judge of an agent's work asks; the chair's, where there is one."""
    model = always(fails)
    panel = Panel((model, always(passes)) if "chair" in more else (model,), **more)
    asked = JudgmentContext("Divide without fractions.", agent_output="Done, and tested.")
    ModelBackedJudge(inquiry, panel, word=words(), parallel=False).judge(asked)
    chair = more.get("chair", model)
    assert isinstance(chair, Talker)
    return chair.asked[0]


def confirmation() -> Prompt:
    """The second question, about a finding of the first one."""
    model = always(lambda prompt: fails(prompt) if len(model.asked) == 1 else passes(prompt))
    to = ports(model, confirm=True)
    alone(make_quality(QualityOptions(guidelines=False), to)).judge(context(*FILES[:2]))
    return model.asked[1]


def passes(prompt: Prompt) -> str:
    return says(prompt, {**answer(), "reasoning": "Nothing speaks against it."})


def fails(prompt: Prompt) -> str:
    why = "Of 7 for 3 people one is lost; see the first line."
    return says(prompt, {**answer("fail", [first_quote(prompt)]), "reasoning": why})


def says(prompt: Prompt, said: Mapping[str, Any]) -> str:
    """The same answer to every question."""
    names = prompt.schema["properties"]["criteria"]["required"]
    return reply(names, **dict.fromkeys(names, said))


def work(_: JudgmentContext) -> tuple[FileChange, ...]:
    return FILES[:2]


RAG = RagContext(
    "Since when are shares integers?",
    "Shares are integers. They are since 2021.",
    {"notes.md": "Shares are integers.", "history.md": "The package is from 2019."},
)


PROMPTS: Mapping[str, Callable[[], Prompt]] = {
    "quality": lambda: of_change(lambda to: make_quality(QualityOptions(guidelines=False), to)),
    "quality-with-guidelines": lambda: of_change(lambda to: make_quality(QualityOptions(), to)),
    "tests-exercise-behaviour": lambda: of_change(lambda to: make_tests(QuestionOptions(), to)),
    "description-matches-change": lambda: of_change(
        lambda to: make_description(QuestionOptions(), to)
    ),
    "backport-suitability": lambda: of_change(
        lambda to: make_suitability(SuitabilityOptions(), to)
    ),
    "prompt": lambda: of_change(lambda to: make_prompt_judge(PromptOptions(**OWN), to)),
    "prompt-with-description": lambda: of_change(
        lambda to: make_prompt_judge(PromptOptions(**OWN, sees_description=True), to)
    ),
    "correctness": lambda: of_work(make_goal_inquiry(work, str)),
    "correctness-of-output": lambda: of_work(make_goal_inquiry(None, str)),
    "faithfulness": lambda: of_work(make_rag_inquiry("faithfulness", RAG, str)),
    "hallucination": lambda: of_work(make_rag_inquiry("hallucination", RAG, str)),
    "contextual-relevance": lambda: of_work(make_rag_inquiry("contextual-relevance", RAG, str)),
    "confirm": confirmation,
    "chair": lambda: of_work(make_goal_inquiry(work, str), chair=always(passes)),
}

#: The template of a prompt that is not called like it.
TEMPLATES = {
    "quality-with-guidelines": "quality",
    "tests-exercise-behaviour": "tests",
    "description-matches-change": "description",
    "backport-suitability": "suitability",
    "prompt-with-description": "prompt",
    "contextual-relevance": "relevance",
    "correctness-of-output": "output",
}

#: Who judges part by part: what another part says changes nothing.
PART_BY_PART = {"chair", "faithfulness", "hallucination"}


@pytest.mark.parametrize("name", PROMPTS)
def test_the_prompt_reads_as_agreed(name: str) -> None:
    file, text = GOLDEN / f"{name}.md", page(PROMPTS[name]())
    if UPDATE:
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


def test_every_shipped_template_is_here() -> None:
    names = {file.name for file in (templates() / "prompts").iterdir()}
    goals = {"agent.md.j2", "audit.md.j2", "repair.md.j2"}
    shipped = names - {"judge.md.j2", "_notes.md.j2"} - goals
    assert {f"{TEMPLATES.get(name, name)}.md.j2" for name in PROMPTS} == shipped
    assert {file.stem for file in GOLDEN.glob("*.md")} == set(PROMPTS)


def problem(known: Mapping[str, str], name: str, version: str, digest: str) -> str:
    """What to do about instructions that are not those of their version; empty where they are.

    Args:
        known: digests by version.
    """
    if known.get(version) == digest:
        return ""
    update = "run this test with PRJURY_UPDATE_GOLDEN=1 and read what has changed"
    if version not in known:
        return f"version {version} of the prompt {name} is new: {update}"
    template = f"templates/prompts/{TEMPLATES.get(name, name)}.md.j2"
    return (
        f"the instructions of {name} have changed and are still version {version}: raise `version` "
        f"in {template}, then {update}; of a version that was never released, remove the digest "
        f"from {VERSIONS.name} instead"
    )


def test_a_changed_text_and_a_new_version_are_told_apart() -> None:
    known = {"1": "one", "2": "two"}
    assert problem(known, "tests-exercise-behaviour", "2", "two") == ""
    assert "version 3 of the prompt chair is new" in problem(known, "chair", "3", "three")
    for digest in ("one", "three"):
        told = problem(known, "quality-with-guidelines", "2", digest)
        assert "still version 2: raise `version` in templates/prompts/quality.md.j2" in told


@pytest.mark.parametrize("name", sorted(PROMPTS.keys() - PART_BY_PART - {"confirm"}))
def test_who_sees_a_part_abstains_where_the_rest_decides(name: str) -> None:
    (told,) = re.findall(r"^- `elsewhere`: (?:.+\n  )*.+", PROMPTS[name]().system, re.MULTILINE)
    assert "abstain" in told


def page(asked: Prompt) -> str:
    """The prompt as a page: prose as prose, JSON with its rows on a line each."""
    parts = {
        "instructions": asked.system,
        "for this run": asked.run,
        "material": fenced(json.loads(asked.user)),
        "schema of the answer": fenced(asked.schema),
    }
    told = (f"<!-- {asked.name}: {title} -->\n\n{text}\n" for title, text in parts.items())
    return "\n".join(told)


def fenced(value: object) -> str:
    return f"```json\n{pretty(value)}\n```"


def pretty(value: object, indent: str = "") -> str:
    """JSON as people write it: what fits on a line stands on one."""
    line, inner = json.dumps(value, ensure_ascii=False), f"{indent}  "
    if len(line) <= WIDTH or not isinstance(value, Mapping | list):
        return line
    if isinstance(value, Mapping):
        items = [f"{json.dumps(key)}: {pretty(it, inner)}" for key, it in value.items()]
    else:
        items = [pretty(it, inner) for it in value]
    left, right = "{}" if isinstance(value, Mapping) else "[]"
    return "\n".join([left, ",\n".join(f"{inner}{item}" for item in items), indent + right])
