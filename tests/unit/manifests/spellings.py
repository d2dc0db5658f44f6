"""Each way to write a version in each format of manifests."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

SPRING = "org.springframework:spring-core"


@dataclass(frozen=True)
class Spelling:
    """A manifest in which ``@`` stands for a version, or ``§`` where it needs an ``@``.

    Attributes:
        name: what patterns know the dependency by.
        label: what backports and conflicts know it by, where that is another name.
        versions: three versions that go up.
        files: further files of the tree.
        patterns: whether patterns have to do with it.
    """

    way: str
    path: str
    text: str
    name: str
    label: str = ""
    versions: tuple[str, str, str] = ("1.1.0", "1.2.0", "1.10.0")
    files: Mapping[str, str] = field(default_factory=dict)
    patterns: bool = True

    def at(self, number: int) -> str:
        """The manifest's text with one of the versions."""
        version = self.versions[number]
        digest = hashlib.sha256(version.encode()).hexdigest()
        text = self.text.replace("%hash%", digest).replace("%commit%", digest[:40])
        return text.replace("@", version) if "§" not in text else text.replace("§", version)

    @property
    def known_as(self) -> str:
        """What backports and conflicts know it by."""
        return self.label or self.name


def _pom(inside: str) -> str:
    return (
        '<?xml version="1.0"?>\n<project xmlns="http://maven.apache.org/POM/4.0.0">\n'
        f"<groupId>g</groupId>\n<artifactId>a</artifactId>\n{inside}\n</project>\n"
    )


_SPRING = "<groupId>org.springframework</groupId>\n<artifactId>spring-core</artifactId>\n"
_DEPENDENCY = f"<dependency>\n{_SPRING}<version>@</version>\n</dependency>"
_ONE_LINE = _DEPENDENCY.replace("\n", "")
_BY_PROPERTY = _DEPENDENCY.replace("@", "${spring.version}")
_PROPERTY = "<properties>\n<spring.version>@</spring.version>\n</properties>\n"
_MANAGED = "<dependencyManagement>\n<dependencies>\n{}\n</dependencies>\n</dependencyManagement>"


def _asked(inside: str) -> str:
    return f"<dependencies>\n{inside}\n</dependencies>"


_PLUGIN = (
    "<build>\n<plugins>\n<plugin>\n<groupId>p</groupId>\n<artifactId>q</artifactId>\n"
    "<version>@</version>\n</plugin>\n</plugins>\n</build>"
)
_PARENT = "<parent>\n<groupId>p</groupId>\n<artifactId>q</artifactId>\n<version>@</version>\n"

MAVEN = (
    Spelling("dependency", "pom.xml", _pom(_asked(_DEPENDENCY)), SPRING),
    Spelling("dependency on one line", "pom.xml", _pom(_asked(_ONE_LINE)), SPRING),
    Spelling(
        "property",
        "pom.xml",
        _pom(_PROPERTY + _asked(_BY_PROPERTY)),
        SPRING,
        "spring.version",
    ),
    Spelling("managed dependency", "pom.xml", _pom(_MANAGED.format(_DEPENDENCY)), SPRING),
    Spelling(
        "imported BOM",
        "pom.xml",
        _pom(
            _MANAGED.format(
                _DEPENDENCY.replace("</version>", "</version>\n<scope>import</scope>")
            )
        ),
        SPRING,
    ),
    Spelling("parent", "pom.xml", _pom(f"{_PARENT}</parent>"), "p:q"),
    Spelling("plugin", "pom.xml", _pom(_PLUGIN), "p:q"),
    Spelling(
        "test scope",
        "pom.xml",
        _pom(_asked(_DEPENDENCY.replace("</version>", "</version>\n<scope>test</scope>"))),
        SPRING,
    ),
    Spelling(
        "dependency of a profile",
        "pom.xml",
        _pom(f"<profiles>\n<profile>\n{_asked(_DEPENDENCY)}\n</profile>\n</profiles>"),
        SPRING,
    ),
    Spelling("the project itself", "pom.xml", _pom("<version>@</version>"), "g:a",
             "the project itself"),
)  # fmt: skip


def _gradle(way: str, line: str, path: str = "build.gradle", **more: str) -> Spelling:
    text = f"dependencies {{\n  {line}\n}}\n"
    return Spelling(way, path, text, more.get("name", SPRING), more.get("label", ""))


_CATALOG = "gradle/libs.versions.toml"
_USE = {"build.gradle": "dependencies {\n  api libs.spring\n}\n"}
GRADLE = (
    _gradle("string", "implementation 'org.springframework:spring-core:@'"),
    _gradle("string in Kotlin", 'api("org.springframework:spring-core:@")', "build.gradle.kts"),
    _gradle("map", "api group: 'org.springframework', name: 'spring-core', version: '@'"),
    _gradle(
        "map in Kotlin",
        'api(group = "org.springframework", name = "spring-core", version = "@")',
        "build.gradle.kts",
    ),
    _gradle("arguments", 'api("org.springframework", "spring-core", "@")', "build.gradle.kts"),
    _gradle("platform", "api platform('org.springframework:spring-core:@')"),
    _gradle("test configuration", "testImplementation 'org.springframework:spring-core:@'"),
    _gradle("script of another name", "api 'org.springframework:spring-core:@'", "shop.gradle"),
    Spelling(
        "plugin",
        "build.gradle",
        "plugins {\n  id 'p.q' version '@'\n}\n",
        "p.q:p.q.gradle.plugin",
        "p.q",
    ),
    Spelling(
        "variable",
        "build.gradle",
        'ext.spring = "@"\ndependencies {\n  api "org.springframework:spring-core:$spring"\n}\n',
        SPRING,
        "spring",
    ),
    Spelling(
        "quoted property",
        "build.gradle",
        "ext['springVersion'] = '@'\n"
        'dependencies {\n  api "org.springframework:spring-core:${springVersion}"\n}\n',
        SPRING,
        "springVersion",
    ),
    Spelling(
        "property in a file",
        "gradle.properties",
        "springVersion=@\n",
        SPRING,
        "springVersion",
        files={"build.gradle": 'api "org.springframework:spring-core:$springVersion"\n'},
    ),
    Spelling(
        "catalog: version",
        _CATALOG,
        '[versions]\nspring = "@"\n[libraries]\n'
        'spring = { module = "org.springframework:spring-core", version.ref = "spring" }\n',
        SPRING,
        "spring",
        files=_USE,
    ),
    Spelling(
        "catalog: string",
        _CATALOG,
        '[libraries]\nspring = "org.springframework:spring-core:@"\n',
        SPRING,
        files=_USE,
    ),
    Spelling(
        "catalog: table",
        _CATALOG,
        '[libraries]\nspring = { group = "org.springframework", name = "spring-core", '
        'version = "@" }\n',
        SPRING,
        files=_USE,
    ),
    Spelling(
        "catalog: rich version",
        _CATALOG,
        '[versions]\nspring = { strictly = "@" }\n[libraries]\n'
        'spring = { module = "org.springframework:spring-core", version.ref = "spring" }\n',
        SPRING,
        "spring",
        files=_USE,
    ),
    Spelling(
        "wrapper",
        "gradle/wrapper/gradle-wrapper.properties",
        "distributionUrl=https\\://services.gradle.org/distributions/gradle-@-bin.zip\n",
        "gradle",
        files={"build.gradle": "plugins { id 'java' }\n"},
    ),
)  # fmt: skip

_FROM_1, _RANGES = (">=1.1", ">=1.2", ">=1.10"), (">=1.1,<2", ">=1.2,<2", ">=1.10,<2")
_CARETS = ("^1.1", "^1.2", "^1.10")
_EXACT = ("1.1.0", "1.2.0", "1.10.0")


def _pyproject(way: str, text: str, versions: tuple[str, str, str] = _FROM_1) -> Spelling:
    return Spelling(way, "pyproject.toml", text, "numpy", versions=versions)


PYTHON = (
    Spelling("pin", "requirements.txt", "numpy==@\n", "numpy"),
    Spelling(
        "pin with hashes",
        "requirements.txt",
        "numpy==@ \\\n    --hash=sha256:%hash% \\\n    --hash=sha256:%hash%\n    # via x\n",
        "numpy",
    ),
    Spelling("pin with a remark", "requirements.txt", "numpy==@  # why\n", "numpy"),
    Spelling(
        "pin with a marker", "requirements.txt", 'numpy==@ ; python_version < "3.9"\n', "numpy"
    ),
    Spelling("range", "requirements/base.in", "numpy[all]@\n", "numpy", versions=_RANGES),
    Spelling("constraint", "constraints.txt", "numpy==@\n", "numpy", files={"setup.py": ""}),
    _pyproject("list", '[project]\nname = "x"\ndependencies = [\n  "numpy@",\n]\n'),
    _pyproject("list on one line", '[project]\nname = "x"\ndependencies = ["a", "numpy@"]\n'),
    _pyproject("range", '[project]\nname = "x"\ndependencies = [\n "numpy@"\n]\n', _RANGES),
    _pyproject("extra", '[project.optional-dependencies]\nfast = ["numpy@"]\n'),
    _pyproject("dependency group", '[dependency-groups]\ntest = ["numpy@"]\n'),
    _pyproject("build requirement", '[build-system]\nrequires = ["numpy@"]\n'),
    _pyproject("Poetry", '[tool.poetry.dependencies]\nnumpy = "@"\n', _CARETS),
    _pyproject(
        "Poetry: table",
        '[tool.poetry.dependencies]\nnumpy = { version = "@", extras = ["b"] }\n',
        _CARETS,
    ),
    _pyproject("Poetry: group", '[tool.poetry.group.dev.dependencies]\nnumpy = "@"\n', _CARETS),
    Spelling(
        "the project itself",
        "pyproject.toml",
        '[project]\nname = "x"\nversion = "@"\n',
        "x",
        "the project itself",
    ),
    Spelling(
        "Python itself",
        "pyproject.toml",
        '[project]\nname = "x"\nrequires-python = "@"\n',
        "python",
        versions=_FROM_1,
    ),
    Spelling(
        "list", "setup.cfg", "[options]\ninstall_requires =\n    numpy@\n", "numpy",
        versions=_FROM_1,
    ),
    Spelling(
        "list", "setup.py", 'setup(name="x", install_requires=["numpy@"])\n', "numpy",
        versions=_FROM_1,
    ),
    Spelling("package", "Pipfile", '[packages]\nnumpy = "==@"\n', "numpy"),
)  # fmt: skip


def _npm(way: str, inside: str, name: str = "react", **more: str) -> Spelling:
    return Spelling(
        way,
        "package.json",
        f'{{\n "name": "x",\n {inside}\n}}\n',
        name,
        more.get("label", ""),
        versions=_CARETS,
    )


NODE = (
    _npm("dependency", '"dependencies": {\n  "react": "@"\n }'),
    Spelling(
        "all on one line",
        "package.json",
        '{"dependencies": {"a": "^3", "react": "@"}}\n',
        "react",
        versions=_CARETS,
    ),
    _npm("development", '"devDependencies": {\n  "react": "@"\n }'),
    _npm("peer", '"peerDependencies": {\n  "react": "@"\n }'),
    _npm("optional", '"optionalDependencies": {\n  "react": "@"\n }'),
    Spelling(
        "another name",
        "package.json",
        '{\n "dependencies": {\n  "old": "npm:react@§"\n }\n}\n',
        "react",
        versions=_CARETS,
    ),
    _npm("override", '"overrides": {\n  "react": "@"\n }'),
    _npm("resolution", '"resolutions": {\n  "react": "@"\n }'),
    _npm("Node itself", '"engines": {\n  "node": "@"\n }', "node"),
    Spelling(
        "package manager",
        "package.json",
        '{\n "packageManager": "pnpm@§"\n}\n',
        "pnpm",
    ),
    Spelling(
        "catalog",
        "pnpm-workspace.yaml",
        "catalog:\n  react: @\n",
        "react",
        versions=_CARETS,
        files={"package.json": '{"dependencies": {"react": "catalog:"}}\n'},
    ),
    Spelling("Node itself", ".nvmrc", "v@\n", "node", files={"package.json": "{}\n"}),
)

_GO = ("v1.1.0", "v1.2.0", "v1.10.0")
OTHERS = (
    Spelling(
        "block", "go.mod", "module m\nrequire (\n\ta.b/c @\n)\n", "a.b/c", versions=_GO,
    ),
    Spelling(
        "line", "go.mod", "module m\nrequire a.b/c @\n", "a.b/c", versions=_GO,
    ),
    Spelling(
        "indirect", "go.mod", "module m\nrequire a.b/c @ // indirect\n", "a.b/c", versions=_GO,
    ),
    Spelling(
        "replacement",
        "go.mod",
        "module m\nrequire a.b/c v1.0.0\nreplace a.b/c => a.b/c @\n",
        "a.b/c",
        versions=_GO,
    ),
    Spelling("Go itself", "go.mod", "module m\ngo @\n", "go"),
    Spelling("string", "Cargo.toml", '[dependencies]\nserde = "@"\n', "serde"),
    Spelling(
        "inline table",
        "Cargo.toml",
        '[dependencies]\nserde = { version = "@", features = ["b"] }\n',
        "serde",
    ),
    Spelling("table", "Cargo.toml", '[dependencies.serde]\nversion = "@"\n', "serde"),
    Spelling(
        "development", "Cargo.toml", '[dev-dependencies]\nserde = "@"\n', "serde",
    ),
    Spelling(
        "target", "Cargo.toml", "[target.'cfg(unix)'.dependencies]\nserde = \"@\"\n", "serde",
    ),
    Spelling(
        "workspace", "Cargo.toml", '[workspace.dependencies]\nserde = "@"\n', "serde",
    ),
    Spelling(
        "another name", "Cargo.toml", '[dependencies]\ns = { package = "serde", version = "@" }\n',
        "serde",
    ),
    Spelling(
        "reference",
        "App.csproj",
        '<Project>\n<ItemGroup>\n<PackageReference Include="Serilog" Version="@" />\n'
        "</ItemGroup>\n</Project>\n",
        "serilog",
    ),
    Spelling(
        "central version",
        "Directory.Packages.props",
        '<Project>\n<ItemGroup>\n<PackageVersion Include="Serilog" Version="@" />\n'
        "</ItemGroup>\n</Project>\n",
        "serilog",
        files={"App.csproj": "<Project/>\n"},
    ),
    Spelling(
        "tag", ".github/workflows/ci.yml", "steps:\n- uses: a/b@§\n", "a/b", versions=_GO
    ),
    Spelling(
        "commit with a remark",
        ".github/workflows/ci.yml",
        "steps:\n- uses: a/b@%commit% # §\n",
        "a/b",
        versions=_GO,
    ),
    Spelling("tag", "action.yml", "runs:\n  steps:\n  - uses: a/b@§\n", "a/b", versions=_GO),
    Spelling(
        "revision",
        ".pre-commit-config.yaml",
        "repos:\n- repo: https://a/b\n  rev: @\n",
        "https://a/b",
        versions=_GO,
        patterns=False,
    ),
    Spelling(
        "commit with a remark",
        ".pre-commit-config.yaml",
        "repos:\n- repo: https://a/b\n  rev: %commit%  # frozen: @\n",
        "https://a/b",
        versions=_GO,
        patterns=False,
    ),
)  # fmt: skip

#: Lock files: patterns read them; backports and conflicts take each for a file that a tool writes.
LOCKS = (
    Spelling(
        "lock file", "uv.lock", '[[package]]\nname = "numpy"\nversion = "@"\n', "numpy",
        files={"pyproject.toml": '[project]\nname = "x"\n'},
    ),
    Spelling(
        "lock file", "poetry.lock", '[[package]]\nname = "numpy"\nversion = "@"\n', "numpy",
        files={"pyproject.toml": '[tool.poetry]\nname = "x"\n'},
    ),
    Spelling(
        "lock file", "package-lock.json",
        '{"packages": {"node_modules/react": {"version": "@"}}}\n', "react",
        files={"package.json": '{"scripts": {"test": "x"}, "dependencies": {"react": "^1"}}\n'},
    ),
    Spelling(
        "lock file", "yarn.lock", 'react@^1:\n  version "§"\n', "react",
        files={"package.json": '{"scripts": {"test": "x"}, "dependencies": {"react": "^1"}}\n'},
    ),
    Spelling(
        "lock file", "Cargo.lock", '[[package]]\nname = "serde"\nversion = "@"\n', "serde",
        files={"Cargo.toml": '[package]\nname = "x"\n'},
    ),
)  # fmt: skip

SPELLINGS = (*MAVEN, *GRADLE, *PYTHON, *NODE, *OTHERS)
