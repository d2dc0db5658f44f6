"""A changed manifest is never passed over: a version that nobody could read asks for a human."""

from __future__ import annotations

from pathlib import Path

import pytest

from integration.backport.bench import Bench, Story
from prjury.report.model import Backport

_POM = (
    "<project><dependencies><dependency><groupId>g</groupId><artifactId>a</artifactId>"
    "<version>{}</version></dependency></dependencies></project>\n"
)
#: The same major version raised, in spellings of which some need a parser.
SPELLINGS = {
    "plain": ("requirements.txt", "django=={}\n"),
    "with hashes": ("requirements.txt", "django=={} \\\n    --hash=sha256:ab\n"),
    "one-line package.json": ("package.json", '{{"dependencies": {{"react": "^{}"}}}}\n'),
    "Gradle map": ("build.gradle", 'api group: "g", name: "a", version: "{}"\n'),
    "one-line pom": ("pom.xml", _POM),
}


def raised(directory: Path, path: str, text: str) -> Backport:
    start, change = {path: text.format("4.2.1")}, {path: text.format("5.2.1")}
    bench = Bench(directory, Story(change=[change], branch=[{"b.py": "b\n"}], start=start))
    return bench.judge(policy="default: yes")


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_every_spelling_of_a_major_version_is_told(tmp_path: Path, spelling: str) -> None:
    backport = raised(tmp_path, *SPELLINGS[spelling])

    assert backport.verdict in {"not_suitable", "needs_human"}  # the latter if it is likely
    assert ", a major version away" in backport.reasons[0]


@pytest.mark.parametrize("path", ["build.gradle", "requirements.txt"])
def test_a_version_in_no_known_form_asks_for_a_human(tmp_path: Path, path: str) -> None:
    backport = raised(tmp_path, path, "ext {{ j = '{}' }}\n")

    assert backport.verdict == "needs_human"
    assert backport.reasons[0] == f"not checked: no version can be read in {path}"
    assert ("dependencies", False) in [(one.name, one.passed) for one in backport.checks]
