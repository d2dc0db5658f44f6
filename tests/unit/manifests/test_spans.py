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

from prjury.manifests.module import parse_span
from prjury.manifests.spans import Numbers, VersionSpan, read_span

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
