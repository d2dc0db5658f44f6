"""What a file is to other programs, by its path: its public names, migrations, development only."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from pathlib import PurePosixPath

from prjury.code.languages import Language, language_of
from prjury.code.publics.find import is_offering
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
_CONTINUOUS = re.compile(
    r"^(\.github|\.circleci|\.buildkite|\.gitlab|\.azure-pipelines|\.ci|ci|\.devcontainer|\.vscode"
    r"|\.idea)/"
    r"|^(\.gitlab-ci|\.travis|appveyor|\.appveyor|azure-pipelines|\.cirrus|\.pre-commit-config"
    r"|bitbucket-pipelines|codecov|\.codecov|\.readthedocs|renovate|\.mailmap|dependabot)[^/]*$"
    r"|(^|/)(Jenkinsfile|CODEOWNERS|\.gitignore|\.gitattributes|\.editorconfig|\.git-blame[^/]*"
    r"|CITATION\.cff|\.mailmap|tox\.ini|noxfile\.py)$",
    re.IGNORECASE,
)
#: Changelog fragments, one file a change.
_NOTES = re.compile(r"(^|/)(changelogs?|changes|newsfragments|\.changeset|upcoming_changes)/")
#: Languages that share names, because one may be rewritten in the other.
_FAMILIES = {"javascript": "typescript", "tsx": "typescript"}
_SOURCE_ROOT = re.compile(r"^(?:.*/)?(?:src|lib)/")
_SCRIPT_ROOT = re.compile(r"^(.*?/|)(?:src|lib)/")


@lru_cache(maxsize=100_000)  # of one path before and after a change, and on each branch
def language_offered(path: str) -> Language | None:
    """Return the language of a file that may offer public names, or None."""
    language = language_of(path)
    if language is None or not is_offering(language) or not is_program(path):
        return None
    if migration_tool(path):
        return None
    internal = _INTERNAL.get(language.name)
    if _ASIDE.search(path) or (internal and internal.search(path)):
        return None
    return language


def is_program(path: str) -> bool:
    """Return true if a file is source of what is shipped, by its path."""
    return kind_of(path) is FileKind.SOURCE and not is_aside(path)


def is_aside(path: str) -> bool:
    """Return true if it is for developers only: documentation, tests, CI."""
    kind = kind_of(path)
    aside = kind in {FileKind.DOCS, FileKind.TEST} or _NOTES.search(path) is not None
    return aside or _CONTINUOUS.search(path) is not None


def is_example(path: str) -> bool:
    """Return true if it is source without public names, such as a benchmark."""
    return _ASIDE.search(path) is not None


def home_of(path: str, language: Language, package: str | None) -> str:
    """Return what qualifies the names of a file for its users.

    A Java package, a Python module, a Go or Rust directory or module, or the root of a JavaScript
    package, which exports its modules from one place.
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


def family_of(language: Language) -> str:
    """Return the common name of languages that share names, such as TypeScript's dialects."""
    return _FAMILIES.get(language.name, language.name)


def is_package(path: str) -> bool:
    """Return true if it is a Python ``__init__.py``, which offers what it imports."""
    return PurePosixPath(path).name == "__init__.py"


#: Paths of migrations by tool; the first match counts.
_TOOLS = (
    ("Django", r"(^|/)migrations/\d{4}_\w+\.py$"),
    ("Alembic", r"(^|/)(alembic|migrations?)/(.*/)?versions/[^/]+\.py$"),
    ("Rails", r"(^|/)db/(migrate|post_migrate)/\d+_\w+\.rb$"),
    ("Flyway", r"(^|/)([VUB]\d[\w.]*|R)__[^/]+\.(sql|java|kt)$"),
    (
        "Liquibase",
        r"(^|/)(changelogs?|liquibase)/.*(change|db|master|\d)[^/]*\.(xml|ya?ml|json|sql)$",
    ),
    ("Liquibase", r"(^|/)(db\.)?changelog[-.\w]*\.(xml|ya?ml|sql)$"),
    ("Prisma", r"(^|/)prisma/migrations/[^/]+/migration\.sql$"),
    ("Drizzle", r"(^|/)drizzle/(migrations/)?\d{4}_\w+\.sql$"),
    ("Entity Framework", r"(^|/)Migrations/(?!.*(\.Designer|ModelSnapshot)\.cs$)\d+_\w+\.cs$"),
    ("Ecto", r"(^|/)priv/([\w]+/)?repo/migrations/\d+_\w+\.exs$"),
    ("Laravel", r"(^|/)database/migrations/\d{4}_\d\d_\d\d_\d+_\w+\.php$"),
    ("knex or TypeORM", r"(^|/)migrations?/\d{10,}[-_][\w-]+\.[cm]?[jt]s$"),
    ("SQL", r"(^|/)(migrations?|migrate)/([^/]+/)*[Vv]?\d[\w.-]*\.(up\.|down\.)?sql$"),
)
_ELSEWHERE = re.compile(r"(^|/)(tests?|testdata|fixtures|docs?|examples?|samples?)/")


@cache  # when a path is looked at, which a start need not wait for
def _tools() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((tool, re.compile(pattern)) for tool, pattern in _TOOLS)


def migration_tool(path: str) -> str | None:
    """Return the tool that runs the file as a migration, or None."""
    if _ELSEWHERE.search(path):
        return None
    return next((tool for tool, pattern in _tools() if pattern.search(path)), None)
