"""The repositories of the field corpus, their merged changes and their mutations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field

CORPUS = Path(__file__).with_name("corpus.yml")

Kind = Literal["syntax", "behaviour", "deleted", "skipped", "configuration"]


class Edit(BaseModel):
    """One exact edit of one file.

    Attributes:
        old: occurs exactly once in the file, unless ``every`` is set; None to append ``new``, or to
            make the file.
        delete: the file goes.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    file: str
    old: str | None = None
    new: str = ""
    every: bool = False
    delete: bool = False

    def of(self, text: str) -> str:
        """The edited text; ``ValueError`` where the edit does not fit it."""
        if self.old is None:
            return text + self.new
        count = text.count(self.old)
        if not count or (count > 1 and not self.every):
            raise ValueError(f"{self.file}: {self.old!r} is there {count} times")
        return text.replace(self.old, self.new)


class Repository(BaseModel):
    """One repository.

    Attributes:
        name: owner/name.
        system: what builds it, as its maintainers would say.
        head: the commit on which the mutations are made.
        own: the maintainers' own commands, one shell script; ``$SCRATCH`` is an empty directory.
        needs: programs without which neither the maintainers nor we could build it.
        outside: what its CI job takes from elsewhere (services, packages, actions,
            workflows of others): such repositories are counted apart.
        changes: commits on the main branch, judged against their first parents.
        fast: few enough seconds for the nightly tests.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(pattern=r"^[\w.-]+/[\w.-]+$")
    system: str
    head: str = Field(pattern=r"^[0-9a-f]{40}$")
    own: str
    needs: tuple[str, ...] = ()
    outside: str = ""
    changes: tuple[str, ...] = Field(min_length=2)
    mutations: Mapping[Kind, tuple[Edit, ...]]
    fast: bool = False

    @property
    def address(self) -> str:
        return f"https://github.com/{self.name}"

    @property
    def cases(self) -> Iterator[Case]:
        for number, commit in enumerate(self.changes, start=1):
            yield Case(self, f"change {number}", f"{commit}^1", commit)
        for kind, edits in self.mutations.items():
            yield Case(self, kind, self.head, self.head, edits)


@dataclass(frozen=True)
class Case:
    """One change to judge.

    Attributes:
        name: "change 1" for what was merged, otherwise the kind of the mutation.
        edits: what the mutation does to ``head``; empty for what was merged.
    """

    repository: Repository
    name: str
    base: str
    head: str
    edits: tuple[Edit, ...] = ()

    @property
    def merged(self) -> bool:
        return not self.edits


def load_corpus(path: Path = CORPUS) -> tuple[Repository, ...]:
    """All repositories, in the order of the file."""
    raw = yaml.safe_load(path.read_text(encoding="utf-8"))
    return tuple(map(Repository.model_validate, raw["repositories"]))
