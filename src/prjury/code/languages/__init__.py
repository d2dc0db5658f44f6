"""The table of languages: everything that a reader of code has to know of one is in its row."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import PurePosixPath

from prjury.code.languages.language import Language
from prjury.code.languages.programs import PROGRAMS
from prjury.code.languages.searched import SEARCHED

__all__ = ["LANGUAGES", "Language", "kin_of", "language_of"]

LANGUAGES: Mapping[str, Language] = {language.name: language for language in (*PROGRAMS, *SEARCHED)}
_BY_NAME = {name: language for language in LANGUAGES.values() for name in language.files}
_BY_SUFFIX = {suffix: language for language in LANGUAGES.values() for suffix in language.suffixes}


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
    if lower.suffix in {".yml", ".yaml"} and name.startswith(("application-", "bootstrap-")):
        return LANGUAGES["application"]
    if lower.suffix == ".txt" and (
        "requirements" in name or "constraints" in name or lower.parent.name == "requirements"
    ):
        return LANGUAGES["pypi"]
    return _BY_NAME.get(name) or _BY_SUFFIX.get(lower.suffix)


def kin_of(path: str) -> str | None:
    """The group of languages that may use each other's names, by the suffix alone."""
    name = path[path.rfind("/") + 1 :]
    dot = name.rfind(".")
    language = _BY_SUFFIX.get(name[dot:].lower()) if dot > 0 else None
    return language.kin or None if language else None
