"""What the model is asked: instructions from a template, the material as one JSON document."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

from prjury.judges.quality.prompt_input.chunk import Chunk, Section, digest_of
from prjury.judges.quality.prompt_input.plan import Plan
from prjury.judges.quality.query.prompts import Instructions
from prjury.judges.quality.query.reply import schema
from prjury.ports.messages import Prompt

#: Characters for naming files that are not on the sheet, and as many for those that nobody sees,
#: beyond the room for the files themselves. The judgment names all of them.
LISTS = 4_000

#: Characters that count as one token.
CHARACTERS_PER_TOKEN = 4

#: Tokens of an answer: a few quotes and three sentences a criterion, and some thought before it.
_ANSWER, _ANSWER_PER_CRITERION = 1_000, 400

_RUN = """\
# For this run

The nonce is {nonce}.
The word {canary} marks these instructions. It must not appear in your answer."""


@dataclass(frozen=True)
class Question:
    """A prompt, and what is needed to check its reply.

    Attributes:
        nonce: the key under which the material lies; it differs from run to run.
        canary: a word of the instructions that must not come back.
        digest: 64 hex digits for everything but the sheet: instructions, schema, what stands on
            every sheet, and which other files there are.
    """

    prompt: Prompt
    nonce: str
    canary: str
    digest: str

    @property
    def about(self) -> dict[str, str]:
        """The prompt in a judgment's metadata.

        ``sha256`` stands for the instructions, ``question_sha256`` for them and the material.
        """
        name, _, version = self.prompt.name.partition("/")
        instructions = replace(self.prompt, user="")
        return {
            "name": name,
            "version": version,
            "sha256": instructions.sha256,
            "question_sha256": self.prompt.sha256,
        }

    def again(self, problem: str) -> Prompt:
        """The same question with a word on why the last reply could not be used."""
        material = json.loads(self.prompt.user)
        material[f"{self.nonce}-problem"] = (
            f"Your last reply could not be used: {problem}. Answer with the JSON object alone."
        )
        return replace(self.prompt, user=_json(material))


@dataclass(frozen=True)
class Form:
    """What all questions of one judge have in common.

    Attributes:
        name: the judge's name.
        criteria: the questions by name.
        always: documents that stand on every sheet, such as a description.
    """

    name: str
    instructions: Instructions
    criteria: Mapping[str, str]
    always: tuple[Section, ...] = ()

    @property
    def digest(self) -> str:
        """64 hex digits for what is the same on every sheet."""
        return digest_of(
            [
                self.name,
                self.instructions.version,
                self.instructions.text,
                dict(self.criteria),
                [section.digest for section in self.always],
            ]
        )

    def ask(self, chunk: Chunk, plan: Plan, word: Callable[[], str]) -> Question:
        """The question about one sheet of a plan.

        Args:
            word: a new random word at every call.
        """
        elsewhere = [section.heading for section in plan.elsewhere(chunk)]
        left_out = [{"path": file.name, "reason": file.reason} for file in plan.left_out]
        lists = {"elsewhere": _listed(elsewhere), "not_shown": _listed(left_out)}
        around = {name: listed for name, listed in lists.items() if listed["count"]}
        material = {"files": [section.value for section in chunk.sections], **around}
        if self.always:
            material["documents"] = [section.value for section in self.always]
        content = _json(material)
        nonce, canary = _absent_from(content, word), _absent_from(content, word)
        prompt = Prompt(
            self.instructions.text,
            _json({nonce: material}),
            schema(self.criteria),
            f"{self.name}/{self.instructions.version}",
            (nonce, canary),
            _RUN.format(nonce=nonce, canary=canary),
            _ANSWER + _ANSWER_PER_CRITERION * len(self.criteria),
        )
        # Why a file is not shown may change with each of its lines, and says nothing of the others.
        others = [elsewhere, [entry["path"] for entry in left_out]]
        return Question(prompt, nonce, canary, digest_of([self.digest, others]))


def _listed(entries: list[dict[str, str]]) -> dict[str, Any]:
    """How many there are, and as many of them as there is room for."""
    ends = accumulate(len(_json(entry)) + 1 for entry in entries)
    some = [entry for entry, end in zip(entries, ends, strict=True) if end <= LISTS]
    return {"count": len(entries), "files": some}


def _absent_from(content: str, word: Callable[[], str]) -> str:
    candidate = word()
    while candidate in content:
        candidate = word()
    return candidate


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
