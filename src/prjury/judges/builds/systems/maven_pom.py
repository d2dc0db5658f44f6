"""One ``pom.xml``: its coordinates, modules and dependencies. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from prjury.manifests.manifest import ManifestError
from prjury.manifests.xml import Node, read_xml

#: Larger files are refused.
_LARGEST = 4 * 1024**2
_PLUGINS_GROUP = "org.apache.maven.plugins"

#: Whether a profile is active by itself. ``default``: unless another one of the same file is;
#: ``unknown``: that depends on the machine.
State: TypeAlias = Literal["off", "default", "unknown"]

#: Properties with these prefixes may be set on any machine.
_SET_ANYWAY = (
    "env.", "java.", "jdk.", "os.", "user.", "file.", "path.", "line.", "sun.", "maven.", "stdout.",
)  # fmt: skip
#: What separates the paths of one text.
_BETWEEN = re.compile(r"[\s,;:=|\"']+")

_ORIGINS: Mapping[str, str] = {
    "${project.basedir}": "module",
    "${basedir}": "module",
    "${pom.basedir}": "module",
    "${project.parent.basedir}": "parent",
    "${parent.basedir}": "parent",
    "${maven.multiModuleProjectDirectory}": "root",
    "${session.executionRootDirectory}": "root",
    "${session.rootDirectory}": "root",
    "${session.topDirectory}": "root",
    "${project.rootDirectory}": "root",
}


class PomError(ValueError):
    """A build file that cannot be read; the text says why, after its name."""


@dataclass(frozen=True)
class Coordinates:
    """A group and an artifact as written, with ``${…}``; an empty group is any group."""

    group: str
    artifact: str


@dataclass(frozen=True)
class Profile:
    """A profile with its modules.

    Attributes:
        switch: the property that turns it on, empty where no property does.
    """

    name: str
    state: State
    modules: tuple[str, ...]
    switch: str = ""


@dataclass(frozen=True)
class Parent:
    """The parent of a build file.

    Attributes:
        path: where the parent should be, relative to the file; None for nowhere in the tree.
    """

    coordinates: Coordinates
    path: str | None


@dataclass(frozen=True)
class PomPath:
    """A path that a file names.

    Attributes:
        origin: where it begins: ``module``, ``parent`` for the directory of the module's parent,
            or ``root`` for that of the reactor.
    """

    origin: str
    path: str


@dataclass(frozen=True)
class Pom:
    """The parts of a build file that matter for dependencies between modules.

    Attributes:
        modules: as they are written; those of profiles are in ``profiles``.
        mentions: whatever it builds with: dependencies, plugins and theirs, extensions, imported
            versions, processors of annotations. What it only manages for others is not in it.
        places: the directories and files that it names outside of its own directory.
        searches: whether Maven looks for modules by itself.
    """

    own: Coordinates
    parent: Parent | None = None
    packaging: str = "jar"
    modules: tuple[str, ...] = ()
    profiles: tuple[Profile, ...] = ()
    mentions: frozenset[Coordinates] = frozenset()
    places: frozenset[PomPath] = frozenset()
    searches: bool = False

    @property
    def aggregates(self) -> bool:
        """Whether it has modules, also if only in a profile."""
        return bool(self.modules) or any(profile.modules for profile in self.profiles)


def read_pom(text: str) -> Pom:
    """Reads the text of a ``pom.xml``.

    Raises:
        PomError: for text that is not XML, has a DTD, or is no project.
    """
    project = _project(text)
    parent = _parent(project)
    group = _text(project, "groupId") or (parent.coordinates.group if parent else "")
    packaging = _text(project, "packaging") or "jar"
    modules = tuple(_modules(project))
    return Pom(
        own=Coordinates(group, _text(project, "artifactId")),
        parent=parent,
        packaging=packaging,
        modules=modules,
        profiles=tuple(_profiles(project)),
        mentions=frozenset(_mentions(project)),
        places=frozenset(_places(project)),
        searches=packaging == "pom" and not modules and _version(project) > (4, 0),
    )


def _project(text: str) -> Node:
    if len(text) > _LARGEST:
        raise PomError(f"is larger than {_LARGEST // 1024**2} MiB")
    try:
        project = read_xml(text).first("project")
    except ManifestError as error:
        reason = str(error).partition(":")[0]
        has = reason.startswith("it ")
        raise PomError(reason.removeprefix("it ") if has else f"is {reason}") from error
    if project is None:
        raise PomError("has no <project>")
    return project


def _text(element: Node, *path: str) -> str:
    return element.value(*path) or ""


def _version(project: Node) -> tuple[int, ...]:
    parts = (_text(project, "modelVersion") or "4.0.0").split(".")[:2]
    return tuple(int(part) if part.isascii() and part.isdigit() else 0 for part in parts)


def _modules(holder: Node) -> Iterator[str]:
    for path in (("modules", "module"), ("subprojects", "subproject")):
        for module in holder.all(*path):
            yield module.text


def _parent(project: Node) -> Parent | None:
    element = project.first("parent")
    if element is None:
        return None
    said = element.first("relativePath")
    path = "../pom.xml" if said is None else said.text or None
    return Parent(Coordinates(_text(element, "groupId"), _text(element, "artifactId")), path)


def _profiles(project: Node) -> Iterator[Profile]:
    for profile in project.all("profiles", "profile"):
        switch = _text(profile, "activation", "property", "name")
        yield Profile(_text(profile, "id"), _state(profile), tuple(_modules(profile)), switch)


def _state(profile: Node) -> State:
    """The state of a profile; a condition on the machine may hold or not."""
    activation = profile.first("activation")
    conditions = {condition.tag for condition in activation.children} if activation else set()
    by_default = _text(profile, "activation", "activeByDefault") == "true"
    if conditions - {"activeByDefault", "property"}:
        return "unknown"
    name, value = (
        _text(profile, "activation", "property", part) for part in ("name", "value")
    )  # fmt: skip
    if "property" in conditions and (
        not name or name.startswith(("!", "$", *_SET_ANYWAY)) or value.startswith("!")
    ):
        return "unknown"
    return "default" if by_default else "off"


def _walk(project: Node) -> Iterator[tuple[Node, tuple[str, ...]]]:
    """Every element with the tags that lead to it from the project; exclusions are left out."""
    waiting: list[tuple[Node, tuple[str, ...]]] = [(project, ())]
    while waiting:
        element, path = waiting.pop()
        for child in element.children:
            if child.tag != "exclusions":
                here = (*path, child.tag)
                yield child, here
                waiting.append((child, here))


def _mentions(project: Node) -> Iterator[Coordinates]:
    for element, path in _walk(project):
        artifact = _text(element, "artifactId")
        if artifact and not _only_managed(element, path):
            group = _text(element, "groupId")
            if not group and path[-1] == "plugin":
                group = _PLUGINS_GROUP
            yield Coordinates(group, artifact)


def _only_managed(element: Node, path: tuple[str, ...]) -> bool:
    """Whether it only sets the version of something that others may use."""
    if path[-3:] == ("dependencyManagement", "dependencies", "dependency"):
        return _text(element, "scope") != "import"
    return path[-3:] == ("pluginManagement", "plugins", "plugin")


def _places(project: Node) -> Iterator[PomPath]:
    for element, path in _walk(project):
        if "build" in path or "properties" in path:
            for word in _BETWEEN.split(element.text):
                if place := _place(word):
                    yield place


def _place(word: str) -> PomPath | None:
    """The path, if a word is one that leads out of the module, as far as it is fixed."""
    origin, path = "module", word.replace("\\", "/")
    if path.startswith("${"):
        start, _, path = path.partition("}/")
        origin = _ORIGINS.get(f"{start}}}", "")
    known, opened, _ = path.partition("$")
    known = known.rpartition("/")[0] if opened else known
    leaves = origin != "module" or "../" in f"{known}/"
    return PomPath(origin, known) if origin and known and leaves else None
