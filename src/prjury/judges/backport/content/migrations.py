"""Files that change a database when a new version is started, known by the tools' own layouts.

A release branch whose users have run other migrations cannot take one without care.
"""

from __future__ import annotations

import re

#: By tool: where its migrations are. The first one that matches gives the name.
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
_KNOWN = tuple((tool, re.compile(pattern)) for tool, pattern in _TOOLS)
_ELSEWHERE = re.compile(r"(^|/)(tests?|testdata|fixtures|docs?|examples?|samples?)/")


def migration_tool(path: str) -> str | None:
    """The tool that runs the file as a migration, None for any other file."""
    if _ELSEWHERE.search(path):
        return None
    return next((tool for tool, pattern in _KNOWN if pattern.search(path)), None)
