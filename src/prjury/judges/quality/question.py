"""What the model is asked: instructions from a template, the material as one JSON document."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import Annotated, Any, Literal

from msgspec.structs import replace
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from prjury.judges.quality.facts import Fact
from prjury.judges.quality.prompt_input import Chunk, Plan, Section, digest_of, sizes
from prjury.judges.quality.prompts import Instructions
from prjury.ports.messages import Prompt

#: Bytes; a longer reply is not read.
LONGEST_REPLY = 64 * 1024

_KEYS = frozenset(
    "criteria findings reasoning verdict confidence path side line end_line quote claim severity "
    "category suggestion".split()
)
_FENCE = re.compile(r"```(?:json)?[ \t]*\n(.*)\n```", re.DOTALL | re.IGNORECASE)


class InvalidReplyError(ValueError):
    """The reply is not what was asked for; the text says why without repeating the reply."""


def _lower(value: object) -> object:
    return value.lower() if isinstance(value, str) else value


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, defer_build=True)


class ReportedFinding(_Strict):
    """A claim about a place, and what is said to stand there.

    Attributes:
        line: the first line, from 1; ``end_line`` is the last one.
        claim: what goes wrong there, in which situation.
        suggestion: what would be right; may be empty.
    """

    path: str
    side: Literal["new", "old"]
    line: int = Field(ge=1, le=10_000_000)
    end_line: int = Field(ge=1, le=10_000_000)
    quote: str
    claim: str
    severity: Annotated[Literal["error", "warning"], BeforeValidator(_lower)]
    category: str
    suggestion: str


class Answer(_Strict):
    """The answer to one criterion's question."""

    findings: list[ReportedFinding] = Field(max_length=50)
    reasoning: str
    verdict: Annotated[Literal["pass", "fail", "abstain"], BeforeValidator(_lower)]
    confidence: float = Field(ge=0.0, le=1.0, allow_inf_nan=False)


class _Document(_Strict):
    criteria: dict[str, Answer]


def schema(criteria: Iterable[str]) -> dict[str, Any]:
    """The JSON Schema of a reply about these criteria: every key required, none besides."""
    text = {"type": "string"}
    finding = _object(
        path=text,
        side={"type": "string", "enum": ["new", "old"]},
        line={"type": "integer"},
        end_line={"type": "integer"},
        quote=text,
        claim=text,
        severity={"type": "string", "enum": ["error", "warning"]},
        category=text,
        suggestion=text,
    )
    answer = _object(
        findings={"type": "array", "items": finding},
        reasoning={"type": "string"},
        verdict={"type": "string", "enum": ["pass", "fail", "abstain"]},
        confidence={"type": "number"},
    )
    return _object(criteria=_object(**dict.fromkeys(criteria, answer)))


def _object(**properties: object) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def read(text: str, criteria: Iterable[str]) -> Mapping[str, Answer]:
    """The answers by criterion, in the order of the criteria.

    Raises:
        InvalidReplyError: for anything but one JSON object of the expected shape.
    """
    try:
        document = _Document.model_validate(_load(text))
    except ValidationError as error:
        raise InvalidReplyError(_describe_error(error, {*_KEYS, *criteria})) from None
    expected = list(criteria)
    missing = [name for name in expected if name not in document.criteria]
    if missing:
        raise InvalidReplyError(f"there is no answer for {', '.join(missing)}")
    if len(document.criteria) > len(expected):
        raise InvalidReplyError("there are answers to criteria that were not asked for")
    return {name: document.criteria[name] for name in expected}


def _load(text: str) -> object:
    if len(text.encode(errors="replace")) > LONGEST_REPLY:
        raise InvalidReplyError(f"it is longer than {LONGEST_REPLY} bytes")
    bare = text.strip()
    fenced = _FENCE.fullmatch(bare)
    try:
        return json.loads(
            fenced[1] if fenced else bare,
            object_pairs_hook=_distinct,
            parse_constant=_not_a_number,
            parse_float=_finite,
        )
    except InvalidReplyError:
        raise
    except (ValueError, RecursionError):
        raise InvalidReplyError("it is not one JSON value and nothing else") from None


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise InvalidReplyError("an object has the same key twice")
    return value


def _not_a_number(name: str) -> float:
    raise InvalidReplyError(f"{name} is not a JSON number")


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise InvalidReplyError("a number is out of range")
    return value


def _describe_error(error: ValidationError, known: Collection[str]) -> str:
    """The first thing that is wrong; keys are cut short, because the model chose them."""
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    # Keys that the model chose are not repeated in the message.
    place = ".".join(str(p) if isinstance(p, int) or p in known else "…" for p in first["loc"])
    return f"{place or 'the whole'}: {first['msg']}"


#: Characters for naming files that are not on the chunk, and as many for those that nobody sees,
#: beyond the room for the files themselves. The judgment names all of them.
LISTS = 4_000

#: Characters that count as one token.
CHARACTERS_PER_TOKEN = 4

#: Tokens of an answer: a few findings and three sentences a criterion, and some thought before it.
_ANSWER, _ANSWER_PER_CRITERION = 1_000, 600

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
        digest: 64 hex digits for everything but the chunk: instructions, schema, what stands on
            every chunk, and which other files there are.
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
        always: documents that stand on every chunk, such as a description.
        facts: what programs know, which stands on every chunk and cannot be quoted.
        documents_first: whether the documents stand before the files.
    """

    name: str
    instructions: Instructions
    criteria: Mapping[str, str]
    always: tuple[Section, ...] = ()
    facts: tuple[Fact, ...] = ()
    documents_first: bool = False

    @property
    def size(self) -> int:
        """Characters of what stands on every chunk."""
        return sizes(self.always) + sum(len(_json(fact.text)) + 1 for fact in self.facts)

    @property
    def digest(self) -> str:
        """64 hex digits for what is the same on every chunk."""
        return digest_of(
            [
                self.name,
                self.instructions.version,
                self.instructions.text,
                dict(self.criteria),
                [section.digest for section in self.always],
                [fact.key for fact in self.facts],
            ]
        )

    def ask(self, chunk: Chunk, plan: Plan, word: Callable[[], str]) -> Question:
        """The question about one chunk of a plan.

        Args:
            word: a new random word at every call.
        """
        elsewhere = [section.heading for section in plan.elsewhere(chunk)]
        left_out = [{"path": file.name, "reason": file.reason} for file in plan.left_out]
        lists = {"elsewhere": _list_entries(elsewhere), "not_shown": _list_entries(left_out)}
        around = {name: listed for name, listed in lists.items() if listed["count"]}
        material = {"files": [section.value for section in chunk.sections], **around}
        if self.always:
            material["documents"] = [section.value for section in self.always]
        if self.facts:
            material["facts"] = [fact.text for fact in self.facts]
        if self.documents_first:
            material = {"documents": material.pop("documents"), **material}
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


def _list_entries(entries: list[dict[str, str]]) -> dict[str, Any]:
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
