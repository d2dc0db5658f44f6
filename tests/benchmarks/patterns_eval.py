"""Precision and recall of the version-pattern judge on labelled lines of real migrations.

    python -P tests/benchmarks/patterns_eval.py lines.jsonl --repositories DIRECTORY [--show]

Each row of the data names a line of a file at one revision, and a migrating commit: lines that the
migration took away should be found, what it put in their place and what it left alone should not.
The file is judged as if a pull request added all of it to the migrated tree, with the versions
that this tree declares, packs chosen by themselves. Rows are objects with `repo`, `commit`, `rev`,
`file`, `line`, `label` (positive or negative), `pattern`, `kind`, `ctx` and the line's
`text_sha256`. The directory holds clones, as `OWNER/NAME`, `OWNER+NAME` or `OWNER+NAME/repo`.

A line counts as flagged when any rule finds anything on it at the severity or above. With
`--ungated`, versions are ignored and every rule of every pack holds: what is missed then is missed
by the rules, and not by the versions.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from msgspec import structs

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import time
from collections.abc import Collection
from functools import cache

from fakes.repository import BASE, HEAD, change
from prjury.deadline import Deadline
from prjury.errors import PrJuryError, SourceError
from prjury.git.operator import open_repository
from prjury.git.store import Store, open_store
from prjury.judges.context import PullRequestContext
from prjury.judges.patterns.judge import PatternsJudge, make
from prjury.judges.patterns.selection import PackSelection
from prjury.jury.judgment import Check, Judgment, Severity
from prjury.manifests.module import ManifestModule, Requirement, Truth
from prjury.manifests.project import Project
from prjury.policy.options import PatternsOptions
from prjury.ports import Ports, Repository, SilentProgress
from prjury.ports.types import TreeEntry
from prjury.rulepacks.applicability import PackApplicability, at_least, list_required
from prjury.rulepacks.load import list_heads, load_shipped
from prjury.rulepacks.rule import KeptBy, Pack, PatternRule, Requirements
from prjury.sandbox.contained import ContainedShell
from prjury.snapshot.model import MergeTrial, PullRequest, Side

#: What the judge says of the old way where nothing is wrong with it yet: no finding.
_UPCOMING = "right for the declared versions"
_FIELDS = ("repo", "commit", "rev", "file", "line", "label", "pattern", "kind", "ctx")


@dataclass(frozen=True)
class Row:
    """A labelled line; ``sha256`` is that of its text."""

    repo: str
    commit: str
    rev: str
    file: str
    line: int
    label: str
    pattern: str
    kind: str
    ctx: str
    sha256: str

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Row:
        return cls(**{name: values[name] for name in _FIELDS}, sha256=values["text_sha256"])

    @property
    def text(self) -> tuple[str, str, str, str]:
        """The file at its revision, and the tree that it is put into."""
        return self.repo, self.commit, self.file, self.rev

    @property
    def hard(self) -> bool:
        """Whether a search for words would take this negative for a positive."""
        looks_so = self.kind.startswith("survivor") or self.ctx in {"string", "comment"}
        return self.label == "negative" and looks_so


@dataclass(frozen=True)
class Verdict:
    """What became of one row.

    Attributes:
        rules: what was found on the line, at the severity that counts.
        cause: why nothing was, for a positive; ``told`` says more.
        is_error: a rule of that severity finds it, and each declared version lacks it.
    """

    row: Row
    line: str
    rules: tuple[str, ...] = ()
    cause: str = ""
    told: str = ""
    is_error: bool = False
    is_called_error: bool = False

    @property
    def outcome(self) -> str:
        if self.row.label == "positive":
            return "TP" if self.rules else "FN"
        return "FP" if self.rules else "TN"


@dataclass(frozen=True)
class Addition:
    """A pull request that adds one file to a tree, and the judge's answers to it.

    Attributes:
        store: knows both trees by the names `BASE` and `HEAD`.
    """

    store: Store
    pull: PullRequest
    lines: Sequence[str]
    judgment: Judgment

    @cached_property
    def free(self) -> Judgment:
        """The answer where every rule holds."""
        return judged(ungated(judge_on(self.store)), self.pull)[0]

    @classmethod
    def judged(cls, repository: Store, row: Row, *, gated: bool) -> Addition:
        blob = repository.git.text("rev-parse", "--verify", f"{row.rev}:{row.file}")
        content = repository.read([blob])[blob] or b""
        others = [e for e in repository.files(row.commit) if e.path != row.file]
        whole = sorted([*others, TreeEntry(row.file, "100644", blob)], key=lambda e: e.path)
        store = replace(repository, listings={BASE: others, HEAD: whole})
        added = structs.replace(change(row.file, None, content), new_blob=blob)
        base, head = Side("main", BASE), Side("topic", HEAD)
        pull = PullRequest(row.repo, base, head, BASE, MergeTrial(None), files=(added,))
        judge = judge_on(store) if gated else ungated(judge_on(store))
        lines = content.decode("utf-8", "replace").split("\n")
        return cls(store, pull, lines, judged(judge, pull)[0])

    def verdict(self, row: Row, severity: Severity) -> Verdict:
        line = self.lines[row.line - 1].removesuffix("\r")
        found = _on(row.line, findings_of(self.judgment)[0])
        rules = [check.name for check in found if at_least(check.severity, severity)]
        if rules or row.label == "negative":
            called = any(check.severity == "error" for check in found)
            fails = called or any(self._fails(check.name, row.file) for check in found)
            return Verdict(row, line, tuple(rules), is_error=fails, is_called_error=called)
        return Verdict(row, line, (), *self._why_missed(row, found))

    def _why_missed(self, row: Row, found: Sequence[Check]) -> tuple[str, str]:
        """The kind of miss, and the details."""
        if found:
            return "below severity", ", ".join(f"{c.name} ({c.severity})" for c in found)
        if upcoming := [c for c in _on(row.line, self.judgment.checks) if c.passed]:
            return _UPCOMING, ", ".join(check.name for check in upcoming)
        if silenced := _on(row.line, findings_of(self.judgment)[1]):
            return "suppressed", ", ".join(check.name for check in silenced)
        if unread := self.judgment.metadata["scope"]["unread"]:
            return "not read", unread[0]["reason"]
        names = [check.name for check in _on(row.line, findings_of(self.free)[0])]
        if not names:
            return "not found", self.free.label or ""
        applied = set(self.judgment.metadata.get("packs", ()))
        cause = "gated" if applied & {_pack(name) for name in names} else "no pack"
        return cause, "; ".join(f"{name}: {self._gate(name, row.file)}" for name in names)

    def _fails(self, name: str, path: str) -> bool:
        module, pack, rule = self._find_rule(name, path)
        lacks = module.any_of(list_required(pack, rule)) is Truth.YES
        return lacks and rule.severity == "error"

    def _find_rule(self, name: str, path: str) -> tuple[ManifestModule, Pack, PatternRule]:
        module = Project.read(self.pull, self.store, [path]).of_file[path].head
        pack = load_shipped(_pack(name))
        rule = next(rule for rule in pack.rules if name == f"{pack.id}/{rule.id}")
        return module, pack, rule

    def _gate(self, name: str, path: str) -> str:
        """What the module of the file says about a rule that does not hold there."""
        module, pack, rule = self._find_rule(name, path)
        if PackApplicability(pack, module).keeps_old_way(rule):
            return f"{module.path} keeps the old way on purpose"
        return _declared(module, pack, rule)


def _declared(module: ManifestModule, pack: Pack, rule: PatternRule) -> str:
    asked = [*(rule.requires or pack.requires or pack.gate), *(rule.or_requires or [])]
    found = [d for requirement in asked for d in module.evidence(requirement)[:1]]
    told = ", ".join(f"{d} {d.version or d.written or '(no version)'}" for d in found)
    place = module.path or "no build file"
    return f"{place} declares {told or 'nothing of ' + ', '.join(r.text for r in asked)}"


def _on(line: int, checks: Iterable[Check]) -> list[Check]:
    return [check for check in checks if check.location and check.location.line == line]


def _pack(name: str) -> str:
    return name.partition("/")[0]


@dataclass
class Evaluation:
    """Goes through the rows; what cannot be checked is told and counted, never left out."""

    repositories: Path
    severity: Severity
    gated: bool
    stores: dict[str, Store] = field(default_factory=dict)
    verdicts: list[Verdict] = field(default_factory=list)
    unchecked: list[str] = field(default_factory=list)

    def run(self, rows: Iterable[Row]) -> None:
        with ExitStack() as stack:
            for (repo, *_), some in itertools.groupby(rows, key=lambda row: row.text):
                members = list(some)
                try:
                    self._judge(self._store(repo, stack), members)
                except SourceError as error:
                    self.unchecked += [f"{repo}: {_place(row)}: {error}" for row in members]

    def _store(self, repo: str, stack: ExitStack) -> Store:
        """Raises a SourceError when the repository is not there."""
        if repo not in self.stores:
            joined = repo.replace("/", "+")
            places = [self.repositories / name for name in (f"{joined}/repo", joined, repo)]
            place = next((place for place in places if place.is_dir()), places[-1])
            self.stores[repo] = stack.enter_context(open_store(open_repository(place)))
        return self.stores[repo]

    def _judge(self, store: Store, rows: Sequence[Row]) -> None:
        addition = Addition.judged(store, rows[0], gated=self.gated)
        for row in rows:
            text = "".join(addition.lines[row.line - 1 : row.line])
            if row.sha256 not in {_sha256(text), _sha256(text.removesuffix("\r"))}:
                self.unchecked.append(f"{row.repo}: {_place(row)}: the line has another text")
            else:
                self.verdicts.append(addition.verdict(row, self.severity))


def _place(row: Row) -> str:
    return f"{row.rev[:7]}{row.rev[40:]}:{row.file}:{row.line}"


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _confusion(name: str, verdicts: Sequence[Verdict]) -> list[object]:
    counts = Counter(verdict.outcome for verdict in verdicts)
    tp, fn, fp, tn = (counts[outcome] for outcome in ("TP", "FN", "FP", "TN"))
    return [name, tp, fn, fp, tn, _share(tp, tp + fp), _share(tp, tp + fn)]


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.3f}" if whole else "–"


def _show_figures(verdicts: Sequence[Verdict]) -> None:
    of_pattern: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        of_pattern.setdefault(verdict.row.pattern, []).append(verdict)
    rows = [_confusion(name, some) for name, some in sorted(of_pattern.items())]
    head = ["pattern", "TP", "FN", "FP", "TN", "precision", "recall"]
    print(table(head, [*rows, _confusion("**all**", verdicts)]))
    counts = Counter(verdict.outcome for verdict in verdicts)
    upcoming = sum(verdict.cause == _UPCOMING for verdict in verdicts)
    share = _share(counts["TP"], counts["TP"] + counts["FN"] - upcoming)
    print(f"Missed, but right for the declared versions: {upcoming}; recall without: {share}\n")
    hard = [verdict for verdict in verdicts if verdict.row.hard]
    flagged = [verdict for verdict in hard if verdict.rules]
    print(f"Hard negatives flagged: {len(flagged)} of {len(hard)}\n")
    errors = [verdict for verdict in verdicts if verdict.is_error]
    called = [verdict for verdict in errors if verdict.is_called_error]
    right = [verdict for verdict in called if verdict.outcome == "TP"]
    print(f"Errors called errors: {len(called)} of {len(errors)}, {len(right)} of them right\n")
    wrong = [(v.row.pattern, name) for v in verdicts if v.outcome == "FP" for name in v.rules]
    missed = [(v.row.pattern, v.cause) for v in verdicts if v.outcome == "FN"]
    for what, pairs in (("rule on a negative", wrong), ("why missed", missed)):
        counted = sorted(Counter(pairs).items())
        print(table(["pattern", what, "lines"], ([*pair, count] for pair, count in counted)))


def _show_lines(verdicts: Iterable[Verdict]) -> Iterator[str]:
    for verdict in verdicts:
        if verdict.outcome in {"FN", "FP"}:
            row = verdict.row
            yield f"* **{verdict.outcome}** {row.pattern} ({row.kind}, {row.ctx}) {row.repo}"
            why = ", ".join(verdict.rules) or f"{verdict.cause}: {verdict.told}".rstrip(": ")
            yield f"  `{_place(row)}`\n  `{verdict.line.strip()[:160]}`\n  {why}"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--repositories", type=Path, required=True)
    parser.add_argument("--severity", choices=["hint", "warning", "error"], default="hint")
    parser.add_argument("--ungated", action="store_true")
    parser.add_argument("--show", action="store_true")
    return parser.parse_args()


def main() -> None:
    told = _arguments()
    rows = [Row.of(json.loads(line)) for line in told.data.read_text("utf-8").splitlines()]
    rows.sort(key=lambda row: row.text)
    evaluation = Evaluation(told.repositories, told.severity, gated=not told.ungated)
    evaluation.run(rows)
    gates = "versions ignored" if told.ungated else "by declared versions"
    print(f"{len(evaluation.verdicts)} of {len(rows)} lines; {told.severity} and above, {gates}")
    print(f"Packs: {', '.join(sorted(list_heads()))}\n")
    _show_figures(evaluation.verdicts)
    for line in _show_lines(evaluation.verdicts) if told.show else ():
        print(line)
    if evaluation.unchecked:
        sys.exit("not checked:\n" + "\n".join(evaluation.unchecked))


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
    always = Requirements([Requirement.parse("always")])
    named = [rule for rule in pack.rules if not wanted or f"{pack.id}/{rule.id}" in wanted]
    rules = [
        structs.replace(rule, requires=always, or_requires=None, deprecated=None, kept_by=None)
        for rule in named
    ]
    return structs.replace(pack, gate=always, requires=always, kept_by=KeptBy(), rules=rules)


def judged(judge: PatternsJudge, pull: PullRequest, seconds: float = 60) -> tuple[Judgment, float]:
    """The judgment, and how long it took in seconds."""
    context = PullRequestContext("judge it", pull=pull, deadline=Deadline.after(seconds))
    started = time.perf_counter()
    judgment = judge.judge(context)
    return judgment, time.perf_counter() - started


def findings_of(judgment: Judgment) -> tuple[list[Check], list[Check]]:
    """The findings on lines, and those that a comment silences."""
    places = judgment.metadata.get("suppressions", ())
    suppressed = {place.rpartition(", by ")[0] for place in places}
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


if __name__ == "__main__":
    try:
        main()
    except PrJuryError as error:
        sys.exit(f"error: {error}")
