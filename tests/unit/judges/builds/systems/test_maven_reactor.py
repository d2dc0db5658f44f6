from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.maven import SHOP, coordinates, dependencies, modules, parent_pom, pom, profile, project
from fakes.roots import root_of
from prjury.judges.builds.systems.maven_reactor import Reactor, may_equal, read_reactor
from prjury.judges.builds.systems.source_tree import parent_of


def read_root(files: Mapping[str, str]) -> Reactor:
    return read_reactor(root_of(files))


def needs_of(files: Mapping[str, str]) -> dict[str, set[str]]:
    """What each module needs, both by their directories."""
    needs = read_root(files).needs
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
    reactor = read_root(files)
    cut = [path for path, module in reactor.modules.items() if reactor.cut_off(module)]
    assert cut == ["b/pom.xml", "e/pom.xml"]


def test_a_reactor_that_serves_another_one() -> None:
    shop = read_root(SHOP)
    files = {"pom.xml": pom("tool", ["mid"]), "x/pom.xml": pom("x")}
    assert shop.serves(read_root(files))
    assert not shop.serves(read_root({"pom.xml": pom("tool", ["far"])}))
    assert shop.serves(read_root({"pom.xml": parent_pom("t", "x"), "x/pom.xml": pom("x", ["mid"])}))


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


@pytest.mark.nightly
def test_the_number_of_comparisons_is_limited() -> None:
    names = [f"m{number}" for number in range(1_000)]
    open_ = "".join(
        f"<dependency>{coordinates('${x}' + str(number) + 'y')}</dependency>"
        for number in range(4_000)
    )
    files = {f"{name}/pom.xml": pom(name) for name in names}
    files["pom.xml"] = parent_pom("root", *names)
    files["m0/pom.xml"] = pom("m0", more=f"<dependencies>{open_}</dependencies>")
    reactor = read_root(files)
    assert len(reactor.needs["m0/pom.xml"]) == 1_000
    assert len(reactor.needs["m1/pom.xml"]) < 1_000


ON = "<activeByDefault>true</activeByDefault>"


def read(files: Mapping[str, str], directory: str = "", switches: str = "") -> Reactor:
    return read_reactor(root_of(files), directory, switches)


def test_modules_of_modules_come_after_those_of_the_root() -> None:
    reactor = read(SHOP)
    assert list(reactor.modules) == [
        "pom.xml", "core/pom.xml", "mid/pom.xml", "leaf/pom.xml", "tools/pom.xml", "group/pom.xml",
        "group/x/pom.xml", "group/y/pom.xml",
    ]  # fmt: skip
    assert reactor.directories == {
        "", "core", "mid", "leaf", "tools", "group", "group/x", "group/y",
    }  # fmt: skip
    assert (reactor.unreadable, reactor.elsewhere, reactor.off) == ("", frozenset(), {})


def test_modules_may_be_files_and_lie_beside() -> None:
    files = {
        "pom.xml": parent_pom("root", "a/other.xml", "b\\c", "./d/", "d"),
        "a/other.xml": pom("a", more=f"<packaging>pom</packaging>{modules('../e', '..')}"),
        "b/c/pom.xml": pom("c"),
        "d/pom.xml": pom("d"),
        "e/pom.xml": pom("e"),
    }
    assert list(read(files).modules) == [
        "pom.xml", "a/other.xml", "b/c/pom.xml", "d/pom.xml", "e/pom.xml",
    ]  # fmt: skip


def test_a_reactor_below_the_root() -> None:
    files = {f"back/{path}": text for path, text in SHOP.items()}
    assert read(files, "back") == read(SHOP)


def test_modules_elsewhere_are_known_by_their_places() -> None:
    files = {
        "main/pom.xml": parent_pom("root", "../core", "in", "../mid", "../../out"),
        "main/in/pom.xml": pom("in"),
    }
    reactor = read(files, "main")
    assert reactor.elsewhere == {"core", "mid"}
    assert list(reactor.modules) == ["pom.xml", "in/pom.xml"]
    because = "pom.xml has the module ../../out, which is outside of its directory"
    assert reactor.unreadable == because


@pytest.mark.parametrize(
    ("files", "place"),
    [
        ({"pom.xml": parent_pom("root"), "b/pom.xml": pom("b")}, {""}),
        ({"p/pom.xml": parent_pom("root"), "b/pom.xml": pom("b", path="../p")}, {"p"}),
        ({"p/x.xml": parent_pom("root"), "b/pom.xml": pom("b", path="../p/x.xml")}, {"p"}),
        ({"p/pom.xml": "<", "b/pom.xml": pom("b", path="../p")}, {"p"}),
        ({"pom.xml": parent_pom("other"), "b/pom.xml": pom("b")}, set()),
        ({"b/pom.xml": pom("b")}, set()),
        ({"b/pom.xml": pom("b", path="")}, set()),
        ({"b/pom.xml": pom("b", path="../../x")}, set()),
        ({"b/pom.xml": project(coordinates("b", "<version>1</version>"))}, set()),
    ],
)
def test_parents_elsewhere(files: Mapping[str, str], place: set[str]) -> None:
    reactor = read(files, "b")
    assert reactor.elsewhere == place
    assert reactor.unreadable == ""


def in_profile(activation: str, more: str = "") -> dict[str, str]:
    return {
        "pom.xml": parent_pom("root", "a", more=profile("p", modules("b"), activation) + more),
        "a/pom.xml": pom("a"),
        "b/pom.xml": pom("b", more=modules("c")),
        "b/c/pom.xml": pom("c"),
    }


def test_modules_of_profiles_that_are_off() -> None:
    reactor = read(in_profile(""))
    assert list(reactor.modules) == ["pom.xml", "a/pom.xml"]
    assert reactor.off == {"b/pom.xml": "p"}


def test_modules_of_profiles_that_are_on_by_default() -> None:
    reactor = read(in_profile(ON))
    assert [module.profile for module in reactor.modules.values()] == ["", "", "", ""]
    assert reactor.off == {}


def test_modules_of_profiles_that_may_be_on() -> None:
    reactor = read(in_profile("<jdk>17</jdk>"))
    assert {path: module.profile for path, module in reactor.modules.items()} == {
        "pom.xml": "", "a/pom.xml": "", "b/pom.xml": "p", "b/c/pom.xml": "p",
    }  # fmt: skip


def test_another_profile_may_turn_off_those_that_are_on_by_default() -> None:
    files = in_profile(ON)
    both = files["pom.xml"].replace(
        "</profiles>",
        "<profile><id>q</id><activation><jdk>9</jdk></activation></profile></profiles>",
    )
    reactor = read({**files, "pom.xml": both})
    assert reactor.modules["b/pom.xml"].profile == "p"


@pytest.mark.parametrize(
    ("switches", "known"),
    [("-Pq", False), ("-T1C\n--activate-profiles=q", False), ("-Dx", True), ("-Dit=1", False)],
)
def test_options_that_may_turn_profiles_on(switches: str, *, known: bool) -> None:
    files = in_profile("<property><name>it</name></property>")
    reactor = read(files, switches=switches)
    assert ("b/pom.xml" in reactor.off) is known
    assert ("b/pom.xml" in reactor.modules) is not known


def test_a_module_that_is_there_anyway_is_not_off() -> None:
    files = in_profile("")
    files["a/pom.xml"] = pom("a", more=modules("../b"))
    reactor = read(files)
    assert reactor.off == {}
    assert reactor.modules["b/pom.xml"].profile == ""


def test_modules_that_are_not_there_do_not_matter_in_profiles() -> None:
    for activation in ("", "<jdk>17</jdk>"):
        reactor = read({"pom.xml": parent_pom("r", more=profile("p", modules("b"), activation))})
        assert (reactor.unreadable, reactor.off) == ("", {})


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ({"pom.xml": "<"}, "pom.xml cannot be read: not XML"),
        (
            {"pom.xml": parent_pom("r", "a"), "a/pom.xml": "<html/>"},
            "a/pom.xml cannot be read: it has no <project>",
        ),
        (
            {"pom.xml": parent_pom("r", "a")},
            "pom.xml names the module a, which has no pom.xml",
        ),
        (
            {"pom.xml": parent_pom("r", "a-${v}")},
            "pom.xml names the module `a-${v}`, which is not a fixed path",
        ),
        (
            {"pom.xml": parent_pom("r", "")},
            "pom.xml names the module ``, which is not a fixed path",
        ),
        (
            {"pom.xml": parent_pom("r", more=profile("p", modules("${a}")))},
            "pom.xml names the module `${a}`, which is not a fixed path",
        ),
        (
            {"pom.xml": parent_pom("r").replace("4.0.0<", "4.1.0<")},
            "pom.xml leaves the search for modules to Maven",
        ),
        (
            {"pom.xml": parent_pom("r", "a\u202e"), "a\u202e/pom.xml": ""},
            "a\\u202e/pom.xml cannot be read: not XML",
        ),
    ],
)
def test_reactors_that_cannot_be_read(files: Mapping[str, str], why: str) -> None:
    assert read(files).unreadable.startswith(why)


@pytest.mark.parametrize(
    "switches", ["-pl a", "-f other.xml", "--file=x", "-T1\n-rf :b", "--non-recursive", "-N"]
)
def test_options_that_choose_modules(switches: str) -> None:
    assert read(SHOP, switches=switches).unreadable == (
        ".mvn chooses the modules that Maven builds"
    )


@pytest.mark.parametrize("switches", ["-fae", "-Dpl=a", "-T1C", "--fail-fast", "-ff"])
def test_other_options_do_not_matter(switches: str) -> None:
    assert read(SHOP, switches=switches).unreadable == ""


def test_a_long_chain_of_uncertain_modules_and_too_many_of_them() -> None:
    def chained(number: int) -> str:
        return pom(f"m{number}", more=profile("p", modules(f"../m{number + 1}"), "<jdk>9</jdk>"))

    files = {f"m{number}/pom.xml": chained(number) for number in range(2_000)}
    files["pom.xml"] = parent_pom("root", "m0")
    reactor = read(files)
    assert (len(reactor.modules), reactor.unreadable) == (2_001, "")

    names = [f"m{number}" for number in range(5_001)]
    reactor = read({f"{name}/pom.xml": "" for name in names} | {"pom.xml": parent_pom("r", *names)})
    assert reactor.unreadable == "there are more than 5000 modules"


def test_modules_that_name_each_other() -> None:
    files = {
        "pom.xml": parent_pom("root", "a"),
        "a/pom.xml": pom("a", more=modules("../b")),
        "b/pom.xml": pom("b", more=modules("../a", "..")),
    }
    assert list(read(files).modules) == ["pom.xml", "a/pom.xml", "b/pom.xml"]
