"""The parts of a review as commands: the same end as the whole."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from e2e.conftest import Prjury
from fakes.github import running, side_payload
from fakes.history import History


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    history = History(tmp_path / "shop")
    history.commit({"Makefile": "test:\n\t! test -e broken\n", "a.txt": "one\n"})
    history.switch("good", create=True)
    history.commit({"b.py": "x = 1\n"})
    history.switch("bad", create=True)
    history.commit({"broken": "yes\n"})
    return history.path


def run_all(prjury: Prjury, shop: Path, head: str, *, model: str = "") -> tuple[list[int], str]:
    """Every part in its turn, each in the same directory; exit codes, and the report as JSON."""
    sides = ("--repo", shop, "--base", "main", "--head", head)
    model_options = ("--model", model) if model else ()
    steps = [
        prjury("build", *sides),
        prjury("collect", *sides, "--evidence", "build-evidence.json"),
        prjury("decide", *model_options),
        prjury("publish", "--format", "json"),
    ]
    for step in steps:
        assert "Traceback" not in step.err
    return [step.code for step in steps], steps[-1].out


@pytest.mark.needs("make")
@pytest.mark.parametrize(("head", "codes"), [("good", [0, 0, 0, 0]), ("bad", [1, 0, 1, 1])])
def test_in_parts_and_as_a_whole(prjury: Prjury, shop: Path, head: str, codes: list[int]) -> None:
    found, out = run_all(prjury, shop, head)
    assert found == codes
    apart = json.loads(out)
    whole = prjury("review", "--repo", shop, "--base", "main", "--head", head, "--format", "json")
    assert whole.code == codes[-1]
    assert apart["verdict"]["status"] == whole.report["verdict"]["status"]
    assert apart["pull"] == whole.report["pull"]


def test_what_was_not_wanted_stays_unwanted(prjury: Prjury, shop: Path) -> None:
    sides = ("--repo", shop, "--base", "main", "--head", "bad")
    flags = ("--no-build", "--no-llm")
    assert prjury("collect", *sides, *flags).code == 0
    assert prjury("decide").code == 0
    apart = prjury("publish", "--format", "json")
    whole = prjury("review", *sides, *flags, "--format", "json")
    assert (apart.code, whole.code) == (0, 0), apart.err
    skipped = [[one["skipped"] for one in run.report["tiers"]] for run in (apart, whole)]
    assert skipped[0] == skipped[1]


def test_a_named_model_has_its_key_where_it_is_asked(prjury: Prjury, shop: Path) -> None:
    sides = ("--repo", shop, "--base", "main", "--head", "good")
    assert prjury("collect", *sides, "--no-build").code == 0
    refused = prjury("decide", "--model", "openai:m")
    assert refused.code == 2
    assert "no key for openai is set (OPENAI_API_KEY)" in refused.complaint


def test_what_was_handed_over_must_be_the_very_file(
    prjury: Prjury, shop: Path, tmp_path: Path
) -> None:
    run_all(prjury, shop, "good")
    refused = prjury("decide", "--sha256", "0" * 64)
    assert refused.code == 4
    assert "it is not the file that the job before has made" in refused.complaint
    (tmp_path / "evidence.json").write_text((tmp_path / "evidence.json").read_text() + " ")
    assert "about other evidence" in prjury("publish").complaint


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (("decide", "nowhere.json"), "There is no nowhere.json"),
        (("publish",), "There is no evidence.json"),
        (("collect", "--output", "no/where.json"), "--output cannot write"),
    ],
)
def test_what_is_not_there(prjury: Prjury, command: tuple[str, ...], words: str) -> None:
    refused = prjury(*command)
    assert refused.code in {2, 4}
    assert words in refused.complaint


def test_a_link_is_not_followed(prjury: Prjury, tmp_path: Path) -> None:
    (tmp_path / "evidence.json").symlink_to("/etc/passwd")
    refused = prjury("decide")
    assert refused.code == 4
    assert "is refused" in refused.complaint


@pytest.mark.nightly
def test_posting_takes_a_token_and_a_pull_request(prjury: Prjury, shop: Path) -> None:
    run_all(prjury, shop, "good")
    assert "--post takes a token" in prjury("publish", "--post").complaint
    refused = prjury("publish", "--post", env={"GITHUB_TOKEN": "ghp_x"})
    assert (refused.code, "--post takes a pull request" in refused.complaint) == (2, True)


@pytest.mark.needs("make")
def test_it_posts_to_the_pull_request_of_the_evidence(
    prjury: Prjury, shop: Path, tmp_path: Path
) -> None:
    run_all(prjury, shop, "good")
    file = tmp_path / "evidence.json"
    value = json.loads(file.read_text())
    value["pull"] |= {"repo": "octo/shop", "number": 7}
    file.write_text(json.dumps(value))
    prjury("decide")
    with running() as fake:
        head = value["pull"]["head"]["sha"]
        fake.add_pull("octo/shop", 7, head=side_payload(fake.url, "octo/shop", "good", head))
        env = {"GITHUB_API_URL": fake.url, "GITHUB_TOKEN": "ghp_octocat"}
        posted = prjury("publish", "--post", env=env)
        assert posted.code == 0, posted.err
        (comment,) = fake.bodies
        assert "Ready to merge" in comment
        assert fake.latest_status(head, "prjury") == "success"
        fake.pulls["octo/shop", 7]["state"] = "closed"
        assert "Superseded" in prjury("publish", "--post", env=env).complaint
