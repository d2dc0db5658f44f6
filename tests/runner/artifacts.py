"""The actions that hand artifacts over, in this process: they are kept at the fake GitHub."""

from __future__ import annotations

import glob
import hashlib
import os
import zipfile
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path

from fakes.github import FakeGitHub, zipped

Done = tuple[int, dict[str, str]]


def upload(fake: FakeGitHub, given: Mapping[str, str], environ: Mapping[str, str]) -> Done:
    """As `actions/upload-artifact`, of which our workflows always replace and never warn."""
    assert (given["overwrite"], given["if-no-files-found"]) == ("true", "ignore")
    run, lines = int(environ["GITHUB_RUN_ID"]), given["path"].splitlines()
    found = [Path(one) for line in lines for one in sorted(glob.glob(line))]  # noqa: PTH207
    below = [file for place in found for file in sorted(place.rglob("*")) if file.is_file()]
    files = [*(file for file in found if file.is_file()), *below]
    if not files:
        return 0, {}
    plain = given.get("archive") == "false"
    name = files[0].name if plain else given["name"]
    root = found[0] if found[0].is_dir() else os.path.commonpath([one.parent for one in files])
    content = {str(file.relative_to(root)): file.read_bytes() for file in files}
    for old in [one for one in fake.artifacts.values() if one["name"] == name]:
        if old["workflow_run"]["id"] == run:
            del fake.artifacts[old["id"]]
    kept = fake.add_artifact(name, content[name] if plain else zipped(content), run=run)
    digest = hashlib.sha256(fake.archives[kept["id"]]).hexdigest()
    return 0, {"artifact-id": str(kept["id"]), "artifact-digest": digest}


def download(fake: FakeGitHub, given: Mapping[str, str], _environ: Mapping[str, str]) -> Done:
    """As `actions/download-artifact`."""
    artifact, place = fake.artifacts[int(given["artifact-ids"])], Path(given["path"])
    content = fake.archives[artifact["id"]]
    place.mkdir(parents=True, exist_ok=True)
    if zipfile.is_zipfile(BytesIO(content)):
        with zipfile.ZipFile(BytesIO(content)) as archive:
            archive.extractall(place)
    else:
        (place / artifact["name"]).write_bytes(content)
    return 0, {}
