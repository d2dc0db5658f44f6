"""Judges changes in small histories, and types in what the judge says.

    bench = Bench(tmp_path, Story(change=[{"a.py": lines({3: "three"})}]))
    told = bench.judge(labels=ASKED)

Whatever is judged is written in every form as well, and every command that is told is typed into a
clone: what comes of it has to be what was predicted, and no other branch may move.
"""

from __future__ import annotations

import io
import json
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from fakes.history import ENVIRONMENT, Files, History
from prjury.app.backport import backport
from prjury.app.request import ReviewRequest, RunEnvironment
from prjury.git.open_snapshot import SnapshotRequest
from prjury.publishers.terminal import backport_lines
from prjury.report.backports import Backports
from prjury.report.codec import backports_to_json
from prjury.report.model import Backport
from prjury.report.render import Renderer
from prjury.report.sanitise import BY_SHAPE

#: The attributes that a trial sees: none.
NO_ATTRIBUTES = "* !diff !merge !filter !text !eol !crlf !ident !working-tree-encoding\n"

#: The label that asks for a backport to the branch of a story.
ASKED = ("backport 1.x",)

#: Files, or files and a message.
Step: TypeAlias = Files | tuple[Files, str]


def lines(changed: Mapping[int, str] | None = None, count: int = 40, end: str = "\n") -> str:
    """A function of so many lines that stay apart in a merge, some of them changed."""
    given = changed or {}
    body = (f"    yield {given.get(number, number)}{end}" for number in range(1, count + 1))
    return f"def _all():{end}" + "".join(body)


@dataclass(frozen=True)
class Story:
    """What stands on both branches at first, and what happens on each of them then."""

    change: Sequence[Step]
    branch: Sequence[Step] = ()
    main: Sequence[Step] = ()
    start: Files = field(default_factory=lambda: {"a.py": lines(), "b.py": lines()})

    def tell(self, history: History) -> None:
        """Writes it: ``main``, ``1.x`` and ``change``."""
        history.commit(self.start, "start")
        history.branch("1.x")
        history.extend("main", _steps(self.main, "On main"))
        history.branch("change", "main")
        history.extend("change", _steps(self.change, "Fix the count"))
        history.extend("1.x", _steps(self.branch, "On the branch"))
        history.checkout()


def _steps(steps: Sequence[Step], message: str) -> list[tuple[Files, str]]:
    return [step if isinstance(step, tuple) else (step, message) for step in steps]


class Bench:
    """A repository, its judgements, and a clone for each list of commands."""

    def __init__(self, directory: Path, story: Story | None = None, *, bare: bool = False) -> None:
        self.directory = directory
        self.history = History(directory / "repo", bare=bare)
        self._clones = 0
        if story:
            story.tell(self.history)

    def judge(self, onto: str = "1.x", **wanted: Any) -> Backport:
        """The verdict for one branch; see `judged`."""
        return self.judged(onto, **wanted).backports[0]

    def judged(
        self,
        *onto: str,
        policy: str = "",
        repo: Path | None = None,
        build: bool = False,
        **wanted: Any,
    ) -> Backports:
        """The verdicts, told in every form, with all commands typed in.

        Args:
            policy: the ``backport`` section's content, a flow of YAML.
            repo: where to look instead of the bench's own repository.
            wanted: fields of `SnapshotRequest`; what `PullRequest` has goes to its facts.
        """
        told = self.outcome(*onto, policy=policy, repo=repo, build=build, **wanted)
        _in_every_form(told)
        for one in told.backports:
            if one.commands:
                self.type_in(told, one, repo or self.history.path)
        return told

    def outcome(
        self,
        *onto: str,
        policy: str = "",
        repo: Path | None = None,
        build: bool = False,
        **wanted: Any,
    ) -> Backports:
        """What comes of asking."""
        facts: dict[str, object] = {
            name: wanted.pop(name)
            for name in ("title", "body", "labels", "milestone")
            if name in wanted
        }
        sides = {"base": "main", "head": "change"}
        request = ReviewRequest(
            SnapshotRequest(repo or self.history.path, **(sides | wanted), facts=facts),
            config=self._policy(policy),
            build=build,
            models=False,
            offline=True,
            backport_to=onto,
        )
        return backport(request, RunEnvironment(environ={"PATH": ENVIRONMENT["PATH"]}))

    def _policy(self, policy: str) -> Path | None:
        if not policy:
            return None
        file = self.directory / "policy.yml"
        file.write_text(f"version: 1\nbackport: {{{policy}}}\n")
        return file

    def type_in(self, told: Backports, one: Backport, repo: Path) -> Path:
        """A clone in which the commands were typed in, once that came to what was predicted."""
        self._clones += 1
        path = self.directory / f"clone{self._clones}"
        store = repo / ".git" if (repo / ".git").is_dir() else repo
        shutil.copytree(store, path / ".git", ignore=shutil.ignore_patterns("index"))
        if store == repo:
            _run(["git", "config", "core.bare", "false"], path)
        (path / ".git" / "info").mkdir(exist_ok=True)
        (path / ".git" / "info" / "attributes").write_text(NO_ATTRIBUTES)
        refs = _refs(path)
        codes = list(_typed(one.commands, path))
        if one.tree:
            assert codes == [0] * len(one.commands), (one.commands, codes)
            assert _run(["git", "rev-parse", "HEAD^{tree}"], path, out=True).strip() == one.tree
            assert _run(["git", "status", "--short"], path, out=True) == ""
        else:
            assert codes[-1] == 1, (one.commands, codes)
            paths = {conflict.path for conflict in one.conflicts}
            # Git tells of a directory that was split, and leaves no path in conflict.
            split = any("Unclear where" in conflict.reason for conflict in one.conflicts)
            assert _unmerged(path) == (set() if split else paths)
        kept = {ref: sha for ref, sha in _refs(path).items() if "/backport-" not in ref}
        assert kept == refs
        return path


def _typed(commands: Sequence[str], place: Path) -> Iterator[int]:
    """The exit code of each command, up to the first that has to do with a conflict."""
    for command in commands:
        code = _run(["sh", "-c", command], place, strict=False)
        yield code
        if code:
            return


def _in_every_form(told: Backports) -> None:
    value = backports_to_json(told)
    assert json.loads(json.dumps(value)) == value
    assert [one["branch"] for one in value["backports"]] == [b.branch for b in told.backports]
    text = "\n".join(backport_lines(told, io.StringIO()))
    for form in (text, Renderer(BY_SHAPE).backports(told)):
        assert "Traceback" not in form
        assert not set(form) & {"\x1b", "\r", "\0"}
    for one in told.backports:
        assert all(command in text for command in one.commands if command.isascii())
        assert one.verdict == "needs_human" or one.reasons


def _refs(repo: Path) -> dict[str, str]:
    listed = _run(["git", "for-each-ref", "--format=%(refname) %(objectname)"], repo, out=True)
    return dict(line.split(" ") for line in listed.splitlines())


def _unmerged(path: Path) -> set[str]:
    """The paths in conflict, with git's made-up names put back to what they stand for."""
    listed = _run(["git", "diff", "--name-only", "--diff-filter=U", "-z"], path, out=True)
    return {name.partition("~")[0] for name in listed.split("\0")[:-1]}


def _run(argv: list[str], place: Path, *, strict: bool = True, out: bool = False) -> Any:
    done = subprocess.run(argv, cwd=place, env=ENVIRONMENT, capture_output=True, check=False)
    if strict:
        assert done.returncode == 0, done.stderr
    return done.stdout.decode("utf-8", "surrogateescape") if out else done.returncode
