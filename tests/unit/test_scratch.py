from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

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
