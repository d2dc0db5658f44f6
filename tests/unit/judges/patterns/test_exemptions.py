"""Ways in which a pull request could take itself out of the rules, and what becomes of them."""

from __future__ import annotations

import pytest

from fakes.repository import Files, pull_between
from prjury.jury.judgment import Judgment
from unit.judges.patterns.bench import BOOT_2, BOOT_3, BOOT_4, JAVA, dependency, found, judged, pom

ENTITY = "package x;\nimport javax.persistence.Entity;\nclass A {}\n"
FLOAT = "import numpy as np\nx = np.float_(1)\n"
ERROR = [("jakarta/persistence", "error", 2)]
WARNING = [("jakarta/persistence", "warning", 2)]


def child(artifact: str, more: str = "") -> str:
    return (
        "<project><parent><groupId>g</groupId><artifactId>app</artifactId><version>1</version>"
        f"</parent><artifactId>{artifact}</artifactId>{more}</project>"
    )


ROOT = pom(more="<groupId>g</groupId><version>1</version>")


def severities(judgment: Judgment) -> set[str]:
    return {check.severity for check in judgment.failed_checks}


def numpy(base: Files, head: Files, path: str = "app/a.py") -> set[str]:
    """How severe a use of what NumPy 2 removed is."""
    before: Files = {"app/b.py": "x = 1\n", **base}
    return severities(judged(before, {**before, **head, path: FLOAT}))


PROJECT = "[project]\nname = 'app'\n"
NEEDS_2 = PROJECT + "dependencies = ['numpy>=2']\n"


@pytest.mark.parametrize(
    "junk",
    [
        {"src/main/java/x/pom.xml": pom(BOOT_2)},
        {"src/pom.xml": pom(BOOT_2)},
        {"src/main/java/build.gradle": "dependencies { implementation "
         "'org.springframework.boot:spring-boot-starter:2.7.18' }"},
        {"build.gradle": "implementation 'org.springframework.boot:spring-boot-starter:2.7.18'"},
        {"src/pom.xml": child("app2", "<properties><boot>2.7.18</boot></properties>").replace(
            "</version>", "</version><relativePath>../pom.xml</relativePath>", 1)},
    ],
)  # fmt: skip
@pytest.mark.parametrize("boot", [BOOT_3, BOOT_4])
def test_another_build_file_with_an_old_version_does_not_count(junk: Files, boot: str) -> None:
    bom = "org.springframework.boot:spring-boot-dependencies:${boot}"
    managed = dependency(bom, "<type>pom</type><scope>import</scope>")
    root = (
        "<project><groupId>g</groupId><artifactId>app</artifactId><version>1</version>"
        f"<properties><boot>{boot}</boot></properties><dependencyManagement><dependencies>"
        f"{managed}</dependencies></dependencyManagement></project>"
    )
    base = {"pom.xml": root, "src/main/java/x/B.java": "class B {}\n"}
    judgment = judged(base, {**base, **junk, JAVA: ENTITY})
    assert found(judgment) == ERROR


@pytest.mark.parametrize(
    ("base", "junk"),
    [
        ({"pyproject.toml": NEEDS_2}, {"app/requirements.txt": "numpy<2\n"}),
        ({"pyproject.toml": NEEDS_2}, {"app/setup.cfg": "[options]\ninstall_requires = numpy<2\n"}),
        (
            {"requirements.txt": "numpy>=2\n"},
            {"pyproject.toml": PROJECT + "dependencies = ['numpy<2']\n"},
        ),
        ({"pyproject.toml": NEEDS_2}, {"app/setup.cfg": "[metadata]\nname = numpy\n"}),
        ({"pyproject.toml": NEEDS_2}, {"app/new/setup.cfg": "[metadata]\nname = numpy\n"}),
    ],
)
def test_another_file_of_a_python_project_does_not_count(base: Files, junk: Files) -> None:
    path = "app/new/a.py" if any("new/" in name for name in junk) else "app/a.py"
    assert numpy(base, junk, path) == {"error"}


def test_a_module_that_claims_to_be_an_older_numpy_makes_a_warning() -> None:
    junk = {"app/new/setup.cfg": "[metadata]\nname = numpy\nversion = 1.26\n"}
    assert numpy({"pyproject.toml": NEEDS_2}, junk, "app/new/a.py") == {"warning"}


def test_the_entry_that_decided_has_to_move_itself() -> None:
    base = {"pyproject.toml": NEEDS_2}
    beside = NEEDS_2 + "[tool.uv]\noverride-dependencies = ['numpy<2']\n"
    assert numpy(base, {"pyproject.toml": beside}) == {"error"}
    group = NEEDS_2 + "[dependency-groups]\nold = ['numpy<2']\n"
    assert numpy(base, {"pyproject.toml": group}) == {"error"}


@pytest.mark.parametrize(
    "head",
    [
        PROJECT + "dependencies = ['numpy<2']\n",
        "[tool.poetry]\nname = 'app'\n[tool.poetry.dependencies]\nnumpy = '<2'\n",
        PROJECT + "[tool.uv]\noverride-dependencies = ['numpy<2']\n",
    ],
)
def test_a_version_that_moves_within_its_file_counts(head: str) -> None:
    assert numpy({"pyproject.toml": NEEDS_2}, {"pyproject.toml": head}) == set()


def test_a_manifest_and_its_lock_move_together() -> None:
    def tree(asked: str, locked: str) -> Files:
        return {
            "pyproject.toml": PROJECT + f"dependencies = ['{asked}']\n",
            "uv.lock": f'[[package]]\nname = "numpy"\nversion = "{locked}"\n',
        }

    assert numpy(tree("numpy", "2.1.0"), tree("numpy<2", "1.26.4")) == set()
    assert numpy(tree("numpy", "2.1.0"), tree("numpy<2", "2.1.0")) == {"error"}


def test_a_version_moves_by_a_property_of_the_parent() -> None:
    def tree(boot: str) -> Files:
        bom = "org.springframework.boot:spring-boot-dependencies:${boot}"
        return {
            "pom.xml": "<project><groupId>g</groupId><artifactId>app</artifactId>"
            f"<version>1</version><properties><boot>{boot}</boot></properties>"
            f"<dependencyManagement><dependencies>{dependency(bom)}"
            "</dependencies></dependencyManagement></project>",
            "m/pom.xml": child("m"),
        }

    old, new = tree(BOOT_2), tree(BOOT_4)
    assert found(judged(new, {**old, "m/A.java": ENTITY})) == []
    assert found(judged(old, {**new, "m/A.java": ENTITY})) == ERROR


def test_a_version_moves_in_a_catalog() -> None:
    def tree(boot: str) -> Files:
        return {
            "gradle/libs.versions.toml": "[libraries]\nboot = "
            f"'org.springframework.boot:spring-boot-starter:{boot}'\n",
            "build.gradle": "dependencies { implementation libs.boot }\n",
        }

    old, new = tree(BOOT_2), tree(BOOT_4)
    assert found(judged(new, {**old, JAVA: ENTITY})) == []
    assert found(judged(old, {**new, JAVA: ENTITY})) == ERROR


def test_a_renamed_module_is_not_exempt_by_its_new_name() -> None:
    base = {"pom.xml": ROOT, "svc/pom.xml": child("svc"), "svc/A.java": "class A {}\n"}
    after = {
        "pom.xml": ROOT,
        "svc-javax/pom.xml": child("svc-javax"),
        "svc-javax/A.java": ENTITY,
        "svc-javax/New.java": ENTITY,
    }
    renamed = {f"svc-javax/{name}": f"svc/{name}" for name in ("pom.xml", "A.java")}
    for known in (renamed, {}):
        pull = pull_between(base, after, renamed=known)
        assert found(judged(base, after, pull=pull)) == ERROR * 2


def test_a_module_that_keeps_the_old_way_may_be_renamed() -> None:
    base = {"pom.xml": ROOT, "x-javax/pom.xml": child("x"), "x-javax/A.java": "class A {}\n"}
    after = {
        "pom.xml": ROOT,
        "y/pom.xml": child("y"),
        "y/A.java": ENTITY,
        "y/New.java": ENTITY,
    }
    renamed = {f"y/{name}": f"x-javax/{name}" for name in ("pom.xml", "A.java")}
    pull = pull_between(base, after, renamed=renamed)
    assert found(judged(base, after, pull=pull)) == []


def test_a_file_from_an_exempt_module_is_judged_where_it_goes() -> None:
    base = {"pom.xml": ROOT, "x-javax/pom.xml": child("x"), "x-javax/A.java": "class A {}\n"}
    after = {"pom.xml": ROOT, "x-javax/pom.xml": child("x"), JAVA: ENTITY}
    pull = pull_between(base, after, renamed={JAVA: "x-javax/A.java"})
    assert found(judged(base, after, pull=pull)) == ERROR


@pytest.mark.parametrize("place", ["src/pom.xml", "app/pom.xml"])
def test_an_exempt_modules_build_file_exempts_no_code_that_was_there(place: str) -> None:
    base = {
        "pom.xml": ROOT,
        "x-javax/pom.xml": child("x"),
        JAVA: "class A {}\n",
        "app/A.java": "class A {}\n",
    }
    new = place.replace("pom.xml", "main/New.java")
    after = {"pom.xml": ROOT, place: child("x"), JAVA: "class A {}\n", new: ENTITY}
    after["app/A.java"] = "class A {}\n"
    pull = pull_between(base, after, renamed={place: "x-javax/pom.xml"})
    assert found(judged(base, after, pull=pull)) == ERROR


def test_a_copy_of_an_exempt_modules_build_file_exempts_nothing() -> None:
    base = {"pom.xml": ROOT, "x-javax/pom.xml": child("x"), "x-javax/A.java": "class A {}\n"}
    after = {**base, "app/pom.xml": child("x"), "app/A.java": ENTITY}
    assert found(judged(base, after)) == ERROR


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ({"my-javax/pom.xml": child("my-javax"), "my-javax/A.java": ENTITY}, ERROR),
        (
            {
                "my/pom.xml": child(
                    "my",
                    "<dependencies>"
                    + dependency("javax.persistence:javax.persistence-api:2.2")
                    + "</dependencies>",
                ),
                "my/A.java": ENTITY,
            },
            ERROR,
        ),
        ({"gen/pom.xml": pom(None), "gen/A.java": ENTITY}, WARNING),
        ({"gen/pom.xml": pom(BOOT_2), "gen/A.java": ENTITY}, WARNING),
        ({"gen/pom.xml": pom("${nowhere}"), "gen/A.java": ENTITY}, WARNING),
    ],
)
def test_a_new_module_never_makes_a_finding_disappear(
    head: Files, expected: list[tuple[str, str, int]]
) -> None:
    base = {"pom.xml": ROOT}
    judgment = judged(base, {**base, **head})
    assert [entry for entry in found(judgment) if entry[0] == expected[0][0]] == expected


def test_a_new_module_with_the_new_version_has_errors_below_an_old_root() -> None:
    base = {"pom.xml": pom(BOOT_2)}
    judgment = judged(base, {**base, "new/pom.xml": pom(BOOT_4), "new/A.java": ENTITY})
    assert found(judgment) == ERROR


def test_what_the_first_build_file_says_of_itself_counts() -> None:
    head = {"x-javax/pom.xml": pom(BOOT_4), "x-javax/A.java": ENTITY}
    assert found(judged({}, head)) == []


def test_a_library_that_brings_the_old_one_along_must_be_the_modules_own() -> None:
    mapper = "import com.fasterxml.jackson.databind.ObjectMapper;\n"
    base = {"pom.xml": ROOT, "src/main/java/x/B.java": "class B {}\n"}
    sdk = pom(BOOT_4, "com.openai:openai-java:4.9.0")
    beside = judged(base, {**base, "src/pom.xml": sdk, JAVA: mapper})
    assert severities(beside) == {"error"}
    own = ROOT.replace(
        "<dependencies>", "<dependencies>" + dependency("com.openai:openai-java:4.9.0")
    )
    assert severities(judged(base, {**base, "pom.xml": own, JAVA: mapper})) == {"warning"}


def test_in_the_repository_of_the_library_itself_findings_are_hints() -> None:
    base = {"pyproject.toml": "[project]\nname = 'numpy'\nversion = '2.1.0'\n"}
    assert numpy(base, {}) == {"hint"}
    assert numpy(base, {"app/setup.cfg": "[metadata]\nname = app\n"}) == {"hint"}
    renamed = "[project]\nname = 'numpy'\nversion = '2.1.0'\n"
    assert numpy({"pyproject.toml": NEEDS_2}, {"pyproject.toml": renamed}) == {"error"}


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ("[project.optional-dependencies]\nnew = ['numpy>=2']\nold = ['numpy<2']\n", {"hint"}),
        ("[project.optional-dependencies]\nold = ['numpy<2']\nnew = ['numpy>=2']\n", {"hint"}),
        ("[dependency-groups]\nnew = ['numpy>=2']\nold = ['numpy<2']\n", {"hint"}),
        ("[project.optional-dependencies]\ndocs = ['numpy>=2']\n", {"warning"}),
        ("[dependency-groups]\ndocs = ['numpy>=2']\n", {"warning"}),
        ("[dependency-groups]\na = ['numpy>=2']\nb = ['numpy>=2.1']\n", {"warning"}),
        ("[dependency-groups]\nold = ['numpy<2']\n", {"hint"}),
        ("dependencies = ['numpy']\n[dependency-groups]\ndocs = ['numpy>=2']\n", {"warning"}),
        ("dependencies = ['numpy>=2']\n[dependency-groups]\nold = ['numpy<2']\n", {"error"}),
    ],
)
def test_extras_and_groups_are_not_sure(told: str, expected: set[str]) -> None:
    assert numpy({"pyproject.toml": PROJECT + told}, {}) == expected


@pytest.mark.parametrize("told", ["project.optional-dependencies", "dependency-groups"])
def test_pytest_is_sure_in_extras_and_groups(told: str) -> None:
    build = f"{PROJECT}[{told}]\ntest = ['pytest>=8.0.1']\nall = ['pytest>=8.0.0']\n"
    code = "import pytest\nwith pytest.warns(None): pass\n"
    base = {"pyproject.toml": build, "app/b.py": "x = 1\n"}
    assert severities(judged(base, {**base, "tests/test_a.py": code})) == {"error"}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("setup.cfg", "[options.extras_require]\ndocs = numpy>=2\n"),
        ("setup.py", "setup(extras_require={'docs': ['numpy>=2']})\n"),
        ("Pipfile", "[dev-packages]\nnumpy = '>=2'\n"),
        ("pyproject.toml", "[tool.poetry.group.docs.dependencies]\nnumpy = '>=2'\n"),
        ("pyproject.toml", "[tool.hatch.envs.docs]\ndependencies = ['numpy>=2']\n"),
    ],
)
def test_an_extra_of_any_format_makes_a_warning(name: str, content: str) -> None:
    assert numpy({name: content}, {}) == {"warning"}
