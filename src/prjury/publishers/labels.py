"""Labels of a pull request that show the verdict and the branches it can be backported to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import quote

from prjury.errors import PublishError
from prjury.github.repo_client import RepoClient, ignore
from prjury.jury.judgment import Status
from prjury.report.model import Report
from prjury.report.wording import pluralize

BACKPORT = "backport"

_SUITABLE = frozenset({"suitable", "suitable_with_changes"})
_BRANCH = "{branch}"
#: Characters that GitHub takes.
_LONGEST = 50
_NEEDS = "pull-requests: write"


@dataclass
class Labels:
    """Gives a pull request the labels of its verdict, and takes off others of the mapping."""

    room: RepoClient
    number: int
    #: Labels by status; under ``backport`` a pattern with ``{branch}``.
    mapping: Mapping[str, str]
    name: str = "labels"
    notes: tuple[str, ...] = field(default=(), init=False)

    def publish(self, report: Report) -> str | None:
        desired, obsolete = _split_desired_and_obsolete_labels(report, self.mapping)
        if not (desired or obsolete):
            return None
        from github.Label import Label  # noqa: PLC0415 - heavy, hence late

        pull, path = f"{self.room.repo}#{self.number}", f"/issues/{self.number}/labels"
        needs = "pull-requests: read"
        labels = self.room.list_objects(Label, f"list the labels of {pull}", path, needs=needs)
        present = [label.name for label in labels]
        names = {name.casefold() for name in present}
        missing = [name for key, name in desired.items() if key not in names]
        usable = [n for n in missing if len(n) <= _LONGEST and n.isprintable() and "," not in n]
        if usable:
            add_labels(self.room, self.number, usable)
        for name in present:
            if name.casefold() in obsolete:
                self._remove_label(name)
        if left_out := len(missing) - len(usable):
            self.notes = (f"Not set: {pluralize(left_out, 'label')} that GitHub does not accept.",)
        return None

    def _remove_label(self, name: str) -> None:
        path = f"/issues/{self.number}/labels/{quote(name, safe='')}"
        task = f"take a label off {self.room.repo}#{self.number}"
        try:
            self.room.send(task, "DELETE", path, None, ignore, needs=_NEEDS)
        except PublishError as error:
            if error.reason != "not_found":
                raise


def add_labels(room: RepoClient, number: int, names: Sequence[str]) -> None:
    """Add labels; those that the repository does not have take ``issues: write``."""
    task, path = f"label {room.repo}#{number}", f"/issues/{number}/labels"
    room.send(task, "POST", path, {"labels": list(names)}, ignore, needs=_NEEDS)


def _split_desired_and_obsolete_labels(
    report: Report, mapping: Mapping[str, str]
) -> tuple[dict[str, str], set[str]]:
    labels = [(mapping.get(status), status is report.verdict.status) for status in Status]
    if pattern := mapping.get(BACKPORT):
        labels += [
            (pattern.replace(_BRANCH, one.branch), one.verdict in _SUITABLE)
            for one in report.backports
        ]
    desired: dict[str, str] = {}
    for name, is_wanted in labels:
        if name and is_wanted:
            desired.setdefault(name.casefold(), name)
    return desired, {name.casefold() for name, _ in labels if name} - desired.keys()
