from __future__ import annotations

import os
from pathlib import Path

from prjury.sandbox.contained import find_logs


def test_directories_of_logs_are_kept_for_a_day_and_nothing_else_is_removed(tmp_path: Path) -> None:
    environ = {"XDG_STATE_HOME": str(tmp_path)}
    place, elsewhere = find_logs(environ), tmp_path / "elsewhere"
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

    assert find_logs(environ) == place == tmp_path / "prjury" / "logs"
    names = {path.name for path in place.iterdir()}
    assert names == {"prjury-logs-new", "prjury-logs-link", "notes"}
    assert elsewhere.is_dir()
