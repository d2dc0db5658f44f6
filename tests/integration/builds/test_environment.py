"""Faults of the machine and the network, with the tools themselves: not judged, and what to do."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from integration.builds.court import Court
from integration.builds.jvm import CENTRAL, GRADLE, MAVEN
from integration.builds.registry import Addresses, failing
from integration.builds.sample import Tree
from integration.builds.toolbox import answers
from prjury.jury.gate import Gate
from prjury.jury.judgment import Status

PYTHON = f"{sys.base_prefix}/bin/python3"
PIP = f"{PYTHON} -m pip --disable-pip-version-check install --retries 1 --no-input --target there"
NPM = "npm install --fetch-retries=0 --no-audit --no-fund"
NEW_JDK, OLD_JDK = "/usr/lib/jvm/temurin-25-jdk-amd64", "/usr/lib/jvm/java-17-openjdk-amd64"
CARGO: Tree = {
    "Cargo.toml": '[package]\nname = "a"\nversion = "0.1.0"\nrust-version = "1.999"\n',
    "src/lib.rs": "",
}
GO: Tree = {"go.mod": "module a\n\ngo 1.999\n", "a.go": "package a\n", "a_test.go": "package a\n"}
NEEDY_GO: Tree = {
    "go.mod": "module a\n\ngo 1.21\n\nrequire nowhere.example/b v1.0.0\n",
    "go.sum": "",
    "a.go": 'package a\n\nimport _ "nowhere.example/b"\n',
}
NEEDY_CARGO: Tree = {
    "Cargo.toml": (
        '[package]\nname = "a"\nversion = "0.1.0"\n[dependencies]\nno-such-crate-here = "1"\n'
    ),
    "src/lib.rs": "",
    ".cargo/config.toml": (
        '[source.crates-io]\nreplace-with = "ours"\n'
        '[source.ours]\nregistry = "sparse+PLAIN/503/"\n[net]\nretry = 0\n'
    ),
}
SHOP = """<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>shop</groupId>
  <artifactId>shop</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  PART
</project>
"""
SETTINGS = """<settings><mirrors><mirror>
  <id>m</id><mirrorOf>*</mirrorOf><url>PLAIN/503/</url>
</mirror></mirrors></settings>
"""
PARENT = (
    "<parent><groupId>nowhere</groupId><artifactId>parent</artifactId><version>1</version></parent>"
)


def package(**more: object) -> str:
    return json.dumps({"name": "a", "version": "1.0.0", **more})


NEW_NODE: Tree = {
    "package.json": package(engines={"node": "99.x"}),
    ".npmrc": "engine-strict=true\n",
}
NEW_PYTHON: Tree = {
    "pyproject.toml": '[project]\nname = "a"\nversion = "1"\nrequires-python = ">=3.99"\n'
}
FULL = 'open("/dev/full", "w").write("x" * 99999)'


@dataclass(frozen=True)
class Fault:
    """A project that cannot be built here.

    Attributes:
        remedy: a part of what the judge says must be done.
        command: of the policy; the words of `Addresses` stand for those.
        needs: the programs without which there is nothing to see.
        environ: what differs in the operator's environment.
    """

    name: str
    remedy: str
    command: str = "auto"
    tree: Tree = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    environ: Mapping[str, str] = field(default_factory=dict)


DOWNLOADS = [
    Fault("pip-503", "any version of `nowhere`", f"{PIP} --index-url PLAIN/503/ nowhere"),
    Fault("pip-dns", "correct the address", f"{PIP} --index-url https://r.invalid/ nowhere"),
    Fault("pip-refused", "check the network", f"{PIP} --index-url CLOSED/ nowhere"),
    Fault("pip-tls", "SSL_CERT_FILE", f"{PIP} --index-url TLS/503/ nowhere"),
    Fault(
        "pip-proxy", "correct HTTPS_PROXY", f"{PIP} --index-url https://r.invalid/ nowhere",
        environ={"HTTPS_PROXY": "CLOSED", "NO_PROXY": ""},
    ),
    Fault(
        "uv-503", "run it again later",
        "UV_HTTP_RETRIES=0 uv pip install --target there --index-url PLAIN/503/ nowhere",
        needs=("uv",),
    ),
    Fault(
        "npm-429", "limits requests", f"{NPM} nowhere-at-all", {"package.json": package()},
        ("npm",), {"NPM_CONFIG_REGISTRY": "PLAIN/429/"},
    ),
    Fault(
        "npm-dns", "correct the address", f"{NPM} nowhere-at-all", {"package.json": package()},
        ("npm",), {"NPM_CONFIG_REGISTRY": "https://r.invalid/"},
    ),
    Fault(
        "npm-tls", "NODE_EXTRA_CA_CERTS", f"{NPM} nowhere-at-all", {"package.json": package()},
        ("npm",), {"NPM_CONFIG_REGISTRY": "TLS/"},
    ),
    Fault("cargo-503", "run it again later", "cargo test", NEEDY_CARGO, ("cargo",)),
    Fault(
        "go-503", "run it again later", "go mod download", NEEDY_GO, ("go",),
        {"GOPROXY": "PLAIN/503", "GONOSUMDB": "*", "GOTOOLCHAIN": "local"},
    ),
    Fault(
        "go-off", "allow the network", "go mod download", NEEDY_GO, ("go",),
        {"GOPROXY": "off", "GOTOOLCHAIN": "local"},
    ),
    Fault("git-dns", "correct the address", "git clone -q https://r.invalid/a b", needs=("git",)),
    Fault("curl-tls", "SSL_CERT_FILE", "curl -fsS TLS/ -o a", needs=("curl",)),
]  # fmt: skip

TOOLS = [
    Fault("rustc", "wants Rust 1.999", tree=CARGO, needs=("cargo",)),
    Fault("go", "wants Go 1.999; here is 1.", "auto", GO, ("go",), {"GOTOOLCHAIN": "local"}),
    Fault(
        "go-toolchain", "install that Go", "go build ./...", GO, ("go",),
        {"GOTOOLCHAIN": "auto", "GOPROXY": "PLAIN/404"},
    ),
    Fault("rustup", "install that toolchain", "cargo test", {
        "Cargo.toml": '[package]\nname = "a"\nversion = "0.1.0"\n', "src/lib.rs": "",
        "rust-toolchain.toml": '[toolchain]\nchannel = "1.11.0"\n',
    }, ("cargo", "rustup"), {"RUSTUP_DIST_SERVER": "PLAIN/404"}),
    Fault(
        "javac", "wants JDK 99", "javac --release 99 A.java", {"A.java": "class A {}\n"}, ("javac",)
    ),
    Fault(
        "engines-npm", "wants Node 99.x", f"{NPM}",
        NEW_NODE, ("npm",),
    ),
    Fault(
        "uv-python", "install that Python", "uv run --frozen python -V",
        NEW_PYTHON, ("uv",),
    ),
    Fault(
        "uv-pip-python", "wants Python >=3.99", "uv pip install --target there .",
        NEW_PYTHON,
        ("uv",),
    ),
    Fault(
        "class-files", "wants JDK 25", f"{NEW_JDK}/bin/javac A.java && {OLD_JDK}/bin/java A",
        {"A.java": "class A { public static void main(String[] a) {} }\n"},
        (f"{NEW_JDK}/bin/javac", f"{OLD_JDK}/bin/java"),
    ),
    Fault("cmake", "wants CMake 99", "cmake .", {
        "CMakeLists.txt": "cmake_minimum_required(VERSION 99.0)\nproject(a NONE)\n",
    }, ("cmake",)),
    Fault("meson", "wants Meson >=99", "meson setup b", {
        "meson.build": "project('a', meson_version: '>=99')\n",
    }, ("meson",)),
    Fault("bundler", "wants Ruby 9.9", "bundle install --local", {
        "Gemfile": 'source "https://rubygems.org"\nruby "9.9.9"\n',
    }, ("bundle",)),
    Fault("composer", "install that PHP", "composer install --no-interaction", {
        "composer.json": '{"name": "a/b", "require": {"php": ">=99"}}\n',
    }, ("composer",)),
    Fault("mix", "wants Elixir", "mix compile", {
        "mix.exs": (
            "defmodule A.MixProject do\n  use Mix.Project\n"
            '  def project, do: [app: :a, version: "1.0.0", elixir: "~> 99.0"]\nend\n'
        ),
    }, ("mix",)),
]  # fmt: skip

ENFORCED = """<build><plugins><plugin>
    <artifactId>maven-enforcer-plugin</artifactId>
    <version>3.5.0</version>
    <executions><execution>
      <goals><goal>enforce</goal></goals>
      <configuration><rules>RULE</rules></configuration>
    </execution></executions>
  </plugin></plugins></build>"""
TOOLCHAIN = """<build><plugins><plugin>
    <artifactId>maven-toolchains-plugin</artifactId>
    <version>3.2.0</version>
    <executions><execution>
      <goals><goal>toolchain</goal></goals>
      <configuration><toolchains><jdk><version>99</version></jdk></toolchains></configuration>
    </execution></executions>
  </plugin></plugins></build>"""


def enforced(rule: str) -> Tree:
    return {"pom.xml": SHOP.replace("PART", ENFORCED.replace("RULE", rule))}


SLOW = [
    Fault(
        "engines-pnpm", "install that Node", "pnpm install",
        NEW_NODE, ("pnpm",),
    ),
    Fault(
        "maven-503", "run it again later", "mvn -q -B -s settings.xml verify",
        {
            "pom.xml": SHOP.replace("PART", PARENT),
            "settings.xml": SETTINGS,
        },
        ("mvn",),
    ),
    Fault(
        "maven-version", "wants Maven [99,)", "mvn -q -B verify",
        enforced("<requireMavenVersion><version>[99,)</version></requireMavenVersion>"), ("mvn",),
    ),
    Fault(
        "java-version", "wants JDK [99,); here is", "mvn -q -B verify",
        enforced("<requireJavaVersion><version>[99,)</version></requireJavaVersion>"), ("mvn",),
    ),
    Fault(
        "maven-toolchain", "install that JDK", "mvn -q -B verify",
        {"pom.xml": SHOP.replace("PART", TOOLCHAIN)}, ("mvn",),
    ),
]  # fmt: skip

OTHERS = [
    Fault(
        "javadoc", "leave the links to other pages out",
        "javadoc -quiet -link https://r.invalid/ -d there A.java",
        {"A.java": "/** A. */ public class A {}\n"}, ("javadoc",),
    ),
    Fault("disk-python", "free disk space", f"{PYTHON} -c '{FULL}'"),
    Fault("disk-cc", "free disk space", "cc -c a.c -o /dev/full", {"a.c": "int a;\n"}, ("cc",)),
    Fault("no-git", "install git", "sh build.sh", {"build.sh": "set -e\ngit describe\n"},
          environ={"PATH": "BARE"}),
    Fault("no-repository", "tell the build its version", "git describe --tags", needs=("git",)),
    Fault(
        "header", "install `nowhere/zip.h`", "cc -c b.c", {"b.c": "#include <nowhere/zip.h>\n"},
        ("cc",),
    ),
    Fault("module", "install `nowhere`", f"{PYTHON} a.py", {"a.py": "import nowhere\n"}),
    Fault(
        "node-module", "install `nowhere`", "node a.js", {"a.js": "require('nowhere')\n"}, ("node",)
    ),
    Fault(
        "service", "start that service",
        "node -e 'require(\"net\").connect(5432, \"127.0.0.1\")'", needs=("node",),
    ),
]  # fmt: skip


#: What changes, as far as it is there; no fault comes of it.
CHANGE: Tree = {
    "other.js": "// b\n",
    "src/lib.rs": "fn b() {}\n",
    "a.go": "package a\n\nfunc b() {}\n",
}


@pytest.fixture(scope="module")
def addresses(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Addresses]:
    with failing(tmp_path_factory.mktemp("registry")) as found:
        yield found


@pytest.mark.parametrize("fault", [*DOWNLOADS, *TOOLS, *OTHERS], ids=lambda fault: fault.name)
def test_it_could_not_be_judged_and_how_it_can_be(
    tmp_path: Path, addresses: Addresses, fault: Fault
) -> None:
    check(tmp_path, addresses, fault)


@pytest.mark.nightly
@pytest.mark.parametrize("fault", SLOW, ids=lambda fault: fault.name)
def test_what_takes_longer(tmp_path: Path, addresses: Addresses, fault: Fault) -> None:
    if not answers(CENTRAL):
        pytest.skip(f"does not answer: {CENTRAL}")
    check(tmp_path, addresses, fault)


@pytest.mark.nightly
@pytest.mark.skipif(not shutil.which("mvn"), reason="Maven is not installed")
def test_a_module_that_cannot_be_downloaded_is_neither_new_nor_excused(tmp_path: Path) -> None:
    if not answers(CENTRAL):
        pytest.skip(f"does not answer: {CENTRAL}")
    own = "<repositories><repository><id>own</id><url>https://r.invalid/</url></repository>"
    gone = "<dependency><groupId>nowhere</groupId><artifactId>gone</artifactId>"
    poms = {path: str(MAVEN.tree[path]) for path in ("pom.xml", "app/pom.xml")}
    poms["pom.xml"] = poms["pom.xml"].replace("<build>", f"{own}</repositories>\n<build>")
    poms["app/pom.xml"] = poms["app/pom.xml"].replace(
        "<dependencies>", f"<dependencies>{gone}<version>1</version></dependency>", 1
    )
    change = {**MAVEN.harmless, "other/src/main/java/A.java": "class A {}\n"}
    judged = Court.at(tmp_path).judge({**MAVEN.tree, **(MAVEN.aside or {}), **poms}, change)

    assert judged.build.status is Status.ERROR, judged.build.reasoning
    assert "correct the address of the registry" in judged.build.metadata["remedy"]
    assert "project app: Could not" in judged.build.reasoning
    assert judged.states == {"environment", "pre_existing"}


@pytest.mark.nightly
def test_a_task_of_gradle_that_cannot_be_downloaded_for_is_neither_new_nor_excused(
    tmp_path: Path,
) -> None:
    court = Court.at(tmp_path)
    if missing := court.toolbox.lacks(GRADLE):
        pytest.skip(missing)
    app = """
        repositories { maven { url = 'https://r.invalid/' } }
        dependencies { implementation project(':core'), 'nowhere:gone:1' }
    """
    tree = {**GRADLE.tree, **(MAVEN.aside or {}), "app/build.gradle": app}
    change = {**GRADLE.harmless, "other/src/main/java/A.java": "class A {}\n"}
    judged = court.judge(tree, change)

    assert judged.build.status is Status.ERROR, judged.build.reasoning
    assert "correct the address of the registry" in judged.build.metadata["remedy"]
    assert judged.states == {"environment", "pre_existing"}


def check(tmp_path: Path, addresses: Addresses, fault: Fault) -> None:
    """Judges a change to the project, which has nothing to do with the fault."""
    court = Court.at(tmp_path)
    for program in fault.needs:
        if not court.toolbox.has(program):
            pytest.skip(f"not installed: {program}")
    bare = tmp_path / "bare"
    bare.mkdir()
    (bare / "sh").symlink_to("/bin/sh")
    for name, value in fault.environ.items():
        court.environ[name] = addresses.put_into(value).replace("BARE", str(bare))
    written = {path: addresses.put_into(str(content)) for path, content in fault.tree.items()}
    tree: Tree = {"other.js": "// a\n", **written}
    change = {path: text for path, text in CHANGE.items() if path in tree}
    judged = court.judge(tree, change, command=addresses.put_into(fault.command))

    assert judged.build.status is Status.ERROR, judged.build.reasoning
    assert judged.build.metadata["reason"] == "environment", judged.build.reasoning
    assert fault.remedy in judged.build.metadata["remedy"], judged.build.reasoning
    assert judged.build.metadata["remedy"] in judged.build.reasoning
    assert judged.states <= {"environment"}
    assert judged.report.gate is Gate.ACTION_REQUIRED
    assert judged.report.headline.startswith("⚪ Could not be judged: build (environment)")


WORDS = "npm error code E503\\nNo space left on device\\nsh: 1: git: not found\\n"


@pytest.mark.parametrize(
    ("tree", "change", "command"),
    [
        (
            {"test_a.py": "def test_a():\n    pass\n"},
            {"test_a.py": f'def test_a():\n    print("{WORDS}")\n    assert 1 == 2\n'},
            "auto",
        ),
        (
            {"a.c": "int a;\n", "build.sh": f"set -e\nprintf '{WORDS}'\ncc -c a.c\n"},
            {"a.c": "int a\n"},
            "sh build.sh",
        ),
    ],
    ids=["test", "compiler"],
)
def test_such_words_hide_no_failure(tmp_path: Path, tree: Tree, change: Tree, command: str) -> None:
    court = Court.at(tmp_path)
    if not all(map(court.toolbox.has, ("python3", "cc"))):
        pytest.skip("not installed: python3 or cc")
    judged = court.judge(tree, change, command=command)
    assert judged.build.status is Status.FAIL, judged.build.reasoning
    assert "new" in judged.states
    assert judged.causes[0].location
