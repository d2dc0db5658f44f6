"""A plan on the base and on the merged tree, run by a scripted shell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fakes.shell import Scripted, ScriptedShell, SilentProgress
from fakes.trees import TreeRepository
from prjury.deadline import Deadline
from prjury.judges.builds.compare import Comparison, compare
from prjury.judges.builds.plan import BuildPlan, BuildStep
from prjury.judges.builds.run import BothSides, KeptBase
from prjury.judges.builds.workplace import Builder
from prjury.policy.tiers import BuildOptions
from prjury.ports import Memory, NoMemory, Ports
from prjury.snapshot.merge_style import HistoryCommit

PLAN = BuildPlan("tool", (BuildStep("test", ("tool",), all_ran=1),))


@dataclass(frozen=True)
class Branch(TreeRepository):
    """Trees that are commits of one branch, the newest first, and others."""

    commits: tuple[str, ...] = ()

    def recent(self, tip: str, count: int) -> Sequence[HistoryCommit]:
        after = self.commits[self.commits.index(tip) :]
        return [HistoryCommit(name, (), name, str(self.trees[name])) for name in after[:count]]


def says(exit_code: int, *cases: str, output: str = "") -> Scripted:
    """What the tool leaves behind: ``name`` for a passing test, ``!name`` for a failing one."""
    inner = {"!": '<failure message="no"/>'}
    text = "".join(
        f'<testcase classname="a" name="{case.strip("!")}" file="t.py">'
        f"{inner.get(case[0], '')}</testcase>"
        for case in cases
    )
    files = {"../reports/r.xml": f"<testsuite>{text}</testsuite>"}
    return Scripted(exit_code, output, files=files)


def run_both(
    scripts: Sequence[Scripted],
    plan: BuildPlan,
    merged: Mapping[str, str],
    commits: Mapping[str, Mapping[str, str]],
    memory: Memory | None = None,
    seconds: float = 60,
    **options: Any,
) -> tuple[Comparison, list[str]]:
    """Run the plan on the newest of the commits and on the merged tree; the commands as well."""
    repository = Branch({"merged": merged, **commits}, commits=tuple(commits))
    shell, chosen = ScriptedShell(scripts), BuildOptions(**options)
    ports = Ports(repository, shell, SilentProgress(), base_outcomes=memory or NoMemory())
    base, deadline = next(iter(commits)), Deadline.after(seconds)
    kept = KeptBase.of(ports, base)
    sides = BothSides(Builder(ports), "merged", base, chosen, kept)
    plan, result = sides.run_head_and_needed_base(
        sides.recall_or_run_base(kept.recall_base(plan), deadline), deadline
    )
    comparison = compare(plan, result, frozenset(merged), chosen)
    return comparison, [command.text for command in shell.commands]
