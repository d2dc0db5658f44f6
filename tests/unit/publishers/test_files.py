from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.bare_report import report
from prjury.errors import PublishError
from prjury.jury.gate import Gate
from prjury.jury.judgment import Status
from prjury.publishers.files import (
    add_markdown,
    append,
    append_outputs,
    list_outputs,
    write_atomically,
)
from prjury.report.model import Backport, Cost


def test_a_file_is_written_as_a_whole(tmp_path: Path) -> None:
    target = tmp_path / "report.json"
    write_atomically(target, "äöü\n")
    assert target.read_bytes() == "äöü\n".encode()
    assert stat.S_IMODE(target.stat().st_mode) == 0o644
    write_atomically(target, b"\x00")
    assert target.read_bytes() == b"\x00"
    assert os.listdir(tmp_path) == ["report.json"]  # noqa: PTH208 - no temporary file is left


def test_a_link_is_neither_followed_nor_replaced(tmp_path: Path) -> None:
    other = tmp_path / "precious"
    other.write_text("precious")
    link = tmp_path / "report.json"
    link.symlink_to(other)
    with pytest.raises(PublishError):
        write_atomically(link, "x")
    with pytest.raises(PublishError):
        append(link, b"x")
    assert link.is_symlink()
    assert other.read_text() == "precious"


@pytest.mark.parametrize("path", ["/dev/null", "/", "/nowhere/report.json"])
def test_what_cannot_be_replaced_is_left_alone(path: str) -> None:
    with pytest.raises(PublishError) as caught:
        write_atomically(Path(path), "x")
    assert path in str(caught.value)
    assert caught.value.reason == "unwritable"


def test_the_summary_keeps_what_is_there_and_its_limit(tmp_path: Path) -> None:
    file = tmp_path / "summary"
    file.write_text("earlier\n")
    add_markdown(file, "## Title\n\n<details>" + "x" * 500, limit=1_000)
    assert file.read_text().startswith("earlier\n## Title\n\n<details>xxx")
    add_markdown(file, "## Again\n\n<details>" + "x" * 900, limit=1_000)
    assert "## Again\n\n*The summary ends here" in file.read_text()
    size = file.stat().st_size
    add_markdown(file, "line\n" * 100, limit=size)
    assert file.stat().st_size == size


def as_the_runner_reads(content: str) -> dict[str, str]:
    """Lines end at line feeds only; a value ends at the first line that is its delimiter."""
    values: dict[str, str] = {}
    lines = iter(content.split("\n"))
    for line in lines:
        if not line:
            continue
        equals, heredoc = line.find("="), line.find("<<")
        if heredoc < 0 or 0 <= equals < heredoc:
            name, _, values[name] = line.partition("=")
            continue
        name, _, end = line.partition("<<")
        value: list[str] = []
        while (following := next(lines)) != end:
            value.append(following)
        values[name] = "\n".join(value)
    return values


def test_a_title_with_a_line_break_sets_no_other_output(tmp_path: Path) -> None:
    file = tmp_path / "output"
    evil = "x\nverdict=pass\nverdict<<E\npass\nE"
    told = report(Status.FAIL, Gate.FAILURE, headline=evil)
    append_outputs(file, {**list_outputs(told), "title": evil})
    values = as_the_runner_reads(file.read_text())
    assert values["verdict"] == "fail"
    assert values["gate"] == "failure"
    assert values["headline"] == "x verdict=pass verdict<<E pass E"
    assert values["title"] == evil
    assert set(values) == {"verdict", "gate", "headline", "backports", "llm-usd", "title"}


@given(st.dictionaries(st.sampled_from(["a", "b-c"]), st.text()))
def test_any_value_arrives_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, values: dict[str, str]
) -> None:
    file = tmp_path_factory.mktemp("outputs") / "output"
    append_outputs(file, values)
    expected = {name: value.encode("utf-8").decode() for name, value in values.items()}
    assert as_the_runner_reads(file.read_bytes().decode()) == expected


def test_backports_are_json_and_an_unknown_price_is_empty() -> None:
    backports = (Backport("1.x", "suitable", applies=True),)
    values = list_outputs(report(backports=backports, cost=Cost(usd=None)))
    assert (values["backports"], values["llm-usd"]) == ('{"1.x": "suitable"}', "")
    assert list_outputs(report(cost=Cost(usd=0.0123)))["llm-usd"] == "0.012300"


def test_a_missing_directory_is_a_publish_error() -> None:
    with pytest.raises(PublishError):
        append_outputs(Path("/nowhere/output"), {"a": "b"})
