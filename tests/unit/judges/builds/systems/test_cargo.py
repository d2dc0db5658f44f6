from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from fakes.roots import failing, root_of, texts, touching
from prjury.judges.builds.plan import BuildPlan, BuildScope, BuildStep
from prjury.judges.builds.systems.cargo import plans

BECAUSE = "packages that the change touches, and those that depend on them"
EVERYTHING = (
    "cargo test --no-run --message-format=json --workspace && cargo test --no-fail-fast --workspace"
)
WHOLE = "cargo test --no-run --message-format=json && cargo test --no-fail-fast"


def crate(name: str, more: str = "") -> str:
    return f'[package]\nname = "{name}"\nversion = "0.1.0"\n{more}'


VIRTUAL = {
    "Cargo.toml": '[workspace]\nmembers = ["crates/*"]\nexclude = ["crates/out"]\n',
    "Cargo.lock": "",
    "crates/a/Cargo.toml": crate("a"),
    "crates/b/Cargo.toml": crate("b", '[dependencies]\na = { path = "../a" }\n'),
    "crates/c/Cargo.toml": crate("c", '[dev-dependencies.b]\npath = "../b"\n'),
    "crates/d/Cargo.toml": crate("d", '[dependencies]\na = "1"\n'),
    "crates/out/Cargo.toml": crate("out", "[workspace]\n"),
}


def plan_of(files: Mapping[str, str], *paths: str) -> BuildPlan:
    (plan,) = plans(root_of(files), touching(*paths) if paths else None)
    return plan


def scope_of(files: Mapping[str, str], *paths: str) -> BuildScope:
    return plan_of(files, *paths).scope


def test_a_package_by_itself() -> None:
    plan = plan_of({"Cargo.toml": crate("a")}, "src/lib.rs")
    assert (plan.text, plan.scope, plan.all_ran) == (WHOLE, BuildScope(), 101)
    assert (plan.reasons, plan.keep_going) == (("Cargo.toml is there",), None)


def test_the_members_that_a_change_affects() -> None:
    plan = plan_of(VIRTUAL, "crates/b/src/lib.rs")
    assert plan.scope == BuildScope(("b", "c"), BECAUSE)
    assert plan.text == (
        "cargo test --no-run --message-format=json -p b -p c && cargo test --no-fail-fast -p b -p c"
    )
    assert scope_of(VIRTUAL, "crates/a/tests/it.rs").modules == ("a", "b", "c")
    assert scope_of(VIRTUAL, "crates/d/README.md", "crates/c/src/x.rs").modules == ("c", "d")


@pytest.mark.parametrize(
    ("path", "because"),
    [
        ("Cargo.toml", "Cargo.toml belongs to no single package"),
        ("Cargo.lock", "Cargo.lock belongs to no single package"),
        (".cargo/config.toml", ".cargo/config.toml belongs to no single package"),
        (
            "crates/a/Cargo.toml",
            "crates/a/Cargo.toml changes, and with it the dependencies between packages",
        ),
    ],
)
def test_everything(path: str, because: str) -> None:
    plan = plan_of(VIRTUAL, path, "crates/d/src/lib.rs")
    assert (plan.text, plan.scope) == (EVERYTHING, BuildScope(because=because))


def test_everything_where_no_change_is_known() -> None:
    found = plans(root_of(VIRTUAL), None)
    assert texts(found) == [EVERYTHING, f"cd crates/out && {EVERYTHING}"]


def test_what_is_excluded_is_built_for_itself() -> None:
    (plan,) = plans(root_of(VIRTUAL), touching("crates/out/src/lib.rs"))
    assert (plan.directory, plan.scope) == ("crates/out", BuildScope(("out",), BECAUSE))


def test_what_is_neither_member_nor_excluded_is_nothing_to_cargo() -> None:
    files = {**VIRTUAL, "stray/Cargo.toml": crate("stray")}
    assert [plan.directory for plan in plans(root_of(files), None)] == ["", "crates/out"]


def test_what_the_workspace_says_of_dependencies() -> None:
    files = {
        "Cargo.toml": """
            [workspace]
            members = ["a", "b", "c", "d"]
            [workspace.dependencies]
            a = { path = "a", version = "1" }
            short = { path = "b", package = "b" }
            [patch.crates-io]
            d = { path = "d" }
        """,
        "a/Cargo.toml": crate("a", "[target.'cfg(unix)'.build-dependencies]\nd = '1'\n"),
        "b/Cargo.toml": crate("b", "[dependencies]\na.workspace = true\n"),
        "c/Cargo.toml": crate("c", "[target.x.dependencies]\nshort = { workspace = true }\n"),
        "d/Cargo.toml": crate("d"),
    }
    assert scope_of(files, "b/src/lib.rs").modules == ("b", "c")
    assert scope_of(files, "a/src/lib.rs").modules == ("a", "b", "c")
    assert scope_of(files, "d/src/lib.rs").modules == ("a", "b", "c", "d")


def test_the_package_in_the_root_owns_what_cargo_gives_it() -> None:
    files = {
        "Cargo.toml": crate("r", '[dependencies]\nm = { path = "m" }\n[workspace]\n'),
        "m/Cargo.toml": crate("m"),
        "src/lib.rs": "",
    }
    assert scope_of(files, "src/lib.rs").modules == ("r",)
    assert scope_of(files, "m/src/lib.rs").modules == ("r", "m")
    assert scope_of(files, "ci/x.sh").because == "ci/x.sh belongs to no single package"


def test_the_package_in_the_root_owns_what_it_names() -> None:
    targets = '[lib]\npath = "core/l.rs"\n[[bin]]\nname = "x"\npath = "bins/x/main.rs"\n'
    files = {
        "Cargo.toml": crate("r", f'build = "make.rs"\n{targets}[workspace]\nmembers = ["m"]\n'),
        "m/Cargo.toml": crate("m"),
    }
    for path in ("core/other.rs", "bins/x/main.rs", "make.rs"):
        assert scope_of(files, path).modules == ("r",)
    assert scope_of(files, "bins/y/main.rs").modules == ()


DEFAULT = {
    "Cargo.toml": '[workspace]\nmembers = ["a", "b", "c"]\ndefault-members = ["a"]\n',
    "Cargo.lock": "",
    "a/Cargo.toml": crate("a", '[dependencies]\nb = { path = "../b" }\n'),
    "b/Cargo.toml": crate("b"),
    "c/Cargo.toml": crate("c", '[dependencies]\nb = { path = "../b" }\n'),
}


def test_default_members_are_the_workspaces_own_word() -> None:
    assert plan_of(DEFAULT).text == WHOLE
    assert plan_of(DEFAULT, "Cargo.lock").text == WHOLE
    assert scope_of(DEFAULT, "a/src/lib.rs") == BuildScope(("a",), BECAUSE)


def test_what_the_change_touches_is_built_whatever_the_default_members_are() -> None:
    plan = plan_of(DEFAULT, "b/src/lib.rs")
    left = f"{BECAUSE}; left out as none of the default-members: c"
    assert plan.scope == BuildScope(("a", "b"), left)
    assert plan.text.endswith("cargo test --no-fail-fast -p a -p b")
    assert scope_of(DEFAULT, "c/src/lib.rs") == BuildScope(("c",), BECAUSE)


@pytest.mark.parametrize("path", ["Cargo.lock", "b/Cargo.toml"])
def test_what_the_change_touches_is_part_of_everything(path: str) -> None:
    plan = plan_of(DEFAULT, path, "b/src/lib.rs")
    assert plan.scope.modules == ("a", "b")
    assert plan.scope.because.endswith(": all default-members, and what the change touches besides")
    assert plan.text.endswith("cargo test --no-fail-fast -p a -p b")


def test_what_is_known_to_change_counts_where_no_change_is_asked_for() -> None:
    root = replace(root_of(DEFAULT), changed=touching("b/src/lib.rs"))
    (plan,) = plans(root, None)
    assert plan.text.endswith("cargo test --no-fail-fast -p a -p b")


@pytest.mark.parametrize(
    ("changed", "because"),
    [
        ({"Cargo.toml": "[workspace"}, "Cargo.toml cannot be read"),
        (
            {"Cargo.toml": "[workspace]\nmembers = 3\n"},
            "the workspace in Cargo.toml cannot be read",
        ),
        (
            {"Cargo.toml": '[workspace]\nmembers = ["+(a)"]\n'},
            "the patterns in Cargo.toml are not understood",
        ),
        ({"crates/a/Cargo.toml": "["}, "crates/a/Cargo.toml cannot be read"),
        ({"crates/a/Cargo.toml": "[lib]\n"}, "crates/a/Cargo.toml cannot be read"),
        ({"crates/a/Cargo.toml": crate("--config=x")}, "crates/a/Cargo.toml cannot be read"),
        ({"crates/a/Cargo.toml": crate("a b")}, "crates/a/Cargo.toml cannot be read"),
    ],
)
def test_what_cannot_be_read_is_everything(changed: dict[str, str], because: str) -> None:
    plan = plans(root_of({**VIRTUAL, **changed}), touching("crates/d/src/lib.rs"))[0]
    assert (plan.text, plan.scope) == (EVERYTHING, BuildScope(because=because))


def test_windows_line_ends_are_read() -> None:
    files = {path: text.replace("\n", "\r\n") for path, text in VIRTUAL.items()}
    assert scope_of(files, "crates/b/src/lib.rs").modules == ("b", "c")


def test_a_package_beside_the_one_that_it_needs() -> None:
    files = {
        "app/Cargo.toml": crate("app", '[dependencies]\nlib = { path = "../lib" }\n'),
        "lib/Cargo.toml": crate("lib", '[dependencies]\ncore = { path = "../core" }\n'),
        "core/Cargo.toml": crate("core"),
        "other/Cargo.toml": crate("other"),
    }
    found = plans(root_of(files), touching("core/src/lib.rs"))
    assert [(plan.directory, plan.scope.because) for plan in found] == [
        ("app", "core changes, on which it depends"),
        ("core", ""),
        ("lib", "core changes, on which it depends"),
    ]


def test_a_package_below_one_that_does_not_need_it() -> None:
    files = {"Cargo.toml": crate("a"), "tools/Cargo.toml": crate("tools")}
    assert texts(plans(root_of(files), touching("tools/src/main.rs"))) == [f"cd tools && {WHOLE}"]
    needing = {**files, "Cargo.toml": crate("a", '[dependencies]\ntools = { path = "tools" }\n')}
    found = plans(root_of(needing), touching("tools/src/main.rs"))
    assert [(plan.directory, plan.scope.because) for plan in found] == [
        ("", "tools changes, on which it depends"),
        ("tools", ""),
    ]


def test_nextest_is_named_and_not_run() -> None:
    files = {"Cargo.toml": crate("a"), ".config/nextest.toml": ""}
    assert plan_of(files).notes == (
        ".config/nextest.toml is there, but `cargo test` runs the tests",
    )
    assert plan_of({"Cargo.toml": crate("a")}).notes == ()


def test_failing_tests_are_run_again_by_their_exact_names() -> None:
    alone = plan_of(VIRTUAL, "crates/b/src/lib.rs").rerun_failed
    assert alone is not None
    steps = alone([failing("tests::b"), failing("a"), failing("tests::b")])
    assert steps == (
        BuildStep(
            "test",
            (
                "cargo",
                "test",
                "--no-fail-fast",
                "-p",
                "b",
                "-p",
                "c",
                "--",
                "--exact",
                "a",
                "tests::b",
            ),
        ),
    )


@pytest.mark.parametrize("name", [None, "", "--nocapture", "src/lib.rs - f", "a b", "a\nb", "1a"])
def test_what_cannot_be_named_is_not_run_again(name: str | None) -> None:
    alone = plans(root_of(VIRTUAL), None)[0].rerun_failed
    assert alone is not None
    assert alone([failing("tests::b"), failing(name)]) is None
    assert alone([]) is None
