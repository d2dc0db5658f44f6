"""Finds the files that travel with the program: templates and rule packs.

In a wheel the templates lie inside the package; in a checkout (also an editable install, which has
no copy) they lie at the top of the repository.
"""

from __future__ import annotations

from pathlib import Path

from prjury.errors import PrJuryError

_PACKAGE = Path(__file__).resolve().parent


def templates() -> Path:
    """The directory of the Jinja2 templates.

    Raises:
        PrJuryError: when neither the wheel nor the checkout holds them.
    """
    for place in (_PACKAGE / "_templates", _PACKAGE.parents[1] / "templates"):
        if place.is_dir():
            return place
    raise PrJuryError(
        "The report templates are missing from this installation",
        why="The package was copied without its data files",
        remedy="Reinstall prjury from its wheel or run it from a complete checkout",
    )


def rule_packs() -> Path:
    """The directory of the version-pattern packs that ship with the program."""
    return _PACKAGE / "rules"
