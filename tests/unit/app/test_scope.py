from __future__ import annotations

import pytest

from fakes.llm import pull
from prjury.app.steps import list_tiers_judging_no_path
from prjury.errors import ConfigError
from prjury.policy.load import parse_policy
from prjury.snapshot.model import FileChange, FileKind, FileStatus

TIERS = """
tiers:
  - {name: merge, policy: reject_on_any_fail, judges: [merge]}
  - {name: build, policy: reject_on_any_fail, judges: [build]}
  - {name: last, policy: final_tier, judges: [patterns]}
paths:
  - {match: ["docs/api/**"], tiers: [merge, build]}
  - {match: ["docs/**", "*.md"], tiers: [merge]}
"""


def changed(path: str, old: str | None = None) -> FileChange:
    status = FileStatus.RENAMED if old else FileStatus.MODIFIED
    return FileChange(path, status, FileKind.DOCS, old_path=old)


@pytest.mark.parametrize(
    ("files", "aside"),
    [
        ([changed("docs/a.rst")], {"build", "last"}),
        ([changed("src/README.md")], {"build", "last"}),
        ([changed("docs/api/a.yml")], {"last"}),
        ([changed("docs/a.rst"), changed("src/a.py")], set()),
        ([changed("docs/a.py", old="src/a.py")], set()),
        ([], set()),
    ],
    ids=["docs", "anywhere", "the first entry counts", "and code", "moved out of code", "nothing"],
)
def test_tiers_that_judge_no_changed_path(files: list[FileChange], aside: set[str]) -> None:
    config = parse_policy(f"version: 1{TIERS}", "here").config
    assert set(list_tiers_judging_no_path(config, pull(*files))) == aside


def test_without_paths_every_tier_judges_everything() -> None:
    config = parse_policy("version: 1", "here").config
    assert list_tiers_judging_no_path(config, pull(changed("docs/a.rst"))) == ()


def test_a_tier_that_there_is_not_is_refused() -> None:
    text = 'version: 1\npaths: [{match: ["*.md"], tiers: [docs]}]\n'
    with pytest.raises(ConfigError, match="there is no tier docs, only build, version-patterns"):
        parse_policy(text, "here")
