"""Recover: an agent repairs the tests of a change that does not build, and the build judges again.

It works in a contained copy of the merged tree. Nothing that it does reaches the pull request or
its verdict: only allowed files are taken over, into a tree of our own.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path, PurePosixPath

from msgspec import Struct, structs

from prjury.agents.judge import EditKind, FileStats, find_edits, stat_files
from prjury.code.languages import language_of
from prjury.code.parser import Parser
from prjury.code.source import Source, UnreadableError, strip_to_code
from prjury.deadline import Deadline
from prjury.errors import CannotJudgeError, SourceError
from prjury.git.store import NewFiles, Store, patch_between, write_tree_with
from prjury.git.take_snapshot import make_file_change
from prjury.journal.write import record_round, record_tools
from prjury.judges.builds.decide import combine_judgments
from prjury.judges.builds.judge import TreeBuildJudge
from prjury.judges.builds.test_settings import TABLE, changes_test_settings
from prjury.judges.context import PullRequestContext
from prjury.judges.quality.question import Prompts
from prjury.judges.workspace.files import open_regular
from prjury.jury.context import ExecutionStatus
from prjury.jury.feedback import feedback_on
from prjury.jury.judgment import Judgment, Status
from prjury.jury.library.agent import AgentClient, AgentResult, run_agent
from prjury.jury.library.execution import perform
from prjury.jury.verdicts import JuryVerdict
from prjury.jury.voting import Ballot
from prjury.policy.options import FixConfig
from prjury.ports import Ports
from prjury.report.judge_facts import AgentFacts, BuildFacts
from prjury.report.model import Recovery, RefusedEdit, RepairRound
from prjury.snapshot.exempt import matches
from prjury.snapshot.kinds import REGULAR_MODES
from prjury.snapshot.model import visible

#: Characters of the feedback on a build.
_FEEDBACK = 12_000
#: Seconds below which no further round is begun.
_LEAST_SECONDS = 10.0
_MOST_REFUSED = 20
_LARGEST_PATCH = 1 << 20


class TestsRepair(Struct):
    """The attempt to repair one change; ``builds`` have to pass, each with what it said of it."""

    config: FixConfig
    store: Store
    ports: Ports
    builds: Sequence[tuple[TreeBuildJudge, Judgment]]
    context: PullRequestContext
    #: The merged tree with all that was accepted, and what the builds say of it.
    tree: str = ""
    judgments: list[Judgment] = []
    rounds: list[RepairRound] = []
    #: Why the agent cannot go on; empty where it can.
    stop: str = ""

    def attempt(self) -> Recovery | None:
        """Return what came of it; None where there is nothing to repair."""
        tree = self.context.pull.merge.tree
        if tree is None:
            return None
        builds = [(judge, it) for judge, it in self.builds if it.status is Status.FAIL]
        failed = [(judge, _get_failure_counts(judgment)) for judge, judgment in builds]
        if not any(counts.get("new") and judge.options.from_ == "run" for judge, counts in failed):
            if all(counts for _, counts in failed):
                return None
            return Recovery("not_tried", "the build names no failure to go by")
        try:
            self._make_client()
        except CannotJudgeError as error:
            return Recovery("not_tried", str(error))
        progress, started = self.ports.progress, time.monotonic()
        progress.judge_started("fix", "agent")
        try:
            recovery = self._repair_in_rounds(tree)
        except (CannotJudgeError, SourceError) as error:
            recovery = Recovery("not_recovered", str(error))
        conclude = Judgment.passed if recovery.outcome == "recovered" else Judgment.failed
        elapsed = round((time.monotonic() - started) * 1000)
        ballot = Ballot("agent", conclude(recovery.outcome_sentence), elapsed_ms=elapsed)
        progress.judge_finished("fix", ballot)
        return recovery

    def _make_client(self) -> AgentClient:
        config = self.config
        seconds = min(config.timeout, self.context.deadline.remaining)
        return self.ports.agents.make_client(config.command or "", config.env, seconds)

    def _repair_in_rounds(self, old_tree: str) -> Recovery:
        self.tree, self.judgments = old_tree, [judgment for _, judgment in self.builds]
        while not (stop := self.stop or self._find_stop_reason()):
            started = time.monotonic()
            last = self._run_round(old_tree)
            self.rounds.append(last)
            passed = all(each.status is Status.PASS for each in self.judgments)
            facts = {"number": last.number, "status": Status.PASS if passed else Status.FAIL}
            edits = {"edited": len(last.edited), "refused": last.refused_total}
            record_round(self.ports.journal, started, last, **facts, **edits)
            if passed:
                return self._recover_if_patch_is_safe(old_tree, last.outcome)
        return Recovery("not_recovered", stop, tuple(self.rounds))

    def _find_stop_reason(self) -> str:
        """Return why no further round is made; empty where one is."""
        spent = sum(each.usd or 0.0 for each in self.rounds)
        if self.context.deadline.remaining < _LEAST_SECONDS:
            return "no time is left (`limits.wall`)"
        if self.rounds and spent >= self.config.usd:
            return f"the money is spent: ${spent:.2f} of ${self.config.usd:.2f} (`fix.usd`)"
        return self.rounds[-1].outcome if len(self.rounds) >= self.config.rounds else ""

    def _run_round(self, old_tree: str) -> RepairRound:
        number = len(self.rounds) + 1
        self.ports.progress.say(f"repair, round {number}: asking the agent")
        result, accepted, refused = self._ask_agent_and_split_edits()
        details = result.metadata
        facts = AgentFacts.of_result(details)
        record_tools(self.ports.journal, facts)
        if result.status is not ExecutionStatus.SUCCESS:
            ends = {"timeout": "was stopped", "cancelled": "was cancelled"}
            self.stop = f"the agent {ends.get(result.status.value, 'failed')}: {result.error}"
        outcome = self.stop or "the agent changed nothing that it may change"
        if accepted:
            self.tree = write_tree_with(self.store, self.tree, accepted)
            self.ports.progress.say(f"repair, round {number}: building again")
            outcome = self._judge_repair_and_describe(old_tree)
        refusals = [RefusedEdit(visible(path), why) for path, why in refused.items()]
        return RepairRound(
            number,
            outcome,
            edited=tuple(sorted(map(visible, accepted))),
            refused=tuple(refusals[:_MOST_REFUSED]),
            refused_total=len(refusals),
            seconds=float(details.get("seconds", 0.0)),
            input_tokens=facts.input_tokens,
            output_tokens=facts.output_tokens,
            usd=facts.usd,
        )

    def _ask_agent_and_split_edits(self) -> tuple[AgentResult, NewFiles, Mapping[str, str]]:
        """Return what the agent says, and its edits, sorted; none of them if it failed."""
        files, paths = self.store.files(self.tree), self.config.paths
        changeable = [file for file in files if any(matches(file.path, glob) for glob in paths)]
        contents = self.store.read([file.blob for file in changeable])
        old = {file.path: contents[file.blob] or b"" for file in changeable}
        rules = EditRules(paths, {file.path: file.mode for file in files}, old)
        ballots = tuple(Ballot(f"build-{n}", it) for n, it in enumerate(self.judgments, 1))
        verdict = JuryVerdict(combine_judgments(self.judgments), ballots)
        refused = self.rounds[-1].refused if self.rounds else ()
        values = {"paths": paths, "refused": refused, "feedback": feedback_on(verdict, _FEEDBACK)}
        goal = Prompts().render("repair", values).text
        with self.ports.shell.scratch() as root:
            self.store.export_and_list_missing(self.tree, root)
            before = stat_files(root)
            client = self._make_client()
            done = perform(lambda: run_agent(client, goal, root))
            result = done.result or AgentResult("", done.status, done.error)
            if result.status is not ExecutionStatus.SUCCESS:
                return result, {}, {}
            return result, *rules.split_by_refusal(root, before)

    def _judge_repair_and_describe(self, old_tree: str) -> str:
        """Have all builds judge the repaired tree, and return what they say."""
        pull = self.context.pull
        touched = {file.path for file in pull.files}
        changes = map(make_file_change, self.store.raw_changes(old_tree, self.tree, renames=False))
        repaired = [file for file in changes if file.path not in touched]
        merge = structs.replace(pull.merge, tree=self.tree)
        pull = structs.replace(pull, merge=merge, files=(*pull.files, *repaired))
        context = replace(self.context, pull=pull)
        self.judgments = [_judge_comparing_tests(it, context, first) for it, first in self.builds]
        return combine_judgments(self.judgments).reasoning

    def _recover_if_patch_is_safe(self, old_tree: str, outcome: str) -> Recovery:
        patch, rounds = patch_between(self.store, old_tree, self.tree), tuple(self.rounds)
        if len(patch) > _LARGEST_PATCH:
            why = f"the patch is larger than {_LARGEST_PATCH >> 20} MiB"
            return Recovery("not_recovered", why, rounds)
        if self.ports.redact(patch) != patch:
            return Recovery("not_recovered", "the patch holds what looks like a secret", rounds)
        return Recovery("recovered", outcome, rounds, patch)


def _get_failure_counts(judgment: Judgment) -> Mapping[str, Mapping[str, int]]:
    facts = BuildFacts.parse(judgment)
    return (facts and facts.failures) or {}


def _judge_comparing_tests(
    judge: TreeBuildJudge, context: PullRequestContext, first: Judgment
) -> Judgment:
    """Return what the build says now; it fails where fewer tests ran than before."""
    done = perform(lambda: judge.judge(context))
    if done.result is None:
        return Judgment.errored(done.error or "the build could not be judged")
    before, after = _count_tests(first), _count_tests(done.result)
    if done.result.status is Status.PASS and after < before:
        return Judgment.failed(f"fewer tests ran than before the repair ({after} of {before})")
    return done.result


def _count_tests(judgment: Judgment) -> int:
    tests = facts.tests if (facts := BuildFacts.parse(judgment)) else None
    return max(0, tests.run - tests.skipped) if tests else 0


#: Bytes of one file, and files of one repair.
_LARGEST, _MOST = 512 * 1024, 200
_SECONDS = 40.0
#: What a run of the tests leaves behind is not listed.
_BY_PRODUCT = re.compile(r"(^|/)(__pycache__|\.pytest_cache|\.mypy_cache|\.ruff_cache)/|\.pyc$")

#: What code of tests holds: assertions, those that hold whatever the code does, and ways out.
_ASSERTION, _VACUOUS, _RETURN, _SKIP = (
    re.compile("|".join(TABLE["code"][kind]), re.MULTILINE)
    for kind in ("assertions", "vacuous", "returns", "skips")
)


class EditRules(Struct, frozen=True):
    """What a repair may touch: globs, git modes of the tree, and what files of the globs held."""

    paths: Sequence[str]
    modes: Mapping[str, str]
    old: Mapping[str, bytes]

    def split_by_refusal(self, root: Path, before: FileStats) -> tuple[NewFiles, Mapping[str, str]]:
        """Return the files that may be part of the repair, and why other edits may not."""
        new: dict[str, bytes] = {}
        refused: dict[str, str] = {}
        for path, kind in find_edits(before, stat_files(root)).items():
            if _BY_PRODUCT.search(path) and path not in self.modes:
                continue
            content = self._find_refusal(path, kind) or _read_text_or_refusal(root / path)
            if isinstance(content, bytes) and len(new) >= _MOST:
                content = f"more than {_MOST} files"
            if isinstance(content, str):
                refused[path] = content
            elif content != self.old.get(path):
                new[path] = content
        refused |= _find_weakened_tests(new, self.old)
        files = {path: (self.modes.get(path, "100644"), content) for path, content in new.items()}
        return {path: file for path, file in files.items() if path not in refused}, refused

    def _find_refusal(self, path: str, kind: EditKind) -> str:
        """Return why an edit is refused whatever the file holds; empty where it is not."""
        if ".git" in path.casefold().split("/"):
            return "git's own files are no part of a repair"
        if not any(matches(path, glob) for glob in self.paths):
            return "it is outside of the paths that may change"
        if kind == "deleted":
            return "no file may be deleted"
        if path in self.modes and self.modes[path] not in REGULAR_MODES:
            return "it is no plain file in the tree"
        if kind == "added" and self._shadows_code(path):
            return "it takes the place of a file of the project"
        return ""

    def _shadows_code(self, path: str) -> bool:
        """Tell whether a new file could be imported in the place of one that may not change."""
        if language_of(path) is None:
            return False
        place = PurePosixPath(path)
        importable_from = {place.parent.name, "", "src", "lib"}  # the last three by its bare name
        others = self.modes.keys() - self.old.keys()
        same = (PurePosixPath(other) for other in others if other.endswith(place.name))
        return any(it.name == place.name and it.parent.name in importable_from for it in same)


def _read_text_or_refusal(file: Path) -> bytes | str:
    try:
        with open_regular(file) as opened:
            if os.fstat(opened.fileno()).st_nlink > 1:
                return "it has a second name elsewhere"
            content = opened.read(_LARGEST + 1)
    except OSError:
        return "it is a link or no plain file, or cannot be read"
    if len(content) > _LARGEST:
        return f"it is larger than {_LARGEST >> 10} KiB"
    try:
        content.decode()
    except UnicodeDecodeError:
        return "it is no text in UTF-8"
    return content


def _find_weakened_tests(new: Mapping[str, bytes], old: Mapping[str, bytes]) -> dict[str, str]:
    """Return which files test less than before, or decide which tests run, and why."""
    old_code = _strip_to_code({path: old[path] for path in new if path in old})
    new_code = _strip_to_code(new)
    reasons = {}
    for path, content in new.items():
        # What was not parsed before counts as it stands.
        before = old_code.get(path, old.get(path, b"").decode("utf-8", "replace"))
        after = new_code.get(path, "")
        was, now = _count_assertions(before), _count_assertions(after)
        if path not in new_code:
            reasons[path] = "its code cannot be read"
        elif now < was:
            reasons[path] = f"it has fewer assertions ({now} of {was})"
        elif len(_SKIP.findall(after)) > len(_SKIP.findall(before)):
            reasons[path] = "it skips tests"
        elif was and len(_RETURN.findall(after)) > len(_RETURN.findall(before)):
            reasons[path] = "it returns before the end of a test"
        elif changes_test_settings(path, old.get(path, b""), content):
            reasons[path] = "it decides which tests run"
    return reasons


def _count_assertions(code: str) -> int:
    return len(_ASSERTION.findall(code)) - len(_VACUOUS.findall(code))


def _strip_to_code(files: Mapping[str, bytes]) -> dict[str, str]:
    """Return the code of each file; none of one that its language's parser does not read."""
    code, sources = dict[str, str](), dict[str, Source]()
    for path, data in files.items():
        text, language = data.decode("utf-8", "replace"), language_of(path)
        if language is None:
            code[path] = text
            continue
        with suppress(UnreadableError):
            sources[path] = Source.of(text, language)
    stripped = strip_to_code(sources, Parser(), Deadline.after(_SECONDS))
    return code | {path: "\n".join(lines) for path, lines in stripped.items()}
