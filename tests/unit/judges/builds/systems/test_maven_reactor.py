from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.maven import SHOP, coordinates, dependencies, modules, parent_pom, pom, project
from fakes.roots import root_of
from prjury.judges.builds.systems.maven_reactor import Reactor, may_equal, read_reactor
from prjury.judges.builds.systems.source_tree import parent_of


def read(files: Mapping[str, str]) -> Reactor:
    return read_reactor(root_of(files))


def needs_of(files: Mapping[str, str]) -> dict[str, set[str]]:
    """What each module needs, both by their directories."""
    needs = read(files).needs
    return {parent_of(path): {parent_of(other) for other in needs[path]} for path in needs}


def test_parents_and_dependencies() -> None:
    assert needs_of(SHOP) == {
        "": set(),
        "core": {""},
        "mid": {"", "core"},
        "leaf": {"", "mid", "tools"},
        "tools": {""},
        "group": {""},
        "group/x": {"group"},
        "group/y": {"group", "group/x"},
    }


def two(wanted: str, own: str = coordinates("a", "<version>1</version>")) -> set[str]:
    """What ``b`` needs, which says that it depends on ``wanted``."""
    content = f"<dependencies><dependency>{wanted}</dependency></dependencies>"
    files = {
        "pom.xml": parent_pom("root", "a", "b"),
        "a/pom.xml": project(own),
        "b/pom.xml": pom("b", more=content),
    }
    return needs_of(files)["b"] - {""}


@pytest.mark.parametrize(
    ("wanted", "needed"),
    [
        (coordinates("a"), True),
        (coordinates("a", "<version>2.0</version>"), True),
        (coordinates("a", group="${project.groupId}"), True),
        (coordinates("a", group="${pom.groupId}"), True),
        (coordinates("a", group="${groupId}"), True),
        (coordinates("a", group="${project.parent.groupId}"), True),
        (coordinates("a", group="${unknown}"), True),
        (coordinates("a", group="sh${x}op"), True),
        (coordinates("${a}"), True),
        ("<artifactId>a</artifactId>", True),
        (coordinates("a", group="other"), False),
        (coordinates("a", group="${x}.shop"), False),
        (coordinates("aa"), False),
        (coordinates("b"), False),
        (coordinates("${x}-core"), False),
        (coordinates("${project.artifactId}"), False),
        (coordinates("${project.artifactId}-api"), False),
    ],
)
def test_names_of_a_dependency(wanted: str, *, needed: bool) -> None:
    assert two(wanted) == ({"a"} if needed else set())


@pytest.mark.parametrize(
    ("own", "needed"),
    [
        (coordinates("a", group="${x}"), True),
        (coordinates("a_${scala}"), False),
        (coordinates("${x}"), True),
        (coordinates("a${x}"), True),
    ],
)
def test_a_module_whose_own_name_is_open(own: str, *, needed: bool) -> None:
    assert two(coordinates("a"), own) == ({"a"} if needed else set())
    assert two(coordinates("a${y}"), own) == {"a"}


def test_what_is_inherited_stands_for_the_names_of_the_heirs() -> None:
    content = dependencies("${project.artifactId}-api") + modules("a", "a-api", "b")
    own = coordinates("root", "<version>1</version><packaging>pom</packaging>")
    files = {
        "pom.xml": project(own + content),
        "a/pom.xml": pom("a"),
        "a-api/pom.xml": project(coordinates("a-api", "<version>1</version>")),
        "b/pom.xml": pom("b"),
    }
    assert needs_of(files)[""] == {"a-api"}
    files["pom.xml"] = files["pom.xml"].replace("-api</artifactId>", "</artifactId>")
    assert needs_of(files)[""] == set()


def test_plugins_and_imported_versions_are_needed() -> None:
    managed = f"<dependency>{coordinates('bom', '<scope>import</scope>')}</dependency>"
    files = {
        "pom.xml": parent_pom("root", "bom", "plugin", "user"),
        "bom/pom.xml": pom("bom"),
        "plugin/pom.xml": pom("plugin"),
        "user/pom.xml": pom(
            "user",
            more=f"<build><plugins><plugin>{coordinates('plugin')}</plugin></plugins></build>"
            f"<dependencyManagement><dependencies>{managed}</dependencies></dependencyManagement>",
        ),
    }
    assert needs_of(files)["user"] == {"", "bom", "plugin"}


def test_a_module_that_is_cut_off() -> None:
    files = {
        "pom.xml": parent_pom("root", "a", "b", "c", "d", "e"),
        "a/pom.xml": pom("a"),
        "b/pom.xml": pom("b", ["a", "gone"]),
        "c/pom.xml": pom("c", ["a"]),
        "d/pom.xml": pom("d", more=dependencies("far").replace("shop", "away")),
        "e/pom.xml": pom("e", more=dependencies("a").replace("shop", "away")),
    }
    reactor = read(files)
    cut = [path for path, module in reactor.modules.items() if reactor.cut_off(module)]
    assert cut == ["b/pom.xml", "e/pom.xml"]


def test_a_reactor_that_serves_another_one() -> None:
    shop = read(SHOP)
    files = {"pom.xml": pom("tool", ["mid"]), "x/pom.xml": pom("x")}
    assert shop.serves(read(files))
    assert not shop.serves(read({"pom.xml": pom("tool", ["far"])}))
    assert shop.serves(read({"pom.xml": parent_pom("t", "x"), "x/pom.xml": pom("x", ["mid"])}))


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        ("a", "a", True),
        ("a", "b", False),
        ("${x}", "", True),
        ("a${x}", "ab", True),
        ("a${x}", "ba", False),
        ("${x}a", "ba", True),
        ("a${x}a", "a", False),
        ("a${x}a", "aa", True),
        ("a${x}b${y}c", "a-b-c", True),
        ("a${x}b${y}c", "a-c", False),
        ("a${x}bb${y}c", "abc", False),
        ("a${x}", "${y}b", True),
        ("${x", "${x", True),
    ],
)
def test_texts_that_may_be_equal(one: str, other: str, *, equal: bool) -> None:
    assert may_equal(one, other) is equal
    assert may_equal(other, one) is equal


@given(st.lists(st.text("ab", max_size=3), min_size=1), st.text("ab", max_size=3))
def test_a_text_with_its_parts_put_in_may_be_equal(parts: list[str], put: str) -> None:
    assert may_equal("${x}".join(parts), put.join(parts))


@pytest.mark.slow
def test_patience_has_an_end() -> None:
    names = [f"m{number}" for number in range(1_000)]
    open_ = "".join(
        f"<dependency>{coordinates('${x}' + str(number) + 'y')}</dependency>"
        for number in range(4_000)
    )
    files = {f"{name}/pom.xml": pom(name) for name in names}
    files["pom.xml"] = parent_pom("root", *names)
    files["m0/pom.xml"] = pom("m0", more=f"<dependencies>{open_}</dependencies>")
    reactor = read(files)
    assert len(reactor.needs["m0/pom.xml"]) == 1_000
    assert len(reactor.needs["m1/pom.xml"]) < 1_000
