"""Python code for those who lack the other way: under conditions on versions, beside failures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from prjury.code.names.binding import Chain, Node, Rule, any_kind, dotted, one_of

_CONDITIONAL = any_kind("if_statement", "elif_clause", "conditional_expression", "boolean_operator")
#: Where the condition of a statement ends.
_BRANCHES = any_kind("block", "elif_clause", "else_clause")
_VERSION: Rule = {
    "any": [
        {
            "kind": "identifier",
            "regex": r"^(?:version_info|hexversion|__version__|python_version(?:_tuple)?"
            r"|(?:[A-Z0-9]+_)?VERSION(?:_INFO)?|PYVERSION)$",
        },
        {"kind": "attribute", "regex": r"^sys\.version$"},
    ]
}
#: What libraries usually call the outcome of such a comparison.
_FLAG: Rule = {
    "kind": "identifier",
    "regex": r"^(?:(?:IS_?|HAS_?)?PY(?:THON)?_?[23][0-9]*|[A-Z_]+_V[0-9]+"
    r"|[A-Za-z_]*_(?:GE|GTE|LT|LTE)_?[0-9].*|np_version_.+"
    r"|_?(?:[Ii][Ss]_|[Hh][Aa][Ss]_)?(?i:np|numpy|pd|pandas|scipy|pydantic|django|sqla(?:lchemy)?)"
    r"_?[Vv]?_?[0-9]\w*)$",
}
_ON_VERSIONS: Rule = {
    "any": [
        {"kind": "comparison_operator", "has": {"stopBy": "end", **_VERSION}},
        {
            "kind": "call",
            "has": {"field": "function", "regex": "(?:version|VERSION)_*[.]startswith$"},
        },
        _FLAG,
    ]
}


def _under(condition: Rule) -> Rule:
    """What runs in one of its branches under such a condition."""
    return {**_CONDITIONAL, "has": {"stopBy": _BRANCHES, **condition}}


ON_VERSIONS: Rule = {"inside": {"stopBy": "end", **_under(_ON_VERSIONS)}}

_FAILED_IMPORT = r"^except\s*\(?[^:]*\b(?:ImportError|ModuleNotFoundError)"
_FAILED_NAME = r"^except\s*\(?[^:]*\b(?:AttributeError|NameError)"
_IMPORTS = any_kind("import_statement", "import_from_statement")


def _tried(error: str, **form: Rule) -> Rule:
    """What a ``try`` of this form attempts, and what it does instead; not what it does after it."""
    here = {"stopBy": {"kind": "function_definition"}}
    clause = {"kind": "except_clause", "regex": error}
    attempt = {"kind": "try_statement", "has": clause, **form}
    return {
        "any": [
            {"inside": {**here, "field": "body", **attempt}},
            {"inside": {**here, **clause, "inside": attempt}},
        ]
    }


#: Only imports fail to be imported: whatever else stands beside them is used if they do not.
_TRIED_IMPORT: Rule = {
    "all": [
        {"any": [*_IMPORTS["any"], {"inside": {"stopBy": "end", **_IMPORTS}}]},
        _tried(_FAILED_IMPORT),
    ]
}
_SEVERAL_STATEMENTS: Rule = {"has": {"field": "body", "has": {"nthChild": 2}}}
_TRIED_NAME = _tried(_FAILED_NAME, **{"not": _SEVERAL_STATEMENTS})

_FAILURES = r"(?:ImportError|ModuleNotFoundError|AttributeError|NameError)"
#: What may fail on purpose, or is not run with every version.
_LET_FAIL: Rule = {
    "inside": {
        "stopBy": "end",
        "any": [
            {
                "kind": "with_statement",
                "has": {
                    "kind": "with_clause",
                    "regex": rf"\b(?:suppress|raises|assertRaises)\([^)]*{_FAILURES}",
                },
            },
            {
                "kind": "decorated_definition",
                "has": {"kind": "decorator", "regex": r"\bskip[iI]f\(.*(?:version|VERSION)"},
            },
        ],
    }
}

GUARDED: Rule = {"any": [ON_VERSIONS, _TRIED_IMPORT, _TRIED_NAME, _LET_FAIL]}


def asked_for(members: Iterable[str]) -> Rule:
    """Code under ``hasattr(..., "member")``."""
    named = {"kind": "string", "regex": rf"^['\"]{one_of(members)[1:-1]}['\"]$"}
    return {"inside": {"stopBy": "end", **_under(_hasattr(named))}}


def instead(chains: Sequence[Chain]) -> list[Rule]:
    """Code for an owner of these members that lacks another one, told by ``hasattr``."""
    owners = [chain[:-1] for chain in chains if len(chain) > 1]
    if not owners:
        return []
    lookup = _hasattr({"regex": dotted(owners), "nthChild": 1})
    asking = {"has": {"stopBy": _BRANCHES, **lookup}}
    denied = {"kind": "if_statement", "has": {"field": "condition", "kind": "not_operator"}}
    places = [
        {"kind": "else_clause", "inside": {"kind": "if_statement", **asking}},
        {"any": [denied, {"kind": "conditional_expression"}], **asking},
    ]
    return [{"inside": {"stopBy": "end", "any": places}}]


def _hasattr(argument: Rule) -> Rule:
    function = {"has": {"field": "function", "regex": "^hasattr$"}}
    return {
        "kind": "call",
        "all": [function, {"has": {"field": "arguments", "has": argument}}],
    }


def alternatives(node: Node) -> list[Node]:
    """The other parts of each ``try`` around an import that catches its failure."""
    return [
        part
        for outer in node.ancestors()
        if outer.kind() == "try_statement"
        for parts in [_parts(outer)]
        if any(_holds(part, node) for part in parts)
        for part in parts
        if not _holds(part, node)
    ]


def _parts(attempt: Node) -> list[Node]:
    clauses = [
        child
        for child in attempt.children()
        if child.kind() == "except_clause" and child.matches(regex=_FAILED_IMPORT)
    ]
    return [attempt.field("body"), *clauses] if clauses else []


def _holds(part: Node, node: Node) -> bool:
    outer, inner = part.range(), node.range()
    return bool(outer.start.index <= inner.start.index and inner.end.index <= outer.end.index)
