"""The version-pattern judge over the newest pull requests of a repository, beside a plain search.

    python -P tests/benchmarks/patterns.py path/to/repository.git 300

For each pull request, against its merge base with the default branch: what the judge says, how long
it took (git excluded), and how often `import javax.` and `com.fasterxml.jackson` stand in added
lines, which is what a search without versions and package lists would flag.

What the other scripts about version patterns share is here as well: a judge that only needs a
repository, the same judge without its versions, the same rules as ast-grep takes them, the findings
of a judgment, Markdown tables, and other programs' time and memory.
"""

from __future__ import annotations

import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from prjury.code.languages import LANGUAGES, Language
from prjury.deadline import Deadline
from prjury.errors import PrJuryError, SourceError
from prjury.git.operator import open_repository
from prjury.git.store import Store, open_store
from prjury.git.take_snapshot import take_snapshot
from prjury.judges.context import PullRequestContext
from prjury.judges.patterns.judge import PatternsJudge, make
from prjury.judges.patterns.selection import PackSelection
from prjury.jury.judgment import Check, Judgment
from prjury.manifests.versions import Requirement
from prjury.policy.patterns import PatternsOptions
from prjury.ports import Ports, Repository, SilentProgress
from prjury.rulepacks.load import list_heads, load_shipped
from prjury.rulepacks.rule import KeptBy, Match, Pack, PatternRule
from prjury.sandbox.contained import ContainedShell
from prjury.snapshot.model import PullRequest

#: Seconds between two looks at a program's memory.
_SAMPLED = 0.01

PLAIN = {
    "import javax.": re.compile(r"^\s*import\s+(static\s+)?javax\."),
    "com.fasterxml.jackson": re.compile(r"com\.fasterxml\.jackson"),
}


def judge_on(repository: Repository) -> PatternsJudge:
    """The judge as `prjury review` seats it."""
    shell = ContainedShell({"PATH": "/usr/bin:/bin"})
    return make(PatternsOptions(), Ports(repository, shell, SilentProgress()))


def ungated(judge: PatternsJudge, rules: Collection[str] = ()) -> PatternsJudge:
    """The same judge, for which every rule of every shipped pack holds everywhere.

    Args:
        rules: those that are wanted, as ``pack/rule``; none means all.
    """
    packs = _free_packs(frozenset(rules))
    return replace(judge, selection=PackSelection(packs, packs, frozenset()))


@cache
def _free_packs(rules: frozenset[str]) -> Mapping[str, Pack]:
    packs = (_free(load_shipped(name), rules) for name in list_heads())
    return {pack.id: pack for pack in packs if pack.rules}


def _free(pack: Pack, wanted: Collection[str]) -> Pack:
    always = [Requirement.parse("always")]
    holding = {"requires": always, "or_requires": None, "deprecated": None, "kept_by": None}
    named = [rule for rule in pack.rules if not wanted or f"{pack.id}/{rule.id}" in wanted]
    rules = [rule.model_copy(update=holding) for rule in named]
    free = {"gate": always, "requires": always, "kept_by": KeptBy(), "rules": rules}
    return pack.model_copy(update=free)


def as_ast_grep() -> tuple[list[dict[str, Any]], int]:
    """All rules as ast-grep's own program reads them, and how many matchers it cannot say.

    Those are matchers that follow names through a file's imports, and those without a kind of node,
    which its library takes; regexes and entries of build files are not for ast-grep at all.
    """
    rules: list[dict[str, Any]] = []
    left_out = 0
    for pack, rule, match, language in _parsing():
        config = {key: value for key, value in pack.config(match, language).items() if value}
        if "names" in config or not _has_kind(config["rule"], config.get("utils", {})):
            left_out += 1
            continue
        globs = {"files": [f"**/{glob}" for glob in match.files]} if match.files else {}
        about = {"id": f"{pack.id}.{rule.id}.{len(rules)}", "message": rule.id}
        rules.append({**about, "language": language.parser, **config, **globs})
    return rules, left_out


def _has_kind(rule: Mapping[str, Any], utils: Mapping[str, Any]) -> bool:
    """Whether a rule says of which kinds its nodes are, as ast-grep's program wants it."""
    if "kind" in rule or "pattern" in rule:
        return True
    if "any" in rule and all(_has_kind(each, utils) for each in rule["any"]):
        return True
    if any(_has_kind(each, utils) for each in rule.get("all", ())):
        return True
    return rule.get("matches") in utils and _has_kind(utils[rule["matches"]], utils)


def _parsing() -> Iterator[tuple[Pack, PatternRule, Match, Language]]:
    """Every matcher for which files are parsed, once for each of its languages."""
    for pack in map(load_shipped, list_heads()):
        for rule in pack.rules:
            for match in rule.match:
                if match.regex is None and match.manifest is None:
                    yield from ((pack, rule, match, LANGUAGES[name]) for name in match.languages)


def judged(judge: PatternsJudge, pull: PullRequest, seconds: float = 60) -> tuple[Judgment, float]:
    """The judgment, and how long it took in seconds."""
    context = PullRequestContext("judge it", pull=pull, deadline=Deadline.after(seconds))
    started = time.perf_counter()
    judgment = judge.judge(context)
    return judgment, time.perf_counter() - started


def findings_of(judgment: Judgment) -> tuple[list[Check], list[Check]]:
    """The findings on lines, and those that a comment silences."""
    suppressed = set(judgment.metadata.get("suppressions", ()))
    told: tuple[list[Check], list[Check]] = ([], [])
    for check in judgment.failed_checks:
        if check.location and not check.name.startswith("patterns/"):
            name = f"{check.name} ({check.location.path}:{check.location.line})"
            told[name in suppressed].append(check)
    return told


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines) + "\n"


def percentile(values: Sequence[float], percent: int) -> float:
    """The value below which so many percent of them are; NaN of none."""
    if not values:
        return float("nan")
    return sorted(values)[min(len(values) - 1, len(values) * percent // 100)]


@dataclass(frozen=True)
class Watched:
    """What a program took, it and all below it: seconds, seconds of processors, MiB at most."""

    seconds: float
    working: float
    peak: float
    output: bytes


def watched(argv: Sequence[str], directory: Path) -> Watched:
    """Runs a program to its end."""
    sizes = [0]
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        started, worked = time.perf_counter(), working()
        process = subprocess.Popen(argv, cwd=directory, stdout=output, stderr=errors)

        def sample() -> None:
            while process.returncode is None:
                sizes.append(_resident(process.pid))
                time.sleep(_SAMPLED)

        sampler = threading.Thread(target=sample)
        sampler.start()
        process.wait()
        seconds, work = time.perf_counter() - started, working() - worked
        sampler.join()
        output.seek(0)
        errors.seek(0)
        if process.returncode not in {0, 1}:  # 1 is how linters say that they found something
            sys.exit(f"{argv[:4]} failed: {errors.read().decode('utf-8', 'replace')[-2000:]}")
        return Watched(seconds, work, max(sizes) / 1024, output.read())


def working() -> float:
    """Seconds that processors have spent on the programs that this one has run so far."""
    times = os.times()
    return times.children_user + times.children_system


def _resident(pid: int) -> int:
    """KiB of the process and everything below it; nothing of one that has ended meanwhile."""
    with suppress(OSError):
        own = re.search(r"VmRSS:\s*(\d+)", Path(f"/proc/{pid}/status").read_text())
        tasks = Path(f"/proc/{pid}/task").iterdir()
        children = [int(c) for task in tasks for c in (task / "children").read_text().split()]
        return (int(own[1]) if own else 0) + sum(map(_resident, children))
    return 0


def _plain_hits(pull: PullRequest) -> Counter[str]:
    lines = [line.text for file in pull.files for line in file.added_lines]
    return Counter({name: sum(map(bool, map(p.search, lines))) for name, p in PLAIN.items()})


def _pulls(store: Store, count: int, statuses: Counter[str]) -> Iterable[tuple[str, PullRequest]]:
    """The newest pull requests; why one cannot be read goes to the statuses."""
    operator = store.operator
    listing = operator.git.text("for-each-ref", "--format=%(refname)", "refs/pull/*/head")
    refs = sorted(listing.splitlines(), key=lambda ref: int(ref.split("/")[2]))[-count:]
    main_branch = operator.default_branch()
    for ref in refs:
        head = operator.commit(ref)
        try:
            parted = operator.commit(store.git.text("merge-base", main_branch.sha, head.sha))
            yield ref, take_snapshot(store, parted, head)
        except SourceError as error:
            statuses[f"not read: {error}"] += 1


def main(repository: str, count: str) -> None:
    statuses: Counter[str] = Counter()
    hits: Counter[str] = Counter()
    findings, times, plain_pulls = [], [], 0
    with open_store(open_repository(Path(repository))) as store:
        judge = judge_on(store)
        for ref, pull in _pulls(store, int(count), statuses):
            judgment, seconds = judged(judge, pull)
            statuses[judgment.label or judgment.status.value] += 1
            times.append(seconds)
            found = _plain_hits(pull)
            hits += found
            plain_pulls += bool(found.total())
            errors = [c for c in findings_of(judgment)[0] if c.severity == "error"]
            findings += [f"{ref} {c.name} {c.location} {c.evidence}" for c in errors]
    if not times:
        sys.exit(f"{repository} has no pull request that can be read: {dict(statuses)}")
    print(
        f"{statuses.total()} pull requests: {dict(statuses)}; {len(findings)} findings that block"
    )
    print(f"a plain search: {dict(hits)} added lines in {plain_pulls} pull requests")
    print(
        f"seconds a pull request: median {statistics.median(times):.2f}, "
        f"p95 {percentile(times, 95):.2f}, max {max(times):.2f}"
    )
    print(*findings, sep="\n")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    try:
        main(*sys.argv[1:])
    except PrJuryError as error:
        sys.exit(f"error: {error}")
