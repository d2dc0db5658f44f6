from __future__ import annotations

import contextlib
import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from prjury.models.memory import LIFETIME, SqliteMemory, memory_at
from prjury.ports import NoMemory

DAY = 86_400.0


@dataclass
class Clock:
    now: float = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "answers.sqlite3"


@contextlib.contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        yield connection
    finally:
        connection.close()


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_what_was_kept_is_recalled_by_whoever_looks_next(path: Path) -> None:
    SqliteMemory(path).keep("key", "value")
    assert SqliteMemory(path).recall("key") == "value"
    assert SqliteMemory(path).recall("another") is None


def test_the_last_word_counts(path: Path) -> None:
    memory = SqliteMemory(path)
    memory.keep("key", "first")
    memory.keep("key", "second")
    assert memory.recall("key") == "second"


@pytest.mark.parametrize("text", ["", "\0", "half a pair \ud800", "käse 🧀", "x" * 10**6])
def test_any_text_comes_back_as_it_was(path: Path, text: str) -> None:
    memory = SqliteMemory(path)
    memory.keep(f"key {text}", text)
    assert memory.recall(f"key {text}") == text


def test_nothing_is_left_but_a_file_that_only_its_owner_can_read(path: Path) -> None:
    SqliteMemory(path).keep("key", "value")
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]
    assert mode(path) == 0o600


def test_answers_are_forgotten_however_often_they_are_used(path: Path) -> None:
    clock = Clock()
    memory = SqliteMemory(path, clock)
    memory.keep("asked", "a")
    clock.now += 20 * DAY
    assert memory.recall("asked") == "a"
    clock.now += 20 * DAY
    assert memory.recall("asked") is None
    memory.keep("new", "c")
    with opened(path) as connection:
        rows = connection.execute("SELECT key FROM answers ORDER BY key").fetchall()
    assert rows == [(b"new",)]


def test_an_answer_lives_for_thirty_days_to_the_second(path: Path) -> None:
    clock = Clock()
    memory = SqliteMemory(path, clock)
    memory.keep("key", "value")
    clock.now += LIFETIME + 1
    assert memory.recall("key") is None
    clock.now -= 1
    assert memory.recall("key") == "value"


def test_beyond_the_limit_the_least_recently_used_go_first(path: Path) -> None:
    clock = Clock()
    memory = SqliteMemory(path, clock, limit=1024 * 1024)
    for number in range(200):
        clock.now += 2 * DAY / 200
        memory.keep(str(number), "x" * 10_000)
        if number == 120:
            assert memory.recall("60") is not None
    kept = [number for number in range(200) if memory.recall(str(number)) is not None]
    assert 80 < len(kept) < 105
    assert kept == list(range(200 - len(kept), 200))
    assert path.stat().st_size < 1.1 * 1024 * 1024


def test_the_oldest_answers_go_first(path: Path) -> None:
    clock = Clock()
    memory = SqliteMemory(path, clock, limit=1024 * 1024)
    for number in range(110):
        clock.now += 1
        memory.keep(str(number), "x" * 10_000)
    assert memory.recall("0") is None
    assert memory.recall("109") is not None


def test_answers_of_somebody_who_does_not_know_the_secret_are_not_known(path: Path) -> None:
    ours = SqliteMemory(path, secret=b"the operator's key")
    ours.keep("verdict", "fail")
    for other in (SqliteMemory(path), SqliteMemory(path, secret=b"a guess")):
        assert other.recall("verdict") is None
        other.keep("verdict", "pass")
        assert ours.recall("verdict") is None
        ours.keep("verdict", "fail")
    assert ours.recall("verdict") == "fail"


def test_what_is_larger_than_all_is_not_kept(path: Path) -> None:
    memory = SqliteMemory(path, limit=100_000)
    memory.keep("large", "x" * 200_000)
    memory.keep("small", "x")
    assert (memory.recall("large"), memory.recall("small")) == (None, "x")


def test_many_threads_lose_nothing(path: Path) -> None:
    def work(number: int) -> str | None:
        memory = SqliteMemory(path)
        memory.keep(str(number), f"answer {number}")
        return memory.recall(str(number))

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(work, range(200)))
    assert answers == [f"answer {number}" for number in range(200)]


PROGRAM = """
import sys
from pathlib import Path
from prjury.models.memory import SqliteMemory
memory, name = SqliteMemory(Path(sys.argv[1])), sys.argv[2]
print("ready", flush=True)
sys.stdin.readline()
for number in range(100):
    memory.keep(f"{name}{number}", f"answer {number}")
"""


@pytest.mark.slow
def test_two_processes_lose_nothing(path: Path) -> None:
    with contextlib.ExitStack() as stack:
        programs = [
            stack.enter_context(
                subprocess.Popen(
                    [sys.executable, "-c", PROGRAM, path, name],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                )
            )
            for name in "ab"
        ]
        for program in programs:
            assert program.stdout
            assert program.stdout.readline() == "ready\n"
        for program in programs:
            program.communicate("go\n", timeout=60)
    memory = SqliteMemory(path)
    for name in "ab":
        assert [memory.recall(f"{name}{i}") for i in range(100)] == [
            f"answer {i}" for i in range(100)
        ]


def no_database(path: Path) -> None:
    path.write_bytes(b"not a database at all" * 1000)


def empty(path: Path) -> None:
    path.write_bytes(b"")


def cut_off(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2 + 7)


def scrambled(path: Path) -> None:
    whole = path.read_bytes()
    path.write_bytes(whole[:100] + bytes(reversed(whole[100:])))


def other_tables(path: Path) -> None:
    path.unlink()
    with opened(path) as connection:
        connection.executescript("CREATE TABLE answers (other); PRAGMA user_version = 1")


def older(path: Path) -> None:
    with opened(path) as connection:
        connection.execute("PRAGMA user_version = 0")


@pytest.mark.parametrize(
    "damage",
    [no_database, empty, cut_off, scrambled, other_tables, older],
    ids=lambda damage: damage.__name__,
)
def test_a_damaged_file_is_replaced(path: Path, damage: Callable[[Path], None]) -> None:
    memory = SqliteMemory(path)
    for number in range(50):
        memory.keep(str(number), "x" * 5000)
    damage(path)
    for number in range(50):
        assert memory.recall(str(number)) in {None, "x" * 5000}
    memory.keep("key", "value")
    assert memory.recall("key") == "value"
    assert mode(path) == 0o600


def test_the_leavings_of_a_damaged_file_go_with_it(path: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).write_bytes(b"damage" * 1000)
    memory = SqliteMemory(path)
    memory.keep("key", "value")
    assert memory.recall("key") == "value"
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_threads_that_find_damage_together_replace_it(path: Path) -> None:
    no_database(path)

    def work(number: int) -> None:
        SqliteMemory(path).keep(str(number), "value")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(50)))
    memory = SqliteMemory(path)
    assert "value" in {memory.recall(str(number)) for number in range(50)}
    memory.keep("key", "value")
    assert memory.recall("key") == "value"


@pytest.mark.parametrize("column", ["value = x'7b7d'", "value = 7", "digest = x''", "key = x'61'"])
def test_an_answer_that_the_disk_has_changed_is_not_known(path: Path, column: str) -> None:
    memory = SqliteMemory(path)
    memory.keep("key", "value")
    with opened(path) as connection:
        connection.execute(f"UPDATE answers SET {column}")  # noqa: S608
    assert (memory.recall("key"), memory.recall("a")) == (None, None)
    memory.keep("key", "value")
    assert memory.recall("key") == "value"


def test_the_file_of_a_newer_program_is_left_alone(path: Path) -> None:
    memory = SqliteMemory(path)
    memory.keep("key", "value")
    with opened(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    before = path.read_bytes()
    memory.keep("key", "other")
    assert memory.recall("key") is None
    assert path.read_bytes() == before


def test_a_file_that_somebody_writes_to_can_be_read_and_is_not_waited_for_long(path: Path) -> None:
    memory = SqliteMemory(path)
    memory.keep("key", "value")
    with opened(path) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        memory.keep("key", "other")
        assert memory.recall("key") == "value"
        connection.execute("ROLLBACK")
    memory.keep("key", "other")
    assert memory.recall("key") == "other"


def test_where_the_file_cannot_grow_the_new_is_forgotten(path: Path) -> None:
    program = f"""
import resource
from pathlib import Path
from prjury.models.memory import SqliteMemory
memory = SqliteMemory(Path({str(path)!r}))
memory.keep("small", "value")
resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))
memory.keep("large", "x" * 1_000_000)
print(memory.recall("small"), memory.recall("large"))
"""
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60
    )
    assert (run.stdout, run.stderr) == ("value None\n", "")


@pytest.mark.parametrize("owner", ["ours", "nowhere"])
def test_a_symbolic_link_is_not_followed(tmp_path: Path, path: Path, owner: str) -> None:
    target = tmp_path / "elsewhere" / "target.sqlite3"
    target.parent.mkdir()
    if owner == "ours":
        SqliteMemory(target).keep("key", "value")
    path.symlink_to(target)
    memory = SqliteMemory(path)
    memory.keep("key", "other")
    assert memory.recall("key") is None
    assert path.is_symlink()
    if owner == "ours":
        assert SqliteMemory(target).recall("key") == "value"
    else:
        assert not target.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_the_file_of_another_user_is_not_believed(path: Path) -> None:
    memory = SqliteMemory(path)
    memory.keep("key", "value")
    os.chown(path, 12_345, 12_345)
    assert memory.recall("key") is None


def test_a_directory_or_a_pipe_in_the_files_place_is_no_memory(path: Path) -> None:
    path.mkdir()
    SqliteMemory(path).keep("key", "value")
    path.rmdir()
    os.mkfifo(path)
    memory = SqliteMemory(path)
    memory.keep("key", "value")
    assert memory.recall("key") is None


def test_a_directory_that_is_gone_is_no_memory(tmp_path: Path) -> None:
    memory = SqliteMemory(tmp_path / "gone" / "answers.sqlite3")
    memory.keep("key", "value")
    assert memory.recall("key") is None


# Where the file is.


@pytest.mark.parametrize("cache", [None, "", "relative/path"])
def test_without_a_cache_directory_it_is_below_home(tmp_path: Path, cache: str | None) -> None:
    environ = {"HOME": str(tmp_path)} | ({} if cache is None else {"XDG_CACHE_HOME": cache})
    memory_at(environ).keep("key", "value")
    assert memory_at(environ).recall("key") == "value"
    place = tmp_path / ".cache" / "prjury"
    assert [entry.name for entry in place.iterdir()] == ["answers.sqlite3"]
    assert mode(place) == 0o700


def test_the_cache_directory_is_the_operators_to_name(tmp_path: Path) -> None:
    environ = {"HOME": "/nowhere", "XDG_CACHE_HOME": str(tmp_path / "cache")}
    memory_at(environ).keep("key", "value")
    assert (tmp_path / "cache" / "prjury" / "answers.sqlite3").is_file()


def test_a_directory_that_is_open_to_others_is_closed(tmp_path: Path) -> None:
    place = tmp_path / "prjury"
    place.mkdir()
    place.chmod(0o777)
    memory_at({"XDG_CACHE_HOME": str(tmp_path)}).keep("key", "value")
    assert mode(place) == 0o700


def test_the_directory_may_be_a_link_to_another_disk(tmp_path: Path) -> None:
    (tmp_path / "large").mkdir()
    (tmp_path / "prjury").symlink_to(tmp_path / "large")
    memory_at({"XDG_CACHE_HOME": str(tmp_path)}).keep("key", "value")
    assert (tmp_path / "large" / "answers.sqlite3").is_file()


@pytest.mark.parametrize("environ", [{}, {"HOME": ""}, {"HOME": "relative"}])
def test_without_a_home_nothing_is_remembered(environ: dict[str, str]) -> None:
    assert isinstance(memory_at(environ), NoMemory)


def test_a_place_that_cannot_be_written_is_no_memory(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert isinstance(memory_at({"XDG_CACHE_HOME": str(tmp_path / "file")}), NoMemory)
    (tmp_path / "prjury").write_text("")
    assert isinstance(memory_at({"XDG_CACHE_HOME": str(tmp_path)}), NoMemory)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give directories away")
def test_the_directory_of_another_user_is_no_memory(tmp_path: Path) -> None:
    (tmp_path / "prjury").mkdir()
    os.chown(tmp_path / "prjury", 12_345, 12_345)
    assert isinstance(memory_at({"XDG_CACHE_HOME": str(tmp_path)}), NoMemory)


def test_the_database_is_loaded_when_it_is_first_used() -> None:
    program = "import sys, prjury.models.memory; print('sqlite3' in sys.modules)"
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert run.stdout == "False\n"
