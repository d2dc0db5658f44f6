"""Fixtures of the tests that run whole workflows."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from fakes.github import running
from runner.act import Act, NoRunnerError, install
from runner.git_server import serving
from runner.host import Host
from runner.shop import Shop
from runner.site import EXAMPLES, Runner, Site, unavailable
from runner.surroundings import copy_of_the_action
from runner.tokens import ACTION

STUBS = Path(__file__).parent / "stubs"

_SERVICE = re.compile(r"uses: (actions/((?:up|down)load-artifact|cache)@\S+)")
_NEEDED = ("git", "make", "openssl")
#: Set to ``host``, this takes our own harness although act may be there.
_CHOICE = "PRJURY_RUNNER"


@dataclass(frozen=True)
class Chosen:
    """Who runs the workflows, and what there is to say about that."""

    make: Callable[[Mapping[str, Path], Path], Runner]
    said: str


@pytest.fixture(scope="session")
def chosen() -> Chosen:
    """Act; where it cannot be had, our own harness."""
    if os.environ.get(_CHOICE) == "host":
        return Chosen(Host, f"{Host.name} ({_CHOICE} says so)")
    try:
        found = install()
    except NoRunnerError as error:
        return Chosen(Host, f"{Host.name}, NOT a real runner: act cannot be installed: {error}")
    built = "" if found.seconds is None else f" (built in {found.seconds:.0f} s)"
    return Chosen(
        lambda repositories, place: Act(found.program, repositories, place), Act.name + built
    )


@pytest.fixture(scope="session")
def repositories(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    """What stands in for the repositories that the examples name: ours as it is checked out."""
    action = copy_of_the_action(tmp_path_factory.mktemp("action"))
    text = "".join(file.read_text() for file in EXAMPLES.glob("*.yml"))
    stubs = {used: STUBS / name for used, name in _SERVICE.findall(text)}
    return {ACTION: action, **stubs}


@pytest.fixture
def site(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    chosen: Chosen,
    repositories: Mapping[str, Path],
    record_property: Callable[[str, object], None],
) -> Iterator[Site]:
    """A shop without a pull request yet; a parameter is the prefix of an Enterprise server."""
    for program in _NEEDED:
        if shutil.which(program) is None:
            unavailable(f"{program} is not installed")
    record_property("runner", chosen.said)
    runs = tmp_path / "runs"
    runs.mkdir()
    prefix = getattr(request, "param", "")
    with running(prefix) as fake, serving(tmp_path / "git", tmp_path / "certificates") as git:
        shop = Shop.founded(tmp_path / "git", fake, git)
        yield Site(
            shop,
            fake,
            chosen.make(repositories, runs),
            tmp_path / "artifacts",
            lambda seconds: record_property("installed in", seconds),
        )
    shutil.rmtree(runs, ignore_errors=True)  # a run leaves an environment of 200 MB
