"""How the base's own CI builds and tests: the job of its workflows that a build here stands for.

It is read from the base, so that the change cannot edit it. What wants more rights than a build
has, or would change the machine itself, is not taken, and said. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Any, Literal, TypeAlias

from prjury.manifests.matrix import UNKNOWN, ExpressionContext, matrix_rows
from prjury.manifests.workflow import Workflow, WorkflowJob, WorkflowStep

CiKind: TypeAlias = Literal["setup", "build", "test"]
#: How far this machine is from a version of a tool; 0 for the one that it uses anyway.
Distance: TypeAlias = Callable[[str, str], float]

#: The tools that actions set up, and the input that names the version.
SETUP_ACTIONS: Mapping[str, tuple[str, str]] = {
    "actions/setup-python": ("python", "python-version"),
    "pdm-project/setup-pdm": ("python", "python-version"),
    "astral-sh/setup-uv": ("python", "python-version"),
    "actions/setup-java": ("java", "java-version"),
    "graalvm/setup-graalvm": ("java", "java-version"),
    "actions/setup-node": ("node", "node-version"),
    "pnpm/action-setup": ("pnpm", "version"),
    "oven-sh/setup-bun": ("bun", "bun-version"),
    "denoland/setup-deno": ("deno", "deno-version"),
    "actions/setup-go": ("go", "go-version"),
    "dtolnay/rust-toolchain": ("rust", "toolchain"),
    "actions-rust-lang/setup-rust-toolchain": ("rust", "toolchain"),
    "actions/setup-dotnet": ("dotnet", "dotnet-version"),
    "ruby/setup-ruby": ("ruby", "ruby-version"),
    "shivammathur/setup-php": ("php", "php-version"),
    "erlef/setup-beam": ("elixir", "elixir-version"),
}

#: Rights that a build does not have, and what would change the machine instead of the tree.
_REFUSED: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"(?:^|[\s;&|(])sudo\s"), "sudo"),
    (re.compile(r"(?:^|[\s;&|(])(?:docker|docker-compose|podman|kubectl)\s"), "containers"),
    (re.compile(r"(?:^|[\s;&|(])(?:apt|apt-get|brew|choco|apk|yum|dnf|pkg)\s"), "system packages"),
    (
        re.compile(
            r"\b(?:npm|pnpm|yarn)\s+(?:i|install|add|global)\b.*(?:\s-g\b|--global\b|\bglobal\b)"
            r"|\b(?:cargo|go|gem|pipx|rustup|luarocks)\s+(?:install|make|toolchain|component)\b"
            r"|\bcpanm\s"
            r"|\bcorepack\s+enable\b|\b(?:npm|git|gh|poetry)\s+config\b"
        ),
        "the machine's own tools and settings",
    ),
    (
        re.compile(
            r"(?:^|[\s;&|(])(?:curl|wget|ssh|scp|rsync|gh|aws|gcloud)\s|git\s+(?:push|clone)\b"
            r"|\b(?:npm|cargo|twine|gem)\s+(?:publish|upload|push)\b|\bcodecov\b|\bcoveralls\b"
        ),
        "downloads of programs, and uploads",
    ),
    (re.compile(r"\$\{?GITHUB_(?:TOKEN|OUTPUT|ENV|PATH|STEP_SUMMARY)"), "the runner's own files"),
)
_WORKSPACE = re.compile(r"[$][{][{]\s*github\.workspace\s*[}][}]")
_SECRET = re.compile(r"\bsecrets\s*[.\[]|\bgithub\.token\b")
_CHECKS = re.compile(
    r"\b(?:lint|fmt|format|prettier|eslint|ruff|black|isort|mypy|pyright|flake8|clippy|twine|docs?|"
    r"typecheck|type-check|typing|pre-commit|bench|benchmark|benchmarks|publint|attw|shellcheck|"
    r"codespell|reuse|coverage\s+(?:report|html|xml|combine))\b"
    r"|\b(?:cargo|poetry|twine)\s+check\b|types:check|\btsc\b",
    re.IGNORECASE,
)
_TESTS = re.compile(
    r"(?<![\w.-])(?:pytest|py\.test|tox|nox|unittest|ctest|rspec|rake|phpunit|prove|bats|busted|gotestsum)"
    r"(?![\w.-]*/)\b|(?<![\w-])(?:tests?|spec|verify|nextest)(?![\w/.])|(?<![\w/-])check(?![\w/.])|\bmake\s+ci\b|\btest:\w"
    r"|(?:^|[\s/])(?:mvnw?|gradlew?)\s|\bmake\b.*\s-C\s+tests?\b"
    # a program or script of the tree whose name says so, or one of its tests' directory
    r"|(?:^|[;&|]\s*|\b(?:then|do|time|python3?|perl|ruby|node|bash|sh|lua)\s+|^(?:\w+=\S+\s+)+)"
    r"(?:[$\w.-]+/)*(?!(?:set|prepar|install|gen|build|up|down|fetch|copy|collect)\w*[_-])"
    r"(?:(?:[\w.-]*[_-])?(?:run)?tests?(?:[_-](?:all|suite|runner))?(?:\.\w+)?|tests?/[\w.-]+)(?=\s|$)",
    re.MULTILINE,
)
#: CMake that configures, perhaps a directory with tests.
_CONFIGURES = re.compile(r"(?:\w+=\S*\s+)*cmake\s+(?!--build\b|.*--target\b)[^&;|\n]*")
_INSTALLS = re.compile(
    r"\b(?:pip3?|uv|poetry|pdm|npm|pnpm|yarn|bun|bundle|composer|pipenv|conda|dotnet)\s+"
    r"(?:\S+\s+)?(?:i|install|sync|ci|add|restore|update)\b|\bmix\s+deps\.get\b|^yarn$"
    r"|\b(?:script|scripts|bin)/(?:install|setup|bootstrap)\b"
)
_BUILDS = re.compile(
    r"\b(?:build|compile|make|cmake|configure|autogen\.sh|autoreconf|bootstrap|meson|ninja|"
    r"compileall|Makefile\.PL|Build\.PL|extconf\.rb|phpize|qmake|scons)\b|(?:^|\s)\./Build\b"
)
#: Names of jobs and files beside the main one.
_ASIDE = re.compile(
    r"lint|doc|bench|fuzz|cover|codeql|scan|publish|release|valgrind|windows|macos|musl|nightly|"
    r"downstream|integration|deploy|native|minimal|perf|typ(?:e|ing)|format|legacy|external|"
    r"miri|autofix|snapshot|wasm|subset|website|conform|msrv|clang|sanit",
    re.IGNORECASE,
)
_NAMED = re.compile(r"test|unit|build|\bci\b|check|main", re.IGNORECASE)
#: What makes one script of several lines.
_SHELL = re.compile(
    r"^\s*(?:if|case|for|while|until|function|cd|export|set|source|\.)\b|<<|^\s*\w+=|[{(]\s*$",
    re.MULTILINE,
)
_CONTINUED = re.compile(r"\\\n\s*")
#: Versions and compilers that machines rarely have.
_UNUSUAL = re.compile(
    r"pypy|graalpy|jruby|truffleruby|nightly|beta|head|dev|-ea|\dt$|clang|\btcc|msvc|mingw|musl|[au]san",
    re.IGNORECASE,
)
_OTHER_MACHINES = re.compile(r"windows|macos|mac-|darwin|arm|-vm$", re.IGNORECASE)


@dataclass(frozen=True)
class CiCommand:
    """Commands of one step.

    Attributes:
        script: one line, or a script for bash.
        directory: where it runs, from the root of the tree.
        env: the step's own variables.
    """

    kind: CiKind
    script: str
    directory: str = ""
    env: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class BaseCi:
    """The job that tests pull requests, in the row of its matrix that fits this machine.

    Attributes:
        path: of the workflow.
        row: the row of its matrix.
        versions: what its actions set up, by tool.
        version_files: the files from which its actions take versions, by tool.
        env: the variables of all its steps.
        commands: what it runs here, in order.
        services: what runs beside it, such as a database.
        left_out: what is not taken, and why; one clause each.
        unclear: commands before the tests of which nothing says what they are for.
        called: the programs that any job calls that runs tests.
    """

    path: str
    job: str
    row: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    version_files: Mapping[str, str] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)
    commands: tuple[CiCommand, ...] = ()
    services: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    unclear: tuple[str, ...] = ()
    called: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """The job with its file."""
        return f"{self.path}, job {self.job}"

    @property
    def installs(self) -> tuple[str, ...]:
        """The single lines that install what the tests need, such as ``pip install -e .[test]``."""
        return tuple(one.script for one in self.commands if one.kind == "setup")

    @property
    def tests(self) -> bool:
        """Whether any of it runs tests."""
        return any(one.kind == "test" for one in self.commands)


def find_base_ci(workflows: Iterable[Workflow], distance: Distance) -> BaseCi | None:
    """The job that a build here stands for; None where none runs tests.

    Jobs that run on pull requests come before others; then by name: the main tests before
    benchmarks, packaging and the like.
    """
    found = [
        (_rank(workflow, job), read)
        for workflow in workflows
        for job in workflow.jobs
        if (read := _job(workflow, job, distance)) and read.tests
    ]
    if not found:
        return None
    called = {name for _, job in found for one in job.commands for name in _called(one.script)}
    return replace(min(found, key=lambda one: one[0])[1], called=frozenset(called))


#: The program of each command, without what is set for it and without its directory.
_PROGRAM = re.compile(r"(?:^|&&|\|\||[;|(])\s*(?:\w+=\S*\s+)*(?:[\w./-]*/)?([\w.-]+)", re.MULTILINE)


def _called(script: str) -> list[str]:
    return _PROGRAM.findall(script)


def _rank(workflow: Workflow, job: WorkflowJob) -> tuple[bool, bool, bool, bool]:
    names = f"{job.id} {re.sub(r'[$][{][{].*?[}][}]', '', job.title)}"
    return (
        "pull_request" not in workflow.triggers,
        _ASIDE.search(f"{names} {workflow.path.rpartition('/')[2]}") is not None,
        not all(map(_runs_here, job.runs_on)),
        _NAMED.search(names) is None,
    )


def _runs_here(label: str) -> bool:
    return _OTHER_MACHINES.search(label) is None


def _job(workflow: Workflow, job: WorkflowJob, distance: Distance) -> BaseCi | None:
    if any("prjury" in step.action or "pr-jury" in step.action for step in job.steps):
        return None
    known = {"github": {"event_name": "pull_request", "workspace": "."}, "steps": {}}
    outer = ExpressionContext({**known, "runner": {"os": "Linux"}, "env": workflow.env})
    rows = [_Row(workflow, job, row) for row in matrix_rows(job.strategy.get("matrix"), outer)]
    here = [row for row in rows if row.fits] or rows
    here = sorted(here, key=lambda row: row.distance(distance))
    # A row such as that of the oldest version may leave the tests out.
    return next((ci for ci in map(_Row.read, here) if ci.commands), None) or here[0].read()


@dataclass(frozen=True)
class _Row:
    """A job in one row of its matrix."""

    workflow: Workflow
    job: WorkflowJob
    values: Mapping[str, Any]

    @property
    def context(self) -> ExpressionContext:
        known = {
            "github": {"event_name": "pull_request", "workspace": ".", "repository_owner": UNKNOWN,
                       "repository": UNKNOWN, "ref": UNKNOWN, "sha": UNKNOWN, "event": UNKNOWN},
            "runner": {"os": "Linux", "arch": "X64"}, "steps": {}, "matrix": self.values,
        }  # fmt: skip
        context = ExpressionContext({**known, "env": self.workflow.env})
        return ExpressionContext({**known, "env": self._env(context)})

    def _env(self, context: ExpressionContext) -> Mapping[str, str]:
        return dict(_known(context, {**self.workflow.env, **self.job.env}))

    @property
    def fits(self) -> bool:
        """Whether it runs on a machine such as this one."""
        labels = (self.context.filled(label) for label in self.job.runs_on)
        return all(label is None or _runs_here(label) for label in labels)

    @property
    def versions(self) -> Mapping[str, str]:
        context, found = self.context, dict[str, str]()
        for step in self.job.steps:
            tool, key = SETUP_ACTIONS.get(step.action, ("", ""))
            wanted = context.filled(step.inputs.get(key, ""))
            if tool and wanted and context.holds(step.condition) is not False:
                found[tool] = wanted.split()[0]
            elif step.action == "dtolnay/rust-toolchain":
                found[tool] = step.uses.partition("@")[2]
        return found

    @property
    def version_files(self) -> Mapping[str, str]:
        """The files that the actions read, in which no version is written itself."""
        found = dict[str, str]()
        for step in self.job.steps:
            tool, key = SETUP_ACTIONS.get(step.action, ("", ""))
            path = self.context.filled(step.inputs.get(f"{key}-file", "")) if tool else ""
            if path and tool not in self.versions:
                found[tool] = path.removeprefix("./")
        return found

    def distance(self, distance: Distance) -> tuple[float, bool]:
        """How far this machine is from it; of equal rows usual versions come first."""
        named = (value for value in self.values.values() if isinstance(value, str))
        unusual = any(map(_UNUSUAL.search, [*self.versions.values(), *named]))
        return max((distance(*one) for one in self.versions.items()), default=0), unusual

    def read(self) -> BaseCi:
        context = self.context
        taken, left, others = list[CiCommand](), list[str](), list[str]()
        for step in self.job.steps:
            if step.run and context.holds(step.condition) is not False:
                tested = any(one.kind == "test" for one in taken)
                commands, unclear, refused = _commands(step, context, self._defaults)
                taken += commands
                others += () if tested else unclear
                left += refused
        return BaseCi(
            self.workflow.path,
            self.job.id,
            {key: str(value) for key, value in self.values.items() if value is not UNKNOWN},
            self.versions,
            self.version_files,
            context.values["env"],
            _until_last_test(taken),
            self.job.services,
            tuple(dict.fromkeys(left)),
            tuple(others),
        )

    @property
    def _defaults(self) -> Mapping[str, str]:
        return {**self.workflow.defaults, **self.job.defaults}


def _until_last_test(commands: list[CiCommand]) -> tuple[CiCommand, ...]:
    tests = [index for index, one in enumerate(commands) if one.kind == "test"]
    return tuple(commands[: tests[-1] + 1]) if tests else ()


def _known(context: ExpressionContext, named: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The variables whose values are known, without secrets."""
    for name, text in named.items():
        value = None if _SECRET.search(text) else context.filled(text)
        if value is not None:
            yield name, value


def _commands(
    step: WorkflowStep, context: ExpressionContext, defaults: Mapping[str, str]
) -> tuple[list[CiCommand], list[str], list[str]]:
    """What of a step is run here, what before its tests is unclear, and what is not taken."""
    shown = _first_line(step.run)
    if _SECRET.search(" ".join((step.run, *step.env.values()))):
        return [], [], [f"`{shown}` wants a secret"]
    script = context.filled(_WORKSPACE.sub("$GITHUB_WORKSPACE", step.run))
    directory = context.filled(step.directory or defaults.get("working-directory", ""))
    if script is None or directory is None:
        return [], [], [f"`{shown}` depends on the run itself"]
    shell = step.shell or defaults.get("shell", "")
    if shell and not shell.startswith(("bash", "sh")):
        return [], [], [f"`{shown}` wants the shell {shell.split()[0]}"]
    env, directory = dict(_known(context, step.env)), directory.removeprefix("./").strip("/")
    found = [(part, kind_of_command(part), refused(part)) for part in _parts(script)]
    before = takewhile(lambda one: one[1] != "test", found)
    return (
        [CiCommand(kind, part, directory, env) for part, kind, why in found if kind and not why],
        [part for part, *known in before if not (any(known) or directory or _CHECKS.search(part))],
        [f"`{_first_line(part)}` wants {why}" for part, _, why in found if why],
    )


def _parts(script: str) -> Iterator[str]:
    """The lines of a plain script; one that is more than a list of commands stays whole."""
    joined = _CONTINUED.sub("", script.strip())
    if _SHELL.search(joined):
        yield joined
        return
    for line in joined.splitlines():
        if line.strip() and not line.strip().startswith("#"):
            yield line.strip()


def refused(script: str) -> str:
    """What a script wants that a build here does not have; empty for nothing."""
    return next((why for pattern, why in _REFUSED if pattern.search(script)), "")


def kind_of_command(script: str) -> CiKind | None:
    """What a command is for; None for linters, documentation and all else."""
    if _INSTALLS.search(script) and "\n" not in script:
        return "setup"
    if _CHECKS.search(script):
        return None
    if _CONFIGURES.fullmatch(script):
        return "build"
    if _TESTS.search(script):
        return "test"
    return "build" if _BUILDS.search(script) else None


def _first_line(script: str) -> str:
    first = script.strip().partition("\n")[0]
    return first if first == script.strip() else f"{first} …"
