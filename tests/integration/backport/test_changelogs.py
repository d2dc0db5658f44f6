"""A conflict in a changelog is resolved by hand; nothing has to be picked first for it."""

from __future__ import annotations

from pathlib import Path

from integration.backport.bench import ASKED, Bench, Story, lines

HISTORY = "unreleased\n==========\n\n{}5.0.0 / 2024-01-01\n==================\n\n * First\n"
ENTRY = " * Fix the count\n\n"
START = {"a.py": lines(), "b.py": lines(), "History.md": HISTORY.format("")}
#: An unrelated feature that stands just above the change's entry.
FEATURE = {"b.py": lines({9: "nine"}), "History.md": HISTORY.format(" * Count to nine\n\n")}
CHANGE = {
    "a.py": lines({3: "three"}),
    "History.md": HISTORY.format(" * Count to nine\n * Fix the count\n\n"),
}
STORY = Story(
    change=[CHANGE],
    main=[(FEATURE, "Add a feature")],
    branch=[({"History.md": HISTORY.format(" * Only here\n\n")}, "On the branch")],
    start=START,
)


def test_an_unrelated_feature_is_not_picked_for_a_changelog(tmp_path: Path) -> None:
    backport = Bench(tmp_path, STORY).judge(labels=ASKED)

    assert backport.prerequisites == ()
    assert [one.path for one in backport.conflicts] == ["History.md"]
    assert backport.conflicts[0].reason == "a changelog: keep both entries"
    assert backport.verdict == "suitable_with_changes"
    assert "1 file, all easy to resolve: History.md (a changelog: keep" in backport.reasons[0]
    first = next(one for one in backport.checks if one.name == "prerequisites")
    assert first.message == (
        "nothing has to be picked first: only changelogs or lock files conflict"
    )
