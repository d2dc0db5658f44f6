"""Reads packs. A pack that is wrong stops the run; it is never skipped.

A pack is ``NAME.yml``; ``NAME.cases.yml`` holds tests. The part before ``rules:`` is its head, and
all that is read of a shipped pack whose gate the project does not meet.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from prjury.code.languages import LANGUAGES, Language
from prjury.code.parser import make_job
from prjury.code.worker import run_job_or_error
from prjury.errors import ConfigError
from prjury.policy.load import join_keys
from prjury.policy.yaml_reader import Document, KeyPath, read_yaml
from prjury.resources import pack_texts
from prjury.rulepacks.applicability import parse_library_version
from prjury.rulepacks.files import (
    Locate,
    PackPosition,
    drop_repeated,
    join_errors,
    pack_error,
    position,
    read_part,
    text_of,
)
from prjury.rulepacks.rule import CasesFile, Head, Match, Pack, PatternRule, Tests

#: How large a pack or the file of its cases may be, in bytes.
LARGEST = 512 * 1024

_LANGUAGES = re.compile(r"^ *-? *languages: \[([^\]]*)\]", re.MULTILINE)
CASES = ".cases.yml"


class LoadedPack(Struct, frozen=True):
    """A pack, and where in its files each of its key paths stands."""

    pack: Pack
    locate: Locate


@cache
def list_heads() -> Mapping[str, Head]:
    """Return the heads of the shipped packs by id."""
    heads = (_read_head(name, text) for name, text in pack_texts().items())
    return MappingProxyType({head.id: head for head in heads})


@cache
def load_shipped(name: str) -> Pack:
    """Return a shipped pack without its tests."""
    return read_pack(_read_shipped(name), f"{name}.yml").pack


@cache
def list_shipped_languages(name: str) -> frozenset[str]:
    """Return the languages of a shipped pack's rules without reading these."""
    languages = _LANGUAGES.findall(_read_shipped(name))
    if not languages:
        return pack_languages(load_shipped(name))
    return frozenset(word.strip() for listed in languages for word in listed.split(","))


def _read_shipped(name: str) -> str:
    text = pack_texts().get(f"{name}.yml")
    if text is None:
        names = ", ".join(sorted(list_heads()))
        raise ConfigError(f"there is no pack {name!r}", remedy=f"Known packs are: {names}")
    return text


def pack_languages(pack: Pack) -> frozenset[str]:
    """Return the languages that the rules of a pack look at."""
    return frozenset(name for rule in pack.rules for name in rule.languages)


def load_own_packs(paths: Iterable[str]) -> list[Pack]:
    """Return the user's packs, as `load_packs` reads them."""
    return [loaded.pack for loaded in load_packs(map(Path, paths))]


#: A rule, what is wrong with it, and where.
Problem: TypeAlias = tuple[PatternRule, str, KeyPath]
FindProblems: TypeAlias = Callable[[Pack], Iterable[Problem]]


def find_broken_rules(pack: Pack) -> Iterator[Problem]:
    """Yield what keeps rules from running, such as unknown node kinds and utility rules."""
    for at, rule in enumerate(pack.rules):
        for number, match in enumerate(rule.match):
            for name in match.languages if match.parses else ():
                if problem := _refuse(pack, match, LANGUAGES[name]):
                    yield rule, problem, ("rules", at, "match", number, "ast-grep")
        for number, case in enumerate(rule.tests.versions):
            for text in (*case.declares, *case.own):
                try:
                    parse_library_version(text)
                except ValueError as error:
                    yield rule, str(error), ("rules", at, "tests", "versions", number)


def find_publishing_problems(pack: Pack) -> Iterator[Problem]:
    """Yield what packs lack that others rely on: references, confidence, cases."""
    yield from find_broken_rules(pack)
    for number, rule in enumerate(pack.rules):
        if not rule.references:
            yield rule, "has no `references`", ("rules", number, "references")
        if rule.stated_confidence is None:
            yield rule, "does not say its `confidence`", ("rules", number, "confidence")
        for name in sorted(rule.languages - rule.tests.code.keys()):
            problem = f"has no failing and passing case for {name}"
            yield rule, problem, ("rules", number, "tests")


def load_packs(
    paths: Iterable[Path], find_problems: FindProblems = find_broken_rules
) -> list[LoadedPack]:
    """Load packs with their tests: files, or directories of ``*.yml``; a file only once."""
    files = drop_repeated(file for path in paths for file in _require_pack_files(path))
    return require_distinct([load(file, find_problems) for file in files])


def require_distinct(packs: Sequence[LoadedPack]) -> list[LoadedPack]:
    """Return the packs; ConfigError if two of them have the same id."""
    by_id: dict[str, LoadedPack] = {}
    for loaded in packs:
        other = by_id.setdefault(loaded.pack.id, loaded)
        if other is not loaded:
            sources = f"{other.locate(()).source} and {loaded.locate(()).source}"
            raise ConfigError(f"two packs have the id {loaded.pack.id}: {sources}")
    return list(packs)


def load(path: Path, find_problems: FindProblems = find_broken_rules) -> LoadedPack:
    """Load one pack with its tests, checked."""
    beside = cases_of(path)
    cases = read_yaml(text_of(beside, LARGEST), str(beside), LARGEST) if beside.is_file() else None
    return ensure_sound(read_pack(text_of(path, LARGEST), str(path), cases), find_problems)


def ensure_sound(loaded: LoadedPack, find_problems: FindProblems = find_broken_rules) -> LoadedPack:
    """Return the pack; ConfigError with all problems if it has any."""
    wrongs = [
        pack_error(loaded.locate(at), f"{join_keys(at)}: rule {rule.id}: {problem}")
        for rule, problem, at in find_problems(loaded.pack)
    ]
    if wrongs:
        raise join_errors(wrongs)
    return loaded


def cases_of(path: Path) -> Path:
    """Return the file with a pack's cases, which stands beside it."""
    return path.with_name(path.stem + CASES)


def read_pack(text: str, source: str, cases: Document | None = None) -> LoadedPack:
    """Read a pack, with its cases if there are any; only structure and regexes are checked."""
    document = read_yaml(text, source, LARGEST)
    if isinstance(document.value, dict) and "rule" in document.value:
        problem = "rule: a rule of ast-grep's own; in a pack it is the `ast-grep` of a `match`"
        raise pack_error(position(document, ("rule",)), problem)
    loaded = LoadedPack(read_part(Pack, document), partial(position, document))
    return _add_cases(loaded, cases) if cases else loaded


def _refuse(pack: Pack, match: Match, language: Language) -> str | None:
    reply = run_job_or_error(make_job("", language, [pack.make_ast_grep_config(match, language)]))
    return f"{language.name}: {reply['error']}" if "error" in reply else None


def _add_cases(loaded: LoadedPack, document: Document) -> LoadedPack:
    cases = read_part(CasesFile, document)
    if cases.pack != loaded.pack.id:
        problem = f"pack: these are the cases of {cases.pack}, beside the pack {loaded.pack.id}"
        raise pack_error(position(document, ("pack",)), problem)
    rule_ids = {rule.id for rule in loaded.pack.rules}
    for name in cases.tests:
        if name not in rule_ids:
            problem = f"tests.{name}: there is no such rule in {loaded.locate(()).source}"
            raise pack_error(position(document, ("tests", name)), problem)
    rules = [_attach_tests(rule, cases.tests.get(rule.id, Tests())) for rule in loaded.pack.rules]
    pack = replace(loaded.pack, rules=rules)
    return LoadedPack(pack, partial(_locate_in_cases_or_pack, loaded, document, cases))


def _attach_tests(rule: PatternRule, more: Tests) -> PatternRule:
    code = {**rule.tests.code, **more.code}
    versions = [*rule.tests.versions, *more.versions]
    return replace(rule, tests=Tests(code=code, versions=versions))


def _locate_in_cases_or_pack(
    loaded: LoadedPack, document: Document, cases: CasesFile, pack_path: KeyPath
) -> PackPosition:
    match pack_path:
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
    return loaded.locate(pack_path)


def _read_head(name: str, text: str) -> Head:
    document = read_yaml(text.partition("\nrules:")[0], name)
    head = {key: document.value.get(key) for key in Head.forms()}
    return read_part(Head, Document(head, name, document.places))


def _require_pack_files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    files = sorted(file for file in path.glob("*.yml") if not file.name.endswith(CASES))
    if not files:
        raise ConfigError(
            f"there is no pack (*.yml) in {path}",
            why="It is another directory, or the packs end in .yaml",
            remedy="Name the directory of the packs, or a pack's own file",
        )
    return files
