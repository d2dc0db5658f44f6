"""Rules in ast-grep's own format, taken as they are: files, directories, projects.

A rule file holds one rule or several documents; a project has an ``sgconfig.yml``, or just a
directory ``rules``. Each becomes a pack that looks at every project. What stands in ``transform``,
``rewriters``, ``labels`` and ``metadata`` is for ast-grep alone; a ``fix`` is shown as advice. For
all that is wrong in a file, `ConfigError` names the file and the line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeAlias

from pydantic import Field, ValidationError

from prjury.code.languages import LANGUAGES, Language
from prjury.code.parser import job
from prjury.code.worker import guarded
from prjury.errors import ConfigError
from prjury.policy.fields import PolicySection, empty
from prjury.policy.yaml_reader import Document, KeyPath, read_yaml
from prjury.rulepacks.files import (
    Locate,
    PackPosition,
    document_error,
    position,
    text_of,
    validated,
)
from prjury.rulepacks.rule import Cases, Example, Match, Pack, Tests

#: What ast-grep calls the languages that are read here, and what they are called here.
_LANGUAGES: Mapping[str, Sequence[str]] = {
    **dict.fromkeys(("bash",), ("shell",)),
    **dict.fromkeys(("go", "golang"), ("go",)),
    **dict.fromkeys(("java",), ("java",)),
    **dict.fromkeys(("javascript", "js", "jsx"), ("javascript",)),
    **dict.fromkeys(("json",), ("json", "npm")),
    **dict.fromkeys(("kotlin", "kt"), ("kotlin",)),
    **dict.fromkeys(("python", "py"), ("python",)),
    **dict.fromkeys(("rust", "rs"), ("rust",)),
    **dict.fromkeys(("tsx",), ("tsx",)),
    **dict.fromkeys(("typescript", "ts"), ("typescript",)),
    **dict.fromkeys(("yaml", "yml"), ("yaml", "workflow")),
}

Severity: TypeAlias = Literal["error", "warning", "info", "hint", "off"]


class _Entry(PolicySection):
    """A document of ast-grep's; what it does not know is a mistake."""


class Utility(_Entry):
    """A rule that others refer to."""

    id: str = Field(min_length=1)
    language: str
    rule: dict[str, Any] = Field(min_length=1)
    constraints: dict[str, Any] = Field(default_factory=dict)
    utils: dict[str, Any] = Field(default_factory=dict)


class RuleFile(Utility):
    """A rule as ast-grep documents it."""

    transform: dict[str, Any] = Field(default_factory=dict)
    rewriters: list[Any] = Field(default_factory=empty)
    fix: str | dict[str, Any] | list[Any] | None = None
    message: str = ""
    note: str | None = None
    severity: Severity = "hint"
    url: str | None = None
    files: list[str] = Field(default_factory=empty)
    ignores: list[str] = Field(default_factory=empty)
    labels: dict[str, Any] = Field(default_factory=dict)
    metadata: dict[str, Any] = Field(default_factory=dict)


class TestConfig(_Entry):
    """Where tests lie."""

    testDir: str  # noqa: N815 - ast-grep's own key
    snapshotDir: str = ""  # noqa: N815 - the same


class AstGrepProject(_Entry):
    """``sgconfig.yml``."""

    ruleDirs: list[str] = Field(min_length=1)  # noqa: N815 - ast-grep's own key
    testConfigs: list[TestConfig] = Field(default_factory=empty)  # noqa: N815 - the same
    utilDirs: list[str] = Field(default_factory=empty)  # noqa: N815 - the same


class TestFile(_Entry):
    """The cases of one rule."""

    id: str
    valid: list[str] = Field(default_factory=empty)
    invalid: list[str] = Field(default_factory=empty)


@dataclass(frozen=True)
class WrittenRule:
    """A rule, where it stands, and its cases."""

    rule: RuleFile
    document: Document
    test: tuple[TestFile, Document] | None = None

    @property
    def languages(self) -> Sequence[str]:
        """What its language is called here."""
        language = _LANGUAGES.get(self.rule.language.lower())
        if language is None:
            names = ", ".join(sorted(_LANGUAGES))
            problem = f"{self.rule.language!r} is not a language of these rules: {names}"
            raise document_error(self.document, ("language",), problem)
        return language


_LEADING = re.compile(r"\s*([A-Za-z_]\w{2,})")
_WHOLE = re.compile(r"\^([A-Za-z_]\w{2,})\$")


def literals_of(rule: Mapping[str, Any]) -> list[str]:
    """Words of which one begins every match of the rule; none where it is unknown.

    Only what a match begins with counts: the rest of it may stand in lines that are not looked at.
    """
    match rule:
        case {"pattern": str(text)} if word := _LEADING.match(text):
            return [word[1]]
        case {"regex": str(text)} if word := _WHOLE.fullmatch(text):
            return [word[1]]
        case {"all": list(parts)} if found := next(filter(None, map(_part, parts)), None):
            return found
        case {"any": list(parts)} if parts and all(map(_part, parts)):
            return sorted({word for part in parts for word in _part(part)})
    return []


def _part(rule: object) -> list[str]:
    return literals_of(rule) if isinstance(rule, dict) else []


_NOT_IN_AN_ID = re.compile(r"[^a-z0-9]+")
_LONGEST_ID = 60
_LONGEST_TITLE = 100


def converted(
    name: str, written: Sequence[WrittenRule], utils: Mapping[str, Mapping[str, Any]]
) -> tuple[Pack, Locate]:
    """The rules as one pack; those that are ``off`` are left out.

    Args:
        name: what they are called together.
        utils: rules that they may refer to, by language.
    """
    kept = [one for one in written if one.rule.severity != "off"]
    if not kept:
        raise ConfigError(f"every rule of {name} is off", remedy="Take it out of `paths`")
    head = {"id": _identifier(name), "title": name, "gate": "always"}
    pack = _validate({**head, "utils": utils}, kept)
    rules = [
        rule.model_copy(update={"tests": _tests_of(one)})
        for rule, one in zip(pack.rules, kept, strict=True)
    ]
    pack = pack.model_copy(update={"rules": rules})
    for number, one in enumerate(kept):
        _check(pack, number, one)
    return pack, partial(_place, kept)


def _validate(head: dict[str, Any], written: Sequence[WrittenRule]) -> Pack:
    try:
        return Pack.model_validate({**head, "rules": [_rule(one) for one in written]})
    except ValidationError as error:
        first = error.errors()[0]
        number = next((part for part in first["loc"] if isinstance(part, int)), 0)
        raise document_error(written[number].document, (), str(first["msg"])) from error


def _rule(written: WrittenRule) -> dict[str, Any]:
    rule = written.rule
    message = rule.message.strip() or rule.id
    match = {
        "languages": list(written.languages),
        "files": [glob for text in rule.files for glob in _globs(text)],
        "ignores": [glob for text in rule.ignores for glob in _globs(text)],
        "ast-grep": rule.rule,
        "constraints": rule.constraints,
        "utils": rule.utils,
        "rewrite": _template(rule.fix),
    }
    return {
        "id": _identifier(rule.id),
        "title": message.partition("\n")[0][:_LONGEST_TITLE],
        "why": (rule.note or "").strip() or message,
        "literals": literals_of(rule.rule),
        "match": [match],
        "message": message,
        "replacement": _advice(rule.fix),
        "severity": "hint" if rule.severity == "info" else rule.severity,
        "confidence": "high",
        "references": [rule.url or written.document.source],
    }


def _identifier(name: str) -> str:
    return _NOT_IN_AN_ID.sub("-", name.lower())[:_LONGEST_ID].strip("-")


def _globs(glob: str) -> list[str]:
    """The glob for a matcher whose ``*`` also means directories: ``**/`` may stand for none."""
    glob = glob.removeprefix("./")
    return list(dict.fromkeys((glob, glob.replace("**/", ""))))


def _template(fix: str | dict[str, Any] | list[Any] | None) -> str | None:
    """Return the fixed match; a fix that reaches beyond the match is the reader's to apply."""
    match fix:
        case str():
            return fix
        case {"template": str(template), **rest} if not rest.keys() & {"expandStart", "expandEnd"}:
            return template
    return None


def _advice(fix: str | dict[str, Any] | list[Any] | None) -> str | None:
    """The fix as it is written; its metavariables are the reader's to fill in."""
    match fix:
        case str():
            return fix.strip() or "remove it"
        case {"template": str(template)} | [{"template": str(template)}, *_]:
            return template.strip() or "remove it"
    return None


def _tests_of(written: WrittenRule) -> Tests:
    """The rule's cases, for the first of its languages; either list may be empty."""
    if written.test is None:
        return Tests()
    test, _ = written.test
    invalid = [Example(code=code) for code in test.invalid]
    cases = Cases.model_construct(valid=test.valid, invalid=invalid, file=None)
    return Tests.model_construct(code={written.languages[0]: cases}, versions=[])


def _check(pack: Pack, number: int, written: WrittenRule) -> None:
    for name in written.languages:
        problem = refusal(pack, pack.rules[number].match[0], LANGUAGES[name])
        text = broken_pattern([written.rule.rule, written.rule.utils], LANGUAGES[name])
        if text is not None:
            problem = problem or f"{name}: the pattern {text!r} is not code"
        if problem:
            raise document_error(written.document, ("rule",), f"rule {written.rule.id}: {problem}")


def _place(written: Sequence[WrittenRule], path: KeyPath) -> PackPosition:
    match path:
        case ("rules", int(number), "tests", "code", _, *case) if test := written[number].test:
            return position(test[1], tuple(case))
        case ("rules", int(number), *_):
            return position(written[number].document, ())
    return position(written[0].document, ())


#: Bytes of one file; each of its documents has the limit of any YAML that is read.
LARGEST = 1024 * 1024
#: A project's configuration, and where its rules are without one.
CONFIG = "sgconfig.yml"
RULES = "rules"

_SEPARATOR = re.compile(r"^---[ \t]*(?:#.*)?$", re.MULTILINE)
_RULE_KEY = re.compile(r"^rule:", re.MULTILINE)
_PACK_KEY = re.compile(r"^(?:rules|gate):", re.MULTILINE)


def is_project(path: Path) -> bool:
    """Return true for an ``sgconfig.yml``, or a directory with one, or with ``rules`` only."""
    if (path.name == CONFIG and path.is_file()) or (path / CONFIG).is_file():
        return True
    return (path / RULES).is_dir() and not any(path.glob("*.yml"))


def is_rule_file(text: str) -> bool:
    """Return true if a text is of ast-grep's format rather than a pack."""
    return bool(_RULE_KEY.search(text)) and not _PACK_KEY.search(text)


def read_project(path: Path) -> tuple[Pack, Locate]:
    """The rules of a project, with their tests."""
    home, project = project_at(path)
    rules = list(_rules(_yaml_in(home, project.ruleDirs)))
    if not rules:
        raise ConfigError(f"there is no rule (*.yml) in {home / project.ruleDirs[0]}")
    tests = _tests(_yaml_in(home, [config.testDir for config in project.testConfigs]), rules)
    tested = [WrittenRule(one.rule, one.document, tests.get(one.rule.id)) for one in rules]
    return converted(home.resolve().name, tested, _utilities(_yaml_in(home, project.utilDirs)))


def project_at(path: Path) -> tuple[Path, AstGrepProject]:
    """The directory of a project, and its configuration."""
    home = path.parent if path.name == CONFIG else path
    file = home / CONFIG
    if not file.is_file():
        return home, AstGrepProject(ruleDirs=[RULES])
    return home, validated(AstGrepProject, read_yaml(text_of(file), str(file)))


def directories(project: AstGrepProject) -> list[str]:
    """Return the directories of a project's files, relative to its own."""
    tests = [config.testDir for config in project.testConfigs]
    return [*project.ruleDirs, *tests, *project.utilDirs]


def read_rules(path: Path) -> tuple[Pack, Locate]:
    """The rules of one file."""
    return converted(path.stem, list(_rules([path])), {})


def _yaml_in(home: Path, directories: Iterable[str]) -> list[Path]:
    """The files in these directories and below them."""
    files: list[Path] = []
    for name in directories:
        if not (home / name).is_dir():
            raise ConfigError(f"there is no directory {home / name}, where rules are looked for")
        files += sorted(f for f in (home / name).rglob("*.y*ml") if f.suffix in {".yml", ".yaml"})
    return files


def _documents(files: Iterable[Path]) -> Iterator[Document]:
    """Every document of the files, with the lines that it has there."""
    for file in files:
        text = text_of(file, LARGEST)
        ends = [*(found.span() for found in _SEPARATOR.finditer(text)), (len(text), len(text))]
        begin = 0
        for end, after in ends:
            document = read_yaml(text[begin:end], str(file))
            before = text.count("\n", 0, begin)
            lines = {path: line + before for path, line in document.lines.items()}
            if document.value is not None:
                yield Document(document.value, document.source, lines)
            begin = after


def _rules(files: Iterable[Path]) -> Iterator[WrittenRule]:
    for document in _documents(files):
        yield WrittenRule(validated(RuleFile, document), document)


def _tests(
    files: Iterable[Path], rules: Sequence[WrittenRule]
) -> Mapping[str, tuple[TestFile, Document]]:
    """The tests of each rule, by its id."""
    rule_ids = {written.rule.id for written in rules}
    test_files: dict[str, tuple[TestFile, Document]] = {}
    for document in _documents(file for file in files if file.stem.endswith("-test")):
        test = validated(TestFile, document)
        if test.id not in rule_ids:
            raise document_error(document, ("id",), f"there is no rule {test.id!r}")
        test_files[test.id] = (test, document)
    return test_files


def _utilities(files: Iterable[Path]) -> Mapping[str, Mapping[str, Any]]:
    """The rules that others may refer to, by language."""
    snapshots: dict[str, dict[str, Any]] = {}
    for document in _documents(files):
        rule = RuleFile(**validated(Utility, document).model_dump())
        for language in WrittenRule(rule, document).languages:
            snapshots.setdefault(language, {})[rule.id] = rule.rule
    return snapshots


_METAVARIABLE = re.compile(r"\${1,3}[A-Z_][A-Z0-9_]*")


def refusal(pack: Pack, match: Match, language: Language) -> str | None:
    """Return why ast-grep refuses the match's rule in this language; None where it does not."""
    reply = guarded(job("", language, [pack.config(match, language)]))
    return f"{language.name}: {reply['error']}" if "error" in reply else None


def broken_pattern(rule: object, language: Language) -> str | None:
    """The first pattern of a rule that is no code of the language; None where all are."""
    return next((text for text in _patterns(rule) if _is_broken(text, language)), None)


def _patterns(rule: object) -> Iterator[str]:
    """Every plain pattern; one with a context of its own names the node that it means."""
    match rule:
        case {"pattern": str(text), **others}:
            yield text
            yield from _patterns(others)
        case dict():
            for value in rule.values():
                yield from _patterns(value)
        case list():
            for value in rule:
                yield from _patterns(value)


def _is_broken(pattern: str, language: Language) -> bool:
    """Return true if the parser sees pieces of code and no whole, so that it never matches.

    An expression where the language has none, as on Go's top level, is an error around one whole.
    """
    code = _METAVARIABLE.sub("a", pattern).strip()
    whole = {"kind": "ERROR"}
    rules: list[dict[str, Any]] = [{"rule": whole}, {"rule": {"inside": whole, "not": whole}}]
    matches = guarded(job(code, language, rules)).get("found", ())
    return {number for number, start, end in matches if [start, end] == [0, len(code)]} == {0}
