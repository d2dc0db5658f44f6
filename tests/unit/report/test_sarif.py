"""SARIF: what the standard's schema and GitHub's upload ask for, in the parts that we write.

The official schema is not part of this repository; the one below holds its decisive constraints.
"""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import unquote_to_bytes

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from fakes.hostile import ATTACKS, report_holding
from fakes.reports import (
    HEAD,
    ballot,
    broken_build,
    conflicting,
    file,
    needs_a_human,
    panel,
    passed,
    pull,
    report,
    tier,
    with_findings,
)
from prjury.jury.judgment import Check, Judgment, Location
from prjury.report.annotations import to_sarif
from prjury.report.model import Report
from prjury.snapshot.model import FileChange, FileStatus

TOKEN = "ghp_" + "a1B2" * 9

TEXT = {"type": "string", "minLength": 1}
LEVEL = {"enum": ["none", "note", "warning", "error"]}


def thing(required: dict[str, Any], optional: dict[str, Any] | None = None) -> dict[str, Any]:
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list(required),
        "properties": {**required, **(optional or {})},
    }


def many(items: dict[str, Any], most: int | None = None) -> dict[str, Any]:
    limit = {} if most is None else {"maxItems": most}
    return {"type": "array", "items": items, **limit}


MESSAGE = thing({"text": TEXT})
BAG = {"type": "object"}
LINE = {"type": "integer", "minimum": 1}
PLACE = thing(
    {
        "artifactLocation": thing(
            {"uri": {"type": "string", "pattern": "^[A-Za-z0-9._~%/-]+$"}, "uriBaseId": TEXT}
        ),
        "region": thing({"startLine": LINE, "endLine": LINE}),
    }
)
RULE = thing(
    {
        "id": TEXT,
        "shortDescription": MESSAGE,
        "fullDescription": MESSAGE,
        "help": MESSAGE,
        "defaultConfiguration": thing({"level": LEVEL}),
        "properties": BAG,
    }
)
SUPPRESSION = thing(
    {
        "kind": {"enum": ["inSource", "external"]},
        "status": {"enum": ["accepted", "underReview", "rejected"]},
        "justification": {"type": "string"},
    }
)
RESULT = thing(
    {
        "ruleId": TEXT,
        "ruleIndex": {"type": "integer", "minimum": 0},
        "level": LEVEL,
        "message": MESSAGE,
        "locations": {**many(thing({"physicalLocation": PLACE})), "minItems": 1},
        "partialFingerprints": {"type": "object", "additionalProperties": TEXT},
        "suppressions": many(SUPPRESSION),
        "properties": BAG,
    }
)
INVOCATION = thing(
    {
        "executionSuccessful": {"type": "boolean"},
        "exitCode": {"type": "integer"},
        "exitCodeDescription": TEXT,
        "toolExecutionNotifications": many(thing({"level": LEVEL, "message": MESSAGE})),
    }
)
PROVENANCE = thing(
    {"repositoryUri": {"type": "string", "pattern": "^https?://"}, "revisionId": TEXT}
)
RUN = thing(
    {
        "tool": thing(
            {"driver": thing({"name": TEXT, "version": TEXT, "rules": many(RULE, 25_000)})}
        ),
        "automationDetails": thing({"id": {"const": "prjury/"}}),
        "invocations": many(INVOCATION),
        "results": many(RESULT, 5_000),
        "properties": BAG,
    },
    {"versionControlProvenance": {**many(PROVENANCE), "minItems": 1}},
)
LOG = thing({"$schema": TEXT, "version": {"const": "2.1.0"}, "runs": many(RUN, 20)})
VALIDATOR = Draft202012Validator(LOG)


def run_of(made: Report) -> dict[str, Any]:
    log = to_sarif(made)
    VALIDATOR.validate(log)
    json.dumps(log).encode()
    (run,) = log["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert len(set(rules)) == len(rules)
    assert all(rules[result["ruleIndex"]] == result["ruleId"] for result in run["results"])
    found: dict[str, Any] = run
    return found


def judged(*checks: Check, files: list[FileChange] | None = None, **metadata: Any) -> Report:
    judgment = Judgment.failed("no", checks=checks, metadata=metadata)
    changed = pull(files or [file("a.py")])
    return report(tier("t", ballot("patterns", judgment)), pull_request=changed)


def failed(message: str = "wrong", path: str = "a.py", line: int | None = 3) -> Check:
    return Check("pack/rule", False, message, Location(path, line))


@pytest.mark.parametrize(
    "made", [passed(), broken_build(), conflicting(), needs_a_human(), panel(), with_findings(30)]
)
def test_every_report_is_valid(made: Report) -> None:
    run = run_of(made)
    assert run["properties"]["gate"] == made.gate.value
    assert run["versionControlProvenance"] == [
        {"repositoryUri": "https://github.com/acme/shop", "revisionId": HEAD}
    ]


def test_a_pull_request_without_an_address_has_no_provenance() -> None:
    made = report(pull_request=pull(url=None))
    assert "versionControlProvenance" not in run_of(made)


def test_levels_and_fingerprints() -> None:
    results = run_of(broken_build())["results"]
    assert [result["level"] for result in results] == ["error"] * 3 + ["warning"]
    prints = [result["partialFingerprints"]["prjury/v1"] for result in results]
    assert len(set(prints)) == 4
    assert results[0]["partialFingerprints"]["primaryLocationLineHash"] == f"{prints[0]}:1"


def test_equal_fingerprints_are_told_apart() -> None:
    place = Location("a.py", 3)
    twins = [Check("rule", False, message, place, evidence="same") for message in ("one", "two")]
    results = run_of(judged(*twins))["results"]
    first, second = (result["partialFingerprints"] for result in results)
    assert first["prjury/v1"] == second["prjury/v1"]
    assert [one["primaryLocationLineHash"][-2:] for one in (first, second)] == [":1", ":2"]


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("src/a b.py", "src/a%20b.py"),
        ("a:b#c?d%e.py", "a%3Ab%23c%3Fd%25e.py"),
        ("ä/\udcff.py", "%C3%A4/%FF.py"),
        ("new\nline.py", "new%0Aline.py"),
    ],
)
def test_paths_are_encoded_byte_by_byte(path: str, uri: str) -> None:
    shown = path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    (result,) = run_of(judged(failed(path=shown), files=[file(path)]))["results"]
    found = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert found == uri
    assert unquote_to_bytes(found) == path.encode("utf-8", "surrogateescape")


def test_what_has_no_place_at_the_head_is_a_notification() -> None:
    gone = file("gone.py", status=FileStatus.DELETED)
    elsewhere = Check("compiles", False, "two", severity="warning")
    made = judged(failed("one", "gone.py"), elsewhere, files=[gone])
    run = run_of(made)
    assert run["results"] == []
    told = [one["message"]["text"] for one in run["invocations"][0]["toolExecutionNotifications"]]
    assert [text.partition("\n")[0] for text in told] == ["pack/rule: one", "compiles: two"]


def test_only_suppressed_findings_say_that_they_are() -> None:
    quiet, loud = failed("quiet"), failed("loud", line=9)
    made = judged(quiet, loud, suppressions=["pack/rule (a.py:3), by noqa: X"])
    told = {
        result["message"]["text"].partition("\n")[0]: result["suppressions"]
        for result in run_of(made)["results"]
    }
    entry = {"kind": "inSource", "status": "accepted", "justification": "by noqa: X"}
    assert told == {"quiet": [entry], "loud": []}


def test_rules_tell_why() -> None:
    details = [{"rule": "pack/rule", "why": "It was removed.", "references": ["https://x.org/1"]}]
    (rule,) = run_of(judged(failed(), findings=details))["tool"]["driver"]["rules"]
    assert rule["fullDescription"]["text"] == "It was removed."
    assert rule["help"]["text"] == (
        "It was removed.\nhttps://x.org/1\n`prjury rules show pack/rule` explains it."
    )


@pytest.mark.slow
def test_beyond_the_limits_the_heaviest_stay_and_the_rest_is_counted() -> None:
    run = run_of(with_findings(5_200))
    assert len(run["results"]) == 5_000
    (told,) = run["invocations"][0]["toolExecutionNotifications"]
    assert told["message"]["text"] == "In the report only: 200 more findings."


def test_no_link_is_live_and_no_secret_gets_out() -> None:
    text = f"[click](https://evil.example) \x1b[31m {TOKEN}"
    (result,) = run_of(judged(failed(text)))["results"]
    assert "](" not in result["message"]["text"].replace("\\](", "")
    assert TOKEN not in json.dumps(result)
    assert "\x1b" not in result["message"]["text"]


@pytest.mark.parametrize("words", ATTACKS)
def test_hostile_words_give_a_valid_log(words: str) -> None:
    run = run_of(report_holding(words))
    for named in (*run["tool"]["driver"]["rules"], *run["results"]):
        named.pop("id", None)
        named.pop("ruleId", None)
    assert "](" not in json.dumps(run).replace("\\\\](", "")


@given(st.text(), st.text(min_size=1), st.text(min_size=1).filter(str.strip))
def test_any_text_gives_a_valid_log(message: str, path: str, name: str) -> None:
    run_of(judged(Check(name, False, message, Location(path, 1), evidence=message)))
