"""What a policy's section `publish` says is posted, is posted."""

from __future__ import annotations

from typing import Any

import pytest

from prjury.github.client import Connection, GitHub
from prjury.policy.load import parse_policy
from prjury.publishers.factory import PublisherFactory, Target
from prjury.report.render import Renderer
from prjury.report.sanitise import BY_SHAPE


@pytest.fixture
def posts() -> PublisherFactory:
    hub = GitHub(Connection("http://127.0.0.1:1", "token"))
    target = Target("octo/shop", 7, "a" * 40)
    return PublisherFactory(target, hub, Renderer(), BY_SHAPE)


def wanted(publish: str) -> Any:
    return parse_policy(f"publish: {publish}", "x").resolved["publish"]


@pytest.mark.parametrize(
    ("publish", "names"),
    [
        ("{}", {"comment"}),
        ("{comment: false}", set()),
        ("{review: true}", {"comment", "review"}),
        ("{labels: {fail: 'prjury:fail'}, comment: false}", {"labels"}),
    ],
)
def test_what_is_posted_to_the_pull_request(
    posts: PublisherFactory, publish: str, names: set[str]
) -> None:
    assert {each.name for each in posts.make_pull_publishers(wanted(publish))} == names


def test_the_check_run_and_its_annotations(posts: PublisherFactory) -> None:
    assert posts.make_check(wanted("{check: false}")) is None
    plain, annotated = (
        posts.make_check(wanted("{annotations: false}")),
        posts.make_check(wanted("{}")),
    )
    assert plain is not None
    assert annotated is not None
    assert (plain.has_annotations, annotated.has_annotations) == (False, True)
