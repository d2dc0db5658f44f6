"""How many changes never reach a model: the newest commits of a branch, each as a pull request.

    python -P tests/benchmarks/reached.py path/to/repository.git main --count 300

Every commit that is no merge is judged on its parent by the shipped default policy without release
branches; a scripted model stands where a real one would be asked, and answers nothing. By default
nothing is built; with `--build` the base is built as well where that fails. Beside it, the same
where a rejecting tier ends the cascade.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from prjury.app.request import ReviewRequest, RunEnvironment
from prjury.app.review import run
from prjury.errors import PrJuryError
from prjury.git.open_snapshot import SnapshotRequest
from prjury.report.codec import report_to_json
from prjury.report.model import Report

_POLICY = """version: 1
backport: {branches: []}
build: {compare: on_failure, timeout: 50m}
limits: {wall: 2h}
"""
_SCRIPT = '{"prompt": "*", "error": "refused"}\n'


@dataclass(frozen=True)
class Reached:
    """What became of one change.

    Attributes:
        asked: whether a model was asked.
        why: what kept it from the models, or what the tiers before them said.
        rejected: whether a tier before the models failed it.
    """

    asked: bool
    why: str
    rejected: bool
    headline: str = ""


def outcome_of(report: Report) -> Reached:
    """What the tiers before the last one said, and whether the last one asked a model."""
    *before, last = report.verdict.attempts
    said = [each.verdict.ballots for each in before if each.verdict]
    failed = [b.judge for ballots in said for b in ballots if b.judgment.status == "fail"]
    asked = report.cost.llm_calls > 0
    if asked:
        return Reached(True, f"asked, after {', '.join(failed) or 'no'} rejection", bool(failed))
    if last.verdict is None:
        return Reached(False, f"stopped: {', '.join(failed) or last.skipped_because}", bool(failed))
    ballots = last.verdict.ballots
    words = ballots[0].judgment.label or ballots[0].judgment.reasoning
    return Reached(False, f"nothing to ask: {words[:80]}", bool(failed))


def visit(repository: Path, sha: str, options: argparse.Namespace, place: Path) -> Reached:
    """Judge one commit on its parent."""
    title = _git(repository, "show", "-s", "--format=%s", sha).strip()
    wanted = SnapshotRequest(repository, base=f"{sha}^", head=sha, facts={"title": title})
    script = f"scripted:{place / 'script.jsonl'}"
    request = ReviewRequest(wanted, config=place / "policy.yml", build=options.build, model=script)
    environ = {**os.environ, "XDG_CACHE_HOME": str(place / "cache")}
    report = run(request, RunEnvironment(environ))
    if not isinstance(report, Report):
        return Reached(False, f"nothing to review: {report.reason}", rejected=False)
    if options.reports:
        text = json.dumps(report_to_json(report), indent=1)
        (options.reports / f"{sha[:10]}.json").write_text(text)
    return replace(outcome_of(report), headline=report.headline)


def _git(repository: Path, *args: str) -> str:
    argv = ("git", f"--git-dir={repository}", *args)
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout


def main(argv: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("repository", type=Path)
    parser.add_argument("branch")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--only", nargs="+", metavar="COMMIT", help="these, and no others")
    parser.add_argument("--build", action="store_true")
    parser.add_argument("--reports", type=Path, metavar="DIRECTORY", help="keep each report there")
    options = parser.parse_args(argv)
    if options.reports:
        options.reports.mkdir(parents=True, exist_ok=True)
    walk = ("rev-list", "--no-merges", "--first-parent", f"-{options.count}", options.branch)
    commits = options.only or _git(options.repository, *walk).split()
    found: list[Reached] = []
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        (place / "policy.yml").write_text(_POLICY)
        (place / "script.jsonl").write_text(_SCRIPT)
        for sha in commits:
            try:
                found.append(visit(options.repository, sha, options, place))
            except PrJuryError as error:
                found.append(Reached(False, f"not judged: {error}", rejected=False))
            print(f"{sha[:10]} {found[-1].why} | {found[-1].headline}", file=sys.stderr, flush=True)
    _show(found, time.monotonic() - started)


def _show(found: Sequence[Reached], seconds: float) -> None:
    never = sum(not each.asked for each in found)
    strict = sum(not each.asked or each.rejected for each in found)
    print(f"{len(found)} changes in {seconds:.0f} s")
    print(f"never reach a model: {never} ({never / len(found):.1%})")
    print(f"the same where a rejection ends the cascade: {strict} ({strict / len(found):.1%})")
    for why, count in Counter(each.why for each in found).most_common():
        print(f"  {count:4} {why}")


if __name__ == "__main__":
    main(sys.argv[1:])
