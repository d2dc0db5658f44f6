"""The texts of a repository's own that instruct its judges: templates and guidelines of the base.

They come from the base commit, so that a pull request cannot change what it is judged by.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from prjury.errors import ConfigError
from prjury.judges.quality.prompt_input import cut_text
from prjury.ports import Repository
from prjury.ports.types import TreeEntry
from prjury.report.sanitise import Redact, normalise_line_ends
from prjury.resources import template_texts
from prjury.snapshot.exempt import matches
from prjury.snapshot.kinds import REGULAR_MODES
from prjury.snapshot.model import MISSING, visible

if TYPE_CHECKING:
    from jinja2.sandbox import ImmutableSandboxedEnvironment

#: Where a repository's own templates and guidelines lie.
HOME = ".github/prjury"

#: What a template raises that is wrong, also one that calls itself without end.
_WRONG = (
    TypeError,
    ValueError,
    ArithmeticError,
    LookupError,
    AttributeError,
    RecursionError,
)

_NOTHING: Mapping[str, str] = MappingProxyType({})


class Instructions(Struct, frozen=True):
    """What a template came to; the digest leaves out the guidelines, which differ by change."""

    text: str
    version: str
    digest: str


@dataclass(frozen=True)
class Prompts:
    """The templates that are in force; ``own`` are the repository's, by their file names."""

    own: Mapping[str, str] = field(default_factory=lambda: _NOTHING)

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

        # The text is sent to a model, not to a browser.
        return ImmutableSandboxedEnvironment(
            loader=DictLoader({**_read_shipped(), **self.own}),
            undefined=StrictUndefined,
            autoescape=False,
            trim_blocks=True,
            lstrip_blocks=True,
        )


def _read_shipped() -> dict[str, str]:
    """The templates that come with the program, by their file names."""
    texts = template_texts().items()
    return {
        path.removeprefix("prompts/"): text for path, text in texts if path.startswith("prompts/")
    }


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
                raise _unusable(path, self.commit, problem, remedy="Rename it, or remove it")
        return Prompts({name: self.text(path) for name, path in paths_by_name.items()})

    def guidelines(self, changed: Collection[str] = (), redact: Redact = str) -> str:
        """Return what the project expects of a change; empty where it does not say."""
        general = next((path for path in _GUIDELINES if self._is_there(path)), None)
        special = [
            path
            for path in filter(_PATH_GUIDELINES.fullmatch, self.entries)
            if self._is_there(path) and self._is_about(path, changed)
        ]
        paths = [*([general] if general else []), *special[:_MOST_SPECIAL]]
        texts = [self._guideline(path, redact) for path in paths]
        if more := special[_MOST_SPECIAL:]:
            texts.append(f"(not shown: {', '.join(more)})")
        return "\n\n".join(texts)

    def _guideline(self, path: str, redact: Redact) -> str:
        is_own = path.startswith(HOME)
        text = self.text(path) if is_own else self._content(path).decode("utf-8-sig", "replace")
        text = _FRONT_MATTER.sub("", normalise_line_ends(text), count=1)
        longest = _LONGEST_OWN if is_own else _LONGEST_GUIDELINES
        return f"{path}:\n\n{cut_text(text, longest, redact)}"

    def _is_about(self, path: str, changed: Collection[str]) -> bool:
        text = normalise_line_ends(self._content(path).decode("utf-8-sig", "replace"))
        heading = _FRONT_MATTER.match(text)
        globs = _APPLIES_TO.search(heading[0]) if heading else None
        words = re.split(r"[\s,\"'\[\]]+", globs[1]) if globs else []
        return any(matches(name, glob) for glob in filter(None, words) for name in changed)

    def text(self, path: str) -> str:
        """The text of one file."""
        content = self._content(path)
        if len(content) > _LARGEST:
            raise _unusable(path, self.commit, f"is larger than {_LARGEST // 1024} KiB")
        try:
            return content.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise _unusable(path, self.commit, "is not UTF-8") from None

    def _is_there(self, path: str) -> bool:
        entry = self.entries.get(path)
        return entry is not None and (path.startswith(HOME) or entry.mode in REGULAR_MODES)

    def _content(self, path: str) -> bytes:
        entry = self.entries.get(path)
        if entry is None or entry.mode not in REGULAR_MODES:
            raise _unusable(path, self.commit, "is not a file of the base")
        content = self.repository.read([entry.blob])[entry.blob]
        if content is None:
            raise _unusable(path, self.commit, f"is {MISSING}")
        return content


def _unusable(
    path: str,
    commit: str,
    problem: str,
    remedy: str = "Commit it to the base branch, or correct the path in the policy",
) -> ConfigError:
    return ConfigError(
        f"{visible(path)} {problem} ({commit[:12]})",
        remedy=remedy,
        reason="prompt_invalid",
    )
