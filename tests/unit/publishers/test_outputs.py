from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.bare_report import report
from prjury.errors import PublishError
from prjury.jury.gate import Gate
from prjury.jury.judgment import Status
from prjury.publishers.outputs import ActionOutputs, delimiter, outputs_of, write_outputs
from prjury.report.model import Backport, Cost


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
    ActionOutputs(file, {"title": evil}).publish(told)
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
    write_outputs(file, values)
    expected = {name: value.encode("utf-8").decode() for name, value in values.items()}
    assert as_the_runner_reads(file.read_bytes().decode()) == expected


def test_a_delimiter_in_the_value_is_not_used(tmp_path: Path) -> None:
    file = tmp_path / "output"
    names = iter(["END", "END2", "END3"])
    write_outputs(file, {"a": "END", "b": "y"}, lambda: next(names))
    assert file.read_text() == "a<<END2\nEND\nEND2\nb<<END3\ny\nEND3\n"


def test_delimiters_are_random() -> None:
    assert re.fullmatch("prjury_[0-9a-f]{32}", delimiter())
    assert delimiter() != delimiter()


def test_earlier_outputs_stay(tmp_path: Path) -> None:
    file = tmp_path / "output"
    file.write_text("x=1\n")
    ActionOutputs(file, {"comment-url": "https://x"}).publish(report())
    values = as_the_runner_reads(file.read_text())
    assert (values["x"], values["comment-url"], values["verdict"]) == ("1", "https://x", "pass")


def test_backports_are_json_and_an_unknown_price_is_empty() -> None:
    backports = (Backport("1.x", "suitable", applies=True),)
    values = outputs_of(report(backports=backports, cost=Cost(usd=None)))
    assert (values["backports"], values["llm-usd"]) == ('{"1.x": "suitable"}', "")
    assert outputs_of(report(cost=Cost(usd=0.0123)))["llm-usd"] == "0.012300"


def test_a_missing_directory_is_a_publish_error() -> None:
    with pytest.raises(PublishError):
        ActionOutputs(Path("/nowhere/output")).publish(report())
