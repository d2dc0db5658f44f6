"""Pages about packs, in Markdown, made from the packs themselves."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from prjury.resources import templates
from prjury.rulepacks.description import Described
from prjury.rulepacks.rule import Pack

_SPECIAL = re.compile(r"([\\*<>\[\]|])")
_CODE = re.compile(r"(`[^`]*`)")
_INTRODUCTION = """<!-- Generated from src/prjury/rules. -->
# Packs of version patterns

What the judge [`patterns`](../judges/patterns.md) knows. A pack is a subject with its rules, and
looks only at projects that declare what it is about. Each page tells of every rule what it finds,
why, with which versions, and what to write instead; `prjury rules list` and
`prjury rules show PACK/RULE` tell the same in a terminal.

"""
_REST = """
## How to read a page

*Error*, *Warning* and *Hint* say which versions make that of a finding, wherever the nearest module
allows no others. An error that only some of the allowed versions would have is a warning. A mere
warning that only some of them would have stays one if the replacement is there in all of them.
Where a version cannot be told, a finding is a hint. A hint "before that" says that the old way is
still sound, but the new one is there already.

| Fix | Meaning |
|---|---|
| machine-applicable | the same in new words; safe to apply |
| maybe-incorrect | look at it before you apply it |
| has-placeholders | has parts that you fill in |
| by hand | none, only advice; so is every fix whose replacement some allowed version lacks |

## Packs of your own

`paths` of the judge `patterns` names files and directories: packs in the format of the shipped
ones, and rules in ast-grep's own format (a file, a directory with `rules/`, an `sgconfig.yml`).
Installed distributions bring packs along by entry points of the group `prjury.packs`, each of which
is an absolute path or a function that returns one.

A pack is `NAME.yml`, its cases are in `NAME.cases.yml` beside it. Each rule needs, for each of its
languages, code that it finds and code that it leaves alone; for each fix a case with `fixed` that
would come out otherwise without it; and where versions count, one version case for each outcome
(`error`, `warning`, `hint`, `none`) that they can have. A version case names what a project has
as `ECOSYSTEM:NAME [version]` (`pypi:numpy 2.0`, `npm:react ^18`, `runtime:python >=3.8`,
`go:github.com/pkg/errors v0.9.1`, `maven:org.acme:lib [3.5,4.1)`); Maven's own
`group:artifact[:version]` will do as well. `prjury rules test PATH` runs all of them, and says what
fails or is missing with file and line. [The judge's page](../judges/patterns.md#packs-of-your-own)
shows a pack as a whole.

Of a rule in ast-grep's format `severity`, `message`, `note`, `url`, `files`, `ignores`,
`constraints` and `utils` hold as ast-grep documents them, except that `info` is a hint. Its
`fix` is offered as `maybe-incorrect` where a match and what becomes of it stand on one line, and is
advice elsewhere. Tests in the directories that `testConfigs` names are run by
`prjury rules test`.
"""


def pack_page(pack: Pack) -> str:
    """The page of one pack, with the examples of its cases."""
    return _templates().get_template("pack.md.j2").render(pack=Described(pack))


def index_page(packs: Sequence[Pack]) -> str:
    """The page that names every pack, and tells how others are written."""
    return _INTRODUCTION + table(packs, linked=True) + _REST


def table(packs: Sequence[Pack], *, linked: bool = False) -> str:
    """One row for each pack."""
    described = [Described(pack) for pack in packs]
    return _templates().get_template("index.md.j2").render(packs=described, linked=linked)


@cache
def _templates() -> Environment:
    # Pages are Markdown: HTML's escapes would be shown as they are.
    environment = Environment(  # noqa: S701 - see above; `cell` escapes
        loader=FileSystemLoader(templates() / "rules"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"cell": _cell, "code": _code}
    return environment


def _cell(text: str) -> str:
    """Prose as one line, in which only code marked by backticks is more than its letters."""
    pieces = _CODE.split(" ".join(text.split()))
    return "".join(
        piece.replace("|", r"\|") if piece.startswith("`") else _SPECIAL.sub(r"\\\1", piece)
        for piece in pieces
    )


def _code(text: str) -> str:
    """A name as code; anything longer is prose."""
    return _cell(text) if " " in text or "`" in text else f"`{text}`"
