"""Go: modules and workspaces. Pure."""

from __future__ import annotations

from prjury.judges.builds.plan import NATIVE, BuildPlan, BuildStep, BuildSystem
from prjury.judges.builds.source_tree import SourceTree, join_path, nearest
from prjury.manifests.go import read_go_mod_or_work

_MANIFEST, _WORK = "go.mod", "go.work"
#: The exit code of ``go test`` if tests failed; all packages are tested.
_TESTS_FAILED = 1
_NO_TESTS = "there are no tests: no package has a file *_test.go"


def _plan_modules(root: SourceTree) -> tuple[BuildPlan, ...]:
    modules = root.directories_with(_MANIFEST)
    workspaces: dict[str, list[str]] = {}
    for place in root.directories_with(_WORK):
        manifest = root.below(place).readable(_WORK, read_go_mod_or_work)
        members = (join_path(place, name) for name in (manifest.members if manifest else ()))
        workspaces[place] = sorted(module for module in members if module is not None)
    used = {module for members in workspaces.values() for module in members}
    places = sorted(filter(root.may_hold_project, (modules - used) | workspaces.keys()))
    plans = []
    for place in places:
        part = root.below(place)
        inside = [one.removeprefix(place).strip("/") for one in workspaces.get(place) or [place]]
        every = tuple(f"./{module}/..." if module else "./..." for module in inside)
        # -o keeps a lone program from being written over a directory of the same name
        steps = [BuildStep("build", ("go", "build", "-o", "/dev/null", *every))]
        if tests := _has_tests(part, inside):
            steps.append(BuildStep("test", ("go", "test", "-json", *every), all_ran=_TESTS_FAILED))
        is_alone = place and _WORK not in part.files  # a workspace above may leave it out
        plan = BuildPlan(
            "go",
            tuple(steps),
            (f"{part.has(_WORK, _MANIFEST)} is there",),
            () if tests else (_NO_TESTS,),
            env={"GOWORK": "off"} if is_alone else {},
            directory=place,
        )
        plans.append(plan)
    return tuple(plans)


def _has_tests(part: SourceTree, modules: list[str]) -> bool:
    homes = part.directories_with(_MANIFEST) | frozenset(modules)
    for path in part.files:
        *parents, _ = path.split("/")
        ignored = any(name[:1] in {".", "_"} or name in {"testdata", "vendor"} for name in parents)
        if path.endswith("_test.go") and not ignored and nearest(path, homes) in modules:
            return True
    return False


GO = BuildSystem((_WORK, _MANIFEST), {"go": NATIVE | {".go"}}, _plan_modules)
