"""Fixture projects for cargo, go and make, and one that holds two build systems."""

from __future__ import annotations

from integration.builds.sample import Breakage, Sample, Tree, text

_CORE_RS = text("""
    pub fn twice(cents: i64) -> i64 {
        2 * cents
    }

    #[cfg(test)]
    mod tests {
        #[test]
        fn doubles() {
            assert_eq!(super::twice(2), 4);
        }
    }
""")
_APP_RS = text("""
    pub fn name() -> String {
        format!("till{}", core_prices::twice(0))
    }

    #[cfg(test)]
    mod tests {
        #[test]
        fn is_named() {
            assert_eq!(super::name(), "till0");
        }
    }
""")
_OTHER_RS = text("""
    pub fn ticks() -> bool {
        true
    }

    #[cfg(test)]
    mod tests {
        #[test]
        fn ticks() {
            assert!(super::ticks());
        }
    }
""")


def _crate(name: str, more: str = "") -> str:
    return f'[package]\nname = "{name}"\nversion = "1.0.0"\nedition = "2021"\n{more}'


CARGO = Sample(
    name="cargo",
    system="cargo",
    needs=("cargo",),
    tree={
        "Cargo.toml": '[workspace]\nmembers = ["core", "app", "other"]\nresolver = "2"\n',
        "Cargo.lock": text("""
            version = 3

            [[package]]
            name = "app"
            version = "1.0.0"
            dependencies = [
             "core_prices",
            ]

            [[package]]
            name = "core_prices"
            version = "1.0.0"

            [[package]]
            name = "other"
            version = "1.0.0"
        """),
        "core/Cargo.toml": _crate("core_prices"),
        "core/src/lib.rs": _CORE_RS,
        "app/Cargo.toml": _crate("app", '\n[dependencies]\ncore_prices = { path = "../core" }\n'),
        "app/src/lib.rs": _APP_RS,
        "other/Cargo.toml": _crate("other"),
        "other/src/lib.rs": _OTHER_RS,
    },
    harmless={"core/src/note.rs": "// a note\n"},
    broken=Breakage(
        {"core/src/lib.rs": _CORE_RS.replace("2 * cents", "2 * nowhere")},
        "core/src/lib.rs:2",
        "cannot find value `nowhere` in this scope",
    ),
    failing=Breakage(
        {"core/src/lib.rs": _CORE_RS.replace("2 * cents", "3 * cents")},
        "core/src/lib.rs:9",
        "assertion `left == right` failed",
    ),
    worse=Breakage(
        {"app/src/lib.rs": _APP_RS.replace('"till{}"', '"drawer{}"')},
        "app/src/lib.rs:9",
        "assertion `left == right` failed",
    ),
    aside={"other/src/lib.rs": _OTHER_RS.replace("true", "false")},
    luck={
        "core/tests/luck.rs": text("""
            #[test]
            fn works_the_second_time() {
                let known = std::path::Path::new("luck").exists();
                std::fs::write("luck", "").unwrap();
                assert!(known, "first time");
            }
        """)
    },
    deadly={"core/tests/halt.rs": "#[test]\nfn ends() {\n    std::process::abort();\n}\n"},
    modules=("app", "core_prices"),
)

_PRICE_GO = text("""
    package core

    func Twice(cents int) int {
    \treturn 2 * cents
    }
""")
_PRICE_GO_TEST = text("""
    package core

    import "testing"

    func TestTwice(t *testing.T) {
    \tif got := Twice(2); got != 4 {
    \t\tt.Errorf("Twice(2) is %d, not 4", got)
    \t}
    }
""")
_TILL_GO = text("""
    package app

    import (
    \t"fmt"

    \t"example.com/shop/core"
    )

    func Name() string {
    \treturn fmt.Sprintf("till%d", core.Twice(0))
    }
""")
_TILL_GO_TEST = text("""
    package app

    import "testing"

    func TestName(t *testing.T) {
    \tif got := Name(); got != "till0" {
    \t\tt.Errorf("the name is %s", got)
    \t}
    }
""")
_CLOCK_GO_TEST = text("""
    package other

    import "testing"

    func TestTicks(t *testing.T) {
    \tif !Ticks() {
    \t\tt.Error("it stands still")
    \t}
    }
""")
_GO_TREE: Tree = {
    "go.mod": "module example.com/shop\n\ngo 1.21\n",
    "core/price.go": _PRICE_GO,
    "core/price_test.go": _PRICE_GO_TEST,
    "app/till.go": _TILL_GO,
    "app/till_test.go": _TILL_GO_TEST,
    "other/clock.go": "package other\n\nfunc Ticks() bool { return true }\n",
    "other/clock_test.go": _CLOCK_GO_TEST,
}
_GO_BROKEN = Breakage(
    {"core/price.go": _PRICE_GO.replace("2 * cents", "2 * nowhere")},
    "core/price.go:4",
    "undefined: nowhere",
)
_GO_FAILING = Breakage(
    {"core/price.go": _PRICE_GO.replace("2 *", "3 *")},
    "core/price_test.go:7",
    "Twice(2) is 6, not 4",
)

GO = Sample(
    name="go",
    system="go",
    needs=("go",),
    tree=_GO_TREE,
    harmless={"core/note.go": "package core\n\nconst Note = 1\n"},
    broken=_GO_BROKEN,
    failing=_GO_FAILING,
    worse=Breakage(
        {"app/till.go": _TILL_GO.replace('"till%d"', '"drawer%d"')},
        "app/till_test.go:7",
        "the name is drawer0",
    ),
    aside={"other/clock.go": "package other\n\nfunc Ticks() bool { return false }\n"},
    luck={
        "core/luck_test.go": text("""
            package core

            import (
            \t"os"
            \t"testing"
            )

            func TestLuck(t *testing.T) {
            \t_, err := os.Stat("luck")
            \tos.WriteFile("luck", nil, 0o644)
            \tif err != nil {
            \t\tt.Fatal("first time")
            \t}
            }
        """)
    },
    deadly={
        "core/halt_test.go": text("""
            package core

            import (
            \t"os"
            \t"testing"
            )

            func TestEnds(t *testing.T) {
            \tos.Exit(3)
            }
        """)
    },
    modules=("./app", "./core"),
)

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
    deadly={"core/price.c": "#include <stdlib.h>\nint twice(int cents) {\n  abort();\n}\n"},
)


def _below(directory: str, tree: Tree) -> Tree:
    return {f"{directory}/{path}": content for path, content in tree.items()}


def _moved(directory: str, breakage: Breakage) -> Breakage:
    place = f"{directory}/{breakage.place}"
    return Breakage(_below(directory, breakage.files), place, breakage.message)


_PAGE_TEST = text("""
    const test = require("node:test");
    const assert = require("node:assert");
    const { title } = require("./page.js");

    test("has a title", () => {
      assert.strictEqual(title, "Shop");
    });
""")

TWO = Sample(
    name="two",
    system="go",
    needs=("go", "npm", "node"),
    tree={
        **_below("service", _GO_TREE),
        "web/package.json": '{"name": "web", "scripts": {"test": "node --test"}}\n',
        "web/page.js": 'exports.title = "Shop";\n',
        "web/page.test.js": _PAGE_TEST,
    },
    harmless={"service/core/note.go": "package core\n\nconst Note = 1\n", "web/note.js": "// a\n"},
    broken=_moved("service", _GO_BROKEN),
    failing=_moved("service", _GO_FAILING),
    modules=("./app", "./core"),
    worse=Breakage(
        {"web/page.js": 'exports.title = "Store";\n'}, "web/page.test.js:5", "strictly equal"
    ),
)
