"""How languages write their imports: patterns for whole lines, and nothing that could be code."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from prjury.snapshot import bindings

_STRING = r"""("[^"\\`]*"|'[^'\\`]*')"""
_C_STYLE = re.compile(r"//.*")
_HASH = re.compile(r"#.*")
#: What can end a comment or a line where a reader sees no end: escapes, and C's spelling of one.
_ESCAPES = re.compile(r"\\|\?\?/")
_PHP_ENDS = re.compile(r"\?>")


@dataclass(frozen=True)
class ImportList:
    """An import over several lines: how it opens, what stands in it, how it closes."""

    opening: re.Pattern[str]
    item: re.Pattern[str]
    closing: re.Pattern[str]


@dataclass(frozen=True)
class ImportLanguage:
    """The lines that may stand above the code of a file.

    Attributes:
        imports: an import on one line.
        lists: imports over several lines.
        header: other lines that may stand among imports, such as the package's name.
        comment: a comment on a line of its own.
        blocks: whether ``/* … */`` is a comment.
        docstring: whether a file may begin with a string that says what it is for.
        guarded: opens an indented block that holds nothing but imports.
        names: which names an import makes known, lists written on one line among them.
        effects: an import that makes none known and is there for what it does.
        ordered: whether imports mean another thing in another order.
        refused: what no line may hold, because a reader and a compiler could disagree about it.
    """

    imports: re.Pattern[str]
    lists: tuple[ImportList, ...] = ()
    header: re.Pattern[str] | None = None
    comment: re.Pattern[str] = _C_STYLE
    blocks: bool = True
    docstring: bool = False
    guarded: re.Pattern[str] | None = None
    names: Callable[[str], bindings.Bound] = bindings.nothing
    effects: re.Pattern[str] | None = None
    ordered: bool = False
    refused: re.Pattern[str] = _ESCAPES


def _either(*patterns: str, remark: str = r"( *//.*)?") -> re.Pattern[str]:
    """A whole line of one of these forms, with a remark at its end."""
    return re.compile(rf"(?:{'|'.join(patterns)}){remark}")


def _items(pattern: str, remark: str = r"( *//.*)?") -> re.Pattern[str]:
    return re.compile(rf"[ \t]*{pattern},?{remark}")


_PACKAGE = re.compile(r"package [\w.]+;?")

_JAVA = ImportLanguage(
    _either(r"import (static )?[\w.$]+(\.\*)? ?;", r"import module [\w.]+;"),
    header=_PACKAGE,
    names=bindings.dotted,
)
_KOTLIN = ImportLanguage(
    _either(r"import [\w.$]+(\.\*)?( as \w+)?;?"), header=_PACKAGE, names=bindings.dotted
)
_GROOVY = ImportLanguage(
    _either(r"import (static )?[\w.$]+(\.\*)?( as \w+)?;?"),
    header=_PACKAGE,
    names=bindings.dotted,
)
_SCALA_NAME = r"\w+( (=>|as) \w+)?"
_SCALA = ImportLanguage(
    _either(
        rf"import [\w.]+(\.[_*]|\.\{{ ?{_SCALA_NAME}(, {_SCALA_NAME})* ?\}})?", r"import [\w.]+\.\*"
    ),
    (ImportList(_either(r"import [\w.]+\.\{"), _items(_SCALA_NAME), _either(r"\}")),),
    header=_PACKAGE,
    names=bindings.scala,
)
_PYTHON_REMARK = r"( *#.*)?"
_PYTHON_NAME = r"\w+( as \w+)?"
_PYTHON_NAMES = rf"{_PYTHON_NAME}(, ?{_PYTHON_NAME})*"
_PYTHON = ImportLanguage(
    _either(
        r"import [\w.]+( as \w+)?(, ?[\w.]+( as \w+)?)*",
        rf"from [\w.]+ import (\*|{_PYTHON_NAMES}|\({_PYTHON_NAMES},?\))",
        remark=_PYTHON_REMARK,
    ),
    (
        ImportList(
            _either(r"from [\w.]+ import \(", remark=_PYTHON_REMARK),
            _items(_PYTHON_NAMES, _PYTHON_REMARK),
            _either(r"\)", remark=_PYTHON_REMARK),
        ),
    ),
    comment=_HASH,
    blocks=False,
    docstring=True,
    names=bindings.python,
    guarded=re.compile(r"if (typing\.|t\.)?TYPE_CHECKING:"),
)
_FROM = rf" from {_STRING};?"
_REQUIRE = rf" = require\({_STRING}\);?"
_SCRIPT = ImportLanguage(
    _either(
        rf"import {_STRING};?",
        rf"import (type )?[\w$*{{}}, ]+{_FROM}",
        rf"(const|let|var) [\w$]+{_REQUIRE}",
        rf"(const|let|var) \{{[\w$:, ]+\}}{_REQUIRE}",
        rf"import [\w$]+{_REQUIRE}",
    ),
    (
        ImportList(
            _either(r"import (type )?([\w$]+, )?\{"),
            _items(r"(type )?[\w$]+( as [\w$]+)?"),
            _either(rf"\}}{_FROM}"),
        ),
        ImportList(
            _either(r"(const|let|var) \{"), _items(r"[\w$]+(: [\w$]+)?"), _either(rf"\}}{_REQUIRE}")
        ),
    ),
    header=re.compile(r"""['"]use (strict|client|server)['"];?"""),
    names=bindings.script,
    effects=re.compile(r"import (['\"]|\{ *\})"),
)
_GO_PATH = r"""([\w.]+ )?"(?!C")[^"\\`]+\""""
_GO = ImportLanguage(
    _either(rf"import {_GO_PATH}"),
    (ImportList(_either(r"import \("), _either(rf"[ \t]*{_GO_PATH}"), _either(r"\)")),),
    header=re.compile(r"package \w+"),
    names=bindings.go,
)
_RUST = ImportLanguage(
    _either(r"use [\w:{}*, ]+;", r"extern crate \w+( as \w+)?;"),
    (ImportList(_either(r"use ([\w:]+::)?\{"), _items(r"[\w:{}*, ]+"), _either(r"\};")),),
    header=_either(
        r"(pub(\(\w+\))? )?mod \w+;", r"pub(\(\w+\))? use [\w:{}*, ]+;", r"#!\[[\w(), ]+\]"
    ),
    names=bindings.rust,
)
_C = ImportLanguage(
    _either(r"""[ \t]*# *(include|import) *(<[^<>"\\]+>|"[^"\\]+")"""),
    header=re.compile(r"#pragma once|#(ifndef|define) \w+_H\w*"),
    ordered=True,
)
_C_SHARP = ImportLanguage(
    _either(r"(global )?using (static )?[\w.]+;", r"(global )?using \w+ = [\w.<>, ]+;"),
    header=re.compile(r"#nullable \w+|namespace [\w.]+;"),
    names=bindings.c_sharp,
)
_PHP = ImportLanguage(
    _either(r"use (function |const )?[\w\\]+( as \w+)?;", r"use [\w\\]+\{[\w\\, ]+\};"),
    (
        ImportList(
            _either(r"use (function |const )?[\w\\]+\\\{"),
            _items(r"[\w\\]+( as \w+)?"),
            _either(r"\};"),
        ),
    ),
    header=re.compile(r"<\?php|declare\(strict_types ?= ?1\);|namespace [\w\\]+;"),
    comment=re.compile(r"//.*|#(?!\[).*"),
    names=bindings.php,
    refused=_PHP_ENDS,
)
_SWIFT = ImportLanguage(
    _either(r"(@\w+ )*import ((struct|class|enum|protocol|typealias|func|let|var) )?[\w.]+"),
    names=bindings.dotted,
)
_DART = ImportLanguage(
    _either(rf"import {_STRING}( deferred)?( as \w+)?( (show|hide) \w+(, \w+)*)*;"),
    header=re.compile(r"library( [\w.]+)?;"),
    names=bindings.dart,
)

_BY_SUFFIX: Mapping[str, ImportLanguage] = {
    suffix: language
    for suffixes, language in (
        (".java", _JAVA),
        (".kt .kts", _KOTLIN),
        (".scala .sc", _SCALA),
        (".groovy .gradle", _GROOVY),
        (".py .pyi", _PYTHON),
        (".js .jsx .mjs .cjs .ts .tsx .mts .cts", _SCRIPT),
        (".go", _GO),
        (".rs", _RUST),
        (".c .h .cc .cpp .cxx .hh .hpp .hxx .m .mm", _C),
        (".cs", _C_SHARP),
        (".php", _PHP),
        (".swift", _SWIFT),
        (".dart", _DART),
    )
    for suffix in suffixes.split()
}


def language_of(path: str) -> ImportLanguage | None:
    """The language whose imports are known, by the file's name."""
    return _BY_SUFFIX.get(PurePosixPath(path).suffix.lower())
