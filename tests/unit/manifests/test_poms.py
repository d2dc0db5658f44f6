from __future__ import annotations

import pytest

from fakes.maven import coordinates, modules, project
from prjury.manifests import maven
from prjury.manifests.manifest import ManifestError
from prjury.manifests.maven import Pom

OWN = coordinates("a", "<version>1</version>")


def read_pom(text: str) -> Pom:
    return maven.read_pom(text.encode())


def read(content: str) -> Pom:
    return read_pom(project(OWN + content))


def test_a_project_without_a_namespace() -> None:
    text = f"<project>{OWN}{modules('x')}</project>"
    assert read_pom(text).members == ("x",)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "not XML: .*"),
        ("<project>", "not XML: .*"),
        ("<project>&nbsp;</project>", "not XML: .*"),
        ("<html></html>", "it has no <project>"),
        ("<!DOCTYPE project><project/>", "it has a DTD or entities, which are refused"),
        (
            '<!DOCTYPE x [<!ENTITY a "b">]><project>&a;</project>',
            "it has a DTD or entities, which are refused",
        ),
        (f"<project>{'<a>' * 101}{'</a>' * 101}</project>", "nested deeper than 60 levels"),
        (f"<project>{'<a>' * 9**5}{'</a>' * 9**5}</project>", "nested deeper than 60 levels"),
    ],
)
def test_what_cannot_be_read(text: str, why: str) -> None:
    with pytest.raises(ManifestError, match=f"^{why}$"):
        read_pom(text)


def test_the_deepest_that_is_read() -> None:
    inner = "<a>" * 57 + "</a>" * 57
    assert read(f"<properties>{inner}</properties>").name == "a"
