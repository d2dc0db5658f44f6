"""A scratch directory with all that a run has, whose packages are told from other copies."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import msgspec
from msgspec import Struct

from prjury.deadline import Deadline
from prjury.errors import CannotJudgeError
from prjury.judges.builds import probe
from prjury.judges.builds.calls import WORDS
from prjury.judges.builds.compare import find_machine_fault
from prjury.judges.builds.evidence import Run, StepRun, TreeRun, pack_chosen_reports
from prjury.judges.builds.plan import BuildPlan, BuildStep
from prjury.judges.builds.results.report_files import Stamp, find_reports, keep_every_report, stamps
from prjury.judges.builds.results.tree import TemporaryPaths, TreeFiles
from prjury.judges.builds.source_tree import parent_of, parents_of, path_in
from prjury.judges.builds.step_environment import touch_and_read_env, words_of, write_tool_wrappers
from prjury.judges.builds.wording import join_names
from prjury.policy.tiers import BuildOptions
from prjury.ports import Ports, Repository
from prjury.ports.types import Completed, ShellCommand
from prjury.sandbox.run import advice
from prjury.snapshot.model import visible

_PROBE = Path(probe.__file__).read_text("utf-8")  # read before a build could change it
#: The systems whose own environments hold nothing but the tree, so that they need no help.
_SELF_CONTAINED = frozenset({"uv", "tox", "nox"})
#: Where single modules lie: the top, a src layout, and what mixed projects use.
_SOURCES = frozenset({"", "src", "lib", "python"})
#: Sources of extension modules, which are only there once the project is installed.
_COMPILED = (".c", ".cc", ".cpp", ".pyx", ".rs", ".f90")
#: Where installed packages lie, also in an environment inside of the tree.
_INSTALLED = frozenset({"site-packages", "dist-packages"})
_LARGEST = 256 * 1024


class ImportedCode(Struct, frozen=True):
    """Asks the Pythons of a run where packages are; `place` is the run's own, beside the tree."""

    place: Path
    tree: Path
    directory: str
    paths: frozenset[str]

    def write_probe_and_make_path(self, system: str, env: Mapping[str, str]) -> Mapping[str, str]:
        prefix = f"{self.directory}/" if self.directory else ""
        below = [path.removeprefix(prefix) for path in self.paths if path.startswith(prefix)]
        names = sorted(find_packages_or_modules(below))
        if not names or system in _SELF_CONTAINED:
            return {}
        self.place.mkdir(exist_ok=True)
        for old in self.place.glob("seen-*.json"):
            old.unlink()
        (self.place / "sitecustomize.py").write_text(_PROBE, "utf-8")
        (self.place / "names.json").write_text(json.dumps(names), "utf-8")
        source = [path.removeprefix("src/") for path in below if path.startswith("src/")]
        compiled = any(path.endswith(_COMPILED) for path in source)
        paths = [str(self.place), env.get("PYTHONPATH", "")]
        if find_packages_or_modules(source) and not compiled:
            paths.insert(1, str(self.tree / self.directory / "src"))
        return {"PYTHONPATH": os.pathsep.join(filter(None, paths))}

    def refuse_foreign_imports(self) -> None:
        """Nothing that tests of other code say counts."""
        seen: dict[str, list[str]] = {}
        for file in self.place.glob("seen-*.json") if self.place.is_dir() else ():
            with suppress(OSError, ValueError, RecursionError, msgspec.MsgspecError):
                if not file.is_symlink() and file.stat().st_size <= _LARGEST:
                    places = msgspec.json.decode(file.read_bytes(), type=dict[str, list[str]])
                    for name, origins in places.items():
                        seen.setdefault(name, []).extend(one for one in origins if "\0" not in one)
        for name, origins in sorted(seen.items()):
            if origins and not any(map(self._comes_from_this_run, origins)):
                raise CannotJudgeError(
                    f"the tests ran against another copy of `{visible(name)}`, in "
                    f"`{visible(str(Path(origins[0]).parent))}`, not against this tree",
                    why="it is installed there, and Python found it first",
                    remedy="run the tests in an environment without it, install the tree itself "
                    "in a `setup` step, or set pytest's `pythonpath` to where the package is",
                    reason="tested_elsewhere",
                )

    def _comes_from_this_run(self, origin: str) -> bool:
        """True if it lies in the tree, or was copied or installed from it."""
        own, path = (self.place.parent.resolve(), self.tree.resolve()), Path(origin).resolve()
        inside = [path.relative_to(place) for place in own if path.is_relative_to(place)]
        if any(_INSTALLED.isdisjoint(below.parts) for below in inside):
            return True
        site = path.parent.parent if path.name == "__init__.py" else path.parent
        sources = (_read_source(file) for file in site.glob("*.dist-info/direct_url.json"))
        return any(source and any(map(source.is_relative_to, own)) for source in sources)


def find_packages_or_modules(paths: Collection[str]) -> set[str]:
    """The topmost packages of a project, at any depth, or its modules where it has none."""
    packages, modules = set[str](), set[str]()
    homes = {path.removesuffix("/__init__.py") for path in paths if path.endswith("/__init__.py")}
    for home in homes:
        if homes.isdisjoint(parents_of(home)) and _is_own_package(home):
            packages.add(home.rpartition("/")[2])
    for path in paths:
        stem, place = path.removesuffix(".py"), parent_of(path)
        is_source = place.rpartition("/")[2] in _SOURCES
        if is_source and stem != path and _is_own_package(stem):
            modules.add(stem.rpartition("/")[2])
    return packages or modules


def _is_own_package(path: str) -> bool:
    name = path.rpartition("/")[2]
    others = name in sys.stdlib_module_names or name.startswith("test_")
    return (
        name.isidentifier()
        and not others
        and WORDS["beside_packages"].isdisjoint(path.lower().split("/"))
    )


def _read_source(direct_url: Path) -> Path | None:
    """Return the directory from which a distribution was installed (PEP 610)."""
    with suppress(OSError, ValueError, RecursionError, msgspec.MsgspecError):
        content = direct_url.read_bytes()[:_LARGEST]
        url = urlsplit(str(msgspec.json.decode(content, type=dict[str, Any]).get("url", "")))
        return Path(unquote(url.path)).resolve() if url.scheme == "file" else None
    return None


_NOT_FOUND = 127
_MOST_NAMED = 3
REPOSITORY = (
    "git init -q && git add -A -f && "
    "git -c user.name=prjury -c user.email=prjury@localhost commit -q -m tree && "
    '{ [ -z "$PRJURY_TAG" ] || git tag "$PRJURY_TAG"; }'
)


class Builder(Struct, frozen=True):
    """Builds trees through ports; by the `tag` projects know their version."""

    ports: Ports
    changed: frozenset[str] = frozenset()
    logs: list[Path] = []
    tag: str = ""

    @contextmanager
    def open_tree(
        self, tree: str, deadline: Deadline, existing_directory: Path | None = None
    ) -> Iterator[Workplace]:
        """Export a tree into a scratch directory, of which only the logs are left afterwards.

        A directory is opened as it lies there; what the steps write into it stays.
        """
        with self.ports.shell.scratch() as scratch:
            for name in ("tree", "home", "tmp", "reports"):
                (scratch / name).mkdir()
            if existing_directory is None:
                self._export_and_commit_tree(tree, scratch, deadline)
            places = TemporaryPaths(existing_directory or scratch / "tree", scratch)
            yield Workplace(self, places, list_paths(self.ports.repository, tree))

    def _export_and_commit_tree(self, tree: str, scratch: Path, deadline: Deadline) -> None:
        """Write a repository of one commit, as a checkout is; a build may do without."""
        place = scratch / "tree"
        if absent := self.ports.repository.export_and_list_missing(tree, place):
            names = join_names([visible(path) for path in absent], _MOST_NAMED)
            raise object_missing(f"{names} cannot be written")
        home, tmp = str(scratch / "home"), str(scratch / "tmp")
        own = {"HOME": home, "TMPDIR": tmp, "PRJURY_TAG": self.tag}
        env = {**self.ports.shell.environment(), **own}
        command = ShellCommand(REPOSITORY, place, env, writable=[place])
        self.logs.append(self.ports.shell.run(command, deadline, self.ports.progress).log)

    def forget_logs(self, but: frozenset[str]) -> None:
        for log in self.logs:
            if str(log) not in but:
                log.unlink(missing_ok=True)
                with suppress(OSError):  # it holds more than this log
                    log.parent.rmdir()


def object_missing(what: str) -> CannotJudgeError:
    why = "This partial clone lacks the content"
    remedy = "Fetch it all with: git fetch --refetch --no-filter; or use a full clone"
    return CannotJudgeError(what, why=why, remedy=remedy, reason="object_missing")


def list_paths(repository: Repository, tree: str) -> frozenset[str]:
    return frozenset(entry.path for entry in repository.files(tree))


class Workplace(Struct, frozen=True):
    """A tree in which plans are run, its paths, and the reports that the last run has left."""

    builder: Builder
    places: TemporaryPaths
    paths: frozenset[str]
    reports: dict[str, bytes | None] = {}

    def run_with_retry_and_pack(
        self, plan: BuildPlan, deadline: Deadline, globs: Sequence[str] = ()
    ) -> TreeRun:
        """Run the plan, what fails for the machine twice; CannotJudgeError if it cannot be run."""
        attempt = _PreparedAttempt(self, plan, deadline, globs)
        steps = attempt.run_steps()
        run = attempt.read_outcome(steps)
        if attempt.should_retry(run):
            self.builder.ports.progress.say("the environment failed; trying again")
            first = run.steps.index(run.failed_steps[0]) if run.failed_steps else len(steps) - 1
            run = attempt.read_outcome((*steps[:first], *attempt.run_steps(first)))
        self.reports.clear()
        self.reports.update(pack_chosen_reports(self.places, globs, attempt.earlier, attempt.began))
        return run

    def run_with_reports(self, plan: BuildPlan, options: BuildOptions, deadline: Deadline) -> Run:
        """Run the plan with one retry, and keep the reports that other judges read."""
        head = self.run_with_retry_and_pack(plan, deadline, options.keep)
        withheld = tuple(self.builder.ports.shell.withheld)
        return Run(head, versions=dict(plan.versions), reports={**self.reports}, withheld=withheld)


class _PreparedAttempt:
    def __init__(
        self, place: Workplace, plan: BuildPlan, deadline: Deadline, keep: Sequence[str]
    ) -> None:
        self.place, self.plan, self.deadline = place, plan, deadline
        places, shell = place.places, place.builder.ports.shell
        self.directory = places.tree / plan.directory
        if self.directory.is_symlink() or not self.directory.is_dir():
            raise CannotJudgeError(
                f"there is no directory `{visible(plan.directory)}` in this tree",
                why="the change brings the project along",
                reason="no_such_directory",
            )
        self.globs = tuple(path_in(plan.directory, glob) for glob in plan.reports)
        globs = (*self.globs, *keep)
        self.earlier: Mapping[Path, Stamp] = stamps(places.tree, places.reports, globs)
        self.allowed, self.began = deadline.remaining, time.time()
        home, words = places.around / "home", words_of(plan)
        directories = {"reports": places.reports, "home": home, "tree": places.tree}
        self.directories = {name: str(path) for name, path in directories.items()}
        env = {**shell.environment(), **self._fill(plan.env)}
        env |= {"HOME": str(home), "TMPDIR": str(places.around / "tmp")}
        versions = {wish.tool: wish.version for wish in reversed(plan.wants)}
        env = dict(write_tool_wrappers(words, places.around / "lent", env, versions))
        probe_place = places.around / "probe"
        self.origins = ImportedCode(probe_place, places.tree, plan.directory, place.paths)
        self.env = {**env, **self.origins.write_probe_and_make_path(plan.system, env)}
        shell.copy_caches(words, home)

    def _fill(self, env: Mapping[str, str]) -> dict[str, str]:
        return {name: text.format(**self.directories) for name, text in env.items()}

    def run_steps(self, first: int = 0) -> tuple[tuple[BuildStep, Completed], ...]:
        """Run the steps from one on, up to one that fails and that the others need."""
        ports, done = self.place.builder.ports, list[tuple[BuildStep, Completed]]()
        reports = self.place.places.reports
        shutil.rmtree(reports, ignore_errors=True)  # those of an earlier attempt
        with suppress(OSError):  # a build may have put anything in its place
            reports.mkdir()
        for index, step in enumerate(self.plan.steps[first:], first):
            ports.progress.say(f"$ {step.text}")
            shared = touch_and_read_env(self.env) if "GITHUB_ENV" in self.env else self.env
            env = {**shared, **self._fill(step.env)}
            writable = [self.place.places.tree]
            command = ShellCommand(step.command, self.directory, env, writable=writable)
            with keep_every_report(reports):
                completed = ports.shell.run(command, self.deadline, ports.progress)
            self.place.builder.logs.append(completed.log)
            if not step.may_fail and all(each.may_fail or not end.exit_code for each, end in done):
                _refuse_missing_program(step, completed, self.plan.programs)
            done.append((step, completed))
            if completed.stopped or (completed.exit_code and not self.plan.goes_on(index)):
                break
        self.origins.refuse_foreign_imports()
        return tuple(done)

    def read_outcome(self, done: Sequence[tuple[BuildStep, Completed]]) -> TreeRun:
        """Read logs and reports; in a log there are failures only where its step failed."""
        from prjury.judges.builds.results.junit import read_reports  # noqa: PLC0415 - a build is begun without the readers
        from prjury.judges.builds.results.read import merge_results, read_log  # noqa: PLC0415 - as above

        places = self.place.places
        tree = TreeFiles(self.place.paths, self.plan.directory)
        files = find_reports(places.tree, places.reports, self.earlier, self.began, self.globs)
        reports = read_reports(files, tree, places.make_paths_relative)
        logs = [
            read_log(
                completed.log,
                tree,
                places.make_paths_relative,
                failed=bool(completed.exit_code or completed.stopped) and not step.may_fail,
            )
            for step, completed in done
        ]
        failures, results = merge_results(logs, reports, expected=self.plan.has_report)
        steps = []
        for (step, end), log in zip(done, logs, strict=True):
            how = end.exit_code, end.stopped, end.seconds, log.tail, str(end.log)
            steps.append(StepRun(step.name, step.text, *how, step.may_fail))
        return TreeRun(tuple(steps), self.allowed, failures, results)

    def should_retry(self, run: TreeRun) -> bool:
        """The run failed without a test, for set-up or for what may pass by itself."""
        if not run.failed or not run.ended or run.tested or not self.deadline.remaining:
            return False
        if run.deciding_step.name == "setup":
            return True
        fault = find_machine_fault(run, self.place.builder.changed, self.place.paths)
        return fault is not None and fault.passes


def _refuse_missing_program(step: BuildStep, completed: Completed, programs: Sequence[str]) -> None:
    if completed.exit_code != _NOT_FOUND or completed.stopped:
        return
    words, missing = step.text.split(), list[str]()
    for line in completed.tail().splitlines():
        head = line.rpartition("not found")[0].removesuffix("command ")
        missing += [part.strip() for part in head.split(":") if part.strip()][-1:]
    called = {word.strip("(){};&|") for word in words} | {*programs}
    missing.sort(key=lambda name: name not in programs)  # the plan's own before its helpers
    program = next((name for name in missing if name in called and "/" not in name), "")
    unnamed = isinstance(step.command, str) and not missing and "/" not in words[0]
    if program or unnamed:
        raise CannotJudgeError(
            f"`{step.text}` could not be run: `{program or words[0]}` is not installed here",
            why="the tool is missing, or its name is misspelt",
            remedy=advice(program or words[0]),
            reason="tool_missing",
        )
