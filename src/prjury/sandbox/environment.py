"""The environment of untrusted programs: an allow-list over the operator's, nothing else.

What a variable must not do to be on the list: carry a secret, or point at a place that holds one
without being needed to find a tool. Proxies, certificates, ``MAVEN_OPTS`` and their like are the
operator's to name, because they can hold credentials.
"""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

#: Handed through when set. Where tools lie (JDKs, SDKs, version managers), which version of them
#: is chosen, what the loader needs to start them, and who the user is.
_PASSED = (
    "TZ USER LOGNAME LD_LIBRARY_PATH DYLD_LIBRARY_PATH SDKROOT DEVELOPER_DIR "
    "JAVA_HOME JAVA_HOME_* JDK_HOME JRE_HOME GRAALVM_HOME MAVEN_HOME M2_HOME GRADLE_HOME "
    "KOTLIN_HOME GOROOT GOPATH GOTOOLCHAIN RUSTUP_TOOLCHAIN RUSTUP_AUTO_INSTALL "
    "PYENV_VERSION pythonLocation Python_ROOT_DIR Python3_ROOT_DIR VIRTUAL_ENV CONDA_PREFIX "
    "DOTNET_ROOT ANDROID_HOME ANDROID_SDK_ROOT ANDROID_NDK_HOME ASDF_DIR ASDF_DATA_DIR "
    "MISE_DATA_DIR RBENV_ROOT JENV_ROOT NODENV_ROOT VOLTA_HOME FNM_DIR PNPM_HOME BUN_INSTALL"
).split()

#: Where a tool looks below HOME unless a variable says otherwise. HOME is a fresh directory, so
#: the variable is set to the operator's own place if that exists: version managers find their
#: toolchains, and builds find what was downloaded before.
_PLACES = {
    "RUSTUP_HOME": ".rustup",
    "CARGO_HOME": ".cargo",
    "PYENV_ROOT": ".pyenv",
    "NVM_DIR": ".nvm",
    "SDKMAN_DIR": ".sdkman",
    "GRADLE_USER_HOME": ".gradle",
    "MAVEN_USER_HOME": ".m2",
    "GOMODCACHE": "go/pkg/mod",
    "GOCACHE": ".cache/go-build",
    "UV_CACHE_DIR": ".cache/uv",
    "UV_PYTHON_INSTALL_DIR": ".local/share/uv/python",
    "PIP_CACHE_DIR": ".cache/pip",
    "npm_config_cache": ".npm",
    "COREPACK_HOME": ".cache/node/corepack",
}

_REFUSED = re.compile(
    r".*(TOKEN|SECRET|KEY|PASSWORD).*"
    r"|(ACTIONS|AWS|SSH)_.*"
    r"|GITHUB_(TOKEN|ENV|OUTPUT|PATH|STEP_SUMMARY|STATE)",
    re.IGNORECASE | re.DOTALL,
)


def is_refused(name: str) -> bool:
    """Whether a variable of this name is kept from untrusted programs even if it is listed."""
    return _REFUSED.fullmatch(name) is not None


def allowed(
    environ: Mapping[str, str], extra: Iterable[str] = (), own_prefix: Path | None = None
) -> dict[str, str]:
    """The environment for untrusted programs, but for HOME and TMPDIR, which are made per run.

    Args:
        environ: the operator's environment.
        extra: names that the operator lists; those that look like secrets are refused all the same.
        own_prefix: our own virtual environment, whose programs are not the build's.
    """
    names = {name for name in environ if any(fnmatch.fnmatchcase(name, p) for p in _PASSED)}
    names |= {name for name in extra if name in environ}
    if own_prefix and _inside(environ.get("VIRTUAL_ENV", ""), own_prefix):
        names.discard("VIRTUAL_ENV")
    kept = {name: environ[name] for name in names if not is_refused(name)}
    return {
        **_places(environ),
        **kept,
        "PATH": _path(environ.get("PATH", os.defpath), own_prefix),
        "LANG": "C.UTF-8",
        "CI": "true",
    }


def _places(environ: Mapping[str, str]) -> dict[str, str]:
    found = {name: environ[name] for name in _PLACES if name in environ}
    if "GOPATH" in environ:  # the module cache lies below it unless it is named itself
        found.setdefault("GOMODCACHE", os.path.join(environ["GOPATH"], "pkg", "mod"))  # noqa: PTH118
    for name, below_home in _PLACES.items():
        place = _default(environ, below_home)
        if name not in found and place and place.is_dir():
            found[name] = str(place)
    return found


def _default(environ: Mapping[str, str], below_home: str) -> Path | None:
    cache = environ.get("XDG_CACHE_HOME")
    if cache and below_home.startswith(".cache/"):
        return Path(cache, below_home.removeprefix(".cache/"))
    home = environ.get("HOME")
    return Path(home, below_home) if home else None


def _path(path: str, own_prefix: Path | None) -> str:
    """The search path without our own programs and without relative entries.

    A relative entry would be searched below the program's directory, which is not trusted.
    """
    entries = [
        entry
        for entry in path.split(os.pathsep)
        if Path(entry).is_absolute() and not (own_prefix and _inside(entry, own_prefix))
    ]
    return os.pathsep.join(entries) or os.defpath


def _inside(path: str, directory: Path) -> bool:
    if not path:
        return False
    return Path(path).is_relative_to(directory) or Path(path).resolve().is_relative_to(
        directory.resolve()
    )
