from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from fakes.roots import root_of, texts, touching
from prjury.judges.build.systems.make import plans


def test_the_outermost_makefiles_are_built() -> None:
    files = {
        "a/Makefile": "test:\n",
        "a/sub/Makefile": "test:\n",
        "b/Makefile": "install:\n",
        "b/sub/makefile": "check:\n",
        "ab/GNUmakefile": "all:\n",
    }
    assert texts(plans(root_of(files), None)) == [
        "cd a && make test",
        "cd ab && make all",
        "cd b/sub && make check",
    ]
    assert texts(plans(root_of(files), touching("a/sub/x.c"))) == ["cd a && make test"]
    assert texts(plans(root_of({**files, "Makefile": "test:\n"}), touching("x"))) == ["make test"]


def test_the_name_that_make_looks_for_first() -> None:
    (plan,) = plans(root_of({"Makefile": "test:\n", "GNUmakefile": "all:\n"}), None)
    assert (plan.text, plan.reasons) == ("make all", ("GNUmakefile has the target all",))
    assert plan.thorough is None


def test_a_makefile_that_hands_everything_on() -> None:
    files = {"Makefile": ".DEFAULT:\n\tcd src && $(MAKE) $@\n", "src/Makefile": "test:\n"}
    assert texts(plans(root_of(files), None)) == ["make test"]


def test_both_forms_run_in_the_same_place() -> None:
    (plan,) = plans(root_of({"a/Makefile": "test:\n"}), None)
    assert plan.thorough is not None
    assert (plan.directory, plan.thorough.directory) == ("a", "a")


@pytest.mark.skipif(
    shutil.which("make") is None or shutil.which("awk") is None, reason="needs make and awk"
)
@pytest.mark.parametrize(
    ("makefile", "code", "told"),
    [
        (
            "test: one two\none:\n\t@false\n\t@echo after\ntwo:\n\t@exit 3\n",
            1,
            [
                "make: *** [Makefile:3: one] Error 1",
                "after",
                "make: *** [Makefile:6: two] Error 3",
                "make ended with exit code 0",
            ],
        ),
        ("test:\n\t@echo fine\n", 0, ["fine", "make ended with exit code 0"]),
        (
            "test: missing\n",
            1,
            [
                "make: *** No rule to make target 'missing', needed by 'test'.  Stop.",
                "make ended with exit code 2",
            ],
        ),
        (
            "test:\n\t@$(MAKE) --no-print-directory sub\nsub:\n\t@false\n",
            1,
            ["make[1]: *** [Makefile:4: sub] Error 1", "make ended with exit code 0"],
        ),
    ],
)
def test_the_thorough_form_goes_on_and_still_fails(
    tmp_path: Path, makefile: str, code: int, told: list[str]
) -> None:
    (tmp_path / "Makefile").write_text(makefile)
    (plan,) = plans(root_of({"Makefile": makefile}), None)
    assert plan.thorough is not None
    done = subprocess.run(
        ["/bin/sh", "-c", plan.thorough.text],
        cwd=tmp_path,
        env={"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout.splitlines()) == (code, told)
