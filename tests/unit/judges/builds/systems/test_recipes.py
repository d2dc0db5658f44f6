"""Recipes as build systems: what is found, and what is run for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from fakes.roots import root_of, texts
from prjury.errors import ConfigError
from prjury.judges.builds.plan import BuildPlan
from prjury.judges.builds.systems import SYSTEMS
from prjury.judges.builds.systems.recipes import make_system, read_recipe, read_shipped

RECIPE = """
name: waf
title: Waf
detect: [{file: wscript, matches: '^def options'}]
covers: [.c]
test: ./waf test --junit {reports}/a.xml
"""


def plans_of(recipe: str, executable: str = "", **files: str) -> tuple[BuildPlan, ...]:
    tree = {name.replace("__", "/"): text for name, text in files.items()}
    return make_system(read_recipe(recipe, "waf.yml")).plans(root_of(tree, executable))


def test_the_outermost_directories_with_the_file_are_projects() -> None:
    wscript = "def options(o): pass\n"
    plans = plans_of(RECIPE, a__wscript=wscript, a__b__wscript=wscript, c__wscript="other")
    assert texts(plans) == ['cd a && ./waf test --junit "$PRJURY_REPORTS"/a.xml']
    assert plans[0].reasons == ("wscript is there",)
    assert plans[0].env["PRJURY_REPORTS"] == "{reports}"


def test_a_directory_that_another_system_builds_is_none() -> None:
    unless = f"{RECIPE}unless: [{{file: setup.py}}]\n"
    assert plans_of(unless, wscript="def options", setup="")
    assert not plans_of(unless, **{"wscript": "def options", "setup.py": ""})


def test_the_first_variant_that_fits_replaces_steps() -> None:
    text = f"{RECIPE}variants:\n- {{when: [{{file: run, executable: true}}], test: ./run}}\n"
    assert texts(plans_of(text, wscript="def options", run="")) != ["./run"]
    (plan,) = plans_of(text, "run", wscript="def options", run="")
    assert (plan.text, plan.reasons[1]) == ("./run", "run decides what is run")


def test_a_program_among_many_files_is_found() -> None:
    text = f"{RECIPE}variants:\n- {{when: [{{file: '*.t', executable: true}}], test: prove}}\n"
    files = {f"{number:03}.t": "" for number in range(300)}
    assert texts(plans_of(text, "299.t", wscript="def options", **files)) == ["prove"]


def test_braces_in_variables_stay_as_they_are() -> None:
    (plan,) = plans_of(f"{RECIPE}env: {{A: '{{x}} {{reports}}'}}\n", wscript="def options")
    assert plan.env["A"].format(reports="/r") == "{x} /r"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (RECIPE.replace("title: Waf", ""), "title: this key is needed"),
        (RECIPE.replace("test:", "setup:"), "name at least one of `build` and `test`"),
        (RECIPE.replace("^def options", "(?=x)"), "not an expression that RE2 knows"),
        (RECIPE.replace("file: wscript", "file: a/wscript"), "names files of one directory"),
        (RECIPE.replace("detect:", "detects:"), "detects is not a known key"),
        (RECIPE.replace("file: wscript", "path: wscript"), "detect[0].path is not a known key"),
    ],
)
def test_what_is_wrong_in_a_recipe_is_named(text: str, problem: str) -> None:
    with pytest.raises(ConfigError, match=r"waf\.yml line") as caught:
        read_recipe(text, "waf.yml")
    assert problem in str(caught.value)


# The recipes that travel with the program

NAMES = sorted(name for name, system in SYSTEMS.items() if system.is_recipe)


@pytest.mark.parametrize("name", NAMES)
def test_each_is_named_after_its_file(name: str) -> None:
    system = read_shipped(name)
    assert list(system.covers) == [name]


def test_no_recipe_is_left_out() -> None:
    place = Path(__file__).parents[5] / "src" / "prjury" / "judges" / "builds" / "recipes"
    assert sorted(path.stem for path in place.iterdir()) == NAMES


def test_c_with_files_for_visual_studio_and_swift_is_neither() -> None:
    swift = "let package = Package(name: 'a', targets: [.target(path: '.'), .testTarget()])"
    root = root_of({"a.sln": '"a", "vs/a.vcxproj"', "Package.swift": swift, "src/a.c": ""})
    assert not SYSTEMS["dotnet"].plans(root)
    assert not SYSTEMS["swiftpm"].plans(root)
    assert SYSTEMS["swiftpm"].plans(root_of({"Package.swift": swift, "src/a.swift": ""}))


CMAKE = "project(x)\nenable_testing()\n"


@pytest.mark.parametrize(
    ("files", "system", "command"),
    [
        ({"CMakeLists.txt": "project(x)\n"}, "cmake", "cmake --build _prjury --parallel 4"),
        ({"CMakeLists.txt": CMAKE}, "cmake", "--output-junit"),
        (
            {"CMakeLists.txt": "project(x)\nADD_CUSTOM_TARGET(check ./run)\n"},
            "cmake",
            "cmake --build _prjury --target check",
        ),
        ({"meson.build": "project('x')\nsubdir('test')\n"}, "meson", "meson test"),
        ({"configure.ac": "", "autogen.sh": ""}, "autotools", "sh ./autogen.sh && ./configure"),
        ({"composer.json": '{"phpunit/phpunit": 1}'}, "composer", "--log-junit"),
        ({"Gemfile": "", "Rakefile": "task default: :test"}, "bundler", "bundle exec rake"),
        ({"Gemfile": "", "spec/a_spec.rb": ""}, "bundler", "bundle exec rspec"),
        ({"deno.json": '{"tasks": {\n"test": "deno test"}}'}, "deno", "deno task test"),
        ({"justfile": "test *args:\n"}, "just", "just test"),
        ({"cpanfile": "", "t/a.t": ""}, "perl", "prove -lr t"),
        ({"Makefile.PL": "", "A.xs": "", "t/a.t": ""}, "perl", "make && prove -br t"),
        ({"a-1.rockspec": "", "spec/a_spec.lua": ""}, "busted", "busted"),
        ({"Taskfile.yml": "tasks:\n  test:\n"}, "task", "task test"),
    ],
)
def test_what_is_run(files: dict[str, str], system: str, command: str) -> None:
    (plan,) = SYSTEMS[system].plans(root_of(files))
    assert command in plan.text


@pytest.mark.parametrize(
    ("text", "test"),
    [
        ("test check:\n\ttrue\n", "make -k test"),
        ("lint check : x\n", "make -k check"),
        ("test: a.o\n\tcc -o test a.o\ncheck: test\n\t./test\n", "make -k check"),
        ("check: test\n\t./test\n", "make -k check"),
        ("test::\n\ttrue\n", "make -k test"),
        (".DEFAULT:\n\tcd src && $(MAKE) $@\n", "make -k test"),
        ("all:\n\ttrue\n", ""),
        ("test: x ; true\r\n", "make -k test"),
    ],
)
@pytest.mark.parametrize("name", ["Makefile", "makefile", "GNUmakefile"])
def test_targets_of_make(name: str, text: str, test: str) -> None:
    (plan,) = SYSTEMS["make"].plans(root_of({name: text, "sub/Makefile": "test:\n"}))
    assert plan.directory == ""
    assert plan.steps[-1].command == (test or "if make -n all >/dev/null 2>&1; then make all; fi")
    assert plan.tests == bool(test)


@pytest.mark.parametrize(
    "text",
    [
        "test := 1\ncheck ::= 2\nall=3\n",
        ".PHONY: test check all\n",
        "\ttest: x\n",
        "# test: x\n",
        "%.o: %.c\n\tcc $@\n",
        "tests: x\n",
    ],
)
def test_what_is_no_target_of_make(text: str) -> None:
    assert SYSTEMS["make"].plans(root_of({"Makefile": text})) == ()
