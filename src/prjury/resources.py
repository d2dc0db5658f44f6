"""Finds and reads what travels with the program: inside of a wheel, at the top of a checkout."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

DOCUMENTATION = "https://github.com/pr-jury/pr-jury/blob/main/.github/docs"
_PACKAGE = Path(__file__).resolve().parent


def _find(in_wheel: str, in_checkout: str) -> Path:
    place = _PACKAGE / in_wheel
    return place if place.is_dir() else _PACKAGE.parents[1] / in_checkout


def templates() -> Path:
    return _find("_templates", "templates")


@cache
def template_texts() -> Mapping[str, str]:
    """The Jinja2 templates by their paths, all read at once and only once."""
    top = templates()
    files = (file for file in top.rglob("*") if file.suffix in {".j2", ".css"})
    return MappingProxyType(
        {file.relative_to(top).as_posix(): file.read_text("utf-8") for file in files}
    )


@cache
def pack_texts() -> Mapping[str, str]:
    """The shipped packs without their cases, by file name, read only once."""
    files = (file for file in sorted(rule_packs().glob("*.yml")) if file.suffixes == [".yml"])
    return MappingProxyType({file.name: file.read_text("utf-8") for file in files})


@cache
def judge_pages() -> Mapping[str, str]:
    """The pages about judges and about the gate by their names, such as ``merge``."""
    place = _find("_pages", ".github/docs")
    files = [*sorted((place / "judges").glob("[a-z]*.md")), place / "gate.md"]
    return MappingProxyType({file.stem: file.read_text("utf-8") for file in files})


@cache
def read_published_text() -> str:
    """The versions that published parents and BOMs manage, read only once."""
    return (_PACKAGE / "manifests" / "published.json").read_text("utf-8")


def rule_packs() -> Path:
    return _PACKAGE / "rules"


def help_text() -> str:
    return (_PACKAGE / "help.txt").read_text("utf-8")


@cache
def program_version() -> str:
    from importlib import metadata  # noqa: PLC0415 - nothing else needs it

    try:
        return metadata.version("prjury")
    except metadata.PackageNotFoundError:  # the action runs from its checkout
        project = (_PACKAGE.parents[1] / "pyproject.toml").read_text("utf-8")
        return project.partition('\nversion = "')[2].partition('"')[0]
