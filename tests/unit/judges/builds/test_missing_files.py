"""What a build does without."""

from __future__ import annotations

import pytest

from prjury.errors import CannotJudgeError
from prjury.judges.builds.missing_files import note_files, refuse_needed
from prjury.judges.builds.plan import BuildPlan, BuildStep
from prjury.ports.types import TreeEntry

PLAN = BuildPlan("tool", (BuildStep("test", ("tool",)),), notes=("a note",))
NOTE = "not checked, since a partial clone lacks their content: "


def entry(path: str, blob: str = "1", mode: str = "100644") -> TreeEntry:
    return TreeEntry(path, mode, blob)


@pytest.mark.parametrize("path", ["logo.png", "data/model.onnx", "lib/x.jar", "docs/guide.md"])
def test_pictures_archives_and_documentation_are_not_needed(path: str) -> None:
    refuse_needed([path], [entry(path), entry("a.py")], [entry(path)])


@pytest.mark.parametrize(
    "path", ["a.py", "src/test/java/ATest.java", "pom.xml", "uv.lock", "Makefile", "run", "x.csv"]
)
def test_what_may_be_code_is_needed(path: str) -> None:
    with pytest.raises(CannotJudgeError) as caught:
        refuse_needed([path], [entry(path)], [entry(path)])
    assert caught.value.reason == "object_missing"
    assert str(caught.value) == (
        f"{path} cannot be written. This partial clone lacks their content. "
        "Fetch it all with: git fetch --refetch --no-filter; or use a full clone."
    )


def test_a_link_is_needed_whatever_it_is_called() -> None:
    link = entry("logo.png", mode="120000")
    with pytest.raises(CannotJudgeError):
        refuse_needed(["logo.png"], [link], [link])


def test_nothing_absent_changes_nothing() -> None:
    refuse_needed([], [entry("a.py")], [])
    assert note_files(PLAN, []) is PLAN


def test_the_absent_are_named() -> None:
    plan = note_files(BuildPlan("tool", (), notes=("a note",)), ["a.png", "b\n.png"])
    assert plan.notes == ("a note", f"{NOTE}a.png, b\\n.png")
