from __future__ import annotations

import os
from pathlib import Path

from fakes.shell import SilentProgress
from prjury.deadline import Deadline
from prjury.ports.types import ShellCommand
from prjury.sandbox.contained import ContainedShell


def test_directories_of_logs_are_kept_for_a_day_and_nothing_else_is_removed(tmp_path: Path) -> None:
    environ = {"XDG_STATE_HOME": str(tmp_path), "PATH": os.defpath}
    place, elsewhere = tmp_path / "prjury/logs", tmp_path / "elsewhere"
    place.mkdir(parents=True)
    for directory in (
        place / "prjury-logs-old",
        place / "prjury-logs-new",
        place / "notes",
        elsewhere,
    ):
        directory.mkdir()
    (place / "prjury-logs-old/01-make.log").touch()
    (place / "prjury-logs-link").symlink_to(elsewhere)
    for name in ("prjury-logs-old", "notes", "prjury-logs-link"):
        os.utime(place / name, (0, 0), follow_symlinks=False)

    run = ShellCommand("true", tmp_path, {"PATH": os.defpath})
    log = ContainedShell(environ).run(run, Deadline.after(20), SilentProgress()).log
    names = {path.name for path in place.iterdir()}
    assert names == {"prjury-logs-new", "prjury-logs-link", "notes", log.parent.name}
    assert elsewhere.is_dir()
