"""What passes between a judge and a model: a prompt, a reply, or the reason why there is none."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

from msgspec import Meta, Struct

from prjury.errors import CannotJudgeError

#: Bytes of text that are taken for one token where nobody has counted them.
_BYTES_PER_TOKEN = 4


def tokens_of(text: str) -> int:
    """About how many tokens a text has, where nobody has counted them: one for four bytes."""
    return -(-len(text.encode(errors="replace")) // _BYTES_PER_TOKEN)


#: What stands before a schema in words.
SHAPE = "Answer with one JSON object that follows this JSON Schema:"


class Prompt(Struct, frozen=True):
    """What a model is asked: instructions (``system``, the same in every call), material, a schema.

    ``run`` is the part of the instructions that differs from run to run, ``nonces`` random words in
    the texts; ``answer_tokens`` is about how long an answer gets, what a model thinks among it.
    """

    system: str
    user: str
    schema: Mapping[str, Any]
    name: str
    nonces: tuple[str, ...] = ()
    run: str = ""
    answer_tokens: int = 4_000

    @property
    def tokens(self) -> int:
        """About how many tokens are sent, the schema among them."""
        texts = (self.instructions, self.user, json.dumps(dict(self.schema)))
        return tokens_of("".join(texts))

    @property
    def instructions(self) -> str:
        """All that is not material."""
        return f"{self.system}\n\n{self.run}" if self.run else self.system

    @property
    def text(self) -> str:
        """All of it as one text, for those that take nothing else; the schema in words."""
        shape = f"{SHAPE} {json.dumps(dict(self.schema), ensure_ascii=False)}"
        parts = (self.instructions, shape if self.schema else "", self.user)
        return "\n\n".join(filter(None, parts)) + "\n"

    @property
    def size(self) -> int:
        """Characters that are sent, the schema in words not counted."""
        return len(self.instructions) + len(self.user)

    @property
    def sha256(self) -> str:
        """64 hex digits that are the same for the same question, whatever its nonces are."""
        texts = [self.name, self.instructions, self.user, self.schema]
        text = json.dumps(texts, sort_keys=True)
        for nonce in self.nonces:
            text = text.replace(nonce, "")
        return hashlib.sha256(text.encode()).hexdigest()


class Reply(Struct, frozen=True):
    """What a model answered, and what it cost in US dollars, None where that is not known."""

    text: str
    model: str
    input_tokens: Annotated[int, Meta(ge=0)] = 0
    output_tokens: Annotated[int, Meta(ge=0)] = 0
    usd: Annotated[float, Meta(ge=0)] | None = None


ModelReason: TypeAlias = Literal[
    "refused",
    "content_filter",
    "timeout",
    "rate_limited",
    "unreachable",
    "unauthorized",
    "truncated",
    "reply_too_large",
    "not_installed",
    "provider_error",
    "budget",
]


class ModelError(CannotJudgeError):
    """A model gave no usable reply; no credential and nothing that a server sent is in the text."""

    default_reason = "provider_error"

    def __init__(
        self,
        what: str,
        reason: ModelReason,
        *,
        why: str = "",
        remedy: str = "",
        spent: Reply | None = None,
    ) -> None:
        super().__init__(what, why=why, remedy=remedy, reason=reason)
        self.spent = spent


class UnsentError(ModelError):
    """Nothing left this machine, so nothing is charged and no call is counted."""
