"""Fixture projects for npm and pnpm: three packages in a workspace, tested by node itself."""

from __future__ import annotations

import json

from integration.builds.sample import Breakage, Sample, Tree, text

NPM_REGISTRY = "https://registry.npmjs.org/pnpm/latest"

_PRICE = text("""
    function twice(cents) {
      return 2 * cents;
    }

    module.exports = { twice };
""")
_PRICE_TEST = text("""
    const test = require("node:test");
    const assert = require("node:assert");
    const { twice } = require("./index.js");

    test("doubles", () => {
      assert.strictEqual(twice(2), 4);
    });
""")
_TILL = text("""
    const { twice } = require("core");

    exports.name = () => "till" + twice(0);
""")
_TILL_TEST = text("""
    const test = require("node:test");
    const assert = require("node:assert");
    const { name } = require("./index.js");

    test("is named", () => {
      assert.strictEqual(name(), "till0");
    });
""")
_CLOCK_TEST = text("""
    const test = require("node:test");
    const assert = require("node:assert");
    const { ticks } = require("./index.js");

    test("ticks", () => {
      assert.ok(ticks());
    });
""")
_LUCK_TEST = text("""
    const test = require("node:test");
    const assert = require("node:assert");
    const fs = require("node:fs");

    test("works the second time", () => {
      const known = fs.existsSync("luck");
      fs.writeFileSync("luck", "");
      assert.ok(known, "first time");
    });
""")
_HALT_TEST = text("""
    const test = require("node:test");

    test("ends", () => {
      process.kill(process.pid, "SIGKILL");
    });
""")


def _package(name: str, **more: object) -> str:
    content = {"name": name, "version": "1.0.0", "main": "index.js", **more}
    return json.dumps({**content, "scripts": {"test": "node --test"}}, indent=2) + "\n"


_SOURCES: Tree = {
    "packages/core/package.json": _package("core"),
    "packages/core/index.js": _PRICE,
    "packages/core/price.test.js": _PRICE_TEST,
    "packages/app/index.js": _TILL,
    "packages/app/till.test.js": _TILL_TEST,
    "packages/other/package.json": _package("other"),
    "packages/other/index.js": "exports.ticks = () => true;\n",
    "packages/other/clock.test.js": _CLOCK_TEST,
}
_HARMLESS: Tree = {"packages/core/note.js": "exports.note = 1;\n"}
_BROKEN = Breakage(
    {"packages/core/index.js": _PRICE.replace("2 * cents;", "2 * (cents;")},
    "packages/core/index.js:2",
    "SyntaxError: ",
)
_FAILING = Breakage(
    {"packages/core/index.js": _PRICE.replace("2 *", "3 *")},
    "packages/core/price.test.js:5",
    "Expected values to be strictly equal",
)
_WORSE = Breakage(
    {"packages/app/index.js": _TILL.replace('"till"', '"drawer"')},
    "packages/app/till.test.js:5",
    "Expected values to be strictly equal",
)
_ASIDE: Tree = {"packages/other/index.js": "exports.ticks = () => false;\n"}
_LUCK: Tree = {"packages/core/luck.test.js": _LUCK_TEST}
_DEADLY: Tree = {"packages/core/halt.test.js": _HALT_TEST}


def _locked() -> str:
    """What npm itself writes for packages that need nothing from elsewhere."""
    names = ("app", "core", "other")
    about = {
        f"packages/{name}": {
            "version": "1.0.0",
            **({"dependencies": {"core": "1.0.0"}} if name == "app" else {}),
        }
        for name in names
    }
    links = {
        f"node_modules/{name}": {"resolved": f"packages/{name}", "link": True} for name in names
    }
    root = {"": {"name": "shop", "workspaces": ["packages/*"]}}
    content = {"name": "shop", "lockfileVersion": 3, "requires": True}
    return json.dumps({**content, "packages": {**root, **links, **about}}, indent=2) + "\n"


NPM = Sample(
    name="npm",
    system="npm",
    needs=("npm", "node"),
    tree={
        "package.json": json.dumps(
            {
                "name": "shop",
                "private": True,
                "workspaces": ["packages/*"],
                "scripts": {"test": "npm run test --workspaces"},
            },
            indent=2,
        )
        + "\n",
        "package-lock.json": _locked(),
        "packages/app/package.json": _package("app", dependencies={"core": "1.0.0"}),
        **_SOURCES,
    },
    harmless=_HARMLESS,
    broken=_BROKEN,
    failing=_FAILING,
    worse=_WORSE,
    luck=_LUCK,
    deadly=_DEADLY,
)

PNPM = Sample(
    name="pnpm",
    system="pnpm",
    needs=("pnpm", "node"),
    registry=NPM_REGISTRY,
    tree={
        "package.json": json.dumps(
            {"name": "shop", "private": True, "scripts": {"test": "pnpm -r run test"}}, indent=2
        )
        + "\n",
        "pnpm-workspace.yaml": "packages:\n  - packages/*\n",
        "pnpm-lock.yaml": text("""
            lockfileVersion: '9.0'

            settings:
              autoInstallPeers: true
              excludeLinksFromLockfile: false

            importers:

              .: {}

              packages/app:
                dependencies:
                  core:
                    specifier: workspace:*
                    version: link:../core

              packages/core: {}

              packages/other: {}
        """),
        "packages/app/package.json": _package("app", dependencies={"core": "workspace:*"}),
        **_SOURCES,
    },
    harmless=_HARMLESS,
    broken=_BROKEN,
    failing=_FAILING,
    worse=_WORSE,
    luck=_LUCK,
    deadly=_DEADLY,
)
