"""Changes that break a function and keep its tests from saying so: none passes without a word."""

# ruff: noqa: E501 - files of other languages stand as they are

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from fakes.history import script
from fakes.tables import markdown
from integration.builds.court import Court
from integration.builds.sample import Tree, text

_PAGE = Path(__file__).resolve().parents[3] / ".github/docs/measured.md"
_PART = re.compile(r"(<!-- tricks -->\n).*?(<!-- end -->)", re.DOTALL)

ASK, NAMED, FAIL = "needs a human", "passes, the edited file is in the first line", "fails"
UNKNOWN, IGNORED = "could not be judged", "needs a human: failures are ignored"
_GATES = {
    ASK: "action_required",
    IGNORED: "action_required",
    UNKNOWN: "action_required",
    NAMED: "success",
    FAIL: "failure",
}


@dataclass(frozen=True)
class Trick:
    """One way to keep a broken function green.

    Attributes:
        system: whose tests they are.
        what: what the change does, for the table.
        files: what it changes beside the function that it breaks.
        ends: what becomes of it.
        word: a part of the first line.
        often: tried in every run of the tests, not only at night.
    """

    system: str
    what: str
    files: Tree
    ends: str = ASK
    word: str = "lost"
    often: bool = False


_TEST = text("""
    from shop import price, kind


    def test_price():
        assert price() == 1


    def test_kind():
        assert kind() == "book"
""")
_PYTEST: Tree = {
    "shop.py": "def price():\n    return 1\n\n\ndef kind():\n    return 'book'\n",
    "tests/test_shop.py": _TEST,
    "conftest.py": "",
    "pytest.ini": "[pytest]\npythonpath = .\n",
}
_PY_BROKEN: Tree = {"shop.py": "def price():\n    return 2\n\n\ndef kind():\n    return 'book'\n"}
_INI = "[pytest]\npythonpath = .\n"
_ITEMS = "def pytest_collection_modifyitems(items):\n"
_FORGED = (
    '<testsuite tests="2" failures="0"><testcase classname="tests.test_shop" name="test_price"/>'
    '<testcase classname="tests.test_shop" name="test_kind"/></testsuite>'
)
_NODE_TEST = text("""
    const test = require("node:test");
    const assert = require("node:assert");
    const { price, kind } = require("./shop.js");

    test("price", () => assert.strictEqual(price(), 1));
    test("kind", () => assert.strictEqual(kind(), "book"));
""")


def _package(script: str, **more: str) -> str:
    scripts = ", ".join(f'"{name}": "{line}"' for name, line in {**more, "test": script}.items())
    return f'{{"name": "shop", "version": "1.0.0", "scripts": {{{scripts}}}}}\n'


_NODE: Tree = {
    "package.json": _package("node --test"),
    "package-lock.json": (
        '{"name": "shop", "version": "1.0.0", "lockfileVersion": 3, "requires": true, '
        '"packages": {"": {"name": "shop", "version": "1.0.0"}}}\n'
    ),
    "shop.js": 'exports.price = () => 1;\nexports.kind = () => "book";\n',
    "shop.test.js": _NODE_TEST,
}
_NODE_BROKEN: Tree = {"shop.js": 'exports.price = () => 2;\nexports.kind = () => "book";\n'}
#: Not in a place where the tests would be found without make.
_MAKEFILE = "test:\n\tpython3 -m unittest -v checks/shop_case.py\n"
_UNIT = text("""
    import unittest
    import shop


    class ShopTest(unittest.TestCase):
        def test_price(self):
            self.assertEqual(shop.price(), 1)

        def test_kind(self):
            self.assertEqual(shop.kind(), "book")
""")
_MAKE: Tree = {"Makefile": _MAKEFILE, "shop.py": _PYTEST["shop.py"], "checks/shop_case.py": _UNIT}
_GO_TEST = text("""
    package shop

    import "testing"

    func TestPrice(t *testing.T) {
    \tif Price() != 1 {
    \t\tt.Fatal("price")
    \t}
    }

    func TestKind(t *testing.T) {
    \tif Kind() != "book" {
    \t\tt.Fatal("kind")
    \t}
    }
""")
_GO: Tree = {
    "go.mod": "module example.com/shop\n\ngo 1.20\n",
    "shop.go": 'package shop\n\nfunc Price() int { return 1 }\n\nfunc Kind() string { return "book" }\n',
    "shop_test.go": _GO_TEST,
}
_GO_BROKEN: Tree = {
    "shop.go": 'package shop\n\nfunc Price() int { return 2 }\n\nfunc Kind() string { return "book" }\n'
}
_RUST_TESTS = text("""
    #[cfg(test)]
    mod tests {
        #[test]
        fn price() {
            assert_eq!(super::price(), 1);
        }

        #[test]
        fn kind() {
            assert_eq!(super::kind(), "book");
        }
    }
""")


def _rust(price: int, tests: str = _RUST_TESTS) -> str:
    return f'pub fn price() -> i32 {{\n    {price}\n}}\n\npub fn kind() -> &\'static str {{\n    "book"\n}}\n\n{tests}'


_CARGO_TOML = '[package]\nname = "shop"\nversion = "1.0.0"\nedition = "2021"\n'
_CARGO: Tree = {
    "Cargo.toml": _CARGO_TOML,
    "Cargo.lock": '# @generated\nversion = 3\n\n[[package]]\nname = "shop"\nversion = "1.0.0"\n',
    "src/lib.rs": _rust(1),
}

PROJECTS: dict[str, tuple[tuple[str, ...], Tree, Tree]] = {
    "pytest": (("python3",), _PYTEST, _PY_BROKEN),
    "node": (("npm",), _NODE, _NODE_BROKEN),
    "make": (("make",), _MAKE, _PY_BROKEN),
    "go": (("go",), _GO, _GO_BROKEN),
    "cargo": (("cargo",), _CARGO, {"src/lib.rs": _rust(2)}),
}
_ALIVE = "from shop import kind\n\n\ndef test_kind():\n    assert kind() == 'book'\n"


def _marked(mark: str) -> Tree:
    return {
        "tests/test_shop.py": "import pytest\n"
        + _TEST.replace("def test_price", f"{mark}\ndef test_price")
    }


TRICKS = (
    Trick("pytest", "deletes a test", {"tests/test_shop.py": _ALIVE}, often=True),
    Trick(
        "pytest",
        "deletes the file of tests, beside others",
        {
            "tests/test_shop.py": None,
            "tests/test_other.py": "def test_nothing_else():\n    assert True\n",
        },
    ),
    Trick(
        "pytest",
        "replaces the tests",
        {"tests/test_shop.py": "def test_works():\n    assert True\n"},
    ),
    Trick(
        "pytest",
        "renames a test so that it is not collected",
        {"tests/test_shop.py": _TEST.replace("test_price", "check_price")},
    ),
    Trick(
        "pytest",
        "renames the file so that it is not collected",
        {
            "tests/test_shop.py": None,
            "tests/shop_checks.py": _TEST,
            "tests/test_other.py": "def test_other():\n    assert True\n",
        },
    ),
    Trick("pytest", "`@pytest.mark.skip`", _marked("@pytest.mark.skip"), often=True),
    Trick("pytest", "`@pytest.mark.skipif`", _marked("@pytest.mark.skipif(True, reason='later')")),
    Trick("pytest", "`@pytest.mark.xfail`", _marked("@pytest.mark.xfail")),
    Trick(
        "pytest",
        "skips all tests by a fixture",
        {
            "conftest.py": "import pytest\n\n\n@pytest.fixture(autouse=True)\ndef _skip():\n    pytest.skip('later')\n"
        },
    ),
    Trick(
        "pytest",
        "`pytest.skip(allow_module_level=True)`",
        {
            "tests/test_shop.py": "import pytest\npytest.skip('x', allow_module_level=True)\n"
            + _TEST,
            "tests/test_other.py": "def test_other():\n    assert True\n",
        },
    ),
    Trick(
        "pytest",
        "conftest.py deselects",
        {
            "conftest.py": _ITEMS
            + "    items[:] = [one for one in items if 'price' not in one.name]\n"
        },
        often=True,
    ),
    Trick(
        "pytest",
        "conftest.py: `collect_ignore_glob`",
        {
            "conftest.py": "collect_ignore_glob = ['tests/test_shop*']\n",
            "tests/test_other.py": "def test_other():\n    assert True\n",
        },
    ),
    Trick("pytest", "pytest.ini: `addopts = -k`", {"pytest.ini": _INI + "addopts = -k kind\n"}),
    Trick(
        "pytest",
        "pytest.ini: `--deselect`",
        {"pytest.ini": _INI + "addopts = --deselect tests/test_shop.py::test_price\n"},
    ),
    Trick(
        "pytest",
        "pytest.ini: `testpaths`",
        {
            "pytest.ini": _INI + "testpaths = other\n",
            "other/test_other.py": "def test_other():\n    assert True\n",
        },
    ),
    Trick(
        "pytest",
        "pytest.ini: `python_files`",
        {
            "pytest.ini": _INI + "python_files = other_*.py\n",
            "tests/other_one.py": "def test_other():\n    assert True\n",
        },
    ),
    Trick(
        "pytest",
        "pytest.ini: `python_functions`",
        {"pytest.ini": _INI + "python_functions = test_k*\n"},
    ),
    Trick(
        "pytest",
        "a new pytest.toml or pyproject.toml",
        {
            "pytest.ini": None,
            "pyproject.toml": "[tool.pytest.ini_options]\npythonpath = ['.']\naddopts = '-k kind'\n",
        },
    ),
    Trick(
        "pytest",
        "`pytest_runtest_makereport` says passed",
        {
            "conftest.py": "import pytest\n\n\n@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport():\n    out = yield\n    out.get_result().outcome = 'passed'\n    out.get_result().longrepr = None\n"
        },
        NAMED,
        "conftest.py",
        often=True,
    ),
    Trick(
        "pytest",
        "`pytest_pyfunc_call` runs nothing",
        {"conftest.py": "def pytest_pyfunc_call():\n    return True\n"},
        NAMED,
        "conftest.py",
    ),
    Trick(
        "pytest",
        "forges the report and ends by `os._exit(0)`",
        {
            "conftest.py": f"import os\n\n\ndef pytest_sessionstart(session):\n    with open(session.config.option.xmlpath, 'w') as file:\n        file.write('''{_FORGED}''')\n    os._exit(0)\n"
        },
        NAMED,
        "conftest.py",
    ),
    Trick(
        "pytest",
        "a pytest.py in the tree",
        {"pytest.py": "print('2 passed in 0.01s')\n"},
        UNKNOWN,
        "report missing",
    ),
    Trick(
        "pytest",
        "`os._exit(0)`",
        {"conftest.py": "import os\nos._exit(0)\n"},
        UNKNOWN,
        "report missing",
    ),
    Trick(
        "pytest",
        "`--collect-only`",
        {"pytest.ini": _INI + "addopts = --collect-only\n"},
        UNKNOWN,
        "report invalid",
    ),
    Trick(
        "pytest",
        "`session.exitstatus = 0`",
        {"conftest.py": "def pytest_sessionfinish(session):\n    session.exitstatus = 0\n"},
        FAIL,
        "1 new test failure",
    ),
    Trick(
        "pytest",
        "conftest.py patches the function",
        {"conftest.py": "import shop\n\nshop.price = lambda: 1\n"},
        NAMED,
        "conftest.py",
    ),
    Trick(
        "node",
        "`npm test || exit 0`",
        {"package.json": _package("node --test || exit 0")},
        IGNORED,
        "failures ignored",
    ),
    Trick(
        "node",
        '`"test": "true"`',
        {"package.json": _package("true")},
        ASK,
        "lost 2 tests",
        often=True,
    ),
    Trick(
        "node",
        "`.npmrc`: `script-shell`",
        {".npmrc": "script-shell=./s\n", "s": script("#!/bin/sh\nexit 0\n")},
        ASK,
        "lost",
    ),
    Trick(
        "node",
        "`pretest` empties the tests",
        {"package.json": _package("node --test", pretest="echo > shop.test.js")},
        ASK,
        "lost",
    ),
    Trick(
        "node",
        "`test.skip`",
        {"shop.test.js": _NODE_TEST.replace('test("price"', 'test.skip("price"')},
    ),
    Trick(
        "node",
        "`test.only`",
        {
            "shop.test.js": _NODE_TEST.replace('test("kind"', 'test.only("kind"'),
            "package.json": _package("node --test --test-only"),
        },
    ),
    Trick(
        "make",
        "`|| true`",
        {"Makefile": _MAKEFILE.replace(".py", ".py || true")},
        IGNORED,
        "failures ignored",
        often=True,
    ),
    Trick(
        "make",
        "`MAKEFLAGS += -i`",
        {"Makefile": "MAKEFLAGS += -i\n" + _MAKEFILE},
        IGNORED,
        "failures ignored",
    ),
    Trick(
        "make",
        "a GNUmakefile beside the Makefile",
        {"GNUmakefile": "test:\n\ttrue\n"},
        ASK,
        "lost",
    ),
    Trick(
        "make",
        "`SHELL = ./s`",
        {"Makefile": "SHELL = ./s\n" + _MAKEFILE, "s": script("#!/bin/sh\nexit 0\n")},
        ASK,
        "lost",
    ),
    Trick(
        "go",
        "a build tag",
        {"shop_test.go": "//go:build never\n\n" + _GO_TEST},
        ASK,
        "lost 2 tests",
        often=True,
    ),
    Trick(
        "go",
        "`_windows_test.go`",
        {"shop_test.go": None, "shop_windows_test.go": _GO_TEST},
        ASK,
        "lost",
    ),
    Trick(
        "go",
        "`TestMain` with `os.Exit(0)`",
        {
            "shop_test.go": _GO_TEST.replace(
                'import "testing"',
                'import (\n\t"os"\n\t"testing"\n)\n\nfunc TestMain(m *testing.M) { os.Exit(0) }',
            )
        },
        ASK,
        "lost",
    ),
    Trick(
        "go",
        "`t.Skip`",
        {
            "shop_test.go": _GO_TEST.replace(
                "TestPrice(t *testing.T) {", 'TestPrice(t *testing.T) {\n\tt.Skip("later")'
            )
        },
    ),
    Trick(
        "cargo",
        "`#[ignore]`",
        {
            "src/lib.rs": _rust(
                2,
                _RUST_TESTS.replace(
                    "#[test]\n    fn price", "#[test]\n    #[ignore]\n    fn price"
                ),
            )
        },
        often=True,
    ),
    Trick(
        "cargo",
        "`[lib] test = false`",
        {"Cargo.toml": _CARGO_TOML + "\n[lib]\ntest = false\n"},
        ASK,
        "lost",
    ),
    Trick(
        "cargo",
        "`#[cfg(feature)]` before the tests",
        {
            "src/lib.rs": _rust(
                2, _RUST_TESTS.replace("cfg(test)", 'cfg(all(test, feature = "slow"))')
            )
        },
        ASK,
        "lost",
    ),
)


def _named(trick: Trick) -> str:
    return f"{trick.system}: {trick.what}"


def _param(trick: Trick) -> object:
    marks = () if trick.often else (pytest.mark.nightly,)
    return pytest.param(trick, marks=marks, id=_named(trick))


@pytest.mark.parametrize("trick", [_param(trick) for trick in TRICKS])
def test_a_trick_is_told(trick: Trick, tmp_path: Path) -> None:
    court = Court.at(tmp_path)
    needs, base, broken = PROJECTS[trick.system]
    for program in needs:
        if not court.toolbox.has(program):
            pytest.skip(f"not installed: {program}")
    judged = court.judge(base, {**broken, **trick.files})
    report, system = judged.report, judged.build.metadata["system"]
    assert system == {"node": "npm"}.get(trick.system, trick.system)
    assert (report.gate.value, trick.word in report.headline) == (_GATES[trick.ends], True)


def test_the_table_of_tricks() -> None:
    rows = [(trick.system, trick.what.replace("|", r"\|"), trick.ends) for trick in TRICKS]
    table = markdown(("Tests of", "The change", "What becomes of it"), rows)
    page = _PAGE.read_text(encoding="utf-8")
    told = _PART.sub(lambda part: f"{part[1]}{table}\n{part[2]}", page)
    if os.environ.get("PRJURY_UPDATE_GOLDEN"):
        _PAGE.write_text(told, encoding="utf-8")
    assert told == page
