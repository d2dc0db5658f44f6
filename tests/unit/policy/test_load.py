"""From text to policy, and the sentences that say what is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jsonschema
import pytest

from prjury.errors import ConfigError, ExitCode
from prjury.policy.load import default_policy, json_schema, parse_policy
from prjury.policy.yaml_reader import read_yaml

DOCUMENTED = """
version: 1
tiers:                                   # these are the defaults: no file at all works
  - name: build
    policy: reject_on_any_fail
    judges: [merge, {build: {command: auto, affected: true, pre_existing: warn, timeout: 30m,
      from: run}}]
  - name: version-patterns
    policy: reject_on_any_fail
    continue_on_reject: true             # model judges still give feedback
    judges: [{patterns: {packs: auto, paths: [], severity: error, baseline: null}}]
  - name: quality
    policy: final_tier
    advisory: auto                       # until calibrated
    voting: {weighted_average: {threshold: 0.7}}
    judges: [{quality: {criteria: [correctness, tests, conventions, risk], model: auto, runs: 1}}]
backport: {branches: auto, default: ask, merge: squash, build: false}
gate: {block_on: [fail, error, abstain], not_configured: pass, coverage_floor: 0.95}
publish: {comment: true, check: true, annotations: true, summary: true, review: false,
  sarif: false, labels: {}}
models: {default: {provider: auto}, panel: [], base_url: null,
  retry: {confidence: 0.7, iterations: 2}}
limits: {usd: 1.0, input_tokens: 200000, wall: 45m}
build: {command: null, junit: [], coverage: []}
paths: []
sandbox: {level: auto, network: true, env: [], lend: []}
calibration: .github/prjury-calibration.yml
review: {confirm: true, passes: 1}
suppressions: {allow: true}
fix: {enabled: false, when: asked, command: null, paths: ["**/test/**", "tests/**"], rounds: 2}
extend: []
ignore: []
per_file_ignores: {}
pulls: {drafts: false, bots: [dependabot, renovate]}
"""

#: Keys and seats of earlier releases, and a word of what is said of each.
GONE = {
    "gate: {override: {label: x}}": "`/prjury override REASON`",
    "backport: {override: x}": "`/prjury backport BRANCH`",
    "backport: {most: 2}": "branches",
    "backport: {trailers: false}": "always count",
    "models: {fallback: []}": "models.fallback is gone; leave it out, or seat several models",
    "sandbox: {mounts: [/opt]}": "sandbox.mounts is gone; name what a build may read",
    "suppressions: {ecosystem: false}": "allow: false",
    "tiers: [{name: a, policy: final_tier, judges: [{patterns: {ecosystem: true}}]}]": "allow",
    "tiers: [{name: a, policy: final_tier, judges: [{semantic: {expected: x}}]}]": "prjury judge",
    "tiers: [{name: a, policy: final_tier, judges: [superset-diff]}]": "prjury judge superset-diff",
    "tiers: [{name: a, policy: final_tier, judges: [class-version]}]": "prjury judge class-version",
}

TIER = "tiers:\n  - name: a\n    policy: final_tier\n    judges: [{judge}]\n"


def with_judge(judge: str) -> str:
    return TIER.replace("{judge}", judge)


def with_voting(voting: str) -> str:
    return with_judge("build") + f"    voting: {voting}\n"


def refusal(text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        parse_policy(text, "base:1234:f.yml", shown_name="f.yml")
    assert caught.value.exit_code is ExitCode.USAGE
    return str(caught.value).removesuffix(".")


def flat(value: Any, path: str = "") -> dict[str, Any]:
    items = value.items() if isinstance(value, Mapping) else enumerate(value)
    found: dict[str, Any] = {}
    for key, item in items:
        here = f"{path}.{key}" if path else str(key)
        found |= flat(item, here) if isinstance(item, Mapping | list) and item else {here: item}
    return found


def test_the_documented_defaults_are_the_defaults() -> None:
    assert parse_policy(DOCUMENTED, "x").resolved == default_policy().resolved
    assert parse_policy(DOCUMENTED, "x").hash == default_policy().hash


def test_what_the_documentation_says_is_what_is_resolved() -> None:
    documented = flat(read_yaml(DOCUMENTED, "x").value)
    resolved = flat(dict(default_policy().resolved))
    spelled = {
        "tiers.0.judges.0": ("tiers.0.judges.0.merge.strategy", "auto"),
        "tiers.0.judges.1.build.timeout": ("tiers.0.judges.1.build.timeout", 1800.0),
        "limits.wall": ("limits.wall", 2700.0),
    }

    for path, value in documented.items():
        where, expected = spelled.get(path, (path, value))
        assert resolved[where] == expected, path


@pytest.mark.parametrize("text", GONE)
def test_what_is_gone_is_told_in_one_line_with_what_to_use(text: str) -> None:
    told = refusal(f"version: 1\n{text}")
    assert told.startswith("f.yml line 2: ")
    assert GONE[text] in told
    assert "\n" not in told


BUILD = "build: {command: {test: make check}}\n"


def commands(text: str) -> list[Any]:
    tiers = parse_policy(text, "x").resolved["tiers"]
    judges = [judge for tier in tiers for judge in tier["judges"] if "build" in judge]
    return [judge["build"]["command"] for judge in judges]


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ("continue_on_reject: true", "are for the policy reject_on_any_fail"),
        ("on_error: continue", "are for the policy reject_on_any_fail"),
        ("min_confidence: 0.5", "min_confidence is for the policy accept_on_all_pass"),
    ],
)
def test_what_a_tier_of_this_policy_does_not_look_at_is_refused(setting: str, told: str) -> None:
    assert refusal(with_judge("merge") + f"    {setting}\n").endswith(told)


def test_a_command_for_no_build_is_refused() -> None:
    told = "f.yml line 2: tiers: build.command is set, and no tier has the judge `build`"
    assert refusal(BUILD + with_judge("merge")) == told
    assert "f.yml line 1: build.command: a command is needed" in refusal("build: {command: ' '}")


@pytest.mark.parametrize("form", ["command: {line}", "command: {{test: {line}}}"])
def test_a_build_may_have_a_long_command(form: str) -> None:
    line = f'"{"echo a; " * 2000}"'
    assert commands(f"build: {{{form.format(line=line)}}}")


@pytest.mark.parametrize("text", ["", "# nothing here\n", "{}", "version: 1"])
def test_an_empty_policy_is_the_default_one(text: str) -> None:
    assert parse_policy(text, "x").hash == default_policy().hash


def test_the_hash_changes_with_the_policy_and_not_with_its_spelling() -> None:
    one = parse_policy("gate: {coverage_floor: 0.5}", "x")

    assert one.hash != default_policy().hash
    assert one.hash == parse_policy("gate:\n  coverage_floor: 0.50  # half\n", "y").hash
    assert parse_policy("limits: {wall: 45m}", "x").hash == default_policy().hash


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "gate: {coverage_flor: 0.9}",
            "f.yml line 1: gate.coverage_flor is not a known key; did you mean coverage_floor?",
        ),
        (
            "\nmin_scroe: 90",
            (
                "f.yml line 2: min_scroe is not a known key; allowed are backport, build, "
                "calibration, coverage, extend, fix, gate, ignore, limits, models, paths, "
                "per_file_ignores, publish, pulls, review, sandbox, suppressions, tiers, version"
            ),
        ),
        (
            with_judge("{build: {comand: x}}"),
            (
                "f.yml line 4: tiers[0].judges[0].build.comand is not a known key; did you mean "
                "command?"
            ),
        ),
        (
            with_voting("consensuss"),
            "f.yml line 5: tiers[0].voting: consensuss is not known; did you mean consensus?",
        ),
        (
            with_voting("{majority: {ti: pass}}"),
            "f.yml line 5: tiers[0].voting.majority.ti is not a known key; did you mean tie?",
        ),
        (
            "models:\n  panel:\n    - nam: x",
            "f.yml line 3: models.panel[0].nam is not a known key; did you mean name?",
        ),
    ],
)
def test_cfg_10_unknown_keys_are_refused_with_the_nearest_name(text: str, told: str) -> None:
    assert refusal(text) == told


def test_a_list_of_hosts_is_refused_with_what_to_do() -> None:
    told = refusal("sandbox:\n  network: [registry.npmjs.org]")
    assert told.startswith("f.yml line 2: sandbox.network: a list of hosts is not supported")
    assert "write `false`, or `true` and let the runner's proxy or firewall" in told


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (".nan", 'a number is expected here, not ".nan"'),
        (".inf", 'a number is expected here, not ".inf"'),
        ("1e400", "a number of at most 1 is expected here, not Infinity"),
        ("-1", "a number of at least 0 is expected here, not -1"),
        ("101", "a number of at most 1 is expected here, not 101"),
        ("'80'", 'a number is expected here, not "80"'),
        ("true", "a number is expected here, not true"),
    ],
)
def test_cfg_12_numbers_outside_their_range_are_refused(value: str, told: str) -> None:
    text = f"gate:\n  coverage_floor: {value}"

    assert refusal(text) == f"f.yml line 2: gate.coverage_floor: {told}"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("gate: off", 'gate: a mapping of keys to values is expected here, not "off"'),
        ("publish: {comment: on}", 'publish.comment: true or false is expected here, not "on"'),
        ("publish: {comment: yes}", 'publish.comment: true or false is expected here, not "yes"'),
        (
            "limits: {input_tokens: 010}",
            'limits.input_tokens: a whole number is expected here, not "010"',
        ),
        (
            "limits: {input_tokens: 1:30}",
            'limits.input_tokens: a whole number is expected here, not "1:30"',
        ),
    ],
)
def test_cfg_07_coercions_of_yaml_1_1_are_type_errors(text: str, told: str) -> None:
    assert refusal(text) == f"f.yml line 1: {told}"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("version: 2", "line 1: version: 1 is expected here, not 2"),
        ("version: true", "line 1: version: 1 is expected here, not true"),
        ("version: 1.0", "line 1: version: 1 is expected here, not 1.0"),
        ("[a]", 'line 1: the file: a mapping of keys to values is expected here, not ["a"]'),
        ("tiers: []", "line 1: tiers: at least 1 entry is expected here"),
        (
            "tiers: [{name: a, judges: [merge]}]",
            "line 1: tiers: the last tier, a, must have the policy final_tier",
        ),
        (
            "tiers: [{name: a, judges: [merge]}, {name: a, policy: final_tier, judges: [merge]}]",
            "line 1: tiers: tier names must be unique, not a, a",
        ),
        (
            with_judge("{build: {}, merge: {}}"),
            "line 4: tiers[0].judges[0]: an entry names exactly one judge, not build and merge",
        ),
        (
            with_judge("{weight: 2}"),
            "line 4: tiers[0].judges[0]: an entry names exactly one judge, not none",
        ),
        (
            with_judge("{patterns: {packs: 5}}"),
            ("line 4: tiers[0].judges[0].patterns.packs: 'auto' or a list is expected here, not 5"),
        ),
        (
            with_judge("{build: {timeout: 3 weeks}}"),
            (
                "line 4: tiers[0].judges[0].build.timeout: a duration is a number with a unit, "
                'such as 90s, 30m, 2h, not "3 weeks"'
            ),
        ),
        (
            "limits: {wall: 1e400}",
            (
                "line 1: limits.wall: a duration is more than 0 seconds, such as 90s, 30m, 2h, not "
                "Infinity"
            ),
        ),
        (
            "gate: {block_on: [fail, never]}",
            (
                "line 1: gate.block_on[1]: 'fail', 'error' or 'abstain' is expected here, not "
                '"never"'
            ),
        ),
        (
            with_voting("{median: {undecided: [0.7, 0.2]}}"),
            (
                "line 5: tiers[0].voting.median.undecided: the lower end comes first, "
                "such as [0.4, 0.6]"
            ),
        ),
        (
            with_voting("{median: {}, average: {}}"),
            "line 5: tiers[0].voting: name exactly one voting strategy, not average and median",
        ),
        (
            "gate: {not_configured: maybe}\nfix: {rounds: 0}",
            (
                "line 1: gate.not_configured: 'pass' or 'block' is expected here, not \"maybe\"; "
                "f.yml line 2: fix.rounds: a number of at least 1 is expected here, not 0"
            ),
        ),
    ],
)
def test_messages_name_key_path_line_value_and_what_is_allowed(text: str, told: str) -> None:
    assert refusal(text) == f"f.yml {told}"


def test_git_22_hidden_characters_of_keys_and_values_are_shown() -> None:
    assert r"gate.\u202enot is not a known key" in refusal("gate: {\u202enot: 1}")
    assert r'not "\u202ex"' in refusal("gate: {coverage_floor: \u202ex}")


def test_long_values_are_cut() -> None:
    assert len(refusal(f"version: '{'x ' * 500}'")) < 120


@pytest.mark.parametrize(
    "text",
    [
        DOCUMENTED,
        "{}",
        with_voting("majority"),
        with_judge("{build: {command: {test: make}, timeout: 90s}}"),
        with_judge("{quality: {criteria: {mine: is it mine}}, weight: 0.5}"),
        with_judge("{custom: {}}"),
        "build: {command: {test: make}}",
    ],
)
def test_the_json_schema_takes_what_the_reader_takes(text: str) -> None:
    parse_policy(text, "x")

    jsonschema.validate(
        read_yaml(text, "x").value, json_schema(), cls=jsonschema.Draft202012Validator
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "min_scroe: 90",
        "gate: {coverage_flor: 1}",
        "gate: {coverage_floor: 2}",
        "gate: off",
        "version: 2",
        "tiers: []",
        with_judge("{build: {comand: x}}"),
        with_voting("consensuss"),
        with_voting("{consensuss: {}}"),
        with_judge("{build: {timeout: soon}}"),
        "models: {panel: [{nam: x}]}",
        "limits: {wall: 90}",
        *GONE,
    ],
)
def test_the_json_schema_refuses_typos_as_the_reader_does(text: str) -> None:
    refusal(text)

    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(read_yaml(text, "x").value, json_schema())
    jsonschema.Draft202012Validator.check_schema(json_schema())


@pytest.mark.parametrize(
    "fix",
    [
        "{enabled: true}",
        "{command: ' '}",
        "{env: [GITHUB_TOKEN]}",
        "{env: [LD_PRELOAD]}",
        "{paths: []}",
        "{paths: [/etc/**]}",
        "{rounds: 10}",
        "{usd: -1}",
        "{timeout: 90}",
    ],
)
def test_a_repair_that_cannot_be_is_refused(fix: str) -> None:
    assert "fix" in refusal(f"version: 1\nfix: {fix}")


@pytest.mark.parametrize("glob", ["", " ", "/gen/**", "gen\\\\a", "../gen/**", "gen/../a"])
def test_a_glob_that_no_path_matches_is_refused(glob: str) -> None:
    text = f"version: 1\ncoverage:\n  exempt: ['{glob}']\n"
    assert "coverage.exempt[0]" in refusal(text)
    assert "relative to the root of the repository" in refusal(text)


def test_exempt_globs_are_read_and_in_the_schema() -> None:
    policy = parse_policy("coverage: {exempt: ['*.min.js']}", "f.yml")
    assert policy.config.coverage.exempt == ["*.min.js"]
    assert "exempt" in json_schema()["$defs"]["CoverageConfig"]["properties"]


def test_a_default_that_the_build_section_sets_is_set() -> None:
    """Coverage of all of the code builds all of it, unless the policy says otherwise."""
    tiers = (
        "tiers: [{name: a, policy: reject_on_any_fail, judges: [build]}, {name: b, policy: "
        "final_tier, judges: [{coverage: {report: c.xml, minimum: 80}}]}]\n"
    )
    usual = parse_policy(f"version: 1\n{tiers}", "x").config.tiers[0].judges[0].build
    said = f"version: 1\nbuild: {{affected: true}}\n{tiers}"
    own = parse_policy(said, "x").config.tiers[0].judges[0].build
    assert usual
    assert own
    assert (usual.affected, own.affected) == (False, True)


@pytest.mark.parametrize("text", ["sandbox: {lend: [ssh]}", "calibration: ../record.yml"])
def test_no_other_credential_is_lent_and_no_record_lies_outside(text: str) -> None:
    assert refusal(f"version: 1\n{text}").startswith("f.yml line 2: ")
