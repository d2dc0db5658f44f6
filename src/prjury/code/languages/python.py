"""Python."""

from __future__ import annotations

from prjury.code.languages.language import (
    ImportSyntax,
    Language,
    Layout,
    either,
    importing_rule,
    listed,
)
from prjury.code.names.python import GUARDED

_REMARK = r"( *#.*)?"
_NAME = r"\w+( as \w+)?"
_NAMES = rf"{_NAME}(, ?{_NAME})*"
_IMPORTS = ImportSyntax(
    either(
        r"import [\w.]+( as \w+)?(, ?[\w.]+( as \w+)?)*",
        rf"from [\w.]+ import (\*|{_NAMES}|\({_NAMES},?\))",
        remark=_REMARK,
    ),
    (
        (
            either(r"from [\w.]+ import \(", remark=_REMARK),
            listed(_NAME, _REMARK),
            either(r"\)", remark=_REMARK),
        ),
    ),
    header=r"if (typing\.|t\.)?TYPE_CHECKING:",
    names=r".*?\bimport (.+)",
    comment="#.*",
    docstring=True,
)
_LAYOUT = Layout(free=False, texts=r"""\"{3}|'{3}""")

PYTHON = Language(
    "python",
    "sample.py",
    (".py", ".pyi"),
    kin="python",
    imports=_IMPORTS,
    layout=_LAYOUT,
    parser="python",
    comments=("comment",),
    strings=("string_content",),
    family="python",
    utils={
        "guarded": GUARDED,
        "attribute-name": {
            "kind": "identifier",
            "inside": {"kind": "attribute", "field": "attribute"},
        },
        "method-name": {
            "kind": "identifier",
            "inside": {
                "kind": "attribute",
                "field": "attribute",
                "inside": {"kind": "call", "field": "function"},
            },
        },
        "keyword-name": {
            "kind": "identifier",
            "inside": {"kind": "keyword_argument", "field": "name"},
        },
    },
    importing=importing_rule("module", "import_statement", "import_from_statement"),
)
CYTHON = Language(
    "cython",
    "sample.pyx",
    (".pyx", ".pxd"),
    comment=r"#[^\n]*",
    string=r"""\"{3}(?s:.*?)\"{3}|'{3}(?s:.*?)'{3}|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'""",
    family="python",
    kin="python",
    imports=_IMPORTS,
)
