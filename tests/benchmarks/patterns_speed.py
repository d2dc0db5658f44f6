"""How fast the version-pattern judge is, beside ast-grep and Semgrep on the same files.

    python -P tests/benchmarks/patterns_speed.py path/to/repository.git main [--ast-grep COMMAND]
        [--semgrep COMMAND] [--runs 5]

Three pull requests are made of one commit's tree: one that adds all of it, and two of which the
base lacks some lines of some files (1,500 lines in 80 files, 12,000 in 200; imports first, so that
rules have much to look at). The judge is asked in a fresh process as it is shipped, and with every
rule of every pack in force everywhere; ast-grep is given the same rules and the same files (it
reads them whole). Semgrep and the judge are given a handful of rules that both can say. What taking
the photograph costs git is told apart. Memory is the largest resident set of all processes
together, as sampled.
"""

from __future__ import annotations

import argparse
import json
import random
import shlex
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import yaml

from benchmarks.patterns import (
    Watched,
    as_ast_grep,
    findings_of,
    judge_on,
    judged,
    table,
    ungated,
    watched,
    working,
)
from prjury.errors import PrJuryError
from prjury.git.operator import open_repository
from prjury.git.store import Store, lay_out, open_store
from prjury.git.take_snapshot import Caps, take_snapshot
from prjury.ports.types import TreeEntry
from prjury.snapshot.kinds import kind_of
from prjury.snapshot.model import FileKind, Side

_NO_CAPS = Caps(10**7, 10**9, 10**9, 10**11, 10**9, 10**9)
_SIZES = {"p95": (1_500, 80), "p99": (12_000, 200)}
_WHOLE = "whole tree"
_READ = frozenset({FileKind.SOURCE, FileKind.TEST, FileKind.CONFIG})
_TIMES = ("judge", "judge cpu", "process", "process cpu")
_SIZE = ("photograph", "files", "lines", "unread")
_SEED = 1

#: Rules of ours, and the packages whose imports Semgrep looks for in their place.
_HANDFUL = {
    "jakarta/persistence": ["javax.persistence"],
    "jakarta/validation": ["javax.validation", "javax.validation.constraints"],
    "jakarta/servlet": ["javax.servlet", "javax.servlet.http"],
    "jackson-3/j2-core-import": [f"com.fasterxml.jackson.{n}" for n in ("core", "databind")],
    "spring-boot-4/mockbean-removed": ["org.springframework.boot.test.mock.mockito"],
}


@dataclass(frozen=True)
class Change:
    """A pull request that was made up: two commits, and the files that it touches."""

    name: str
    base: str
    head: str
    paths: tuple[str, ...]


@dataclass(frozen=True)
class Cost:
    """One run of one program: what all of it took, its findings, and what else it told."""

    all: Watched
    found: int
    told: dict[str, float]

    @property
    def figures(self) -> dict[str, float]:
        """By name: those of the judge alone where there are any, else those of the process."""
        process = {"process": self.all.seconds, "process cpu": self.all.working}
        alone = {"judge": self.all.seconds, "judge cpu": self.all.working}
        return {**process, **alone, "MiB": self.all.peak, **self.told}


def _made(store: Store, commit: str) -> list[Change]:
    """The pull requests, in the store's own objects."""
    tree = store.git.text("rev-parse", "--verify", f"{commit}^{{tree}}")
    nothing = store.git.text("commit-tree", store.git.text("mktree"), "-m", "nothing")
    head = store.git.text("commit-tree", tree, "-p", nothing, "-m", "all")
    entries = [e for e in store.files(commit) if e.mode == "100644" and kind_of(e.path) in _READ]
    changes = [Change(_WHOLE, nothing, head, (".",))]
    for name, (lines, files) in _SIZES.items():
        each = -(-lines // files)
        shortened = dict(_shortened(store, entries, each, files))
        base = _committed(store, commit, shortened)
        tip = store.git.text("commit-tree", tree, "-p", base, "-m", name)
        changes.append(Change(name, base, tip, tuple(entry.path for entry in shortened)))
    return changes


def _shortened(
    store: Store, entries: Sequence[TreeEntry], each: int, files: int
) -> Iterator[tuple[TreeEntry, bytes]]:
    """Files at random that are long enough, without so many lines from the first import on."""
    picked = random.Random(_SEED).sample(entries, len(entries))  # noqa: S311 - a sample
    contents = store.read([entry.blob for entry in picked])
    for entry in picked:
        lines = (contents[entry.blob] or b"").splitlines(keepends=True)
        if len(lines) < each + 10 or not files:
            continue
        imports = (n for n, line in enumerate(lines) if line.startswith((b"import ", b"from ")))
        start = min(next(imports, 5), len(lines) - each)
        files -= 1
        yield entry, b"".join(lines[:start] + lines[start + each :])


def _committed(store: Store, commit: str, files: dict[TreeEntry, bytes]) -> str:
    """A commit with the tree of another, but for some files."""
    with tempfile.TemporaryDirectory() as place:
        env = {"GIT_INDEX_FILE": f"{place}/index"}
        store.git("read-tree", commit, env=env)
        entries = b""
        for entry, text in files.items():
            blob = store.git("hash-object", "-w", "--stdin", stdin=text).strip()
            entries += b"100644 " + blob + b"\t" + entry.path.encode() + b"\n"
        store.git("update-index", "--index-info", stdin=entries, env=env)
        tree = store.git("write-tree", env=env).decode().strip()
    return store.git.text("commit-tree", tree, "-m", "before")


def judge_once(repository: str, base: str, head: str, rules: str) -> None:
    """In a process of its own: prints what one judgment took and found, as JSON."""
    with open_store(open_repository(Path(repository))) as store:
        started = time.perf_counter()
        pull = take_snapshot(store, Side("base", base), Side("head", head), caps=_NO_CAPS)
        seen = time.perf_counter() - started
        judge = judge_on(store)
        if rules:
            judge = ungated(judge, () if rules == "every" else rules.split(","))
        worked = working() + time.process_time()
        judgment, seconds = judged(judge, pull, 3_600)
        worked = working() + time.process_time() - worked
    told = {
        "photograph": seen,
        "judge": seconds,
        "judge cpu": worked,
        "found": len(findings_of(judgment)[0]),
        "files": len(pull.files),
        "lines": pull.additions,
        "unread": len(judgment.metadata["scope"]["unread"]),
    }
    print(json.dumps(told))


def _rule_files(directory: Path) -> int:
    """Writes projects of ast-grep's and Semgrep's own; how many matchers are not in the former."""
    rules, left_out = as_ast_grep()
    (directory / "rules").mkdir()
    (directory / "rules" / "all.yml").write_text(yaml.safe_dump_all(rules))
    (directory / "sgconfig.yml").write_text("ruleDirs: [rules]\n")
    about = {"languages": ["java"], "severity": "ERROR", "message": "moved"}
    handful = [
        {"id": name.replace("/", "."), **about}
        | {"pattern-either": [{"pattern": f"import {package}.$NAME;"} for package in packages]}
        for name, packages in _HANDFUL.items()
    ]
    (directory / "semgrep.yml").write_text(yaml.safe_dump({"rules": handful}))
    return left_out


def _told(output: bytes) -> tuple[int, dict[str, float]]:
    """Findings, and what else was told: of the judge, of Semgrep's JSON, of ast-grep's lines."""
    lines = output.splitlines()
    last = json.loads(lines[-1]) if lines else {}
    if "judge" in last:
        return last["found"], last
    return len(last["results"]) if "results" in last else len(lines), {}


@dataclass(frozen=True)
class Course:
    """The directory with everything that the programs run over, and how they are called."""

    place: Path
    commands: argparse.Namespace

    def programs(self, change: Change) -> Iterator[tuple[str, list[str]]]:
        """The names and command lines of those that look at a change."""
        own = [sys.executable, "-P", __file__, "--once", str(self.place / "store.git")]
        own += [change.base, change.head]
        yield "prjury", [*own, ""]
        yield "prjury, every rule", [*own, "every"]
        if self.commands.ast_grep:
            scan = [
                *shlex.split(self.commands.ast_grep),
                "scan",
                f"--config={self.place}/sgconfig.yml",
            ]
            scan += ["--json=stream", "--no-ignore=hidden"]
            yield "ast-grep", [*scan, *change.paths]
            yield "ast-grep, one thread", [*scan, "--threads=1", *change.paths]
        if self.commands.semgrep:
            yield "prjury, handful", [*own, ",".join(_HANDFUL)]
            scan = [
                *shlex.split(self.commands.semgrep),
                "scan",
                f"--config={self.place}/semgrep.yml",
            ]
            scan += ["--metrics=off", "--disable-version-check", "--json", "--quiet"]
            yield "Semgrep, handful", [*scan, *change.paths]

    def _cost(self, argv: Sequence[str]) -> Cost:
        done = watched(argv, self.place / "tree")
        return Cost(done, *_told(done.output))

    def measured(self, changes: Sequence[Change]) -> dict[tuple[str, str], list[Cost]]:
        """The costs by change and program; they take turns, so that noise falls on all of them."""
        costs: dict[tuple[str, str], list[Cost]] = {}
        for _ in range(self.commands.runs):
            for change in changes:
                for name, argv in self.programs(change):
                    costs.setdefault((change.name, name), []).append(self._cost(argv))
        return costs


def _median(costs: Sequence[Cost], name: str) -> float:
    return statistics.median(cost.figures[name] for cost in costs)


def _row(key: tuple[str, str], costs: Sequence[Cost]) -> list[object]:
    told = [f"{_median(costs, name):.2f}" for name in _TIMES]
    more = [f"{costs[0].told.get(name, 0):.2f}".removesuffix(".00") for name in _SIZE]
    return [*key, *told, f"{_median(costs, 'MiB'):.0f}", costs[0].found, *more]


def _ratios(costs: Mapping[tuple[str, str], Sequence[Cost]]) -> Iterator[list[object]]:
    """How many times as long the others take, where the rules are the same."""
    yield ["prjury: whole tree", "p95", *_over(costs[_WHOLE, "prjury"], costs["p95", "prjury"])]
    for (size, program), theirs in costs.items():
        ours = "prjury, handful" if "handful" in program else "prjury, every rule"
        if not program.startswith("prjury"):
            yield [f"{size}: {program}", ours, *_over(theirs, costs[size, ours])]


def _over(some: Sequence[Cost], others: Sequence[Cost]) -> list[str]:
    return [f"{_median(some, name) / _median(others, name):.2f}" for name in _TIMES]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("repository", type=Path)
    parser.add_argument("branch")
    parser.add_argument("--ast-grep", default="", help="its command; without one it is left out")
    parser.add_argument("--semgrep", default="", help="its command; without one it is left out")
    parser.add_argument("--runs", type=int, default=5)
    return parser.parse_args()


def main() -> None:
    told = _arguments()
    operator = open_repository(told.repository)
    commit = operator.commit(told.branch).sha
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        objects, tree = place / "store.git", place / "tree"
        objects.mkdir()
        tree.mkdir()
        lay_out(objects, operator)
        store = Store(open_repository(objects).git, operator)
        store.export(commit, tree)
        left_out = _rule_files(place)
        costs = Course(place, told).measured(_made(store, commit))
    print(f"{told.repository} @{commit[:10]}, median of {told.runs} runs")
    print(f"{left_out} matchers cannot be said in ast-grep alone\n")
    head = ["scan", "program", *_TIMES, "MiB", "findings", *_SIZE]
    print(table(head, (_row(key, some) for key, some in costs.items())))
    print(table(["of", "over that of", *_TIMES], _ratios(costs)))


if __name__ == "__main__":
    try:
        judge_once(*sys.argv[2:]) if sys.argv[1:2] == ["--once"] else main()
    except PrJuryError as error:
        sys.exit(f"error: {error}")
