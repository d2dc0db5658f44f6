"""Weigh the house: lines a room, names that have to be decoded, regular expressions.

``python tests/house.py`` lowers the ceilings in ``house.toml`` to what the tree weighs now, raising
none; ``python tests/house.py list`` prints the places behind the figures of names, ``python
tests/house.py draw`` renews the diagram of the rooms in ``ARCHITECTURE.md``.
"""

from __future__ import annotations

import ast
import json
import re
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "prjury"
TABLE = ROOT / "tests" / "house.toml"
ARCHITECTURE = ROOT / ".github" / "ARCHITECTURE.md"
PICTURE = re.compile(r"```mermaid\n.*?```", re.DOTALL)
SAMPLE = SOURCE / "demo" / "sample"
MODULES = [path for path in sorted(SOURCE.rglob("*.py")) if SAMPLE not in path.parents]

#: First words of function names that are no verb: participles, adverbs, pronouns, prepositions.
_PARTICIPLES = frozenset(
    "begun bound bought broken brought built chosen drawn driven fallen forgotten found frozen "
    "given grown heard held hidden kept known laid led lent lost made meant met paid said seen "
    "sent shown sold sought spent stood struck stuck sung sworn taken taught thought thrown "
    "told torn understood won worn written".split()
)
_PARTICLES = frozenset(
    "about after again alone already also always among anybody apart around aside before behind "
    "beside besides between beyond but by else elsewhere even everybody everything here in "
    "maybe never nobody nothing on once one ones only other others over own perhaps since so "
    "somebody still such than there too twice under until whoever whole without yet".split()
)
_VERBS_IN_ED = frozenset(
    "bed bleed breed embed exceed fed feed heed indeed need proceed red seed shed shred speed "
    "succeed wed".split()
)
_CONTRACT = frozenset("abstained always closed errored failed named passed reversed sorted".split())
_RIDDLE = re.compile(r"(?:What|Whether|Where|How|Who|Whom|Whose|Why)\b")
_VAGUE = frozenset(
    "again asked found given here kept known left named ours reported said theirs there told "
    "wanted".split()
)
#: Rooms of more than one folder; every other folder, and every judge, is a room of its own.
_SHARED = {
    **dict.fromkeys(("cli", "action", "app"), "cli action app"),
    **dict.fromkeys(("report", "publishers"), "report publishers"),
    **dict.fromkeys(("git", "github"), "git github"),
    **dict.fromkeys(("agents", "journal", "calibration"), "agents journal calibration"),
    **dict.fromkeys(("judges/patterns", "rulepacks"), "patterns rulepacks"),
    **dict.fromkeys(
        [
            f"judges/{name}"
            for name in ("workspace", "files", "merged_tree", "functions", "findings")
        ],
        "judges of files",
    ),
}


class Names(NamedTuple):
    """Places of names and docstrings that have to be decoded.

    Attributes:
        odd_functions: functions whose names begin with no verb.
        riddles: docstrings of functions that begin with What, Whether, Where, How or Who.
        repeated: private names with more than three definitions.
        vague: variables that are called after what happened to them.
    """

    odd_functions: list[str]
    riddles: list[str]
    repeated: list[str]
    vague: list[str]


@cache
def parse(path: Path) -> ast.Module:
    """The tree of a module."""
    return ast.parse(path.read_text())


def count_lines() -> dict[str, int]:
    """Lines of Python by room."""
    counts = Counter[str]()
    for path in MODULES:
        counts[room_of(path)] += path.read_text().count("\n")
    return dict(sorted(counts.items()))


def room_of(path: Path) -> str:
    """The room in which a module lies."""
    parts = path.relative_to(SOURCE).parts
    if len(parts) == 1:
        return "top"
    folder = "/".join(parts[: 2 if parts[0] == "judges" and len(parts) > 2 else 1])
    return _SHARED.get(folder, folder)


def list_names() -> Names:
    """Every name and docstring that has to be decoded."""
    names, private = Names([], [], [], []), defaultdict[str, list[str]](list)
    for path in MODULES:
        for node in ast.walk(parse(path)):
            place = f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 0)}"
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                _list_function(node, place, names)
                if node.name.startswith("_") and not node.name.startswith("__"):
                    private[node.name].append(place)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                names.vague.extend([f"{place} {node.id}"] if node.id in _VAGUE else [])
    names.repeated.extend(
        f"{name}: {', '.join(places)}" for name, places in private.items() if len(places) > 3
    )
    return names


def _list_function(node: ast.FunctionDef | ast.AsyncFunctionDef, place: str, names: Names) -> None:
    if any("property" in ast.unparse(decorator) for decorator in node.decorator_list):
        return
    word = node.name.lstrip("_").split("_")[0].lower()
    participle = word in _PARTICIPLES or (word.endswith("ed") and word not in _VERBS_IN_ED)
    if not node.name.startswith("__") and word not in _CONTRACT:
        names.odd_functions.extend(
            [f"{place} {node.name}"] if participle or word in _PARTICLES else []
        )
    if _RIDDLE.match(ast.get_docstring(node) or ""):
        names.riddles.append(f"{place} {node.name}")


def count_expressions(folder: Path) -> int:
    """Regular expressions below a folder: patterns in code, and rows of its tables."""
    patterns = sum(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id in {"re", "re2"}
        and node.func.attr != "escape"
        for path in folder.rglob("*.py")
        for node in ast.walk(parse(path))
    )
    rows = (
        value for path in folder.rglob("*.json") for value in _values(json.loads(path.read_text()))
    )
    return patterns + sum(1 for key, _ in rows if key == "regexp")


def _values(document: object) -> Iterator[tuple[str, object]]:
    """Every key of a JSON document with its value, at any depth."""
    if isinstance(document, dict):
        for key, value in document.items():
            yield key, value
            yield from _values(value)
    elif isinstance(document, list):
        for value in document:
            yield from _values(value)


@cache
def read_imports() -> Mapping[str, set[str]]:
    """The modules of ours that each one imports, at start-up or later, by their names."""
    names = {
        ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts): path for path in MODULES
    }
    names = {name.removesuffix(".__init__"): path for name, path in names.items()}
    return {name: set(_imports(path, names)) - {name} for name, path in names.items()}


def draw_rooms() -> str:
    """A diagram of the packages: an arrow for an import that no longer way of arrows shows."""
    imports: dict[str, set[str]] = defaultdict(set)
    rooms = {path.name for path in SOURCE.iterdir() if (path / "__init__.py").exists()}
    for module, others in read_imports().items():
        room = module.split(".")[1] if "." in module else ""
        if room in rooms:
            imports[room] |= {name.split(".")[1] for name in others} & rooms - {room}
    lines = ["flowchart TD"]
    for room in sorted(imports):
        for other in sorted(imports[room]):
            rest = {**imports, room: imports[room] - {other}}
            if other not in _reach(room, rest):
                lines.append(f"  {room} --> {other}")
    return "\n".join(["```mermaid", *lines, "```"])


def find_circles() -> list[str]:
    """Groups of modules that import each other, at start-up or later."""
    imports = read_imports()
    names = list(imports)
    reached = {name: _reach(name, imports) for name in names}
    groups = {
        frozenset([name, *(other for other in reached[name] if name in reached[other])])
        for name in names
        if name in reached[name]
    }
    return sorted(" ".join(sorted(group)) for group in groups)


def _imports(path: Path, names: Collection[str]) -> Iterator[str]:
    """Those of the named modules that a module imports when it runs."""
    tree = parse(path)
    typing = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if node in typing:
            continue
        if isinstance(node, ast.Import):
            yield from {alias.name for alias in node.names}.intersection(names)
        elif isinstance(node, ast.ImportFrom) and node.module in names:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in names else str(node.module)


def _reach(start: str, imports: Mapping[str, set[str]]) -> set[str]:
    """Every module that importing one brings along."""
    reached, waiting = set[str](), list(imports[start])
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting.extend(imports[name])
    return reached


@cache
def measure() -> dict[str, dict[str, int]]:
    """The figures that ``house.toml`` holds, as they are now."""
    names = list_names()
    return {
        "lines": count_lines(),
        "names": {key: len(places) for key, places in names._asdict().items()},
        "counts": {
            "expressions in judges/builds": count_expressions(SOURCE / "judges" / "builds"),
        },
    }


def read_table() -> dict[str, dict[str, int]]:
    """The ceilings."""
    return tomllib.loads(TABLE.read_text())


def write_table(figures: Mapping[str, Mapping[str, int]]) -> None:
    """Write the ceilings, with what stands above the first of them."""
    head = TABLE.read_text().partition("[")[0] if TABLE.exists() else ""
    sections = [
        "\n".join([f"[{title}]", *(f'"{key}" = {number}' for key, number in rows.items()), ""])
        for title, rows in figures.items()
    ]
    TABLE.write_text(head + "\n".join(sections))


def lower_ceilings() -> None:
    """Lower each ceiling to what there is; a room that is gone loses its row."""
    now, table = measure(), read_table()
    write_table(
        {
            title: {key: min(number, table[title].get(key, 0)) for key, number in rows.items()}
            for title, rows in now.items()
        }
    )


def write_picture() -> None:
    """Put the diagram of the rooms in the place of the one in ``ARCHITECTURE.md``."""
    text = ARCHITECTURE.read_text()
    ARCHITECTURE.write_text(PICTURE.sub(lambda _: draw_rooms(), text, count=1))


if __name__ == "__main__":
    if "list" in sys.argv:
        for title, places in list_names()._asdict().items():
            print(f"\n{title} ({len(places)})", *places, sep="\n  ")
    elif "draw" in sys.argv:
        write_picture()
    else:
        lower_ceilings()
