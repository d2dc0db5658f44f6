from __future__ import annotations

import pytest

from fakes.roots import root_of
from prjury.judges.builds.systems.jvm import Script, Wrapper, wrapper_of

SCRIPT = Script("toolw", "tool", "wrap/settings", needs=("wrap/tool.jar",))
BESIDE = {"wrap/settings": "version=1\n", "wrap/tool.jar": ""}


def test_an_executable_script() -> None:
    root = root_of({"toolw": "#!/bin/sh\n", **BESIDE}, executable="toolw")
    assert wrapper_of(root, "", SCRIPT) == Wrapper(("./toolw",), "toolw is there", "version=1\n")


def test_a_script_that_is_not_executable() -> None:
    root = root_of({"toolw": "#!/bin/sh\n", **BESIDE})
    reason = "toolw is there but not executable, so `sh` runs it"
    assert wrapper_of(root, "", SCRIPT) == Wrapper(("sh", "toolw"), reason, "version=1\n")


def test_no_script() -> None:
    reason = "no toolw, so the installed `tool` is used"
    assert wrapper_of(root_of(BESIDE), "a/b", SCRIPT) == Wrapper(("tool",), reason)


@pytest.mark.parametrize("missing", ["wrap/settings", "wrap/tool.jar"])
def test_a_script_that_lacks_something(missing: str) -> None:
    files = {path: "" for path in (*BESIDE, "toolw") if path != missing}
    reason = f"toolw is there without {missing}, so the installed `tool` is used"
    assert wrapper_of(root_of(files), "", SCRIPT) == Wrapper(("tool",), reason)


def test_a_script_with_windows_line_ends() -> None:
    root = root_of({"toolw": "#!/bin/sh\r\nexit 1\r\n", **BESIDE}, executable="toolw")
    reason = "toolw has Windows line ends, so the installed `tool` is used"
    assert wrapper_of(root, "", SCRIPT) == Wrapper(("tool",), reason)


def test_the_nearest_script_upwards() -> None:
    files = {"toolw": "", "a/toolw": "", **BESIDE, **{f"a/{path}": "" for path in BESIDE}}
    root = root_of(files, executable="toolw")
    assert wrapper_of(root, "b/c", SCRIPT) == Wrapper(
        ("../../toolw",), "../../toolw is there", "version=1\n"
    )
    assert wrapper_of(root, "a/c", SCRIPT).argv == ("sh", "../toolw")
    assert wrapper_of(root, "a", SCRIPT).argv == ("sh", "toolw")
