"""What the model is asked: instructions from a template, the change as one JSON document.

The prompt knows the change and nothing else: no title, body, author, branch or commit text, because
such framing is what misleads reviewers most.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from jinja2 import FileSystemLoader, StrictUndefined
from jinja2.sandbox import SandboxedEnvironment

from prjury.dialogue import Prompt
from prjury.judges.llm.reply import schema
from prjury.judges.llm.sheet import NotSent, Piece
from prjury.report.hidden import shown
from prjury.resources import templates

#: Files that are not shown and yet named in the prompt; the judgment names all of them.
_NAMED = 50

#: Characters that count as one token.
CHARACTERS_PER_TOKEN = 4


@dataclass(frozen=True)
class Question:
    """A prompt, and what is needed to check its reply.

    Attributes:
        nonce: the key under which the material lies; it differs from run to run.
        canary: a word of the instructions that must not come back.
        instructions: what stays the same in every question about these criteria.
    """

    prompt: Prompt
    nonce: str
    canary: str
    instructions: Prompt

    @property
    def about(self) -> dict[str, str]:
        """The prompt in a judgment's metadata.

        ``sha256`` stands for the instructions, ``question_sha256`` for them and the change.
        """
        name, _, version = self.prompt.name.partition("/")
        return {
            "name": name,
            "version": version,
            "sha256": self.instructions.sha256,
            "question_sha256": self.prompt.sha256,
        }

    def again(self, problem: str) -> Prompt:
        """The same question with a word on why the last reply could not be used."""
        material = json.loads(self.prompt.user)
        material[f"{self.nonce}-problem"] = (
            f"Your last reply could not be used: {problem}. Answer with the JSON object alone."
        )
        return replace(self.prompt, user=_json(material))


def ask_about(
    pieces: Sequence[Piece],
    not_sent: Sequence[NotSent],
    criteria: Mapping[str, str],
    token: Callable[[], str],
) -> Question:
    """The question about these pieces of a change.

    Args:
        token: a new random word at every call.
    """
    material = {"files": [piece.value for piece in pieces], "not_shown": _told(not_sent)}
    content = _json(material)
    nonce = _absent_from(content, token)
    canary = _absent_from(content, token)
    system, version = _instructions(criteria, nonce, canary)
    instructions = Prompt(system, "", schema(criteria), f"quality/{version}", (nonce, canary))
    prompt = replace(instructions, user=_json({nonce: material}))
    return Question(prompt, nonce, canary, instructions)


def _absent_from(content: str, token: Callable[[], str]) -> str:
    word = token()
    while word in content:
        word = token()
    return word


def _told(not_sent: Sequence[NotSent]) -> dict[str, Any]:
    named = [{"path": shown(file.path), "reason": file.reason} for file in not_sent[:_NAMED]]
    return {"count": len(not_sent), "files": named}


def _instructions(criteria: Mapping[str, str], nonce: str, canary: str) -> tuple[str, int]:
    """The text of the template and its version."""
    # The text is sent to a model, not to a browser; and what a value holds is never expanded again.
    environment = SandboxedEnvironment(
        loader=FileSystemLoader(templates() / "prompts"),
        undefined=StrictUndefined,
        autoescape=False,
    )
    values = {"criteria": dict(criteria), "nonce": nonce, "canary": canary}
    module = environment.get_template("quality.md.j2").make_module(values)
    version: int = module.version  # type: ignore[attr-defined]
    return str(module).strip(), version


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
