"""Go: modules and workspaces. Pure."""

from __future__ import annotations

from prjury.judges.builds.plan import BuildPlan, BuildStep
from prjury.judges.builds.systems.build_system import NATIVE, DocsRows, When
from prjury.judges.builds.systems.projects import FoundProject, names_outside, select_affected
from prjury.judges.builds.systems.source_tree import Changes, SourceTree, join_path, nearest
from prjury.manifests.go import read_go_mod

MANIFEST, WORK = "go.mod", "go.work"
MANIFESTS = (WORK, MANIFEST)
COVERS = {"go": NATIVE | {".go"}}
WHEN: When = "always"
DOCS: DocsRows = (
    (
        "`go.mod`, `go.work`",
        "`go build -o /dev/null ./...`, and `go test -json ./...` if there is any `_test.go`",
    ),
)
#: The exit code of ``go test`` if tests failed; all packages are tested.
_TESTS_FAILED = 1
_NO_TESTS = "there are no tests: no package has a file *_test.go"
# -o keeps a lone program from being written over a directory of the same name
_BUILD, _TEST = "go build -o /dev/null", "go test -json"


def plans(root: SourceTree, changes: Changes | None) -> tuple[BuildPlan, ...]:
    """The modules and workspaces that the change affects, each of them whole."""
    modules = root.directories_with(MANIFEST)
    workspaces = {place: _list_used(root, place) for place in root.directories_with(WORK)}
    used = {module for place in workspaces for module in workspaces[place]}
    projects: dict[str, FoundProject] = {}
    for place in sorted(filter(root.may_hold_project, (modules - used) | workspaces.keys())):
        part = root.below(place)
        own = workspaces.get(place, [place]) or [place]
        inside = [module.removeprefix(place).strip("/") for module in own]
        leads_out = names_outside(part, inside, MANIFEST, read_go_mod)
        projects[place] = FoundProject((_plan(part, inside),), leads_out)
    return select_affected(projects, changes)


def _list_used(root: SourceTree, place: str) -> list[str]:
    """The modules that the ``go.work`` of a directory names, from the root of the tree."""
    manifest = root.below(place).readable(WORK, read_go_mod)
    places = (join_path(place, name) for name in (manifest.members if manifest else ()))
    return sorted(module for module in places if module is not None)


def _plan(part: SourceTree, modules: list[str]) -> BuildPlan:
    every = tuple(f"./{module}/..." if module else "./..." for module in modules)
    steps = [BuildStep("build", (*_BUILD.split(), *every), every, _BUILD)]
    tests = _has_tests(part, modules)
    if tests:
        command = (*_TEST.split(), *every)
        steps.append(BuildStep("test", command, every, _TEST, all_ran=_TESTS_FAILED))
    is_alone = part.place and WORK not in part.files  # a workspace above may leave it out
    return BuildPlan(
        "go",
        tuple(steps),
        (f"{part.has(WORK, MANIFEST)} is there",),
        () if tests else (_NO_TESTS,),
        env={"GOWORK": "off"} if is_alone else {},
    )


def _has_tests(part: SourceTree, modules: list[str]) -> bool:
    homes = part.directories_with(MANIFEST) | frozenset(modules)
    for path in part.files:
        *parents, _ = path.split("/")
        ignored = any(one[:1] in {".", "_"} or one in {"testdata", "vendor"} for one in parents)
        if path.endswith("_test.go") and not ignored and nearest(path, homes) in modules:
            return True
    return False
