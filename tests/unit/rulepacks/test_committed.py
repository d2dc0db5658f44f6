"""The user's packs as the base commit has them, whatever the working directory holds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fakes.repository import BASE, HEAD, FakeRepository, Files, blob_of, pull_between
from fakes.shell import ScriptedShell
from prjury.errors import ConfigError, SourceError
from prjury.judges.patterns.judge import make
from prjury.jury.judgment import Judgment, Status
from prjury.policy.load import parse_policy
from prjury.policy.options import PatternsOptions
from prjury.ports import Ports
from prjury.rulepacks.committed import load_committed
from unit.judges.patterns.bench import InProcessParser, Quiet, context, found

HEAD_OF_PACK = r"""id: house
title: House
gate: always
rules:
  - id: no-date
    title: No Date
    why: Because.
    literals: [java.util.Date]
    match:
      - languages: [java]
        uses: [java.util.Date]
    message: use java.time
    severity: error
    confidence: high
    references: ['https://example.org']
"""
CODE = "java: {valid: ['import java.time.Instant;'], invalid: ['import java.util.Date;']}\n"
PACK = f"{HEAD_OF_PACK}    tests:\n      code:\n        {CODE}"
CASES = f"pack: house\ntests:\n  no-date:\n    code:\n      {CODE}"


def options(path: str, commit: str | None = BASE) -> PatternsOptions:
    tier = f"{{name: a, policy: final_tier, judges: [{{patterns: {{paths: [{path!r}]}}}}]}}"
    policy = parse_policy(f"tiers: [{tier}]", "policy.yml", commit=commit)
    seated = policy.config.tiers[0].judges[0].patterns
    assert seated
    return seated


def judged(path: str, before: Files, after: Files) -> Judgment:
    """The judgment on a pull request, under a policy of its base that names this path."""
    repository = FakeRepository({BASE: before, HEAD: {**before, **after}})
    judge = make(options(path), Ports(repository, ScriptedShell(), Quiet()))
    pull = pull_between(before, {**before, **after})
    return replace(judge, parser=InProcessParser()).judge(context(pull))


def ids(files: Files, path: str) -> list[str]:
    found = load_committed(FakeRepository({BASE: files}), BASE, [path])
    return [f"{pack.id}/{rule.id}" for pack in found.packs for rule in pack.rules]


def refused(files: Files, path: str, **modes: str) -> str:
    repository = FakeRepository({BASE: files}, modes)
    with pytest.raises(ConfigError) as error:
        load_committed(repository, BASE, [path])
    assert error.value.exit_code == 2
    return str(error.value)


def test_a_change_of_the_pack_does_not_exempt_the_change() -> None:
    lowered = PACK.replace("severity: error", "severity: hint")
    change = {"A.java": "import java.util.Date;\n", "rules/own.yml": lowered}
    judgment = judged("rules/own.yml", {"rules/own.yml": PACK}, change)
    assert judgment.status is Status.FAIL
    assert found(judgment) == [("house/no-date", "error", 1)]
    note = "this change touches rules/own.yml; the base's packs are in force until it is merged"
    assert judgment.reasoning.endswith(f"; {note}")
    assert note in judgment.metadata["notes"]


def test_a_change_that_leaves_the_packs_alone_is_told_nothing() -> None:
    change = {"A.java": "import java.util.Date;\n", "other/own.yml": PACK, "rules/own.md": ""}
    judgment = judged("rules", {"rules/own.yml": PACK}, change)
    assert found(judgment) == [("house/no-date", "error", 1)]
    assert "this change touches" not in judgment.reasoning


def test_a_pack_that_the_change_adds_counts_once_it_is_merged() -> None:
    more = PACK.replace("id: house", "id: yard").replace("java.util.Date", "java.util.Timer")
    change = {"A.java": "import java.util.Timer;\n", "rules/more.yml": more}
    judgment = judged("rules", {"rules/own.yml": PACK}, change)
    assert found(judgment) == []
    assert "this change touches rules/more.yml" in judgment.reasoning


def test_the_working_directory_has_no_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.yml").write_text(PACK.replace("id: house", "id: working"))
    assert ids({"own.yml": PACK}, "own.yml") == ["house/no-date"]
    assert "there is no pack own.yml" in refused({"a.yml": PACK}, "own.yml")


def test_the_operators_own_policy_names_files_of_the_file_system(tmp_path: Path) -> None:
    (tmp_path / "own.yml").write_text(PACK)
    repository = FakeRepository({BASE: {}})
    ports = Ports(repository, ScriptedShell(), Quiet())
    judge = make(options(str(tmp_path / "own.yml"), commit=None), ports)
    assert [pack.id for pack in judge.own.packs] == ["house"]


@pytest.mark.parametrize("path", ["rules", "rules/", "./rules", "rules/own.yml", "a/../rules"])
def test_files_and_directories_with_the_cases_beside_them(path: str) -> None:
    files = {"rules/own.yml": HEAD_OF_PACK, "rules/own.cases.yml": CASES, "a/b.yml": "no: pack"}
    assert ids(files, path) == ["house/no-date"]


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("rules/gone.yml", "there is no pack rules/gone.yml (in the base commit bbbbbbbbbbbb)"),
        ("gone", "there is no pack gone "),
        ("a\0b", r"there is no pack a\x00b "),
        ("docs", "there is no pack (*.yml) in docs (in the base commit"),
        ("rules/bad.yml", "rules/bad.yml line 1: id: a name has up to 60 letters"),
        ("rules", "rules/bad.yml line 1: id: a name has up to 60 letters"),
        ("big.yml", "big.yml is larger than 512 KiB (in the base commit"),
        ("rule.yml", "rule.yml line 1: rule: a rule of ast-grep's own; in a pack it is the"),
        ("../own.yml", "the path of packs ../own.yml leaves the repository"),
        ("/etc/own.yml", "only a policy that is handed over with --config may name such a one"),
    ],
)
def test_what_is_wrong_is_told_by_its_path_in_the_commit(path: str, words: str) -> None:
    files = {
        "rules/bad.yml": PACK.replace("id: house", "id: House!"),
        "docs/README.md": "",
        "big.yml": PACK + "#" * 512 * 1024,
        "rule.yml": "rule: {pattern: console.log($A)}\nid: no-console\n",
    }
    assert words in refused(files, path)


@pytest.mark.parametrize("mode", ["120000", "160000"])
@pytest.mark.parametrize("path", ["rules", "rules/own.yml"])
def test_links_are_not_followed(path: str, mode: str) -> None:
    told = refused({"rules/own.yml": "../../secret"}, path, **{"rules/own.yml": mode})
    assert "the pack rules/own.yml is not a regular file" in told


def test_a_pack_that_a_partial_clone_lacks() -> None:
    repository = FakeRepository({BASE: {"own.yml": PACK}}, gone={blob_of(PACK)})
    with pytest.raises(
        SourceError, match=r"own.yml is missing from this clone \(partial or damaged\)"
    ):
        load_committed(repository, BASE, ["own.yml"])
