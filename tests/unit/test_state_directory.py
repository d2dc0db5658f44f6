from __future__ import annotations

import os
import time
from pathlib import Path

from prjury.sandbox.contained import new_log_directory


def test_logs_are_kept_in_one_place_for_a_day(tmp_path: Path) -> None:
    environ = {"XDG_STATE_HOME": str(tmp_path)}
    old, new = (new_log_directory(environ) for _ in range(2))
    (old / "01-make.log").touch()
    long_ago = time.time() - 100_000
    os.utime(old, (long_ago, long_ago))

    latest = new_log_directory(environ)

    assert old.parent == tmp_path / "prjury" / "logs"
    assert sorted(old.parent.iterdir()) == sorted([new, latest])


def test_nothing_but_directories_of_logs_is_removed(tmp_path: Path) -> None:
    environ = {"XDG_STATE_HOME": str(tmp_path)}
    place = new_log_directory(environ).parent
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (place / "prjury-logs-link").symlink_to(elsewhere)
    (place / "notes").mkdir()
    os.utime(place / "notes", (0, 0))
    os.utime(place / "prjury-logs-link", (0, 0), follow_symlinks=False)

    new_log_directory(environ)

    assert elsewhere.is_dir()
    assert (place / "notes").is_dir()
