"""What the operator has downloaded is there for a build, without a network."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from integration.builds.court import Court, write
from integration.builds.node import NPM, NPM_REGISTRY
from integration.builds.sample import Tree
from prjury.jury.judgment import Status

SHOP: Tree = {
    "package.json": '{"name": "shop", "dependencies": {"ms": "2.1.3"}}\n',
    "price.js": "// a\n",
}


@pytest.mark.slow
@pytest.mark.nightly
def test_pnpms_store(tmp_path: Path) -> None:
    court = Court.at(tmp_path)
    court.needs(replace(NPM, registry=NPM_REGISTRY))
    if not court.toolbox.has("pnpm"):
        pytest.skip("not installed: pnpm")
    write(tmp_path / "laptop", SHOP)
    kept = {name: value for name, value in court.toolbox.environ.items() if name[:4] != "XDG_"}
    environ = {**kept, "HOME": str(tmp_path / "laptop" / "home")}
    subprocess.run(
        ["pnpm", "install"], cwd=tmp_path / "laptop", env=environ, check=True, capture_output=True
    )
    lock = (tmp_path / "laptop" / "pnpm-lock.yaml").read_text()
    tree: Tree = {**SHOP, "pnpm-lock.yaml": lock}
    command = "pnpm install --offline --frozen-lockfile && node -e 'require(\"ms\")'"

    court.environ["HOME"] = str(tmp_path / "nowhere")
    judged = court.judge(tree, {"price.js": "// b\n"}, command=command)
    assert judged.build.status is not Status.PASS

    court.environ["HOME"] = environ["HOME"]
    judged = court.judge(tree, {"price.js": "// b\n"}, command=command)
    assert judged.build.status is Status.PASS, judged.build.reasoning
    assert any((tmp_path / "laptop" / "home" / ".local/share/pnpm/store").iterdir())
