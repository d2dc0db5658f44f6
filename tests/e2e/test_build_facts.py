"""What a build tells in the terminal: a short reason, once, the counts, and where the log is."""

from __future__ import annotations

import re
from pathlib import Path

from e2e.conftest import Prjury
from fakes.history import History

CALC = "def add(a, b):\n    return a + b\n"
TEST = "from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n"
BROKEN_BASE = "from calc import missing\n\n\ndef test_b():\n    assert missing\n"


def reviewed(prjury: Prjury, tmp_path: Path, base: dict[str, str], change: dict[str, str]) -> str:
    history = History(tmp_path / "calc")
    history.commit({"calc.py": CALC, "test_calc.py": TEST, **base}, "start")
    history.switch("change", create=True)
    history.commit(change, "change")
    args = ("review", "--repo", history.path, "--base", "main", "--head", "change", "--no-llm")
    run = prjury(*args)
    return run.out


def test_a_broken_base_is_a_short_reason_that_stands_there_once(
    prjury: Prjury, tmp_path: Path
) -> None:
    base = {"test_b.py": BROKEN_BASE}
    printed = reviewed(prjury, tmp_path, base, {"calc.py": f"{CALC}# more\n"})
    head, _, rest = printed.partition("Judged: ")
    told = re.search(r"Why: (.*)", head, re.DOTALL)
    assert told
    why = " ".join(told[1].split())
    assert "repair test_b.py:1 on the base first" in why
    assert len(why.split()) < 60
    assert not re.search(r"\([^)]*\(", why)
    assert "(on the base as well)" in " ".join(rest.split())
    assert "nothing is known" not in " ".join(rest.split())


def test_the_log_is_named_and_there_with_the_counts(prjury: Prjury, tmp_path: Path) -> None:
    printed = reviewed(prjury, tmp_path, {}, {"calc.py": CALC.replace("+", "-")})
    log = re.search(r"Full log: (\S+)", printed)
    assert log
    assert "assert -1 == 3" in Path(log[1]).read_text()
    assert "1 test, 1 failed" in " ".join(printed.split())
