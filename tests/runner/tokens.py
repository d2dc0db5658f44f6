"""The tokens of a workflow's jobs: each may do what its job's ``permissions`` say, and no more.

Act knows one token for all jobs, so that each job is given its own as a secret, in a copy of the
workflow that is otherwise the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from fakes.github import ACTIONS_APP, Account

ACTION = "OWNER/pr-jury@COMMIT"
_WORDS = ("none", "read", "write")


@dataclass(frozen=True)
class Tokens:
    """A copy of a workflow whose jobs have tokens of their own.

    Attributes:
        accounts: whom each token acts as.
        secrets: how the copy asks for them.
    """

    workflow: Path
    accounts: Mapping[str, Account]
    secrets: Mapping[str, str]

    @property
    def readers(self) -> set[str]:
        """The tokens that git lets in."""
        return {token for token, account in self.accounts.items() if account.may("contents=read")}


def tokens_for(workflow: Path, place: Path, *, read_only: bool) -> Tokens:
    """The tokens that GitHub would make for a run of the workflow.

    Args:
        place: a directory for the copy.
        read_only: for the pull request of a fork, whatever the workflow says.
    """
    document = yaml.safe_load(workflow.read_text())
    document["on"] = document.pop(True, None) or document["on"]  # YAML 1.1 takes `on` for true
    accounts, secrets = {}, {}
    for name, job in document["jobs"].items():
        token, secret = f"ghs_of_the_job_{name}", f"TOKEN_OF_{name.upper()}"
        grants = _grants(job.get("permissions", document["permissions"]), read_only=read_only)
        accounts[token] = Account(
            "github-actions[bot]", "Bot", id=41_898_282, app=ACTIONS_APP, grants=grants
        )
        secrets[secret] = token
        for step in job["steps"]:
            if step.get("uses") == ACTION:
                step.setdefault("with", {})["github-token"] = f"${{{{ secrets.{secret} }}}}"
    copy = place / workflow.name
    copy.write_text(yaml.safe_dump(document, sort_keys=False))
    return Tokens(copy, accounts, secrets)


def _grants(permissions: Mapping[str, Any], *, read_only: bool) -> dict[str, str]:
    assert set(permissions.values()) <= set(_WORDS)
    return {
        name.replace("-", "_"): "read" if read_only and level == "write" else level
        for name, level in permissions.items()
    }
