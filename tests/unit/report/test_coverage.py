from __future__ import annotations

from typing import Any

import pytest

from fakes import reports as fake
from prjury.jury.judgment import Judgment
from prjury.pull.model import FileKind, FileStatus
from prjury.report.coverage import measure
from prjury.report.model import Coverage, NotChecked


def scoped(*read: str, unread: Any = ()) -> dict[str, Any]:
    return {"scope": {"read": list(read), "unread": list(unread)}}


def measured(*judgments: Judgment, files: Any) -> Coverage:
    ballots = [fake.ballot(f"j{n}", judgment) for n, judgment in enumerate(judgments)]
    return measure(fake.pull(files), (fake.tier("t", *ballots),))


def test_without_a_declared_scope_the_tree_was_judged() -> None:
    files = (fake.file("a.py", 5), fake.file("b.py", 7, unread="over 1 MiB"))
    coverage = measured(Judgment.passed("ok"), files=files)
    assert coverage == Coverage("tree", 2, 1, 12, 5, (NotChecked("b.py", "over 1 MiB"),))


def test_a_line_counts_when_any_judge_has_read_its_file() -> None:
    files = (fake.file("a.py", 5), fake.file("b.py", 7), fake.file("c.py", 1))
    first = Judgment.passed(
        "ok", metadata=scoped("a.py", unread=[{"path": "b.py", "reason": "parser timed out"}])
    )
    second = Judgment.passed("ok", metadata=scoped("b.py"))
    coverage = measured(first, second, files=files)
    assert coverage == Coverage("lines", 3, 2, 13, 12, (NotChecked("c.py", "no judge read it"),))


def test_the_judges_own_reason_is_told() -> None:
    unread = [{"path": "a.py", "reason": "over budget"}]
    coverage = measured(
        Judgment.passed("ok", metadata=scoped(unread=unread)), files=[fake.file("a.py")]
    )
    assert coverage.not_checked == (NotChecked("a.py", "over budget"),)


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (FileKind.LOCK, "lock file"),
        (FileKind.GENERATED, "generated file"),
        (FileKind.VENDORED, "vendored file"),
        (FileKind.BINARY, "binary file"),
        (FileKind.SUBMODULE, "submodule"),
    ],
)
def test_files_that_nobody_reads_are_named_and_stay_out_of_the_totals(
    kind: FileKind, reason: str
) -> None:
    coverage = measured(Judgment.passed("ok"), files=[fake.file("x", 9, kind=kind)])
    assert coverage == Coverage("tree", 0, 0, 0, 0, (NotChecked("x", reason),))


def test_files_without_added_lines_count_as_judged() -> None:
    files = [fake.file("gone.py", 0, 9, status=FileStatus.DELETED)]
    coverage = measured(Judgment.passed("ok", metadata=scoped()), files=files)
    assert coverage == Coverage("lines", 1, 1, 0, 0)


def test_a_judge_that_abstains_may_still_have_read() -> None:
    silent = Judgment.abstained("no pack matches", "not_applicable", metadata=scoped("a.py"))
    assert measured(silent, files=[fake.file("a.py", 5)]).added_lines_judged == 5


def test_paths_are_matched_in_their_printable_form() -> None:
    path = b"\xff.py".decode("utf-8", "surrogateescape")
    coverage = measured(
        Judgment.passed("ok", metadata=scoped("\\xff.py")), files=[fake.file(path, 5)]
    )
    assert coverage.added_lines_judged == 5


@pytest.mark.parametrize("scope", ["all", 3, {"read": "a.py"}, {"read": [3], "unread": ["b"]}, {}])
def test_a_malformed_declaration_never_counts_as_read(scope: Any) -> None:
    judgment = Judgment.passed("ok", metadata={"scope": scope})
    coverage = measured(judgment, files=[fake.file("a.py", 5)])
    assert coverage.scope == ("lines" if isinstance(scope, dict) else "tree")
    assert coverage.added_lines_judged == (0 if isinstance(scope, dict) else 5)


def test_nothing_ran() -> None:
    coverage = measure(fake.pull([fake.file("a.py", 5)]), (fake.not_run("t", "x"),))
    assert coverage.scope == "tree"
