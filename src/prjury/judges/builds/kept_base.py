"""Outcomes of bases that passed, and which tests failed on which bases, kept for later changes."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence

import msgspec
from msgspec import Struct

from prjury.judges.builds.evidence import TreeRun, clean_value, refuse_other_steps, refuse_untrue
from prjury.judges.builds.plan import BuildPlan
from prjury.ports import Memory
from prjury.ports.types import TreeEntry
from prjury.report.sanitise import Redact, redact_text
from prjury.resources import program_version

#: Bases whose failing tests are remembered, and how many of each.
_MOST_BASES, _MOST_FAILING = 400, 200


class Failing(Struct, frozen=True):
    """The tests that failed on one base."""

    commit: str
    tests: tuple[str, ...] = ()


class Recollection(Struct, frozen=True):
    """The kept outcomes of a plan: of the base, of an earlier commit, and failures on bases."""

    base: TreeRun | None = None
    earlier: TreeRun | None = None
    commit: str = ""
    history: tuple[Failing, ...] = ()

    def count_failures(self, run: TreeRun) -> dict[str, tuple[int, int]]:
        """On how many of how many bases each test failed that fails in this run and not on all."""
        counts = {}
        for failure in run.failures:
            failed = sum(failure.id in base.tests for base in self.history)
            if failure.kind == "test" and 0 < failed < len(self.history):
                counts[failure.id] = (failed, len(self.history))
        return counts


class KeptBase(Struct, frozen=True):
    """Keeps outcomes in the operator's memory; none whose tests have other names once redacted."""

    memory: Memory
    redact: Redact
    environ: Mapping[str, str]

    def recall(
        self, plan: BuildPlan, tree: Sequence[TreeEntry], commits: Sequence[str]
    ) -> Recollection:
        """Recall the outcomes of a plan for the base's tree and its commits, the newest first."""
        base = self._read(plan, self._key(plan, tree))
        earlier, commit = None, ""
        for commit in commits:
            key = self.memory.recall(self._key(plan, commit))
            earlier = self._read(plan, key) if key else None
            if earlier:
                break
        history = tuple(one for one in self._read_history(plan) if one.commit in commits)
        return Recollection(base, earlier, commit if earlier else "", history)

    def keep(
        self, plan: BuildPlan, tree: Sequence[TreeEntry], run: TreeRun, commit: str = ""
    ) -> None:
        """Keep an outcome that passed, and note which tests failed on a commit of the base."""
        if commit and run.tested:
            self._note(plan, commit, run)
        if run.failed or not run.ended:
            return
        cleaned = clean_value(run, lambda text: redact_text(text, self.redact))
        if cleaned.results.ran != run.results.ran:
            return
        key = self._key(plan, tree)
        self.memory.keep(key, msgspec.json.encode(cleaned).decode())
        if commit:
            self.memory.keep(self._key(plan, commit), key)

    def _read(self, plan: BuildPlan, key: str) -> TreeRun | None:
        text = self.memory.recall(key)
        if text is None:
            return None
        try:
            run = msgspec.json.decode(text.encode("utf-8", "replace"), type=TreeRun)
            refuse_untrue(run)
            refuse_other_steps(run, plan)
        except (ValueError, RecursionError, msgspec.MsgspecError):
            return None
        return None if run.failed or not run.ended else run

    def _note(self, plan: BuildPlan, commit: str, run: TreeRun) -> None:
        tests = (failure.id for failure in run.failures if failure.kind == "test")
        failing = tuple(redact_text(test, self.redact) for test in tests)[:_MOST_FAILING]
        others = [base for base in self._read_history(plan) if base.commit != commit]
        history = (*others, Failing(commit, failing))[-_MOST_BASES:]
        cleaned = clean_value(history, str)
        self.memory.keep(self._key(plan, None), msgspec.json.encode(cleaned).decode())

    def _read_history(self, plan: BuildPlan) -> tuple[Failing, ...]:
        try:
            text = self.memory.recall(self._key(plan, None)) or "[]"
            return msgspec.json.decode(text.encode("utf-8", "replace"), type=tuple[Failing, ...])
        except (ValueError, RecursionError, msgspec.MsgspecError):
            return ()

    def _key(self, plan: BuildPlan, tree: Sequence[TreeEntry] | str | None) -> str:
        steps = [[step.name, step.text] for step in plan.steps]
        how = [plan.system, plan.directory, steps, dict(plan.env), list(plan.reports)]
        system = os.uname()
        machine = [system.sysname, system.release, system.machine]
        where = [program_version(), machine, sorted(self.environ.items())]
        what = (
            tree
            if tree is None or isinstance(tree, str)
            else [[entry.path, entry.mode, entry.blob] for entry in tree]
        )
        text = json.dumps([how, where, what], sort_keys=True)
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        return f"base outcome {digest}"
