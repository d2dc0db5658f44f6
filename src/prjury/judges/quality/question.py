"""Questions to models: instructions from templates, and the material as one JSON document.

Templates and guidelines of a repository's own come from the base commit, so that a pull request
cannot change what it is judged by.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Collection, Mapping
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field
from msgspec.structs import replace

from prjury.errors import ConfigError
from prjury.judges.quality.evidence import make_answer_schema
from prjury.judges.quality.prompt_input import (
    Chunk,
    Fact,
    Plan,
    Section,
    cut_text,
    digest_of,
    sizes,
)
from prjury.ports import Repository
from prjury.ports.messages import Prompt
from prjury.ports.types import TreeEntry
from prjury.report.sanitise import Redact, normalise_line_ends
from prjury.resources import template_texts
from prjury.snapshot.exempt import matches
from prjury.snapshot.kinds import REGULAR_MODES
from prjury.snapshot.model import MISSING, visible

if TYPE_CHECKING:
    from jinja2.sandbox import ImmutableSandboxedEnvironment

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
    """A prompt, and what is needed to check its reply; the digest leaves out the chunk.

    Of the prompt's nonces one is the key under which the material lies, and one, the canary, a word
    of the instructions that must not come back.
    """

    prompt: Prompt
    digest: str
    form: Form
    chunk: Chunk

    @property
    def shown(self) -> Chunk:
        return Chunk((*self.chunk.sections, *self.form.always))

    @property
    def identity(self) -> dict[str, str]:
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
        material[f"{self.prompt.nonces[0]}-problem"] = (
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

    def fill(self, chunk: Chunk, plan: Plan, random_word: Callable[[], str]) -> Question:
        """Return the question about one chunk of a plan; ``random_word`` makes a new word."""
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
        nonce, canary = _make_word(content, random_word), _make_word(content, random_word)
        prompt = Prompt(
            self.instructions.text,
            _write_json({nonce: material}),
            make_answer_schema(self.criteria),
            f"{self.name}/{self.instructions.version}",
            (nonce, canary),
            _RUN.format(nonce=nonce, canary=canary),
            _ANSWER + _ANSWER_PER_CRITERION * len(self.criteria),
        )
        instructions = self.instructions.version, self.instructions.text
        documents = [section.digest for section in self.always]
        # Numbers differ from run to run and decide nothing.
        facts = [re.sub(r"\d+", "", fact.text) for fact in self.facts]
        same = [self.name, *instructions, dict(self.criteria), documents, facts]
        # Why a file is not shown may change with each of its lines, and says nothing of the others.
        others = [elsewhere, [entry["path"] for entry in left_out]]
        digest = digest_of([digest_of(same), others])
        return Question(prompt, digest, self, chunk)


def _list_entries(entries: list[dict[str, str]]) -> dict[str, Any]:
    ends = accumulate(len(_write_json(entry)) + 1 for entry in entries)
    some = [entry for entry, end in zip(entries, ends, strict=True) if end <= LISTS]
    return {"count": len(entries), "files": some}


def _make_word(content: str, word: Callable[[], str]) -> str:
    candidate = word()
    while candidate in content:
        candidate = word()
    return candidate


def _write_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


#: Where a repository's own templates and guidelines lie.
HOME = ".github/prjury"

#: What a template raises that is wrong, also one that calls itself without end.
_WRONG = (TypeError, ValueError, ArithmeticError, LookupError, AttributeError, RecursionError)


class Instructions(Struct, frozen=True):
    """What a template came to; the digest leaves out the guidelines, which differ by change."""

    text: str
    version: str
    digest: str


class Prompts(Struct, frozen=True, dict=True):
    """The templates that are in force; ``own`` are the repository's, by their file names."""

    own: Mapping[str, str] = field(default_factory=dict)

    def render(self, name: str, values: Mapping[str, Any]) -> Instructions:
        """The template of this name, filled; what a value holds is never expanded again."""
        from jinja2 import TemplateError  # noqa: PLC0415 - many reviews ask no model

        try:
            module = self._environment.get_template(f"{name}.md.j2").make_module(dict(values))
        except (TemplateError, *_WRONG) as error:
            raise ConfigError(
                f"the prompt template {name}.md.j2 cannot be used: {' '.join(str(error).split())}",
                remedy=f"Correct it in {HOME}/prompts of the base branch",
                reason="prompt_invalid",
            ) from error
        version = getattr(module, "version", None)
        text = str(module).strip()
        digest = hashlib.sha256(text.encode(errors="replace")).hexdigest()
        return Instructions(text, "unversioned" if version is None else str(version), digest)

    @cached_property
    def _environment(self) -> ImmutableSandboxedEnvironment:
        from jinja2 import DictLoader, StrictUndefined  # noqa: PLC0415 - as above
        from jinja2.sandbox import ImmutableSandboxedEnvironment  # noqa: PLC0415 - as above

        shipped = {
            path.removeprefix("prompts/"): text
            for path, text in template_texts().items()
            if path.startswith("prompts/")
        }
        # The text is sent to a model, not to a browser.
        return ImmutableSandboxedEnvironment(
            loader=DictLoader({**shipped, **self.own}),
            undefined=StrictUndefined,
            autoescape=False,
            trim_blocks=True,
            lstrip_blocks=True,
        )


_PROMPTS = f"{HOME}/prompts/"

#: The templates that a repository may replace.
OVERRIDABLE = ("judge", "quality", "tests", "description", "suitability", "prompt")
_ENDING = ".md.j2"

#: Where guidelines stand, the first that is there counts.
_GUIDELINES = (
    f"{HOME}/guidelines.md",
    "CONTRIBUTING.md",
    ".github/CONTRIBUTING.md",
    "docs/CONTRIBUTING.md",
    "CONTRIBUTING.rst",
    "CONTRIBUTING.adoc",
    "CONTRIBUTING",
)
#: Guidelines for the paths that their front matter names, and so many of them.
_PATH_GUIDELINES = re.compile(
    r"\.github/(?:prjury/guidelines/[^/]+\.md|instructions/(?:.+/)?[^/]+\.instructions\.md)"
)
_MOST_SPECIAL = 3
_FRONT_MATTER = re.compile(r"\A---\n(?:.*\n)*?---\n")
_APPLIES_TO = re.compile(r"^applyTo:(.*(?:\n[ \t]*-.*)*)", re.MULTILINE)
#: Characters of guidelines that are meant for judges, and of those for people, which also speak of
#: licences, chats and how to build.
_LONGEST_OWN, _LONGEST_GUIDELINES = 8_000, 4_000
#: Bytes of a text that is made for a prompt.
_LARGEST = 64 * 1024


class OwnTexts(Struct, frozen=True):
    """A commit's texts for judges."""

    repository: Repository
    commit: str
    entries: Mapping[str, TreeEntry]

    @classmethod
    def of(cls, repository: Repository, commit: str) -> OwnTexts:
        """Those of a commit; nothing is read yet."""
        return cls(repository, commit, {e.path: e for e in repository.files(commit)})

    def prompts(self) -> Prompts:
        """The shipped templates, with the repository's own in place of those of the same name."""
        paths = [p for p in self.entries if p.startswith(_PROMPTS) and p.endswith(_ENDING)]
        paths_by_name = {path.removeprefix(_PROMPTS): path for path in paths}
        for name, path in paths_by_name.items():
            if name.removesuffix(_ENDING) not in OVERRIDABLE and not name.startswith("_"):
                names = ", ".join(OVERRIDABLE)
                problem = f"is no template of a judge; those are {names}, and parts begin with _"
                raise _make_error(path, self.commit, problem, remedy="Rename it, or remove it")
        return Prompts({name: self.require_text(path) for name, path in paths_by_name.items()})

    def guidelines(self, changed_paths: Collection[str] = (), redact: Redact = str) -> str:
        """Return what the project expects of a change; empty where it does not say."""
        general = [path for path in _GUIDELINES if self._is_there(path)]
        special = [
            path
            for path in filter(_PATH_GUIDELINES.fullmatch, self.entries)
            if self._is_there(path) and self._is_about(path, changed_paths)
        ]
        texts = []
        for path in (*general[:1], *special[:_MOST_SPECIAL]):
            is_own = path.startswith(HOME)
            text = self.require_text(path) if is_own else self._read_loosely(path)
            text = _FRONT_MATTER.sub("", normalise_line_ends(text), count=1)
            longest = _LONGEST_OWN if is_own else _LONGEST_GUIDELINES
            texts.append(f"{path}:\n\n{cut_text(text, longest, redact)}")
        if more := special[_MOST_SPECIAL:]:
            texts.append(f"(not shown: {', '.join(more)})")
        return "\n\n".join(texts)

    def _read_loosely(self, path: str) -> str:
        return self._require_bytes(path).decode("utf-8-sig", "replace")

    def _is_about(self, path: str, changed: Collection[str]) -> bool:
        heading = _FRONT_MATTER.match(normalise_line_ends(self._read_loosely(path)))
        globs = _APPLIES_TO.search(heading[0]) if heading else None
        words = re.split(r"[\s,\"'\[\]]+", globs[1]) if globs else []
        return any(matches(name, glob) for glob in filter(None, words) for name in changed)

    def require_text(self, path: str) -> str:
        content = self._require_bytes(path)
        if len(content) > _LARGEST:
            raise _make_error(path, self.commit, f"is larger than {_LARGEST // 1024} KiB")
        try:
            return content.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise _make_error(path, self.commit, "is not UTF-8") from None

    def _is_there(self, path: str) -> bool:
        entry = self.entries.get(path)
        return entry is not None and (path.startswith(HOME) or entry.mode in REGULAR_MODES)

    def _require_bytes(self, path: str) -> bytes:
        entry = self.entries.get(path)
        if entry is None or entry.mode not in REGULAR_MODES:
            raise _make_error(path, self.commit, "is not a file of the base")
        content = self.repository.read([entry.blob])[entry.blob]
        if content is None:
            raise _make_error(path, self.commit, f"is {MISSING}")
        return content


def _make_error(
    path: str,
    commit: str,
    problem: str,
    remedy: str = "Commit it to the base branch, or correct the path in the policy",
) -> ConfigError:
    message = f"{visible(path)} {problem} ({commit[:12]})"
    return ConfigError(message, remedy=remedy, reason="prompt_invalid")
