"""Tools that a build calls in its turn: a compiler behind a script, plain assertions of C."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from integration.builds.clang import MAKE
from integration.builds.court import Court
from integration.builds.node import NPM, NPM_REGISTRY
from integration.builds.sample import Tree, text
from prjury.jury.judgment import Status

TYPESCRIPT: Tree = {
    "package.json": text("""
        {
          "name": "shop",
          "scripts": { "build": "tsc --noEmit", "test": "node --test" },
          "devDependencies": { "typescript": "5.9.3" }
        }
    """),
    "tsconfig.json": '{ "compilerOptions": { "strict": true, "types": [] }, "include": ["src"] }\n',
    "src/price.ts": "export function twice(cents: number): number {\n  return 2 * cents;\n}\n",
    "price.test.js": 'require("node:test")("nothing", () => {});\n',
}


@pytest.mark.slow
@pytest.mark.nightly
def test_the_typescript_compiler_behind_a_script(tmp_path: Path) -> None:
    court = Court.at(tmp_path)
    court.needs(replace(NPM, registry=NPM_REGISTRY))
    wrong = str(TYPESCRIPT["src/price.ts"]).replace("2 * cents", '"2" + cents')
    judged = court.judge(TYPESCRIPT, {"src/price.ts": wrong})

    assert judged.build.status is Status.FAIL, judged.build.reasoning
    first = judged.causes[0]
    assert (first.name, str(first.location)) == ("compiles", "src/price.ts:2")
    assert first.message == "TS2322: Type 'string' is not assignable to type 'number'."
    assert judged.states == {"new"}


ASSERTING: Tree = {
    "Makefile": "test:\n\tgcc -o price_test price.c price_test.c\n\t./price_test\n",
    "price.c": "int twice(int cents) {\n  return 2 * cents;\n}\n",
    "price_test.c": text("""
        #include <assert.h>

        int twice(int cents);

        int main(void) {
          assert(twice(2) == 4);
          return 0;
        }
    """),
}
WRONG: Tree = {"price.c": "int twice(int cents) {\n  return 3 * cents;\n}\n"}


def test_an_assertion_that_ends_its_program(tmp_path: Path) -> None:
    court = Court.at(tmp_path)
    court.needs(MAKE)
    judged = court.judge(ASSERTING, WRONG)

    assert judged.build.status is Status.FAIL, judged.build.reasoning
    first = judged.causes[0]
    assert (first.name, str(first.location)) == ("build-error", "price_test.c:6")
    assert "twice(2) == 4" in first.message


def test_a_program_that_ends_on_the_base_as_well_names_no_tests(tmp_path: Path) -> None:
    court = Court.at(tmp_path)
    court.needs(MAKE)
    judged = court.judge({**ASSERTING, **WRONG}, {"note.txt": "a note\n"})

    assert (judged.build.status, judged.build.metadata["reason"]) == (
        Status.ERROR,
        "environment",
    )
