from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from prjury.judges.builds.workplace import REPOSITORY


@pytest.mark.parametrize(("tag", "told"), [("v1.4.2", "v1.4.2"), ("", "")])
def test_the_repository_knows_the_tag_and_nothing_else(tmp_path: Path, tag: str, told: str) -> None:
    (tmp_path / ".gitignore").write_text("a\n")
    (tmp_path / "a").write_text("1")
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PRJURY_TAG": tag}

    def printed(command: str) -> str:
        argv = ["/bin/sh", "-c", command]
        done = subprocess.run(argv, cwd=tmp_path, env=env, capture_output=True, check=False)
        return done.stdout.decode().strip()

    printed(REPOSITORY)
    assert printed("git describe --tags --dirty") == told
    assert printed("git ls-files") == ".gitignore\na"
    assert printed("git rev-list --count HEAD") == "1"
    assert printed("git remote; cat .git/objects/info/alternates") == ""
