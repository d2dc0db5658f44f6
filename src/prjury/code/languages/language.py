"""A row of the table of languages, and the pieces of which its rules are made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct, field

from prjury.code.names.binding import any_kind

# Utility rules that every pack may use (``matches: qualified-name``):
#   qualified-name    a dotted name as a whole, wherever it stands (import, type, expression,
#                     annotation); neither its inner parts nor a package header
#   annotation-name   the simple name of an annotation
#   method-name       the name of a method that is called on something
#   attribute-name    the name of a member of something (Python, JavaScript)
#   keyword-name      the name of a keyword argument in Python
#   key-name          the name of a key of an object in JavaScript
#   guarded           code under a condition on a version; imports that may fail (Python)
#   type-name         the simple name of a type, also before a static member


class Language(Struct, frozen=True):
    """A language that rules may name, and all that is known of it.

    Attributes:
        files: names of its files, in lower case, whatever their suffix.
        parser: its name in ast-grep, ``comments`` and ``strings`` its kinds of nodes.
        comment: RE2 pattern of one comment, and ``string`` of what hides one, without a parser.
        declares: whether its files declare dependencies.
        family: whose build files say which versions hold for its files; empty for none.
        kin: the group of languages that may use each other's names; empty for no code.
        utils: ast-grep utility rules that every pack may refer to.
        importing: the ast-grep rule of a place in a file with an import that fits a regex.
    """

    name: str
    sample: str
    suffixes: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    parser: str | None = None
    comments: tuple[str, ...] = ()
    strings: tuple[str, ...] = ()
    comment: str = ""
    string: str = ""
    declares: bool = False
    family: str = ""
    kin: str = ""
    utils: Mapping[str, Any] = field(default_factory=dict)
    importing: Callable[[str], Mapping[str, Any]] | None = None


def outermost(kinds: tuple[str, ...], package: str) -> dict[str, Any]:
    """The rule of a name of one of these kinds that is no part of another one."""
    inner = {"inside": any_kind(*kinds, package)}
    return {"all": [any_kind(*kinds), {"not": inner}]}


def importing_rule(top: str, *kinds: str) -> Callable[[str], Mapping[str, Any]]:
    """The importing rule of a language whose imports may stand anywhere in a file."""

    def rule(regex: str) -> Mapping[str, Any]:
        statement = {"stopBy": "end", **any_kind(*kinds), "regex": regex}
        return {"inside": {"kind": top, "stopBy": "end", "has": statement}}

    return rule
