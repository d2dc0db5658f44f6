"""What would make a failed check pass, in one imperative sentence."""

from __future__ import annotations

from prjury.jury.voting import Ballot
from prjury.report.facts import command_of
from prjury.report.findings import Finding
from prjury.snapshot.model import PullRequest, printable


def remedy(pull: PullRequest, finding: Finding) -> str:
    """The check's own fix where it has one, else what its judge would have to see."""
    check, ballot = finding.check, finding.voice.ballot
    if check.fix:
        return check.fix
    if ballot.judge == "merge":
        return _resolve(pull)
    if check.name == "tests-vanished":
        return "Let these tests run again, or have a human confirm that they are not needed."
    if ballot.judgment.metadata.get("reason") == "base_broken":
        return "Fix it on the base first; it fails there as well."
    return _satisfy(check.name, ballot)


def _resolve(pull: PullRequest) -> str:
    base = printable(pull.base.ref)
    return f"Merge `{base}` into the branch (or rebase onto it) and resolve the conflict."


def _satisfy(name: str, ballot: Ballot) -> str:
    if command := command_of(ballot.judgment.metadata):
        return f"Make `{command}` succeed."
    if name == ballot.judge:
        return f"Change the code so that `{name}` passes."
    return f"Change the code so that `{ballot.judge}` no longer reports `{name}`."
