"""Loads what a run may still need, before a program runs that is not trusted.

A build runs as the same user and could write into the files of this program. So nothing of ours is
imported, rendered or started from these files after a build has begun.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from importlib import import_module
from pkgutil import walk_packages

import prjury
from prjury.code import standby
from prjury.errors import ConfigError
from prjury.resources import own_version, pack_texts

#: Modules that no run needs after a build, the clients of models, which `ModelPanel` loads, and
#: what needs packages that do not come with ours.
_LEFT_OUT = (
    "prjury.__main__",
    "prjury.action.__main__",
    "prjury.demo",
    "prjury.doctor",
    "prjury.models.providers",
    "prjury.models.wire",
    "prjury.pytest_plugin",
)
#: What libraries, and functions of ours, import only when they are called.
_LATE = (
    "asyncio",
    "defusedxml.ElementTree",
    "encodings.idna",
    "packaging.requirements",
    "re2",
    "rich.box",
    "rich.console",
    "rich.live",
    "rich.padding",
    "rich.table",
    "rich.text",
    "sqlite3",
    "tomllib",
    "yaml",
)


@cache
def load_everything() -> None:
    """Load modules, templates, packs and data, and start the process that forks parsers."""
    for module in walk_packages(prjury.__path__, "prjury."):
        if not module.name.startswith(_LEFT_OUT):
            import_module(module.name)
    for name in _LATE:
        with suppress(ImportError):  # some Pythons lack sqlite3
            import_module(name)
    from prjury.judges.backport.score.score import shipped_models  # noqa: PLC0415 - see above
    from prjury.report.render import load_templates  # noqa: PLC0415 - see above
    from prjury.rulepacks.find import provided  # noqa: PLC0415 - see above

    with suppress(ConfigError):  # raised again where the packs are needed
        provided()
    own_version()
    pack_texts()
    shipped_models()
    import_module("rich.cells").cell_len("\u5b57")  # loads a table
    load_templates()
    standby.start()
