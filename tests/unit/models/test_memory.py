from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from prjury.models.memory import CheckedFileMemory, memory_at
from prjury.ports import NoMemory


@dataclass
class Clock:
    now: float = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "answers"


def mode(place: Path) -> int:
    return stat.S_IMODE(place.stat().st_mode)


@pytest.mark.parametrize("text", ["", "\0", "half a pair \ud800", "käse 🧀", "x" * 10**6])
def test_any_text_comes_back_as_it_was(place: Path, text: str) -> None:
    memory = CheckedFileMemory(place)
    memory.keep(f"key {text}", text)
    assert memory.recall(f"key {text}") == text


def test_nothing_is_left_but_a_file_that_only_its_owner_can_read(place: Path) -> None:
    CheckedFileMemory(place).keep("key", "value")
    assert list(place.parent.iterdir()) == [place]
    assert (mode(place), *map(mode, place.iterdir())) == (0o700, 0o600)


def test_beyond_the_limit_the_oldest_go_first(place: Path) -> None:
    memory = CheckedFileMemory(place, limit=1024 * 1024)
    for number in range(200):
        memory.keep(str(number), "x" * 10_000)
    remaining = [number for number in range(200) if memory.recall(str(number)) is not None]
    assert 80 < len(remaining) < 115
    assert remaining == list(range(200 - len(remaining), 200))


def test_answers_of_somebody_who_does_not_know_the_secret_are_not_known(place: Path) -> None:
    ours = CheckedFileMemory(place, secret=b"the operator's key")
    ours.keep("verdict", "fail")
    for other in (CheckedFileMemory(place), CheckedFileMemory(place, secret=b"a guess")):
        assert other.recall("verdict") is None
        other.keep("verdict", "pass")
        assert ours.recall("verdict") is None
        ours.keep("verdict", "fail")
    assert ours.recall("verdict") == "fail"


def test_many_threads_lose_nothing(place: Path) -> None:
    def work(number: int) -> str | None:
        memory = CheckedFileMemory(place)
        memory.keep(str(number), f"answer {number}")
        return memory.recall(str(number))

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(work, range(200)))
    assert answers == [f"answer {number}" for number in range(200)]


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: b"\n\n",
        lambda content: content[: len(content) // 2],
        lambda content: content[:-1] + b"x",
        lambda content: content.replace(b"1800000000.0", b"1900000000.0"),
        lambda content: content.replace(b"1800000000.0", b"never"),
        lambda content: b"\xff" * 1000,
    ],
)
def test_an_answer_that_somebody_has_changed_is_not_known(
    place: Path, damage: Callable[[bytes], bytes]
) -> None:
    memory = CheckedFileMemory(place, Clock())
    memory.keep("key", "value")
    (file,) = place.iterdir()
    file.write_bytes(damage(file.read_bytes()))
    assert memory.recall("key") is None
    memory.keep("key", "value")
    assert memory.recall("key") == "value"


def test_an_answer_in_the_place_of_another_is_not_known(place: Path) -> None:
    memory = CheckedFileMemory(place)
    memory.keep("key", "value")
    (file,) = place.iterdir()
    memory.keep("other", "x")
    (other,) = set(place.iterdir()) - {file}
    other.replace(file)
    assert memory.recall("key") is None


def test_where_the_file_cannot_grow_the_new_is_forgotten(place: Path) -> None:
    program = f"""
import resource
from pathlib import Path
from prjury.models.memory import CheckedFileMemory
memory = CheckedFileMemory(Path({str(place)!r}))
memory.keep("small", "value")
resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))
memory.keep("large", "x" * 1_000_000)
print(memory.recall("small"), memory.recall("large"))
"""
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60
    )
    assert (run.stdout, run.stderr) == ("value None\n", "")


def test_what_is_no_plain_file_of_this_user_is_not_believed(place: Path, tmp_path: Path) -> None:
    memory = CheckedFileMemory(place)
    memory.keep("key", "value")
    (file,) = place.iterdir()
    target = file.rename(tmp_path / "target")
    for make in (os.mkfifo, lambda path: path.symlink_to(target)):
        make(file)
        assert memory.recall("key") is None
        memory.keep("key", "other")
        assert memory.recall("key") == "other"
        file.unlink()
    assert CheckedFileMemory(tmp_path / "gone" / "answers").recall("key") is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_the_file_of_another_user_is_not_believed(place: Path) -> None:
    memory = CheckedFileMemory(place)
    memory.keep("key", "value")
    (file,) = place.iterdir()
    os.chown(file, 12_345, 12_345)
    assert memory.recall("key") is None


# Where the file is.


def test_a_directory_that_is_open_to_others_is_closed(tmp_path: Path) -> None:
    place = tmp_path / "prjury"
    place.mkdir()
    place.chmod(0o777)
    memory_at({"XDG_CACHE_HOME": str(tmp_path)}).keep("key", "value")
    assert mode(place) == 0o700


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
