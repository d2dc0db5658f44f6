"""Reading what Python projects declare."""

from __future__ import annotations

import pytest

from prjury.manifests.formats import read_pipfile_lock, reader_of
from prjury.manifests.manifest import Manifest, ManifestError, Role
from prjury.manifests.python import read_pipfile, read_pyproject
from prjury.manifests.setuptools import read_requirements, read_setup_cfg, read_setup_py

Told = list[tuple[str, str, str | None]]


def told(manifest: Manifest, role: Role = Role.DEPENDENCY) -> Told:
    return [(c.ecosystem, c.artifact, c.version) for c in manifest.coordinates if c.role is role]


PYPROJECT = b"""\
[build-system]
requires = ["setuptools>=68", "wheel"]

[project]
name = "My.Project"
version = "1.2"
dynamic = ["readme"]
requires-python = ">=3.9"
dependencies = [
  "Django>=4.2,<5",  # the web
  # "flask>=1",
  "Ruamel.YAML",
  'importlib-metadata >= 4 ; python_version < "3.10"',
  "local @ file:///tmp/x",
]

[project.optional-dependencies]
test = ["pytest>=7"]

[dependency-groups]
dev = ["ruff==0.5", {include-group = "docs"}, "django==4.2.9"]
docs = ["sphinx"]

[tool.uv]
override-dependencies = ["werkzeug==2.3"]
constraint-dependencies = ["grpcio<1.65"]

[tool.hatch.envs.lint]
dependencies = ["mypy>=1"]
"""


def test_a_pyproject() -> None:
    manifest = read_pyproject(PYPROJECT)
    assert told(manifest) == [
        ("pypi", "django", "<5,>=4.2"),
        ("pypi", "ruamel-yaml", None),
        ("pypi", "importlib-metadata", ">=4"),
        ("pypi", "local", None),
        ("pypi", "pytest", ">=7"),
        ("pypi", "ruff", "==0.5"),
        ("pypi", "django", "==4.2.9"),
        ("pypi", "sphinx", None),
        ("pypi", "mypy", ">=1"),
    ]
    assert told(manifest, Role.SELF) == [("pypi", "my-project", "1.2")]
    assert told(manifest, Role.MANAGED) == [
        ("runtime", "python", ">=3.9"),
        ("pypi", "werkzeug", "==2.3"),
    ]
    assert told(manifest, Role.LOCKED) == [("pypi", "grpcio", "<1.65")]
    assert told(manifest, Role.PLUGIN) == [
        ("pypi", "setuptools", ">=68"),
        ("pypi", "wheel", None),
    ]


def test_what_only_extras_and_groups_ask_for_is_optional() -> None:
    manifest = read_pyproject(
        b"""\
[project]
dependencies = ["six", "attrs>=20"]
[project.optional-dependencies]
new = ["numpy>=2", "six>=1.16"]
old = ["numpy<2", "attrs<19"]
[dependency-groups]
dev = ["numpy>=2"]
"""
    )
    assert [(c.artifact, c.version, c.lines, c.optional) for c in manifest.coordinates] == [
        ("six", None, (2,), False),
        ("attrs", ">=20", (2,), False),
        ("numpy", ">=2", (4, 7), True),
        ("six", ">=1.16", (4,), True),
        ("numpy", "<2", (5,), True),
        ("attrs", "<19", (5,), True),
        ("numpy", ">=2", (4, 7), True),
    ]


POETRY = b"""\
[tool.poetry]
name = "app"
version = "0.1.0"
[tool.poetry.dependencies]
python = "^3.8"
django = { version = "^4.2", extras = ["argon2"] }
any = "*"
old = [{ version = "<2", python = "<3.9" }, { version = ">=2", python = ">=3.9" }]
here = { path = "../here" }
[tool.poetry.group.dev.dependencies]
pytest = "~7.4"
[tool.poetry.dev-dependencies]
black = "23.1"
"""


def test_poetry() -> None:
    manifest = read_pyproject(POETRY)
    assert told(manifest) == [
        ("pypi", "django", "^4.2"),
        ("pypi", "any", None),
        ("pypi", "old", "<2"),
        ("pypi", "old", ">=2"),
        ("pypi", "here", None),
        ("pypi", "black", "23.1"),
        ("pypi", "pytest", "~7.4"),
    ]
    assert told(manifest, Role.MANAGED) == [("runtime", "python", "^3.8")]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_encodings_and_line_ends(encoding: str, end: str) -> None:
    content = PYPROJECT.decode().replace("\n", end).encode(encoding)
    assert read_pyproject(content) == read_pyproject(PYPROJECT)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"[project", "not TOML"),
        (b"\xff\xfe\xff", "not UTF-1"),
        (b"x = '\xff'", "not UTF-8"),
        (b"x\0", "NUL"),
        (b"x = " + b"[" * 15_000, "nested without end"),
        (b"a." * 9_000 + b"a = 1", "more than 40 parts"),
    ],
)
def test_what_is_no_pyproject(content: bytes, reason: str) -> None:
    with pytest.raises(ManifestError, match=reason):
        read_pyproject(content)


REQUIREMENTS = b"""\
# comment
-r base.txt
--requirement=more/dev.txt
-c constraints.txt
--index-url https://example.org/simple
Django==4.2.1 \\
    --hash=sha256:aaaa \\
    --hash=sha256:bbbb
requests[security]>=2.8.1,==2.8.* ; python_version < "3.8"  # old
urllib3 @ https://example.org/urllib3.zip
git+https://example.org/x.git@v1#egg=Some_Egg
-e git+https://example.org/y.git#egg=other
-e .
./local
celery
pytz>dev
# numpy==1.0

This is no requirement
numpy >= 2 --no-binary :all:
"""


def test_requirements() -> None:
    manifest = read_requirements(REQUIREMENTS)
    assert told(manifest) == [
        ("pypi", "django", "==4.2.1"),
        ("pypi", "requests", "==2.8.*,>=2.8.1"),
        ("pypi", "urllib3", None),
        ("pypi", "some-egg", None),
        ("pypi", "other", None),
        ("pypi", "celery", None),
        ("pypi", "pytz", None),
        ("pypi", "numpy", ">=2"),
    ]
    assert manifest.includes == ("base.txt", "more/dev.txt", "constraints.txt")
    assert [c.lines for c in manifest.coordinates] == [
        (6,), (9,), (10,), (11,), (12,), (15,), (16,), (20,)
    ]  # fmt: skip


def test_constraints_only_lock() -> None:
    assert told(read_requirements(b"numpy<2\n", Role.LOCKED), Role.LOCKED) == [
        ("pypi", "numpy", "<2")
    ]


def test_a_setup_cfg() -> None:
    content = b"""\
[metadata]
name = app
version = attr: app.__version__
[options]
python_requires = >=3.7
install_requires =
    # a comment
    Django>=3.2
    numpy
[options.extras_require]
test = pytest>=7; python_version>"3"
"""
    manifest = read_setup_cfg(content)
    assert told(manifest) == [
        ("pypi", "django", ">=3.2"),
        ("pypi", "numpy", None),
        ("pypi", "pytest", ">=7"),
    ]
    assert told(manifest, Role.SELF) == [("pypi", "app", None)]
    assert told(manifest, Role.MANAGED) == [("runtime", "python", ">=3.7")]
    assert {c.artifact: c.lines for c in manifest.coordinates}["django"] == (8,)
    assert read_setup_cfg(b"[flake8]\nmax-line-length = 99\n").coordinates == ()
    with pytest.raises(ManifestError, match="not a configuration file"):
        read_setup_cfg(b"name = app\n")


SETUP = b"""\
import os
from setuptools import setup
NAME = "app"
twice = ["a"]
twice = ["b"]
BASE = ["Django>=3.2", "six"]
def read():
    return open("requirements.txt").read().split()
setup(
    name=NAME,
    version="1.0",
    python_requires=">=3.6",
    install_requires=BASE + ["numpy<2"] + read(),
    extras_require={"test": "pytest\\nmock>=1", "x": twice},
    classifiers=["Framework :: Django"],
)
"""


def test_a_setup_py_is_read_and_not_run() -> None:
    manifest = read_setup_py(SETUP)
    assert told(manifest) == [
        ("pypi", "django", ">=3.2"),
        ("pypi", "six", None),
        ("pypi", "numpy", "<2"),
        ("pypi", "pytest", None),
        ("pypi", "mock", ">=1"),
    ]
    assert told(manifest, Role.SELF) == [("pypi", "app", "1.0")]
    assert told(manifest, Role.MANAGED) == [("runtime", "python", ">=3.6")]
    assert {c.artifact: c.lines for c in manifest.coordinates}["numpy"] == (13,)


@pytest.mark.parametrize(
    "content",
    [
        b"args = dict(python_requires='>=3.5')\nargs['zip_safe'] = False\nsetup(**args)",
        b"args = {'python_requires': '>=3.5', **more}\nsetup(name='a', **args)",
        b"setup(**{'python_requires': '>=3.5'})",
    ],
)
def test_arguments_of_setup_may_come_from_elsewhere(content: bytes) -> None:
    runtimes = [each for each in read_setup_py(content).coordinates if each.ecosystem == "runtime"]
    assert [(each.artifact, each.version) for each in runtimes] == [("python", ">=3.5")]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"import setuptools\nsetuptools.setup()",
        b"setup(**options)",
        b"A = B\nB = A\nsetup(install_requires=A)",
        b"setup(install_requires='%s' % 1)",
        b"setup(version='\\d')",
    ],
)
def test_a_setup_py_that_says_nothing(content: bytes) -> None:
    assert read_setup_py(content).coordinates == ()


def test_a_pipfile() -> None:
    content = b"""\
[[source]]
url = "https://pypi.org/simple"
[packages]
django = ">=4"
requests = {version = "*", extras = ["socks"]}
[dev-packages]
pytest = "==7.1"
[requires]
python_version = "3.11"
"""
    manifest = read_pipfile(content)
    assert told(manifest) == [
        ("pypi", "django", ">=4"),
        ("pypi", "requests", None),
        ("pypi", "pytest", "==7.1"),
    ]
    assert told(manifest, Role.MANAGED) == [("runtime", "python", "==3.11.*")]


def test_locks() -> None:
    lock = b"""\
version = 1
[[package]]
name = "Django"
version = "4.2.1"
source = { registry = "https://pypi.org/simple" }

[[package]]
name = "app"
source = { editable = "." }
"""
    assert told(reader_of("uv.lock", "")(lock), Role.LOCKED) == [("pypi", "django", "==4.2.1")]
    pipfile = b'{"default": {"Django": {"version": "==4.2"}, "x": {"git": "y"}}, "develop": {}}'
    assert told(read_pipfile_lock(pipfile), Role.LOCKED) == [("pypi", "django", "==4.2")]
