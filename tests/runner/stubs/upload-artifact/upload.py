"""Keeps files as an artifact in the directory that ARTIFACTS names."""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
import zipfile
from pathlib import Path

_FIRST = 5_001


def main() -> int:
    sources = [Path(line.strip()) for line in os.environ["FROM"].splitlines() if line.strip()]
    store = Path(os.environ["ARTIFACTS"])
    sources = [file for source in sources for file in source.parent.glob(source.name)]
    every = (file for source in sources for file in [source, *source.rglob("*")])
    files = sorted(file for file in every if file.is_file())
    if not files:
        sys.stdout.write(f"No files were found with the provided path: {sources}\n")
        return int(os.environ["WITHOUT"] == "error")
    plain = os.environ["ARCHIVE"] == "false"
    name = files[0].name if plain else os.environ["NAME"]
    if refusal := _refusal(store, name):
        sys.stdout.write(f"::error::Failed to CreateArtifact: {refusal}\n")
        return 1
    store.mkdir(parents=True, exist_ok=True)
    number = max([_FIRST - 1, *(int(file.stem) for file in store.glob("*.json"))]) + 1
    content = store / f"{number}.content"
    if plain:
        (single,) = files
        content.write_bytes(single.read_bytes())
    else:
        _zip(content, sources, files)
    digest = hashlib.sha256(content.read_bytes()).hexdigest()
    if name == os.environ.get("CORRUPTED"):  # whoever keeps it is not to be trusted
        content.write_bytes(content.read_bytes().replace(b"0", b"1"))
    told = {"id": number, "name": name, "digest": f"sha256:{digest}", "plain": plain, **_run()}
    (store / f"{number}.json").write_text(json.dumps(told))
    with Path(os.environ["GITHUB_OUTPUT"]).open("a") as outputs:
        outputs.write(f"artifact-id={number}\nartifact-digest={digest}\n")
    return 0


def _run() -> dict[str, str]:
    return {"run": os.environ.get("GITHUB_RUN_ID", "")}


def _refusal(store: Path, name: str) -> str:
    """What the service says to it; an artifact that is replaced is removed."""
    if re.fullmatch(os.environ.get("NO_QUOTA") or "(?!)", name):
        return "Artifact storage quota has been hit. Unable to upload any new artifacts."
    for file in store.glob("*.json"):
        told = json.loads(file.read_text())
        if told["name"] != name or told["run"] != _run()["run"]:
            continue
        if os.environ["OVERWRITE"] != "true":
            return "(409) Conflict: an artifact with this name already exists on the workflow run"
        file.unlink()
        file.with_suffix(".content").unlink()
    return ""


def _zip(target: Path, sources: list[Path], files: list[Path]) -> None:
    """Names are relative to the directory that all of the files have in common."""
    alone = len(sources) == 1 and sources[0].is_dir()
    root = sources[0] if alone else Path(os.path.commonpath([file.parent for file in files]))
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in files:
            archive.write(file, file.relative_to(root))


if __name__ == "__main__":
    sys.exit(main())
