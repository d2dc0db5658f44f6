"""The names that added lines refer to, and lines that may define them, recognised by their form.

A reference is a call, a member, what a member is taken of, a decorator, an imported name or one
with a capital, unless the change binds it itself.
"""

from __future__ import annotations

import posixpath
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

import re2
from msgspec import Struct

from prjury.code.languages import LANGUAGES, kin_of
from prjury.jury.judgment import Location
from prjury.snapshot.model import FileChange, FileKind, PullRequest

#: Words by the group of languages in which they are used.
NamesByKin: TypeAlias = Mapping[str, frozenset[str]]

_CODE = frozenset({FileKind.SOURCE, FileKind.TEST})
#: A longer line is data.
LONGEST_LINE = 1_000

#: Shorter names are too common to say anything.
WORD = r"[A-Za-z_]\w{2,}"
_NAME = r"\b[A-Za-z_]\w*"
_DEFINING = (
    "def|class|fn|func|fun|function|const|let|var|val|type|struct|enum|union|interface|trait|record"
    "|object|mod|module|namespace|macro_rules!|typedef|cdef|cpdef|ctypedef|annotation|@interface"
    r"|#[ \t]*define"
)
#: The same in Swift, Dart and C#.
_DEFINING_MORE = "protocol|actor|typealias|mixin|extension|delegate"
#: Blanks on one line; `\s` would run on over any number of empty lines, again and again.
_S = r"[ \t]"
_REFERENCES = re.compile(
    rf"(?:(?:\.|::|->){_S}?|@)({WORD})"  # a member, a decorator
    rf"|\b({WORD})(?={_S}?[(.]|::|->)"  # a call, and what a member is taken of
    r"|\b([A-Z]\w{2,})\b"
    rf"|^{_S}*from{_S}+[\w.]+{_S}+import{_S}+(.+)$"
    rf"|^{_S}*import{_S}+(.+)$",
    re.MULTILINE,
)
_BINDINGS = (
    re.compile(
        rf"(?<!\w)(?:{_DEFINING}|{_DEFINING_MORE}|as|for|package|catch|except){_S}+\(?({WORD})"
    ),
    re.compile(rf"(?<!\.)\b({WORD}){_S}*(?::[^=\n()]{{0,80}})?=(?![=>])"),
    re.compile(rf"\b({WORD}){_S}*:="),
    re.compile(rf"^{_S}*({_NAME}(?:{_S}*,{_S}*{_NAME})+){_S}*(?::?=)(?!=)", re.MULTILINE),
    re.compile(rf"\bfor{_S}+\(?({_NAME}(?:{_S}*,{_S}*\(?{_NAME})*)\)?{_S}+in\b"),
    re.compile(rf"\b(?:def|func|fun|fn|function)\b{_S}?\w*{_S}?\(([^)]{{0,2000}})\)"),
    re.compile(rf"\blambda{_S}+([^:\n]{{0,200}}):"),
    re.compile(rf"\bfunc{_S}+\([^)\n]*\){_S}+({WORD})"),
)
_NO_TYPES = frozenset(
    "return new throw await yield else case in is not and or if elif import from assert del raise"
    " instanceof typeof goto package extends implements throws do while go defer".split()
)
#: A type and a name behind it, in languages that declare so.
_TYPED = re.compile(
    rf"(?<![\w>\]?])(?!(?:{'|'.join(_NO_TYPES)}){_S})[\w>\]?]+{_S}+[*&]*({WORD}){_S}*(?=[=;,):(\[])"
)
#: Keys, members and parameters with their types.
_KEYED = re.compile(
    rf"(?:^|[{{(,]){_S}*(?:(?:readonly|pub|mut){_S}+)*({WORD})\??{_S}*:(?!:)", re.MULTILINE
)
_METHOD = re.compile(
    rf"^{_S}+(?:(?:async|static|get|set|public|private|protected){_S}+)*({WORD})"
    rf"\([^{{\n]*\{{{_S}*$",
    re.MULTILINE,
)
#: By kin, besides those.
_BINDINGS_OF: Mapping[str, Sequence[re.Pattern[str]]] = {
    # Elsewhere a member has to be declared before anything is assigned to it.
    "python": (re.compile(rf"\.({WORD}){_S}*(?::[^=\n()]{{0,80}})?=(?!=)"), _KEYED),
    "jvm": (_TYPED, _KEYED),
    "dart": (_TYPED, _KEYED),
    "script": (_KEYED, _METHOD),
    "rust": (_KEYED,),
    "swift": (_KEYED,),
    **dict.fromkeys(("c", "go", "dotnet"), (_TYPED,)),
}
_KEYWORDS = frozenset(
    "and assert async await break case class const continue def del elif else enum except extends"
    " finally for from func function global impl implements import instanceof interface lambda let"
    " new not package pass raise return self static struct super switch this throw throws trait try"
    " type typeof use var void while with yield True False None true false null undefined nil Self"
    " String Integer Object List Map Set Optional Boolean Promise Array Error Exception".split()
)


def find_unbound_added_names(pull: PullRequest) -> NamesByKin:
    texts: dict[str, list[str]] = {}
    for file in code_files(pull):
        lines = [line.text for line in file.added_lines if len(line.text) <= LONGEST_LINE]
        texts.setdefault(kin_of(file.path) or "", []).extend(lines)
    joined = {kin: "\n".join(parts) for kin, parts in texts.items()}
    bound = {word for kin, text in joined.items() for word in _find_bound(kin, text)}
    return {kin: frozenset(find_referred_words(text)) - bound for kin, text in joined.items()}


def code_files(pull: PullRequest) -> Iterator[FileChange]:
    return (
        file for file in pull.files if file.kind in _CODE and file.new_blob and kin_of(file.path)
    )


def find_referred_words(text: str) -> set[str]:
    """The words that lines refer to, bound there or not."""
    spellings: set[str] = set()
    for groups in _REFERENCES.findall(text):
        *words, python, other = groups
        spellings.update(filter(None, words))
        spellings.update(re.findall(WORD, python or other))
    return spellings - _KEYWORDS


def is_from_stdlib(kin: str | None, line: str, word: str) -> bool:
    """Return true if the line takes the word from a module of Python's own, as in ``os.path.x``."""
    if kin != "python":
        return False
    chains = re.findall(rf"(?<![\w.])(?:(\w+)\.(?:\w+\.)*)?{word}\b", line)
    return all(chain in sys.stdlib_module_names for chain in chains)


def _find_bound(kin: str, text: str) -> Iterator[str]:
    for pattern in (*_BINDINGS, *_BINDINGS_OF.get(kin, ())):
        for names in pattern.findall(text):
            yield from re.findall(WORD, names)


def find_added_uses(pull: PullRequest, names: Iterable[str]) -> dict[str, list[Location]]:
    places: dict[str, list[Location]] = {word: [] for word in names}
    for file in code_files(pull):
        for line in file.added_lines:
            if line.new and len(line.text) <= LONGEST_LINE:
                for word in places.keys() & find_referred_words(line.text):
                    places[word].append(Location(file.path, line.new))
    return places


def words_of(content: bytes) -> set[str]:
    return set(re.findall(WORD, content.decode("utf-8", "replace")))


#: So many bytes of a line are looked at before a name, and behind it.
_LONGEST = 300
#: So many places are reported of one word in one file.
_MOST = 3
#: So many words fit into a pattern that stays fast.
_AT_ONCE = 300

_ASSIGNED = r"\s*(?::[^=]*)?=[^=]"
_MODIFIERS = (
    "public|private|protected|static|final|readonly|volatile|pub|abstract|override|internal"
    "|extern|const|inline|default|synchronized|native|declare|export|async|get|set"
)
#: Types, modifiers and annotations before a name.
_TYPES = r"[ \t]*(?:[\w.<>\[\],?&*@:]+[ \t]+)+[*&]*"


#: The text on the line before a name, and what begins behind it.
_Form: TypeAlias = tuple[re.Pattern[str], re.Pattern[str]]


def _form(before: str, behind: str = "") -> _Form:
    return re.compile(before), re.compile(behind)


_ANYWHERE = (
    _form(rf"(?:.*[^\w.])?(?:{_DEFINING})[ \t]+"),
    _form(r"(?:.*\W)?(?:self|this|cls|exports|prototype)\.", _ASSIGNED),
    _form(r"(?:export )?", _ASSIGNED),
)
_METHOD_FORM = _form(_TYPES, r"\s*\(")
_FIELD_FORM = _form(
    rf"[ \t]*(?:(?:{_MODIFIERS})[ \t]+)+(?:[\w.<>\[\],? ]+[ \t]+)?", r"\s*[=;:?(,{{]|$"
)
#: By kin, besides those.
_FORMS: Mapping[str, Sequence[_Form]] = {
    "python": (_form(r"    ", rf"\s*:[^=]*$|{_ASSIGNED}"), _METHOD_FORM),
    "jvm": (_METHOD_FORM, _FIELD_FORM, _form(r"[ \t]+", r"(?<=[A-Z0-9_])\s*(?:[,;(]|$)")),
    "script": (_FIELD_FORM, _form(r"[ \t]+", r"(?:<[^>]*>)?\(.*\{\s*$|\??:[^,]*;\s*$")),
    "go": (_form(r"func \([^)]*\) "), _form(r"\t+", r"[ \t]+[\w*\[]|\(.*\)|$")),
    "rust": (_FIELD_FORM, _form(r"[ \t]+", r"\s*(?:[,({]|:(?!:)).*")),
    "dotnet": (_form(r"(?:.*[^\w.])?(?:delegate|event)[ \t]+"), _METHOD_FORM, _FIELD_FORM),
    "swift": (_form(r"(?:.*[^\w.])?(?:protocol|actor|typealias|case)[ \t]+"),),
    "dart": (_form(r"(?:.*[^\w.])?(?:mixin|extension)[ \t]+"), _METHOD_FORM, _FIELD_FORM),
    "c": (_METHOD_FORM, _form("", r"\s*\("), _form(r"[ \t]+", r"\s*(?:,|=[^=]|$)")),
}


def guess_def_lines(kin: str, words: Sequence[str], content: bytes) -> Iterator[tuple[str, int]]:
    """Word and line, from 1, of the first places of each word that look like a definition."""
    seen: Counter[bytes] = Counter()
    for at in range(0, len(words), _AT_ONCE):
        pattern = re2.compile(rf"\b(?:{'|'.join(words[at : at + _AT_ONCE])})\b".encode())
        for match in pattern.finditer(content):
            if seen[match[0]] < _MOST and _looks_like_definition(kin, content, *match.span()):
                seen[match[0]] += 1
                yield match[0].decode(), content.count(b"\n", 0, match.start()) + 1


def _looks_like_definition(kin: str, content: bytes, start: int, end: int) -> bool:
    begin = content.rfind(b"\n", max(0, start - _LONGEST), start) + 1
    if not begin and start > _LONGEST:
        return False
    stop = content.find(b"\n", end, end + _LONGEST)
    before = content[begin:start].decode("utf-8", "replace")
    behind = content[end : stop if stop >= 0 else end + _LONGEST].decode("utf-8", "replace")
    words = before.split()
    if words and words[0] in _NO_TYPES:
        return False
    forms = (*_ANYWHERE, *_FORMS.get(kin, ()))
    return any(head.fullmatch(before) and tail.match(behind) for head, tail in forms)


_PYTHON_FROM = re.compile(r"\s*(?:from|cimport)\s+(\.*)([\w.]*)\s+c?import\b")
_PYTHON_IMPORT = re.compile(
    r"\s*import\s+([\w.]+(?:\s+as\s+\w+)?(?:\s*,\s*[\w.]+(?:\s+as\s+\w+)?)*)"
)
_JVM = re.compile(r"\s*import\s+(?:static\s+)?([\w.]+)(?:\.\*)?(?: as \w+)?[ ;\t]*$")
_SCRIPT = re.compile(r"""(?:\bfrom|\bimport|\brequire\(|\bimport\()\s*['"](\.[^'"]*)['"]""")
_RUST = re.compile(r"\s*(?:pub(?:\([\w ]+\))?\s+)?use\s+crate::([\w:]+)")
_GO = re.compile(r"""\s*(?:import\s+)?(?:[\w.]+\s+)?"([\w./~-]+)"\s*(?://.*)?""")
_SUFFIXES = {
    kin: [suffix for each in LANGUAGES.values() if each.kin == kin for suffix in each.suffixes]
    for kin in ("jvm", "script")
}
_SCRIPT_FORMS = (*_SUFFIXES["script"], ".d.ts")
#: The endings of files that a module may be, by kin.
_ENDS: Mapping[str, Sequence[str]] = {
    "python": (".py", ".pyi", ".pyx", ".pxd", "/__init__.py", "/__init__.pyi", "/__init__.pxd"),
    "jvm": _SUFFIXES["jvm"],
    "script": ("", *_SCRIPT_FORMS, *(f"/index{form}" for form in _SCRIPT_FORMS)),
    "go": ("/*.go",),
    "rust": (".rs", "/mod.rs"),
}
#: Where packages of one part stand in a repository.
_ROOTS = ("", "src/", "lib/")

#: A module's name, and its paths but for their endings: ``/a/b`` may stand in any directory.
_Module: TypeAlias = tuple[str, Sequence[str]]
#: Directories by the names of modules.
_GoModules: TypeAlias = Mapping[str, str]


class ImportTarget(Struct, frozen=True):
    """An import as it is written, and files that it may stand for, in any directory with ``/``.

    ``a/*.go`` is any of Go.
    """

    name: str
    at: Location
    paths: tuple[str, ...]


class TreePaths(Struct, frozen=True):
    """The paths of a tree, and by the last part of each."""

    paths: Mapping[str, str]
    by_name: Mapping[str, Sequence[str]]

    @classmethod
    def of(cls, paths: Sequence[str]) -> TreePaths:
        whole = {path: path for path in paths}
        by_name: dict[str, list[str]] = defaultdict(list)
        for path in paths:
            folder, _, name = path.rpartition("/")
            by_name[name].append(path)
            if name.endswith(".go"):
                whole.setdefault(f"{folder}/*.go", path)
        return cls(whole, by_name)

    def find_file(self, wanted: ImportTarget) -> str | None:
        for end in wanted.paths:
            if end in self.paths:
                return self.paths[end]
            for path in self.by_name.get(end.rpartition("/")[2], ()) if end[:1] == "/" else ():
                if f"/{path}".endswith(end):
                    return path
        return None


def list_import_targets(pull: PullRequest, go_modules: _GoModules) -> Iterator[ImportTarget]:
    """The imports of the change's added lines that stand for paths, by Go modules' directories."""
    for file in code_files(pull):
        kin = kin_of(file.path) or ""
        for line in file.added_lines if kin in _READERS else ():
            if line.new and len(line.text) <= LONGEST_LINE:
                at = Location(file.path, line.new)
                for name, stems in _READERS[kin](line.text, file.path, go_modules):
                    paths = tuple(stem + end for stem in stems for end in _ENDS[kin])
                    yield ImportTarget(name, at, paths)


def _read_go_import(line: str, _path: str, modules: _GoModules) -> Iterator[_Module]:
    if match := _GO.fullmatch(line):
        for name, folder in modules.items():
            if match[1].startswith(f"{name}/"):
                inner = match[1].removeprefix(f"{name}/")
                yield match[1], [posixpath.join(folder, inner)]


def _read_python_import(line: str, path: str, _modules: _GoModules) -> Iterator[_Module]:
    if (match := _PYTHON_FROM.match(line)) and match[1]:
        dots, module = match[1], match[2]
        if parts := [part for part in module.split(".") if part]:
            up = [".."] * (len(dots) - 1)
            yield dots + module, [_resolve(path, *up, *parts)]
        return
    imported = None if match else _PYTHON_IMPORT.match(line)
    names = [match[2]] if match else imported[1].split(",") if imported else []
    for name in names:
        parts = [part for part in name.split(" as ")[0].strip().split(".") if part]
        if len(parts) > 1:
            yield ".".join(parts), ["/".join(["", *parts])]
        elif parts:
            yield parts[0], [root + parts[0] for root in _ROOTS]


def _resolve(path: str, *parts: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), *parts))


def _read_jvm_import(line: str, _path: str, _modules: _GoModules) -> Iterator[_Module]:
    match = _JVM.match(line)
    parts = match[1].split(".") if match else []
    first = next((n for n, part in enumerate(parts) if part[:1].isupper()), None)
    if first:
        yield ".".join(parts[: first + 1]), ["/".join(["", *parts[: first + 1]])]


def _read_script_import(line: str, path: str, _modules: _GoModules) -> Iterator[_Module]:
    for name in _SCRIPT.findall(line):
        stem = _resolve(path, name)
        yield name, list(dict.fromkeys([stem, re.sub(r"\.[cm]?jsx?$", "", stem)]))


def _read_rust_import(line: str, path: str, _modules: _GoModules) -> Iterator[_Module]:
    match = _RUST.match(line)
    root, src, _ = f"/{path}".rpartition("/src/")
    parts = match[1].split("::") if match and src else []
    modules = [part for part in parts if part and part == part.lower()]
    base = f"{root}/src".removeprefix("/")
    # The last part may be a function or a macro in the module before it.
    stems = ["/".join([base, *some]) for some in (modules, modules[:-1]) if some]
    if stems:
        yield f"crate::{'::'.join(modules)}", stems


_READERS: Mapping[str, Callable[[str, str, _GoModules], Iterator[_Module]]] = {
    "go": _read_go_import,
    "python": _read_python_import,
    "jvm": _read_jvm_import,
    "script": _read_script_import,
    "rust": _read_rust_import,
}
