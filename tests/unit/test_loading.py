"""What is loaded before a build: all that a run may need, whatever extras are installed."""

from __future__ import annotations

import subprocess
import sys

#: The packages of the extras and of tests, which an installation for the core does not have.
EXTRAS = frozenset(
    "anthropic genai_prices google httpx2 langchain_core langgraph openai pydantic_ai".split()
) | {"pytest"}

PROGRAM = f"""
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {EXTRAS!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Missing())
from prjury.loading import load_everything
load_everything()
import os
import signal
from prjury.code.parser import ensure_standby
first = ensure_standby()
first.process.send_signal(signal.SIGKILL)
first.process.wait()
assert ensure_standby() is first, "launched again, from files a build may have changed"
os._exit(0)
"""


def test_everything_is_loaded_without_the_optional_clients_and_nothing_later() -> None:
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False
    )
    assert (run.returncode, run.stderr) == (0, "")
