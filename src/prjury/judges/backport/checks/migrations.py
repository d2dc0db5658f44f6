"""Database migrations of a change: users of a release branch may have run other ones."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from prjury.jury.judgment import Check, Location
from prjury.report.wording import pluralize
from prjury.snapshot.model import FileChange, FileStatus, printable, visible

_VERBS = {FileStatus.ADDED: "adds", FileStatus.DELETED: "removes"}
_MOST_LISTED = 20
#: Paths of migrations by tool; the first match counts.
_TOOLS = {
    "Django": r"(^|/)migrations/\d{4}_\w+\.py$",
    "Alembic": r"(^|/)(alembic|migrations?)/(.*/)?versions/[^/]+\.py$",
    "Rails": r"(^|/)db/(migrate|post_migrate)/\d+_\w+\.rb$",
    "Flyway": r"(^|/)([VUB]\d[\w.]*|R)__[^/]+\.(sql|java|kt)$",
    "Liquibase": r"(^|/)(changelogs?|liquibase)/.*(change|db|master|\d)[^/]*\.(xml|ya?ml|json|sql)$"
    r"|(^|/)(db\.)?changelog[-.\w]*\.(xml|ya?ml|sql)$",
    "Prisma": r"(^|/)prisma/migrations/[^/]+/migration\.sql$",
    "Drizzle": r"(^|/)drizzle/(migrations/)?\d{4}_\w+\.sql$",
    "Entity Framework": r"(^|/)Migrations/(?!.*(\.Designer|ModelSnapshot)\.cs$)\d+_\w+\.cs$",
    "Ecto": r"(^|/)priv/([\w]+/)?repo/migrations/\d+_\w+\.exs$",
    "Laravel": r"(^|/)database/migrations/\d{4}_\d\d_\d\d_\d+_\w+\.php$",
    "knex or TypeORM": r"(^|/)migrations?/\d{10,}[-_][\w-]+\.[cm]?[jt]s$",
    "SQL": r"(^|/)(migrations?|migrate)/([^/]+/)*[Vv]?\d[\w.-]*\.(up\.|down\.)?sql$",
}
_ELSEWHERE = re.compile(r"(^|/)(tests?|testdata|fixtures|docs?|examples?|samples?)/")


class Migration(Struct, frozen=True):
    """A migration that is added, changed or removed."""

    path: str
    tool: str
    verb: str


def migrations_in(files: Sequence[FileChange]) -> tuple[Migration, ...]:
    """Return the migrations among changed files, by the layouts of common tools."""
    return tuple(
        Migration(file.path, tool, _VERBS.get(file.status, "changes"))
        for file in files
        if (tool := migration_tool(file.path))
    )


def migration_tool(path: str) -> str | None:
    """Return the tool that runs the file as a migration, or None."""
    if _ELSEWHERE.search(path):
        return None
    return next((tool for tool, pattern in _TOOLS.items() if re.search(pattern, path)), None)


def check_migrations(migrations: Sequence[Migration]) -> Check | None:
    if not migrations:
        return None
    words: list[str] = []
    for verb in dict.fromkeys(each.verb for each in migrations):
        tools = [each.tool for each in migrations if each.verb == verb]
        words.append(f"{verb} {pluralize(len(tools), 'migration')} ({', '.join(sorted({*tools}))})")
    return Check(
        "migrations",
        passed=False,
        message=", ".join(words),
        location=Location(printable(migrations[0].path)),
        severity="warning" if all(each.verb == "adds" for each in migrations) else "error",
        evidence="\n".join(visible(each.path) for each in migrations[:_MOST_LISTED]),
    )
