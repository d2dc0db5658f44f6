"""Words looked up in the tree of a real commit."""

from __future__ import annotations

from pathlib import Path

import pytest

from fakes.history import History, link, submodule
from prjury.git.command import GitError
from prjury.git.operator import open_repository
from prjury.git.store import find_in_code, open_store
from prjury.git.take_snapshot import take_snapshot
from prjury.judges.backport.checks.symbols import find_missing_symbols
from prjury.judges.backport.references import find_used_names_and_modules
from prjury.ports.types import WordPlaces


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History(tmp_path / "repo")


def found(path: Path, commit: str, *words: str) -> WordPlaces:
    with open_store(open_repository(path)) as store:
        return store.with_words(commit, words)


def test_every_place_of_a_word_is_told(history: History) -> None:
    sha = history.commit({"a.py": "x\nfoo bar\n", "b/c.sh": "foo\n\nfoo(bar)\n"})

    places = found(history.path, sha, "foo", "bar", "baz").places

    assert places == {
        "foo": (("a.py", 2), ("b/c.sh", 1), ("b/c.sh", 3)),
        "bar": (("a.py", 2), ("b/c.sh", 3)),
    }


@pytest.mark.parametrize("text", ["foo_bar", "xfoo", "FOO", "foo1", "f oo"])
def test_only_whole_words_count(history: History, text: str) -> None:
    sha = history.commit({"a.py": f"{text}\n"})

    assert found(history.path, sha, "foo") == WordPlaces({})


@pytest.mark.parametrize("path", ["a b\tc.py", "ä.py", 'q"\n.py', b"\xff.py", "-e.py", "x:1:y.py"])
def test_a_path_may_be_anything(history: History, path: str | bytes) -> None:
    sha = history.commit({path: "foo\n"})
    told = path if isinstance(path, str) else path.decode("utf-8", "surrogateescape")

    assert found(history.path, sha, "foo").places == {"foo": ((told, 1),)}


def test_binary_files_links_and_submodules_are_passed_over(history: History) -> None:
    history.commit({"a.py": "x\n"})
    sha = history.commit(
        {"b.bin": b"\0foo\n", "link": link("foo"), "sub": submodule(history.head), "c": "foo"}
    )

    places = found(history.path, sha, "foo").places["foo"]

    assert ("c", 1) in places
    assert not {"b.bin", "sub"} & {path for path, _ in places}


@pytest.mark.parametrize("path", ["a.md", "docs/b.RST", "c/d/data.json"])
def test_prose_and_data_are_no_code(history: History, path: str) -> None:
    sha = history.commit({path: "foo\n"})

    assert found(history.path, sha, "foo") == WordPlaces({})


def test_attributes_of_the_repository_hide_nothing(history: History) -> None:
    sha = history.commit({"a.py": "foo\n", ".gitattributes": "*.py -diff binary\n"})

    assert found(history.path, sha, "foo").places == {"foo": (("a.py", 1),)}


def test_a_commit_that_is_not_there_is_an_error(history: History) -> None:
    history.commit({"a.py": "foo\n"})

    with pytest.raises(GitError):
        found(history.path, "1" * 40, "foo")


def test_files_that_a_partial_clone_lacks_are_named_once(history: History, tmp_path: Path) -> None:
    history.commit({"gone's.py": "foo bar\n"})
    sha = history.commit({"here.py": "foo\n"})
    clone = history.clone(tmp_path / "clone", "--filter=blob:none", "--no-checkout")
    blob = history.git("rev-parse", f"{sha}:here.py")
    clone.git(
        "hash-object", "-w", "--stdin", stdin=history.git("cat-file", "blob", blob).encode() + b"\n"
    )

    answer = found(clone.path, sha, "foo", "bar")

    assert answer == WordPlaces({"foo": (("here.py", 1),)}, ("gone's.py",))


def test_nobody_waits_longer_than_told(history: History) -> None:
    sha = history.commit({"a.py": "foo\n"})

    with (
        open_store(open_repository(history.path)) as store,
        pytest.raises(GitError, match="took longer") as caught,
    ):
        find_in_code(store.git, sha, ["foo"], seconds=0.0)
    assert caught.value.reason == "timeout"


def test_a_real_branch_lacks_what_came_after_it(history: History) -> None:
    history.commit({"app.py": "y = 1\n", "helper.py": "def older():\n    pass\n"})
    history.branch("1.x")
    history.commit({"helper.py": "def older():\n    pass\n\n\ndef newer():\n    pass\n"})
    history.switch("change", create=True)
    history.commit({"app.py": "y = 1\nolder()\nnewer()\n"})
    operator = open_repository(history.path)

    with open_store(operator) as store:
        pull = take_snapshot(store, operator.resolve("main"), operator.resolve("change"))
        needs = find_used_names_and_modules(pull, store)
        lacked = find_missing_symbols(needs, history.sha("1.x"), store)

    assert [str(each) for each in lacked.symbols] == [
        "newer (app.py:3; on the base in helper.py:5)"
    ]


def test_the_same_words_are_looked_for_once(history: History) -> None:
    sha = history.commit({"a.py": "foo\n"})
    with open_store(open_repository(history.path)) as store:
        first = store.with_words(sha, ["foo"])
        assert store.with_words(sha, ("foo",)) is first
        assert store.with_words(sha, ["bar"]) == WordPlaces({})
