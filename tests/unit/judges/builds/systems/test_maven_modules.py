from __future__ import annotations

from collections.abc import Mapping

import pytest

from fakes.maven import SHOP, coordinates, modules, parent_pom, pom, profile, project
from fakes.roots import root_of
from prjury.judges.builds.systems.maven_reactor import Reactor, read_reactor

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
        ({"pom.xml": "<"}, "pom.xml is not XML"),
        (
            {"pom.xml": parent_pom("r", "a"), "a/pom.xml": "<html/>"},
            "a/pom.xml has no <project>",
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
            "a\\u202e/pom.xml is not XML",
        ),
    ],
)
def test_what_cannot_be_told(files: Mapping[str, str], why: str) -> None:
    assert read(files).unreadable == why


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
