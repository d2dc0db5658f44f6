from __future__ import annotations

import pytest

from fakes.maven import coordinates, modules, pom, profile, project
from prjury.manifests import maven
from prjury.manifests.manifest import ManifestError
from prjury.manifests.maven import Pom

OWN = coordinates("a", "<version>1</version>")
PLUGINS = "org.apache.maven.plugins"


def read_pom(text: str) -> Pom:
    return maven.read_pom(text.encode())


def read(content: str) -> Pom:
    return read_pom(project(OWN + content))


def test_a_build_file_by_itself() -> None:
    pom_ = read("")
    assert (pom_.group, pom_.name, pom_.packaging, pom_.profile_modules) == ("shop", "a", "jar", ())


@pytest.mark.parametrize(("written", "path"), [("../x", "../x"), ("", None), (" ", None)])
def test_where_the_parent_is(written: str, path: str | None) -> None:
    assert read_pom(pom("b", ["c"], parent="p")).parent_path == "../pom.xml"
    assert read_pom(pom("b", path=written)).parent_path == path


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("start", ["", "\ufeff", '<?xml version="1.0" encoding="ISO-8859-1"?>'])
def test_what_surrounds_a_project(start: str, newline: str) -> None:
    text = start + project(OWN + "<!-- ä -->\n<name>é</name>").replace("\n", newline)
    assert read_pom(text).name == "a"


def test_a_project_without_a_namespace() -> None:
    text = f"<project>{OWN}{modules('x')}</project>"
    assert read_pom(text).members == ("x",)


def test_modules_of_both_names_and_of_profiles() -> None:
    read_ = read(
        f"{modules('x', ' y/z ')}<subprojects><subproject>s</subproject></subprojects>"
        + profile("p", modules("in"))
    )
    assert read_.members == ("x", "y/z", "s")
    assert read_.profile_modules == ("in",)


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
