"""A modest reader of Gradle builds: what cannot be read off the text is unknown, never guessed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import re2
from msgspec import Struct, field, structs

from prjury.code.languages import LANGUAGES
from prjury.code.source import Source, blank, find_comment_ranges
from prjury.manifests.manifest import Coordinate, Manifest, Role, runtime
from prjury.manifests.syntax import load_toml, table, text_of

_PLUGIN = re2.compile(
    r"""\bid\s*\(?\s*["']([\w.-]+)["']\s*\)?\s*version\s*\(?\s*"""
    r"""(?:["']([^"'\n]*)["']|([A-Z]\w*(?:\.\w+)+))"""
)
_NOTATION = re2.compile(
    r"""(\b(?:platform|enforcedPlatform|mavenBom)\s*\(?\s*)?["']([\w.-]+):([\w.-]+)"""
    r"""(?::([^"'@:\n]*))?(?:[@:][^"'\n]*)?["']"""
)
_NAMED = re2.compile(
    r"""\bgroup\s*[:=]\s*["']([\w.-]+)["']\s*,\s*name\s*[:=]\s*["']([\w.-]+)["']"""
    r"""(?:\s*,\s*version\s*[:=]\s*["']([^"'\n]*)["'])?"""
)
#: Kotlin's notation in separate arguments, of which the version may be a variable.
_ARGUMENTS = re2.compile(
    r"""(?i)\b(?:\w*(?:implementation|api|compileOnly|runtimeOnly|annotationProcessor)"""
    r"""|(?:test)?(?:compile|runtime)|classpath|kapt\w*|ksp\w*|dependency)"""
    r"""\s*\(\s*["']([\w.-]+)["']\s*,\s*["']([\w.-]+)["']"""
    r"""(?:\s*,\s*(?:["']([^"'\n]*)["']|([A-Za-z_]\w*)))?\s*\)"""
)
#: ``libs.x.y``, of a catalog of whatever name, and what plugins of a build look up by its own name.
_ALIAS = re2.compile(
    r"""(\b(?:platform|enforcedPlatform|mavenBom)\s*\(?\s*)?"""
    r"""\b([a-z]\w*)\.(?:findLibrary\(["']([\w.-]+)["']\)|([A-Za-z][\w.]*))"""
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
_KOTLIN_PLUGIN = re2.compile(
    r"""\bkotlin\s*\(\s*["'][\w.-]+["']\s*\)\s*version\s*\(?\s*"""
    r"""(?:["']([^"'\n]*)["']|([A-Z]\w*(?:\.\w+)+))"""
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

    def fill(self, text: str) -> str:
        """Put versions in where a script asks for them by name."""

        def find_text(match: re.Match[str]) -> str:
            inner, bare, name, key = match.groups()
            version = self.versions.get(inner or bare or f"{name}.versions.{_alias(key)}")
            return match[0] if version is None else version if inner else f'"{version}"'

        return str(_CATALOG_VERSION.sub(find_text, text)) if self.versions else text


def read_script(text: str, catalog: Catalog) -> Manifest:
    """Read what a script or a ``gradle.properties`` declares, by what ``libs.alias`` stands for."""
    gradle = LANGUAGES["gradle"]
    source = Source.of(catalog.fill(text), gradle)
    code = blank(source.text, find_comment_ranges(source.text, gradle))
    properties = {
        match[1]: match[2] for match in _PROPERTY.finditer(code) if match[2][0] not in "\"'"
    }
    properties |= {match[1] or match[2]: match[3] for match in _VARIABLE.finditer(code)}
    declared = tuple(_list_dependencies(source, code, catalog))
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
    exported = [each for each in manifest.own if EXPORTED.fullmatch(each.scope)]
    return structs.replace(manifest, coordinates=tuple(exported))


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
    for match in _KOTLIN_PLUGIN.finditer(code):
        version = match[1] or _variable(match[2])
        yield runtime("kotlin", version, (source.line_at(match.start()),))
    yield from _list_kotlin(declared)


def _list_kotlin(declared: Iterable[Coordinate]) -> Iterator[Coordinate]:
    for each in declared:
        compiles = each.role is Role.PLUGIN or each.artifact == "kotlin-gradle-plugin"
        if compiles and each.group.startswith(_KOTLIN):
            yield runtime("kotlin", each.version, each.lines, via=each.artifact)


def _list_dependencies(source: Source, code: str, catalog: Catalog) -> Iterator[Coordinate]:
    for match in _PLUGIN.finditer(code):
        version = match[2] or _variable(match[3])
        yield Coordinate(match[1], f"{match[1]}.gradle.plugin", version, Role.PLUGIN)
    for match in _NOTATION.finditer(code):
        role = Role.BOM if match[1] else Role.DEPENDENCY
        yield _make_dependency(source, code, match.start(2), (match[2], match[3], match[4]), role)
    for match in _ARGUMENTS.finditer(code):
        version = match[3] or _variable(match[4])
        yield _make_dependency(source, code, match.start(1), (match[1], match[2], version))
    for match in _NAMED.finditer(code):
        yield _make_dependency(source, code, match.start(1), (match[1], match[2], match[3]))
    for match in _ALIAS.finditer(code):
        alias = f"{match[2]}.{_alias(match[3] or '') or match[4].removesuffix('.get')}"
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


_OBJECT = re.compile(r"\bobject\s+(\w+)|\b(?:val|String)\s+(\w+)\s*=\s*\"([^\"\n]+)\"")


def read_buildsrc_constants(content: bytes) -> Manifest:
    """Read the texts that an object of ``buildSrc`` names, such as ``Versions.KOTLIN``."""
    properties: dict[str, str] = {}
    owner = ""
    for match in _OBJECT.finditer(text_of(content)):
        owner = match[1] or owner
        if match[2]:
            properties[f"{owner}.{match[2]}"] = match[3]
    return Manifest(properties=properties)


def _flatten(
    entries: Mapping[str, Any], entry_keys: frozenset[str], prefix: str = ""
) -> Iterator[tuple[str, Any]]:
    for name, value in entries.items():
        if isinstance(value, dict) and value and not value.keys() & entry_keys:
            yield from _flatten(value, entry_keys, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


_VERSION_KEYS = frozenset(("strictly", "require", "prefer", "reject", "rejectAll"))
_ENTRY_KEYS = frozenset(("module", "group", "name", "id", "version"))


def read_catalog(text: str, name: str = "libs") -> Catalog:
    """Read a ``libs.versions.toml`` by the names that scripts use."""
    document = load_toml(text)
    entries: dict[str, tuple[Coordinate, ...]] = {}
    entries |= {f"{name}.{alias}": (entry,) for alias, entry in _list_catalog_entries(document)}
    for alias, members in table(document, "bundles").items():
        names = [f"{name}.{_alias(str(each))}" for each in members if isinstance(members, list)]
        bundle = [entry for each in names for entry in entries.get(each, ())]
        entries[f"{name}.bundles.{_alias(alias)}"] = tuple(bundle)
    versions = _read_versions(document).items()
    return Catalog(entries, {f"{name}.versions.{_alias(key)}": value for key, value in versions})


def _read_versions(document: Mapping[str, Any]) -> dict[str, str]:
    flat = _flatten(table(document, "versions"), _VERSION_KEYS)
    versions = {name: _find_version(value, {}) for name, value in flat}
    return {name: version for name, version in versions.items() if version}


def _list_catalog_entries(document: Mapping[str, Any]) -> Iterator[tuple[str, Coordinate]]:
    versions = dict(_flatten(table(document, "versions"), _VERSION_KEYS))
    for alias, value in _flatten(table(document, "libraries"), _ENTRY_KEYS):
        if entry := _read_library(value, versions):
            yield _alias(alias), entry
    for alias, value in _flatten(table(document, "plugins"), _ENTRY_KEYS):
        if plugin := _read_plugin(value, versions):
            yield f"plugins.{_alias(alias)}", plugin


def _alias(name: str) -> str:
    return re.sub(r"[-_]", ".", name)


def _read_library(value: object, versions: Mapping[str, Any]) -> Coordinate | None:
    if isinstance(value, str):
        parts = [*value.split(":"), "", ""]
        return Coordinate(parts[0], parts[1], parts[2] or None, Role.MANAGED)
    if not isinstance(value, dict):
        return None
    group, _, artifact = str(value.get("module", "")).partition(":")
    return Coordinate(
        group or str(value.get("group", "")),
        artifact or str(value.get("name", "")),
        _find_version(value.get("version"), versions),
        Role.MANAGED,
        via=_reference(value.get("version")),
    )


def _read_plugin(value: object, versions: Mapping[str, Any]) -> Coordinate | None:
    if isinstance(value, str):
        group, _, version = value.partition(":")
        return Coordinate(group, f"{group}.gradle.plugin", version or None, Role.PLUGIN)
    if not isinstance(value, dict):
        return None
    group = str(value.get("id", ""))
    version_text = _find_version(value.get("version"), versions)
    via = _reference(value.get("version"))
    return Coordinate(group, f"{group}.gradle.plugin", version_text, Role.PLUGIN, via=via)


def _reference(value: object) -> str:
    return str(value.get("ref", "")) if isinstance(value, dict) else ""


def _find_version(value: object, versions: Mapping[str, Any]) -> str | None:
    if isinstance(value, dict):
        if "ref" in value:
            return _find_version(versions.get(str(value["ref"])), {})
        value = value.get("strictly") or value.get("require") or value.get("prefer")
    return value if isinstance(value, str) else None
