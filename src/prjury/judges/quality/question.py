"""What the model is asked: instructions from a template, the material as one JSON document."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from prjury.judges.quality.prompt_input import Chunk, Fact, Plan, Section, digest_of, sizes
from prjury.judges.quality.prompts import Instructions
from prjury.ports.messages import Prompt

#: Bytes; a longer reply is not read.
LONGEST_REPLY = 64 * 1024

_FENCE = re.compile(r"```(?:json)?[ \t]*\n(.*)\n```", re.DOTALL | re.IGNORECASE)
#: Words of the model in a message of the decoder's.
_FOREIGN = re.compile(r"(unknown field|enum value) (.*(?= - at )|.*)", re.DOTALL)
#: Keys whose values may be written in capitals.
_CHOICES = frozenset({"severity", "verdict"})


class InvalidReplyError(ValueError):
    """The reply is not what was asked for; the text says why without repeating the reply."""


class ReportedFinding(Struct, frozen=True, forbid_unknown_fields=True):
    """A claim about a place (lines from 1), and what is said to stand there."""

    path: str
    side: Literal["new", "old"]
    line: Annotated[int, Meta(ge=1, le=10_000_000)]
    end_line: Annotated[int, Meta(ge=1, le=10_000_000)]
    quote: str
    claim: str
    severity: Literal["error", "warning"]
    category: str
    suggestion: str

    def covers(self, number: int | None) -> bool:
        """Tell whether a line of this number is among its lines."""
        return self.line <= (number or 0) <= self.end_line


class Answer(Struct, frozen=True, forbid_unknown_fields=True):
    """The answer to one criterion's question; its confidence is in 0..1."""

    findings: Annotated[list[ReportedFinding], Meta(max_length=50)]
    reasoning: str
    verdict: Literal["pass", "fail", "abstain"]
    confidence: Annotated[float, Meta(ge=0.0, le=1.0)]


class _Document(Struct, frozen=True, forbid_unknown_fields=True):
    criteria: dict[str, Answer]


def answer_schema(criteria: Iterable[str]) -> dict[str, Any]:
    """Return the JSON Schema of a reply about these criteria: every key required, none besides."""
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


def read_answers(text: str, criteria: Iterable[str]) -> Mapping[str, Answer]:
    """Read the answers by criterion, in the order of the criteria."""
    if len(text.encode(errors="replace")) > LONGEST_REPLY:
        raise InvalidReplyError(f"it is longer than {LONGEST_REPLY} bytes")
    bare = text.strip()
    fenced = _FENCE.fullmatch(bare)
    try:
        value = json.loads(fenced[1] if fenced else bare, object_pairs_hook=_read_object)
        answers = msgspec.convert(value, _Document).criteria
    except InvalidReplyError:
        raise
    except msgspec.ValidationError as error:
        raise InvalidReplyError(_FOREIGN.sub(r"\1", str(error))) from None
    except (ValueError, RecursionError):
        raise InvalidReplyError("it is not one JSON value and nothing else") from None
    expected = list(criteria)
    if missing := [name for name in expected if name not in answers]:
        raise InvalidReplyError(f"there is no answer for {', '.join(missing)}")
    if len(answers) > len(expected):
        raise InvalidReplyError("there are answers to criteria that were not asked for")
    return {name: answers[name] for name in expected}


def _read_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise InvalidReplyError("an object has the same key twice")
    for name in value.keys() & _CHOICES:
        if isinstance(value[name], str):
            value[name] = value[name].lower()
    return value


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


class Question(Struct, frozen=True):
    """A prompt, and what is needed to check its reply.

    Attributes:
        nonce: the key under which the material lies; it differs from run to run.
        canary: a word of the instructions that must not come back.
        digest: 64 hex digits for everything but the chunk.
    """

    prompt: Prompt
    nonce: str
    canary: str
    digest: str
    form: Form
    chunk: Chunk

    @property
    def shown(self) -> Chunk:
        """The chunk, and what stands beside every chunk."""
        return Chunk((*self.chunk.sections, *self.form.always))

    @property
    def about(self) -> dict[str, str]:
        """The prompt in a judgment's metadata."""
        name, _, version = self.prompt.name.partition("/")
        return {
            "name": name,
            "version": version,
            "sha256": replace(self.prompt, user="").sha256,
            "question_sha256": self.prompt.sha256,
        }

    def with_problem(self, problem: str) -> Prompt:
        """Return the same question with a word on why the last reply could not be used."""
        material = json.loads(self.prompt.user)
        material[f"{self.nonce}-problem"] = (
            f"Your last reply could not be used: {problem}. Answer with the JSON object alone."
        )
        return replace(self.prompt, user=_write_json(material))


class Form(Struct, frozen=True):
    """What all questions of one judge have in common; documents can be quoted, facts cannot."""

    name: str
    instructions: Instructions
    criteria: Mapping[str, str]
    always: tuple[Section, ...] = ()
    facts: tuple[Fact, ...] = ()
    documents_first: bool = False

    @property
    def size(self) -> int:
        """Characters of what stands on every chunk."""
        return sizes(self.always) + sum(len(_write_json(fact.text)) + 1 for fact in self.facts)

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
        """Return the question about one chunk of a plan; ``word`` makes a new random word."""
        elsewhere = [section.heading for section in plan.list_other_files(chunk)]
        left_out = [{"path": file.name, "reason": file.reason} for file in plan.left_out]
        lists = {"elsewhere": _list_entries(elsewhere), "not_shown": _list_entries(left_out)}
        around = {name: entries for name, entries in lists.items() if entries["count"]}
        material = {"files": [section.value for section in chunk.sections], **around}
        if self.always:
            material["documents"] = [section.value for section in self.always]
        if self.facts:
            material["facts"] = [fact.text for fact in self.facts]
        if self.documents_first:
            material = {"documents": material.pop("documents"), **material}
        content = _write_json(material)
        nonce, canary = _make_word(content, word), _make_word(content, word)
        prompt = Prompt(
            self.instructions.text,
            _write_json({nonce: material}),
            answer_schema(self.criteria),
            f"{self.name}/{self.instructions.version}",
            (nonce, canary),
            _RUN.format(nonce=nonce, canary=canary),
            _ANSWER + _ANSWER_PER_CRITERION * len(self.criteria),
        )
        # Why a file is not shown may change with each of its lines, and says nothing of the others.
        others = [elsewhere, [entry["path"] for entry in left_out]]
        digest = digest_of([self.digest, others])
        return Question(prompt, nonce, canary, digest, self, chunk)


def _list_entries(entries: list[dict[str, str]]) -> dict[str, Any]:
    some, size = [], 0
    for entry in entries:
        size += len(_write_json(entry)) + 1
        if size <= LISTS:
            some.append(entry)
    return {"count": len(entries), "files": some}


def _make_word(content: str, word: Callable[[], str]) -> str:
    """Return a word that does not occur in a text."""
    candidate = word()
    while candidate in content:
        candidate = word()
    return candidate


def _write_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
