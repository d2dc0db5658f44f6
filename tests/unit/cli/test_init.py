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
from prjury.resources import templates

ACTION = "octo/pr-jury@" + "0123456789" * 4
ALONE = {
    ".github/prjury.yml",
    ".github/workflows/prjury.yml",
    ".github/workflows/prjury-conflicts.yml",
}
APART = {
    ".github/workflows/prjury-conflicts.yml",
    ".github/prjury.yml",
    ".github/workflows/prjury-build.yml",
    ".github/workflows/prjury-judge.yml",
    ".github/workflows/prjury-override.yml",
}
QUEUE = {".github/workflows/prjury-queue.yml"}
BACKPORT = {".github/workflows/prjury-backport.yml"}
COMMENT = {".github/workflows/prjury-comment.yml"}


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
        "commands": False,
        "app": False,
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
        ({"commands": True}, ALONE | COMMENT),
        ({"forks": True}, APART),
        ({"forks": True, "queue": True}, APART | QUEUE),
    ],
)
def test_it_writes_what_fits(
    repository: Path, options: Mapping[str, bool], expected: set[str]
) -> None:
    run(repository, **options)
    assert files(repository).keys() == expected


def test_files_are_those_of_the_templates(repository: Path) -> None:
    run(repository, forks=True)
    template = (templates() / "workflows" / "prjury-judge.yml").read_text()
    assert files(repository)[".github/workflows/prjury-judge.yml"] == template


@pytest.mark.parametrize(
    ("branches", "watched"),
    [
        (["trunk", "1.2.x", "release/2.0", "cart"], ["trunk", "release/2.0", "1.2.x"]),
        (["main", "1.2"], ["main", "1.2"]),
        (["main+1"], ["main", "master"]),
    ],
)
def test_pushes_to_the_default_and_the_release_branches_are_watched(
    tmp_path: Path, branches: list[str], watched: list[str]
) -> None:
    shop = History(tmp_path / "shop", branch=branches[0])
    shop.commit({"README.md": "A shop.\n"}, "A shop")
    shop.remote("https://github.com/octo/shop.git", head=branches[0])
    for name in branches[1:]:
        shop.branch(name)
    run(shop.path)
    written = safe_load(files(shop.path)[".github/workflows/prjury-conflicts.yml"])
    assert written[True]["push"]["branches"] == watched


@pytest.mark.parametrize("options", [{}, {"from_ci": True}, {"forks": True}])
def test_no_key_stands_twice_in_a_workflow(repository: Path, options: Mapping[str, bool]) -> None:
    """GitHub starts nothing of such a file."""
    run(repository, queue=True, backport=True, commands=True, **options)
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
    with pytest.raises(UsageError, match="two ways to keep the build away"):
        run(repository, from_ci=True, forks=True)


def test_the_action_is_put_in_place(repository: Path) -> None:
    run(repository, forks=True, queue=True, action=ACTION)
    texts = "".join(files(repository).values())
    assert texts.count(f"uses: {ACTION}\n") == 7
    assert "OWNER/" not in texts


def test_with_an_app_only_jobs_that_build_nothing_hold_its_key(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(repository, forks=True, app=True, backport=True, commands=True)
    assert "with the app as its source" in capsys.readouterr().out
    posting = {}
    for text in files(repository).values():
        for name, job in safe_load(text).get("jobs", {}).items():
            if "PRJURY_APP_PRIVATE_KEY" in str(job):
                posting[name] = job["permissions"]
                assert job["steps"][-1 if name != "publish" else -2]["with"]["github-token"] == (
                    "${{ steps.app.outputs.token }}"
                )
    assert posting == {
        key: {} for key in ("publish", "override", "conflicts", "backport", "comment")
    }


@pytest.mark.parametrize("other", [{}, {"forks": True, "queue": True}])
def test_an_app_has_no_place_beside_a_build(repository: Path, other: dict[str, bool]) -> None:
    with pytest.raises(UsageError, match="--app goes with --forks, and without --queue"):
        run(repository, app=True, **other)
    assert files(repository) == {}


@pytest.mark.parametrize(
    "action",
    ["octo/pr-jury@v1", "octo/pr-jury", "pr-jury@" + "a" * 40, "o/p@" + "a" * 39, "o/p@x\ny", ""],
)
def test_an_action_that_is_not_pinned_is_refused(repository: Path, action: str) -> None:
    with pytest.raises(UsageError, match="is not OWNER/NAME@SHA"):
        run(repository, action=action)
    assert files(repository) == {}


def test_it_works_from_a_subdirectory(repository: Path) -> None:
    below = repository / "src" / "deep"
    below.mkdir(parents=True)
    run(below)
    assert files(repository).keys() == ALONE
    assert not (below / ".github").exists()


def test_it_says_what_to_do_in_a_few_lines(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(repository)
    lines = capsys.readouterr().out.splitlines()
    where = ".github/workflows/prjury"
    assert lines[0] == f"wrote {where}.yml, {where}-conflicts.yml, .github/prjury.yml"
    assert 3 <= len(lines) <= 6
    for word in ("OWNER/pr-jury@COMMIT", "`prjury`", "OPENAI_API_KEY", "--config", "doctor"):
        assert any(word in line for line in lines), word


def test_with_the_action_named_nothing_is_to_be_replaced(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(repository, action=ACTION)
    assert "OWNER" not in capsys.readouterr().out


def test_the_other_way_is_to_be_removed(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(repository)
    run(repository, forks=True)
    assert "Remove .github/workflows/prjury.yml: a pull request has one gate." in (
        capsys.readouterr().out
    )
    run(repository)
    assert (
        "Remove .github/workflows/prjury-build.yml, .github/workflows/prjury-judge.yml, "
        ".github/workflows/prjury-override.yml: a pull request has one gate.\n"
    ) in capsys.readouterr().out


def test_a_second_time_nothing_is_written(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(repository, action=ACTION)
    before = {path: path.stat().st_mtime_ns for path in (repository / ".github").rglob("*.yml")}
    capsys.readouterr()
    run(repository)
    assert capsys.readouterr().out.startswith("everything is already there\n")
    assert before == {path: path.stat().st_mtime_ns for path in before}


def test_a_file_that_differs_is_kept_and_nothing_is_written(repository: Path) -> None:
    run(repository)
    (repository / ".github" / "prjury.yml").write_text("version: 1\n")
    before = files(repository)
    with pytest.raises(UsageError) as caught:
        run(repository, queue=True, action=ACTION)
    where = ".github/workflows/prjury"
    files_there = f"{where}.yml, {where}-conflicts.yml, .github/prjury.yml"
    assert caught.value.what == f"{files_there} would be overwritten"
    assert caught.value.exit_code == 2
    assert files(repository) == before


def test_force_overwrites(repository: Path) -> None:
    run(repository)
    (repository / ".github" / "prjury.yml").write_text("version: 1\n")
    run(repository, action=ACTION, force=True)
    assert "tiers:" in files(repository)[".github/prjury.yml"]
    assert ACTION in files(repository)[".github/workflows/prjury.yml"]


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


def test_a_bare_repository_has_no_files(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", "--bare", str(tmp_path / "a.git")], check=True)
    with pytest.raises(UsageError, match="bare repository"):
        run(tmp_path / "a.git")


def test_every_option_is_documented() -> None:
    command = typer.main.get_command(_app())
    assert [one.name for one in command.params if not getattr(one, "help", None)] == []
    assert re.search("--force", command.help or "")


def _app() -> typer.Typer:
    app = typer.Typer(add_completion=False)
    app.command()(init)
    return app
