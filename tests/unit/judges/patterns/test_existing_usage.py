"""What a module uses already is a warning; what it would be the first to use is an error."""

from __future__ import annotations

import pytest

from fakes.repository import Files
from unit.judges.patterns.bench import BOOT_4, dependency, found, judged, pom

IMPORT = "import com.fasterxml.jackson.databind.ObjectMapper;\n"
USES = "class B { com.fasterxml.jackson.databind.JsonNode node; }\n"
OTHER = (
    "<project><parent><groupId>g</groupId><artifactId>app</artifactId></parent>"
    "<artifactId>other</artifactId></project>"
)
BASE_TREE: Files = {"pom.xml": pom(BOOT_4, more="<groupId>g</groupId>"), "other/pom.xml": OTHER}
ERROR = [("jackson-3/j2-core-import", "error", 1)]
WARNING = [("jackson-3/j2-core-import", "warning", 1)]


def test_the_first_use_is_an_error() -> None:
    judgment = judged(BASE_TREE, {**BASE_TREE, "src/A.java": IMPORT})
    assert found(judgment) == ERROR


def test_a_line_that_is_only_rewritten_is_a_warning() -> None:
    base = {**BASE_TREE, "src/B.java": USES}
    judgment = judged(base, {**base, "src/B.java": IMPORT + "class B {}\n"})
    assert found(judgment) == WARNING


def test_annotations_and_documents_do_not_count() -> None:
    base = {
        **BASE_TREE,
        "src/B.java": "import com.fasterxml.jackson.annotation.JsonProperty;\n",
        "README.md": IMPORT,
    }
    judgment = judged(base, {**base, "src/A.java": IMPORT})
    assert found(judgment) == ERROR


def test_what_the_pull_request_itself_adds_does_not_count() -> None:
    judgment = judged(BASE_TREE, {**BASE_TREE, "src/A.java": IMPORT, "src/B.java": USES})
    assert {severity for _, severity, _ in found(judgment)} == {"error"}


def test_moved_packages_stay_errors_whoever_uses_them() -> None:
    base = {**BASE_TREE, "src/B.java": "import javax.persistence.Id;\n"}
    judgment = judged(base, {**base, "src/A.java": "import javax.persistence.Entity;\n"})
    assert found(judgment) == [("jakarta/persistence", "error", 1)]


JUNIT = "import org.junit.Test;\n"


@pytest.mark.parametrize(
    ("tree", "severity"),
    [
        ({}, "error"),
        ({"src/B.java": "import static org.junit.Assert.*;\nclass B {}\n"}, "warning"),
        ({"src/B.java": "import org.junit.jupiter.api.Test;\nclass B {}\n"}, "error"),
    ],
)
def test_junit_4_is_an_error_where_nothing_asks_for_it(tree: Files, severity: str) -> None:
    base: Files = {"pom.xml": pom(BOOT_4), **tree}
    judgment = judged(base, {**base, "src/A.java": JUNIT})
    assert found(judgment) == [("junit-6/junit4-test", severity, 1)]


JUPITER = "testImplementation('org.junit.jupiter:junit-jupiter:5.13.4')"
OLD_JUNIT = "api('junit:junit:4.13.2')"
SUPPORT = "<dependency><groupId>junit</groupId><artifactId>junit</artifactId></dependency>"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("support/build.gradle", f"dependencies {{ {OLD_JUNIT} }}\n"),
        ("support/pom.xml", f"<project><dependencies>{SUPPORT}</dependencies></project>"),
        ("gradle/tests.gradle", f"dependencies {{ {OLD_JUNIT} }}\n"),
        ("buildSrc/src/main/groovy/acme.java.gradle", f"dependencies {{ {OLD_JUNIT} }}\n"),
        ("build-logic/src/main/kotlin/Acme.kt", 'val old = "junit:junit:4.13.2"\n'),
    ],
)
def test_another_module_or_the_build_itself_may_bring_junit_4_along(path: str, text: str) -> None:
    base: Files = {"app/build.gradle": f"dependencies {{ {JUPITER} }}\n", path: text}
    judgment = judged(base, {**base, "app/src/A.java": JUNIT})
    assert found(judgment) == [("junit-6/junit4-test", "warning", 1)]
    assert "in use here already" in judgment.failed_checks[0].message


@pytest.mark.parametrize(
    ("told", "severity"), [("useAndroidX=true", "error"), ("newDsl=false", "warning")]
)
def test_a_build_that_opts_out_of_the_new_way_is_only_warned(told: str, severity: str) -> None:
    plugins = 'plugins {\n    id("com.android.application") version "9.1.0"\n}\n'
    base: Files = {"gradle.properties": f"android.{told}\n", "build.gradle.kts": plugins}
    judgment = judged(
        base, {**base, "build.gradle.kts": f"{plugins}applicationVariants.all {{ }}\n"}
    )
    assert found(judgment) == [("android/old-variants", severity, 4)]


def test_junit_5_of_another_module_brings_nothing_along() -> None:
    base: Files = {
        "app/build.gradle": f"dependencies {{ {JUPITER} }}\n",
        "support/build.gradle": "dependencies { api(platform('org.junit:junit-bom:6.0.0')) }\n",
        "docs/old.md": OLD_JUNIT,
    }
    judgment = judged(base, {**base, "app/src/A.java": JUNIT})
    assert found(judgment) == [("junit-6/junit4-test", "error", 1)]


def test_a_library_of_a_catalog_may_be_asked_for_unseen() -> None:
    base: Files = {
        "gradle/libs.versions.toml": "[libraries]\nold = 'junit:junit:4.13.2'\n"
        "new = 'org.junit.jupiter:junit-jupiter:5.13.4'\n",
        "build.gradle.kts": "dependencies { testImplementation(libs.new) }\n",
    }
    judgment = judged(base, {**base, "src/A.java": JUNIT})
    assert found(judgment) == [("junit-6/junit4-test", "warning", 1)]


def test_a_module_that_declares_it_is_left_alone_altogether() -> None:
    own = OTHER.replace(
        "</project>",
        "<dependencies>"
        + dependency("com.fasterxml.jackson.core:jackson-databind")
        + "</dependencies></project>",
    )
    base = {**BASE_TREE, "other/pom.xml": own}
    assert found(judged(base, {**base, "other/src/A.java": IMPORT})) == []


STEPS = "on: push\njobs:\n  a:\n    runs-on: {}\n    steps:\n      - uses: actions/checkout@{}\n"
WORKFLOW = ".github/workflows/a.yml"


@pytest.mark.parametrize(
    ("old", "new", "severities"),
    [
        (("ubuntu-24.04", "v3.1.0"), ("ubuntu-24.04", "v3.6.0"), ["hint"]),
        (("ubuntu-24.04", "v3"), ("ubuntu-24.04", f"{'a' * 40} # v3.6.0"), ["hint"]),
        (("ubuntu-24.04", "v5"), ("ubuntu-24.04", "v3"), ["warning"]),
        (("ubuntu-24.04", "v5"), ("ubuntu-20.04", "v5"), ["error"]),
    ],
)
def test_a_pin_that_moves_within_a_major_is_a_hint(
    old: tuple[str, str], new: tuple[str, str], severities: list[str]
) -> None:
    judgment = judged({WORKFLOW: STEPS.format(*old)}, {WORKFLOW: STEPS.format(*new)})
    assert [severity for _, severity, _ in found(judgment)] == severities
    told = "the line before has it too" in judgment.failed_checks[0].message
    assert told is (severities == ["hint"])


@pytest.mark.parametrize(
    ("django", "words"),
    [
        ("django>=3.0,<3.3", "declares django <3.3,>=3.0, which deprecates it."),
        ("django>=2.1,<3.1", "declares django <3.1,>=2.1, which deprecates it."),
        ("django>=3.2,<5", "declares django <5,>=3.2, which allows such versions."),
        ("django>=4.2", "declares django >=4.2."),
    ],
)
def test_a_version_that_only_deprecates_is_said_to(django: str, words: str) -> None:
    base: Files = {"pyproject.toml": f"[project]\nname = 'app'\ndependencies = ['{django}']\n"}
    code = "from django.utils.translation import ugettext\n"
    [check] = judged(base, {**base, "a.py": code}).failed_checks
    assert words in check.message
