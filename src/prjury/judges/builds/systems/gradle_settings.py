"""Gradle's settings: which projects a build has, and where they are. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from prjury.judges.builds.systems.gradle_script import LARGEST, Token, arguments, at, blocks, tokens
from prjury.judges.builds.systems.source_tree import joined
from prjury.snapshot.model import visible

SETTINGS = ("settings.gradle", "settings.gradle.kts")
BUILD_SCRIPTS = ("build.gradle", "build.gradle.kts")
#: More projects than this are nobody's.
_MOST = 5_000
_PATH = re.compile(r":?[\w.-]+(?::[\w.-]+)*", re.ASCII)
#: The directory of the settings, as texts refer to it.
_OWN_PLACE = re.compile(r"\$(?:\{(?:rootDir|settingsDir)\}|(?:rootDir|settingsDir)(?!\w))/")
#: What may stand beside the path of a project's directory without changing it.
_FILE_WORDS = frozenset("new File file settingsDir rootDir settings rootProject projectDir".split())
#: Plugins for settings that are known to leave the projects alone.
_HARMLESS = re.compile(
    r"(com\.gradle\.(enterprise|develocity|build-scan|common-custom-user-data-gradle-plugin)"
    r"|org\.gradle\.toolchains\.foojay-resolver(-convention)?)"
)


class SettingsError(ValueError):
    """Projects that cannot be told without running the settings; the text says why."""


@dataclass(frozen=True)
class GradleSettings:
    """What a settings script says.

    Attributes:
        projects: the directories of all projects but the root's, by their paths such as ``:a:b``.
        builds: the directories of other builds that it includes.
        extended: whether a plugin may add projects of its own.
    """

    projects: Mapping[str, str] = field(default_factory=dict)
    builds: frozenset[str] = frozenset()
    extended: bool = False


def read_settings(text: str) -> GradleSettings:
    """What the text of a settings script says, as far as it can be told without running it.

    Raises:
        SettingsError: when projects are included in a way that has to be run.
    """
    if len(text) > LARGEST:
        raise SettingsError("is too large to be read")
    script = tokens(text)
    projects: dict[str, str] = {}
    for name in _included(script):
        _add(projects, name)
    for name, place in _moved(script):
        if name not in projects:
            raise SettingsError(f"moves {visible(name)}, which it does not include")
        projects[name] = place
    return GradleSettings(projects, frozenset(_builds(script)), _extended(script))


def _included(script: Sequence[Token]) -> Iterator[str]:
    depth = 0
    for index, token in enumerate(script):
        depth += {"{": 1, "}": -1}.get(token.text, 0) if token.kind == "mark" else 0
        if token.kind != "word":
            continue
        if token.text == "includeFlat" or _applies_script(script, index):
            raise SettingsError(f"uses `{token.text}`, which has to be run")
        if token.text == "include":
            named = arguments(script, index + 1)
            if depth or named is None or not all(name.fixed for name in named):
                raise SettingsError("includes projects in a way that has to be run")
            yield from (name.text for name in named)


def _applies_script(script: Sequence[Token], index: int) -> bool:
    """Whether the word is ``apply`` with another script."""
    following = [at(script, index + step) for step in (1, 2)]
    return script[index].text == "apply" and any(token.text == "from" for token in following)


def _add(projects: dict[str, str], name: str) -> None:
    """A project with those above it; each lies in the directory of the one above."""
    if not _PATH.fullmatch(name):
        raise SettingsError(f"includes `{visible(name)}`, which is no plain name")
    above, directory = "", ""
    for part in name.removeprefix(":").split(":"):
        above = f"{above}:{part}"
        directory = projects.setdefault(above, f"{directory}/{part}".removeprefix("/"))
    if len(projects) > _MOST:
        raise SettingsError(f"includes more than {_MOST} projects")


def _moved(script: Sequence[Token]) -> Iterator[tuple[str, str]]:
    """The projects that get another directory."""
    for index, token in enumerate(script):
        if token.kind != "word":
            continue
        given = at(script, index + 1).text == "=" and at(script, index + 2).text != "="
        if token.text == "name" and given and at(script, index - 1).text == ".":
            if at(script, index - 2).text != "rootProject":
                raise SettingsError("renames projects")
        elif token.text == "projectDir" and given:
            yield _project_before(script, index), _place_after(script, index + 2)


def _project_before(script: Sequence[Token], index: int) -> str:
    """The path in ``project(':a').projectDir``."""
    words = [at(script, index - step) for step in (5, 4, 3, 2, 1)]
    texts = [word.text for word in words]
    name = words[2]
    around = [*texts[:2], *texts[3:]] == ["project", "(", ")", "."]
    if not around or name.kind != "string" or not name.fixed:
        raise SettingsError("moves projects in a way that has to be run")
    return f":{name.text.removeprefix(':')}"


def _place_after(script: Sequence[Token], start: int) -> str:
    line: list[Token] = []
    for token in script[start:]:
        if token.kind == "line" or token.text == ";":
            break
        line.append(token)
    strings = [token.text for token in line if token.kind == "string"]
    words = {token.text for token in line if token.kind == "word"}
    path = _OWN_PLACE.sub("", strings[0]) if len(strings) == 1 else "$"
    place = None if "$" in path or words - _FILE_WORDS else joined("", path)
    if place is None:
        raise SettingsError("moves projects in a way that has to be run")
    return place


def _builds(script: Sequence[Token]) -> Iterator[str]:
    for index, token in enumerate(script):
        if token.kind == "word" and token.text == "includeBuild":
            first = at(script, index + 1)
            named = at(script, index + 2) if first.text == "(" else first
            if named.kind != "string" or not named.fixed:
                raise SettingsError("includes builds in a way that has to be run")
            yield named.text


def _extended(script: Sequence[Token]) -> bool:
    """Whether a plugin that is not known to be harmless takes part in the settings."""
    managed = blocks(script, "pluginManagement")  # the versions of plugins for the projects
    for index, token in enumerate(script):
        if index in managed or token.kind != "word" or token.text not in {"id", "plugin"}:
            continue
        near = (at(script, index + step) for step in (1, 2))
        name = next((one for one in near if one.kind == "string"), None)
        if name is None or not _HARMLESS.fullmatch(name.text):
            return True
    return False
