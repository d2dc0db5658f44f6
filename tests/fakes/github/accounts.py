"""Whom a token acts as, and what it may do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

_LEVELS = ("none", "read", "write", "admin")


@dataclass(frozen=True)
class Account:
    """Whom a token acts as. An installation's token may not ask `/user`.

    Attributes:
        grants: GitHub's names of permissions, such as ``{"statuses": "write"}``, and nothing else
            then; None grants everything that such a token can have. Reading takes its permission
            too, as it does in private repositories.
        scopes: of a person's classic token; None for a fine-grained one.
        app: the id of the app, by which check runs belong to it; by default the account's own.
    """

    login: str
    type: Literal["User", "Bot"] = "User"
    writes: bool = True
    id: int = 1
    grants: Mapping[str, str] | None = None
    scopes: tuple[str, ...] | None = None
    app: int | None = None

    @property
    def installation(self) -> bool:
        return self.type == "Bot"

    @property
    def slug(self) -> str:
        return self.login.removesuffix("[bot]")

    @property
    def is_job(self) -> bool:
        """Whether it is the one behind the token that every job gets."""
        return self.installation and self.slug == "github-actions"

    @property
    def app_id(self) -> int:
        return self.id if self.app is None else self.app

    def may(self, needs: str) -> bool:
        """Whether it holds one of the permissions, written as ``issues=write; pulls=read``."""
        return any(
            all(self._holds(*one.strip().split("=")) for one in every.split(","))
            for every in needs.split(";")
        )

    def _holds(self, name: str, level: str) -> bool:
        if level != "read" and not self.writes:
            return False
        if name == "metadata":
            return True
        if self.grants is None:
            # A job's own token cannot be given these at all.
            return name not in {"administration", "workflows"} or self.slug != "github-actions"
        return _LEVELS.index(self.grants.get(name, "none")) >= _LEVELS.index(level)


ACTIONS_APP = 15_368
ACTIONS = Account("github-actions[bot]", "Bot", id=41_898_282, app=ACTIONS_APP)
READ_ONLY_ACTIONS = Account(
    "github-actions[bot]", "Bot", writes=False, id=41_898_282, app=ACTIONS_APP
)
OCTOCAT = Account("octocat", id=583_231, scopes=("repo", "workflow"))
