"""Gradle as Debian packages it, for machines without one: its own archives are in no registry.

It is unpacked beside the system, which stays as it is. It knows one place alone, below
``/usr/share``, and is started where the unpacked files are that place.
"""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
from pathlib import Path

_NEEDED = ("apt-get", "apt-cache", "dpkg-deb", "unshare")
_JARS = re.compile(
    r"^(?:\S+-java|gradle|groovy|ant|antlr|ant-optional|ivy|bnd|junit4|testng)$", re.MULTILINE
)
_DEPENDS = "--recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces"
_SCRIPT = """\
#!/bin/sh
exec unshare --user --keep-caps --mount /bin/sh -c \\
  'mount --bind {root}/usr/share /usr/share && exec /usr/share/gradle/bin/gradle "$@"' gradle "$@"
"""


@functools.cache  # a registry that does not answer is asked once
def unpacked_gradle(place: Path) -> Path | None:
    """The program; None where it cannot be had."""
    program, root = place / "gradle", place / "root"
    if program.exists():
        return program
    if not all(map(shutil.which, _NEEDED)):
        return None
    shutil.rmtree(place, ignore_errors=True)
    packages = place / "packages"
    for each in (packages, place / "lists/partial", place / "cache/archives/partial"):
        each.mkdir(parents=True)
    own = [f"Dir::State::lists={place}/lists", f"Dir::Cache={place}/cache", "APT::Sandbox::User="]
    options = ["-qq", *(word for one in own for word in ("-o", one))]
    try:
        _said(packages, "apt-get", *options, "update")
        found = _said(packages, "apt-cache", *options, "depends", *_DEPENDS.split(), "gradle")
        names = sorted({*_JARS.findall(found)})
        _said(packages, "apt-get", *options, "download", *names)
        for package in packages.glob("*.deb"):
            _said(packages, "dpkg-deb", "--extract", str(package), str(root))
        program.write_text(_SCRIPT.format(root=root))
        program.chmod(0o755)
        _said(packages, str(program), "--version")
    except subprocess.CalledProcessError:
        program.unlink(missing_ok=True)
        return None
    for unused in ("packages", "lists", "cache"):
        shutil.rmtree(place / unused, ignore_errors=True)
    return program


def _said(directory: Path, *command: str) -> str:
    done = subprocess.run(command, cwd=directory, check=True, capture_output=True, text=True)
    return done.stdout
