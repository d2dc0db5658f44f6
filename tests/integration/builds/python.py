"""Fixture projects for Python: pytest by itself, a uv workspace, tox."""

from __future__ import annotations

from integration.builds.sample import Breakage, Sample, Tree, text

PYPI = "https://pypi.org/simple/pytest/"

_PRICE = text("""
    def twice(cents):
        return 2 * cents
""")
_TILL = text("""
    from {core} import twice


    def name():
        return "till" + str(twice(0))
""")
_LUCK_TEST = text("""
    from pathlib import Path


    def test_works_the_second_time():
        mark = Path(__file__).with_name("luck")
        known = mark.exists()
        mark.touch()
        assert known, "first time"
""")
_HALT_TEST = text("""
    import os
    import signal


    def test_ends():
        os.kill(os.getpid(), signal.SIGKILL)
""")


def _price_test(core: str) -> str:
    return text(f"""
        from {core} import twice


        def test_doubles():
            assert twice(2) == 4
    """)


def _till_test(app: str) -> str:
    return text(f"""
        from {app} import name


        def test_is_named():
            assert name() == "till0"
    """)


_PLAIN: Tree = {
    "shop/__init__.py": "",
    "shop/core.py": _PRICE,
    "shop/app.py": _TILL.format(core="shop.core"),
    "tests/test_core.py": _price_test("shop.core"),
    "tests/test_app.py": _till_test("shop.app"),
}
_PLAIN_BROKEN = Breakage(
    {"shop/core.py": _PRICE.replace("(cents)", "(cents")}, "shop/core.py:1", "SyntaxError"
)
_PLAIN_FAILING = Breakage(
    {"shop/core.py": _PRICE.replace("2 *", "3 *")}, "tests/test_core.py:5", "assert 6 == 4"
)
_PLAIN_WORSE = Breakage(
    {"shop/app.py": _TILL.format(core="shop.core").replace('"till"', '"drawer"')},
    "tests/test_app.py:5",
    "'drawer0' == 'till0'",
)

PYTEST = Sample(
    name="pytest",
    system="pytest",
    needs=("python3",),
    tree={
        "pyproject.toml": text("""
            [project]
            name = "shop"
            version = "1"

            [tool.pytest.ini_options]
            pythonpath = ["."]
        """),
        **_PLAIN,
    },
    harmless={"shop/note.py": "NOTE = 1\n"},
    broken=_PLAIN_BROKEN,
    failing=_PLAIN_FAILING,
    worse=_PLAIN_WORSE,
    luck={"tests/test_luck.py": _LUCK_TEST},
    deadly={"tests/test_halt.py": _HALT_TEST},
)

TOX = Sample(
    name="tox",
    system="tox",
    needs=("tox",),
    registry=PYPI,
    tree={
        "tox.ini": text("""
            [tox]
            env_list = py
            no_package = true

            [testenv]
            deps = pytest==8.4.2
            set_env = PYTHONPATH = {toxinidir}
            commands = pytest {posargs:tests}
        """),
        **_PLAIN,
    },
    harmless={"shop/note.py": "NOTE = 1\n"},
    broken=_PLAIN_BROKEN,
    failing=_PLAIN_FAILING,
    worse=_PLAIN_WORSE,
    deadly={"tests/test_halt.py": _HALT_TEST},
)


def _member(name: str, more: str = "") -> str:
    head = f'[project]\nname = "{name}"\nversion = "1"\nrequires-python = ">=3.11"\n'
    build = '\n[build-system]\nrequires = ["uv_build>=0.8,<1"]\nbuild-backend = "uv_build"\n'
    return head + more + build


_NEEDS_CORE = (
    'dependencies = ["shop_core"]\n\n[tool.uv.sources]\nshop_core = { workspace = true }\n'
)

UV = Sample(
    name="uv",
    system="uv",
    needs=("uv",),
    registry=PYPI,
    tree={
        "pyproject.toml": text("""
            [project]
            name = "shop"
            version = "1"
            requires-python = ">=3.11"

            [dependency-groups]
            dev = ["pytest==8.4.2"]

            [tool.uv]
            package = false

            [tool.uv.workspace]
            members = ["core", "app", "other"]

            [tool.pytest.ini_options]
            testpaths = ["core", "app", "other"]
        """),
        "core/pyproject.toml": _member("shop_core"),
        "core/src/shop_core/__init__.py": _PRICE,
        "core/tests/test_core.py": _price_test("shop_core"),
        "app/pyproject.toml": _member("shop_app", _NEEDS_CORE),
        "app/src/shop_app/__init__.py": _TILL.format(core="shop_core"),
        "app/tests/test_app.py": _till_test("shop_app"),
        "other/pyproject.toml": _member("shop_other"),
        "other/src/shop_other/__init__.py": "TICKS = True\n",
        "other/tests/test_other.py": text("""
            from shop_other import TICKS


            def test_ticks():
                assert TICKS
        """),
    },
    harmless={"core/src/shop_core/note.py": "NOTE = 1\n"},
    broken=Breakage(
        {"core/src/shop_core/__init__.py": _PRICE.replace("(cents)", "(cents")},
        "core/src/shop_core/__init__.py:1",
        "SyntaxError",
    ),
    failing=Breakage(
        {"core/src/shop_core/__init__.py": _PRICE.replace("2 *", "3 *")},
        "core/tests/test_core.py:5",
        "assert 6 == 4",
    ),
    worse=Breakage(
        {
            "app/src/shop_app/__init__.py": _TILL.format(core="shop_core").replace(
                '"till"', '"drawer"'
            )
        },
        "app/tests/test_app.py:5",
        "'drawer0' == 'till0'",
    ),
    luck={"core/tests/test_luck.py": _LUCK_TEST},
    deadly={"core/tests/test_halt.py": _HALT_TEST},
    lock=("uv", "lock"),
)
