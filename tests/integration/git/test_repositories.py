"""Where a pull request may be photographed, and what is said of the place."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fakes.history import History, snapshot
from prjury.errors import ExitCode, SourceError, UsageError
from prjury.git.open_snapshot import NothingToReview, SnapshotRequest, open_snapshot
from prjury.git.operator import open_repository
from prjury.snapshot.model import PullRequest


def grow(history: History) -> History:
    """One commit on ``main``, one on ``change``, which is checked out."""
    history.commit({"a.py": "x = 1\n"})
    history.switch("change", create=True)
    history.commit({"a.py": "x = 2\n"}, "Change x")
    return history


@pytest.fixture
def history(tmp_path: Path) -> History:
    return grow(History(tmp_path / "repo"))


def taken(wanted: SnapshotRequest) -> PullRequest:
    with open_snapshot(wanted) as snapshot:
        return snapshot.pull


def reason(wanted: SnapshotRequest) -> str:
    with pytest.raises(NothingToReview) as caught, open_snapshot(wanted):
        pass
    return caught.value.what


def refusal(wanted: SnapshotRequest) -> SourceError:
    with pytest.raises(SourceError) as caught, open_snapshot(wanted):
        pass
    return caught.value


# What is to be judged


def test_the_current_branch_against_its_default_branch(history: History) -> None:
    pull = taken(SnapshotRequest(history.path))

    assert (pull.repo, pull.number, pull.title) == ("repo", None, "Change x")
    assert (pull.base.ref, pull.base.sha) == ("main", history.sha("main"))
    assert (pull.head.ref, pull.head.sha) == ("change", history.sha("change"))
    assert pull.notes == ()


def test_a_number_in_a_bare_repository(tmp_path: Path) -> None:
    history = grow(History(tmp_path / "repo.git", bare=True))
    sha = history.pull_ref(7)
    history.switch("main")
    pull = taken(SnapshotRequest(history.path, number=7))

    assert (pull.number, pull.head.ref, pull.head.sha) == (7, "refs/pull/7/head", sha)
    assert pull.base.ref == "main"


def test_a_number_that_was_never_fetched(history: History) -> None:
    error = refusal(SnapshotRequest(history.path, number=9))

    assert (error.reason, error.exit_code) == ("not_fetched", ExitCode.SOURCE)
    assert "git fetch origin pull/9/head:refs/pull/9/head" in str(error)


def test_on_the_default_branch(history: History) -> None:
    history.switch("main")
    history.write("new.py", "x")

    assert reason(SnapshotRequest(history.path)) == (
        "Nothing to review: main is the default branch (1 file is not committed). To judge "
        "something, commit to a branch of your own, or name both sides with --base REF --head REF."
    )


def test_a_detached_head(history: History) -> None:
    history.detach()
    pull = taken(SnapshotRequest(history.path))

    assert pull.head.ref == pull.head.sha == history.sha("change")


def test_an_unborn_head(tmp_path: Path) -> None:
    history = History(tmp_path / "repo")
    error = refusal(SnapshotRequest(history.path))

    assert error.reason == "empty_repository"
    assert "nothing is committed yet on the current branch of repo" in str(error)


def test_mrg_10_unrelated_histories(history: History) -> None:
    history.orphan("stranger")
    history.commit({"z": "1"}, parents=())
    error = refusal(SnapshotRequest(history.path, base="main", head="stranger"))

    assert error.reason == "no_merge_base"
    assert "main and stranger have no common commit" in str(error)


def test_the_remote_s_head_is_the_default_branch(history: History) -> None:
    history.branch("develop", "main")
    history.remote("https://github.com/ada/engine.git", head="develop")
    pull = taken(SnapshotRequest(history.path))

    assert (pull.repo, pull.base.ref) == ("ada/engine", "origin/develop")


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://github.com/ada/engine.git", "ada/engine"),
        ("https://github.com/ada/engine/", "ada/engine"),
        ("git@github.com:ada/engine.git", "ada/engine"),
        ("ssh://git@host:22/ada/engine", "ada/engine"),
        ("https://user:CANARYTOKEN@host/engine.git", "repo"),
        ("/srv/ada/engine.git", "repo"),
        ("file:///srv/ada/engine.git", "repo"),
        ("../engine", "repo"),
    ],
)
def test_the_name_of_a_repository(history: History, url: str, name: str) -> None:
    history.remote("https://github.com/someone/else.git", name="fork")
    history.git("config", "--unset", "remote.fork.url")
    history.remote(url)

    assert open_repository(history.path).name == name


def test_stacked_branches(history: History) -> None:
    history.switch("second", create=True)
    history.commit({"b.py": "b\n"})
    history.branch("also-second")
    history.switch("third", create=True)
    history.commit({"c.py": "c\n"})
    history.git("branch", "-D", "also-second")

    assert taken(SnapshotRequest(history.path)).notes == (
        "stacked on second; for this branch's own commits alone: --base second",
    )
    assert taken(SnapshotRequest(history.path, base="second")).notes == ()


# Names of refs


def test_a_branch_comes_before_a_tag_of_the_same_name(history: History) -> None:
    history.tag("main", "change")

    assert snapshot(history, "main").base.sha == history.sha("refs/heads/main")
    assert snapshot(history, "main~0").base.sha == history.sha("refs/heads/main")


def test_a_sha_is_a_commit_even_if_a_branch_is_called_so(history: History) -> None:
    sha = history.sha("main")
    history.branch(sha, "change")

    assert snapshot(history, sha).base.sha == sha


@pytest.mark.parametrize("ref", ["origin/main", "refs/remotes/origin/main", "main", "main~0"])
def test_branches_of_the_remote(history: History, ref: str) -> None:
    history.remote("https://github.com/ada/engine.git", head="main")
    history.git("update-ref", "-d", "refs/heads/main")

    assert snapshot(history, ref).base.sha == history.sha("refs/remotes/origin/main")


ODD = "a;$(touch${IFS}CANARY)`touch${IFS}CANARY`|y'\"&<x>"


def test_git_20_shell_characters_in_a_ref(history: History, tmp_path: Path) -> None:
    history.branch(ODD)

    assert snapshot(history, head=ODD).head.ref == ODD
    assert not list(tmp_path.rglob("CANARY"))


@pytest.mark.parametrize(
    "ref",
    [
        "-h",
        "--output=OUTPUT",
        "",
        "@{-1}",
        "main@{1}",
        "main@{upstream}",
        "a..b",
        "main...change",
        "HEAD^{/x}",
        ":/Change",
        "main:a.py",
        "a b",
        "a\nb",
        "a\0b",
        "~1",
        "^main",
        "*",
        "refs/heads/*",
        "a\\b",
        "/main",
        "main/",
        "main.lock",
        "main.",
    ],
)
@pytest.mark.parametrize("side", ["base", "head"])
def test_git_21_what_cannot_be_a_ref_is_a_usage_error(
    history: History, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ref: str, side: str
) -> None:
    monkeypatch.chdir(tmp_path)
    base, head = (ref, "change") if side == "base" else ("main", ref)
    with pytest.raises(UsageError) as caught:
        snapshot(history, base, head)

    assert (caught.value.reason, caught.value.exit_code) == ("invalid_ref", ExitCode.USAGE)
    assert str(caught.value).isprintable()
    assert not (tmp_path / "OUTPUT").exists()


@pytest.mark.parametrize("char", ["\u202e", "\u2028", "\u200b", "\x85"])
def test_git_22_hidden_characters_of_refs_are_shown(history: History, char: str) -> None:
    name = f"x{char}y"
    history.branch(name)
    history.switch(name + "z", create=True)
    history.commit({"b": "1"})

    assert snapshot(history, head=name).head.ref == name
    (note,) = taken(SnapshotRequest(history.path)).notes
    assert note.isprintable()
    history.switch(name)
    assert reason(SnapshotRequest(history.path, base=name)).isprintable()
    assert str(refusal(SnapshotRequest(history.path, base=name + "nowhere"))).isprintable()


def test_refs_that_are_not_utf_8(history: History) -> None:
    name = os.fsdecode(b"b\xff")
    history.branch(name)

    assert snapshot(history, head=name).head.ref == name
    assert r"b\xff" in reason(SnapshotRequest(history.path, base="change", head=name))


# Places


@pytest.mark.parametrize(
    "name",
    [b"with space", b"quo'te\"s", b"\xff\xfe", b"new\nline", b"$HOME", b"~", b"back\\slash", b"-x"],
)
@pytest.mark.parametrize("bare", [False, True])
def test_directories_with_odd_names(tmp_path: Path, name: bytes, bare: bool) -> None:
    history = grow(History(tmp_path / os.fsdecode(name), bare=bare))
    pull = snapshot(history)

    assert [file.path for file in pull.files] == ["a.py"]
    assert pull.repo.isprintable()


def test_no_repository(tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "missing"):
        error = refusal(SnapshotRequest(place))
        assert (error.reason, error.exit_code) == ("no_repository", ExitCode.SOURCE)


def test_a_work_tree_whose_repository_was_moved_away(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("gitdir: /nowhere\n")
    (tmp_path / "sub").mkdir()
    error = refusal(SnapshotRequest(tmp_path / "sub"))

    assert error.reason == "no_repository"
    assert f"{tmp_path}/.git leads to a place that is not there any more" in str(error)
    assert "git worktree repair" in str(error)


@pytest.mark.parametrize("bare", [False, True])
def test_f7_a_conditional_include_in_the_repository_s_own_configuration(
    tmp_path: Path, bare: bool
) -> None:
    history = grow(History(tmp_path / "repo", bare=bare))
    history.git("config", "includeIf.gitdir:/x.path", "../y")
    history.remote("https://github.com/someone/else.git", name="fork")
    history.remote("https://github.com/ada/engine.git")

    assert open_repository(history.path).remote_url == "https://github.com/ada/engine.git"
    assert snapshot(history).repo == "ada/engine"


def test_a_linked_work_tree(history: History, tmp_path: Path) -> None:
    linked = tmp_path / "linked tree"
    history.switch("main")
    history.git("worktree", "add", "--quiet", str(linked), "change")
    (linked / "new.py").write_text("x")
    pull = taken(SnapshotRequest(linked))

    assert (pull.head.ref, pull.repo) == ("change", "linked tree")
    assert pull.notes == ("1 file is not committed and not judged: new.py",)


def test_sha256_repositories(tmp_path: Path) -> None:
    history = grow(History(tmp_path / "repo", object_format="sha256"))
    history.write("a.py", "x = 3\n")
    pull = taken(SnapshotRequest(history.path))

    assert len(pull.head.sha) == 64
    assert pull.merge.clean
    assert pull.notes == ("1 file is not committed and not judged: a.py",)


def test_git_variables_of_the_caller_are_ignored(
    history: History, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = History(tmp_path / "other")
    other.commit({"z": "1"})
    canary = tmp_path / "CANARY"
    for name, value in {
        "GIT_DIR": str(other.git_dir),
        "GIT_WORK_TREE": str(other.path),
        "GIT_COMMON_DIR": str(other.git_dir),
        "GIT_INDEX_FILE": str(tmp_path / "no-index"),
        "GIT_OBJECT_DIRECTORY": str(tmp_path / "no-objects"),
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(tmp_path / "no-objects"),
        "GIT_CEILING_DIRECTORIES": str(history.path.parent),
        "GIT_NAMESPACE": "elsewhere",
        "GIT_EXTERNAL_DIFF": f"touch {canary}",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.fsmonitor",
        "GIT_CONFIG_VALUE_0": f"touch {canary}",
        "GIT_CONFIG_PARAMETERS": "'core.bare'='true'",
        "GIT_DIFF_OPTS": "--unified=0",
        "GIT_LITERAL_PATHSPECS": "0",
        "GIT_TRACE": str(tmp_path / "trace"),
    }.items():
        monkeypatch.setenv(name, value)
    pull = taken(SnapshotRequest(history.path))

    assert [file.path for file in pull.files] == ["a.py"]
    assert pull.notes == ()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other", "repo"]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home directory of the test's own."""
    place = tmp_path / "home"
    place.mkdir()
    monkeypatch.setenv("HOME", str(place))
    return place


needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")


@needs_root
def test_git_26_a_repository_of_another_user(history: History, home: Path) -> None:
    os.chown(history.path, 12_345, -1)
    os.chown(history.git_dir, 12_345, -1)
    error = refusal(SnapshotRequest(history.path))

    assert (error.reason, error.exit_code) == ("dubious_ownership", ExitCode.SOURCE)
    assert "git config --global --add safe.directory" in str(error)


@needs_root
@pytest.mark.parametrize("file", [".gitconfig", ".config/git/config"])
@pytest.mark.parametrize("everything", [True, False])
def test_git_26_the_operator_may_call_it_safe(
    history: History, home: Path, file: str, everything: bool
) -> None:
    os.chown(history.path, 12_345, -1)
    os.chown(history.git_dir, 12_345, -1)
    config = home / file
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(f"[safe]\n\tdirectory = {'*' if everything else history.path}\n")

    assert taken(SnapshotRequest(history.path)).ahead == 1


def test_an_operator_s_configuration_that_git_cannot_read(history: History, home: Path) -> None:
    (home / ".gitconfig").write_text("[safe\n")

    assert "bad config line 1" in str(refusal(SnapshotRequest(history.path)))


# The work tree


def note(history: History) -> str:
    notes = taken(SnapshotRequest(history.path)).notes
    return notes[0] if notes else ""


def test_uncommitted_files_are_counted_and_named(history: History) -> None:
    history.commit({"gone.py": "g\n", "mode.sh": "m\n", "staged.py": "s\n", "same.py": "=\n"})
    history.write("a.py", "x = 3\n")
    history.write("new dir/new\n.py", "n")
    history.write("same.py", "=\n")
    (history.path / "gone.py").unlink()
    (history.path / "mode.sh").chmod(0o755)
    history.write("staged.py", "changed\n")
    history.git("add", "staged.py")

    assert note(history) == (
        "5 files are not committed and not judged: a.py, gone.py, mode.sh, new dir/new\\n.py, "
        "staged.py"
    )
    history.write("zzz", "z")
    assert note(history).startswith("6 files are not committed and not judged: a.py, ")
    assert note(history).endswith("staged.py, …")


def test_ignored_files_do_not_count(history: History, home: Path) -> None:
    history.commit({".gitignore": "*.log\n"})
    history.write("a.log", "x")
    history.write("a.tmp", "x")
    history.write("a.bak", "x")
    (history.git_dir / "info").mkdir(exist_ok=True)
    (history.git_dir / "info" / "exclude").write_text("*.bak\n")
    (home / "mine").write_text("*.tmp\n")
    (home / ".gitconfig").write_text("[core]\n\texcludesFile = ~/mine\n")

    assert note(history) == ""


def test_the_operator_s_repository_is_never_written_to(history: History) -> None:
    history.write("a.py", "x = 3\n")
    before = {path: path.stat().st_mtime_ns for path in history.git_dir.rglob("*")}
    taken(SnapshotRequest(history.path))

    assert {path: path.stat().st_mtime_ns for path in history.git_dir.rglob("*")} == before
