"""`prjury init` in a process of its own would only be slower: what it writes, keeps and refuses."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import typer
from yaml import safe_load

from fakes.history import History
from prjury.app.composition import list_build_options
from prjury.app.setup_steps import PINS
from prjury.cli.init import init
from prjury.cli.output import Terminal
from prjury.errors import PrJuryError, SourceError, UsageError
from prjury.policy.load import parse_policy
from prjury.policy.yaml_reader import read_yaml

ACTION = "octo/pr-jury@" + "0123456789" * 4
POLICY = ".github/prjury.yml"
AT = ".github/workflows/prjury"
ALONE = {POLICY, f"{AT}.yml", f"{AT}-comment.yml"}
APART = {POLICY, f"{AT}-build.yml", f"{AT}-judge.yml", f"{AT}-comment.yml"}
QUEUE, BACKPORT = {f"{AT}-queue.yml"}, {f"{AT}-backport.yml"}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "shop"
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    return root


class _Context:
    obj = Terminal()


def run(repo: Path, **options: object) -> None:
    off = ("forks", "queue", "backport", "no_comments", "build", "from_ci", "force")
    given = {**dict.fromkeys(off, False), "action": None, **options}
    call: Callable[..., int] = init
    assert call(context=_Context(), repo=repo, **given) == 0


def files(root: Path) -> Mapping[str, str]:
    found = [path for path in (root / ".github").rglob("*") if path.is_file()]
    return {str(path.relative_to(root)): path.read_text() for path in found}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, ALONE),
        ({"queue": True}, ALONE | QUEUE),
        ({"backport": True}, ALONE | BACKPORT),
        ({"no_comments": True}, ALONE - {f"{AT}-comment.yml"} | {f"{AT}-conflicts.yml"}),
        ({"forks": True}, APART),
        ({"forks": True, "queue": True}, APART | QUEUE),
    ],
)
def test_it_writes_what_fits(
    repository: Path, options: Mapping[str, bool], expected: set[str]
) -> None:
    run(repository, **options)
    assert files(repository).keys() == expected


@pytest.mark.parametrize(
    ("branches", "watched"),
    [(["trunk", "1.2.x", "release/2.0", "cart"], ["trunk"]), (["main+1"], ["main", "master"])],
)
def test_pushes_to_the_default_branch_are_watched(
    tmp_path: Path, branches: list[str], watched: list[str]
) -> None:
    shop = History(tmp_path / "shop", branch=branches[0])
    shop.commit({"README.md": "A shop.\n"}, "A shop")
    shop.remote("https://github.com/octo/shop.git", head=branches[0])
    for name in branches[1:]:
        shop.branch(name)
    run(shop.path)
    written = safe_load(files(shop.path)[f"{AT}-comment.yml"])
    assert written[True]["push"]["branches"] == watched


@pytest.mark.parametrize("options", [{}, {"from_ci": True}, {"forks": True}])
def test_no_key_stands_twice_in_a_workflow(repository: Path, options: Mapping[str, bool]) -> None:
    """GitHub starts nothing of such a file."""
    run(repository, queue=True, backport=True, **options)
    for path, text in files(repository).items():
        assert read_yaml(text, path).value


def test_with_the_ci_that_runs_already_its_checks_are_read(repository: Path) -> None:
    run(repository, from_ci=True, queue=True)
    written = files(repository)
    queue = safe_load(written[".github/workflows/prjury-queue.yml"])["jobs"]["prjury"]
    assert queue["permissions"]["checks"] == "read"
    job = safe_load(written[".github/workflows/prjury.yml"])["jobs"]["prjury"]
    assert job["permissions"] == {
        "contents": "read",
        "pull-requests": "write",
        "checks": "write",
        "statuses": "read",
        "actions": "read",
    }
    config = parse_policy(written[".github/prjury.yml"], "the new file").config
    assert [one.from_ for one in list_build_options(config)] == ["checks"]
    with pytest.raises(UsageError, match="contradict each other"):
        run(repository, from_ci=True, forks=True)


def test_the_action_is_put_in_place(repository: Path) -> None:
    run(repository, forks=True, queue=True, action=ACTION)
    texts = "".join(files(repository).values())
    assert texts.count(f"uses: {ACTION}\n") == 7
    assert "OWNER/" not in texts


def test_without_comments_conflicts_are_told_all_the_same(repository: Path) -> None:
    run(repository, no_comments=True)
    written = safe_load(files(repository)[f"{AT}-conflicts.yml"])
    assert list(written["jobs"]) == ["conflicts"]
    assert list(written[True]) == ["pull_request_target", "push"]
    assert "comment" not in written["jobs"]["conflicts"]["if"] + written["concurrency"]["group"]


#: Steps of the CI's own job before its tests, and what of it a build here does not have.
NEEDS = {
    "    services: {postgres: {image: postgres}}\n    steps:\n": "the service postgres",
    "    steps:\n      - run: sudo apt-get install -y libcurl4\n": "system packages",
    "    steps:\n      - run: ./ci/setup_db.sh\n": "a set-up of its own",
    "    steps:\n      - run: cp .env.example .env\n": "a set-up of its own",
    "    steps:\n      - run: node tests/server.js &\n": "a set-up of its own",
    "    steps:\n      - run: docker compose up -d\n": "containers",
    "    steps:\n      - run: login ${{ secrets.KEY }}\n": "it wants a secret",
    "    steps:\n      - uses: coursier/setup-action@v1\n": "`coursier/setup-action`",
}
CI = """\
on: [push, pull_request]
jobs:
  test:
    runs-on: {machine}
{steps}      - run: make test
"""


#: A workflow of another repository, in which the tests are.
CALLED = "octo/workflows/.github/workflows/test.yml@v1"


def write_ci(root: Path, steps: str, machine: str = "ubuntu-latest") -> None:
    (root / ".github" / "workflows").mkdir(parents=True, exist_ok=True)
    text = CI.format(machine=machine, steps=steps)
    (root / ".github" / "workflows" / "ci.yml").write_text(text)
    (root / "Makefile").write_text("test:\n\ttrue\n")


@pytest.mark.parametrize("steps", NEEDS)
def test_where_the_ci_needs_more_than_the_tree_its_checks_count(
    repository: Path, capsys: pytest.CaptureFixture[str], steps: str
) -> None:
    write_ci(repository, steps)
    run(repository)
    assert "from: checks" in files(repository)[POLICY]
    assert "actions: read" in files(repository)[f"{AT}.yml"]
    (why,) = [one for one in capsys.readouterr().out.splitlines() if "your CI's checks" in one]
    assert ".github/workflows/ci.yml, job test, needs " in why
    assert NEEDS[steps] in why
    run(repository, build=True, force=True)
    assert "from: checks" not in files(repository)[POLICY]
    assert NEEDS[steps] in capsys.readouterr().out


@pytest.mark.parametrize(
    ("old", "new", "needs"),
    [
        ("ubuntu-latest", "windows-latest", "job test, needs the machine windows-latest"),
        ("make test", "make test\n      - run: upload ${{ secrets.KEY }}", ""),
        ("make test", "make test\n      - run: make check KEY=${{ secrets.KEY }}", "a secret"),
        ("make test", "sudo -E make test", "sudo -E make test"),
        (CI, f"on: pull_request\njobs: {{tests: {{uses: {CALLED}}}}}\n", f"workflow {CALLED}"),
    ],
    ids=["another system", "behind the tests", "a secret", "rights of the system", "elsewhere"],
)
def test_what_the_tests_need_and_what_stands_behind_them(
    repository: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, needs: str
) -> None:
    write_ci(repository, "    steps:\n")
    ci = repository / ".github" / "workflows" / "ci.yml"
    ci.write_text(new if old is CI else ci.read_text().replace(old, new))
    run(repository)
    assert ("from: checks" in files(repository)[POLICY]) is bool(needs)
    assert needs in capsys.readouterr().out


TOOLS = {
    "ruby/setup-ruby@v1": "{ruby-version: '3.4', bundler-cache: true}",
    "shivammathur/setup-php@v2": "{php-version: '8.4', tools: composer}",
    "actions/setup-dotnet@v5": "{dotnet-version: 9.0.x}",
    "dtolnay/rust-toolchain@1.96.0": "{components: clippy}",
}


@pytest.mark.parametrize("forks", [False, True])
@pytest.mark.parametrize("action", TOOLS)
def test_the_tools_of_the_ci_are_set_up_as_it_sets_them_up(
    repository: Path, action: str, forks: bool
) -> None:
    step = f"    steps:\n      - uses: {action}\n        with: {TOOLS[action]}\n"
    write_ci(repository, step)
    run(repository, forks=forks)
    (job,) = safe_load(files(repository)[f"{AT}{'-build' * forks}.yml"])["jobs"].values()
    name = action.partition("@")[0]
    (there,) = [one for one in job["steps"] if one.get("uses", "").startswith(f"{name}@")]
    assert {key: str(on) for key, on in there["with"].items()} == {
        key: str(on) for key, on in safe_load(TOOLS[action]).items()
    }
    assert "from: checks" not in files(repository)[POLICY]


def test_of_a_matrix_the_newest_usual_row_is_set_up(repository: Path) -> None:
    rubies = "['3.2', '3.4', head, truffleruby-head]"
    matrix = f"    strategy: {{matrix: {{ruby: {rubies}, os: [ubuntu-latest, macos-latest]}}}}\n"
    step = "      - uses: ruby/setup-ruby@v1\n        with: {ruby-version: '${{ matrix.ruby }}'}\n"
    write_ci(repository, f"{matrix}    steps:\n{step}", machine="${{ matrix.os }}")
    run(repository)
    assert 'ruby-version: "3.4"' in files(repository)[f"{AT}.yml"]


def test_a_tool_of_another_job_that_is_run_is_set_up_as_well(repository: Path) -> None:
    write_ci(repository, "    steps:\n      - uses: actions/setup-python@v6\n")
    (repository / "deno.json").write_text("{}")
    job = "  deno:\n    runs-on: ubuntu-latest\n    steps:\n"
    job += "      - uses: denoland/setup-deno@v2\n      - run: deno test\n"
    file = repository / ".github" / "workflows" / "ci.yml"
    file.write_text(file.read_text() + job)
    run(repository)
    assert "denoland/setup-deno@v2" in files(repository)[f"{AT}.yml"]


def test_a_runner_of_tests_that_runners_lack_is_installed(repository: Path) -> None:
    (repository / "tox.ini").write_text("[tox]\nenv_list = py\n")
    run(repository)
    assert "run: pipx install tox" in files(repository)[f"{AT}.yml"]


@pytest.mark.parametrize(
    "action",
    ["octo/pr-jury@v1", "octo/pr-jury", "pr-jury@" + "a" * 40, "o/p@" + "a" * 39, "o/p@x\ny", ""],
)
def test_an_action_that_is_not_pinned_is_refused(repository: Path, action: str) -> None:
    with pytest.raises(UsageError, match="is not OWNER/NAME@SHA"):
        run(repository, action=action)
    assert files(repository) == {}


def test_the_other_way_is_to_be_removed(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(repository)
    run(repository, forks=True, force=True)
    assert "Remove .github/workflows/prjury.yml: a pull request has one gate." in (
        capsys.readouterr().out
    )
    run(repository, force=True)
    removed = f"Remove {AT}-build.yml, {AT}-judge.yml: a pull request has one gate."
    assert removed in capsys.readouterr().out


def test_a_file_that_differs_is_shown_and_kept(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(repository)
    (repository / POLICY).write_text("version: 1\nlimits: {usd: 2.0}\n")
    before = files(repository)
    with pytest.raises(UsageError) as caught:
        run(repository, queue=True)
    assert (caught.value.what, caught.value.exit_code) == (f"{POLICY} would be overwritten", 2)
    assert "-limits: {usd: 2.0}" in capsys.readouterr().out.splitlines()
    assert files(repository) == before
    run(repository, action=ACTION, force=True)
    assert "limits" not in files(repository)[POLICY]
    assert ACTION in files(repository)[f"{AT}.yml"]


def test_line_ends_make_no_difference(repository: Path) -> None:
    run(repository)
    file = repository / ".github" / "prjury.yml"
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    run(repository)
    assert b"\r\n" in file.read_bytes()


def link_directory(root: Path, outside: Path) -> None:
    (root / ".github").symlink_to(outside, target_is_directory=True)


def link_workflows(root: Path, outside: Path) -> None:
    (root / ".github").mkdir()
    (root / ".github" / "workflows").symlink_to(outside, target_is_directory=True)


def link_policy(root: Path, outside: Path) -> None:
    (root / ".github").mkdir()
    (root / ".github" / "prjury.yml").symlink_to(outside / "policy.yml")


def a_file_in_place_of_the_directory(root: Path, outside: Path) -> None:
    (root / ".github").write_text("")


def a_directory_in_place_of_the_file(root: Path, outside: Path) -> None:
    (root / ".github" / "prjury.yml").mkdir(parents=True)


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize(
    "obstacle",
    [
        link_directory,
        link_workflows,
        link_policy,
        a_file_in_place_of_the_directory,
        a_directory_in_place_of_the_file,
    ],
)
def test_nothing_is_written_through_a_link(
    repository: Path, tmp_path: Path, obstacle: Callable[[Path, Path], None], force: bool
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    obstacle(repository, outside)
    before = sorted(repository.rglob("*"))
    with pytest.raises(PrJuryError) as caught:
        run(repository, force=force)
    assert caught.value.exit_code == 2
    assert list(outside.iterdir()) == []
    assert sorted(repository.rglob("*")) == before


def test_outside_of_a_repository_it_says_so(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="is not in a git repository"):
        run(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_every_option_is_documented() -> None:
    app = typer.Typer(add_completion=False)
    app.command()(init)
    command = typer.main.get_command(app)
    assert [one.name for one in command.params if not getattr(one, "help", None)] == []
    assert re.search("--force", command.help or "")


RELEASE = "<maven.compiler.release>21</maven.compiler.release>"
POM = f"<project><properties>{RELEASE}</properties></project>"
GRADLE = "java { toolchain { languageVersion = JavaLanguageVersion.of(21) } }\n"
PACKAGE = json.dumps(
    {
        "packageManager": "pnpm@10.1.0",
        "engines": {"node": ">=20"},
        "scripts": {"test": "node --test"},
    }
)
JAVA = {"distribution": "temurin", "java-version": "21"}
#: Files of a repository, and what is set up, by the action.
KINDS: dict[str, tuple[Mapping[str, str], Mapping[str, Mapping[str, object]]]] = {
    "maven": ({"pom.xml": POM}, {"actions/setup-java": {**JAVA, "cache": "maven"}}),
    "gradle": (
        {"settings.gradle": "", "build.gradle": GRADLE},
        {"actions/setup-java": {**JAVA, "cache": "gradle"}},
    ),
    "dotnet": (
        {"a.csproj": "<Project/>", "global.json": "{}"},
        {"actions/setup-dotnet": {"global-json-file": "global.json"}},
    ),
    "pnpm": (
        {"package.json": PACKAGE, "pnpm-lock.yaml": "lockfileVersion: '9.0'\n"},
        {"pnpm/action-setup": {}, "actions/setup-node": {"node-version": ">=20", "cache": "pnpm"}},
    ),
    "npm without a lock file": (
        {"package.json": '{"scripts": {"test": "node --test"}}', ".nvmrc": "22\n"},
        {"actions/setup-node": {"node-version": "22"}},
    ),
    "uv": (
        {"pyproject.toml": '[project]\nname = "x"\nversion = "1"\n', "uv.lock": "version = 1\n"},
        {"astral-sh/setup-uv": {"enable-cache": True}},
    ),
    "pytest": (
        {"test_a.py": "", ".python-version": "3.13\n"},
        {"actions/setup-python": {"python-version": "3.13"}},
    ),
    "cargo": ({"Cargo.toml": '[package]\nname = "x"\nversion = "0.1.0"\n'}, {}),
    "go": (
        {"go.mod": "module x\n\ngo 1.22\n", "x.go": "package x\n"},
        {"actions/setup-go": {"go-version": "1.22"}},
    ),
}


def steps_of(root: Path, **options: bool) -> dict[str, Mapping[str, Any]]:
    """The inputs of the job's steps before ours, by their actions without commits."""
    run(root, **options)
    name = f"{AT}-build.yml" if options.get("forks") else f"{AT}.yml"
    (job,) = safe_load(files(root)[name])["jobs"].values()
    ours = next(i for i, step in enumerate(job["steps"]) if "pr-jury" in step["uses"])
    return {step["uses"].partition("@")[0]: step.get("with", {}) for step in job["steps"][:ours]}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("forks", [False, True], ids=["alone", "forks"])
def test_what_the_repository_declares_is_set_up(
    repository: Path, kind: str, *, forks: bool
) -> None:
    texts, expected = KINDS[kind]
    for name, text in texts.items():
        (repository / name).parent.mkdir(parents=True, exist_ok=True)
        (repository / name).write_text(text)
    found = steps_of(repository, forks=forks)
    if expected:
        assert found.pop("actions/checkout") == {"persist-credentials": False}
    assert found == expected


def test_where_the_checks_of_the_ci_count_nothing_is_set_up(repository: Path) -> None:
    (repository / "pom.xml").write_text(POM)
    assert steps_of(repository, from_ci=True) == {}


def test_every_action_is_pinned_by_a_commit() -> None:
    assert all(re.fullmatch(r"[0-9a-f]{40} # v[\d.]+", pin) for pin in PINS.values())
