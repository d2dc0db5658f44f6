from __future__ import annotations

import time
from collections.abc import Mapping

import pytest

from fakes.roots import failing, root_of, texts, touching
from prjury.judges.builds.plan import BuildPlan, BuildScope, BuildStep
from prjury.judges.builds.systems.go import imported, plans

BECAUSE = "packages that the change touches, and those that import them"
BUILD = "go build -o /dev/null ./..."
WHOLE = f"{BUILD} && go test -json ./..."


def go(package: str, *imports: str) -> str:
    listed = "".join(f'\t"{path}"\n' for path in imports)
    return f"package {package}\n\nimport (\n{listed})\n\nfunc F() {{}}\n"


FILES = {
    "go.mod": "module example.com/m // the one\n\ngo 1.21\n",
    "go.sum": "",
    "a/a.go": go("a", "fmt"),
    "a/a_test.go": go("a", "testing"),
    "a/data/x.json": "",
    "b/b.go": go("b", "example.com/m/a"),
    "c/c.go": go("c", "example.com/m/b"),
    "d/d.go": go("d"),
    "d/d_test.go": go("d_test", "testing", "example.com/m/a"),
    "e/e.go": go("e", "example.com/m/d"),
    "f/f.go": go("f", "example.com/m/abc"),
}


def plan_of(files: Mapping[str, str], *paths: str) -> BuildPlan:
    (plan,) = plans(root_of(files), touching(*paths) if paths else None)
    return plan


def scope_of(files: Mapping[str, str], *paths: str) -> BuildScope:
    return plan_of(files, *paths).scope


def test_a_module() -> None:
    plan = plan_of(FILES)
    assert (plan.text, plan.scope, plan.all_ran, plan.env) == (WHOLE, BuildScope(), 1, {})


def test_the_packages_that_a_change_affects() -> None:
    plan = plan_of(FILES, "b/b.go")
    assert plan.scope == BuildScope(("./b", "./c"), BECAUSE)
    assert plan.text == f"{BUILD} && go test -json ./b ./c"


def test_who_imports_a_package_only_in_tests_is_affected_but_nobody_beyond() -> None:
    assert scope_of(FILES, "a/a.go").modules == ("./a", "./b", "./c", "./d")
    assert scope_of(FILES, "d/d.go").modules == ("./d", "./e")


def test_nobody_depends_on_the_tests_of_a_package() -> None:
    assert scope_of(FILES, "a/a_test.go").modules == ("./a",)
    assert scope_of(FILES, "a/new_test.go").modules == ("./a",)


@pytest.mark.parametrize(
    "path", ["a/data/x.json", "a/data/y/z.bin", "a/x.s", "a/testdata/y.go", "a/_x/y.go"]
)
def test_other_files_belong_to_the_package_above(path: str) -> None:
    assert scope_of(FILES, path).modules == ("./a", "./b", "./c", "./d")


def test_a_package_that_has_gone_is_missed_by_those_that_import_it() -> None:
    assert scope_of(FILES, "abc/x.go") == BuildScope(("./f",), BECAUSE)
    assert scope_of(FILES, "nobody/x.go").because == "the change deletes all its packages"


@pytest.mark.parametrize(
    ("path", "because"),
    [
        ("go.mod", "go.mod changes, and with it the dependencies"),
        ("go.sum", "go.sum changes, and with it the dependencies"),
        ("vendor/x/y.go", "vendor/x/y.go changes, and with it the dependencies"),
        ("scripts/x.sh", "scripts/x.sh belongs to no package"),
        (".github/workflows/x.yml", ".github/workflows/x.yml belongs to no package"),
    ],
)
def test_everything(path: str, because: str) -> None:
    plan = plan_of(FILES, "a/a.go", path)
    assert (plan.text, plan.scope) == (WHOLE, BuildScope(because=because))


def test_the_root_may_be_a_package() -> None:
    files = {**FILES, "m.go": go("m", "example.com/m/d"), "x/x.go": go("x", "example.com/m")}
    assert scope_of(files, "m.go").modules == ("the root package", "./x")
    assert scope_of(files, "scripts/x.sh").modules == ("the root package", "./x")


def test_the_root_package_is_named_and_tested() -> None:
    files = {"go.mod": "module m\n", "m.go": go("m"), "m_test.go": go("m"), "a/a.go": go("a")}
    plan = plan_of(files, "m.go")
    assert plan.scope == BuildScope(("the root package",), BECAUSE)
    assert plan.text == f"{BUILD} && go test -json ."


def test_without_tests_there_is_nothing_but_the_build() -> None:
    files = {path: text for path, text in FILES.items() if not path.endswith("_test.go")}
    plan = plan_of({**files, "a/testdata/x_test.go": "", "_x/y_test.go": ""}, "a/a.go")
    assert (plan.text, plan.tests, plan.all_ran, plan.rerun_failed) == (BUILD, False, None, None)
    assert plan.notes == ("there are no tests: no package has a file *_test.go",)
    assert not plan_of(files).covers(plan_of(FILES))
    assert plan_of(FILES).covers(plan_of(files))
    assert plan_of(FILES).notes == ()


def test_too_many_to_name() -> None:
    files = {"go.mod": "module m\n", **{f"p{n}/x.go": go("p") for n in range(201)}}
    paths = [f"p{n}/x.go" for n in range(201)]
    assert len(scope_of(files, *paths[1:]).modules) == 200
    assert scope_of(files, *paths) == BuildScope(
        because="the change affects more than 200 packages"
    )


def test_modules_below_are_for_themselves() -> None:
    files = {
        **FILES,
        "tools/go.mod": "module example.com/tools\n",
        "tools/t.go": go("main", "example.com/m/a"),
        "tools/t_test.go": go("main"),
    }
    found = plans(root_of(files), None)
    assert texts(found) == [WHOLE, f"cd tools && {WHOLE}"]
    assert [dict(plan.env) for plan in found] == [{}, {"GOWORK": "off"}]
    assert texts(plans(root_of(files), touching("tools/t.go"))) == [
        f"cd tools && {BUILD} && go test -json ."
    ]
    assert texts(plans(root_of(files), touching("d/d.go"))) == [f"{BUILD} && go test -json ./d ./e"]


def test_a_module_that_stands_in_for_another() -> None:
    files = {
        **FILES,
        "tools/go.mod": "module example.com/tools\n\nreplace (\n\texample.com/m => ../\n)\n",
        "tools/t.go": go("main", "example.com/m/a"),
        "tools/t_test.go": go("main"),
    }
    found = plans(root_of(files), touching("d/d.go"))
    assert texts(found) == [f"{BUILD} && go test -json ./d ./e", f"cd tools && {WHOLE}"]
    assert found[1].scope == BuildScope(because="the root changes, on which it depends")


WORK = {
    "go.work": 'go 1.21\n\nuse (\n\t./x // one\n\t"./y"\n)\nuse ./z\n',
    "x/go.mod": "module example.com/x\n",
    "x/p/p.go": go("p"),
    "x/p/p_test.go": go("p"),
    "y/go.mod": "module example.com/y/v2\n",
    "y/q/q.go": go("q", "example.com/x/p"),
    "z/go.mod": "module example.com/z\n",
    "z/z.go": go("z", "example.com/y/v2/q"),
    "other/go.mod": "module example.com/other\n",
    "other/o.go": go("o"),
    "other/o_test.go": go("o"),
}


def test_a_workspace_is_one_build_of_its_modules() -> None:
    every = "./x/... ./y/... ./z/..."
    assert texts(plans(root_of(WORK), None)) == [
        f"go build -o /dev/null {every} && go test -json {every}",
        f"cd other && {WHOLE}",
    ]
    (plan,) = plans(root_of(WORK), touching("x/p/p.go"))
    assert plan.scope == BuildScope(("./x/p", "./y/q", "./z"), BECAUSE)
    assert plans(root_of(WORK), touching("y/q/q.go"))[0].scope.modules == ("./y/q", "./z")
    assert plans(root_of(WORK), touching("go.work"))[0].scope.because == (
        "go.work changes, and with it the dependencies"
    )


def test_a_manifest_that_cannot_be_read_is_everything() -> None:
    plan = plan_of({**FILES, "go.mod": "<<<<<<<\n"}, "a/a.go")
    assert (plan.text, plan.scope) == (WHOLE, BuildScope(because="a go.mod cannot be read"))
    assert plans(root_of({"go.work": "use ./nowhere\n"}), None) == ()


def test_windows_line_ends_are_read() -> None:
    files = {path: text.replace("\n", "\r\n") for path, text in FILES.items()}
    assert scope_of(files, "b/b.go").modules == ("./b", "./c")


@pytest.mark.parametrize(
    ("source", "paths"),
    [
        ('package a\nimport "x/y"\n', ["x/y"]),
        ('package a; import "x"\n', ["x"]),
        ("package a\nimport `x`\n", ["x"]),
        ('package a\nimport (\n"x"; y "z" // "no"\n)\nimport _ "w"\n', ["x", "z", "w"]),
        ('// import "no"\npackage a /* import "no"\n*/\nimport "yes" //\n', ["yes"]),
        ('package a\nfunc F() {\nimport "no"\n}\n', []),
        ('package a\nvar x = `\nimport "no"\n`\n', []),
        ('package a\nimport "C" /* unfinished "no"', ["C"]),
        ("", []),
    ],
)
def test_imports(source: str, paths: list[str]) -> None:
    assert list(imported(source)) == paths


def test_a_file_made_to_take_long_does_not() -> None:
    started = time.process_time()
    for text in ("/*" * 200_000, "/" * 400_000, 'import "' * 50_000, "import (" * 50_000):
        list(imported(f"package a\n{text}"))
    assert time.process_time() - started < 3


def test_failing_tests_are_run_again_by_package_and_name() -> None:
    alone = plan_of(FILES).rerun_failed
    assert alone is not None
    steps = alone(
        [
            failing("TestB", suite="example.com/m/a"),
            failing("TestA", suite="example.com/m/a"),
            failing("TestSub/x_(y)/z", suite="example.com/m/a"),
            failing("example.com/m/b.TestC"),
        ]
    )
    run = ("go", "test", "-json", "-count=1", "-run")
    assert steps == (
        BuildStep("test", (*run, "^(TestA|TestB)$", "./a")),
        BuildStep("test", (*run, r"^TestSub$/^x_\(y\)$/^z$", "./a")),
        BuildStep("test", (*run, "^(TestC)$", "./b")),
    )


@pytest.mark.parametrize(
    ("name", "suite"),
    [
        (None, "example.com/m/a"),
        ("TestA", "example.com/other"),
        ("TestA", None),
        ("-exec=sh", "example.com/m/a"),
        ("TestA -exec=sh", "example.com/m/a"),
        ("TestA\nTestB", "example.com/m/a"),
        ("BenchmarkA", "example.com/m/a"),
        ("-exec.TestA", "-exec"),
    ],
)
def test_what_cannot_be_named_is_not_run_again(name: str | None, suite: str | None) -> None:
    alone = plan_of(FILES).rerun_failed
    assert alone is not None
    known = failing("TestB", suite="example.com/m/a")
    assert alone([known]) is not None
    assert alone([known, failing(name, suite=suite)]) is None
    assert alone([]) is None
