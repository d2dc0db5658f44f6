"""Repositories that try to run something or to hide something. No canary may sing."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fakes.history import ENVIRONMENT, History, link, script, snapshot, submodule
from prjury.errors import SourceError
from prjury.git.open_snapshot import Snapshot, SnapshotRequest, open_snapshot
from prjury.git.operator import open_repository
from prjury.git.store import Store, open_store
from prjury.snapshot.model import FileKind


@pytest.fixture
def canary(tmp_path: Path) -> Iterator[Path]:
    """A file that a program of the repository would make; it must not be there at the end."""
    file = tmp_path / "CANARY"
    yield file
    assert not file.exists()


@pytest.fixture
def history(tmp_path: Path) -> History:
    history = History(tmp_path / "repo")
    history.commit({"a.py": "x = 1\n"})
    history.switch("change", create=True)
    return history


@contextmanager
def exported(history: History, tree: str, directory: Path) -> Iterator[Store]:
    directory.mkdir(exist_ok=True)
    with open_store(open_repository(history.path)) as store:
        store.export_and_list_missing(history.sha(tree), directory)
        yield store


def added(history: History) -> dict[str, list[str]]:
    return {file.path: [line.text for line in file.added_lines] for file in snapshot(history).files}


@pytest.mark.parametrize(
    "line", ["*.py -diff", "* binary", "*.py diff=foo", "*.py -text", "[attr]x -diff\n*.py x"]
)
def test_git_01_git_02_attributes_hide_nothing(history: History, canary: Path, line: str) -> None:
    for setting in ("diff.foo.command", "diff.foo.textconv", "diff.external"):
        history.git("config", setting, f"touch {canary}")
    (history.git_dir / "info").mkdir(exist_ok=True)
    (history.git_dir / "info" / "attributes").write_text(f"{line}\n")
    history.commit({".gitattributes": f"{line}\n", "a.py": "evil()\n"})

    assert added(history) == {".gitattributes": line.split("\n"), "a.py": ["evil()"]}


def test_git_08_no_filter_runs(history: History, canary: Path, tmp_path: Path) -> None:
    history.commit({".gitattributes": "* filter=x\n", "a.py": "x = 2 # $Id$\n"})
    for name in ("smudge", "clean", "process"):
        history.git("config", f"filter.x.{name}", f"touch {canary}; cat")
    history.git("config", "filter.x.required", "true")
    (history.path / "a.py").touch()
    with open_snapshot(SnapshotRequest(history.path)) as taken:
        assert isinstance(taken, Snapshot)
        assert taken.pull.notes == ()
    with exported(history, "change", tmp_path / "out"):
        assert (tmp_path / "out" / "a.py").read_bytes() == b"x = 2 # $Id$\n"


def test_git_12_hooks_and_fsmonitor_do_not_run(history: History, canary: Path) -> None:
    history.commit({"a.py": "x = 2\n"})
    history.write("a.py", "x = 3\n")
    hook = history.path.parent / "hook"
    hook.write_text(f"#!/bin/sh\ntouch {canary}\n")
    hook.chmod(0o755)
    hooks = history.git_dir / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("post-checkout", "post-index-change", "reference-transaction", "pre-auto-gc"):
        (hooks / name).symlink_to(hook)
    for setting in (
        "core.fsmonitor",
        "core.pager",
        "core.editor",
        "core.sshCommand",
        "core.askPass",
        "core.gitProxy",
        "core.alternateRefsCommand",
        "credential.helper",
        "gpg.program",
        "pager.log",
        "uploadpack.packObjectsHook",
    ):
        history.git("config", setting, str(hook))
    history.git("config", "log.showSignature", "true")
    with open_snapshot(SnapshotRequest(history.path)) as taken:
        assert isinstance(taken, Snapshot)
        assert taken.pull.notes == ("1 file is not committed and not judged: a.py",)


def test_a_submodule_s_own_configuration_is_not_asked(
    history: History, canary: Path, tmp_path: Path
) -> None:
    other = History(tmp_path / "other")
    other.commit({"b.py": "b\n", ".gitattributes": "* filter=x\n"})
    history.git("submodule", "--quiet", "add", other.url, "lib")
    history.git("commit", "--quiet", "-m", "Add a submodule")
    history.git("-C", "lib", "config", "core.fsmonitor", f"touch {canary}")
    history.git("-C", "lib", "config", "filter.x.clean", f"touch {canary}; cat")
    (history.path / "lib" / "b.py").write_text("changed\n")

    with open_snapshot(SnapshotRequest(history.path)) as taken:
        assert isinstance(taken, Snapshot)


def test_git_03_export_drops_and_changes_nothing(history: History, tmp_path: Path) -> None:
    history.commit(
        {
            ".gitattributes": "tests export-ignore\ns.py export-subst\n*.txt eol=crlf "
            "working-tree-encoding=UTF-16\n",
            "tests/test_a.py": "def test(): assert False\n",
            "s.py": "$Format:%H$\n",
            "n.txt": "a\nb\n",
            "run.sh": script("echo\n"),
            "to": link("s.py"),
            "lib": submodule("1" * 40),
            b"\xff\n'\"": b"odd\0",
        }
    )
    out = tmp_path / "out"
    with exported(history, "change", out):
        pass
    outside = ["--git-dir", str(history.git_dir), "--work-tree", str(out)]
    env = {**ENVIRONMENT, "GIT_INDEX_FILE": str(tmp_path / "index"), "GIT_ATTR_NOSYSTEM": "1"}
    (history.git_dir / "info").mkdir(exist_ok=True)
    (history.git_dir / "info" / "attributes").write_text(
        "* -text -filter !eol !ident !working-tree-encoding\n"
    )
    for args in (["read-tree", "change"], ["add", "--all", "--force"]):
        subprocess.run(["git", *outside, *args], env=env, cwd=out, check=True)
    tree = subprocess.run(
        ["git", *outside, "write-tree"], env=env, cwd=out, capture_output=True, check=True
    )

    assert (out / "tests" / "test_a.py").exists()
    assert (out / "s.py").read_text() == "$Format:%H$\n"
    assert (out / "n.txt").read_bytes() == b"a\nb\n"
    assert os.access(out / "run.sh", os.X_OK)
    assert not os.access(out / "s.py", os.X_OK)
    assert (out / "to").readlink() == Path("s.py")
    assert list((out / "lib").iterdir()) == []
    assert (out / os.fsdecode(b"\xff\n'\"")).read_bytes() == b"odd\0"
    assert tree.stdout.decode().strip() == history.sha("change^{tree}")


def test_git_13_an_exported_tree_is_no_repository(history: History, tmp_path: Path) -> None:
    out = tmp_path / "out put"
    with exported(history, "change", out) as store:
        store_dir = str(store.git.git_dir)
        found = subprocess.run(
            ["git", "rev-parse", "--git-dir"],
            cwd=out,
            env={**ENVIRONMENT, "GIT_CEILING_DIRECTORIES": str(tmp_path)},
            capture_output=True,
            check=False,
        )
        assert not (out / ".git").exists()
        assert found.returncode == 128
        assert not any(store_dir in path.read_text() for path in out.rglob("*") if path.is_file())
    assert not Path(store_dir).exists()


def test_the_store_and_its_configuration_are_unchanged_by_use(history: History) -> None:
    history.commit({"a.py": "x = 2\n"})
    with open_snapshot(SnapshotRequest(history.path)) as taken:
        assert isinstance(taken, Snapshot)
        store = taken.store.git.git_dir
        assert (store / "config").read_text().splitlines() == [
            "[core]",
            "\trepositoryformatversion = 0",
            "\tbare = true",
        ]
        assert not (store / "hooks").exists()
        assert not (store / "index").exists()


@pytest.mark.parametrize("path", [".git/config", ".git", "../x", "a/../../x", ".GIT/config", "."])
def test_git_17_a_path_that_could_leave_the_directory_is_an_error(
    history: History, tmp_path: Path, path: str
) -> None:
    blob = history.git("hash-object", "-w", "--stdin", stdin=b"[core]\n")
    tree = blob
    mode, kind = "100644", "blob"
    for part in reversed(path.split("/")):
        line = f"{mode} {kind} {tree}\t{part}\n"
        tree = history.git("mktree", stdin=line.encode())
        mode, kind = "040000", "tree"
    out = tmp_path / "out"
    with pytest.raises(SourceError, match="git read-tree failed"), exported(history, tree, out):
        pass

    assert list(out.iterdir()) == []
    assert not (tmp_path / "x").exists()


def test_git_17_a_directory_that_becomes_a_link(history: History, tmp_path: Path) -> None:
    history.commit({"src/x.py": "x\n"})
    history.switch("escape", create=True)
    history.commit({"src/x.py": None, "src": link("../..")})
    files = {file.path: file for file in snapshot(history, "change", "escape").files}

    assert files["src"].kind is FileKind.SYMLINK
    assert [line.text for line in files["src"].added_lines] == ["../.."]
    with exported(history, "escape", tmp_path / "out"):
        assert (tmp_path / "out" / "src").is_symlink()


def test_git_17_a_tree_with_a_link_and_a_directory_of_one_name(
    history: History, tmp_path: Path
) -> None:
    target = history.git("hash-object", "-w", "--stdin", stdin=str(tmp_path / "away").encode())
    text = history.git("hash-object", "-w", "--stdin", stdin=b"escaped\n")
    inner = history.git("mktree", stdin=f"100644 blob {text}\tx\n".encode())
    crafted = b"120000 src\0" + bytes.fromhex(target) + b"40000 src\0" + bytes.fromhex(inner)
    args = ("hash-object", "-w", "-t", "tree", "--literally", "--stdin")
    tree = history.git(*args, stdin=crafted)
    (tmp_path / "away").mkdir()
    try:
        with exported(history, tree, tmp_path / "out"):
            pass
    except SourceError as error:
        assert error.reason == "git_failed"  # noqa: PT017 - refusing and writing inside are both right

    assert list((tmp_path / "away").iterdir()) == []


def test_git_14_submodules_are_never_fetched(history: History, canary: Path) -> None:
    url = f"ext::sh -c touch% {canary}"
    modules = f'[submodule "sub"]\n\tpath = sub\n\turl = {url}\n\tupdate = !touch {canary}\n'
    history.commit({".gitmodules": modules, "sub": submodule("1" * 40)})
    files = {file.path: file for file in snapshot(history).files}

    assert files["sub"].unread == "a submodule pointer"
    assert any(url in line.text for line in files[".gitmodules"].added_lines)


def test_git_25_alternates_are_read_and_never_written(history: History, tmp_path: Path) -> None:
    other = History(tmp_path / "other")
    other.commit({"z.py": "z\n"})
    before = sorted(path for path in other.git_dir.rglob("*"))
    info = history.git_dir / "objects" / "info"
    info.mkdir(exist_ok=True)
    (info / "alternates").write_text(f"{other.git_dir}/objects\n")
    history.commit({"a.py": "x = 2\n"})

    assert added(history) == {"a.py": ["x = 2"]}
    assert sorted(path for path in other.git_dir.rglob("*")) == before


def test_settings_of_the_repository_do_not_change_the_diff(history: History) -> None:
    for setting, value in {
        "diff.context": "0",
        "diff.noprefix": "true",
        "diff.mnemonicPrefix": "true",
        "diff.algorithm": "patience",
        "diff.renames": "false",
        "diff.ignoreSubmodules": "all",
        "diff.orderFile": "/nowhere",
        "diff.wsErrorHighlight": "all",
        "color.ui": "always",
        "core.quotePath": "false",
        "core.abbrev": "4",
        "core.autocrlf": "true",
        "log.showRoot": "false",
        "i18n.logOutputEncoding": "UTF-16",
        "merge.conflictStyle": "diff3",
    }.items():
        history.git("config", setting, value)
    history.commit({"b.py": "\n".join("abcdefgh"), "ü.py": "1\n"})
    history.commit({"c.py": "\n".join("abcdefgH"), "b.py": None, "lib": submodule("1" * 40)})

    assert added(history) == {"c.py": list("abcdefgH"), "lib": [], "ü.py": ["1"]}
