"""A fixture project with two build systems: go in one directory, npm in another."""

from __future__ import annotations

from integration.builds import golang
from integration.builds.sample import Breakage, Sample, Tree, text


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
        **_below("service", golang.TREE),
        "web/package.json": '{"name": "web", "scripts": {"test": "node --test"}}\n',
        "web/page.js": 'exports.title = "Shop";\n',
        "web/page.test.js": _PAGE_TEST,
    },
    harmless={"service/core/note.go": "package core\n\nconst Note = 1\n", "web/note.js": "// a\n"},
    broken=_moved("service", golang.BROKEN),
    failing=_moved("service", golang.FAILING),
    worse=Breakage(
        {"web/page.js": 'exports.title = "Store";\n'}, "web/page.test.js:5", "strictly equal"
    ),
)
