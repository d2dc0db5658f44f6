"""`prjury init` in a process of its own would only be slower: what it writes, keeps and refuses."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
import typer
from yaml import safe_load

from fakes.history import History
from prjury.app.composition import builds
from prjury.cli.init import init
from prjury.cli.output import Terminal
from prjury.errors import PrJuryError, SourceError, UsageError
from prjury.policy.load import read_policy
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
    given = {
        "forks": False,
        "queue": False,
        "backport": False,
        "no_comments": False,
        "build": False,
        "from_ci": False,
        "action": None,
        "force": False,
        **options,
    }
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
    [
        (["trunk", "1.2.x", "release/2.0", "cart"], ["trunk"]),
        (["main+1"], ["main", "master"]),
    ],
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
    config = read_policy(written[".github/prjury.yml"], "the new file").config
    assert [one.from_ for one in builds(config)] == ["checks"]
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
    ("line", "upload", "source"),
    [
        ("make test", "upload ${{ secrets.KEY }}", ""),
        ("make test", "make check KEY=${{ secrets.KEY }}", "from: checks"),
        ("sudo -E make test", "true", "from: checks"),
    ],
)
def test_what_stands_behind_the_tests_is_no_need_and_tests_by_the_rights_of_the_system_are(
    repository: Path, line: str, upload: str, source: str
) -> None:
    write_ci(repository, "    steps:\n")
    ci = repository / ".github" / "workflows" / "ci.yml"
    ci.write_text(ci.read_text().replace("make test", f"{line}\n      - run: {upload}"))
    run(repository)
    assert ("from: checks" in files(repository)[POLICY]) is bool(source)


def test_where_the_ci_runs_on_another_system_alone_its_checks_count(repository: Path) -> None:
    write_ci(repository, "    steps:\n", machine="windows-latest")
    run(repository)
    assert "from: checks" in files(repository)[POLICY]


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


def test_where_the_tests_are_in_a_workflow_elsewhere_its_checks_count(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_ci(repository, "    steps:\n")
    called = "octo/workflows/.github/workflows/test.yml@v1"
    text = f"on: pull_request\njobs: {{tests: {{uses: {called}}}}}\n"
    (repository / ".github" / "workflows" / "ci.yml").write_text(text)
    run(repository)
    assert "from: checks" in files(repository)[POLICY]
    assert f"needs the workflow {called}" in capsys.readouterr().out


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
    command = typer.main.get_command(_app())
    assert [one.name for one in command.params if not getattr(one, "help", None)] == []
    assert re.search("--force", command.help or "")


def _app() -> typer.Typer:
    app = typer.Typer(add_completion=False)
    app.command()(init)
    return app
