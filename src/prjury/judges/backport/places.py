"""Files that may offer public names, and what qualifies these for their users."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import PurePosixPath

from prjury.code.languages import Language, language_of
from prjury.code.publics.find import is_offering
from prjury.judges.backport.checks.migrations import migration_tool
from prjury.snapshot.kinds import kind_of
from prjury.snapshot.model import FileKind

_ASIDE = re.compile(
    r"(^|/)(examples?|samples?|demos?|benchmarks?|asv_bench|fixtures|testdata|__mocks__|buildSrc"
    r"|mocks?|test-?(utils?|support|fixtures|kit)|[\w-]*[-_]tests?|[\w-]*[-_]examples?|tests?[-_][\w-]+)/"
    r"|^(scripts?|tools?|ci|docs?|doc|hacking|utils?|build|build[-_]tools|buildutils|\.[^/]+)/"
    r"|(^|/)(static|assets|public|vendors?|third[-_]party|bower_components|dist)/.*\.[cm]?[jt]sx?$"
    r"|(^|/)(bootstrap|jquery|popper|htmx|d3|chart)[-.\w]*\.[cm]?js$"
    r"|\.(stories|bench|config)\.[cm]?[jt]sx?$|\.config/|(^|/)(webpack|rollup|babel|jest|gulp)[^/]*\.[cm]?js$"
    r"|(^|/)meson(\.build|_options\.txt|\.options)$|(^|/)\.[^/]+$|(^|/)(package-info|module-info)\.java$|(^|/)build\.rs$|/src/main\.rs$|/src/bin/"
    r"|(^|/)(setup|noxfile|tasks|fabfile|manage|dodo|conf|versioneer|__main__)\.py$"
    r"|\.kts$|\.pyi$"
)
_INTERNAL = {
    "java": re.compile(r"/internal/"),
    "kotlin": re.compile(r"/internal/"),
    "go": re.compile(r"(^|/)internal/"),
    "python": re.compile(r"(^|/)_(?!_init__\.py$)"),
}
_SOURCE_ROOT = re.compile(r"^(?:.*/)?(?:src|lib)/")
_SCRIPT_ROOT = re.compile(r"^(.*?/|)(?:src|lib)/")


@lru_cache(maxsize=100_000)  # of one path before and after a change, and on each branch
def language_offered(path: str) -> Language | None:
    """Return the language of a file that may offer public names, or None."""
    language = language_of(path)
    if language is None or not is_offering(language) or not is_shipped(path):
        return None
    internal = _INTERNAL.get(language.name)
    return None if migration_tool(path) or (internal and internal.search(path)) else language


def is_shipped(path: str) -> bool:
    """Return true if a file is source of what others use, by its path."""
    return kind_of(path) is FileKind.SOURCE and not _ASIDE.search(path)


def home_of(path: str, language: Language, package: str | None) -> str:
    """Return the package, module or directory that qualifies the names of a file.

    For JavaScript that is the root of a package, which exports its modules from one place.
    """
    if package is not None:
        return package
    place = PurePosixPath(path)
    if language.name == "python":
        module = _SOURCE_ROOT.sub("", path).removesuffix(".py").removesuffix("/__init__")
        return module.replace("/", ".")
    if language.name == "rust":
        stem = "" if place.stem in {"mod", "lib"} else f"/{place.stem}"
        return f"{place.parent}{stem}"
    if language.name == "go":
        return str(place.parent)
    root = _SCRIPT_ROOT.match(path)
    return root[1] if root else str(place.parent)
