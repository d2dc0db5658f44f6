"""Agents as judges: what they report is classified; they work in copies and change nothing."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import copy
from dataclasses import KW_ONLY, dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Generic, Literal, Self, TypeAlias

from prjury.errors import CannotJudgeError, PrJuryError
from prjury.judges.workspace.files import Workspace
from prjury.jury.context import ExecutionStatus, JudgmentContext
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Check, Judgment, Status
from prjury.jury.library.agent import AgentClient, AgentResult, result_of
from prjury.jury.library.evaluation import Call, bind_call
from prjury.jury.library.execution import perform, wait_for_reply
from prjury.jury.library.model_judge import ask_how_sure, classify_reply, fill_template, make_error
from prjury.jury.library.replies import (
    Classifier,
    asks_confidence,
    assessment,
    with_confidence,
    yes_or_no,
)
from prjury.jury.library.template import PromptT, Template, template_of
from prjury.resources import template_texts
from prjury.sandbox.caches import walk_entries
from prjury.scratch import scratch

#: Files that a judgment names.
_MOST_NAMED = 20


@dataclass(frozen=True)
class AgentJudge(Generic[PromptT]):
    """A judge that lets an agent look: at the context's workspace, if it has one.

    Args:
        client: the way to the agent, or a function from goal and workspace to its answer.
        goal: a text with placeholders (`Template`), or a function from the context to the goal; on
            a blank one the judge abstains, ``nothing_to_ask``.
        classify: a function from the agent's output to a judgment.
        read_only: whether the agent gets a copy of the workspace. What it changed there is thrown
            away and named in ``metadata["undone"]``. False lets it change the workspace itself.

    Raises:
        ValueError: for a goal with a placeholder that is not known.
        TypeError: for a goal that is neither text nor a function, or a client that cannot run.
    """

    client: AgentClient | Call = field(repr=False)  # a client may show its key
    goal: str | Callable[[PromptT], str]
    classify: Classifier = yes_or_no
    name: str = "agent"
    description: str = ""
    _: KW_ONLY
    read_only: bool = True
    type: JudgeType = field(default=JudgeType.AGENT, init=False)

    def __post_init__(self) -> None:
        bind_call(self.client, "", None)
        object.__setattr__(self, "goal", template_of(self.goal))

    def judge(self, context: PromptT, /) -> Judgment:
        """Return what the classifier makes of the agent's output.

        ERROR for ``agent_failed``, ``timeout``, ``cancelled``, ``reply_invalid`` (an empty output)
        and ``workspace_too_large`` (it is not copied).
        """
        if not self.read_only or not isinstance(context, JudgmentContext):
            return self._ask_and_classify(context)
        workspace = context.workspace
        if workspace is None or not workspace.is_dir():
            return self._ask_and_classify(context)  # nothing here that it could change
        try:
            with copy_workspace(workspace) as copy:
                return self.judge_copy_and_note_edits(replace(context, workspace=copy), copy)
        except CannotJudgeError as error:
            return Judgment.errored(str(error), metadata={"reason": error.reason})

    def judge_copy_and_note_edits(self, context: PromptT, copy: Path) -> Judgment:
        """Return the judgment on a copy that is thrown away, and what the agent changed there."""
        before = stat_files(copy)
        judgment, edits = self._ask_and_classify(context), find_edits(before, stat_files(copy))
        if not edits:
            return judgment
        files = [f"{kind} {path}" for path, kind in edits.items()][:_MOST_NAMED]
        count = f"{len(edits)} file{'s' if len(edits) > 1 else ''}"
        reasoning = f"{judgment.reasoning} (the agent changed {count}: undone)"
        undone = {"count": len(edits), "files": files}
        return replace(judgment, reasoning=reasoning).with_metadata(undone=undone)

    def _ask_and_classify(self, context: PromptT) -> Judgment:
        goal = fill_template(template_of(self.goal), context)
        if not goal.strip():
            return Judgment.abstained("there is nothing to look for", "nothing_to_ask")
        call = bind_call(self.client, goal, getattr(context, "workspace", None))
        done = perform(lambda: result_of(wait_for_reply(call())))
        result = done.result or AgentResult("", done.status, done.error)
        if result.status not in {ExecutionStatus.SUCCESS, ExecutionStatus.UNKNOWN}:
            return make_error("agent", result.status, result.error, done.reason)
        judgment = classify_reply(result.output, self.classify, self.name, context)
        return judgment.with_metadata(agent=result.metadata) if result.metadata else judgment

    def asking_confidence(self) -> Self:
        """Return the judge that also asks how sure the agent is, unless an `assessment` does."""
        if asks_confidence(self.classify):
            return self
        goal, classify = ask_how_sure(template_of(self.goal)), with_confidence(self.classify)
        asking = copy(self)  # a subclass may have a constructor of its own
        asking.__dict__.update(goal=goal, classify=classify)
        return asking


#: What an audit looks at, by the name of the check.
SECURITY_CHECKS: Mapping[str, str] = MappingProxyType(
    {
        "injection": "values from outside reach SQL, a shell, a template or a page only as data",
        "access": "every entry point that needs it checks who asks and what they may do",
        "secrets": "no key, token, password or private key is in the code, configuration or logs",
        "untrusted_input": "paths, addresses, archives and serialised objects from outside are "
        "checked before they are opened, fetched, unpacked or loaded",
        "cryptography": "randomness, hashes, signatures and TLS are what their use needs",
        "configuration": "defaults are safe: no debug mode, no open CORS, no certificate unchecked",
    }
)

_FORM = (
    '{"status": "pass|fail", "rationale": "...", "confidence": 0.0, "findings": [{"name": "...", '
    '"passed": false, "message": "...", "severity": "error|warning", "path": "...", "line": 1, '
    '"evidence": "...", "fix": "..."}]}'
)


class SecurityAudit(AgentJudge[JudgmentContext]):
    """An agent looks for security holes in the context's workspace, check by check.

    A finding counts only if its file is there and holds the quoted text. PASS needs an answer to
    every check and no finding of severity error; an agent that fails the work without a place that
    is there has judged nothing: ABSTAIN ``no_opinion``; one that left checks out, ``not_checked``.

    Args:
        client: the way to the agent, or a function from goal and workspace to its answer.
        checks: what it looks at, in words, by name.
        prompt: your own text, with the placeholders of `Template`, ``{checks}`` and ``{form}``.

    Raises:
        ValueError: for no checks, or a prompt with a placeholder that is not known.
    """

    checks: tuple[str, ...]

    def __init__(
        self,
        client: AgentClient | Call,
        *,
        checks: Mapping[str, str] = SECURITY_CHECKS,
        prompt: str | None = None,
        name: str = "security_audit",
        read_only: bool = True,
    ) -> None:
        if not checks:
            raise ValueError("an audit needs something to look at")
        text = template_texts()["prompts/audit.md.j2"].strip() if prompt is None else prompt
        listed = "\n".join(f"- {name}: {about}" for name, about in checks.items())
        goal = Template(text, {"checks": listed, "form": _FORM})
        description = "an agent's audit of the workspace's security"
        super().__init__(client, goal, assessment, name, description, read_only=read_only)
        self.__dict__["checks"] = tuple(checks)

    def judge(self, context: JudgmentContext, /) -> Judgment:
        """Return the agent's findings, compared with the workspace as it was before."""
        judgment = _lower_contradicted_pass(super().judge(context), self.checks)
        if context.workspace is None or judgment.status is Status.ERROR:
            return judgment
        return _downgrade_unfounded_or_abstain(judgment, context.workspace)


def _lower_contradicted_pass(judgment: Judgment, required_checks: Iterable[str]) -> Judgment:
    """Lower a PASS whose findings say less, or that leaves one of these checks out."""
    if judgment.status is not Status.PASS:
        return judgment
    if any(check.severity == "error" for check in judgment.failed_checks):
        return replace(judgment, status=Status.FAIL, score=None)
    seen = {check.name for check in judgment.checks}
    if missing := [name for name in required_checks if name not in seen]:
        gap = f"the agent says nothing of {', '.join(missing)}"
        checks, metadata = judgment.checks, judgment.metadata
        return Judgment.abstained(gap, "not_checked", checks=checks, metadata=metadata)
    return judgment


def _downgrade_unfounded_or_abstain(judgment: Judgment, root: Path) -> Judgment:
    """Have what is not in the workspace count as a hint."""
    workspace, checks = Workspace(root.resolve()), list[Check]()
    for check in judgment.checks:
        message = f"not found in the workspace: {check.message}"
        hint = replace(check, message=message, severity="hint")
        checks.append(check if check.passed or _has_evidence(check, workspace) else hint)
    if judgment.status is Status.FAIL and all(c.passed or c.severity == "hint" for c in checks):
        message = f"no finding has a place that is there: {judgment.reasoning}"
        metadata = judgment.metadata
        return Judgment.abstained(message, "no_opinion", checks=tuple(checks), metadata=metadata)
    return replace(judgment, checks=tuple(checks))


def _has_evidence(check: Check, workspace: Workspace) -> bool:
    """Tell whether the finding's file is there and holds its evidence, white space aside."""
    quoted = " ".join((check.evidence or "").split())
    if check.location is None or not quoted:
        return False
    with contextlib.suppress(PrJuryError, OSError, ValueError):
        return quoted in " ".join(workspace.text(check.location.path).split())
    return False


#: A larger workspace is not copied.
MOST_ENTRIES = 200_000
#: What git writes whenever it looks at a repository.
_NOISE = frozenset({".git/index"})

EditKind: TypeAlias = Literal["added", "changed", "deleted"]
#: Mode, size, times and inode of files, by path: others, and it is another file.
FileStats: TypeAlias = Mapping[str, tuple[int, ...]]


def stat_files(root: Path) -> FileStats:
    """Look at the files of a directory; what cannot be looked at is left out."""
    stats = {}
    for entry in walk_entries(root):
        with contextlib.suppress(OSError):
            it = entry.stat(follow_symlinks=False)
            if not stat.S_ISDIR(it.st_mode):
                path = os.path.relpath(entry.path, root)
                stats[path] = (it.st_mode, it.st_size, it.st_mtime_ns, it.st_ctime_ns, it.st_ino)
    return stats


def find_edits(old: FileStats, new: FileStats) -> dict[str, EditKind]:
    """Return what became of each file that is another one now, by path."""
    edits: dict[str, EditKind] = {}
    for path in sorted((old.keys() | new.keys()) - _NOISE):
        if path not in new:
            edits[path] = "deleted"
        elif old.get(path) != new[path]:
            edits[path] = "changed" if path in old else "added"
    return edits


@contextlib.contextmanager
def copy_workspace(root: Path, most: int = MOST_ENTRIES) -> Iterator[Path]:
    """Make a copy of a directory, under the same name, that is removed at the end.

    A ``.git`` file of a linked work tree is left out: it leads to the original's repository.
    """
    root = root.resolve()
    with scratch("prjury-agent-") as around:
        target = around / (root.name or "workspace")
        target.mkdir()
        for count, entry in enumerate(walk_entries(root), 1):
            if count > most:
                raise CannotJudgeError(
                    f"the workspace has more than {most} entries and is not copied",
                    why="an agent that judges works in a copy",
                    remedy="pass read_only=False, or a smaller workspace",
                    reason="workspace_too_large",
                )
            with contextlib.suppress(FileNotFoundError):  # others may work there
                _copy_entry(entry, root, target)
        yield target


def _copy_entry(entry: os.DirEntry[str], root: Path, new_root: Path) -> None:
    source, target = Path(entry.path), new_root / Path(entry.path).relative_to(root)
    if entry.is_dir(follow_symlinks=False):
        target.mkdir()
    elif entry.is_symlink():
        to = source.readlink()
        target.symlink_to(new_root / to.relative_to(root) if to.is_relative_to(root) else to)
    elif entry.is_file() and not (source.name == ".git" and source.parent == root):
        shutil.copy2(source, target)
