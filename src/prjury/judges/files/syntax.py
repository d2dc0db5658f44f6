"""Source code in a canonical form: what a compiler would not see is gone, free orders are sorted.

Left out are layout, comments, optional separators, trailing commas, parentheses that change
nothing, braces around one statement and the kind of quotes. Sorted are imports, unless two of them
bind the same name, modifiers, and members where the language gives their order no meaning.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from prjury.code.languages import Language
from prjury.code.parser import Parsed
from prjury.judges.files.form import BODIED, FORMS, SyntaxForm

#: A leaf is its text; any other node its kind and its parts.
Canonical: TypeAlias = str | tuple[Any, ...]

_DEEPEST = 250
_OPENING, _CLOSING = frozenset("([{|"), frozenset(")]}>|")
#: Where a comma at the end has a meaning.
_COMMA_COUNTS = frozenset({"subscript"})
#: Where it has one after a single part.
_TUPLES = frozenset(
    {
        "tuple",
        "tuple_expression",
        "tuple_pattern",
        "tuple_type",
        "expression_list",
        "pattern_list",
        "token_tree",
    }
)
_PARENTHESES = frozenset({"parenthesized_expression", "parenthesized_type", "tuple_pattern"})
_CALLS = frozenset({"call_expression", "call", "method_invocation"})
#: Where a single part says as much.
_OF_ONE_PART = frozenset(
    {"union_type", "intersection_type", "control_structure_body", "case_pattern"}
)
_WITH_VALUE = frozenset({"closure_expression", "match_arm"})
_JUMPS = frozenset({"return_expression", "break_expression", "continue_expression"})
_TEXT = re.compile(r"string|template|char|regex|jsx_text|heredoc")
_QUOTES = re.compile(r"([a-zA-Z]*)(?:'''|\"\"\"|'|\")")
_STRING = re.compile(r"""([a-zA-Z]*)('{3}|"{3}|['"])(.*)\2""", re.DOTALL)
#: Strings in which a backslash before a quote is no part of the text.
_PLAIN_PREFIX = re.compile(r"[uUbB]?")
#: What may have a name in quotes.
_KEYED = frozenset({"pair", "property_signature", "method_definition", "method_signature"})
_DIRECTIVE = re.compile(r"//(go:|export |line )|// ?\+build ")
#: What runs between the members when an object is made.
_RUN = frozenset({"field_declaration", "block", "static_initializer"})
_NAME = re.compile(r"\w+")
_KEY = re.compile(r"[A-Za-z_$][\w$]*")


class NotComparableError(ValueError):
    """The text cannot be compared as source code; the message says why."""


@dataclass(frozen=True)
class _Node:
    kind: str
    start: int
    end: int
    children: tuple[_Node, ...]


def canonical(text: str, parsed: Parsed, language: Language) -> Canonical:
    """The canonical form of a text that was parsed with its tree.

    Raises:
        NotComparableError: where it does not follow the language's grammar, or is nested without
            end.
    """
    root = _tree(parsed.tree)
    form = FORMS.get(language.name, SyntaxForm())
    return _Reader(text, frozenset(language.comments), form, language.name).node(root)


def _tree(rows: Sequence[tuple[str, int, int, int]]) -> _Node:
    """The nodes put together, from the last one on, so that nothing recurses."""
    done: list[_Node] = []
    for kind, start, end, count in reversed(rows):
        if kind == "ERROR" or (start == end and not count and not kind.strip().isidentifier()):
            raise NotComparableError("it does not follow the grammar")
        children = tuple(done.pop() for _ in range(count))
        done.append(_Node(kind, start, end, children))
    return done[-1]


@dataclass(frozen=True)
class _Reader:
    text: str
    comments: frozenset[str]
    form: SyntaxForm
    language: str

    def node(self, node: _Node, parent: str = "", depth: int = 0) -> Canonical:
        if depth > _DEEPEST:
            raise NotComparableError("it is nested without end")
        if not node.children:
            text = self.text[node.start : node.end]
            return _jsx_text(text) if node.kind == "jsx_text" else text
        kind = self.form.alike.get(node.kind, node.kind)
        if kind == "type" and self.language == "python":  # whose grammar reads them in two ways
            return (kind, *self._words(node))
        inner = list(self._counting(node, parent))
        if (only := self._unwrapped(node, inner, parent)) is not None:
            return self.node(only, parent, depth + 1)
        if _TEXT.search(node.kind):
            return self._string(node) or (kind, *self._pieces(node, depth))
        parts = [self.node(child, node.kind, depth + 1) for child in inner]
        if kind != node.kind and inner[0].kind in _OPENING:
            parts, inner = parts[1:-1], inner[1:-1]
        if node.kind in _KEYED and (key := _simple_key(parts[0])):
            parts[0] = key
        return (kind, *self._ordered(node, inner, parts))

    def _is_code(self, node: _Node) -> bool:
        if node.kind in self.comments:  # those for Go's compiler and build are no mere comments
            text = self.text[node.start : node.end]
            return self.language == "go" and bool(_DIRECTIVE.match(text))
        return node.kind != "line_continuation"

    def _words(self, node: _Node) -> Iterator[str]:
        """The tokens below a node without the parentheses that only group."""
        if not node.children and node.kind not in {"(", ")"}:
            yield self.text[node.start : node.end]
        for at, child in enumerate(node.children):
            last = node.children[at + 1 : at + 2]
            if self._is_code(child) and not (child.kind == "," and last and last[0].kind == "]"):
                yield from self._words(child)

    def _counting(self, node: _Node, parent: str) -> Iterator[_Node]:
        """The children without the tokens that are form."""
        form, children = self.form, list(filter(self._is_code, node.children))
        for at, child in enumerate(children):
            before = children[at - 1].kind if at else "("
            after = children[at + 1].kind if at + 1 < len(children) else ")"
            if child.kind == "," and after in _CLOSING and self._is_form(node, before, parent):
                continue
            if child.kind in {"|", "&"} and not at and node.kind.endswith("_type"):
                continue  # before the first part of a union on several lines
            if child.kind == "enum_body_declarations" and len(child.children) == 1:
                continue  # the semicolon after the constants of an enum, and nothing behind it
            ends = child.kind in form.separators and node.kind not in form.counting
            if ends and (child.kind != "," or node.kind in form.holders):
                continue
            yield child

    def _is_form(self, node: _Node, before: str, parent: str) -> bool:
        """Whether a comma at the end of a list says nothing: ``(a,)`` and ``[,]`` do say it."""
        if node.kind == "match_arm" or (node.kind, parent) == ("token_tree", "attribute"):
            return True
        if node.kind in _COMMA_COUNTS or before in _OPENING or before == ",":
            return False
        return node.kind not in _TUPLES or sum(child.kind == "," for child in node.children) > 1

    def _unwrapped(self, node: _Node, inner: list[_Node], parent: str) -> _Node | None:
        """What stands in parentheses or braces that change nothing."""
        if len(inner) == 1 and node.kind in _OF_ONE_PART:
            return inner[0]
        if len(inner) != 3 or inner[0].kind not in _OPENING:  # noqa: PLR2004 - `(`, one part, `)`
            return None
        if node.kind in _PARENTHESES:
            chained = "?." in self.text[inner[1].start : inner[1].end]
            return None if chained or (parent in _CALLS and inner[1].children) else inner[1]
        if parent in {"arrow_function", "lambda_expression"} and node.kind.endswith("parameters"):
            return _single_name(inner[1])
        return self._without_braces(node, inner[1], parent)

    def _without_braces(self, node: _Node, content: _Node, parent: str) -> _Node | None:
        """The only statement of a block, where that could stand without its braces."""
        if node.kind == "control_structure_body":
            return content.children[0] if len(content.children) == 1 else None
        if parent in BODIED and node.kind in self.form.blocks:
            return content if content.kind.endswith("_statement") else None
        if parent in _WITH_VALUE and node.kind == "block":
            return self._value(content)
        return None

    @staticmethod
    def _value(content: _Node) -> _Node | None:
        """The value of a block in Rust: an expression, or a jump with or without a semicolon."""
        if content.kind == "expression_statement":
            value, *end = content.children
            return value if not end or value.kind in _JUMPS else None
        return None if re.search("_declaration$|_item$|^let", content.kind) else content

    def _pieces(self, node: _Node, depth: int) -> Iterator[Canonical]:
        """The parts of a text with all that stands between them; quotes in one form."""
        quoted = (node.children[0], node.children[-1]) if self._is_plain(node) else ()
        at = node.start
        for child in node.children:
            yield from filter(None, (self.text[at : child.start],))
            if child in quoted and not child.children:
                yield _QUOTES.sub(r'\1"', self.text[child.start : child.end])
            else:
                yield self.node(child, node.kind, depth + 1)
            at = child.end
        yield from filter(None, (self.text[at : node.end],))

    def _string(self, node: _Node) -> Canonical | None:
        """A string of nothing but text, with one kind of quotes; None for any other."""
        text = self.text[node.start : node.end]
        match = _STRING.fullmatch(text)
        if node.kind != "string" or not match or not _PLAIN_PREFIX.fullmatch(match[1]):
            return None
        return ("string", match[1], re.sub(r"""\\(['"])""", r"\1", match[3]))

    def _is_plain(self, node: _Node) -> bool:
        """Whether the kind of quotes makes no difference to what is between them."""
        first, last = node.children[0], node.children[-1]
        if node.kind != "string" or not _QUOTES.fullmatch(self.text[first.start : first.end]):
            return False
        return not re.search(r"[\\'\"\n]", self.text[first.end : last.start])

    def _ordered(
        self, node: _Node, inner: list[_Node], parts: list[Canonical]
    ) -> Iterable[Canonical]:
        if node.kind in {"modifiers", "named_imports"}:
            return sorted(parts, key=repr)
        if node.kind == "import_list" or any(child.kind in self.form.imports for child in inner):
            inner, parts = self._imports_sorted(inner, parts)
        if node.kind in self.form.holders:
            return self._members_sorted(inner, parts)
        return parts

    def _imports_sorted(
        self, inner: list[_Node], parts: list[Canonical]
    ) -> tuple[list[_Node], list[Canonical]]:
        """Neighbouring imports sorted, each as the single names that it imports."""
        kinds, done, run = list[_Node](), list[Canonical](), list[tuple[_Node, Canonical]]()

        def end() -> None:
            items = [item for node, part in run for item in self._items(node, part)]
            for item in _sorted_imports(items):
                kinds.append(run[0][0])
                done.append(item)
            run.clear()

        for child, part in zip(inner, parts, strict=True):
            if child.kind in self.form.imports and not self._is_effect(child):
                run.append((child, part))
                continue
            end()
            kinds.append(child)
            done.append(part)
        end()
        return kinds, done

    def _is_effect(self, node: _Node) -> bool:
        """Whether it is there for what it does, or binds names that nobody can list."""
        if self.language == "python":
            return any(child.kind == "wildcard_import" for child in node.children)
        script = self.form is FORMS["javascript"]
        return script and not any(child.kind == "import_clause" for child in node.children)

    def _items(self, node: _Node, part: Canonical) -> Iterator[Canonical]:
        split = _SPLIT.get(node.kind)
        return split(part) if split and isinstance(part, tuple) else iter((part,))

    def _members_sorted(self, inner: list[_Node], parts: list[Canonical]) -> list[Canonical]:
        """Members sorted, and the others in their order before them; or neighbours only."""
        pairs = list(_with_attributes(zip(inner, parts, strict=True)))
        free = [self._is_free(node, part) for node, part in pairs]
        runs = (node.kind in _RUN for (node, _), at in zip(pairs, free, strict=True) if not at)
        if any(runs):  # it may read or set the fields around it
            free = [at and not _is_set(*pair) for at, pair in zip(free, pairs, strict=True)]
        names = Counter(
            _name_of(node, self.text) for (node, _), at in zip(pairs, free, strict=True) if at
        )
        if self.form is FORMS["javascript"] and any(n > 1 for n in names.values()):
            return [part for _, part in pairs]
        if self.form.runs:
            return list(self._runs_sorted(pairs, free, names))
        kept = [part for (_, part), at in zip(pairs, free, strict=True) if not at]
        return kept + sorted(
            (part for (_, part), at in zip(pairs, free, strict=True) if at), key=repr
        )

    def _runs_sorted(
        self, pairs: list[tuple[_Node, Canonical]], free: list[bool], names: Mapping[str, int]
    ) -> Iterator[Canonical]:
        run: list[Canonical] = []
        for (node, part), at in zip(pairs, free, strict=True):
            if at and names[_name_of(node, self.text)] == 1:
                run.append(part)
                continue
            yield from sorted(run, key=repr)
            run = []
            yield part
        yield from sorted(run, key=repr)

    def _is_free(self, node: _Node, part: Canonical) -> bool:
        if node.kind not in self.form.members or "macro_rules!" in self.text:
            return False
        if node.kind == "field_declaration":
            return not _has_computed_value(part)
        if self.language == "python":  # default values are worked out in the order of definitions
            return not any(
                child.kind == "parameters" and "=" in self.text[child.start : child.end]
                for child in node.children
            )
        if self.language == "go":
            return _name_of(node, self.text) not in {"init", "_"}
        return "[" not in _name_of(node, self.text)


def _single_name(parameter: _Node) -> _Node | None:
    """The parameter of a function if it is nothing but a name."""
    while len(parameter.children) == 1:
        parameter = parameter.children[0]
    return parameter if parameter.kind == "identifier" else None


def _simple_key(part: Canonical) -> str:
    """The name in quotes, if it could stand without them."""
    simple = isinstance(part, tuple) and part[:2] == ("string", "") and _KEY.fullmatch(part[2])
    return part[2] if simple else ""


def _jsx_text(text: str) -> str:
    """The text as React sees it: blanks at the ends of lines are layout."""
    first, *rest = text.split("\n")
    if not rest:
        return first
    lines = [first.rstrip(), *(line.strip() for line in rest[:-1]), rest[-1].lstrip()]
    return " ".join(line for line in lines if line)


def _with_attributes(
    pairs: Iterable[tuple[_Node, Canonical]],
) -> Iterator[tuple[_Node, Canonical]]:
    """Attributes of Rust and directives of Go put together with the item that follows them."""
    waiting: list[Canonical] = []
    for node, part in pairs:
        if node.kind in {"attribute_item", "comment"}:
            waiting.append(part)
            continue
        yield node, ((node.kind, *waiting, part) if waiting else part)
        waiting = []
    for part in waiting:
        yield _Node("attribute_item", 0, 0, ()), part


def _name_of(node: _Node, text: str) -> str:
    """The name that a member declares; its receiver is part of it in Go."""
    for child in node.children:
        if child.kind.endswith("identifier") or child.kind == "computed_property_name":
            return text[child.start : child.end]
    return text[node.start : node.end]


def _is_set(node: _Node, part: Canonical) -> bool:
    """Whether a field gets a value when the object is made; a constant has it from the start."""
    leaves = set(_leaves(part))
    return node.kind == "field_declaration" and "=" in leaves and "final" not in leaves


def _has_computed_value(part: Canonical) -> bool:
    """Whether a field's initial value could depend on another one's."""
    for each in part[1:]:
        if isinstance(each, tuple) and each[0] == "variable_declarator" and "=" in each[1:]:
            value = each[-1]
            simple = isinstance(value, str) and not re.match(r"[A-Za-z_$]", value)
            simple = simple or value in {"true", "false", "null"}
            if not simple and not (isinstance(value, tuple) and value[0] == "string_literal"):
                return True
    return False


def _sorted_imports(items: list[Canonical]) -> list[Canonical]:
    """Each import once, sorted; as they are where two of them bind one name differently."""
    single = list(dict.fromkeys(items))
    bound = Counter(_bound(item) for item in single)
    return single if any(n > 1 for n in bound.values()) else sorted(single, key=repr)


def _bound(item: Canonical) -> str:
    """The last name of an import; the whole of it where it has none."""
    names = [text for text in _leaves(item) if _NAME.fullmatch(text)]
    starred = any(text == "*" for text in _leaves(item))
    return repr(item) if starred or not names else names[-1]


def _leaves(item: Canonical) -> Iterator[str]:
    if isinstance(item, str):
        yield item
        return
    for part in item[1:]:
        yield from _leaves(part)


def _python_import(part: tuple[Any, ...]) -> Iterator[Canonical]:
    """``import a, b`` as two imports."""
    yield from ((part[0], "import", item) for item in part[2:] if item != ",")


def _python_from(part: tuple[Any, ...]) -> Iterator[Canonical]:
    """``from a import b, c`` as two imports."""
    at = part.index("import")
    head, names = part[1:at], part[at + 1 :]
    yield from ((part[0], *head, "import", name) for name in names if name not in {"(", ")", ","})


def _go_import(part: tuple[Any, ...]) -> Iterator[Canonical]:
    """Each package of a list as an import of its own."""
    for item in part[1:]:
        if isinstance(item, tuple):
            listed = item[0] == "import_spec_list"
            yield from (each for each in item[1:] if each not in {"(", ")"}) if listed else (item,)


def _rust_use(part: tuple[Any, ...]) -> Iterator[Canonical]:
    """Each path of a tree of uses as a use of its own."""
    *head, tree, end = part
    for path in _rust_paths(tree):
        yield (*head, path, end)


def _rust_paths(tree: Canonical) -> Iterator[tuple[str, ...]]:
    if isinstance(tree, str):
        yield (tree,)
    elif tree[0] in {"scoped_use_list", "use_list"}:
        *before, inner = tree[1:] if tree[0] == "scoped_use_list" else ((), tree)
        prefix = tuple(text for piece in before if piece for text in _leaves(piece))
        for item in inner[1:]:
            if item not in {"{", "}", ","}:
                yield from (_joined(prefix, path) for path in _rust_paths(item))
    else:
        yield tuple(_leaves(tree))


def _joined(prefix: tuple[str, ...], path: tuple[str, ...]) -> tuple[str, ...]:
    """A path below a prefix; ``a::{self}`` is ``a``."""
    return prefix[:-1] + path[1:] if path[:1] == ("self",) and prefix else prefix + path


_SPLIT: Mapping[str, Callable[[tuple[Any, ...]], Iterator[Canonical]]] = {
    "import_statement": lambda part: (
        _python_import(part) if any(item == "," for item in part) else iter((part,))
    ),
    "import_from_statement": _python_from,
    "import_declaration": lambda part: _go_import(part) if _is_go(part) else iter((part,)),
    "use_declaration": _rust_use,
}


def _is_go(part: tuple[Any, ...]) -> bool:
    return any(isinstance(item, tuple) and item[0].startswith("import_spec") for item in part)
