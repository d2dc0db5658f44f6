"""What files of a project take from outside of it by relative paths, as far as texts tell. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from string import ascii_letters, digits
from typing import TypeAlias

from prjury.judges.builds.systems.makefile import included_words, wanders
from prjury.judges.builds.systems.manifest import read_json, read_toml, table
from prjury.judges.builds.systems.source_tree import Changes, SourceTree, joined, parent_of

#: Places outside of a part of the tree that it takes something from, from the root of the tree.
Taken: TypeAlias = Callable[[SourceTree], frozenset[str]]
#: From a file and its text to such places.
Named: TypeAlias = Callable[[SourceTree, str, str], Iterator[str]]

#: With more files than this to read nobody looks: anything may be taken.
_MOST_READ = 2_000
_ANYTHING = frozenset({""})
#: Directories with code of others.
_ASIDE = frozenset({"node_modules", "vendor", "third_party", "site-packages"})

_UPWARDS = re.compile(r"(?<![\w.])\.\.(?![\w.])")
_LONGEST = 200
_AFTER = re.compile(r"[\w.@/-]{0,200}")
_IN_PATHS = f"{ascii_letters}{digits}_.@/-"
_SEPARATE = re.compile(r"[\"'`]\s{0,20},\s{0,20}[\"'`]")

_NODE = re.compile(r"(?:package|[tj]sconfig[\w.-]*)\.json|.*\.(?:[cm]?[jt]sx?|vue|svelte|astro)")
_MAKEFILE = re.compile(r"(?:GNUm|m|M)akefile|.*\.(?:mk|make)")
_IN_C = re.compile(r".*\.(?:c|cc|cpp|cxx|h|hh|hpp|hxx|inc|m|mm|s|S)")
_PYTHON_SETTINGS = re.compile(
    r"pytest\.ini|setup\.cfg|tox\.ini|tox\.toml|pyproject\.toml|Pipfile|"
    r".*(?:requirements|constraints).*\.(?:txt|in)|.*/requirements/.*\.(?:txt|in)"
)
#: The dependencies of a package, of whatever kind.
_DECLARED = ("dependencies", "Dependencies")
_CLIMBING = re.compile(r"\.parent\b|\bdirname\b|\bpardir\b|(?<![\w.])\.\.(?![\w.])")
_PARENTS = re.compile(r"\.parents\[(\d{1,2})\]")


def no_references(_root: SourceTree) -> frozenset[str]:
    """What projects take that name all they need in their manifests."""
    return frozenset()


def node_references(root: SourceTree) -> frozenset[str]:
    """What sources, scripts and settings of TypeScript name."""
    return _taken(root, _is_of_node, _node_places)


def python_references(root: SourceTree) -> frozenset[str]:
    """What settings and requirements name, and where sources look for modules."""
    return _taken(root, _is_python, _python_places)


def make_references(root: SourceTree) -> frozenset[str]:
    """What Makefiles and sources in C name; anything where a Makefile is not plain."""
    if not root.place:
        return frozenset()
    paths = [path for path in root.files if _MAKEFILE.fullmatch(path.rpartition("/")[2])]
    texts = [root.text(path) for path in paths[:_MOST_READ]]
    away = any("$" in word or ".." in word for text in texts for word in included_words(text))
    if away or wanders(texts) or len(paths) > _MOST_READ:
        return _ANYTHING
    return _taken(root, _is_of_make, named_places)


def _is_of_make(path: str) -> bool:
    name = path.rpartition("/")[2]
    return bool(_MAKEFILE.fullmatch(name) or _IN_C.fullmatch(name))


def _is_of_node(path: str) -> bool:
    return _NODE.fullmatch(path.rpartition("/")[2]) is not None


def _node_places(root: SourceTree, path: str, text: str) -> Iterator[str]:
    """What dependencies name the manifest declares, so that it is known already."""
    manifest = read_json(text) if path.endswith("package.json") else None
    if manifest:
        text = json.dumps({key: manifest[key] for key in manifest if not key.endswith(_DECLARED)})
    yield from named_places(root, path, text)


def _is_python(path: str) -> bool:
    return (
        path.endswith(".py")
        or _PYTHON_SETTINGS.fullmatch(path) is not None
        or (_PYTHON_SETTINGS.fullmatch(path.rpartition("/")[2]) is not None)
    )


def _taken(root: SourceTree, wanted: Callable[[str], object], named: Named) -> frozenset[str]:
    if not root.place:
        return frozenset()
    paths = [path for path in root.files if wanted(path) and _ASIDE.isdisjoint(path.split("/"))]
    if len(paths) > _MOST_READ:
        return _ANYTHING
    return frozenset(place for path, text in root.texts(paths) for place in named(root, path, text))


def named_places(root: SourceTree, path: str, text: str) -> Iterator[str]:
    """The places outside that a file names, as seen from its own directory."""
    home = joined(root.place, parent_of(path)) or ""
    for relative in upward_paths(text):
        target = joined(home, relative)
        if target is not None and not _is_in(target, root.place):
            yield beside(root.place, target)


def upward_paths(text: str) -> Iterator[str]:
    """Every path in a text with a part ``..``; parts that are handed over one by one are joined."""
    plain = _SEPARATE.sub("/", text) if ".." in text else ""
    end = 0
    for match in _UPWARDS.finditer(plain):
        if match.start() < end:
            continue
        after = _AFTER.match(plain, match.end())
        window = plain[max(end, match.start() - _LONGEST) : match.start()]
        before = window[len(window.rstrip(_IN_PATHS)) :]
        end = after.end() if after else match.end()
        found = before + plain[match.start() : end]
        # what stands before may be a variable or the root of a machine: nobody knows where that is
        yield found.lstrip("/")


def beside(place: str, target: str) -> str:
    """The outermost directory or file around a target that does not hold the place as well.

    What a project takes from there may need what lies beside it. It is the target itself where
    that holds the place.
    """
    own, others = place.split("/") if place else [], target.split("/") if target else []
    shared = 0
    while shared < min(len(own), len(others)) and own[shared] == others[shared]:
        shared += 1
    return "/".join(others[: shared + 1])


def _python_places(root: SourceTree, path: str, text: str) -> Iterator[str]:
    if not path.endswith(".py"):
        settings = _undeclared(text) if path.endswith("pyproject.toml") else text
        yield from named_places(root, path, settings)
    elif "sys.path" in text or "addsitedir" in text:
        inside = path.count("/") if "__file__" in text else 0
        ups = _climbed(text)
        if ups > inside:
            yield "/".join(root.place.split("/")[: -(ups - inside)])


def _undeclared(text: str) -> str:
    """A manifest without its dependencies, which are known already."""
    document = read_toml(text)
    if document is None:
        return text
    table(document, "tool", "uv").pop("sources", None)
    poetry = table(document, "tool", "poetry")
    for key in ("dependencies", "dev-dependencies", "group"):
        poetry.pop(key, None)
    return json.dumps(document, default=str)


def _climbed(text: str) -> int:
    """How many directories a source climbs at most; the first step only leaves the file itself."""
    steps = len(_CLIMBING.findall(text))
    steps += sum(1 + int(number) for number in _PARENTS.findall(text))
    return steps - bool(re.search(r"\.parents?\b|\bdirname\b", text))


def _is_in(path: str, directory: str) -> bool:
    return path == directory or path.startswith(f"{directory}/")


def changes_in(changes: Changes, place: str, but: str) -> bool:
    """Whether something changes in a directory, or a file itself, but not in the one below it."""
    paths = changes.outside([but] if but else []).paths
    return any(not place or _is_in(path, place) for path in paths)
