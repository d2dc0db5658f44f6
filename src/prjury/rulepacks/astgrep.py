"""Rules in ast-grep's own format, taken as they are: files, directories, projects.

A rule file holds one rule or several documents; a project has an ``sgconfig.yml``, or just a
directory ``rules``. Each becomes a pack that looks at every project. What stands in ``transform``,
``rewriters``, ``labels`` and ``metadata`` is for ast-grep alone; a ``fix`` is told as advice.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from prjury.errors import ConfigError
from prjury.policy.yaml_reader import Document, read_yaml
from prjury.rulepacks.astgrep_format import AstGrepProject, RuleFile, TestFile, Utility, WrittenRule
from prjury.rulepacks.astgrep_rules import converted
from prjury.rulepacks.files import Locate, document_error, text_of, validated
from prjury.rulepacks.rule import Pack

#: Bytes of one file; each of its documents has the limit of any YAML that is read.
LARGEST = 1024 * 1024
#: A project's configuration, and where its rules are without one.
CONFIG = "sgconfig.yml"
RULES = "rules"

_SEPARATOR = re.compile(r"^---[ \t]*(?:#.*)?$", re.MULTILINE)
_RULE_KEY = re.compile(r"^rule:", re.MULTILINE)
_PACK_KEY = re.compile(r"^(?:rules|gate):", re.MULTILINE)


def is_project(path: Path) -> bool:
    """Whether the path is an ``sgconfig.yml``, or a directory with one, or with ``rules`` only."""
    if (path.name == CONFIG and path.is_file()) or (path / CONFIG).is_file():
        return True
    return (path / RULES).is_dir() and not any(path.glob("*.yml"))


def is_rule_file(text: str) -> bool:
    """Whether a text is of ast-grep's format rather than a pack."""
    return bool(_RULE_KEY.search(text)) and not _PACK_KEY.search(text)


def read_project(path: Path) -> tuple[Pack, Locate]:
    """The rules of a project, with their tests.

    Raises:
        ConfigError: for everything that is wrong in one of its files, with file and line.
    """
    home, project = project_at(path)
    rules = list(_rules(_yaml_in(home, project.ruleDirs)))
    if not rules:
        raise ConfigError(f"there is no rule (*.yml) in {home / project.ruleDirs[0]}")
    tests = _tests(_yaml_in(home, [config.testDir for config in project.testConfigs]), rules)
    tested = [WrittenRule(one.rule, one.document, tests.get(one.rule.id)) for one in rules]
    return converted(home.resolve().name, tested, _utilities(_yaml_in(home, project.utilDirs)))


def project_at(path: Path) -> tuple[Path, AstGrepProject]:
    """The directory of a project, and its configuration.

    Raises:
        ConfigError: for everything that is wrong in the configuration, with file and line.
    """
    home = path.parent if path.name == CONFIG else path
    file = home / CONFIG
    if not file.is_file():
        return home, AstGrepProject(ruleDirs=[RULES])
    return home, validated(AstGrepProject, read_yaml(text_of(file), str(file)))


def directories(project: AstGrepProject) -> list[str]:
    """Where a project's files are, relative to its own directory."""
    tests = [config.testDir for config in project.testConfigs]
    return [*project.ruleDirs, *tests, *project.utilDirs]


def read_rules(path: Path) -> tuple[Pack, Locate]:
    """The rules of one file.

    Raises:
        ConfigError: for everything that is wrong in it, with its line.
    """
    return converted(path.stem, list(_rules([path])), {})


def _yaml_in(home: Path, directories: Iterable[str]) -> list[Path]:
    """The files in these directories and below them."""
    found: list[Path] = []
    for name in directories:
        if not (home / name).is_dir():
            raise ConfigError(f"there is no directory {home / name}, where rules are looked for")
        found += sorted(f for f in (home / name).rglob("*.y*ml") if f.suffix in {".yml", ".yaml"})
    return found


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
    known = {written.rule.id for written in rules}
    found: dict[str, tuple[TestFile, Document]] = {}
    for document in _documents(file for file in files if file.stem.endswith("-test")):
        test = validated(TestFile, document)
        if test.id not in known:
            raise document_error(document, ("id",), f"there is no rule {test.id!r}")
        found[test.id] = (test, document)
    return found


def _utilities(files: Iterable[Path]) -> Mapping[str, Mapping[str, Any]]:
    """The rules that others may refer to, by language."""
    found: dict[str, dict[str, Any]] = {}
    for document in _documents(files):
        rule = RuleFile(**validated(Utility, document).model_dump())
        for language in WrittenRule(rule, document).languages:
            found.setdefault(language, {})[rule.id] = rule.rule
    return found
