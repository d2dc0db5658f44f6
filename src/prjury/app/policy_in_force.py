"""Which policy is in force: the operator's own file, the base commit's, or the default."""

from __future__ import annotations

import re
from pathlib import Path

from prjury.errors import ConfigError, SourceError
from prjury.judges.backport.requests.branches import bare
from prjury.policy import POLICY_PATH
from prjury.policy.load import Policy, default_policy, parse_policy
from prjury.ports import Repository
from prjury.ports.types import TreeEntry
from prjury.snapshot.model import MISSING, PullRequest, printable

#: What `prjury init` calls the workflow that answers commands.
COMMENT_WORKFLOW = ".github/workflows/prjury-comment.yml"
#: Workflows, and actions wherever they stand in the tree.
_WORKFLOW = re.compile(r"\A\.github/workflows/|(\A|/)action\.ya?ml\Z")


def policy_in_force(
    pull: PullRequest, repository: Repository, own: Path | None, path: str = POLICY_PATH
) -> Policy:
    policy = read_policy_file(own) if own else _read_base_or_default_policy(pull, repository, path)
    return policy.adapt_to_branch(bare(pull.base.ref))


def read_policy_file(file: Path) -> Policy:
    return parse_policy(read_config_text(file), f"file:{file}", shown_name=str(file))


def _read_base_or_default_policy(pull: PullRequest, repository: Repository, path: str) -> Policy:
    base, shown_name = pull.base.sha, f"{path} of {printable(pull.base.ref)}"
    text = read_text_at(repository, base, path, shown_name)
    if text is None and path != POLICY_PATH:
        raise ConfigError(
            f"there is no {path} in {printable(pull.base.ref)}",
            remedy="Correct the path, or leave it out for the default policy",
        )
    if text is None:
        return default_policy()
    return parse_policy(text, f"base:{base}:{path}", shown_name=shown_name, commit=base)


def read_text_at(repository: Repository, commit: str, path: str, shown_name: str) -> str | None:
    """The text of a regular file at a commit; None if there is no file."""
    entries = _list_entries(repository, commit, path)
    if not entries:
        return None
    if entries[0].path != path or entries[0].mode not in {"100644", "100755"}:
        raise ConfigError(f"{shown_name} is not a regular file", reason="config_not_regular_file")
    content = repository.read([entries[0].blob])[entries[0].blob]
    if content is None:
        raise SourceError(f"{shown_name} is {MISSING}", reason="object_missing")
    return _decode(content, shown_name)


def note_policy_or_ci_edits(
    pull: PullRequest,
    repository: Repository,
    operator_file: Path | None,
    work_tree: Path | None,
    path: str = POLICY_PATH,
) -> tuple[str, ...]:
    notes: list[str] = []
    if not operator_file:
        has_one = bool(_list_entries(repository, pull.base.sha, path))
        whose = "the base's" if has_one else "the default"
        in_force = f"{whose} policy is in force"
        if any(path in {file.path, file.old_path} for file in pull.files):
            notes.append(f"this change touches {path}; {in_force} until it is merged")
        elif not has_one and work_tree and (work_tree / path).is_file():
            notes.append(f"{path} is not in the base commit; {in_force} (try --config {path})")
    if workflow := edits_workflow(pull):
        # The runner takes the workflow of a pull request from the change itself.
        what = f"this change touches the workflow {printable(workflow)}: it runs as changed"
        notes.append(f"{what}; require the workflow by a ruleset")
    return tuple(notes)


def answers_commands(pull: PullRequest, repository: Repository) -> bool:
    return bool(_list_entries(repository, pull.base.sha, COMMENT_WORKFLOW))


def edits_workflow(pull: PullRequest) -> str | None:
    paths = (path for file in pull.files for path in (file.path, file.old_path) if path)
    return next((path for path in paths if _WORKFLOW.search(path)), None)


def read_config_text(file: Path) -> str:
    try:
        return _decode(file.read_bytes(), str(file))
    except OSError as error:
        raise ConfigError(
            f"the configuration {file} cannot be read: {error.strerror}",
            remedy="Check the path, or write a policy: prjury init; without one the defaults hold",
        ) from error


def _list_entries(repository: Repository, commit: str, path: str) -> list[TreeEntry]:
    entries = repository.files(commit)
    return [entry for entry in entries if f"{entry.path}/".startswith(f"{path}/")]


def _decode(content: bytes, shown_name: str) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{shown_name} is not UTF-8 text", remedy="Save it as UTF-8") from error
