from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from fakes.roots import root_of, texts, touching
from prjury.judges.builds.systems.make import plans, unsuited


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
    assert plans(root_of(files), touching("a/sub/x.c")) == plans(root_of(files), None)
    assert texts(plans(root_of({**files, "Makefile": "test:\n"}), touching("x"))) == ["make test"]


def test_the_name_that_make_looks_for_first() -> None:
    (plan,) = plans(root_of({"Makefile": "test:\n", "GNUmakefile": "all:\n"}), None)
    assert (plan.text, plan.reasons) == ("make all", ("GNUmakefile has the target all",))
    assert plan.keep_going is None


def test_a_makefile_that_passes_every_target_on() -> None:
    files = {"Makefile": ".DEFAULT:\n\tcd src && $(MAKE) $@\n", "src/Makefile": "test:\n"}
    assert texts(plans(root_of(files), None)) == ["make test"]


def test_both_forms_run_in_the_same_place() -> None:
    (plan,) = plans(root_of({"a/Makefile": "test:\n"}), None)
    assert plan.keep_going is not None
    assert (plan.directory, plan.keep_going.directory) == ("a", "a")


# Targets


def targets(text: str, **more: str) -> list[str]:
    return texts(plans(root_of({"Makefile": text, **more}), None))


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("test check:\n\ttrue\n", "make test"),
        ("lint check : x\n", "make check"),
        ("test: a.o\n\tcc -o test a.o\ncheck: test\n\t./test\n", "make check"),
        ("test::\n\ttrue\n", "make test"),
        ("a test &: b\n", "make && make test"),
        ("SRC = a.c \\\n  b.c\ntest: $(SRC)\n", "make test"),
        (".PHONY: clean \\\n  lint\ntest:\n", "make test"),
        ("lint \\\n  check: x\n", "make check"),
        ("GOALS = check lint\n$(GOALS):\n\ttrue\n", "make check"),
        ("%:\n\t$(MAKE) -C src $@\n", "make test"),
        ("test: x ; true\n", "make test"),
        ("export A = b\r\ncheck:\r\n", "make check"),
    ],
)
def test_targets_are_recognised(text: str, command: str) -> None:
    assert targets(text) == [command]


@pytest.mark.parametrize(
    "text",
    [
        "test := 1\ncheck ::= 2\nall :::= 3\n",
        "test: CFLAGS = -g\ncheck: export X := 1\n",
        ".PHONY: test check all\n",
        "SRC = a \\\ntest: b\n",
        "\ttest: x\n",
        "# test: x\n",
        "%.o: %.c\n\tcc $@\n",
        "%: Makefile\n\t$(SPHINXBUILD) -M $@\n",
    ],
)
def test_what_is_no_target(text: str) -> None:
    root = root_of({"Makefile": text})
    assert plans(root, None) == ()
    assert unsuited(root) == {"": "Makefile has none of the targets test, check, all"}


def test_what_is_included_counts() -> None:
    files = {
        "a/Makefile": "include mk/*.mk\n-include gone.mk\n",
        "a/mk/one.mk": "include rules.inc\n",
        "a/rules.inc": "check:\n",
    }
    assert texts(plans(root_of(files), None)) == ["cd a && make check"]
    unclear = root_of({"b/Makefile": "include $(TOP)/x.mk\n"})
    told = "b/Makefile has none of the targets test, check, all, unless an included file has one"
    assert unsuited(unclear) == {"b": told}
    circle = root_of({"Makefile": "include a.mk\n", "a.mk": "include Makefile\n"})
    assert plans(circle, None) == ()


@pytest.mark.parametrize(
    ("text", "idle"),
    [
        ("test:\n\ttrue\n", True),
        ("test: src/a.c\n", True),
        ("test: $(OBJECTS)\n", True),
        (".DEFAULT:\n\ttrue\n", True),
        (".PHONY: test\ntest:\n", False),
        ("NAMES = all test\n.PHONY: $(NAMES)\ntest:\n", False),
        ("test::\n\ttrue\n", False),
        ("test: build\nbuild:\n", False),
        (".PHONY: src\ntest: src\n", False),
    ],
)
@pytest.mark.parametrize("there", ["test/x.c", "test"])
def test_a_target_with_a_file_of_its_name(text: str, idle: bool, there: str) -> None:
    (plan,) = plans(root_of({"Makefile": text, there: "", "src/a.c": ""}), None)
    assert plan.text == "make test"
    assert plan.tests is not idle
    assert (plan.keep_going is None) is idle
    told = (
        "make does nothing for `test`, because a file of that name exists and the target is "
        "not .PHONY"
    )
    assert plan.notes == ((told,) if idle else ())


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
        (
            "all:\n\t@false\ntest:\n\t@echo fine\n",
            1,
            ["make: *** [Makefile:2: all] Error 1", "fine", "make ended with exit code 0"],
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
def test_the_form_that_keeps_going_still_fails(
    tmp_path: Path, makefile: str, code: int, told: list[str]
) -> None:
    (tmp_path / "Makefile").write_text(makefile)
    (plan,) = plans(root_of({"Makefile": makefile}), None)
    assert plan.keep_going is not None
    done = subprocess.run(
        ["/bin/sh", "-c", plan.keep_going.text],
        cwd=tmp_path,
        env={"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout.splitlines()) == (code, told)
