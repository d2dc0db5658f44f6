"""A modest reader of Gradle builds: what cannot be read off the text is unknown, never guessed."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import re2
from msgspec import Struct, field, structs

from prjury.code.languages import LANGUAGES
from prjury.code.source import Source, blank, find_comment_ranges
from prjury.manifests.manifest import Coordinate, Manifest, Role, runtime
from prjury.manifests.syntax import load_toml, table, text_of

_PLUGIN = re2.compile(
    r"""\b(id|kotlin)\s*\(?\s*["']([\w.-]+)["']\s*\)?\s*version\s*\(?\s*"""
    r"""(?:["']([^"'\n]*)["']|([A-Z]\w*(?:\.\w+)+))"""
)
_NOTATION = re2.compile(
    r"""(\b(?:platform|enforcedPlatform|mavenBom)\s*\(?\s*)?["']([\w.-]+):([\w.-]+)"""
    r"""(?::([^"'@:\n]*))?(?:[@:][^"'\n]*)?["']"""
)
_NAMED = re2.compile(
    r"""\bgroup\s*[:=]\s*["']([\w.-]+)["']\s*,\s*name\s*[:=]\s*["']([\w.-]+)["']"""
    r"""(?:\s*,\s*version\s*[:=]\s*(?:["']([^"'\n]*)["']|([A-Za-z_][\w.]*)))?"""
)
#: Kotlin's notation in separate arguments, of which the version may be a variable.
_ARGUMENTS = re2.compile(
    r"""(?i)\b(?:\w*(?:implementation|api|compileOnly|runtimeOnly|annotationProcessor)"""
    r"""|(?:test)?(?:compile|runtime)|classpath|kapt\w*|ksp\w*|dependency)"""
    r"""\s*\(\s*["']([\w.-]+)["']\s*,\s*["']([\w.-]+)["']"""
    r"""(?:\s*,\s*(?:["']([^"'\n]*)["']|([A-Za-z_]\w*)))?\s*\)"""
)
#: ``libs.x.y``, of a catalog or map of whatever name, and what plugins look up by its own name.
_ALIAS = re2.compile(
    r"""(\b(?:platform|enforcedPlatform|mavenBom)\s*\(?\s*)?"""
    r"""\b([A-Za-z_]\w*)(?:\.findLibrary\(["']([\w.-]+)["']\)|((?:\.[A-Za-z_]\w*)+)"""
    r"""|\[["']([\w.-]+)["']\])"""
)
#: What maps and objects are made of: a bracket that opens and its name, a text, one that closes.
_MAP = (
    r"""\b(?:object|class|interface)\s+(\w+)[^{}\n]{0,99}\{"""
    r"""|(?:(?:["']([\w.-]+)["']|(?<![\w.])([A-Za-z_][\w.]*))\s*(?:\+?=|:)\s*)?"""
    r"""(?:([\[{])|["']([^"'\n]*)["'])|([\]}])"""
)
_DEEPEST = 9
_LIBRARY = re2.compile(r"([\w.-]+):([\w.-]+)(?::([^@:\s]+))?(?:[@:]\S*)?")
_CATALOGS = "versionCatalogs"
#: The name of a catalog that a ``settings.gradle`` describes itself, one of its entries, or a part
#: of the version of the entry before.
_DESCRIBED = re2.compile(
    r"""(?m)(?:^\s*|\b(?:create|register)\s*\(\s*["'])(\w+)(?:["']\s*\))?\s*\{"""
    r"""|\b(version|library|plugin|bundle|strictly|require|prefer)\b((?:\$\{|[^{\n])*)"""
)
#: Breaks inside of a call, or before what is called on its result.
_BREAK = re2.compile(r"\s*\n\s*([.)\]])|([(\[,])\s*\n\s*")
_TEXT = r"""["']([^"'\n]*)["']"""
#: A block in which a script speaks for the projects below it, any other block, and an end of one.
_BLOCK = (
    r"(\b(?:subprojects|allprojects|configure\s{0,9}\((?!\W{0,9}(?:listOf\W)?(?:rootP|p)roject\s*[()\"'])"
    r"[^{}\n]{0,99}\))\s{0,99})?\{|\}"
)
#: ``libs.versions.x.get()``, and that as a part of a text.
_CATALOG_VERSION = re2.compile(
    r"""\$\{([a-z]\w*\.versions\.[\w.]+?)(?:\.get\(\))?\}"""
    r"""|\b([a-z]\w*\.versions\.[\w.]+?)\.get\(\)"""
    r"""|\b([a-z]\w*)\.findVersion\(["']([\w.-]+)["']\)\.get\(\)(?:\.\w+(?:\(\))?)?"""
)
#: A plugin without a version: perhaps a script of the build's own that is applied by its name.
_APPLIED = re2.compile(
    r"""\bid\s*\(?\s*["']([\w.-]+)["']|\bapply\s*\(?\s*plugin\s*[:=]\s*["']([\w.-]+)["']"""
    r"""|(?m:^\s*`([\w.-]+)`\s*$)"""
)
_KOTLIN = "org.jetbrains.kotlin"
#: Ways to name the release of Java whose interfaces code may use; the earlier ones say more.
_JAVA = [
    re2.compile(rf"{pattern}[\"']?([0-9]+(?:[._][0-9]+)?)")
    for pattern in (
        r"\brelease(?:\.set\s*\(|\s*=)\s*",
        r"\bsourceCompatibility(?:\.set\s*\(|\s*=|\s)\s*(?:JavaVersion\.VERSION_)?",
        r"\bJavaLanguageVersion\.of\s*\(\s*",
        r"\bjvmToolchain\s*\(\s*",
    )
]
_DISTRIBUTION = re2.compile(
    r"(?m)^\s*distributionUrl\s*[=:].*/gradle-([0-9][\w.-]*?)-(?:bin|all)\.zip"
)
_VARIABLE = re2.compile(r"""(?:["']([\w.-]+)["']\s*\]|\b(\w+))\s*=\s*["']([\w.+-]+)["']""")
#: A project of the same build, or a platform whose managed versions hold for this one.
_PROJECT = re2.compile(
    r"""(\b(?:platform|enforcedPlatform)\s*\(?\s*)?\b(?:project\s*\(\s*(?:path\s*[:=]\s*)?"""
    r"""["']:([\w.:-]+)["']|projects\.([A-Za-z]\w*(?:\.[A-Za-z]\w*)*))"""
)
#: Configurations of what is not for tests: what code is compiled with, and what of it is handed on.
COMPILED = re.compile(r"(?!.*[tT]est)\w*(?:[iI]mplementation|[aA]pi|[cC]ompile(?:Only)?)")
EXPORTED = re.compile(r"(?!.*[tT]est)\w*(?:[aA]pi|[cC]ompile)")
#: The word with which a line begins: a configuration, such as ``testImplementation``.
_FIRST_WORD = re.compile(r"\s*([\w.]+)")
_OWN_VERSION = re2.compile(r"""(?m)^[ \t]*version(?:[ \t]*[=:]|[ \t])[ \t]*["']?([0-9][\w.+-]*)""")
_PROPERTY = re2.compile(r"(?m)^[ \t]*([\w.-]+)[ \t]*[=:][ \t]*([^\s#]+)")


class Catalog(Struct, frozen=True):
    """Libraries, plugins and bundles by ``libs.alias``, versions by ``libs.versions.name``."""

    entries: Mapping[str, tuple[Coordinate, ...]] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)

    def join(self, other: Catalog) -> Catalog:
        return Catalog({**self.entries, **other.entries}, {**self.versions, **other.versions})

    def fill_versions(self, text: str) -> str:
        """Put versions in where a script asks for them by name."""

        def find_text(match: re.Match[str]) -> str:
            inner, bare, name, key = match.groups()
            version = self.versions.get(inner or bare or f"{name}.versions.{_alias(key)}")
            return match[0] if version is None else version if inner else f'"{version}"'

        return str(_CATALOG_VERSION.sub(find_text, text)) if self.versions else text


def read_script(text: str, catalog: Catalog) -> Manifest:
    """Read what a script or a ``gradle.properties`` declares, by what ``libs.alias`` stands for."""
    source = Source.of(catalog.fill_versions(text), LANGUAGES["gradle"])
    code = blank_comments(source.text)
    properties = {
        match[1]: match[2] for match in _PROPERTY.finditer(code) if match[2][0] not in "\"'"
    }
    properties |= {match[1] or match[2]: match[3] for match in _VARIABLE.finditer(code)}
    texts = list(_list_names_texts_offsets(code))
    properties |= {name: value for name, value, _ in texts if ":" not in value}
    managed_offsets = {at for _, _, at in texts}
    start = len(code.partition(_CATALOGS)[0])
    managed_offsets |= {match.start(2) for match in _NOTATION.finditer(code, start)}
    shared = _find_shared_lines(source, code)
    declared = tuple(
        replace(each, for_all=not shared.isdisjoint(each.lines))
        for each in _list_plugins_and_dependencies(source, code, catalog, managed_offsets)
    )
    runtimes = tuple(_list_runtimes(source, code, declared))
    own = _OWN_VERSION.search(code)
    return Manifest(
        coordinates=(*declared, *runtimes),
        properties=properties,
        own_version=own[1] if own else None,
        applied=(
            *(next(filter(None, match.groups())) for match in _APPLIED.finditer(code)),
            *(each.group for each in declared if each.role is Role.PLUGIN),
        ),
        projects=tuple(
            Coordinate(
                "",
                match[2] or match[3].replace(".", ":"),
                None,
                Role.BOM if match[1] else Role.DEPENDENCY,
                scope=_find_scope(code, match.start()),
            )
            for match in _PROJECT.finditer(code)
        ),
    )


def blank_comments(text: str) -> str:
    """Return a script with blanks for its comments."""
    return blank(text, find_comment_ranges(text, LANGUAGES["gradle"]))


def read_script_bytes(content: bytes) -> Manifest:
    return read_script(text_of(content), Catalog())


def read_shared_script(content: bytes) -> Manifest:
    """Read what a script that others apply declares: it manages versions, and asks for nothing."""
    return managing(read_script_bytes(content))


def managing(manifest: Manifest) -> Manifest:
    """The manifest for those who only take its versions: what it asks for, it manages for them."""
    coordinates = [
        replace(each, role=Role.MANAGED) if each.role is Role.DEPENDENCY else each
        for each in manifest.coordinates
    ]
    return structs.replace(manifest, coordinates=tuple(coordinates))


def exporting(manifest: Manifest) -> Manifest:
    """The manifest for those who are compiled with its project."""
    exported = (each for each in manifest.own if EXPORTED.fullmatch(each.scope))
    coordinates = [replace(each, for_all=False) for each in exported]
    return structs.replace(manifest, coordinates=tuple(coordinates))


def read_wrapper(content: bytes) -> Manifest:
    match = _DISTRIBUTION.search(text_of(content))
    return Manifest(coordinates=(runtime("gradle", match[1]),) if match else ())


def _list_runtimes(
    source: Source, code: str, declared: tuple[Coordinate, ...]
) -> Iterator[Coordinate]:
    matches = (pattern.search(code) for pattern in _JAVA)
    if java := next((match for match in matches if match), None):
        version = java[1].replace("_", ".")
        yield runtime("java", version, (source.line_at(java.start(1)),))
    yield from _list_kotlin(declared)


def _list_kotlin(declared: Iterable[Coordinate]) -> Iterator[Coordinate]:
    for each in declared:
        compiles = each.role is Role.PLUGIN or each.artifact == "kotlin-gradle-plugin"
        if compiles and each.group.startswith(_KOTLIN):
            yield runtime("kotlin", each.version, each.lines, via=each.artifact)


def _find_shared_lines(source: Source, code: str) -> set[int]:
    """The lines of blocks that are about all projects below."""
    lines: set[int] = set()
    opened = [0]
    for token in re.finditer(_BLOCK, code):
        if token[0] != "}":
            opened.append(opened[-1] or (source.line_at(token.start()) if token[1] else 0))
        elif len(opened) > 1 and (first := opened.pop()) and not opened[-1]:
            lines.update(range(first, source.line_at(token.start()) + 1))
    return lines


def _list_names_texts_offsets(code: str) -> Iterator[tuple[str, str, int]]:
    """Yield texts of maps and objects by dotted names, ``libs.junit``, and where each begins."""
    names: list[str] = []
    for part in re.finditer(_MAP, code):
        name, outer = part[1] or part[2] or part[3] or "", names[-_DEEPEST:]
        path = re.sub(r"^(?:.*\.)?ext\.", "", ".".join(filter(None, [*outer, name])))
        if part[6]:
            del names[-1:]
        elif part[1] or part[4]:
            names.append(name)
        elif "." in path and (any(outer) or ":" in part[5]):
            yield path, part[5], part.start(5)


def _list_plugins_and_dependencies(
    source: Source, code: str, catalog: Catalog, managed_offsets: Collection[int]
) -> Iterator[Coordinate]:
    for match in _PLUGIN.finditer(code):
        name = match[2] if match[1] == "id" else f"{_KOTLIN}.{match[2]}"
        version = match[3] or _variable(match[4])
        yield Coordinate(name, f"{name}.gradle.plugin", version, Role.PLUGIN)
    for match in _NOTATION.finditer(code):
        role = Role.MANAGED if match.start(2) in managed_offsets else Role.DEPENDENCY
        role = Role.BOM if match[1] else role
        yield _make_dependency(source, code, match.start(2), (match[2], match[3], match[4]), role)
    for match in (*_ARGUMENTS.finditer(code), *_NAMED.finditer(code)):
        version = match[3] or _variable(match[4])
        yield _make_dependency(source, code, match.start(1), (match[1], match[2], version))
    for match in _ALIAS.finditer(code):
        alias = f"{match[2]}.{_alias(match[3] or '') or match[5] or match[4][1:]}"
        alias = alias.removesuffix(".get")
        for _ in range(3):  # ``project.rootProject.ext.libs.x`` is ``libs.x``
            alias = alias if alias in catalog.entries else alias.partition(".")[2]
        lines, scope = (source.line_at(match.start(2)),), _find_scope(code, match.start())
        for entry in catalog.entries.get(alias, ()):
            role = Role.BOM if match[1] else Role.DEPENDENCY
            role = entry.role if entry.role is Role.PLUGIN else role
            yield replace(entry, role=role, lines=lines, scope=scope)


def _make_dependency(
    source: Source,
    code: str,
    at: int,
    names_and_version: tuple[str, str, str | None],
    role: Role = Role.DEPENDENCY,
) -> Coordinate:
    return Coordinate(*names_and_version, role, (source.line_at(at),), scope=_find_scope(code, at))


def _find_scope(code: str, at: int) -> str:
    match = _FIRST_WORD.match(code[code.rfind("\n", 0, at) + 1 : at])
    return match[1] if match else ""


def _variable(name: str | None) -> str | None:
    return f"${{{name}}}" if name else None


def read_catalog_bytes(content: bytes) -> Manifest:
    document = load_toml(text_of(content))
    entries = [entry for _, entry in _list_catalog_entries(document)]
    return Manifest(
        coordinates=(*entries, *_list_kotlin(entries)),
        named_versions=_read_versions(document),
    )


def read_buildsrc_constants(content: bytes) -> Manifest:
    """Read the texts that an object of ``buildSrc`` names, such as ``Versions.KOTLIN``."""
    code = blank_comments(text_of(content))
    texts = [(name, value) for name, value, _ in _list_names_texts_offsets(code)]
    # Inside of an object others in it go by shorter names.
    inner = {".".join(name.split(".")[-2:]): value for name, value in texts}
    return Manifest(properties={**inner, **dict(texts)})


def read_offered(text: str) -> Catalog:
    """Read what a script's maps, catalogs of its own or an object's constants offer to scripts."""
    code = blank_comments(text)
    catalog = _read_described_catalogs(code.partition(_CATALOGS)[2])
    entries: dict[str, list[Coordinate]] = defaultdict(list)
    for name, value, _ in _list_names_texts_offsets(code):
        if library := _LIBRARY.fullmatch(value):
            entries[name].append(Coordinate(library[1], library[2], library[3], Role.MANAGED))
    return catalog.join(Catalog({name: tuple(each) for name, each in entries.items()}))


def _read_described_catalogs(code: str) -> Catalog:
    documents: dict[str, dict[str, dict[str, object]]] = defaultdict(lambda: defaultdict(dict))
    owner, bounds = "", dict[str, str]()
    for name, kind, rest in _DESCRIBED.findall(_BREAK.sub(lambda m: m[1] or m[2], code)):
        owner = name or owner
        call, *calls = re.split(r"""(?:\)\s*\.|(?<=["'])\s+)version""", rest, maxsplit=1)
        texts = re.findall(_TEXT, call)
        if kind in _VERSION_KEYS:
            bounds.update((kind, text) for text in texts[:1])
            continue
        bounds = {}
        other_arguments = re.search(r"\w", re.sub(_TEXT, "", call).partition(")")[0])
        if not texts or (other_arguments and kind != "bundle"):
            continue  # who knows what it is
        alias, *words = texts
        version: object = next(iter(re.findall(_TEXT, "".join(calls))), bounds)
        if kind == "version":
            entry: object = words[0] if words else bounds
        elif calls:
            is_name = calls[0].startswith("Ref") and isinstance(version, str)
            module, version = ":".join(words), {"ref": version} if is_name else version
            entry = {"module": module, "id": module, "version": version}
        else:
            entry = words if kind == "bundle" else ":".join(words)
        documents[owner]["libraries" if kind == "library" else f"{kind}s"][alias] = entry
    catalog = Catalog()
    for name, document in documents.items():
        catalog = catalog.join(_make_catalog(document, name))
    return catalog


def _flatten_aliases(
    entries: Mapping[str, Any], entry_keys: frozenset[str], prefix: str = ""
) -> Iterator[tuple[str, Any]]:
    for name, value in entries.items():
        if isinstance(value, dict) and value and not value.keys() & entry_keys:
            yield from _flatten_aliases(value, entry_keys, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


_VERSION_KEYS = frozenset(("strictly", "require", "prefer", "reject", "rejectAll"))
_ENTRY_KEYS = frozenset(("module", "group", "name", "id", "version"))


def read_catalog(text: str, name: str = "libs") -> Catalog:
    """Read a ``libs.versions.toml`` by the names that scripts use."""
    return _make_catalog(load_toml(text), name)


def _make_catalog(document: Mapping[str, Any], name: str) -> Catalog:
    entries: dict[str, tuple[Coordinate, ...]] = {}
    entries |= {f"{name}.{alias}": (entry,) for alias, entry in _list_catalog_entries(document)}
    for alias, members in table(document, "bundles").items():
        names = [f"{name}.{_alias(str(each))}" for each in members if isinstance(members, list)]
        bundle = [entry for each in names for entry in entries.get(each, ())]
        entries[f"{name}.bundles.{_alias(alias)}"] = tuple(bundle)
    versions = _read_versions(document).items()
    return Catalog(entries, {f"{name}.versions.{_alias(key)}": value for key, value in versions})


def _read_versions(document: Mapping[str, Any]) -> dict[str, str]:
    flat = _flatten_aliases(table(document, "versions"), _VERSION_KEYS)
    versions = {name: _find_version(value, {}) for name, value in flat}
    return {name: version for name, version in versions.items() if version}


def _list_catalog_entries(document: Mapping[str, Any]) -> Iterator[tuple[str, Coordinate]]:
    versions = dict(_flatten_aliases(table(document, "versions"), _VERSION_KEYS))
    for prefix, key in (("", "libraries"), ("plugins.", "plugins")):
        for alias, value in _flatten_aliases(table(document, key), _ENTRY_KEYS):
            if entry := _read_catalog_entry(value, versions, is_plugin=bool(prefix)):
                yield f"{prefix}{_alias(alias)}", entry


def _alias(name: str) -> str:
    return re.sub(r"[-_]", ".", name)


def _read_catalog_entry(
    value: object, versions: Mapping[str, Any], *, is_plugin: bool
) -> Coordinate | None:
    entry = table(value)
    if isinstance(value, str):
        first, _, rest = value.partition(":")
        name, _, last = rest.partition(":")
        number = rest if is_plugin else last
        entry = {"id": first, "group": first, "name": name, "version": number or None}
    if not entry:
        return None
    version = _find_version(entry.get("version"), versions)
    via = str(table(entry, "version").get("ref", ""))
    if is_plugin:
        name = str(entry.get("id", ""))
        return Coordinate(name, f"{name}.gradle.plugin", version, Role.PLUGIN, via=via)
    group, _, artifact = str(entry.get("module", "")).partition(":")
    group, artifact = group or str(entry.get("group", "")), artifact or str(entry.get("name", ""))
    return Coordinate(group, artifact, version, Role.MANAGED, via=via)


def _find_version(value: object, versions: Mapping[str, Any]) -> str | None:
    if isinstance(value, dict):
        if "ref" in value:
            return _find_version(versions.get(str(value["ref"])), {})
        value = value.get("strictly") or value.get("require") or value.get("prefer")
    return value if isinstance(value, str) else None
