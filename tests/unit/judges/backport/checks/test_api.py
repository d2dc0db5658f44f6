"""What a change does to what others depend on: names, migrations, and the release."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from msgspec.structs import replace

from fakes.history import History, snapshot
from fakes.repository import BASE, HEAD, FakeRepository, pull_between
from prjury.code.parser import Parser
from prjury.deadline import Deadline
from prjury.git.operator import open_repository
from prjury.git.store import open_store
from prjury.judges.backport.checks.api import Interface, check_public_names, compare_public_names
from prjury.judges.backport.checks.migrations import check_migrations, migration_tool
from prjury.jury.judgment import Check
from prjury.snapshot.model import BEYOND_LIMIT, PullRequest

SOON = Deadline.after(3_600)  # counted from the import: the whole suite may run before

Files = Mapping[str, str | bytes]
CART = "src/main/java/shop/Cart.java"


def both(old: Files, new: Files) -> tuple[PullRequest, FakeRepository]:
    return pull_between(old, new), FakeRepository({BASE: old, HEAD: new})


def judged(old: Files, new: Files) -> Interface:
    pull, repository = both(old, new)
    return compare_public_names(pull, repository, Parser(), SOON)


def checks(old: Files, new: Files) -> dict[str, Check]:
    found = judged(old, new)
    made = (
        check_public_names(found),
        check_migrations(found.migrations),
    )
    return {check.name: check for check in made if check}


def release_for(interface: Interface) -> str:
    """The release that may bring the change, by the checks."""
    check = check_public_names(interface)
    severities = set() if check.passed else {check.severity}
    if "error" in severities:
        return "major"
    added = any(each.verb == "adds" for each in interface.migrations)
    return "minor" if severities or added else "patch"


def cart(*members: str, package: str = "shop") -> str:
    return "\n".join([f"package {package};", "public class Cart {", *members, "}", ""])


LEVELS: list[tuple[str, Files, Files, str]] = [
    (
        "a body changes",
        {"a/b.py": "def f():\n    return 1\n"},
        {"a/b.py": "def f():\n    return 2\n"},
        "patch",
    ),
    ("a name comes", {"a/b.py": ""}, {"a/b.py": "def f(): pass\n"}, "minor"),
    ("a name goes", {"a/b.py": "def f(): pass\n"}, {"a/b.py": ""}, "major"),
    ("a private name goes", {"a/b.py": "def _f(): pass\n"}, {"a/b.py": ""}, "patch"),
    ("a private module's name goes", {"a/_b.py": "def f(): pass\n"}, {"a/_b.py": ""}, "patch"),
    ("a parameter comes", {"a/b.py": "def f(): pass\n"}, {"a/b.py": "def f(a=1): pass\n"}, "minor"),
    ("a file goes", {"a/b.py": "def f(): pass\n", "c": ""}, {"c": ""}, "major"),
    ("a test's name goes", {"tests/b.py": "def f(): pass\n"}, {"tests/b.py": ""}, "patch"),
    ("documentation", {"README.md": "a\n"}, {"README.md": "b\n"}, "patch"),
    ("CI", {".github/workflows/ci.yml": "a: 1\n"}, {".github/workflows/ci.yml": "a: 2\n"}, "patch"),
    ("a benchmark", {"benchmarks/b.py": "def f(): pass\n"}, {"benchmarks/b.py": ""}, "patch"),
    (
        "an example",
        {"examples/src/a.ts": "export const a = 1;\n"},
        {"examples/src/a.ts": "\n"},
        "patch",
    ),
    ("generated", {"a/b_pb2.py": "def f(): pass\n"}, {"a/b_pb2.py": "\n"}, "patch"),
    ("vendored", {"vendor/b.py": "def f(): pass\n"}, {"vendor/b.py": "\n"}, "patch"),
    (
        "internal in Go",
        {"internal/a.go": "package a\nfunc F() {}\n"},
        {"internal/a.go": "package a\n"},
        "patch",
    ),
    ("an import", {"a/b.py": "import x\n"}, {"a/b.py": "from . import y\n"}, "patch"),
    (
        "a package's import",
        {"a/__init__.py": "from .b import x\n"},
        {"a/__init__.py": "\n"},
        "major",
    ),
    (
        "a migration",
        {"a": ""},
        {"a": "", "shop/migrations/0001_x.py": "class Migration: pass\n"},
        "minor",
    ),
    ("line ends", {"a/b.py": "def f(): pass\n"}, {"a/b.py": "def f(): pass\r\n"}, "patch"),
]


@pytest.mark.parametrize(("why", "old", "new", "level"), LEVELS, ids=[row[0] for row in LEVELS])
def test_a_change_is_of_the_class_of_what_it_does(
    why: str, old: Files, new: Files, level: str
) -> None:
    assert release_for(judged(old, new)) == level


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            {CART: cart("public void total(int x) {}")},
            {CART: cart()},
            f"removes `Cart.total(int)` ({CART}:3): needs a major release",
        ),
        (
            {CART: cart()},
            {CART: cart("public void a() {}", "public int b;")},
            "adds 2 public names: needs a minor release",
        ),
        ({CART: cart("private int x;")}, {CART: cart()}, "no known public name changes"),
        (
            {"a/b.py": "def f(a): pass\n"},
            {"a/b.py": "def f(a, b=1): pass\n"},
            "extends `f(a)`: needs a minor release",
        ),
    ],
)
def test_the_check_names_what_changes(old: Files, new: Files, message: str) -> None:
    check = checks(old, new)["api"]

    assert check.message == message
    assert check.passed == message.startswith("no ")


def test_the_evidence_is_the_old_and_the_new_signature() -> None:
    old, new = "public int total(int x) { return 1; }", "public int total(long x) { return 1; }"
    check = checks({CART: cart(old)}, {CART: cart("", new)})["api"]

    assert check.severity == "error"
    assert check.evidence == "- Cart.total(int): int\n+ Cart.total(long): int"
    assert str(check.location) == f"{CART}:4"


def test_many_names_are_counted() -> None:
    members = [f"public void f{number}() {{}}" for number in range(30)]
    check = checks({CART: cart(*members)}, {CART: cart()})["api"]

    assert "and 27 more: needs a major release" in check.message
    assert (check.evidence or "").endswith("\nand 10 more")


@pytest.mark.parametrize(
    ("old", "new", "level"),
    [
        # Within a Java package, a name may move from file to file and from module to module.
        (f"one/{CART}", f"two/{CART}", "patch"),
        # A module is part of a name in Python.
        ("shop/cart.py", "shop/basket.py", "major"),
        ("lib/shop/cart.py", "src/shop/cart.py", "patch"),
        ("shop/cart.py", "shop/cart/__init__.py", "patch"),
        ("packages/shop/src/cart.ts", "packages/shop/src/basket.ts", "patch"),
        ("packages/shop/src/cart.ts", "packages/till/src/cart.ts", "major"),
        ("shop/cart.go", "shop/basket.go", "patch"),
        ("shop/cart.go", "till/cart.go", "major"),
        ("shop/cart.py", "tests/cart.py", "major"),
    ],
)
def test_a_moved_name_is_gone_where_its_home_is_another(old: str, new: str, level: str) -> None:
    texts = {
        "java": cart("public void f() {}"),
        "py": "def f(): pass\n",
        "ts": "export const f = 1;\n",
        "go": "package shop\nfunc F() {}\n",
    }
    text = texts[old.rpartition(".")[2]]

    assert release_for(judged({old: text}, {new: text})) == level


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "old", "new", "reason"),
    [
        ("a.py", b"def f(): pass\n", b"def f(): return '\xff'\n", "not UTF-8 (byte 17)"),
        ("a.py", b"x = 1\n", b"x = 2\n" + b"#\n" * 600_000, "larger than 1024 KiB"),
        (
            "a.py",
            b"# coding: utf-7\nx = 1\n",
            b"y = 1\n",
            "it declares the encoding utf-7; only UTF-8 is read",
        ),
        ("a.java", b"class A { }\n", b"public class A { void f( { }\n", "line 1 does not parse"),
    ],
)
def test_unreadable_files_are_reported(path: str, old: bytes, new: bytes, reason: str) -> None:
    interface = judged({path: old}, {path: new})

    assert [(each.path, each.reason) for each in interface.unchecked] == [(path, reason)]
    assert f"not checked: {path} ({reason})" in check_public_names(interface).message


def test_a_text_that_is_missing_from_a_partial_clone_is_reported() -> None:
    pull, repository = both({"a.py": "def f(): pass\n"}, {"a.py": "x = 1\n"})
    repository.gone.add(pull.files[0].old_blob or "")
    interface = compare_public_names(pull, repository, Parser(), SOON)

    assert [each.reason for each in interface.unchecked] == [
        "its content is missing from this clone (partial or damaged)"
    ]
    assert interface.names == ()


def test_all_texts_are_read_at_once_and_none_that_offers_nothing() -> None:
    files = {"a.py": "x = 1\n", "b.py": "x = 1\n", "tests/c.py": "x = 1\n", "d.md": "d\n"}
    pull, repository = both(files, {path: f"\n{text}" for path, text in files.items()})
    compare_public_names(pull, repository, Parser(), SOON)

    (read,) = repository.reads
    assert len(read) == len({file.old_blob for file in pull.files[:2]} | {pull.files[0].new_blob})


def test_files_beyond_the_limits_of_a_pull_request_are_not_read() -> None:
    pull, repository = both({"a.py": "def a(): pass\n"}, {"a.py": "def b(): pass\n"})
    over = replace(pull, files=tuple(replace(f, unread=BEYOND_LIMIT) for f in pull.files))
    interface = compare_public_names(over, repository, Parser(), SOON)
    assert [(one.path, one.reason) for one in interface.unchecked] == [("a.py", BEYOND_LIMIT)]
    assert (interface.names, repository.reads) == ((), [])


def test_nothing_is_read_for_documentation() -> None:
    pull, repository = both({"a.md": "x\n"}, {"a.md": "y\n"})

    assert compare_public_names(pull, repository, Parser(), SOON) == Interface()
    assert repository.reads == []


def test_names_of_a_hostile_text_are_shown_as_one_line() -> None:
    path = "a/\u202eb.py"
    check = checks({path: "def f(): pass\n"}, {path: ""})["api"]

    assert "\\u202e" in check.message


@pytest.mark.parametrize(
    ("path", "tool"),
    [
        ("shop/migrations/0001_initial.py", "Django"),
        ("alembic/versions/ae10_add.py", "Alembic"),
        ("migrations/versions/ae10_add.py", "Alembic"),
        ("db/migrate/20240101_add_cart.rb", "Rails"),
        ("src/main/resources/db/migration/V1__add.sql", "Flyway"),
        ("src/main/resources/db/changelog/db.changelog-master.yaml", "Liquibase"),
        ("prisma/migrations/20240101_add/migration.sql", "Prisma"),
        ("src/migrations/1700000000000-add-cart.ts", "knex or TypeORM"),
        ("Data/Migrations/20240101000000_Add.cs", "Entity Framework"),
        ("migrations/0001_add.up.sql", "SQL"),
        ("Data/Migrations/ShopModelSnapshot.cs", None),
        ("shop/migrations/__init__.py", None),
        ("docs/changes/123.rst", None),
        ("tests/migrations/0001_initial.py", None),
        ("shop/migrations.py", None),
    ],
)
def test_migrations_are_known_by_where_they_are(path: str, tool: str | None) -> None:
    assert migration_tool(path) == tool


def test_migrations_have_a_check_of_their_own() -> None:
    path = "shop/migrations/0001_initial.py"
    check = checks({"a": "a\n"}, {"a": "a\n", path: "class Migration: pass\n"})["migrations"]

    assert (check.message, check.severity) == ("adds 1 migration (Django)", "warning")
    assert check.evidence == path
    assert checks({path: "a = 1\n"}, {path: "a = 2\n"})["migrations"].severity == "error"


def test_a_real_history_is_judged_from_its_objects(tmp_path: Path) -> None:
    history = History(tmp_path / "repo")
    history.commit({CART: cart("public int total(int x) { return x; }"), "shop/a.py": "x = 1\n"})
    history.switch("change", create=True)
    history.commit({CART: cart("public int total() { return 1; }"), "shop/a.py": "x = y = 1\n"})
    pull = snapshot(history)
    with open_store(open_repository(history.path)) as store:
        interface = compare_public_names(pull, store, Parser(), SOON)

    assert release_for(interface) == "major"
    assert [str(each.symbol.label) for each in interface.names] == ["y", "Cart.total()"]
    assert interface.unchecked == ()


COMMAND = "@cli.command()\n{}def run({}):\n    pass\n"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (COMMAND.format("", ""), COMMAND.format("@click.pass_context\n", "ctx")),
        (COMMAND.format("", ""), COMMAND.format('@click.option("--all")\n', "all")),
        (COMMAND.format("", "name"), COMMAND.format("", "name: str, count: int")),
        (COMMAND.format("", ""), "\n"),
    ],
)
def test_options_of_a_program_are_no_public_names(old: str, new: str) -> None:
    assert release_for(judged({"src/tool.py": old}, {"src/tool.py": new})) == "patch"


@pytest.mark.parametrize(
    "path",
    ["app/static/js/bootstrap.js", "web/bootstrap-3.4.1.min.js", "ui/vendor/d3.js", "docs/x.js"],
)
def test_vendored_scripts_are_no_public_names(path: str) -> None:
    old = {path: "export function show() {}\n"}
    assert release_for(judged(old, {path: "export function hide() {}\n"})) == "patch"
