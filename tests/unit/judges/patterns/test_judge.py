"""What the judge says about pull requests against projects that declare this or that."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fakes.repository import BASE, HEAD, FakeRepository, Files, blob_of, pull_between
from prjury.code.parser import Parser
from prjury.errors import ConfigError
from prjury.jury.context import JudgmentContext
from prjury.jury.judge import JudgeType, type_of
from prjury.jury.judgment import Judgment, Status
from unit.judges.patterns.bench import (
    BOOT_2,
    BOOT_3,
    BOOT_4,
    JAVA,
    adding,
    bench,
    context,
    dependency,
    found,
    judged,
    pom,
)

ENTITY = "package x;\nimport javax.persistence.Entity;\nclass A {}\n"
MAPPER = "package x;\nimport com.fasterxml.jackson.databind.ObjectMapper;\nclass A {}\n"


def test_it_is_deterministic_and_called_patterns() -> None:
    judge = bench({}, {})
    assert (judge.name, type_of(judge)) == ("patterns", JudgeType.DETERMINISTIC)


def test_a_finding_fails_and_tells_everything() -> None:
    judgment = adding(ENTITY, parser=Parser())
    assert judgment.status is Status.FAIL
    assert judgment.reasoning == (
        f"1 finding: `javax.persistence` moved to jakarta.persistence ({JAVA}:2)"
    )
    check = judgment.failed_checks[0]
    assert (check.name, check.severity) == ("jakarta/persistence", "error")
    assert str(check.location) == f"{JAVA}:2"
    assert check.evidence == "import javax.persistence.Entity;"
    assert check.fix == "import jakarta.persistence.Entity;"
    details = judgment.metadata["findings"][0]
    assert details["applicability"] == "machine-applicable"
    assert details["references"]
    assert {"jackson-3", "jakarta", "spring-boot-4"} <= set(judgment.metadata["packs"])
    assert judgment.metadata["subject"] == ", ".join(judgment.metadata["packs"])
    assert judgment.metadata["scope"]["read"] == (JAVA,)
    assert judgment.metadata["scope"]["unread"] == ()
    assert judgment.metadata["suppressed"] == 0
    version = judgment.metadata["versions"][0]
    assert (version["version"], version["from"], version["at"]) == (BOOT_4, "pom.xml", "base")


def test_two_findings_on_one_line_offer_one_fix_for_both() -> None:
    code = "import numpy as np\nX = np.float_(1) + np.NaN\n"
    base = {"pyproject.toml": "[project]\nname = 'a'\ndependencies = ['numpy>=2.1']\n"}
    judgment = judged(base, {**base, "m.py": code})
    assert [check.fix for check in judgment.failed_checks] == ["X = np.float64(1) + np.nan"] * 2


def test_what_is_right_for_the_declared_version_is_no_finding() -> None:
    code = "import numpy as np\nX = np.float_(1)\n"
    base = {"pyproject.toml": "[project]\nname = 'a'\ndependencies = ['numpy<2']\n"}
    judgment = judged(base, {**base, "m.py": code})
    assert judgment.failed_checks == ()
    note = next(check for check in judgment.checks if check.name == "numpy-2/float-underscore")
    assert note.passed
    assert note.message == (
        "`np.float_` was removed in NumPy 2.0; pyproject.toml:3 declares numpy <2, "
        "for which it is right"
    )


def test_a_touched_file_that_no_pack_looks_at_is_said_so_in_few_words() -> None:
    base = {"pyproject.toml": "[project]\nname = 'a'\ndependencies = ['numpy>=2']\n"}
    head = {**base, "run.rs": "fn main() {}\n"}
    judgment = judged(base, head, options={"packs": ["numpy-2"]})
    assert judgment.reasoning == (
        "no version-pattern pack of this project has a rule for the touched files"
    )
    every = judged(base, head)
    assert every.reasoning == "1 rule over 1 file: nothing found"
    assert (every.metadata["subject"], every.checks) == ("", ())


@pytest.mark.parametrize(
    ("boot", "code", "expected"),
    [
        (BOOT_4, ENTITY, [("jakarta/persistence", "error", 2)]),
        (BOOT_3, ENTITY, [("jakarta/persistence", "error", 2)]),
        (BOOT_2, ENTITY, []),
        ("${nowhere}", ENTITY, [("jakarta/persistence", "hint", 2)]),
        (BOOT_4, MAPPER, [("jackson-3/j2-core-import", "error", 2)]),
        (BOOT_3, MAPPER, []),
        ("[3.5,4.2)", MAPPER, [("jackson-3/j2-core-import", "warning", 2)]),
        ("latest", MAPPER, [("jackson-3/j2-core-import", "hint", 2)]),
    ],
)
def test_the_declared_version_decides(
    boot: str, code: str, expected: list[tuple[str, str, int]]
) -> None:
    judgment = adding(code, manifest=pom(boot))
    assert found(judgment) == expected
    assert (judgment.status is Status.FAIL) == any(entry[1] == "error" for entry in expected)


def test_a_lower_threshold_lets_warnings_fail() -> None:
    code = "class A {\n  @MockBean Foo foo;\n}\n"
    assert adding(code, manifest=pom(BOOT_3)).status is Status.PASS
    strict = adding(code, manifest=pom(BOOT_3), options={"severity": "warning"})
    assert strict.status is Status.FAIL
    assert found(strict) == [("spring-boot-4/mockbean-removed", "warning", 2)]


def test_only_added_lines_count() -> None:
    old = "package x;\nimport javax.servlet.Filter;\nclass A {}\n"
    base = {"pom.xml": pom(), JAVA: old}
    new = old.replace("class A", "import java.util.List;\nclass A")
    assert judged(base, {**base, JAVA: new}).status is Status.PASS


def test_a_renamed_file_adds_only_what_it_changes() -> None:
    old = "package x;\nimport javax.servlet.Filter;\nclass A {}\n"
    base = {"pom.xml": pom(), "src/main/java/x/Old.java": old}
    after = {"pom.xml": pom(), JAVA: old.replace("class A", "class B extends javax.mail.C")}
    pull = pull_between(base, after, renamed={JAVA: "src/main/java/x/Old.java"})
    assert found(judged(base, after, pull=pull)) == [("jakarta/mail-activation", "error", 3)]


def test_documentation_is_nobodys_version() -> None:
    base = {"pom.xml": pom()}
    judgment = judged(base, {**base, "docs/upgrade.md": "import javax.persistence.Entity;\n"})
    assert (judgment.status, judgment.label) == (Status.ABSTAIN, "not_applicable")
    assert judgment.metadata["scope"]["outside"] == ({"path": "docs/upgrade.md", "reason": "docs"},)


def test_a_symbolic_link_is_not_followed() -> None:
    base = {"pom.xml": pom()}
    after = {**base, JAVA: "import javax.persistence.Entity;"}
    pull = pull_between(base, after, modes={JAVA: "120000"})
    assert judged(base, after, pull=pull).label == "not_applicable"


@pytest.mark.parametrize("path", ["vendor/x/A.java", "target/generated-sources/A.java"])
def test_a_name_that_sounds_vendored_or_generated_hides_nothing(path: str) -> None:
    judgment = adding(ENTITY, path=path)
    assert judgment.status is Status.FAIL
    assert str(judgment.failed_checks[0].location) == f"{path}:2"


def test_without_a_pull_request_it_does_not_apply() -> None:
    judgment = bench({}, {}).judge(JudgmentContext("x"))  # type: ignore[arg-type]
    assert (judgment.status, judgment.label) == (Status.ABSTAIN, "not_applicable")


@pytest.mark.parametrize("base", [{}, {"pom.xml": pom(None, "org.acme:lib:1.0")}])
def test_a_project_that_declares_none_of_it_is_not_looked_at(base: dict[str, str]) -> None:
    judgment = judged(base, {**base, JAVA: ENTITY})
    assert (judgment.status, judgment.label) == (Status.ABSTAIN, "not_applicable")
    assert judgment.metadata["scope"]["read"] == ()
    assert {"path": JAVA, "reason": "no pack applies"} in judgment.metadata["scope"]["outside"]


def test_a_pack_that_is_asked_for_gives_hints_without_a_declaration() -> None:
    judgment = judged({}, {JAVA: ENTITY}, options={"packs": ["jakarta"]})
    assert judgment.status is Status.PASS
    assert found(judgment) == [("jakarta/persistence", "hint", 2)]


def test_a_named_pack_is_the_only_one_and_still_minds_the_version() -> None:
    judgment = adding(ENTITY + MAPPER, options={"packs": ["jakarta"]})
    assert [name for name, _, _ in found(judgment)] == ["jakarta/persistence"]
    old = adding(ENTITY, manifest=pom(BOOT_2), options={"packs": ["jakarta"]})
    assert old.label == "not_applicable"


def test_an_unknown_pack_is_an_error_of_the_configuration() -> None:
    with pytest.raises(ConfigError, match=r"there is no pack jakata.*jackson-3, jakarta"):
        bench({}, {}, options={"packs": ["jakata"]})


OWN_PACK = r"""
id: house
title: House rules
gate: maven:org.springframework.boot >=4.0
rules:
  - id: no-date
    title: java.util.Date
    why: It is old.
    literals: [java.util.Date]
    match:
      - languages: [java]
        ast-grep: {matches: qualified-name, regex: '^java\.util\.Date$'}
    message: use java.time
    severity: error
    confidence: high
    references: ['https://example.org']
    tests:
      code:
        java: {valid: ['import java.time.Instant;'], invalid: ['import java.util.Date;']}
"""


def test_the_users_own_packs_are_read_from_their_file_system(tmp_path: Path) -> None:
    (tmp_path / "house.yml").write_text(OWN_PACK)
    for place in (tmp_path, tmp_path / "house.yml"):
        judgment = adding("import java.util.Date;\n", options={"paths": [str(place)]})
        assert found(judgment) == [("house/no-date", "error", 1)]


def test_a_pack_about_other_languages_is_not_said_to_have_looked(tmp_path: Path) -> None:
    other = OWN_PACK.replace("[java]", "[kotlin]").replace("java: {valid", "kotlin: {valid")
    (tmp_path / "house.yml").write_text(other)
    options = {"paths": [str(tmp_path)]}
    judgment = adding("import java.util.Date;\n", options=options)
    assert "house" not in judgment.metadata["packs"]
    assert "house" not in [check.name for check in judgment.checks]
    assert found(adding("import java.util.Date\n", path="A.kt", options=options)) == [
        ("house/no-date", "error", 1)
    ]


def test_an_own_pack_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        bench({}, {}, options={"paths": ["/nowhere/at-all.yml"]})


def test_a_module_that_declares_the_old_library_keeps_it() -> None:
    base = {
        "pom.xml": pom(more="<groupId>g</groupId>"),
        "new/pom.xml": "<project><parent><groupId>g</groupId><artifactId>app</artifactId>"
        "</parent><artifactId>new</artifactId></project>",
        "old/pom.xml": "<project><parent><groupId>g</groupId><artifactId>app</artifactId>"
        "</parent><artifactId>old</artifactId><dependencies>"
        + dependency("com.fasterxml.jackson.core:jackson-databind")
        + "</dependencies></project>",
        "x-jackson2/pom.xml": "<project><parent><groupId>g</groupId><artifactId>app</artifactId>"
        "</parent><artifactId>x</artifactId></project>",
    }
    files = {f"{module}/A.java": MAPPER for module in ("new", "old", "x-jackson2")}
    judgment = judged(base, {**base, **files})
    assert [str(check.location) for check in judgment.failed_checks] == ["new/A.java:2"]


@pytest.mark.parametrize("engine", ["org.junit.vintage:junit-vintage-engine", "junit:junit"])
def test_a_library_that_a_parent_gives_to_all_modules_is_kept(engine: str) -> None:
    child = "<project><parent><groupId>g</groupId><artifactId>app</artifactId></parent>"
    base = {
        "pom.xml": pom(BOOT_4, engine, more="<groupId>g</groupId>"),
        "web/pom.xml": f"{child}<artifactId>web</artifactId></project>",
    }
    test = "import org.junit.Test;\npublic class ATest { @Test public void f() {} }\n"
    assert found(judged(base, {**base, "web/src/test/java/ATest.java": test})) == []


def test_the_old_library_beside_the_new_one_makes_a_hint() -> None:
    old, new = "junit:junit", "org.junit.jupiter:junit-jupiter:5.10.2"
    test = {
        "src/test/java/ATest.java": "import org.junit.Test;\nclass ATest { @Test void f() {} }\n"
    }
    base = {"pom.xml": pom(BOOT_4, old, new)}
    judgment = judged(base, {**base, **test})
    assert {check.severity for check in judgment.failed_checks} == {"hint"}
    assert "the module asks for the old library as well" in judgment.failed_checks[0].message
    named = {"pom.xml": base["pom.xml"].replace("<artifactId>app<", "<artifactId>app-junit4<")}
    assert found(judged(named, {**named, **test})) == []


def test_a_pull_request_cannot_exempt_itself() -> None:
    base = {"pom.xml": pom()}
    own = pom(BOOT_4, "javax.persistence:javax.persistence-api:2.2").replace("<dep", "\n<dep")
    judgment = judged(base, {"pom.xml": own, JAVA: ENTITY})
    names = [name for name, _, _ in found(judgment)]
    assert "jakarta/persistence" in names
    assert judgment.status is Status.FAIL


def test_the_merged_tree_decides_where_the_base_has_moved_on_meanwhile() -> None:
    before = {"pom.xml": pom(BOOT_2)}
    touched = pom(BOOT_2, "org.acme:lib:1.0")
    merged = {"pom.xml": pom(BOOT_4, "org.acme:lib:1.0")}
    after = {"pom.xml": touched, JAVA: ENTITY}
    repository = FakeRepository({BASE: {"pom.xml": pom(BOOT_4)}, HEAD: after, "c" * 40: merged})
    pull = pull_between(before, after, behind=3, tree="c" * 40)
    judgment = judged(before, after, pull=pull, repository=repository)
    assert ("jakarta/persistence", "error", 2) in found(judgment)


def test_contents_are_read_in_one_go() -> None:
    base = {"pom.xml": pom()}
    after = {**base, "A.java": ENTITY, "B.java": MAPPER, "C.java": "class C {}"}
    repository = FakeRepository({BASE: base, HEAD: after})
    judged(base, after, repository=repository)
    assert repository.reads[-1] == sorted(map(blob_of, (ENTITY, MAPPER, "class C {}")))


def test_an_old_import_says_what_a_new_line_means() -> None:
    before = "from imp import load_source\n\n"
    base = {"pyproject.toml": '[project]\nname = "a"\nrequires-python = ">=3.12"\n', "a.py": before}
    judgment = judged(base, {**base, "a.py": before + "load_source('x', 'y')\n"})
    assert found(judgment) == [("python-stdlib/imp", "error", 3)]


@pytest.mark.parametrize(
    ("before", "after", "line"),
    [
        ("import javax.\n  sql.DataSource;\n", "import javax.\n  servlet.Servlet;\n", 2),
        ("class A {\n  Object o = a;\n}\n", "class A {\n  javax.servlet\n    .Filter o;\n}\n", 2),
    ],
)
def test_a_match_over_several_lines_counts_by_any_of_them(
    before: str, after: str, line: int
) -> None:
    base = {"pom.xml": pom(), "A.java": before}
    judgment = judged(base, {**base, "A.java": after})
    assert found(judgment) == [("jakarta/servlet", "error", line)]


@pytest.mark.parametrize(
    ("path", "code", "rule"),
    [
        ("Dockerfile", "# The base image.\nFROM openjdk:8\n", "docker/openjdk-image"),
        ("a.py", "# It loads.\nfrom imp import load_source\n", "python-stdlib/imp"),
    ],
)
def test_a_sentence_before_it_hides_nothing(path: str, code: str, rule: str) -> None:
    assert rule in [name for name, _, _ in found(adding(code, path=path))]


def test_blanks_without_end_cost_no_time() -> None:
    spaces = "class A { }\n" + "\n" * 80_000 + " " * 15_000 + "\nimport javax.servlet.Filter;\n"
    assert [name for name, _, _ in found(adding(spaces))] == ["jakarta/servlet"]


def test_a_missing_object_is_not_checked() -> None:
    base = {"pom.xml": pom()}
    after = {**base, "A.java": ENTITY, "B.java": "class B {}"}
    repository = FakeRepository({BASE: base, HEAD: after}, gone={blob_of(ENTITY)})
    judgment = judged(base, after, repository=repository)
    assert (judgment.status, judgment.label) == (Status.ABSTAIN, "unread")
    assert judgment.metadata["scope"]["read"] == ("B.java",)
    assert judgment.metadata["scope"]["unread"] == (
        {"path": "A.java", "reason": "its content is missing from this clone (partial or damaged)"},
    )
    assert "1 file could not be read: A.java (its content is missing" in judgment.reasoning
    assert [check.name for check in judgment.checks]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (ENTITY.encode("utf-16"), "not text"),
        (ENTITY.encode() + b"// \xff\n", "not UTF-8"),
        (ENTITY + "// " + "x" * 20_001, "20000 characters"),
        (ENTITY + "\n".join(["// " + "x" * 10_000] * 110), "1024 KiB"),
    ],
)
def test_a_file_that_cannot_be_read_is_never_passed_over(content: str | bytes, reason: str) -> None:
    judgment = adding(content)
    assert (judgment.status, judgment.label) == (Status.ABSTAIN, "unread")
    assert judgment.metadata["reason"] == "unread"
    assert reason in judgment.metadata["scope"]["unread"][0]["reason"]


def test_what_the_photograph_could_not_read_is_named() -> None:
    base = {"pom.xml": pom()}
    after = {**base, JAVA: ENTITY, "B.java": "class B {}"}
    pull = pull_between(base, after, unread={JAVA: "beyond the cap"})
    judgment = judged(base, after, pull=pull)
    assert judgment.metadata["scope"]["unread"] == ({"path": JAVA, "reason": "beyond the cap"},)


def test_an_unread_file_in_which_no_rule_could_look_blocks_nobody() -> None:
    base = {"pom.xml": pom()}
    after = {**base, "sample.dat": "x"}
    pull = pull_between(base, after, unread={"sample.dat": "binary content"})
    assert judged(base, after, pull=pull).label == "not_applicable"


def test_the_time_is_over() -> None:
    base = {"pom.xml": pom()}
    after = {**base, JAVA: ENTITY}
    judge = bench(base, after, parser=Parser())
    judgment = judge.judge(context(pull_between(base, after), seconds=0))
    assert judgment.status is Status.ABSTAIN
    assert "parser_timeout" in judgment.metadata["scope"]["unread"][0]["reason"]


def test_a_parser_that_dies_is_an_error_and_the_other_findings_are_kept() -> None:
    judgment = adding(MAPPER, parser=Parser(run_worker_with_exit_code=lambda *_: (b"", -9)))
    assert judgment.status is Status.ERROR
    assert judgment.metadata["reason"] == "scanner_died"
    assert JAVA in judgment.reasoning
    base = {"pom.xml": pom()}
    after = {**base, JAVA: MAPPER, "WEB-INF/web.xml": "<a>javax.servlet.Filter</a>"}
    both = judged(base, after, parser=Parser(run_worker_with_exit_code=lambda *_: (b"", -9)))
    assert both.status is Status.FAIL
    assert found(both) == [("jakarta/servlet", "error", 1)]


def test_names_of_files_may_be_anything() -> None:
    names = ["a\nb.java", "x|y.java", "q`z.java", "e\x1b[31m.java", "--help.java", "\udcff.java"]
    base = {"pom.xml": pom()}
    judgment = judged(base, {**base, **dict.fromkeys(names, ENTITY)})
    told = [check.location.path for check in judgment.failed_checks if check.location]
    assert len(told) == len(names)
    assert "\\xff.java" in told
    assert json.dumps(judgment.metadata)


@pytest.mark.parametrize("path", ["A.JAVA", "A.Java"])
def test_the_case_of_a_suffix_does_not_matter(path: str) -> None:
    assert adding(ENTITY, path=path).status is Status.FAIL


def test_a_broken_build_file_makes_hints_and_is_noted() -> None:
    for broken in ("<project><parent>", "not xml", '<!DOCTYPE a [<!ENTITY b "c">]><project/>'):
        judgment: Judgment = adding(ENTITY, manifest=broken)
        assert found(judgment) == [("jakarta/persistence", "hint", 2)]
        assert judgment.metadata["notes"][0].startswith("pom.xml: ")


def boot_3_with(head: Files, base: Files | None = None) -> Judgment:
    """The judgment on old code in a project that declares Boot 3 at the base."""
    before: Files = {"pom.xml": pom(BOOT_3), **(base or {})}
    return judged(before, {**before, JAVA: ENTITY, **head})


@pytest.mark.parametrize(
    "head",
    [
        {"pom.xml": pom("${boot}")},
        {"pom.xml": pom("[2.0,9.0)")},
        {"pom.xml": pom(None)},
        {"pom.xml": "<project>"},
        {"pom.xml": "<!DOCTYPE project []>" + pom(BOOT_3)},
        {"pom.xml": pom(BOOT_3).replace(">app<", ">x-javax<")},
        {"src/pom.xml": pom(None)},
        {"src/main/java/build.gradle": ""},
        {"src/main/java/x/build.gradle.kts": "// nothing"},
    ],
)
def test_no_pull_request_switches_the_rules_off(head: Files) -> None:
    judgment = boot_3_with(head)
    assert judgment.status is Status.FAIL
    assert ("jakarta/persistence", "error", 2) in found(judgment)


def test_taking_the_build_file_away_switches_nothing_off() -> None:
    judgment = judged({"pom.xml": pom(BOOT_3)}, {JAVA: ENTITY})
    assert found(judgment) == [("jakarta/persistence", "error", 2)]


def test_a_version_that_the_head_declares_instead_counts() -> None:
    judgment = boot_3_with({"pom.xml": pom(BOOT_2)})
    assert found(judgment) == []
    assert "jakarta" not in judgment.metadata["packs"]


def test_a_new_build_file_above_what_was_there_does_not_end_the_old_module() -> None:
    inside = {"core/x/B.java": "class B {}\n"}
    cut = {"core/pom.xml": pom(None), "core/x/A.java": ENTITY, JAVA: "class A {}\n"}
    assert boot_3_with(cut, inside).status is Status.FAIL
    assert boot_3_with(cut).status is Status.PASS


def test_a_new_module_that_declares_less_makes_a_warning_of_an_error() -> None:
    head = {"old/pom.xml": pom(BOOT_2), "old/x/A.java": ENTITY, JAVA: "class A {}\n"}
    assert found(boot_3_with(head)) == [("jakarta/persistence", "warning", 2)]


@pytest.mark.parametrize("broken", ["<project>", "<!DOCTYPE project []>" + pom(BOOT_3)])
def test_a_changed_build_file_that_cannot_be_read_is_unread(broken: str) -> None:
    judgment = boot_3_with({"pom.xml": broken, JAVA: "class A {}\n"})
    assert (judgment.status, judgment.label) == (Status.ABSTAIN, "unread")
    unread = judgment.metadata["scope"]["unread"][0]
    assert unread["path"] == "pom.xml"
    assert unread["reason"].startswith("build file: ")


def test_a_broken_build_file_among_test_data_blocks_nobody() -> None:
    data = {"src/test/resources/broken/pom.xml": "<project>", JAVA: "class A {}\n"}
    assert boot_3_with(data).status is Status.PASS


def test_one_unread_file_of_code_is_no_pass_however_much_else_was_read() -> None:
    harmless = "class A {\n" + "  int a;\n" * 40 + "}\n"
    hiding = "/*" + "x" * 20_001 + "*/ import javax.persistence.Entity;\n"
    judgment = boot_3_with({JAVA: harmless, "src/main/java/x/V.java": hiding})
    assert (judgment.status, judgment.label) == (Status.ABSTAIN, "unread")
    assert judgment.metadata["reason"] == "unread"
    assert judgment.metadata["scope"]["read"] == (JAVA,)
    assert "src/main/java/x/V.java (a line above 20000 characters)" in judgment.reasoning
    assert {"jakarta", "spring-boot-4"} <= {check.name for check in judgment.checks}
    failing = boot_3_with({"src/main/java/x/V.java": hiding})
    assert failing.status is Status.FAIL


def test_files_that_no_rule_looks_at_are_outside() -> None:
    judgment = boot_3_with({JAVA: "class A {}\n", "tool.lua": "x = 1\n", "README.md": "x\n"})
    assert judgment.metadata["scope"]["read"] == (JAVA,)
    assert judgment.metadata["scope"]["outside"] == (
        {"path": "README.md", "reason": "docs"},
        {"path": "tool.lua", "reason": "no rule looks at it"},
    )
