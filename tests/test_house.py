"""The house keeps its own rules: sizes, start-up cost, consistent texts."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path

import pytest

import house

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "prjury"
SAMPLE = SOURCE / "demo" / "sample"
MODULES = [path for path in sorted(SOURCE.rglob("*.py")) if SAMPLE not in path.parents]

LONGEST_MODULE = 500
LONGEST_FUNCTION = 60
MOST_MODULES_AT_START = 3
#: Classes of fewer fields may have the same ones by chance; more than this share makes a twin.
FEWEST_FIELDS, TWIN_SHARE = 4, 0.9


def _functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(house.parse(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def _length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def test_no_module_is_too_long() -> None:
    lengths = {path.relative_to(ROOT): path.read_text().count("\n") for path in MODULES}
    assert {path: n for path, n in lengths.items() if n > LONGEST_MODULE} == {}


def test_no_function_is_too_long() -> None:
    too_long = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.name} ({_length(node)})"
        for path in MODULES
        for node in _functions(path)
        if _length(node) > LONGEST_FUNCTION
    ]
    assert too_long == []


def test_the_median_function_is_short() -> None:
    lengths = sorted(_length(node) for path in MODULES for node in _functions(path))
    assert lengths[len(lengths) // 2] <= 12


def _is_broad(caught: ast.expr | None) -> bool:
    if isinstance(caught, ast.Tuple):
        return any(map(_is_broad, caught.elts))
    return caught is None or getattr(caught, "id", "") in {"Exception", "BaseException"}


def test_broad_handlers_are_few_and_known() -> None:
    found = {
        f"{path.relative_to(SOURCE)}"
        for path in MODULES
        for node in ast.walk(house.parse(path))
        if isinstance(node, ast.ExceptHandler) and _is_broad(node.type)
    }
    assert found == {
        "action/__init__.py",
        "cli/__init__.py",
        "code/worker.py",
        "rulepacks/find.py",
        "jury/guard.py",
        "jury/library/execution.py",
        "jury/threads.py",
    }


def test_the_environment_is_read_at_the_edges_only() -> None:
    readers = {
        str(path.relative_to(SOURCE))
        for path in MODULES
        if any(
            isinstance(node, ast.Attribute)
            and node.attr in {"environ", "getenv"}
            and getattr(node.value, "id", "") == "os"
            for node in ast.walk(house.parse(path))
        )
    }
    assert readers == {
        "action/__main__.py",
        "__main__.py",
        "judges/workspace/program_judges.py",
        "models/client.py",
    }


def test_pygithub_has_one_door_and_gitpython_none() -> None:
    importers = set()
    for path in MODULES:
        for node in ast.walk(house.parse(path)):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            libraries = {name.split(".")[0] for name in names} & {"git", "github"}
            importers |= {(library, path.relative_to(SOURCE).parts[0]) for library in libraries}
    assert importers == {("github", "github"), ("github", "publishers")}


def test_nothing_in_tests_is_patched() -> None:
    words = ("mock" + ".patch", "monkeypatch" + ".setattr")
    guilty = [
        path.name
        for path in (ROOT / "tests").rglob("*.py")
        if any(word in path.read_text() for word in words)
    ]
    assert guilty == []


def test_help_imports_nothing_heavy() -> None:
    run = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "prjury", "--help"],
        capture_output=True,
        text=True,
        check=True,
    )
    imported = {line.rpartition("|")[2].strip() for line in run.stderr.splitlines()}
    heavy = {"github", "git", "pydantic_ai", "rich", "pydantic", "jinja2", "yaml", "ast_grep_py"}
    ours = {name for name in imported if name.startswith("prjury.")}
    assert imported & (heavy | {"typer"}) == set()
    assert len(ours) <= MOST_MODULES_AT_START


def test_every_ignored_lint_rule_has_its_reason() -> None:
    text = (ROOT / "pyproject.toml").read_text()
    ignored = tomllib.loads(text)["tool"]["ruff"]["lint"]["ignore"]
    without = [rule for rule in ignored if f'"{rule}",' not in text or f'"{rule}", ' not in text]
    assert without == []


#: Who may read the metadata of judgments by key: who writes it, and the facts that the rest reads.
METADATA_ROOMS = ("judges/", "jury/", "report/judge_facts.py")
JUDGE_NAMES = {"build", "merge", "patterns", "quality"}


def _names_metadata(node: ast.expr) -> bool:
    return (isinstance(node, ast.Attribute) and node.attr == "metadata") or (
        isinstance(node, ast.Name) and node.id == "metadata"
    )


def _reads_metadata(node: ast.AST) -> bool:
    match node:
        case ast.Subscript(value=value, slice=ast.Constant(value=str()), ctx=ast.Load()):
            return _names_metadata(value)
        case ast.Call(func=ast.Attribute(value=value, attr="get"), args=[ast.Constant(), *_]):
            return _names_metadata(value)
        case ast.Compare(left=ast.Constant(value=str()), comparators=[value, *_]):
            return _names_metadata(value)
    return False


def _compares_a_judge(node: ast.AST) -> bool:
    if not isinstance(node, ast.Compare):
        return False
    sides = [node.left, *node.comparators]
    listed = [each for side in sides for each in getattr(side, "elts", [side])]
    words = {each.value for each in listed if isinstance(each, ast.Constant)}
    named = any(isinstance(side, ast.Attribute) and side.attr == "judge" for side in sides)
    return bool(words & JUDGE_NAMES) or (named and bool(words))


def test_only_facts_read_what_judges_write() -> None:
    reading = [
        f"{path.relative_to(SOURCE)}:{node.lineno}"
        for path in MODULES
        if not str(path.relative_to(SOURCE)).startswith(METADATA_ROOMS)
        for node in ast.walk(house.parse(path))
        if isinstance(node, ast.expr) and _reads_metadata(node)
    ]
    assert reading == [], "read a judgment through the facts in report/judge_facts.py"


@pytest.mark.parametrize("room", ["report", "publishers", "app", "action", "cli"])
def test_no_judge_is_known_by_its_name(room: str) -> None:
    comparing = [
        f"{path.relative_to(SOURCE)}:{node.lineno}"
        for path in MODULES
        if (SOURCE / room) in path.parents
        for node in ast.walk(house.parse(path))
        if isinstance(node, ast.expr) and _compares_a_judge(node)
    ]
    assert comparing == [], "what a judge is, its facts say"


def test_each_public_class_name_occurs_once() -> None:
    where: dict[str, list[str]] = {}
    for path in MODULES:
        for node in house.parse(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                where.setdefault(node.name, []).append(str(path.relative_to(SOURCE)))
    assert {name: places for name, places in where.items() if len(places) > 1} == {}


def test_the_house_is_within_its_ceilings() -> None:
    now, table = house.measure(), house.read_table()
    too_much = {
        f"{title}: {key}": f"{number}, at most {table[title].get(key, 0)}"
        for title, rows in now.items()
        for key, number in rows.items()
        if number > table[title].get(key, 0)
    }
    assert too_much == {}, "take out what is more; only a decision raises a ceiling"


def test_each_ceiling_is_as_low_as_the_house_allows() -> None:
    now, table = house.measure(), house.read_table()
    loose = {
        f"{title}: {key}": f"{now[title].get(key, 0)} of {ceiling}"
        for title, rows in table.items()
        for key, ceiling in rows.items()
        if ceiling - now[title].get(key, 0) > 25
    }
    assert loose == {}, "run `python tests/house.py`, which lowers them"


def test_no_modules_import_each_other() -> None:
    assert house.find_circles() == []


def test_the_diagram_of_the_rooms_shows_the_imports() -> None:
    found = house.PICTURE.search(house.ARCHITECTURE.read_text())
    assert found is not None
    assert found[0] == house.draw_rooms(), "run `python tests/house.py draw`"


#: Classes that hold nine tenths of another's fields, by the other one, and why there are two.
TWINS = {
    "Completed": "what became of a program, and steps and tests that are told of it with more",
    "CoverageJudge": "a policy's options, and the library's judge, which takes no policy",
    "CoverageOptions": "a policy's options, and the library's judge, which takes no policy",
    "FileContentJudge": "a policy's options, and the library's judge, which takes no policy",
    "FileContentOptions": "a policy's options, and the library's judge, which takes no policy",
    "FileJson": "the published form of a file, and the file with its lines",
    "Judgment": "the court's value without dependencies, and its published form",
    "ModelChoice": "a model with its key, and the section of the policy without it",
    "ModelConfig": "a section of the policy, and the model with its key",
    "RawChange": "a change as git prints it, and the file that is made of it",
    "ReportJson": "the published form of a report, and the report",
    "_JudgmentAnswer": "what a stranger's program prints, strictly read, and a judgment",
}
#: What every judge has.
_OF_JUDGES = frozenset({"name", "description", "type", "options", "ports", "_"})


def _list_fields(node: ast.ClassDef) -> frozenset[str]:
    names = {
        each.target.id
        for each in node.body
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
    }
    return frozenset(names - _OF_JUDGES)


def test_no_class_is_another_ones_twin() -> None:
    classes = [
        (node.name, fields)
        for path in MODULES
        for node in ast.walk(house.parse(path))
        if isinstance(node, ast.ClassDef)
        if len(fields := _list_fields(node)) >= FEWEST_FIELDS
    ]
    twins = {
        other: name
        for (name, fields), (other, others) in permutations(classes, 2)
        if len(fields & others) >= TWIN_SHARE * len(others)
    }
    assert {other: name for other, name in twins.items() if other not in TWINS} == {}
