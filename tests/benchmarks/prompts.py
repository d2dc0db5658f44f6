"""What is sent to a model for a pull request, beside what PR-Agent sends for a review of the same.

    python -P tests/benchmarks/prompts.py pr-agent path/to/repository.git \
      --pulls 5659 5764 --python pr-agent-env/bin/python

Each pull request is taken against its merge base with the branch. PR-Agent's prompt comes from its
own code (see `prompts_rival.py`), ours from the quality judge; no model is asked and no network is
there. Tokens are counted as four characters each on both sides.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.patterns import table
from prjury.deadline import Deadline
from prjury.errors import PrJuryError
from prjury.git.operator import open_repository
from prjury.git.store import Store, open_store
from prjury.git.take_snapshot import Caps, take_snapshot
from prjury.judges.context import PullRequestContext
from prjury.judges.quality.interview import CallContext
from prjury.judges.quality.kinds.quality import make
from prjury.judges.quality.model_seat import ModelSeat
from prjury.jury.judgment import Judgment
from prjury.policy.models import ModelConfig
from prjury.policy.tiers import QualityOptions
from prjury.ports import NoModels, Panel, Ports, SilentProgress
from prjury.ports.messages import Prompt, Reply
from prjury.sandbox.contained import ContainedShell
from prjury.snapshot.model import PullRequest

#: A line at the head: its file, its number, its text.
Place: TypeAlias = tuple[str, int, str]

#: Time for reading a change.
_SECONDS = 600

#: More than any change has: what is sent is counted against all of it, not what our caps leave.
_EVERYTHING = Caps(*[10**9] * 6)

_RIVAL = Path(__file__).with_name("prompts_rival.py")
_FILE = re.compile(r"^## File: '(.*)'$")
_GONE = re.compile(r"^## File '(.*)' was deleted$")
_ADDED = re.compile(r"^(\d+) \+(.*)$")


@dataclass(frozen=True)
class Figures:
    """What one tool sends about a pull request.

    Attributes:
        characters: of the system and the user texts of all calls.
        calls: that the tool makes by default.
        added: the added lines that stand in the prompts.
        shown: the files of which something stands in them.
        named: the files that are only named.
    """

    characters: int
    calls: int
    added: Collection[Place] = field(default_factory=frozenset)
    shown: Collection[str] = field(default_factory=frozenset)
    named: Collection[str] = field(default_factory=frozenset)

    def cells(self, pull: PullRequest) -> Iterator[object]:
        """The columns of the table: characters, calls, added lines, files that are left out."""
        added = added_lines(pull)
        left_out = [file.path for file in pull.files if file.path not in self.shown]
        told = sum(path in self.named for path in left_out)
        yield f"{self.characters:,}"
        yield self.calls
        yield f"{len(added & set(self.added))} of {len(added)}"
        yield f"{len(left_out)} ({told} named)" if left_out else "none"


def added_lines(pull: PullRequest) -> set[Place]:
    """All lines that the pull request adds."""
    return {
        (file.path, line.new or 0, line.text) for file in pull.files for line in file.added_lines
    }


def rivals(python: str, checkout: str, repository: str, pull: PullRequest) -> Figures:
    """PR-Agent's figures."""
    argv = [python, "-P", str(_RIVAL), checkout, repository, pull.merge_base, pull.head.sha]
    done = subprocess.run(argv, capture_output=True, check=False)
    if done.returncode:
        sys.exit(f"PR-Agent's prompt cannot be had: {done.stderr.decode('utf-8', 'replace')}")
    sent = json.loads(done.stdout)
    lines = sent["user"].split("\n")
    shown = {match[1] for line in lines if (match := _FILE.match(line))}
    gone = {match[1] for line in lines if (match := _GONE.match(line))}
    return Figures(
        len(sent["system"]) + len(sent["user"]),
        sent["calls"],
        frozenset(_added(lines)),
        shown,
        gone | {file.path for file in pull.files if file.path in lines},
    )


def _added(lines: Iterable[str]) -> Iterator[Place]:
    path = ""
    for line in lines:
        if match := _FILE.match(line):
            path = match[1]
        elif match := _ADDED.match(line):
            yield path, int(match[1]), match[2]


class NobodysModel:
    """Stands for a model as the configuration has it without any option; it is never asked."""

    name = identity = "nobody:none"
    room = ModelConfig().room

    def ask(self, prompt: Prompt, deadline: Deadline) -> Reply:
        raise NotImplementedError

    def price(self, input_tokens: int, output_tokens: int) -> float | None:
        return None


class NobodysModels(NoModels):
    """Every panel is that one model."""

    def panel(self, request: str = "auto") -> Panel:
        return Panel((NobodysModel(),))


def ours(store: Store, pull: PullRequest) -> Figures:
    """The quality judge's figures."""
    prompts = list(_prompts(store, pull))
    material = [value for p in prompts for value in json.loads(p.user).values()]
    files = [file for each in material for file in each["files"]]
    return Figures(
        sum(prompt.size for prompt in prompts),
        len(prompts),
        frozenset(_rows(files)),
        {file["path"] for file in files},
        {
            file["path"]
            for each in material
            for file in each.get("not_shown", {"files": []})["files"]
        },
    )


def _prompts(store: Store, pull: PullRequest) -> Iterator[Prompt]:
    shell = ContainedShell({"PATH": "/usr/bin:/bin"})
    judge = make(QualityOptions(), Ports(store, shell, SilentProgress(), NobodysModels()))
    context = PullRequestContext("judge it", pull=pull, deadline=Deadline.after(_SECONDS))
    case, _ = judge.case(context)
    if isinstance(case, Judgment):
        return
    model_seat = ModelSeat(NobodysModel(), CallContext())
    made = model_seat.plan(case)
    yield from (model_seat.question(case, made, chunk).prompt for chunk in made.chunks)


def _rows(files: Iterable[Any]) -> Iterator[Place]:
    for file in files:
        for hunk in file["hunks"]:
            for line, sign, text in map(_row, hunk["lines"]):
                if sign == "+":
                    yield file["path"], line, text


def _row(line: str) -> tuple[int, str, str]:
    """Number, sign and text of a line of a prompt."""
    head, _, text = line.partition("|")
    return int(head[1:]), head[0], text


def measure(store: Store, options: Any) -> Iterator[list[object]]:
    """A row for each pull request."""
    operator = store.operator
    tip = operator.commit(options.branch)
    for number in options.pulls:
        head = operator.commit(f"refs/pull/{number}/head")
        parted = operator.commit(store.git.text("merge-base", tip.sha, head.sha))
        pull, whole = (take_snapshot(store, parted, head, caps=c) for c in (Caps(), _EVERYTHING))
        rival = rivals(options.python, options.rival, options.repository, whole)
        yield [number, len(whole.files), *rival.cells(whole), *ours(store, pull).cells(whole)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rival", help="a checkout of PR-Agent")
    parser.add_argument("repository")
    parser.add_argument("--pulls", nargs="+", type=int, required=True)
    parser.add_argument("--branch", default="main")
    parser.add_argument("--python", default=sys.executable, help="where PR-Agent's needs are met")
    options = parser.parse_args()
    columns = ("characters", "calls", "added lines sent", "files left out")
    tools = ("PR-Agent", "ours")
    head = ["pull", "files", *(f"{tool}: {column}" for tool in tools for column in columns)]
    with open_store(open_repository(Path(options.repository))) as store:
        print(table(head, measure(store, options)), end="")
    print("\nTokens are counted as 4 characters each; PR-Agent's own tokeniser needs a network.")


if __name__ == "__main__":
    try:
        main()
    except PrJuryError as error:
        sys.exit(f"error: {error}")
