"""Which changed lines the parser is spared, and which it is not."""

from __future__ import annotations

import difflib
import textwrap

import pytest

from prjury.code.publics.inside import Changed, changes_no_name


def changed(old: str, new: str) -> tuple[Changed, Changed]:
    before, after = old.split("\n"), new.split("\n")
    sides: tuple[list[tuple[int, int]], list[tuple[int, int]]] = ([], [])
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, before, after, False).get_opcodes():
        if tag != "equal":
            sides[0].extend([(i1 + 1, i2)] if i2 > i1 else [])
            sides[1].extend([(j1 + 1, j2)] if j2 > j1 else [])
    return Changed(before, sides[0]), Changed(after, sides[1])


def spared(language: str, text: str, old: str, new: str, *, package: bool = False) -> bool:
    text = textwrap.dedent(text)
    assert old in text
    return changes_no_name(language, *changed(text, text.replace(old, new)), package=package)


PYTHON = '''\
    """The module: about it."""
    import os
    from a import (
        one,
        two,
    )

    class A:
        """Docs.

        def example():
            inside
        """

        x = 1

        def f(self, a,
              b=2):
            """Docs."""
            if a:
                y = 3
            return (a,
                b)

        def g(
            self,
            c,
        ) -> int:
            z = 4
            return z

        T = """
    def h():
        pass
        """
        w = 5

    KEYS = [
        "one_key",
    ]
'''
JAVA = """\
    package p;
    import a.B;
    public class A {
        private int x = 1;
        /** Docs. */
        public int f(int a,
                int b) throws E {
            if (a) {
                y = 3;
            } else {
                y = 4;
            }
            new T() {
                void g() { z = 5; }
            };
            return 6;
        }
        enum E {
            ONE;
        }
        static String s = \"\"\"
    void h() {
        w = 7;
    \"\"\";
    }
"""
SCRIPT = """\
    import {
      one,
      two
    } from 'a';
    export class A {
      x = 1;
      f(a: string): Promise<void> {
        return b({
          c: 3
        });
      }
      g = (a: string) => {
        return 4;
      };
    }
    export interface I {
      d: 5;
      h(options: {
        e: 6;
      }): void;
    }
    export const plugin = {
      activate: (app: App) => {
        i = 7;
      }
    };
"""


@pytest.mark.parametrize(
    ("language", "text", "old", "new", "expected"),
    [
        ("python", PYTHON, "y = 3", "y = 4\n            # more\n            k = 5", True),
        ("python", PYTHON, "z = 4", "z = 5", True),
        ("python", PYTHON, "            b)", "            b, 1)", True),
        ("python", PYTHON, "about it", "all about it", True),
        ("python", PYTHON, "inside", "within", True),
        ("python", PYTHON, "import os", "import sys", True),
        ("python", PYTHON, "    two,", "    two,\n        three,", True),
        ("python", PYTHON, "import os", "import one_key", False),
        ("python", PYTHON, "x = 1", "x = 2", False),
        ("python", PYTHON, "b=2", "b=3", False),
        ("python", PYTHON, "        c,", "        c,\n            d,", False),
        ("python", PYTHON, "w = 5", "v = 5", False),
        ("python", PYTHON, "one_key", "two_keys", False),
        (
            "python",
            PYTHON,
            "return z",
            "return z\n\n    def k(): pass",
            False,
        ),
        ("java", JAVA, "y = 3", "y = 5", True),
        ("java", JAVA, "y = 4", "y = 5", True),
        ("java", JAVA, "z = 5", "z = 6", True),
        ("java", JAVA, "return 6", "if (a) {\n            }\n            return 6", True),
        ("java", JAVA, "import a.B;", "import a.C;", True),
        ("java", JAVA, "/** Docs. */", "/**\n         * More.\n         */", True),
        ("java", JAVA, "x = 1", "x = 2", False),
        ("java", JAVA, "int b)", "long b)", False),
        ("java", JAVA, "ONE", "ONE, TWO", False),
        ("java", JAVA, "return 6;", "return 6;\n        }\n        public void k() {", False),
        ("java", JAVA, "return 6;", "return 6; }", False),
        ("typescript", SCRIPT, "c: 3", "c: 4", True),
        ("typescript", SCRIPT, "return 4", "return 5", True),
        ("typescript", SCRIPT, "i = 7", "i = 8", True),
        ("typescript", SCRIPT, "  two", "  two,\n      three", True),
        ("typescript", SCRIPT, "x = 1", "x = 2", False),
        ("typescript", SCRIPT, "d: 5", "d: 6", False),
        ("typescript", SCRIPT, "e: 6", "e: 7", False),
        ("unheard-of", SCRIPT, "c: 3", "c: 4", False),
    ],
)
def test_only_what_lies_inside_of_functions_and_imports_is_spared(
    language: str, text: str, old: str, new: str, expected: bool
) -> None:
    assert spared(language, text, old, new) is expected


NESTED = """\
@Json(Include.ALL) public record A(@Json("b") int b) {
    static class Builder {
        int d = 1;
    }
}
"""


def test_a_type_in_a_type_is_no_function() -> None:
    assert not spared("java", NESTED, "int d", "public int d")


LONG = """\
public record A(
    // a note
    int b,
    int c
) {

    int d = 1;
}
"""


@pytest.mark.parametrize("text", [LONG, LONG.replace("int b,", "int b,\n" * 100)])
def test_a_heading_of_many_lines_is_read_to_its_beginning(text: str) -> None:
    assert not spared("java", text, "int d", "public int d")


def test_what_a_package_imports_it_may_offer() -> None:
    assert not spared("python", PYTHON, "import os", "import sys", package=True)
    assert not spared("python", PYTHON, "    two,", "    three,", package=True)
