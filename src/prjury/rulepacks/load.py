"""Reads packs. A pack that is wrong stops the run; it is never skipped.

A pack is ``NAME.yml``. Its tests may stand beside the rules or in ``NAME.cases.yml``, which only
checks and ``prjury rules test`` read. The part before ``rules:`` is the pack's head, and all that
is read of a shipped pack whose gate the project does not meet. Rules of ast-grep's own format are
packs as well (`astgrep`). For all that is wrong, `ConfigError` names the file and the line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import TypeAlias

from prjury.code.languages import LANGUAGES
from prjury.errors import ConfigError
from prjury.policy.yaml_reader import Document, KeyPath, read_yaml
from prjury.resources import pack_texts
from prjury.rulepacks import astgrep
from prjury.rulepacks.applicability import declared
from prjury.rulepacks.astgrep import refusal
from prjury.rulepacks.files import (
    Locate,
    PackPosition,
    all_wrong,
    distinct,
    document_error,
    pack_error,
    position,
    text_of,
    validated,
)
from prjury.rulepacks.rule import CasesFile, Head, Pack, PatternRule, Tests

#: How large a pack or the file of its cases may be, in bytes.
LARGEST = 512 * 1024

_LANGUAGES = re.compile(r"^ *-? *languages: \[([^\]]*)\]", re.MULTILINE)
_CASES = ".cases.yml"


@dataclass(frozen=True)
class LoadedPack:
    """A pack, and where in its files each of its key paths stands.

    Attributes:
        foreign: whether it is made of rules in ast-grep's own format, which need no tests.
    """

    pack: Pack
    locate: Locate
    foreign: bool = False


@cache
def shipped_heads() -> Mapping[str, Head]:
    """The heads of the packs that travel with the program, by id."""
    heads = (_read_head(name, text) for name, text in pack_texts().items())
    return MappingProxyType({head.id: head for head in heads})


@cache
def shipped_pack(name: str) -> Pack:
    """A pack that travels with the program. Its tests are not read."""
    return read_pack(_read_shipped(name), f"{name}.yml").pack


@cache
def shipped_languages(name: str) -> frozenset[str]:
    """The languages that the rules of a shipped pack look at, without reading its rules."""
    languages = _LANGUAGES.findall(_read_shipped(name))
    if not languages:
        return pack_languages(shipped_pack(name))
    return frozenset(word.strip() for listed in languages for word in listed.split(","))


def _read_shipped(name: str) -> str:
    text = pack_texts().get(f"{name}.yml")
    if text is None:
        names = ", ".join(sorted(shipped_heads()))
        raise ConfigError(f"there is no pack {name!r}", remedy=f"Known packs are: {names}")
    return text


def pack_languages(pack: Pack) -> frozenset[str]:
    """The languages that the rules of a pack look at."""
    return frozenset(name for rule in pack.rules for name in rule.languages)


def own_packs(paths: Iterable[str]) -> list[Pack]:
    """The user's packs, as `load_packs` reads them."""
    return [loaded.pack for loaded in load_packs(map(Path, paths))]


def load_packs(
    paths: Iterable[Path], loading: Callable[[Path], LoadedPack] | None = None
) -> list[LoadedPack]:
    """Packs with their tests: files, or directories of ``*.yml``; one that is named twice is one.

    Args:
        loading: how each one is loaded, in place of `load`.
    """
    files = distinct(file for path in paths for file in _files(path))
    packs = [(loading or load)(file) for file in files]
    by_id: dict[str, LoadedPack] = {}
    for loaded in packs:
        other = by_id.setdefault(loaded.pack.id, loaded)
        if other is not loaded:
            sources = f"{other.locate(()).source} and {loaded.locate(()).source}"
            raise ConfigError(f"two packs have the id {loaded.pack.id}: {sources}")
    return packs


#: A rule, what is wrong with it, and where.
Problem: TypeAlias = tuple[PatternRule, str, KeyPath]


def load(path: Path, lacking: Callable[[Pack], Iterable[Problem]] | None = None) -> LoadedPack:
    """A pack with its tests, checked: rules compile.

    Args:
        lacking: what else a pack has to have.
    """
    loaded = read(path)
    if loaded.foreign:
        return loaded
    found = [*problems(loaded.pack), *(lacking(loaded.pack) if lacking else ())]
    wrongs = [
        pack_error(loaded.locate(at), at, f"rule {rule.id}: {words}") for rule, words, at in found
    ]
    if wrongs:
        raise all_wrong(wrongs)
    return loaded


def published(path: Path) -> LoadedPack:
    """A pack as `load` reads it, which has all that packs need that others rely on."""
    return load(path, _find_undocumented)


def read(path: Path) -> LoadedPack:
    """A pack with its tests as they are written."""
    if astgrep.is_project(path):
        return LoadedPack(*astgrep.read_project(path), foreign=True)
    text = text_of(path, LARGEST)
    if astgrep.is_rule_file(text):
        return LoadedPack(*astgrep.read_rules(path), foreign=True)
    return _with_cases(read_pack(text, str(path)), path)


def cases_of(path: Path) -> Path:
    """The file with a pack's cases, which stands beside it."""
    return path.with_name(path.stem + _CASES)


def read_pack(text: str, source: str) -> LoadedPack:
    """The pack as it is written, its structure and regexes checked."""
    document = read_yaml(text, source, LARGEST)
    return LoadedPack(validated(Pack, document), partial(position, document))


def _find_undocumented(pack: Pack) -> Iterator[Problem]:
    """Rules without references, without a word on how sure they are, or without cases."""
    for number, rule in enumerate(pack.rules):
        if not rule.references:
            yield rule, "has no `references`", ("rules", number, "references")
        if "confidence" not in rule.model_fields_set:
            yield rule, "does not say its `confidence`", ("rules", number, "confidence")
        for name in sorted(rule.languages - rule.tests.code.keys()):
            problem = f"has no failing and passing case for {name}"
            yield rule, problem, ("rules", number, "tests")


def problems(pack: Pack) -> Iterator[Problem]:
    """Everything that keeps rules from running, such as unknown node kinds and utility rules."""
    for at, rule in enumerate(pack.rules):
        for number, match in enumerate(rule.match):
            for name in match.languages if match.parses else ():
                if problem := refusal(pack, match, LANGUAGES[name]):
                    yield rule, problem, ("rules", at, "match", number, "ast-grep")
        for number, case in enumerate(rule.tests.versions):
            for text in (*case.declares, *case.own):
                try:
                    declared(text)
                except ValueError as error:
                    yield rule, str(error), ("rules", at, "tests", "versions", number)


def _with_cases(loaded: LoadedPack, path: Path) -> LoadedPack:
    beside = cases_of(path)
    if not beside.is_file():
        return loaded
    document = read_yaml(text_of(beside, LARGEST), str(beside), LARGEST)
    cases = validated(CasesFile, document)
    if cases.pack != loaded.pack.id:
        problem = f"these are the cases of {cases.pack}, beside the pack {loaded.pack.id}"
        raise document_error(document, ("pack",), problem)
    rule_ids = {rule.id for rule in loaded.pack.rules}
    for name in cases.tests:
        if name not in rule_ids:
            problem = f"there is no rule {name!r} in {path.name}"
            raise document_error(document, ("tests", name), problem)
    rules = [_attach_tests(rule, cases.tests.get(rule.id, Tests())) for rule in loaded.pack.rules]
    pack = loaded.pack.model_copy(update={"rules": rules})
    return LoadedPack(pack, partial(_place_of_case, loaded, document, cases))


def _attach_tests(rule: PatternRule, more: Tests) -> PatternRule:
    code = {**rule.tests.code, **more.code}
    versions = [*rule.tests.versions, *more.versions]
    return rule.model_copy(update={"tests": Tests(code=code, versions=versions)})


def _place_of_case(
    loaded: LoadedPack, document: Document, cases: CasesFile, path: KeyPath
) -> PackPosition:
    """In the file of the cases for what stands there, else in the pack's own."""
    match path:
        case ("rules", int(number), "tests", *rest):
            rule = loaded.pack.rules[number]
            more = cases.tests.get(rule.id)
            before = len(rule.tests.versions)
            match rest:
                case ["code", str(language), *_] if more and language in more.code:
                    return position(document, ("tests", rule.id, *rest))
                case ["versions", int(at), *_] if at >= before:
                    return position(document, ("tests", rule.id, "versions", at - before))
                case [] | ["versions"] if more:
                    return position(document, ("tests", rule.id, *rest))
    return loaded.locate(path)


def _read_head(name: str, text: str) -> Head:
    document = read_yaml(text.partition("\nrules:")[0], name)
    head = {key: document.value.get(key) for key in Head.model_fields}
    return validated(Head, Document(head, name, document.lines))


def _files(path: Path) -> list[Path]:
    if not path.is_dir() or astgrep.is_project(path):
        return [path]
    files = sorted(file for file in path.glob("*.yml") if not file.name.endswith(_CASES))
    if not files:
        raise ConfigError(
            f"there is no pack (*.yml) in {path}",
            why="It is another directory, or the packs end in .yaml",
            remedy="Name the directory of the packs, or a pack's own file",
        )
    return files
