"""A fixture project for go: three packages in a module."""

from __future__ import annotations

from integration.builds.sample import Breakage, Sample, Tree, text

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
TREE: Tree = {
    "go.mod": "module example.com/shop\n\ngo 1.21\n",
    "core/price.go": _PRICE_GO,
    "core/price_test.go": _PRICE_GO_TEST,
    "app/till.go": _TILL_GO,
    "app/till_test.go": _TILL_GO_TEST,
    "other/clock.go": "package other\n\nfunc Ticks() bool { return true }\n",
    "other/clock_test.go": _CLOCK_GO_TEST,
}
BROKEN = Breakage(
    {"core/price.go": _PRICE_GO.replace("2 * cents", "2 * nowhere")},
    "core/price.go:4",
    "undefined: nowhere",
)
FAILING = Breakage(
    {"core/price.go": _PRICE_GO.replace("2 *", "3 *")},
    "core/price_test.go:7",
    "Twice(2) is 6, not 4",
)

GO = Sample(
    name="go",
    system="go",
    needs=("go",),
    tree=TREE,
    harmless={"core/note.go": "package core\n\nconst Note = 1\n"},
    broken=BROKEN,
    failing=FAILING,
    worse=Breakage(
        {"app/till.go": _TILL_GO.replace('"till%d"', '"drawer%d"')},
        "app/till_test.go:7",
        "the name is drawer0",
    ),
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
)
