"""What a file is written in, by its name, and how comments and strings are told in it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import PurePosixPath

from prjury.code.languages.files import BUILD_FILES, TEXTS
from prjury.code.languages.jvm import JAVA, KOTLIN
from prjury.code.languages.language import Language
from prjury.code.languages.python import PYTHON
from prjury.code.languages.script import JAVASCRIPT, TSX, TYPESCRIPT
from prjury.code.languages.systems import GO, RUST

__all__ = ["LANGUAGES", "Language", "language_of"]

LANGUAGES: Mapping[str, Language] = {
    language.name: language
    for language in (
        JAVA,
        KOTLIN,
        PYTHON,
        JAVASCRIPT,
        TYPESCRIPT,
        TSX,
        GO,
        RUST,
        *BUILD_FILES,
        *TEXTS,
    )
}

_BY_NAME = {
    "pom.xml": "maven",
    "libs.versions.toml": "gradle",
    "pyproject.toml": "pypi",
    "setup.cfg": "pypi",
    "pipfile": "pypi",
    "package.json": "npm",
    "go.mod": "gomod",
    "cargo.toml": "cargo",
    "directory.packages.props": "nuget",
    "directory.build.props": "nuget",
    "action.yml": "workflow",
    "action.yaml": "workflow",
    "dockerfile": "docker",
    "containerfile": "docker",
}
_BY_SUFFIX = {
    ".java": "java",
    ".kt": "kotlin",
    ".kts": "kotlin",
    ".py": "python",
    ".pyi": "python",
    ".js": "javascript",
    ".jsx": "javascript",
    ".mjs": "javascript",
    ".cjs": "javascript",
    ".ts": "typescript",
    ".mts": "typescript",
    ".cts": "typescript",
    ".tsx": "tsx",
    ".go": "go",
    ".rs": "rust",
    ".xml": "xml",
    ".gradle": "gradle",
    ".csproj": "nuget",
    ".fsproj": "nuget",
    ".vbproj": "nuget",
    ".jsp": "jsp",
    ".jspf": "jsp",
    ".jspx": "jsp",
    ".tag": "jsp",
    ".yml": "yaml",
    ".yaml": "yaml",
    ".json": "json",
    ".jsonc": "json",
    ".sh": "shell",
    ".bash": "shell",
    ".dockerfile": "docker",
    ".properties": "properties",
}


@cache
def language_of(path: str) -> Language | None:
    """The language of the file, or None for one that no rule can name; case does not matter."""
    lower = PurePosixPath(path.lower())
    name = lower.name
    if name.endswith(".gradle.kts"):
        return LANGUAGES["gradle"]
    if name.startswith(("dockerfile.", "containerfile.")):
        return LANGUAGES["docker"]
    if lower.suffix in {".yml", ".yaml"} and lower.parent.parts[-2:] == (".github", "workflows"):
        return LANGUAGES["workflow"]
    if lower.suffix == ".txt" and (
        "requirements" in name or "constraints" in name or lower.parent.name == "requirements"
    ):
        return LANGUAGES["pypi"]
    return LANGUAGES.get(_BY_NAME.get(name) or _BY_SUFFIX.get(lower.suffix, ""))
