"""Copies of what the operator's tools have downloaded, for builds that cannot write into it."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from prjury.sandbox.environment import find_place

_CACHES = {
    "pnpm": (".local/share/pnpm/store", ".cache/pnpm"),
    "yarn": (".cache/yarn", ".yarn/berry/cache"),
    "bun": (".bun/install/cache",),
    "deno": (".cache/deno",),
    "poetry": (".cache/pypoetry/cache", ".cache/pypoetry/artifacts"),
    "pdm": (".cache/pdm",),
    "pipenv": (".cache/pipenv",),
    "composer": (".cache/composer", ".composer/cache"),
    "mix": (".hex/packages", ".mix/archives", ".mix/elixir"),
}
#: Those that are lent where that can be done without harm to them, and else copied as well.
_LENT = {
    "cargo": (".cargo/registry", ".cargo/git"),
    **dict.fromkeys(("mvn", "mvnw"), (".m2/repository", ".m2/wrapper")),
    **dict.fromkeys(("gradle", "gradlew"), (".gradle/caches", ".gradle/wrapper")),
    "go": ("go/pkg/mod", ".cache/go-build"),
    "uv": (".cache/uv",),
    "tox": (".cache/uv", ".cache/pip"),
    "pip": (".cache/pip",),
    **dict.fromkeys(("npm", "npx"), (".npm",)),
    "corepack": (".cache/node/corepack",),
}
#: Credentials that a policy may lend, below HOME.
_CREDENTIALS = {
    "maven-settings": (".m2/settings.xml", ".m2/settings-security.xml"),
    "npmrc": (".npmrc",),
    "pip-conf": (".config/pip/pip.conf", ".pip/pip.conf"),
    "cargo-credentials": (".cargo/credentials.toml", ".cargo/credentials", ".cargo/config.toml"),
    "netrc": (".netrc",),
}
_MOST_FILES, _MOST_BYTES = 60_000, 1 << 30


def copy_caches(
    environ: Mapping[str, str],
    programs: Collection[str],
    home: Path,
    most_files: int = _MOST_FILES,
    *,
    with_lendable: bool = False,
) -> None:
    """Copy downloads of these programs into a HOME, perhaps those that can be lent, too."""
    caches = {**_CACHES, **_LENT} if with_lendable else _CACHES
    for below in {below for program in caches.keys() & programs for below in caches[program]}:
        source, target = find_place(environ, below), home / below
        if source and source.is_dir() and not target.exists() and _is_small(source, most_files):
            with contextlib.suppress(shutil.Error, OSError):  # what cannot be read is left out
                shutil.copytree(source, target, symlinks=True)


def map_credential_files(environ: Mapping[str, str], names: Collection[str]) -> dict[Path, str]:
    """Find the operator's files with these credentials, and their places below a HOME."""
    files = {}
    for name in names:
        for below in _CREDENTIALS[name]:
            file = Path(environ.get("HOME", "/nonexistent"), below)
            if file.is_file():
                files[file] = below
    return files


def _is_small(directory: Path, most_files: int) -> bool:
    size = 0
    for files, entry in enumerate(walk_entries(directory), 1):
        size += entry.stat(follow_symlinks=False).st_blocks * 512
        if files > most_files or size > _MOST_BYTES:
            return False
    return True


def walk_entries(directory: Path) -> Iterator[os.DirEntry[str]]:
    """Yield every file and directory below one; what cannot be listed is left out."""
    waiting = [str(directory)]
    while waiting:
        entries = list[os.DirEntry[str]]()
        with contextlib.suppress(OSError), os.scandir(waiting.pop()) as listing:
            entries = list(listing)
        waiting.extend(entry.path for entry in entries if entry.is_dir(follow_symlinks=False))
        yield from entries
