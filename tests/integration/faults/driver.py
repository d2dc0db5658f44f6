"""Jobs that publish, each a process of its own that can be killed at any moment.

``python driver.py JUDGED``: the directory holds what was judged, by name. A line of JSON on the
input starts a job; the answer is its number as a process, and, when it has ended, how.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any, NoReturn

from fakes.github import running
from integration.faults.stage import Handed, Stage, furnish, handed
from prjury.action.__main__ import heed_endings


def read(directory: Path) -> Handed:
    """What `write` has left there."""
    names = ("status", "head", "evidence", "verdict")
    status, head, evidence, verdict = ((directory / name).read_bytes() for name in names)
    return handed(status.decode(), head.decode(), evidence, verdict)


def write(directory: Path, name: str, case: Handed) -> None:
    place = directory / name
    place.mkdir(parents=True)
    contents = {
        "status": case.status.encode(),
        "head": case.head.encode(),
        "evidence": case.evidence,
        "verdict": case.verdict,
    }
    for part, content in contents.items():
        (place / part).write_bytes(content)


def serve(directory: Path) -> None:
    """Starts jobs, one after the other, in children that have everything imported."""
    cases = {place.name: read(place) for place in sorted(directory.iterdir())}
    rehearse(directory.parent / "rehearsal", cases)
    for line in sys.stdin:
        child = os.fork()
        if not child:
            work(cases, **json.loads(line))
        tell(child)
        _, ended = os.waitpid(child, 0)
        tell(os.waitstatus_to_exitcode(ended))


def rehearse(directory: Path, cases: dict[str, Handed]) -> None:
    """Imports and renders everything, so that a job's time is that of its requests."""
    for case in cases.values():
        with running() as fake:
            furnish(fake, case.head)
            for attempt in (1, 2):
                Stage(directory, fake.url, "publish").run(case, attempt=attempt)


def work(
    cases: dict[str, Handed], directory: str, url: str, mode: str, case: str, **run: Any
) -> NoReturn:
    heed_endings()
    code = Stage(Path(directory), url, mode).run(cases[case], **run)
    os._exit(code)


def tell(number: int) -> None:
    sys.stdout.write(f"{number}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
