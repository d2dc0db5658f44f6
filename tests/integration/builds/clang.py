"""A fixture project for make: C that is compiled, and tests that print TAP."""

from __future__ import annotations

from integration.builds.sample import Breakage, Sample, text

_CHECK_H = text(r"""
    #include <stdio.h>

    /* One test of a program that prints TAP. */
    #define CHECK(number, name, holds) \
      if (holds) { \
        printf("ok %d - %s\n", number, name); \
      } else { \
        failed = 1; \
        printf("not ok %d - %s\n  ---\n", number, name); \
        printf("  error: '%s'\n  location: '%s:%d:1'\n  ...\n", #holds, __FILE__, __LINE__); \
      }
""")
_PRICE_C = "int twice(int cents) {\n  return 2 * cents;\n}\n"
_TILL_C = "int till(void) {\n  return 7;\n}\n"


def _c_test(declared: str, name: str, holds: str) -> str:
    return text(f"""
        #include "check.h"

        {declared};

        int main(void) {{
          int failed = 0;
          puts("TAP version 13\\n1..1");
          CHECK(1, "{name}", {holds});
          return failed;
        }}
    """)


MAKE = Sample(
    name="make",
    system="make",
    needs=("make", "gcc"),
    tree={
        "Makefile": text("""
            test: core/price_test app/till_test
            \t./core/price_test
            \t./app/till_test

            %_test: %.c %_test.c
            \tgcc -Wall -I. -o $@ $^
        """),
        "check.h": _CHECK_H,
        "core/price.c": _PRICE_C,
        "core/price_test.c": _c_test("int twice(int cents)", "doubles", "twice(2) == 4"),
        "app/till.c": _TILL_C,
        "app/till_test.c": _c_test("int till(void)", "is named", "till() == 7"),
    },
    harmless={"core/note.c": "int note = 1;\n"},
    broken=Breakage(
        {"core/price.c": _PRICE_C.replace("2 * cents", "2 * nowhere")}, "core/price.c:2", "nowhere"
    ),
    failing=Breakage(
        {"core/price.c": _PRICE_C.replace("2 *", "3 *")}, "core/price_test.c:8", "twice(2) == 4"
    ),
    worse=Breakage({"app/till.c": _TILL_C.replace("7", "8")}, "app/till_test.c:8", "till() == 7"),
    goes_on=False,
    deadly={"core/price.c": "#include <stdlib.h>\nint twice(int cents) {\n  abort();\n}\n"},
)
