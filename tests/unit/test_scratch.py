from __future__ import annotations

import contextlib
import fcntl
import os
import subprocess
import sys
import textwrap
from pathlib import Path

from fakes.waiting import eventually
from prjury.scratch import remove_in_background

_PROGRAM = """
    import atexit, os, subprocess, sys, threading, time
    from prjury.errors import CannotJudgeError
    from prjury.scratch import scratch

    refused, begun = threading.Event(), threading.Event()

    def work():
        with scratch("prjury-index-") as place:
            writer = f"while :; do mkdir -p {place}/sub; : > {place}/sub/file; done"
            subprocess.Popen(["/bin/sh", "-c", writer], env={"GIT_INDEX_FILE": f"{place}/index"})
            begun.set()
            for number in range(100):
                (place / f"deep/{number}").mkdir(parents=True, exist_ok=True)
                time.sleep(0.002)
            try:
                with scratch():
                    pass
            except CannotJudgeError as error:
                print(error.reason, flush=True)
            time.sleep(60)

    threading.Thread(target=work, daemon=True).start()
    begun.wait()
    atexit._run_exitfuncs()
    os._exit(0)
"""


def test_nothing_is_left_though_threads_and_programs_write_until_the_end(tmp_path: Path) -> None:
    program = [sys.executable, "-c", textwrap.dedent(_PROGRAM)]
    environ = {"TMPDIR": str(tmp_path), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        program, env=environ, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout in {"", "interrupted\n"}
    assert list(tmp_path.iterdir()) == []


_LIVING = """if True:
    import time
    from prjury.scratch import scratch
    with scratch("prjury-store-"):
        time.sleep(600)
"""
_LATER = """if True:
    import sys, time
    real = time.time
    time.time = lambda: real() + 100
    from prjury.scratch import sweep
    sweep(sys.argv[1])
"""


def test_what_a_killed_run_has_left_is_swept_and_nothing_else(tmp_path: Path) -> None:
    others = {"prjury-notes", "prjury-logs-12345678", "prjury-12345678.d", "tmp12345678"}
    for name in others:
        (tmp_path / name).mkdir()
    environ = {"TMPDIR": str(tmp_path), "PATH": "/usr/bin:/bin"}
    with subprocess.Popen([sys.executable, "-c", _LIVING], env=environ) as living:
        assert eventually(lambda: len(list(tmp_path.glob("prjury-store-*"))) == 1)
        (kept,) = {path.name for path in tmp_path.glob("prjury-store-*")}
        with subprocess.Popen([sys.executable, "-c", _LIVING], env=environ) as killed:
            assert eventually(lambda: len(list(tmp_path.glob("prjury-store-*"))) == 2)
            killed.kill()
        subprocess.run([sys.executable, "-c", _LATER, str(tmp_path)], env=environ, check=True)
        assert eventually(lambda: {path.name for path in tmp_path.iterdir()} == {kept, *others})
        living.kill()


def test_what_is_being_removed_stays_locked_until_it_is_gone(tmp_path: Path) -> None:
    place = tmp_path / "prjury-12345678"
    place.mkdir()
    for number in range(3000):
        (place / str(number)).touch()
    lock, looked = (os.open(place, os.O_RDONLY) for _ in range(2))
    fcntl.flock(lock, fcntl.LOCK_EX)
    remove_in_background(place, lock)
    os.close(lock)
    with contextlib.suppress(BlockingIOError):
        fcntl.flock(looked, fcntl.LOCK_EX | fcntl.LOCK_NB)
        assert not place.exists()
    assert eventually(lambda: not place.exists())
    os.close(looked)


_PROBING = """if True:
    import atexit, threading
    from prjury.app.composition import make_build_ports
    from prjury.app.request import RunEnvironment
    from prjury.policy.load import default_policy

    atexit._run_exitfuncs()  # the end removes the directory in which the kernel is tried
    make_build_ports(RunEnvironment(), default_policy().config, None)
    for thread in threading.enumerate()[1:]:
        thread.join()
"""


def test_a_run_that_ends_before_the_kernel_was_tried_says_nothing_of_it(tmp_path: Path) -> None:
    environ = {"TMPDIR": str(tmp_path), "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    program = [sys.executable, "-c", _PROBING]
    done = subprocess.run(program, env=environ, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
