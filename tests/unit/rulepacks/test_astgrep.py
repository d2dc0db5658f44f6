"""Rules in ast-grep's own format are taken as they are, or refused with file and line."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from prjury.errors import ConfigError
from prjury.judges.patterns.pack_tests import run_pack_tests
from prjury.rulepacks.astgrep import literals_of
from prjury.rulepacks.load import LoadedPack, load, load_packs
from prjury.rulepacks.rule import Pack
from unit.judges.patterns.bench import adding, found

RULE = """id: No_Console
language: TypeScript
severity: warning
message: no console.log in production
note: |
  It slows things down.
url: https://example.org/no-console
rule:
  any:
    - pattern: console.log($$$ARGS)
    - pattern: console.debug($$$ARGS)
fix: logger.info($$$ARGS)
metadata: {team: web}
labels:
  ARGS: {style: primary}
"""
UTILS = """id: no-await-in-loop
language: js
rule:
  pattern: await $A
  inside: {matches: loop, stopBy: end}
utils:
  loop: {any: [{kind: for_statement}, {kind: while_statement}]}
"""


def written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def loaded(tmp_path: Path, text: str = RULE) -> LoadedPack:
    return load(written(tmp_path / "My rules.yml", text))


def lines(pack: Pack, code: str, tmp_path: Path, path: str = "src/a.ts") -> list[int | None]:
    """The lines in which the judge finds something, with this pack alone."""
    judgment = adding(code, path=path, options={"paths": [str(tmp_path)]})
    return [line for name, _, line in found(judgment) if name.startswith(pack.id)]


def test_its_fix_is_applied_with_what_the_metavariables_stand_for(tmp_path: Path) -> None:
    written(tmp_path / "My rules.yml", RULE)
    code = "console.log('a', b.c(1, 2), 3);\nconsole.debug(\n  1)\n"
    judgment = adding(code, path="src/a.ts", options={"paths": [str(tmp_path)]})
    fixes = [check.fix for check in judgment.failed_checks]
    assert fixes == ["logger.info('a', b.c(1, 2), 3);", "logger.info($$$ARGS)"]
    assert judgment.metadata["findings"][0]["applicability"] == "maybe-incorrect"


def test_files_that_it_ignores_are_left_alone(tmp_path: Path) -> None:
    ignoring = RULE.replace("fix:", "ignores: ['**/*.test.ts']\nfix:")
    pack = loaded(tmp_path, ignoring).pack
    assert lines(pack, "console.log(1)\n", tmp_path) == [1]
    assert lines(pack, "console.log(1)\n", tmp_path, "src/a.test.ts") == []


def test_a_rule_becomes_a_rule_of_a_pack(tmp_path: Path) -> None:
    pack = loaded(tmp_path).pack
    (rule,) = pack.rules
    assert (pack.id, rule.id, rule.severity, rule.confidence) == (
        "my-rules",
        "no-console",
        "warning",
        "high",
    )
    assert pack.gate[0].text == "always"
    assert rule.message == rule.title == "no console.log in production"
    assert rule.why == "It slows things down."
    assert rule.references == ["https://example.org/no-console"]
    assert rule.replacement == "logger.info($$$ARGS)"
    assert rule.fix == []
    assert rule.literals == ["console"]
    assert rule.languages == {"typescript"}


def test_a_rule_needs_no_more_than_three_keys(tmp_path: Path) -> None:
    (rule,) = loaded(tmp_path, "id: a\nlanguage: py\nrule: {pattern: $A == None}\n").pack.rules
    assert (rule.severity, rule.message, rule.literals) == ("hint", "a", [])


@pytest.mark.parametrize(
    ("severity", "expected"),
    [("error", "error"), ("warning", "warning"), ("info", "hint"), ("hint", "hint")],
)
def test_severities(tmp_path: Path, severity: str, expected: str) -> None:
    text = RULE.replace("severity: warning", f"severity: {severity}")
    assert loaded(tmp_path, text).pack.rules[0].severity == expected


def test_rules_that_are_off_are_left_out(tmp_path: Path) -> None:
    off = RULE.replace("severity: warning", "severity: off")
    assert [r.id for r in loaded(tmp_path, f"{off}---\n{UTILS}").pack.rules] == ["no-await-in-loop"]
    with pytest.raises(ConfigError, match="every rule of My rules is off"):
        loaded(tmp_path, off)


def test_a_file_holds_several_rules_and_utilities_stay_apart(tmp_path: Path) -> None:
    other = UTILS.replace("no-await-in-loop", "no-await").replace("for_statement", "do_statement")
    pack = loaded(tmp_path, f"---\n{UTILS}\n--- # next\n{other}---\n").pack
    assert [rule.id for rule in pack.rules] == ["no-await-in-loop", "no-await"]
    kinds = [rule.match[0].utils["loop"]["any"][0]["kind"] for rule in pack.rules]
    assert kinds == ["for_statement", "do_statement"]


@pytest.mark.parametrize(
    ("language", "names"),
    [
        ("Tsx", {"tsx"}),
        ("golang", {"go"}),
        ("rs", {"rust"}),
        ("kt", {"kotlin"}),
        ("Bash", {"shell"}),
        ("Yaml", {"yaml", "workflow"}),
        ("Json", {"json", "npm"}),
    ],
)
def test_languages_by_every_name(tmp_path: Path, language: str, names: set[str]) -> None:
    text = f"id: a\nlanguage: {language}\nrule: {{regex: abc}}\n"
    assert loaded(tmp_path, text).pack.rules[0].languages == names


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("language: TypeScript", "language: Cobol", 2, "'Cobol' is not a language"),
        ("metadata:", "colour: red\nmetadata:", 13, "Extra inputs are not permitted"),
        ("severity: warning", "severity: fatal", 3, "'error', 'warning', 'info', 'hint' or 'off'"),
        ("console.log($$$ARGS)", "console.log(", 8, "the pattern 'console.log(' is not code"),
        ("console.log($$$ARGS)", "a b c", 8, "Multiple AST nodes"),
        ("pattern: console.log($$$ARGS)", "kind: nope", 8, "Kind `nope` is invalid"),
        ("pattern: console.log($$$ARGS)", "patern: x", 8, "unknown field `patern`"),
        ("pattern: console.log($$$ARGS)", "matches: nope", 8, "`nope` is not defined"),
        ("pattern: console.log($$$ARGS)", "regex: '(x'", 8, "unclosed group"),
        ("id: No_Console", "id: '!'", 1, "String should match pattern"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(
    tmp_path: Path, old: str, new: str, line: int, words: str
) -> None:
    assert old in RULE
    text = UTILS + "---\n" + RULE.replace(old, new, 1)
    with pytest.raises(ConfigError) as error:
        loaded(tmp_path, text)
    told = str(error.value)
    assert words in told
    assert f"My rules.yml line {line + UTILS.count(chr(10)) + 1}" in told


@pytest.mark.parametrize(
    ("language", "pattern"),
    [
        ("go", "panic($A)"),
        ("go", "if $A { $$$B }"),
        ("java", "@Foo"),
        ("java", "class $C { $$$B }"),
    ],
)
def test_a_pattern_that_is_only_a_part_of_a_file_is_sound(
    tmp_path: Path, language: str, pattern: str
) -> None:
    text = f"id: a\nlanguage: {language}\nrule: {{pattern: '{pattern}'}}\n"
    assert len(loaded(tmp_path, text).pack.rules) == 1


@pytest.mark.parametrize("pattern", ["console.log(", "))", "foo(bar", "function ("])
def test_a_pattern_in_pieces_is_refused(tmp_path: Path, pattern: str) -> None:
    with pytest.raises(ConfigError, match="is not code"):
        loaded(tmp_path, f"id: a\nlanguage: js\nrule: {{pattern: '{pattern}'}}\n")


def test_two_rules_of_one_id(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="the id no-console is used twice"):
        loaded(tmp_path, f"{RULE}---\n{RULE}")


def test_the_judge_finds_what_the_rule_says(tmp_path: Path) -> None:
    pack = loaded(tmp_path).pack
    code = "console.log(1)\nconsole.warn(2)\n// console.log(3)\nconsole.debug(\n  4)\n"
    assert lines(pack, code, tmp_path) == [1, 4]


def test_the_judge_looks_only_at_files_that_are_named(tmp_path: Path) -> None:
    pack = loaded(tmp_path, RULE + "files: ['./src/**/*.ts']\n").pack
    code = "console.log(1)\n"
    assert lines(pack, code, tmp_path, "src/a.ts") == [1]
    assert lines(pack, code, tmp_path, "src/b/c.ts") == [1]
    assert lines(pack, code, tmp_path, "lib/a.ts") == []


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ({"pattern": "console.log($A)"}, ["console"]),
        ({"pattern": "$A.log()"}, []),
        ({"pattern": "if ($A) {}"}, []),
        ({"pattern": {"context": "class A { $B }", "selector": "x"}}, []),
        ({"regex": "^oldName$", "kind": "identifier"}, ["oldName"]),
        ({"regex": "^oldName"}, []),
        ({"regex": "^old|new$"}, []),
        ({"all": [{"kind": "x"}, {"pattern": "foo()"}]}, ["foo"]),
        ({"any": [{"pattern": "foo()"}, {"pattern": "bar()"}]}, ["bar", "foo"]),
        ({"any": [{"pattern": "foo()"}, {"kind": "x"}]}, []),
        ({"any": []}, []),
        ({"kind": "x", "has": {"pattern": "foo()"}}, []),
        ({"kind": "x", "not": {"pattern": "foo()"}}, []),
    ],
)
def test_words_that_every_match_begins_with(rule: dict[str, object], words: list[str]) -> None:
    assert literals_of(rule) == words


def test_a_rule_without_such_a_word_looks_at_every_file(tmp_path: Path) -> None:
    pack = loaded(tmp_path, "id: a\nlanguage: ts\nrule: {pattern: $A == null}\n").pack
    assert lines(pack, "let a = 1\nlet b = a == null\n", tmp_path) == [2]


def project(tmp_path: Path, test: str) -> Path:
    home = tmp_path / "Web Rules"
    written(home / "rules" / "console.yml", RULE)
    written(home / "rules" / "deep" / "await.yaml", UTILS.replace("loop: {", "other: {"))
    written(
        home / "utils" / "loop.yml",
        "id: loop\nlanguage: JavaScript\nrule: {any: [{kind: for_statement}]}\n",
    )
    written(home / "tests" / "no-console-test.yml", test)
    written(home / "tests" / "__snapshots__" / "no-console-snapshot.yml", "id: x\nsnapshots: {}\n")
    written(
        home / "sgconfig.yml",
        "ruleDirs: [rules]\nutilDirs: [utils]\ntestConfigs: [{testDir: tests}]\n",
    )
    return home


TEST = "id: No_Console\nvalid:\n  - logger.info(1)\ninvalid:\n  - console.log(1)\n"


@pytest.mark.parametrize("named", ["", "sgconfig.yml"])
def test_a_project_brings_its_rules_utilities_and_tests(tmp_path: Path, named: str) -> None:
    made = load(project(tmp_path, TEST) / named)
    assert made.pack.id == "web-rules"
    assert [rule.id for rule in made.pack.rules] == ["no-console", "no-await-in-loop"]
    trial = run_pack_tests(made)
    assert trial.line == "ok   web-rules: 2 rules, 2 cases of code, 1 rule without a case"


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("console.log(1)", "console.warn(1)", 5, "not found: 'console.warn(1)'"),
        ("logger.info(1)", "console.debug(1)", 3, "found in line 1: 'console.debug(1)'"),
    ],
)
def test_a_failing_test_of_ast_greps_own(
    tmp_path: Path, old: str, new: str, line: int, words: str
) -> None:
    home = project(tmp_path, TEST.replace(old, new))
    (failure,) = run_pack_tests(load(home)).failures
    assert failure.startswith(f"{home}/tests/no-console-test.yml:{line} web-rules/no-console")
    assert failure.endswith(words)


def test_a_test_of_a_rule_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no-console-test.yml line 1 .*no rule 'other'"):
        load(project(tmp_path, TEST.replace("No_Console", "other")))


def test_a_directory_of_rules_without_a_configuration(tmp_path: Path) -> None:
    written(tmp_path / "rules" / "a.yml", RULE)
    (pack,) = [one.pack for one in load_packs([tmp_path])]
    assert [rule.id for rule in pack.rules] == ["no-console"]


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ("ruleDirs: [gone]\n", "there is no directory .*gone"),
        ("ruleDirs: [rules]\nlanguageGlobs: {}\n", "sgconfig.yml line 2 .*Extra inputs"),
        ("ruleDirs: []\n", "at least 1 item"),
        ("ruleDirs: [empty]\n", "there is no rule"),
    ],
)
def test_a_configuration_that_is_wrong(tmp_path: Path, config: str, words: str) -> None:
    home = project(tmp_path, TEST)
    (home / "empty").mkdir()
    written(home / "sgconfig.yml", config)
    with pytest.raises(ConfigError, match=words):
        load(home)


def test_a_directory_that_leads_to_itself_is_gone_through_once(tmp_path: Path) -> None:
    home = project(tmp_path, TEST)
    (home / "rules" / "round").symlink_to(home / "rules")
    assert len(load(home).pack.rules) == 2


def many(count: int) -> str:
    patterns = "\n".join(f"    - pattern: fn{number:x}()" for number in range(count))
    return f"id: a\nlanguage: js\nrule:\n  any:\n{patterns}\n"


def test_thousands_of_alternatives_are_taken_in_time_or_refused(tmp_path: Path) -> None:
    started = time.monotonic()
    assert len(loaded(tmp_path, many(2_000)).pack.rules[0].literals) == 2_000
    with pytest.raises(ConfigError, match="larger than 64 KiB"):
        loaded(tmp_path, many(10_000))
    assert time.monotonic() - started < 60


def test_a_file_of_many_rules_has_a_limit_too(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="larger than 512 KiB"):
        loaded(tmp_path, "---\n".join([RULE] * 4_000))
