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
    circle = root_of({"Makefile": "include a.mk\n", "a.mk": "include Makefile\n"})
    assert plans(circle, None) == ()


def test_the_form_that_keeps_going(tmp_path: Path) -> None:
    makefile = "all:\n\t@echo built\ntest: one two\none:\n\t@false\ntwo:\n\t@exit 3\n"
    (tmp_path / "Makefile").write_text(makefile)
    (plan,) = plans(root_of({"Makefile": makefile}), None)
    assert plan.keep_going
    assert plan.keep_going.text == "make -k && make -k test"
    if shutil.which("make") is None:
        pytest.skip("make is not installed")
    ran = subprocess.run(
        ["/bin/sh", "-c", plan.keep_going.text],
        cwd=tmp_path,
        env={"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stderr.count("make: *** [Makefile")) == (2, 2)
