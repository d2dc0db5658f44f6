"""Changed files that no build which ran can have looked at. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from prjury.pull.model import FileChange, FileKind, printable, visible

_JVM = frozenset({"maven", "gradle"})
_NODE = frozenset({"npm", "pnpm", "yarn", "bun"})
_PYTHON = frozenset({"pytest", "uv", "tox", "python", "unittest", "django"})
#: Compile what the languages beside theirs are written in, for bindings and extensions.
_NATIVE = frozenset({"cargo", "go", "uv", "tox"})
#: Run whatever they are told to.
_ANYTHING = frozenset({"command", "make", "bazel"})

_BUILT_BY: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(".java .kt .kts .scala .groovy".split(), _JVM),
    **dict.fromkeys(".js .jsx .mjs .cjs .ts .tsx .mts .cts .vue .svelte".split(), _NODE),
    **dict.fromkeys(".py .pyi .pyx".split(), _PYTHON),
    ".rs": frozenset({"cargo"}),
    ".go": frozenset({"go"}),
    **dict.fromkeys(".c .cc .cpp .cxx .h .hh .hpp .s .asm".split(), _NATIVE),
    **dict.fromkeys(
        ".rb .php .cs .fs .vb .swift .m .mm .ex .exs .erl .hs .ml .clj .dart .jl .zig .nim .cr "
        ".elm .f90".split(),
        frozenset(),
    ),
}
#: Languages that stand beside others as scripts and pages; one file of them is often nobody's test.
_BESIDE_OTHERS = (_NODE, _PYTHON)
_CODE = frozenset({FileKind.SOURCE, FileKind.TEST})


def unbuilt(
    files: Sequence[FileChange], systems: Collection[str], skipped: Collection[str]
) -> list[dict[str, object]]:
    """The files as ``{"path", "reason", "counts"}``, for the report's coverage.

    Args:
        systems: those that were run.
        skipped: the directories of projects that were left out.
    """
    return [
        {"path": printable(file.path), "reason": reason, "counts": counts}
        for file in files
        if file.kind in _CODE
        for reason, counts in _reasons(file.path, frozenset(systems), skipped)
    ]


def _reasons(
    path: str, systems: frozenset[str], skipped: Collection[str]
) -> Iterator[tuple[str, bool]]:
    """Why nothing has built it, at most one reason, and whether that counts against the change."""
    project = next((place for place in skipped if path.startswith(f"{place}/")), None)
    if project is not None:
        yield f"the project in {visible(project)} was not built", True
        return
    known = _BUILT_BY.get(PurePosixPath(path).suffix.lower())
    if known is not None and not systems & (known | _ANYTHING):
        yield "no build that ran knows this language", known not in _BESIDE_OTHERS
