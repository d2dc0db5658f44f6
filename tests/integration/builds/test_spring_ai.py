"""A pull request of a large project, built by its own wrapper in its own reactor.

It needs a clone of spring-projects/spring-ai with ``refs/pull/5764/head``, a JDK of at least 21 in
``JAVA_HOME``, Maven Central, and about ten minutes.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from integration.builds.court import Court
from integration.builds.jvm import CENTRAL
from integration.builds.toolbox import NETWORK_ENV, answers
from prjury.errors import SourceError
from prjury.git.operator import open_repository
from prjury.git.store import open_store
from prjury.jury.judgment import Status

PULL = "refs/pull/5764/head"
MODULE = "auto-configurations/vector-stores/spring-ai-autoconfigure-vector-store-pgvector"
#: Of everything that the module needs only the classes are made; its tests need no containers.
COMMAND = (
    f"./mvnw -q -B -ntp -pl {MODULE} -am -Dtest='PgVector*Tests' "
    "-Dsurefire.failIfNoSpecifiedTests=false verify"
)
_JAVA_VERSION = re.compile(r'^JAVA_VERSION="(\d+)', re.MULTILINE)
_OLDEST_JAVA = 21


def _repository() -> Path:
    place = Path(os.environ.get("PRJURY_REAL_REPOSITORY") or "/nonexistent")
    try:
        open_repository(place).commit(PULL)
    except SourceError:
        pytest.skip(f"PRJURY_REAL_REPOSITORY names no clone that has {PULL}")
    return place


def _base(repository: Path) -> str:
    operator = open_repository(repository)
    with open_store(operator) as store:
        main = operator.default_branch().sha
        return store.git.text("merge-base", main, operator.commit(PULL).sha)


def _java_is_new_enough() -> bool:
    release = Path(os.environ.get("JAVA_HOME", "/nonexistent"), "release")
    match = _JAVA_VERSION.search(release.read_text()) if release.is_file() else None
    return match is not None and int(match[1]) >= _OLDEST_JAVA


@pytest.mark.nightly
def test_the_module_of_a_pull_request_is_compiled_and_tested(tmp_path: Path) -> None:
    repository = _repository()
    if not _java_is_new_enough():
        pytest.skip(f"JAVA_HOME names no JDK of at least {_OLDEST_JAVA}")
    if not answers(CENTRAL):
        pytest.skip(f"does not answer: {CENTRAL}")
    config = tmp_path / "prjury.yml"
    build = {"command": {"test": COMMAND}, "timeout": "30m"}
    tier = {"name": "build", "policy": "final_tier", "judges": ["merge", {"build": build}]}
    sandbox = {"env": list(NETWORK_ENV)}
    config.write_text(json.dumps({"version": 1, "tiers": [tier], "sandbox": sandbox}))
    judged = Court.at(tmp_path).review(repository, _base(repository), PULL, config)

    assert judged.build.status is Status.PASS, judged.build.reasoning
    assert judged.build.metadata["tests"] >= 5
    assert judged.build.metadata["failures"] == ()
