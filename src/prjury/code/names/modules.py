"""What a JavaScript or TypeScript file calls the modules that it loads, and what is in them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from prjury.code.names.binding import Binding, Node, Rule

#: A text without anything to fill in.
STRINGS: list[Rule] = [
    {"kind": "string"},
    {"kind": "template_string", "not": {"has": {"kind": "template_substitution"}}},
]


def agreeing(found: Sequence[Binding]) -> list[Binding]:
    """The bindings without the names that stand for several modules."""
    targets: dict[str, set[str]] = defaultdict(set)
    for binding in found:
        targets[binding.local].add(binding.target.removesuffix(".default"))
    return [binding for binding in found if len(targets[binding.local]) == 1]


def imported(root: Node) -> Iterator[Binding]:
    """What ``import`` statements call things."""
    for statement in root.find_all(kind="import_statement"):
        source = statement.field("source")
        if source is None:
            yield from _import_require(statement)
            continue
        module = _module(source)
        for node in statement.find_all(kind="import_clause"):
            for child in node.children():
                if child.kind() == "identifier":
                    yield from _whole(child.text(), module)
        for node in statement.find_all(kind="namespace_import"):
            yield Binding(node.children()[-1].text(), module)
        for node in statement.find_all(kind="import_specifier"):
            name, alias = node.field("name"), node.field("alias")
            yield Binding((alias or name).text(), f"{module}.{name.text()}")


def _import_require(statement: Node) -> Iterator[Binding]:
    """TypeScript's ``import a = require("b")``."""
    for clause in statement.children():
        if clause.kind() != "import_require_clause":
            continue
        source = clause.find(kind="string")
        name = clause.find(kind="identifier")
        if source and name:
            yield from _whole(name.text(), _module(source))


def required(root: Node) -> Iterator[Binding]:
    """What variables stand for that are given a module, or what is in it."""
    for declarator in root.find_all(kind="variable_declarator"):
        value = declarator.field("value")
        target = _loaded(value) if value else None
        if target is None:
            continue
        name = declarator.field("name")
        if name.kind() == "identifier":
            yield from _whole(name.text(), target)
        else:
            yield from _taken_apart(name, target)


def destructured(root: Node, known: dict[str, str]) -> list[Binding]:
    """What ``const {a} = b`` calls things, where it is known what ``b`` is."""
    return [
        binding
        for declarator in root.find_all(kind="variable_declarator")
        if (value := declarator.field("value")) is not None and value.text() in known
        for binding in _taken_apart(declarator.field("name"), known[value.text()])
    ]


def _taken_apart(pattern: Node, target: str) -> Iterator[Binding]:
    for child in pattern.children():
        if child.kind() == "shorthand_property_identifier_pattern":
            yield Binding(child.text(), f"{target}.{child.text()}")
        elif child.kind() == "pair_pattern" and child.field("value").kind() == "identifier":
            yield Binding(child.field("value").text(), f"{target}.{child.field('key').text()}")


def _loaded(value: Node) -> str | None:
    """The qualified name of ``require("a").b`` and of ``await import("a")``."""
    kind = value.kind()
    if kind == "member_expression":
        inner = _loaded(value.field("object"))
        return inner and f"{inner}.{value.field('property').text()}"
    if kind == "await_expression":
        return _loaded(value.children()[-1])
    if kind != "call_expression" or value.field("function").text() not in {"require", "import"}:
        return None
    first = value.field("arguments").find({"rule": {"any": STRINGS}})
    return _module(first) if first else None


def _whole(local: str, module: str) -> Iterator[Binding]:
    yield Binding(local, module)
    yield Binding(local, f"{module}.default")


def _module(string: Node) -> str:
    return string.text()[1:-1].removeprefix("node:")  # type: ignore[no-any-return]
