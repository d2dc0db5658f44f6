from __future__ import annotations

from collections.abc import Mapping

import pytest
from msgspec.structs import replace

from fakes.roots import plans_of, root_of, texts, touching

COMPILE = "cargo test --no-run"
TEST = "cargo test --no-fail-fast"
WHOLE = f"{COMPILE} && {TEST}"
EVERYTHING = f"{COMPILE} --workspace && {TEST} --workspace"


def crate(name: str, more: str = "") -> str:
    return f'[package]\nname = "{name}"\nversion = "0.1.0"\n{more}'


VIRTUAL = {
    "Cargo.toml": '[workspace]\nmembers = ["crates/*"]\nexclude = ["crates/out"]\n',
    "crates/a/Cargo.toml": crate("a"),
    "crates/b/Cargo.toml": crate("b", '[dependencies]\na = { path = "../a" }\n'),
    "crates/out/Cargo.toml": crate("out", "[workspace]\n"),
    "stray/Cargo.toml": crate("stray"),
}


@pytest.mark.parametrize(
    ("files", "commands"),
    [
        ({"Cargo.toml": crate("a")}, [WHOLE]),
        ({"Cargo.toml": "[workspace"}, [WHOLE]),
        (VIRTUAL, [EVERYTHING, f"cd crates/out && {EVERYTHING}"]),
        (
            {"Cargo.toml": crate("a"), "tools/Cargo.toml": crate("t"), "fuzz/Cargo.toml": ""},
            [WHOLE, f"cd tools && {WHOLE}"],
        ),
    ],
)
def test_packages_and_workspaces_of_cargo(files: Mapping[str, str], commands: list[str]) -> None:
    plans = plans_of("cargo", root_of(files))
    assert texts(plans) == commands
    assert {plan.steps[-1].all_ran for plan in plans} == {101}


def test_what_changes_is_tested_whatever_the_default_members_are() -> None:
    files = {
        "Cargo.toml": '[workspace]\nmembers = ["a", "b"]\ndefault-members = ["a"]\n',
        "a/Cargo.toml": crate("a"),
        "b/Cargo.toml": crate("b"),
    }

    def text(*paths: str) -> str:
        changes = touching(*paths)
        (plan,) = plans_of("cargo", replace(root_of(files), changed=changes), changes)
        return plan.text

    assert text("a/src/lib.rs") == text("Cargo.lock") == WHOLE
    assert text("b/src/lib.rs", "Cargo.lock") == f"{WHOLE} && {TEST} -p b"


def test_a_package_that_a_workspace_offers_by_path_is_one_that_it_needs() -> None:
    files = {
        "ws/Cargo.toml": '[workspace]\nmembers = ["a"]\n'
        '[workspace.dependencies]\nx = { path = "../x" }\n[patch.crates-io]\ny.path = "../y"\n',
        "ws/a/Cargo.toml": crate("a"),
        "x/Cargo.toml": crate("x"),
    }
    plans = plans_of("cargo", root_of(files), touching("x/src/lib.rs"))
    assert [plan.directory for plan in plans] == ["ws", "x"]


# Go

BUILD = "go build -o /dev/null"
MODULE = {"go.mod": "module example.com/m\n\ngo 1.21\n", "a/a.go": "", "a/a_test.go": ""}
NO_TESTS = "there are no tests: no package has a file *_test.go"


def below(place: str, files: Mapping[str, str]) -> dict[str, str]:
    return {f"{place}/{path}": text for path, text in files.items()}


def test_a_module_of_go() -> None:
    (plan,) = plans_of("go", root_of(MODULE), touching("b/b.go"))
    assert (plan.text, plan.steps[-1].all_ran) == (f"{BUILD} ./... && go test -json ./...", 1)
    assert plan.env == {}


@pytest.mark.parametrize(
    "path", ["a/testdata/x_test.go", "_x/y_test.go", "n/x_test.go", ".h/t_test.go"]
)
def test_without_tests_there_is_nothing_but_the_build(path: str) -> None:
    root = root_of({"go.mod": "module m\n", path: "", "n/go.mod": "module n\n"})
    plan = plans_of("go", root)[0]
    assert (plan.text, plan.notes, plan.steps[-1].all_ran) == (f"{BUILD} ./...", (NO_TESTS,), None)
    (tested,) = plans_of("go", root_of(MODULE))
    assert tested.covers(plan)
    assert not plan.covers(tested)


def test_a_workspace_of_go_and_a_module_beside_it() -> None:
    files = {
        "go.work": "go 1.21\n\nuse (\n\t./a\n\t./b\n)\n",
        **below("a", MODULE),
        "b/go.mod": "module b\n",
        **below("c", MODULE),
    }
    whole, alone = plans_of("go", root_of(files))
    assert whole.text == f"{BUILD} ./a/... ./b/... && go test -json ./a/... ./b/..."
    assert (alone.directory, alone.env) == ("c", {"GOWORK": "off"})
