"""The version-pattern judge over the commits of a branch, each as a pull request to its parent.

    python -P tests/benchmarks/patterns_history.py path/to/repository.git main --count 1500

Prints how many findings each rule has, at which severity, and those that nobody should ever see:
on a `javax` package of the JDK, on Jackson's annotations, of a rule for Boot 4 or Jackson 3 where
the parent declares Boot 3, and in comments, strings and documentation. Whether a word stands in a
comment or a string is asked of Pygments, not of the judge's own parser. Then come the times, and
a random sample of findings with their lines, for reading by hand.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path, PurePosixPath

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import msgspec
from pygments.lexers import get_lexer_for_filename  # type: ignore[import-untyped]
from pygments.token import Comment, String  # type: ignore[import-untyped]
from pygments.util import ClassNotFound  # type: ignore[import-untyped]

from benchmarks.patterns import findings_of, judge_on, judged, percentile, table
from prjury.code.languages import language_of
from prjury.code.parser import Job, NotParsed, Parsed, Parser
from prjury.deadline import Deadline
from prjury.errors import PrJuryError, SourceError
from prjury.git.command import find_in_tree
from prjury.git.operator import open_repository
from prjury.git.store import Store, open_store
from prjury.git.take_snapshot import take_snapshot
from prjury.judges.patterns.judge import PatternsJudge
from prjury.jury.judgment import Check, Judgment
from prjury.rulepacks.load import list_heads, load_shipped
from prjury.rulepacks.rule import PatternRule
from prjury.snapshot.model import PullRequest, Side

#: The packages under ``javax`` that the JDK itself has, and has kept.
_JDK = re.compile(
    r"javax\.(accessibility|annotation\.processing|crypto|imageio|lang\.model|management|naming|net"
    r"|print|rmi\.ssl|script|security\.(auth|cert|sasl)|smartcardio|sound|sql|swing|tools"
    r"|transaction\.xa"
    r"|xml\.(catalog|crypto|datatype|namespace|parsers|stream|transform|validation|xpath"
    r"|XMLConstants))\b"
)
_JAVAX = re.compile(r"\bjavax\.\w[\w.]*")
_JACKSON = re.compile(r"com\.fasterxml\.jackson\.\w+")
_ANNOTATION = "com.fasterxml.jackson.annotation"
_BOOT = re.compile(
    r"<spring-boot\.version>(\d+)\.|"
    r"<artifactId>spring-boot-(?:starter-parent|dependencies)</artifactId>\s*<version>(\d+)\."
)
_NEW_PLATFORM = frozenset({"spring-boot-4", "jackson-3"})
_DOCS = frozenset({".md", ".adoc", ".rst", ".txt"})
_SHOWN = 20


@dataclass(frozen=True)
class Found:
    """One finding of one commit.

    Attributes:
        forbidden: the kinds of findings that nobody should see, of which it is one.
    """

    sha: str
    check: Check
    forbidden: tuple[str, ...]

    def __str__(self) -> str:
        place, check = self.check.location, self.check
        where = f"`{self.sha[:10]}` `{place.path}:{place.line}`" if place else ""
        return f"* {check.name} ({check.severity}) {where}\n  `{check.evidence}`"


@dataclass
class Clock:
    """Seconds of each commit, by what they were spent on."""

    take_snapshot: list[float] = field(default_factory=list)
    judge: list[float] = field(default_factory=list)
    parser: list[float] = field(default_factory=list)
    reading: list[float] = field(default_factory=list)

    def show(self) -> str:
        head = ["seconds", "p50", "p95", "max", "all together", "times"]
        return table(head, ([name, *_spread(values)] for name, values in vars(self).items()))


def _spread(values: Sequence[float]) -> list[object]:
    told = (percentile(values, 50), percentile(values, 95), max(values, default=0), sum(values))
    return [*(f"{seconds:.3f}" for seconds in told), len(values)]


class TimedParser(Parser, frozen=True):
    """The parser, and what each call took."""

    seconds_each: list[float] = msgspec.field(default_factory=list)

    def parse(self, jobs: Sequence[Job], deadline: Deadline) -> list[Parsed | NotParsed]:
        started = time.perf_counter()
        replies = super().parse(jobs, deadline)
        self.seconds_each.append(time.perf_counter() - started)
        return replies


@dataclass(frozen=True)
class TimedStore(Store):
    """The store, and what each reading of blobs took."""

    seconds_each: list[float] = field(default_factory=list)

    def read(self, blobs: Sequence[str]) -> Mapping[str, bytes | None]:
        started = time.perf_counter()
        contents = super().read(blobs)
        self.seconds_each.append(time.perf_counter() - started)
        return contents


@cache
def _rules() -> Mapping[str, PatternRule]:
    packs = [load_shipped(name) for name in list_heads()]
    return {f"{pack.id}/{rule.id}": rule for pack in packs for rule in pack.rules}


@dataclass
class History:
    """The walk over the commits, and what it has come to."""

    store: TimedStore
    judge: PatternsJudge
    clock: Clock
    statuses: Counter[str] = field(default_factory=Counter)
    unread: Counter[str] = field(default_factory=Counter)
    found: list[Found] = field(default_factory=list)
    lines: int = 0

    def visit(self, sha: str, parent: str) -> None:
        started = time.perf_counter()
        try:
            pull = take_snapshot(self.store, Side("parent", parent), Side("commit", sha))
        except SourceError as error:
            self.statuses[f"not read: {error}"] += 1
            return
        self.clock.take_snapshot.append(time.perf_counter() - started)
        before = len(self.store.seconds_each)
        judgment, seconds = judged(self.judge, pull)
        self.clock.judge.append(seconds)
        self.clock.reading += self.store.seconds_each[before:]
        self.statuses[judgment.label or judgment.status.value] += 1
        self.unread.update(f["reason"] for f in judgment.metadata["scope"]["unread"])
        self.lines += pull.additions
        self.found += self._told(pull, judgment)
        self.store.listings.clear()

    def _told(self, pull: PullRequest, judgment: Judgment) -> Iterator[Found]:
        checks = findings_of(judgment)[0]
        if not checks:
            return
        before = _boot(self.store, pull.merge_base)
        after = _boot(self.store, pull.head.sha)
        blobs = {file.path: file.new_blob or "" for file in pull.files}
        for check in checks:
            path = check.location.path if check.location else ""
            content = self.store.read([blobs[path]])[blobs[path]] or b""
            kinds = (*_words(check), *_place(check, content), *_platform(check, before, after))
            yield Found(pull.head.sha, check, kinds)


def _boot(store: Store, commit: str) -> int | None:
    """Spring Boot's major version, as the root's pom.xml writes it."""
    entries = find_in_tree(store.git, commit, ["pom.xml"])
    content = store.read([entry.blob for entry in entries]) if entries else {}
    text = next(iter(content.values()), None) or b""
    match = _BOOT.search(text.decode("utf-8", "replace"))
    return int(match[1] or match[2]) if match else None


def _words(check: Check) -> Iterator[str]:
    """Names on the line that did not move."""
    line = check.evidence or ""
    names = _JAVAX.findall(line)
    if names and all(map(_JDK.match, names)):
        yield "a javax package of the JDK"
    names = _JACKSON.findall(line)
    if names and all(name == _ANNOTATION for name in names):
        yield "Jackson's annotations"


def _platform(check: Check, before: int | None, after: int | None) -> Iterator[str]:
    if check.name.partition("/")[0] in _NEW_PLATFORM and before == 3:
        moves = ", and the commit itself moves to 4" if after == 4 else ""
        yield f"Boot 4 or Jackson 3 where the parent declares Boot 3{moves}: {check.severity}"


def _place(check: Check, content: bytes) -> Iterator[str]:
    path = check.location.path if check.location else ""
    number = (check.location.line if check.location else None) or 1
    if PurePosixPath(path).suffix in _DOCS:
        yield "in documentation"
    inside = {_kind(kind) for kind in _tokens(path, content, number, _rules()[check.name])}
    wanted = {match.within for match in _rules()[check.name].match}
    language = language_of(path)
    if inside == {"comment"} and "comments" not in wanted:
        yield "in a comment"
    if inside == {"string"} and "strings" not in wanted and language and language.strings:
        yield f"in a string ({language.name})"


def _kind(token: object) -> str:
    return "comment" if token in Comment else "string" if token in String else "code"


def _tokens(path: str, content: bytes, number: int, rule: PatternRule) -> set[object]:
    """Kinds of the tokens on the line that hold one of the rule's words, else of all of them."""
    text = content.decode("utf-8", "replace")
    lines = text.split("\n")
    begin = sum(len(line) + 1 for line in lines[: number - 1])
    line = lines[number - 1]
    at = [begin + m.start() for w in rule.literals for m in re.finditer(re.escape(w), line)]
    at = at or [begin + m.start() for m in re.finditer(r"\S+", line)]
    try:
        lexer = get_lexer_for_filename(path, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return set()
    spans = lexer.get_tokens_unprocessed(text)
    return {kind for start, kind, word in spans if any(start <= o < start + len(word) for o in at)}


def _report(history: History, sample: int, seed: int) -> Iterator[str]:
    found = history.found
    yield f"{history.statuses.total()} commits, {history.lines} added lines, {len(found)} findings"
    yield f"{dict(history.statuses)}; files not read: {dict(history.unread)}\n"
    rules = Counter((f.check.name, f.check.severity) for f in found)
    yield table(["rule", "severity", "findings"], ([*key, n] for key, n in sorted(rules.items())))
    kinds = Counter(kind for f in found for kind in f.forbidden)
    yield table(["forbidden", "findings"], sorted(kinds.items()) or [["none", 0]])
    for kind in sorted(kinds):
        some = [f for f in found if kind in f.forbidden]
        yield f"{kind}:\n\n" + "\n".join(map(str, some[:_SHOWN])) + "\n"
    yield history.clock.show()
    picked = random.Random(seed).sample(found, min(sample, len(found)))  # noqa: S311 - a sample
    yield f"{len(picked)} findings at random (seed {seed}):\n"
    yield from map(str, picked)


def _commits(store: Store, branch: str, count: int) -> list[tuple[str, str]]:
    """The newest commits with one parent, each with it."""
    tip = store.operator.commit(branch).sha
    args = ("rev-list", "--no-merges", "--parents", f"--max-count={count}", tip)
    pairs = [line.split() for line in store.git.text(*args).splitlines()]
    return [(pair[0], pair[1]) for pair in pairs if len(pair) == 2]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("repository", type=Path)
    parser.add_argument("branch")
    parser.add_argument("--count", type=int, default=1_500)
    parser.add_argument("--sample", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def main() -> None:
    told = _arguments()
    with open_store(open_repository(told.repository)) as plain:
        store = TimedStore(plain.git, plain.operator)
        clock = Clock()
        judge = replace(judge_on(store), parser=TimedParser(seconds_each=clock.parser))
        history = History(store, judge, clock)
        for sha, parent in _commits(store, told.branch, told.count):
            history.visit(sha, parent)
    print(*_report(history, told.sample, told.seed), sep="\n")


if __name__ == "__main__":
    try:
        main()
    except PrJuryError as error:
        sys.exit(f"error: {error}")
