"""Brings an artifact's files out of the directory that ARTIFACTS names."""

from __future__ import annotations

import json
import os
import sys
import zipfile
from pathlib import Path


def main() -> int:
    store, place = Path(os.environ["ARTIFACTS"]), Path(os.environ["INTO"])
    number = os.environ["NUMBER"]
    if not number.isdecimal() or not (store / f"{number}.json").is_file():
        sys.stdout.write(f"No artifacts found for the provided ID: {number!r}\n")
        return 1
    told = json.loads((store / f"{number}.json").read_text())
    gone = store / f"{number}.gone"
    if told["name"] == os.environ.get("LOST") and not gone.exists():
        gone.touch()  # it is there again for the next one
        sys.stdout.write(f"Unable to download artifact {number}: the service is unavailable\n")
        return 1
    content = store / f"{number}.content"
    place.mkdir(parents=True, exist_ok=True)
    if told["plain"]:
        (place / told["name"]).write_bytes(content.read_bytes())
    else:
        with zipfile.ZipFile(content) as archive:
            archive.extractall(place)
    return 0


if __name__ == "__main__":
    sys.exit(main())
