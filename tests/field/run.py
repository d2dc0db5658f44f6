"""Judge the field corpus, one case at a time, and keep what came of each.

    uv run python tests/field/run.py [--mirrors DIR] [--work DIR] [--results FILE] [NAME...]
    uv run python tests/field/run.py check [--mirrors DIR] [NAME...]   # do all edits still fit?
    uv run python tests/field/run.py table [--results FILE]            # writes the documentation

Cases that the file of results has are not judged again: delete their lines to have them judged.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from field.clones import Clone, clone
from field.corpus import Repository, load_corpus
from field.table import DOCUMENT, document
from field.trial import Result, lacks, own_commands, review

RESULTS = Path(tempfile.gettempdir(), "prjury-field.jsonl")
WORK = Path(tempfile.gettempdir(), "prjury-field")


def known(results: Path) -> list[Result]:
    """What is judged already, the last line of each case."""
    if not results.exists():
        return []
    lines = results.read_text(encoding="utf-8").splitlines()
    found = [Result(**json.loads(line)) for line in lines if line.strip()]
    return list({(one.repository, one.case): one for one in found}.values())


def _judge(repository: Repository, place: Clone, results: Path, timeout: float) -> None:
    done = {one.case for one in known(results) if one.repository == repository.name}
    if "own" not in done:
        ran = own_commands(repository, place, repository.head, timeout)
        _keep(results, Result(
            repository.name, "own", repository.head, "green" if ran.code == 0 else "red", "",
            "" if ran.code == 0 else ran.tail, "", "", "", repository.own, None, ran.seconds,
            ran.code, ran.seconds,
        ))  # fmt: skip
    for case in repository.cases:
        if case.name in done:
            continue
        result = review(case, place, timeout)
        if _wants_proof(result, merged=case.merged):
            ran = own_commands(repository, place, result.head, timeout)
            result = dataclasses.replace(result, own=ran.code, own_seconds=ran.seconds)
        _keep(results, result)


def _wants_proof(result: Result, *, merged: bool) -> bool:
    """Whether the maintainers' own commands have to say who is right."""
    if merged:
        return result.outcome not in {"green", "told"}
    return result.outcome in {"green", "told"} and result.case in {"syntax", "behaviour"}


def _keep(results: Path, result: Result) -> None:
    with results.open("a", encoding="utf-8") as file:
        file.write(result.json() + "\n")
    what = f"{result.reason} {result.headline}".strip().replace("\n", " ")[:150]
    print(f"{result.repository} {result.case}: {result.outcome}, {result.seconds} s: {what}",
          flush=True)  # fmt: skip


def _each(names: Sequence[str], work: Path, mirrors: Path | None) -> list[tuple[Repository, Clone]]:
    work.mkdir(parents=True, exist_ok=True)
    found = []
    for repository in load_corpus():
        if names and repository.name not in names:
            continue
        if missing := lacks(repository):
            print(f"{repository.name}: {missing} is not installed")
            continue
        into = work / f"{repository.name.replace('/', '+')}.git"
        try:
            found.append((repository, clone(repository, into, mirrors)))
        except subprocess.CalledProcessError:
            print(f"{repository.name}: cannot be fetched")
    return found


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--mirrors", type=Path)
    parser.add_argument("--work", type=Path, default=WORK)
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--timeout", type=float, default=900, help="seconds for a case")
    told = parser.parse_intermixed_args(arguments)
    what = told.names.pop(0) if told.names[:1] in (["table"], ["check"]) else "run"
    if what == "table":
        page = DOCUMENT.read_text("utf-8")
        DOCUMENT.write_text(document(page, load_corpus(), known(told.results)), "utf-8")
        return
    for repository, place in _each(told.names, told.work, told.mirrors):
        if what == "run":
            _judge(repository, place, told.results, told.timeout)
            continue
        for case in repository.cases:
            try:
                place.commit(case), place.base(case)
            except (ValueError, subprocess.CalledProcessError) as wrong:
                print(f"{repository.name}: {case.name}: {wrong}")


if __name__ == "__main__":
    main(sys.argv[1:])
