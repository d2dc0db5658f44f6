"""What a change uses and a branch lacks, and all that only looks like it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from fakes.repository import BASE, HEAD, FakeRepository, Files, as_bytes, pull_between
from prjury.code.references import words_of
from prjury.errors import SourceError
from prjury.judges.backport.checks.symbols import (
    MissingOnBranch,
    check_symbols,
    find_missing_symbols,
)
from prjury.judges.backport.references import find_used_names_and_modules
from prjury.ports.types import WordPlaces

TIP, OLDER = "d" * 40, "e" * 40


@dataclass
class FakeSearch(FakeRepository):
    """Looks through dictionaries; ``asked`` notes the words."""

    asked: list[list[str]] = field(default_factory=list)
    missing: tuple[str, ...] = ()
    refusal: SourceError | None = None

    def with_words(self, tree: str, words: Sequence[str]) -> WordPlaces:
        self.asked.append(list(words))
        if self.refusal:
            raise self.refusal
        held = {
            word: ((path, 1),)
            for path, content in self.commits[tree].items()
            for word in words
            if word in words_of(as_bytes(content))
        }
        return WordPlaces(held, self.missing)


def lacked(before: Files, after: Files, branch: Files) -> MissingOnBranch:
    commits = {BASE: before, HEAD: after, TIP: branch}
    repository = FakeRepository(commits)
    needs = find_used_names_and_modules(pull_between(before, after), repository)
    return find_missing_symbols(needs, TIP, FakeSearch(commits))


def names(before: Files, after: Files, branch: Files) -> list[str]:
    return [each.name for each in lacked(before, after, branch).symbols]


DEFINED = {
    "python": ("lib/helper.py", "def newer_way(x):\n    return x\n"),
    "java": ("src/main/java/a/Tool.java", "class Tool {\n  static int newerWay(int x) {\n  }\n}\n"),
    "typescript": ("src/tool.ts", "export function newerWay(x: number) {\n}\n"),
    "go": ("tool/tool.go", "package tool\n\nfunc NewerWay(x int) int {\n\treturn x\n}\n"),
    "rust": ("src/tool.rs", "pub fn newer_way(x: u32) -> u32 {\n    x\n}\n"),
    "c": ("src/tool.c", "int\nnewer_way(int x)\n{\n    return x;\n}\n"),
    "kotlin": ("src/main/kotlin/a/Tool.kt", "fun newerWay(x: Int): Int {\n    return x\n}\n"),
    "scala": ("src/main/scala/a/Tool.scala", "def newerWay(x: Int): Int = x\n"),
    "vue": ("src/tool.ts", "export function newerWay(x: number) {\n}\n"),
    "csharp": ("src/Tool.cs", "class Tool {\n  public static int NewerWay(int x) {\n  }\n}\n"),
    "swift": ("Sources/Tool.swift", "func newerWay(x: Int) -> Int {\n    return x\n}\n"),
    "dart": ("lib/tool.dart", "int newerWay(int x) {\n  return x;\n}\n"),
    "php": ("src/Tool.php", "<?php\nfunction newerWay($x) {\n}\n"),
}
USING = {
    "python": ("app.py", "y = 1\n", "y = newer_way(1)\n"),
    "java": (
        "src/main/java/a/App.java",
        "class App {\n}\n",
        "class App {\n  int y = Tool.newerWay(1);\n}\n",
    ),
    "typescript": ("src/app.ts", "let y = 1;\n", "let y = newerWay(1);\n"),
    "go": ("app.go", "package app\n", "package app\n\nvar y = tool.NewerWay(1)\n"),
    "rust": ("src/app.rs", "fn main() {\n}\n", "fn main() {\n    newer_way(1);\n}\n"),
    "c": ("src/app.c", "int y;\n", "int y;\nint z() { return newer_way(1); }\n"),
    "kotlin": ("src/main/kotlin/a/App.kt", "val y = 1\n", "val y = newerWay(1)\n"),
    "scala": ("src/main/scala/a/App.scala", "val y = 1\n", "val y = newerWay(1)\n"),
    "vue": ("src/App.vue", "<script>\n</script>\n", "<script>\nnewerWay(1)\n</script>\n"),
    "csharp": ("src/App.cs", "class App {\n}\n", "class App {\n  int y = Tool.NewerWay(1);\n}\n"),
    "swift": ("Sources/App.swift", "let y = 1\n", "let y = newerWay(1)\n"),
    "dart": ("lib/app.dart", "var y = 1;\n", "var y = newerWay(1);\n"),
    "php": ("src/app.php", "<?php\n$y = 1;\n", "<?php\n$y = newerWay(1);\n"),
}
SNAKE, PASCAL = {"python", "rust", "c"}, {"go", "csharp"}


@pytest.mark.parametrize("language", DEFINED)
def test_a_function_that_the_branch_has_not_got_yet_is_lacking(language: str) -> None:
    path, old, new = USING[language]
    tool, content = DEFINED[language]
    others = {tool: content}

    found = lacked({path: old, **others}, {path: new, **others}, {path: old}).symbols

    name = "newer_way" if language in SNAKE else "NewerWay" if language in PASCAL else "newerWay"
    wanted = next(each for each in found if each.name == name)
    assert (wanted.used[0].path, wanted.defined.path) == (path, tool)


@pytest.mark.parametrize("language", DEFINED)
def test_a_function_that_the_branch_has_is_not_lacking(language: str) -> None:
    path, old, new = USING[language]
    tool, content = DEFINED[language]
    moved = {f"old-{tool}": f"\n{content}"}

    assert not names({path: old, tool: content}, {path: new, tool: content}, {path: old, **moved})


HELPER = {"helper.py": "def newer_way(x):\n    return x\n"}


def python(added: str, helper: Files = HELPER, branch: Files | None = None) -> list[str]:
    before: dict[str, str | bytes] = {"app.py": "y = 1\n", **helper}
    after = {**before, "app.py": f"y = 1\n{added}"}
    return names(before, after, {"app.py": "y = 1\n", **(branch or {})})


@pytest.mark.parametrize(
    "added",
    [
        "# newer_way(1)\n",
        'z = "newer_way(1)"\n',
        '"""\nnewer_way(1)\n"""\n',
        "newer_way = 1\nnewer_way.x()\n",
        "def newer_way():\n    pass\nnewer_way()\n",
        "for newer_way in y:\n    newer_way()\n",
        "for a, newer_way in y:\n    newer_way()\n",
        "with y as newer_way:\n    newer_way.close()\n",
        "def f(a, newer_way):\n    newer_way()\n",
        "g(newer_way=1)\n",
        "y.newer_way = 1\ny.newer_way()\n",
        "z = newer_way\n",
    ],
    ids=lambda text: text.replace("\n", "; "),
)
def test_what_the_change_binds_itself_or_only_mentions_is_not_lacking(added: str) -> None:
    assert python(added) == []


@pytest.mark.parametrize(
    "added",
    [
        "newer_way(1)\n",
        "y.newer_way\n",
        "@newer_way\ndef f():\n    pass\n",
        "from helper import newer_way as old\n",
        'z = f"{newer_way(1)}"\n',
    ],
)
def test_a_reference_in_any_form_is_found(added: str) -> None:
    assert "newer_way" in python(added)


@pytest.mark.parametrize(
    "helper",
    [
        {},
        {"helper.py": "import other\nother.newer_way(2)\n"},
        {"helper.py": "# def newer_way(x):\n"},
        {"helper.py": '"""\ndef newer_way(x):\n"""\n'},
        {"helper.java": "class A {\n  void newer_way(int x) {\n  }\n}\n"},
        {"tests/test_a.py": "def newer_way(x):\n    return x\n"},
    ],
)
def test_a_name_that_nothing_of_the_project_defines_is_somebody_elses(helper: Files) -> None:
    assert python("newer_way(1)\n", helper) == []


def test_a_name_of_the_standard_library_is_not_lacking() -> None:
    assert python("import os\nos.path.newer_way(1)\n") == []


@pytest.mark.parametrize(
    "branch",
    [
        {"app.py": "y = 1\nnewer_way = print\n"},
        {"tools/make.sh.in": "newer_way is gone\n"},
        {"helper.py": "newer_way = None\n"},
        {"other/place.py": "def newer_way(): ...\n"},
    ],
)
def test_a_name_that_stands_anywhere_on_the_branch_is_not_lacking(branch: Files) -> None:
    assert python("newer_way(1)\n", branch=branch) == []


@pytest.mark.parametrize(
    ("path", "line", "module", "name"),
    [
        ("app/a.py", "from pkg.sub.tools import x\n", "src/pkg/sub/tools.py", "pkg.sub.tools"),
        ("app/a.py", "import pkg.sub.tools as t\n", "pkg/sub/tools/__init__.py", "pkg.sub.tools"),
        ("app/a.py", "from .tools import x\n", "app/tools.py", ".tools"),
        ("app/b/a.py", "from ..tools import x\n", "app/tools.pyx", "..tools"),
        ("app/a.py", "import tools\n", "lib/tools.py", "tools"),
        ("m/A.java", "import org.x.Tools;\n", "n/src/main/java/org/x/Tools.java", "org.x.Tools"),
        ("m/A.java", "import static org.x.Tools.a;\n", "n/org/x/Tools.kt", "org.x.Tools"),
        ("m/A.kt", "import org.x.Tools.Inner\n", "n/org/x/Tools.kt", "org.x.Tools"),
        ("src/a.ts", "import { x } from './tools';\n", "src/tools.tsx", "./tools"),
        ("src/b/a.ts", "import x from '../tools.js';\n", "src/tools.ts", "../tools.js"),
        ("src/a.ts", "import {\n  x,\n} from './tools';\n", "src/tools.ts", "./tools"),
        ("src/a.ts", "export * from './tools';\n", "src/tools.ts", "./tools"),
        ("src/a.js", "const x = require('./tools');\n", "src/tools/index.js", "./tools"),
        ("src/b/a.rs", "use crate::tools::x;\n", "src/tools/mod.rs", "crate::tools::x"),
        ("a/src/b.rs", "use crate::c::tools;\n", "a/src/c/tools.rs", "crate::c::tools"),
        ("a/b.go", 'import "x.org/m/tools"\n', "tools/t.go", "x.org/m/tools"),
    ],
)
def test_a_module_of_the_project_that_the_branch_has_not_got_yet_is_lacking(
    path: str, line: str, module: str, name: str
) -> None:
    others = {module: "\n", "go.mod": "module x.org/m\n"}
    before: Files = {path: "\n", **others}
    after: Files = {path: f"\n{line}", **others}

    found = lacked(before, after, {path: "\n"}).symbols

    assert [(each.name, each.defined.path) for each in found] == [(name, module)]
    assert not names(before, after, before)


def test_an_import_within_a_text_is_none() -> None:
    before: Files = {"a.py": "\n", "src/pkg/tools.py": "\n"}
    after = {**before, "a.py": '"""\nfrom pkg.tools import x\n"""\n'}

    assert not names(before, after, {"a.py": "\n"})


def test_an_import_in_a_file_that_cannot_be_read_is_not_claimed() -> None:
    before: Files = {"a.py": "\n", "src/pkg/tools.py": "\n"}
    after: Files = {**before, "a.py": b"from pkg.tools import x\n\xff\n"}

    found = lacked(before, after, {"a.py": "\n"})

    assert found == MissingOnBranch((), "imports in 1 file that could not be read")


def test_what_the_change_itself_brings_is_not_lacking() -> None:
    before: Files = {"app.py": "y = 1\n"}
    after: Files = {
        "app.py": "from pkg.tools import newer_way\nnewer_way(1)\n",
        **HELPER,
        "pkg/tools.py": "\n",
    }

    assert not names(before, after, before)


def test_a_change_without_code_reads_nothing() -> None:
    before, after = {"a.md": "x\n"}, {"a.md": "newer_way(1)\n"}
    repository = FakeRepository({BASE: before, HEAD: after, TIP: before})

    needs = find_used_names_and_modules(pull_between(before, after), repository)

    assert find_missing_symbols(needs, TIP, FakeSearch({})) == MissingOnBranch()
    assert repository.reads == []


@pytest.mark.parametrize(
    ("search", "told"),
    [
        (
            FakeSearch({}, refusal=SourceError("git grep took longer than 3 s")),
            "took longer than 3 s",
        ),
        (FakeSearch({TIP: {}}, missing=("gone.py",)), "1 file that this clone lacks"),
    ],
)
def test_what_cannot_be_searched_is_not_claimed(search: FakeSearch, told: str) -> None:
    before: Files = {"app.py": "y = 1\n", **HELPER}
    after = {**before, "app.py": "newer_way(1)\n"}
    repository = FakeRepository({BASE: before, HEAD: after, TIP: {"app.py": "y = 1\n"}})

    found = find_missing_symbols(
        find_used_names_and_modules(pull_between(before, after), repository), TIP, search
    )

    assert found.symbols == ()
    check = check_symbols(found, "1.x")
    assert (check.passed, check.severity) == (False, "hint")
    assert check.message.startswith("not checked: ")
    assert told in check.message


def test_a_missing_picture_keeps_nobody_from_a_claim() -> None:
    before: Files = {"app.py": "y = 1\n", **HELPER}
    after = {**before, "app.py": "newer_way(1)\n"}
    repository = FakeRepository({BASE: before, HEAD: after, TIP: {"app.py": "y = 1\n"}})
    search = FakeSearch({TIP: {}}, missing=("a.png",))

    found = find_missing_symbols(
        find_used_names_and_modules(pull_between(before, after), repository), TIP, search
    )

    assert [each.name for each in found.symbols] == ["newer_way"]


def test_the_report_says_where_a_name_is_used_and_where_it_is_defined() -> None:
    check = check_symbols(
        lacked(
            {"app.py": "y = 1\n", **HELPER},
            {"app.py": "newer_way(1)\n", **HELPER},
            {"app.py": "y = 1\n"},
        ),
        "1.0.x",
    )

    assert check.message == (
        "1.0.x lacks what the change uses: newer_way (app.py:1; on the base in helper.py:1)"
    )
    assert (check.passed, check.severity, str(check.location)) == (False, "error", "app.py:1")


def test_a_branch_with_everything_passes() -> None:
    assert check_symbols(MissingOnBranch(), "1.0.x").passed


def test_files_that_are_no_text_or_not_here_are_passed_over() -> None:
    before: Files = {"app.py": "y = 1\n", "b.py": b"\xff\xfedef newer_way(\0", **HELPER}
    after: Files = {**before, "app.py": "newer_way(1)\n", "b.py": b"\xff newer_way(1)\n"}
    commits = {BASE: before, HEAD: after, TIP: {"app.py": "y = 1\n"}}
    pull = pull_between(before, after)
    gone = {file.new_blob for file in pull.files if file.path == "app.py" and file.new_blob}
    repository = FakeRepository(commits, gone=gone)

    found = find_missing_symbols(
        find_used_names_and_modules(pull, repository), TIP, FakeSearch(commits)
    )

    assert found.symbols == ()
    assert check_symbols(found, "1.x").message == (
        "not checked: names in 3 files that could not be read"
    )
