"""Labels of a pull request that show the verdict and the branches it can be backported to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from prjury.jury.judgment import Status
from prjury.report.model import Report
from prjury.report.wording import counted

BACKPORT = "backport"

_SUITABLE = frozenset({"suitable", "suitable_with_changes"})
_BRANCH = "{branch}"
#: Characters that GitHub takes.
_LONGEST = 50


class LabelsPort(Protocol):
    """The labels of one pull request; every method raises PublishError."""

    def names(self) -> Sequence[str]:
        """The labels that are there."""

    def add(self, names: Sequence[str]) -> None:
        """Adds labels."""

    def remove(self, name: str) -> None:
        """Takes a label off; one that is not there is no failure."""


@dataclass
class Labels:
    """Gives a pull request the labels of its verdict and takes off those of another one.

    Labels that the mapping cannot produce are never touched.

    Attributes:
        mapping: labels by status; under ``backport`` a pattern with ``{branch}``. None for what
            the policy of the report says.
        notes: after `publish`, which labels could not be given.
    """

    labels: LabelsPort
    mapping: Mapping[str, str] | None = None
    name: str = "labels"
    notes: tuple[str, ...] = field(default=(), init=False)

    def publish(self, report: Report) -> str | None:
        """Adds and removes what differs, and asks for nothing where there is no mapping."""
        mapping = labels_of(report) if self.mapping is None else self.mapping
        wanted, ours = _wanted(report, mapping), _producible(report, mapping)
        if not ours:
            return None
        there = list(self.labels.names())
        known = {name.casefold() for name in there}
        missing = [name for name in wanted if name.casefold() not in known]
        usable = [name for name in missing if _is_label(name)]
        if usable:
            self.labels.add(usable)
        keep = {name.casefold() for name in wanted}
        for name in there:
            if name.casefold() in ours and name.casefold() not in keep:
                self.labels.remove(name)
        if left_out := len(missing) - len(usable):
            words = f"Not set: {counted(left_out, 'label')} that GitHub does not accept."
            self.notes = (words,)
        return None


def labels_of(report: Report) -> Mapping[str, str]:
    """The mapping in the policy that the report was made with."""
    section = report.policy.resolved.get("publish")
    labels = section.get("labels") if isinstance(section, Mapping) else None
    return labels if isinstance(labels, Mapping) else {}


def _wanted(report: Report, mapping: Mapping[str, str]) -> list[str]:
    """The labels that this report asks for, each once; GitHub ignores upper and lower case."""
    status = mapping.get(report.verdict.status.value)
    names = [status] if status else []
    if pattern := mapping.get(BACKPORT):
        suits = [one.branch for one in report.backports if one.verdict in _SUITABLE]
        names += [pattern.replace(_BRANCH, branch) for branch in suits]
    return list({name.casefold(): name for name in reversed(names)}.values())[::-1]


def _producible(report: Report, mapping: Mapping[str, str]) -> frozenset[str]:
    """Every label that the mapping could ask for, with the branches of this report."""
    names = [mapping[status] for status in Status if status in mapping]
    if pattern := mapping.get(BACKPORT):
        names += [pattern.replace(_BRANCH, backport.branch) for backport in report.backports]
    return frozenset(name.casefold() for name in names)


def _is_label(name: str) -> bool:
    return len(name) <= _LONGEST and name.isprintable() and "," not in name
