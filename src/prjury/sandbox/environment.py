"""The environment of untrusted programs: an allow-list over the operator's, nothing else.

A variable on the list carries no secret: addresses of proxies and registries are handed through
where no credentials are in them; options of whole programs (``MAVEN_OPTS``, ``GOFLAGS``), which may
hold anything, are the operator's to name.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import Path

from prjury.secret_env import JOB_CREDENTIALS

#: Where tools lie, which version of them is chosen, what starts them, and who the user is.
_PASSED = (
    "TZ USER LOGNAME LD_LIBRARY_PATH DYLD_LIBRARY_PATH SDKROOT DEVELOPER_DIR "
    "JAVA_HOME JAVA_HOME_* JDK_HOME JRE_HOME GRAALVM_HOME MAVEN_HOME M2_HOME GRADLE_HOME "
    "KOTLIN_HOME GOROOT GOPATH GOTOOLCHAIN RUSTUP_TOOLCHAIN RUSTUP_AUTO_INSTALL "
    "PYENV_VERSION pythonLocation Python_ROOT_DIR Python3_ROOT_DIR VIRTUAL_ENV CONDA_PREFIX "
    "DOTNET_ROOT ANDROID_HOME ANDROID_SDK_ROOT ANDROID_NDK_HOME ASDF_DIR ASDF_DATA_DIR "
    "RBENV_ROOT JENV_ROOT NODENV_ROOT VOLTA_HOME FNM_DIR RUNNER_TOOL_CACHE PNPM_HOME BUN_INSTALL "
    "CHROME_BIN PUPPETEER_SKIP_DOWNLOAD PUPPETEER_EXECUTABLE_PATH PLAYWRIGHT_BROWSERS_PATH "
    "PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD CYPRESS_INSTALL_BINARY"
).split()

_CERTIFICATES = (
    "SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE NODE_EXTRA_CA_CERTS "
    "NODE_USE_SYSTEM_CA PIP_CERT GIT_SSL_CAINFO GIT_SSL_CAPATH "
    "NIX_SSL_CERT_FILE CARGO_HTTP_CAINFO UV_NATIVE_TLS UV_SYSTEM_CERTS DENO_CERT "
    "DENO_TLS_CA_STORE HEX_CACERTS_PATH BUNDLE_SSL_CA_CERT COMPOSER_CAFILE npm_config_cafile "
    "NPM_CONFIG_CAFILE YARN_HTTPS_CA_FILE_PATH"
).split()
#: Where downloads come from and by what way; handed through where they hold no credentials.
_ADDRESSES = (
    "HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY http_proxy https_proxy all_proxy no_proxy "
    "PIP_INDEX_URL PIP_EXTRA_INDEX_URL PIP_FIND_LINKS PIP_PROXY PIP_TRUSTED_HOST PIP_NO_INDEX "
    "UV_INDEX UV_INDEX_URL UV_DEFAULT_INDEX UV_EXTRA_INDEX_URL UV_FIND_LINKS UV_INSECURE_HOST "
    "UV_OFFLINE UV_PYTHON_INSTALL_MIRROR PDM_PYPI_URL PIPENV_PYPI_MIRROR "
    "NPM_CONFIG_REGISTRY npm_config_registry NPM_CONFIG_PROXY npm_config_proxy "
    "NPM_CONFIG_HTTPS_PROXY npm_config_https_proxy NPM_CONFIG_NOPROXY npm_config_noproxy "
    "YARN_REGISTRY YARN_NPM_REGISTRY_SERVER YARN_HTTP_PROXY YARN_HTTPS_PROXY "
    "BUN_CONFIG_REGISTRY COREPACK_NPM_REGISTRY NODEJS_ORG_MIRROR "
    "GOPROXY GOSUMDB GONOSUMDB GONOSUMCHECK GONOPROXY GOPRIVATE GOINSECURE GOVCS "
    "CARGO_REGISTRIES_*_INDEX CARGO_REGISTRIES_*_PROTOCOL CARGO_HTTP_PROXY CARGO_NET_OFFLINE "
    "RUSTUP_DIST_SERVER RUSTUP_UPDATE_ROOT HEX_MIRROR HEX_CDN RUBYGEMS_HOST BUNDLE_MIRROR__*"
).split()
#: A user's name, a password, or a query, which may be either; ``path=`` of a file is none.
_CREDENTIALS = re.compile(r"@|[?&]\w+=", re.ASCII)

#: Where a tool looks below HOME unless a variable says otherwise. HOME is fresh, so the variable is
#: set to the operator's place if there is one: version managers find their toolchains,
_TOOL_PLACES = {
    "RUSTUP_HOME": ".rustup",
    "PYENV_ROOT": ".pyenv",
    "NVM_DIR": ".nvm",
    "SDKMAN_DIR": ".sdkman",
    "UV_PYTHON_INSTALL_DIR": ".local/share/uv/python",
    "MISE_DATA_DIR": ".local/share/mise",
}
#: and builds find what was downloaded before.
_CACHE_PLACES = {
    "CARGO_HOME": ".cargo",
    "GRADLE_USER_HOME": ".gradle",
    "MAVEN_USER_HOME": ".m2",
    "GOMODCACHE": "go/pkg/mod",
    "GOCACHE": ".cache/go-build",
    "UV_CACHE_DIR": ".cache/uv",
    "PIP_CACHE_DIR": ".cache/pip",
    "npm_config_cache": ".npm",
    "COREPACK_HOME": ".cache/node/corepack",
}
_PLACES = {**_TOOL_PLACES, **_CACHE_PLACES}
#: Other places into which tools install something on the way: by variables, and the superuser's.
_INSTALLED = (
    "GOPATH PNPM_HOME BUN_INSTALL VOLTA_HOME DOTNET_ROOT ANDROID_HOME ANDROID_SDK_ROOT RBENV_ROOT "
    "NODENV_ROOT VIRTUAL_ENV CONDA_PREFIX pythonLocation"
).split()
_INSTALLATIONS = ("/usr", "/opt")
_MOVED = {".cache/": "XDG_CACHE_HOME", ".local/share/": "XDG_DATA_HOME"}
_MADE = {"GOCACHE", "GOMODCACHE"}  # Go compiles its own library into them, which takes a minute

_REFUSED = re.compile(rf"(?is){JOB_CREDENTIALS}|.*(TOKEN|SECRET|KEY|PASSWORD).*|(AWS|SSH)_.*")


def _match_names(names: Iterable[str], listed: Iterable[str]) -> set[str]:
    names, listed = set(names), set(listed)
    globs = [name for name in listed if "*" in name]
    return names & listed | {n for n in names if any(fnmatchcase(n, glob) for glob in globs)}


def is_refused(name: str) -> bool:
    """Tell whether a variable of this name is kept from programs even if it is listed."""
    return _REFUSED.fullmatch(name) is not None


def make_allowed_environment(
    environ: Mapping[str, str],
    extra: Iterable[str] = (),
    own_prefix: Path | None = None,
    *,
    caches: bool = True,
) -> dict[str, str]:
    """Return the environment without HOME and TMPDIR; secrets are refused among ``extra``, too."""
    places = _find_tool_variables(environ)
    if not caches:
        places = {name: place for name, place in places.items() if name in _TOOL_PLACES}
    names = _match_names(environ, (*_PASSED, *_CERTIFICATES, *_ADDRESSES))
    names -= set(withheld(environ))
    names |= {name for name in extra if name in environ}
    if _is_inside(environ.get("VIRTUAL_ENV", ""), own_prefix):
        names.discard("VIRTUAL_ENV")
    variables = {name: environ[name] for name in names if not is_refused(name)}
    return {
        **places,
        **variables,
        **_uv(environ, own_prefix),
        "PATH": _clean_path(environ.get("PATH", os.defpath), own_prefix),
        **({"TAR_OPTIONS": "--no-same-owner"} if os.geteuid() == 0 else {}),  # it may not chown
        "LANG": "C.UTF-8",
        "CI": "true",
    }


def make_caches(variables: Mapping[str, str]) -> None:
    """Make the directories of the operator in which tools keep what they download."""
    for name in _CACHE_PLACES.keys() & variables.keys():
        with suppress(OSError):
            Path(variables[name]).mkdir(parents=True, exist_ok=True)


def list_writable_places(variables: Mapping[str, str]) -> list[str]:
    """Return the outermost places of the operator into which tools would write, mounts excepted."""
    places = {variables[name] for name in (*_PLACES, *_INSTALLED) if name in variables}
    places = {os.path.realpath(place) for place in places.union(_INSTALLATIONS)}
    mounted: list[str] = []
    with suppress(OSError):
        mounted = [line.split()[1] for line in Path("/proc/self/mounts").read_text().splitlines()]
    outermost: list[str] = []
    for place in sorted(places):
        is_inside = any(place.startswith(f"{each}/") for each in outermost)
        has_mounts = any(each.startswith(f"{place}/") for each in mounted)
        if not (is_inside or has_mounts) and Path(place).is_dir() and os.access(place, os.W_OK):
            outermost.append(place)
    return outermost


def make_home_variables(env: Mapping[str, str]) -> dict[str, str]:
    """Return variables by which tools, and Java by its options, keep in HOME what they write."""
    home = env["HOME"]
    places = {name: f"{home}/{below}" for name, below in _CACHE_PLACES.items() if name not in env}
    java = f"-Duser.home={home} -Djava.io.tmpdir={env['TMPDIR']}"
    programs = [f"{home}/{below}" for below in (".local/bin", ".cargo/bin", "go/bin")]
    return {
        **places,
        "JAVA_TOOL_OPTIONS": f"{env.get('JAVA_TOOL_OPTIONS', '')} {java}".strip(),
        "NPM_CONFIG_PREFIX": f"{home}/.local",
        "PATH": os.pathsep.join([*programs, env.get("PATH", os.defpath)]),
    }


def limit_java(enough: int) -> dict[str, str]:
    """Return variables by which Java, whose heap grows with the machine, takes it for smaller."""
    if os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") <= enough:
        return {}
    return {"MAVEN_OPTS": f"-XX:+IgnoreUnrecognizedVMOptions -XX:MaxRAM={enough}"}


def _uv(environ: Mapping[str, str], own_prefix: Path | None) -> dict[str, str]:
    """Return where the uv of this installation is, which PATH may lack."""
    places = [Path(environ["PRJURY_UV"])] if environ.get("PRJURY_UV") else []
    if own_prefix:  # in it, or beside it as in the action
        places += [own_prefix / "bin/uv", own_prefix.parent / "uv/bin/uv"]
    config = next((place for place in places if place.is_absolute() and place.is_file()), None)
    return {"PRJURY_UV": str(config)} if config else {}


def withheld(environ: Mapping[str, str], extra: Iterable[str] = ()) -> list[str]:
    """Return the names that are not handed on, because credentials may be in their addresses."""
    addresses = _match_names(environ, _ADDRESSES) - set(extra)
    return sorted(name for name in addresses if _CREDENTIALS.search(environ[name]))


def _find_tool_variables(environ: Mapping[str, str]) -> dict[str, str]:
    variables = {name: environ[name] for name in _PLACES if name in environ}
    if "GOPATH" in environ:  # the module cache lies below it unless it is named itself
        variables.setdefault("GOMODCACHE", os.path.join(environ["GOPATH"], "pkg", "mod"))  # noqa: PTH118
    home = environ.get("HOME")
    made = _MADE if home and Path(home).is_dir() else set()
    for name, below_home in _PLACES.items():
        place = find_place(environ, below_home)
        if name not in variables and place and (name in made or place.is_dir()):
            variables[name] = str(place)
    return variables


def find_place(environ: Mapping[str, str], below: str) -> Path | None:
    """Return where a tool of the operator keeps what others keep below HOME."""
    for start, variable in _MOVED.items():
        if below.startswith(start) and environ.get(variable):
            return Path(environ[variable], below.removeprefix(start))
    return Path(environ["HOME"], below) if environ.get("HOME") else None


def _clean_path(path: str, own_prefix: Path | None) -> str:
    entries = filter(os.path.isabs, path.split(os.pathsep))
    foreign = [entry for entry in entries if not _is_inside(entry, own_prefix)]
    return os.pathsep.join(foreign) or os.defpath


def _is_inside(path: str, directory: Path | None) -> bool:
    if not path or not directory:
        return False
    return Path(path).is_relative_to(directory) or Path(path).resolve().is_relative_to(
        directory.resolve()
    )
