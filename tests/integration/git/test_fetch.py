"""Fetching a pull request over ``file://``: with and without a local clone, deep and shallow."""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fakes.history import History, snapshot
from prjury.errors import ExitCode, SourceError, UsageError
from prjury.git.fetch import Remote, Transport, strip_credentials
from prjury.git.open_snapshot import (
    SUPERSEDED,
    NothingToReview,
    Snapshot,
    SnapshotRequest,
    open_snapshot,
    parse_number_and_clone_url,
)
from prjury.snapshot.model import PullRequest

FILE = Transport(protocols="file")


@pytest.fixture
def origin(tmp_path: Path) -> History:
    """``main`` with three commits; pull request 7 left after the second."""
    origin = History(tmp_path / "ada" / "engine.git", bare=True)
    origin.commit({"a.py": "1\n"})
    origin.commit({"a.py": "2\n"})
    origin.switch("change", create=True)
    origin.commit({"b.py": "b\n"})
    origin.commit({"b.py": "bb\n"})
    origin.pull_ref(7)
    origin.switch("main")
    origin.git("update-ref", "-d", "refs/heads/change")
    origin.commit({"a.py": "3\n"})
    return origin


def fetched(
    tmp_path: Path, origin: History, transport: Transport = FILE, base: str | None = None
) -> PullRequest:
    wanted = SnapshotRequest(tmp_path, number=7, base=base, url=origin.url, transport=transport)
    with open_snapshot(wanted) as taken:
        assert isinstance(taken, Snapshot)
        return taken.pull


def refusal(wanted: SnapshotRequest) -> SourceError:
    with pytest.raises(SourceError) as caught, open_snapshot(wanted):
        pass
    return caught.value


@pytest.fixture
def temporary(tmp_path: Path) -> Iterator[Path]:
    """A directory for temporary files that other tests, which may run meanwhile, do not use."""
    before, place = tempfile.tempdir, tmp_path / "temporary"
    place.mkdir()
    tempfile.tempdir = str(place)
    yield place
    tempfile.tempdir = before


def test_without_a_local_clone(tmp_path: Path, origin: History, temporary: Path) -> None:
    pull = fetched(tmp_path, origin)
    expected = snapshot(origin, "main", "refs/pull/7/head")

    assert (pull.number, pull.repo, pull.base.ref) == (7, "ada/engine", "main")
    assert (pull.files, pull.merge_base) == (expected.files, expected.merge_base)
    assert (pull.behind, pull.ahead) == (1, 2)
    assert list(temporary.iterdir()) == []


def test_both_sides_by_their_commits(tmp_path: Path, origin: History) -> None:
    base, head = origin.sha("main~1"), origin.sha("refs/pull/7/head")
    origin.pad(60)
    pull = fetched_alone(tmp_path, origin, base=base, head=head)

    assert (pull.base.sha, pull.head.sha, pull.number) == (base, head, None)
    assert (pull.behind, pull.ahead) == (0, 2)


def fetched_alone(directory: Path, origin: History, base: str, head: str) -> PullRequest:
    wanted = SnapshotRequest(directory, None, base, head, origin.url, FILE, local=False)
    with open_snapshot(wanted) as taken:
        assert isinstance(taken, Snapshot)
        return taken.pull


def test_a_clone_that_may_not_be_looked_into(tmp_path: Path, origin: History) -> None:
    clone = origin.clone(tmp_path / "clone")
    own = clone.commit({"evil": "1\n"})
    clone.git("update-ref", "refs/pull/7/head", own)
    wanted = SnapshotRequest(clone.path, 7, "main", url=origin.url, transport=FILE, local=False)
    with open_snapshot(wanted) as taken:
        assert isinstance(taken, Snapshot)
        operator = taken.store.operator
        assert operator.lenders == ()
        assert (taken.pull.base.sha, taken.pull.head.sha) == (
            origin.sha("main"),
            origin.sha("refs/pull/7/head"),
        )


def test_a_head_that_has_moved_on_is_not_judged(tmp_path: Path, origin: History) -> None:
    wanted = SnapshotRequest(
        tmp_path, 7, "main", None, origin.url, FILE, head_sha=origin.sha("main")
    )
    with pytest.raises(NothingToReview) as caught, open_snapshot(wanted):
        pass
    assert caught.value.reason == SUPERSEDED
    assert origin.sha("refs/pull/7/head")[:12] in caught.value.what


@pytest.mark.parametrize("base", ["*", "a:refs/heads/main", "--upload-pack=touch CANARY", "a..b"])
def test_git_21_a_base_that_is_no_ref_is_not_sent(
    tmp_path: Path, origin: History, base: str
) -> None:
    with pytest.raises(UsageError):
        fetched(tmp_path, origin, base=base)


def clone_of(origin: History, path: Path, *options: str) -> History:
    clone = origin.clone(path, *options)
    assert not clone.git("for-each-ref", "refs/pull")
    return clone


@pytest.mark.parametrize(
    "options", [(), ("--depth=1",), ("--bare",), ("--filter=blob:none", "--no-checkout")]
)
def test_with_a_local_clone(tmp_path: Path, origin: History, options: tuple[str, ...]) -> None:
    clone = clone_of(origin, tmp_path / "clone", *options)
    before = sorted(clone.git_dir.rglob("*"))
    with open_snapshot(SnapshotRequest(clone.path, number=7, transport=FILE)) as taken:
        assert isinstance(taken, Snapshot)
        pull = taken.pull
    expected = snapshot(origin, "main", "refs/pull/7/head")

    assert (pull.files, pull.merge_base) == (expected.files, expected.merge_base)
    assert (pull.behind, pull.ahead) == (1, 2)
    assert sorted(clone.git_dir.rglob("*")) == before


def test_a_partial_clone_that_lacks_what_the_change_builds_on(
    tmp_path: Path, origin: History
) -> None:
    text = "".join(f"a rather long line with the number {number}\n" for number in range(900))
    origin.commit({"large.py": text})
    origin.switch("change", create=True)
    origin.commit({"large.py": text + "one more\n"})
    origin.pull_ref(8)
    origin.switch("main")
    origin.git("repack", "-a", "-d", "-q")
    clone = clone_of(origin, tmp_path / "clone", "--filter=blob:none", "--no-checkout")
    with open_snapshot(SnapshotRequest(clone.path, number=8, transport=FILE)) as taken:
        assert isinstance(taken, Snapshot)
        (file,) = taken.pull.files
        assert [line.text for line in file.added_lines] == ["one more"]


@pytest.mark.parametrize("commits", [60, 400, 7_000])
def test_git_24_deepening_as_far_as_the_merge_base(
    tmp_path: Path, origin: History, commits: int
) -> None:
    origin.pad(commits)
    pull = fetched(tmp_path, origin)

    assert (pull.behind, pull.ahead) == (commits + 1, 2)
    assert pull.merge_base == origin.git("merge-base", "main", "refs/pull/7/head")


def test_mrg_10_unrelated_histories_are_deepened_to_the_end(
    tmp_path: Path, origin: History
) -> None:
    origin.orphan("other")
    origin.commit({"z": "1"}, parents=())
    origin.pull_ref(8)
    origin.switch("main")
    error = refusal(SnapshotRequest(tmp_path, number=8, url=origin.url, transport=FILE))

    assert error.reason == "no_merge_base"


def test_a_number_that_does_not_exist(tmp_path: Path, origin: History) -> None:
    error = refusal(SnapshotRequest(tmp_path, number=9, url=origin.url, transport=FILE))

    assert (error.reason, error.exit_code) == ("fetch_failed", ExitCode.SOURCE)
    assert "couldn't find remote ref refs/pull/9/head" in str(error)


def test_protocols_that_are_not_allowed(tmp_path: Path, origin: History) -> None:
    error = refusal(SnapshotRequest(tmp_path, number=7, url=origin.url, transport=Transport()))
    assert "transport 'file' not allowed" in str(error)

    canary = tmp_path / "CANARY"
    url = f"ext::sh -c touch% {canary}"
    assert refusal(SnapshotRequest(tmp_path, number=7, url=url, transport=Transport())).reason == (
        "fetch_failed"
    )
    assert not canary.exists()


def test_a_url_that_looks_like_an_option(tmp_path: Path) -> None:
    canary = tmp_path / "CANARY"
    url = f"--upload-pack=touch {canary}"

    assert (
        refusal(SnapshotRequest(tmp_path, number=7, url=url, transport=FILE)).reason
        == "fetch_failed"
    )
    assert not canary.exists()


SECRET = "CANARYTOKEN"


def test_git_29_credentials_of_a_url_are_told_to_nobody(tmp_path: Path) -> None:
    url = f"https://user:{SECRET}@127.0.0.1:9/x.git"
    error = refusal(
        SnapshotRequest(tmp_path, number=7, base="main", url=url, transport=Transport())
    )

    assert error.reason == "fetch_failed"
    assert SECRET not in f"{error} {error.__cause__} {error.__context__}"
    assert strip_credentials(url) == "https://127.0.0.1:9/x.git"
    assert Remote(url).address == "https://127.0.0.1:9/x.git"


def test_git_29_credentials_in_messages_of_other_protocols(tmp_path: Path) -> None:
    url = f"ftp://user:{SECRET}@127.0.0.1/x.git"
    error = refusal(
        SnapshotRequest(tmp_path, number=7, url=url, transport=Transport(protocols="https"))
    )

    assert SECRET not in str(error)


def header(transport: Transport, url: str) -> str | None:
    return transport.environment(url).get("GIT_CONFIG_VALUE_0")


BASIC_TOKEN = "Authorization: Basic eC1hY2Nlc3MtdG9rZW46VA=="
BASIC_URL = "Authorization: Basic dTpwQA=="


def test_the_token_goes_to_github_alone() -> None:
    transport = Transport(token="T")

    assert header(transport, "https://github.com/o/r.git") == BASIC_TOKEN
    assert header(transport, "https://u:p%40@github.com/o/r.git") == BASIC_TOKEN
    assert header(transport, "https://example.org/o/r.git") is None
    assert header(transport, "https://github.com.example.org/o/r.git") is None
    assert header(transport, "http://github.com/o/r.git") is None
    assert header(transport, "git@github.com:o/r.git") is None
    assert header(transport, "https://u:p%40@example.org/o/r.git") == BASIC_URL


def test_the_token_goes_to_the_operator_s_own_server() -> None:
    transport = Transport({"GITHUB_SERVER_URL": "https://ghe.example.org"}, token="T")

    assert header(transport, "https://ghe.example.org/o/r.git") == BASIC_TOKEN
    assert header(transport, "https://github.com/o/r.git") is None


def test_only_transport_settings_of_the_operator_are_used() -> None:
    environ = {"HTTPS_PROXY": "p", "GIT_DIR": "x", "GITHUB_TOKEN": SECRET, "HOME": "/h"}
    env = Transport(environ, token=SECRET).environment("https://github.com/o/r")

    assert env["HTTPS_PROXY"] == "p"
    assert not {"GIT_DIR", "GITHUB_TOKEN"} & env.keys()
    assert not any(SECRET in value for value in env.values())


@contextmanager
def silent_server() -> Iterator[int]:
    """A server that accepts connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def children() -> set[str]:
    mine = Path(f"/proc/{os.getpid()}/task")
    return {child for task in mine.iterdir() for child in (task / "children").read_text().split()}


def test_git_30_a_fetch_that_stalls_is_ended(tmp_path: Path) -> None:
    before = children()
    with silent_server() as port:
        url = f"git://127.0.0.1:{port}/x.git"
        transport = Transport(protocols="git", timeout=0.3)
        error = refusal(
            SnapshotRequest(tmp_path, number=7, base="main", url=url, transport=transport)
        )

    assert (error.reason, error.exit_code) == ("fetch_timeout", ExitCode.SOURCE)
    assert "no answer in 0.3 s" in str(error)
    assert children() <= before


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (None, (None, None)),
        ("7", (7, None)),
        (" #7 ", (7, None)),
        ("https://github.com/o/r/pull/7", (7, "https://github.com/o/r.git")),
        ("https://github.com/o/r/pull/7/files#diff-1", (7, "https://github.com/o/r.git")),
        (
            "https://ghe.example.org:8443/o.x/r-y/pull/12",
            (12, "https://ghe.example.org:8443/o.x/r-y.git"),
        ),
    ],
)
def test_targets(target: str | None, expected: tuple[int | None, str | None]) -> None:
    assert parse_number_and_clone_url(target) == expected


@pytest.mark.parametrize(
    "target",
    [
        "",
        "main",
        "-7",
        "7a",
        "0",
        "\N{ARABIC-INDIC DIGIT SEVEN}",
        "https://github.com/o/r/issues/7",
        "https://user:x@github.com/o/r/pull/7",
        "http://github.com/o/r/pull/7",
        "file:///o/r/pull/7",
        "ext::sh/o/r/pull/7",
        "9" * 40,
        "x\u202ey",
    ],
)
def test_what_is_no_target_is_a_usage_error(target: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_number_and_clone_url(target)
    assert str(caught.value).isprintable()
