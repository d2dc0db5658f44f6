"""Which names an import makes known in its file, language by language.

Told from the text alone: what a wildcard brings nobody can tell from it, and so it stands for any.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

#: Stands for names that cannot be told.
ANY = "*"
#: Names, and for those that several lines may share what they stand for; ``""`` for all others.
Bound: TypeAlias = Mapping[str, str]

_REMARK = re.compile(r"\s*//.*")
_HASH_REMARK = re.compile(r"\s*(?:#|//).*")
_CLAUSE = re.compile(r"(?:import|const|let|var) (?:type )?(.*?)(?: from |=)")
_GO_IMPORT = re.compile(r'(?:([\w.]+) )?"([^"]+)"')
_GO_MAJOR = re.compile(r"[/.]v\d+$")
_GO_AFFIX = re.compile(r"^go[-.]|[-.]go$")
_RUST_TOKEN = re.compile(r"[\w:*]+(?: as \w+)?|[{}]")


def nothing(_text: str) -> Bound:
    """Imports that open a module or a file and give no name to it."""
    return {}


def dotted(text: str) -> Bound:
    """Java, Kotlin, Groovy and Swift: the last part of the path, or the name behind ``as``."""
    words = _REMARK.sub("", text).rstrip(" ;").split()
    if "module" in words[1:-1]:
        return {ANY: ""}
    return _plain([words[-1].rpartition(".")[2]])


def scala(text: str) -> Bound:
    """Scala: as `dotted`, and lists in braces."""
    path, brace, names = _REMARK.sub("", text).partition("{")
    if not brace:
        return _plain(_scala_name(path.rpartition(".")[2]))
    return _plain(name for part in names.strip("} ").split(",") for name in _scala_name(part))


def _scala_name(part: str) -> Iterator[str]:
    old, *new = re.split(r" => | as ", part.strip())
    name = new[-1] if new else old
    if name in {"_", "*", "given"}:
        if not new:
            yield ANY
    elif name:
        yield name


def python(text: str) -> Bound:
    """Python; several lines may import modules of one package, which is known by its own name."""
    text = _HASH_REMARK.sub("", text).strip()
    if text.startswith("from "):
        return _plain(_last(part, " as ") for part in _parts(text.partition(" import ")[2], "()"))
    parts = list(_parts(text.removeprefix("import "), ""))
    packages = {part.partition(".")[0] for part in parts if " as " not in part}
    aliases = (_last(part, " as ") for part in parts if " as " in part)
    return {package: f"import {package}" for package in packages} | _plain(aliases)


def script(text: str) -> Bound:
    """JavaScript and TypeScript."""
    clause = _CLAUSE.match(text)
    if clause is None:
        return {}
    parts = (part.strip() for part in re.split(r"[{},]", clause[1]))
    return _plain(re.split(r" as |: ?", part)[-1].removeprefix("type ") for part in parts if part)


def go(text: str) -> Bound:
    """Go: the alias, or what the package is called by its path as far as that tells."""
    found = _GO_IMPORT.search(text.removeprefix("import ").lstrip("( \t"))
    if found is None or found[1] == "_":
        return {}
    last = _GO_MAJOR.sub("", found[2]).rpartition("/")[2]
    return _plain([{".": ANY}.get(found[1], found[1]) if found[1] else _GO_AFFIX.sub("", last)])


def rust(text: str) -> Bound:
    """Rust: the leaves of the tree; ``self`` is the module in whose braces it stands."""
    text = re.sub(r"^(use|extern crate) ", "", _REMARK.sub("", text).strip())
    names: list[str] = []
    parents, module = [""], ""
    for piece in _RUST_TOKEN.findall(text):
        if piece == "{":
            parents.append(module)
        elif piece == "}":
            parents = parents[:-1] or [""]
        elif piece.endswith("::"):
            module = piece.removesuffix("::").rpartition("::")[2]
        else:
            name = _last(piece, " as ").rpartition("::")[2]
            names.append(parents[-1] or ANY if name == "self" else name)
    return _plain(name for name in names if name != "_")


def c_sharp(text: str) -> Bound:
    """C#: aliases; a namespace that is opened gives no name."""
    alias = re.search(r"using (\w+) =", text)
    return _plain([alias[1]] if alias else [])


def php(text: str) -> Bound:
    """PHP, where names of classes and functions are the same in any case."""
    path, brace, names = _HASH_REMARK.sub("", text).partition("{")
    parts = names.strip("}; ").split(",") if brace else [path.rstrip("; ")]
    return _plain(
        re.split(r" as |\\| ", part.strip())[-1].lower() for part in parts if part.strip()
    )


def dart(text: str) -> Bound:
    """Dart: the prefix, or the names that are shown."""
    if prefix := re.search(r" as (\w+)", text):
        return _plain([prefix[1]])
    shown = re.search(r" show (\w+(?:, \w+)*)", text)
    return _plain(shown[1].split(", ") if shown else [])


def _plain(names: Iterable[str]) -> dict[str, str]:
    return dict.fromkeys(names, "")


def _parts(text: str, enclosing: str) -> Iterator[str]:
    return (part.strip() for part in text.strip(f"{enclosing} ").split(",") if part.strip())


def _last(text: str, separator: str) -> str:
    return text.rpartition(separator)[2]
