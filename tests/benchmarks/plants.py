"""Bugs that real commits fixed, brought back: does the question hold what it takes to see each?

Half of them take back the fix of one file alone, so that its callers in other files, or the
definition of what it calls, are what is wrong with it.

    python -P tests/benchmarks/plants.py --mirror DIRECTORY

The directory holds clones of the four repositories under `OWNER+NAME/repo`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from msgspec import Struct, structs

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from fakes.llm import always, material, ports, reply
from prjury.app import steps
from prjury.app.request import ReviewRequest
from prjury.git.open_snapshot import SnapshotRequest
from prjury.judges.quality import kinds
from prjury.policy.tiers import QualityOptions

KOMBU, PGX, AXIOS, GSON = "celery+kombu", "jackc+pgx", "axios+axios", "google+gson"
BIND = "gson/src/main/java/com/google/gson/internal/bind"


class Plant(Struct, frozen=True):
    """A fix, the files in which it is taken back, and words that the question has to hold."""

    repo: str
    fix: str
    words: str
    files: tuple[str, ...]
    is_outside: bool = False


CACHES = tuple(
    f"internal/stmtcache/{name}.go" for name in ("lru_cache", "stmtcache", "unlimited_cache")
)
PLANTS = (
    Plant(KOMBU, "5d95b645", "ssl_check_hostname", ("kombu/utils/url.py",)),
    Plant(PGX, "2a9ca59a", "ContainsAny", ("pgtype/numeric.go",)),
    Plant(PGX, "b966e633", "accum.Sign() != 0", ("pgtype/numeric.go",)),
    Plant(AXIOS, "5e7ad38f", "replace(", ("lib/helpers/combineURLs.js",)),
    Plant(GSON, "f4d371d29", "duplicate key", (f"{BIND}/MapTypeAdapterFactory.java",)),
    Plant(GSON, "ba96d53ba", "pathIndices", (f"{BIND}/JsonTreeReader.java",)),
    Plant(KOMBU, "ccc9e01f", "redis.py:913: accepts", ("kombu/utils/functional.py",), True),
    Plant(KOMBU, "84fc45b9", "SQS.py:143: self._poll", ("kombu/transport/virtual/base.py",), True),
    Plant(PGX, "832b4f97", "statementCache.GetInvalidated()", CACHES, True),
    Plant(AXIOS, "73e3bdb8", "utils.isFormData(data) &&", ("lib/utils.js",), True),
    Plant(AXIOS, "16aa2ce7", "utils.stripBOM(", ("lib/utils.js",), True),
    Plant(GSON, "46b97bf15", "type, null, nullSafe)", (f"{BIND}/TreeTypeAdapter.java",), True),
    Plant(KOMBU, "84fc45b9", "def _poll(self, cycle, callback,", ("kombu/transport/SQS.py",), True),
    Plant(
        GSON,
        "46b97bf15",
        "public TreeTypeAdapter(JsonSerializer<T>",
        (f"{BIND}/JsonAdapterAnnotationTypeAdapterFactory.java",),
        True,
    ),
)


def bring_back(plant: Plant, mirror: Path, place: Path) -> None:
    """Make a repository whose branch `plant` takes the fix back."""

    def git(*words: str) -> None:
        name = ("-c", "user.name=plant", "-c", "user.email=plant@example.com")
        subprocess.run(["git", "-C", str(place), *name, *words], check=True, capture_output=True)

    source = str(mirror / plant.repo / "repo")
    subprocess.run(["git", "clone", "-qsn", source, str(place)], check=True, capture_output=True)
    git("checkout", "-qB", "main", plant.fix)
    git("checkout", "-qB", "plant")
    git("checkout", "-q", f"{plant.fix}^", "--", *plant.files)
    git("commit", "-qm", "Change")


def measure(plant: Plant, place: Path) -> tuple[bool, int]:
    """Return whether the words are there, and the characters of the facts."""
    target = SnapshotRequest(repo=place, base="main", head="plant")
    with steps.open_change(ReviewRequest(target=target)) as change:
        model = always(reply())
        doors = structs.replace(ports(model), repository=change.snapshot.store)
        context = change.add_call_site_and_issue_lookups(change.start_clock(), {})
        kinds.make_quality(QualityOptions(), doors).judge(context)
    questions = [material(prompt) for prompt in model.asked]
    facts = [fact for question in questions for fact in question.get("facts", [])]
    shown = json.dumps([question["files"] for question in questions], ensure_ascii=False)
    text = "\n".join(facts) if plant.is_outside else shown
    return plant.words in text.replace('\\"', '"'), sum(map(len, facts))


def main() -> int:
    """Print a line for each plant."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--mirror", type=Path, required=True)
    mirror = parser.parse_args().mirror
    seen = []
    for plant in PLANTS:
        with tempfile.TemporaryDirectory() as directory:
            place = Path(directory) / "clone"
            bring_back(plant, mirror, place)
            there, size = measure(plant, place)
        seen.append(there)
        where = "outside" if plant.is_outside else "inside"
        print(f"{plant.repo} {plant.fix} {where}: {'there' if there else 'MISSING'}, {size} facts")
    print(f"{sum(seen)} of {len(seen)}")
    return 0 if all(seen) else 1


if __name__ == "__main__":
    raise SystemExit(main())
