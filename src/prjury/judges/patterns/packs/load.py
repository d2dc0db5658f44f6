"""Reads packs. A pack that is wrong stops the run, with file and line; it is never skipped.

A pack is ``NAME.yml``. Its tests may stand beside the rules or in ``NAME.cases.yml``, which only
checks and ``prjury rules test`` read. The part before ``rules:`` is the pack's head, and all that
is read of a shipped pack whose gate the project does not meet.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from prjury.code.languages import LANGUAGES
from prjury.code.parser import job
from prjury.code.worker import guarded
from prjury.config.yaml_reader import Document, KeyPath, read_yaml
from prjury.errors import ConfigError
from prjury.judges.patterns.packs.rule import CasesFile, Head, Pack, Rule, Tests
from prjury.resources import rule_packs

_CASES = ".cases.yml"
_Model = TypeVar("_Model", bound=BaseModel)


@dataclass(frozen=True)
class LoadedPack:
    """A pack and the document that it came from, for lines in messages."""

    pack: Pack
    document: Document

    def error(self, path: KeyPath, problem: str) -> ConfigError:
        """The mistake at a key path of the pack's document."""
        return _error(self.document, path, problem)


@cache
def shipped_heads() -> Mapping[str, Head]:
    """The heads of the packs that travel with the program, by id."""
    heads = (_read_head(path) for path in _packs_in(rule_packs()))
    return MappingProxyType({head.id: head for head in heads})


@cache
def shipped_pack(name: str) -> Pack:
    """A pack that travels with the program. Its tests are not read.

    Raises:
        ConfigError: for a name that no pack has.
    """
    path = rule_packs() / f"{name}.yml"
    if path not in set(_packs_in(rule_packs())):
        known = ", ".join(sorted(shipped_heads()))
        raise ConfigError(f"there is no pack {name!r}", remedy=f"Known packs are: {known}")
    return read_pack(_text(path), path.name).pack


def own_packs(paths: Iterable[str]) -> list[Pack]:
    """The user's packs: files, or directories of ``*.yml``. Each one is checked.

    Raises:
        ConfigError: for a path that does not exist and for everything that is wrong in a pack.
    """
    found = [pack for path in paths for file in _files(Path(path)) for pack in [load_pack(file)]]
    twice = sorted({p.id for p in found if sum(other.id == p.id for other in found) > 1})
    if twice:
        raise ConfigError(f"two packs have the id {', '.join(twice)}")
    return found


def load_pack(path: Path) -> Pack:
    """A pack with its tests, checked: rules compile, and each has a failing case per language.

    Raises:
        ConfigError: for everything that is wrong, with file and line.
    """
    loaded = _with_cases(read_pack(_text(path), str(path)), path)
    check(loaded)
    return loaded.pack


def read_pack(text: str, source: str) -> LoadedPack:
    """The pack as it is written, its structure and regexes checked.

    Raises:
        ConfigError: for everything that is wrong, with file and line.
    """
    document = read_yaml(text, source)
    return LoadedPack(_validated(Pack, document), document)


def check(loaded: LoadedPack) -> None:
    """Compiles every ast-grep rule, and asks for a failing and a passing case per language.

    Raises:
        ConfigError: for an unknown node kind, key or utility rule, a wrong regex, a missing case.
    """
    for number, rule in enumerate(loaded.pack.rules):
        for problem, path in _problems(loaded.pack, rule):
            raise loaded.error(("rules", number, *path), f"rule {rule.id}: {problem}")


def _problems(pack: Pack, rule: Rule) -> Iterator[tuple[str, KeyPath]]:
    for number, match in enumerate(rule.match):
        for name in match.languages if match.ast_grep else ():
            language = LANGUAGES[name]
            reply = guarded(job("", language, [pack.config(match, language)]))
            if "error" in reply:
                yield f"{name}: {reply['error']}", ("match", number, "ast-grep")
    for name in sorted(rule.languages - rule.tests.code.keys()):
        yield f"has no failing and passing case for {name}", ("tests",)


def _with_cases(loaded: LoadedPack, path: Path) -> LoadedPack:
    beside = path.with_name(path.stem + _CASES)
    if not beside.is_file():
        return loaded
    document = read_yaml(_text(beside), str(beside))
    cases = _validated(CasesFile, document)
    known = {rule.id for rule in loaded.pack.rules}
    for name in cases.tests:
        if name not in known:
            raise _error(document, ("tests", name), f"there is no rule {name!r} in {path.name}")
    rules = [_tested(rule, cases.tests.get(rule.id)) for rule in loaded.pack.rules]
    return LoadedPack(loaded.pack.model_copy(update={"rules": rules}), loaded.document)


def _tested(rule: Rule, more: Tests | None) -> Rule:
    if more is None:
        return rule
    tests = Tests(
        code={**rule.tests.code, **more.code}, versions=[*rule.tests.versions, *more.versions]
    )
    return rule.model_copy(update={"tests": tests})


def _read_head(path: Path) -> Head:
    text, _, _ = _text(path).partition("\nrules:")
    document = read_yaml(text, path.name)
    known = {key: document.value.get(key) for key in Head.model_fields}
    return _validated(Head, Document(known, path.name, document.lines))


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        found = _packs_in(path)
        if not found:
            raise ConfigError(f"there is no pack (*.yml) in {path}")
        return found
    return [path]


def _packs_in(directory: Path) -> list[Path]:
    return sorted(path for path in directory.glob("*.yml") if not path.name.endswith(_CASES))


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not UTF-8 (byte {error.start})") from error
    except OSError as error:
        raise ConfigError(
            f"the pack {path} cannot be read: {error.strerror}",
            remedy="Paths of packs are relative to the directory in which prjury is started",
        ) from error


def _validated(model: type[_Model], document: Document) -> _Model:
    try:
        return model.model_validate(document.value)
    except ValidationError as error:
        first = error.errors()[0]
        path: KeyPath = tuple(first["loc"])
        problem = str(first["msg"]).removeprefix("Value error, ")
        raise _error(document, path, problem) from error


def _error(document: Document, path: KeyPath, problem: str) -> ConfigError:
    line = document.line_of(path) or 1
    key = ".".join(map(str, path))
    where = f"{document.source} line {line}" + (f" ({key})" if key else "")
    return ConfigError(f"{where}: {problem}", reason="pack_invalid")
