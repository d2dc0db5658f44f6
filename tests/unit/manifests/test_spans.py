"""What declared versions may come to, as each ecosystem writes them."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet

from prjury.manifests.distance import Distance, VersionStep, measure_distance
from prjury.manifests.module import Requirement, Truth, parse_span
from prjury.manifests.spans import Numbers, VersionSpan, numbers, read_span

EVERYTHING = VersionSpan()


def span(low: str, high: str | None = None) -> VersionSpan:
    """``1.2`` is a bound; ``1.2+`` is right above that version."""
    told = [_bound(text) if text else None for text in (low, high)]
    return VersionSpan(told[0] or (0,), told[1])


def _bound(text: str) -> Numbers:
    numbers = tuple(int(part) for part in text.rstrip("+").split("."))
    return (*numbers, 0) if text.endswith("+") else numbers


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (">=3.8", span("3.8")),
        (">=3.8,<4", span("3.8", "4")),
        (" >= 3.8 , < 4.0 ", span("3.8", "4")),
        ("~=1.4.2", span("1.4.2", "1.5")),
        ("~=1.4", span("1.4", "2")),
        ("~=1", None),
        ("==1.0.*", span("1", "1.1")),
        ("==2.0", span("2", "2+")),
        ("===2.0", span("2", "2+")),
        ("==2.0.post1", span("2", "2+")),
        (">1.0", span("1+")),
        ("<=1.0", span("0", "1+")),
        (">=2.0rc1", span("2")),
        (">=3.8,!=3.9.*", span("3.8")),
        ("!=3", EVERYTHING),
        ("", EVERYTHING),
        ("^3.8", span("3.8", "4")),
        ("^0.2.3", span("0.2.3", "0.3")),
        ("^0.0", span("0", "0.1")),
        ("~3.8", span("3.8", "3.9")),
        ("~3", span("3", "4")),
        ("^1.2 || ^3.0", span("1.2", "4")),
        ("3.8.*", span("3.8", "3.9")),
        ("2.0.1", span("2.0.1", "2.0.1+")),
        ("1!2.0", None),
        (">=x", None),
        ("<2,>=3", None),
        ("git+https://example.org/x", None),
    ],
)
def test_python(text: str, expected: VersionSpan | None) -> None:
    assert read_span(text, "pypi") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("^1.2.3", span("1.2.3", "2")),
        ("^0.2.3", span("0.2.3", "0.3")),
        ("^0.0.3", span("0.0.3", "0.0.4")),
        ("^0.0", span("0", "0.1")),
        ("^0.x", span("0", "1")),
        ("^1", span("1", "2")),
        ("~1.2.3", span("1.2.3", "1.3")),
        ("~1", span("1", "2")),
        ("~> 1.2", span("1.2", "1.3")),
        ("1.2.3", span("1.2.3", "1.2.3+")),
        ("=1.2.3", span("1.2.3", "1.2.3+")),
        ("v1.2.3", span("1.2.3", "1.2.3+")),
        ("1.2", span("1.2", "1.3")),
        ("1.x", span("1", "2")),
        ("1.2.*", span("1.2", "1.3")),
        (">=1.2 <2", span("1.2", "2")),
        (">= 1.2.0 < 2.0.0", span("1.2", "2")),
        (">1.2", span("1.3")),
        (">1.2.3", span("1.2.3+")),
        ("<=1.2", span("0", "1.3")),
        ("1.2.3 - 2.3", span("1.2.3", "2.4")),
        ("1.2 - 2.3.4", span("1.2", "2.3.4+")),
        ("^17.0.0 || ^18.0.0", span("17", "19")),
        ("^1.0.0-beta.2", span("1", "2")),
        ("*", EVERYTHING),
        ("", EVERYTHING),
        ("x", EVERYTHING),
        ("^1 || *", EVERYTHING),
        ("latest", None),
        ("workspace:*", None),
        ("workspace:^1.2.3", None),
        ("catalog:", None),
        ("https://example.org/x.tgz", None),
        ("github:a/b#semver:^1", None),
        ("file:../x", None),
        ("^1 || next", None),
        (">2 <1", None),
    ],
)
def test_npm(text: str, expected: VersionSpan | None) -> None:
    assert read_span(text, "npm") == expected


@pytest.mark.parametrize(
    ("ecosystem", "text", "expected"),
    [
        ("go", "v1.2.3", span("1.2.3", "1.2.3+")),
        ("go", "v2.0.0+incompatible", span("2", "2+")),
        ("go", "v0.0.0-20240927000941-0f3dac36c52b", span("0", "0+")),
        ("cargo", "1.2.3", span("1.2.3", "2")),
        ("cargo", "0.4", span("0.4", "0.5")),
        ("cargo", "0.0.3", span("0.0.3", "0.0.4")),
        ("cargo", "=1.2.3", span("1.2.3", "1.2.3+")),
        ("cargo", "=1.2", span("1.2", "1.3")),
        ("cargo", "~1.2.3", span("1.2.3", "1.3")),
        ("cargo", "1.*", span("1", "2")),
        ("cargo", ">=1.2, <1.5", span("1.2", "1.5")),
        ("cargo", "*", EVERYTHING),
        ("cargo", "one", None),
        ("nuget", "1.0", span("1", "1+")),
        ("nuget", "[1.0,2.0)", span("1", "2")),
        ("nuget", "(,1.0]", span("0", "1+")),
        ("nuget", "[1.5]", span("1.5", "1.5+")),
        ("nuget", "1.*", span("1", "2")),
        ("nuget", "1.2.*", span("1.2", "1.3")),
        ("nuget", "*", None),
        ("nuget", "[1.*,2)", None),
        ("action", "v4", span("4", "5")),
        ("action", "v4.1", span("4.1", "4.2")),
        ("action", "v4.1.2", span("4.1.2", "4.1.2+")),
        ("action", "4", span("4", "5")),
        ("action", "main", None),
        ("action", "1234567890123456789012345678901234567890", None),
        ("action", "8e5e7e5ab8b370d6c329ec480221332ada57f0ab", None),
    ],
)
def test_other_registries(ecosystem: str, text: str, expected: VersionSpan | None) -> None:
    assert read_span(text, ecosystem) == expected


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("python", ">=3.10", span("3.10")),
        ("python", "==3.12.*", span("3.12", "3.13")),
        ("node", ">=18", span("18")),
        ("node", "20", span("20", "21")),
        ("node", "lts/iron", None),
        ("go", "1.21", span("1.21")),
        ("rust", "1.70.0", span("1.70")),
        ("rust-edition", "2021", span("2021", "2021+")),
        ("java", "17", span("17", "17+")),
        ("java", "1.8", span("8", "8+")),
        ("java", "${java}", None),
        ("gradle", "8.5", span("8.5", "8.5+")),
        ("kotlin", "2.0.21", span("2.0.21", "2.0.21+")),
        ("dotnet", "net8.0", span("8", "8+")),
        ("dotnet", "net8.0-windows", span("8", "8+")),
        ("dotnet", "net6.0;net8.0", span("6", "8+")),
        ("dotnet", "netcoreapp3.1", span("3.1", "3.1+")),
        ("dotnet", "net472", None),
        ("dotnet", "netstandard2.0", None),
        ("dotnet", "netstandard2.0;net8.0", None),
    ],
)
def test_runtimes(name: str, text: str, expected: VersionSpan | None) -> None:
    assert read_span(text, "runtime", name) == expected


@pytest.mark.parametrize("text", ["", "3", "<", "< x", ">=1 && <2", "<2 trailing"])
def test_what_is_no_span(text: str) -> None:
    with pytest.raises(ValueError, match="are no versions"):
        parse_span(text)


NUMBERS = st.lists(st.integers(0, 4), min_size=1, max_size=3)
VERSIONS = NUMBERS.map(lambda parts: ".".join(map(str, parts)))
CLAUSES = st.one_of(
    st.tuples(st.sampled_from([">=", "<=", ">", "<", "=="]), VERSIONS).map("".join),
    VERSIONS.map(lambda version: f"=={version}.*"),
    st.lists(st.integers(0, 4), min_size=2, max_size=3).map(
        lambda parts: "~=" + ".".join(map(str, parts))
    ),
)


@given(st.lists(CLAUSES, min_size=1, max_size=3).map(",".join), VERSIONS)
def test_a_span_holds_exactly_what_pep_440_says(text: str, version: str) -> None:
    exact = read_span(version, "pypi")
    allowed = read_span(text, "pypi")
    assert exact is not None
    inside = allowed is not None and exact.within(allowed)
    assert inside == SpecifierSet(text).contains(version)


TRIPLES = st.lists(st.integers(0, 3), min_size=3, max_size=3).map(
    lambda parts: ".".join(map(str, parts))
)
PARTIALS = st.lists(st.integers(0, 3), min_size=1, max_size=3).map(
    lambda parts: ".".join(map(str, parts))
)
COMPARATORS = st.tuples(st.sampled_from(["", "^", "~", ">=", "<=", ">", "<", "="]), PARTIALS).map(
    "".join
)
NPM_RANGES = st.one_of(
    st.lists(COMPARATORS, min_size=1, max_size=2).map(" ".join),
    st.tuples(PARTIALS, PARTIALS).map(" - ".join),
    PARTIALS.map(lambda partial: f"{partial}.x" if partial.count(".") < 2 else partial),
)


@given(st.lists(NPM_RANGES, max_size=3).map(" || ".join), TRIPLES)
def test_alternatives_allow_no_less_than_each_of_them(text: str, version: str) -> None:
    exact = read_span(version, "npm")
    whole = read_span(text, "npm")
    assert exact is not None
    for part in text.split("||"):
        one = read_span(part, "npm")
        if one is not None and whole is not None and exact.within(one):
            assert exact.within(whole)


@given(st.text(max_size=40), st.sampled_from(["pypi", "npm", "cargo", "nuget", "go", "action"]))
def test_any_text_is_a_span_or_none(text: str, ecosystem: str) -> None:
    found = read_span(text, ecosystem)
    assert found is None or found.high is None or found.low <= found.high


@pytest.mark.nightly
def test_ranges_are_those_of_npm(tmp_path: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not here")
    quiet = ["--silent", "--no-audit", "--no-fund", "--prefix", str(tmp_path)]
    if subprocess.run([npm, "install", *quiet, "semver@7"], check=False).returncode:
        pytest.skip("npm cannot install")
    ranges = _ranges()
    versions = [f"{a}.{b}.{c}" for a in range(4) for b in range(4) for c in range(4)]
    script = (
        "const semver = require('semver'); const [ranges, versions] = "
        "JSON.parse(require('fs').readFileSync(0, 'utf8'));"
        "console.log(JSON.stringify(ranges.map("
        "range => versions.filter(version => semver.satisfies(version, range)))));"
    )
    told = subprocess.run(
        ["node", "-e", script],
        input=json.dumps([ranges, versions]),
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
    )
    for text, expected in zip(ranges, json.loads(told.stdout), strict=True):
        assert (text, _allowed(text, versions)) == (text, expected)


def _ranges() -> list[str]:
    partials = ["0", "1", "0.0", "0.1", "1.2", "0.0.2", "0.1.2", "1.2.0", "1.2.3", "2.x", "*"]
    signs = ["", "^", "~", ">=", "<=", ">", "<", "=", ">= ", "~>"]
    single = [f"{sign}{partial}" for sign in signs for partial in partials]
    hyphens = [f"{low} - {high}" for low in partials for high in partials]
    both = [f">={low} <{high}" for low in partials for high in partials]
    return [*single, *hyphens, *both]


def _allowed(text: str, versions: list[str]) -> list[str]:
    whole = read_span(text, "npm")
    exact = {version: read_span(version, "npm") for version in versions}
    return [v for v, one in exact.items() if whole and one and one.within(whole)]


FOUR = Requirement.parse("maven:org.springframework.boot >=4.0")


@pytest.mark.parametrize(
    ("version", "truth"),
    [
        ("4.0.0", Truth.YES),
        ("4", Truth.YES),
        ("4.0", Truth.YES),
        ("4.1.0-SNAPSHOT", Truth.YES),
        ("4.0.0-M1", Truth.YES),
        ("10.0", Truth.YES),
        ("3.9.9", Truth.NO),
        ("2.7.18.RELEASE", Truth.NO),
        ("[4.0,5.0)", Truth.YES),
        ("[4.0]", Truth.YES),
        ("[4.0,)", Truth.YES),
        ("(,4.0)", Truth.NO),
        ("[3.0,4.0)", Truth.NO),
        ("[3.0,4.0]", Truth.SOME),
        ("[3.0,4.1)", Truth.SOME),
        ("(,3.0],[3.5,3.9]", Truth.NO),
        ("4.+", Truth.YES),
        ("3.+", Truth.NO),
        ("+", Truth.UNKNOWN),
        ("latest.release", Truth.UNKNOWN),
        ("", Truth.UNKNOWN),
        ("${x}", Truth.UNKNOWN),
        ("[,]", Truth.UNKNOWN),
    ],
)
def test_what_a_declared_version_says(version: str, truth: Truth) -> None:
    assert FOUR.check_version(version) is truth


@pytest.mark.parametrize(
    ("version", "truth"),
    [
        ("4.0.0-M2", Truth.SOME),
        ("4.0.0-SNAPSHOT", Truth.SOME),
        ("4.0.0-RC1", Truth.YES),
        ("4.0.0", Truth.YES),
        ("4.1.0-M1", Truth.YES),
        ("3.5.0", Truth.NO),
    ],
)
def test_a_milestone_is_not_sure_where_the_release_candidate_decides(
    version: str, truth: Truth
) -> None:
    assert Requirement.parse("maven:g >=4.0-RC1").check_version(version) is truth


def test_an_upper_bound() -> None:
    between = Requirement.parse("maven:a:b >=2.0 <3.0")
    truths = [between.check_version(v) for v in ("2.9", "3.0", "1.9")]
    assert truths == [Truth.YES, Truth.NO, Truth.NO]


def test_without_a_span_any_version_will_do() -> None:
    assert Requirement.parse("maven:tools.jackson.*").check_version(None) is Truth.YES


@pytest.mark.parametrize(
    "text", ["", "maven", "maven:a ==4", "npm:react:x", "cobol:x", "maven:a >=x"]
)
def test_what_is_no_requirement(text: str) -> None:
    with pytest.raises(ValueError, match="is not a requirement"):
        Requirement.parse(text)


PARTS = st.lists(st.integers(0, 20), min_size=1, max_size=4)


@given(PARTS, PARTS)
def test_a_version_is_inside_or_apart_never_both_and_never_neither(
    declared: list[int], bound: list[int]
) -> None:
    told = ".".join(map(str, declared))
    span = read_span(told, "maven")
    low = numbers(".".join(map(str, bound)))
    assert span is not None
    assert low is not None
    required = VersionSpan(low)
    assert span.within(required) != span.excludes(required)
    assert span.within(required) == ((numbers(told) or ()) >= low)


SAME = Distance(VersionStep.SAME)


def up(step: VersionStep, count: int = 1) -> Distance:
    return Distance(step, up=True, count=count)


@pytest.mark.parametrize(
    ("one", "other", "between"),
    [
        ("2.17.1", "2.17.1", SAME),
        ("2.17.1", "2.17.2", up(VersionStep.PATCH)),
        ("2.15.4", "2.17.2", up(VersionStep.MINOR, 2)),
        ("1.9", "2.0.0", up(VersionStep.MAJOR)),
        ("1.0", "1.0.0", SAME),
        (">=1.0,<2", "<2,>=1.0", SAME),
        (">=1.20", ">=1.20,<2", None),
        ("1.0.0.1", "1.0.0.3", up(VersionStep.PATCH, 2)),
        ("v3", "v4", up(VersionStep.MAJOR)),
        ("v3", "v3.1", up(VersionStep.MINOR)),
        ("^18.1.0", "^18.2.0", up(VersionStep.MINOR)),
        ("~=1.4", ">=1.5", up(VersionStep.MINOR)),
        (">=1.20", ">=1.21,<2", up(VersionStep.MINOR)),
        (">=1.20,<2", ">=1.20,<3", up(VersionStep.MAJOR)),
        ("<2", "<3", up(VersionStep.MAJOR)),
        ("1.0-rc1", "1.0", up(VersionStep.PATCH)),
        ("1.0.RELEASE", "1.1.RELEASE", up(VersionStep.MINOR)),
        ("33.0-jre", "33.1-jre", up(VersionStep.MINOR)),
        ("33.0-jre", "33.1-android", None),
        ("1.0-rc1", "1.0-rc2", None),
        ("1.0", "latest", None),
        ("", "1.0", None),
        ("^1.0 || ^2.0", "^3.0", None),
        ("a" * 40, "b" * 40, None),
    ],
)
def test_the_first_number_that_differs_tells_how_far_it_is(
    one: str, other: str, between: Distance | None
) -> None:
    assert measure_distance(one, other) == between
