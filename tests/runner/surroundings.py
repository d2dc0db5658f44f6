"""What of this machine reaches a run: programs, the way to the package registries, caches."""

from __future__ import annotations

import fcntl
import functools
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

#: How this machine reaches the package registries, which `action.yml` installs from.
_NETWORK = (
    "HTTP_PROXY http_proxy HTTPS_PROXY https_proxy ALL_PROXY all_proxy SSL_CERT_FILE SSL_CERT_DIR "
    "PIP_CERT PIP_INDEX_URL PIP_DEFAULT_TIMEOUT UV_DEFAULT_INDEX UV_INDEX_URL UV_NATIVE_TLS"
).split()
_LOOPBACK = "127.0.0.1,localhost"
#: What GitHub would bring to a runner for `uses: OWNER/pr-jury@COMMIT`, as far as it is read.
_ACTION = (
    "action.yml",
    "src",
    "templates",
    "pyproject.toml",
    "uv.lock",
    "README.md",
    "LICENSE",
    ".github/uv-requirements.txt",
)
_OWN_CACHE = 'UV_CACHE_DIR="$home/cache"'
_PAUSE = re.compile(r"(seconds_between_(?:requests|writes): float = )[\d.]+")


def cache_directory() -> Path:
    """Where tests keep what is dear to get."""
    place = os.environ.get("XDG_CACHE_HOME") or Path(os.environ.get("HOME", ""), ".cache")
    absolute = Path(place) if Path(place).is_absolute() else Path(tempfile.gettempdir())
    return absolute / "prjury-tests"


@contextmanager
def alone(place: Path) -> Iterator[None]:
    """A directory in which no other process of the tests works meanwhile."""
    place.mkdir(parents=True, exist_ok=True)
    with (place / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@functools.cache
def through() -> dict[str, str]:
    """The variables of this process that a run may see; its HOME is its own.

    The installers' caches are this user's, so that only the first run downloads anything.
    """
    held = {name: os.environ[name] for name in _NETWORK if name in os.environ}
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return held | {
        "PATH": _path(),
        "LANG": "C.UTF-8",
        "NO_PROXY": _LOOPBACK,
        "no_proxy": _LOOPBACK,
        "UV_CACHE_DIR": os.environ.get("UV_CACHE_DIR") or str(caches / "uv"),
        "PIP_CACHE_DIR": os.environ.get("PIP_CACHE_DIR") or str(caches / "pip"),
    }


def _path() -> str:
    """The PATH without the environment that the tests run in, and with a python3 that has pip."""
    own = {Path(sys.prefix, "bin"), Path(sys.executable).parent}
    parts = [part for part in os.environ["PATH"].split(os.pathsep) if Path(part) not in own]
    path = os.pathsep.join(parts)
    python = shutil.which("python3", path=path)
    if python is None or not _is_fit(python, path):
        path = os.pathsep.join([str(_own_python() / "bin"), path])
    return path


def _is_fit(python: str, path: str) -> bool:
    question = "import sys, pip; sys.exit(sys.version_info < (3, 11))"
    env = {"PATH": path, "HOME": "/nonexistent"}
    asked = subprocess.run(
        [python, "-I", "-c", question], env=env, capture_output=True, check=False
    )
    return asked.returncode == 0


def _own_python() -> Path:
    place = cache_directory() / f"python-{sys.version_info[0]}.{sys.version_info[1]}"
    with alone(place):
        if not (place / "bin" / "pip").exists():
            subprocess.run([sys.executable, "-m", "venv", place], check=True)
    return place


def copy_of_the_action(place: Path) -> Path:
    """What is checked out here, as a runner would get it: without git, tests and caches.

    Two things are changed: the program does not pause between requests, which spares GitHub and
    costs the tests a minute, and the jobs, each of which installs all packages, share their cache.
    """
    for name in _ACTION:
        source, target = ROOT / name, place / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target)
    hub = place / "src" / "prjury" / "github" / "client.py"
    text, changed = _PAUSE.subn(r"\g<1>0.0", hub.read_text())
    assert changed == 2, "the pauses are somewhere else now"
    hub.write_text(text)
    action = place / "action.yml"
    text = action.read_text()
    assert text.count(_OWN_CACHE) == 1, "the cache is somewhere else now"
    action.write_text(text.replace(_OWN_CACHE, 'UV_CACHE_DIR="${UV_CACHE_DIR:-$home/cache}"'))
    return place
