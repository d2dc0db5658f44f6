"""What was found, as annotations of lines: texts without markup, within GitHub's limits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from prjury.jury.judgment import Location
from prjury.report.findings import Finding, Weight, evidence_beyond, findings
from prjury.report.model import Report
from prjury.report.redact import Redact
from prjury.report.sanitise import BY_SHAPE, clean, one_line
from prjury.report.wording import counted
from prjury.snapshot.model import FileStatus, PullRequest, printable

#: More would take minutes to send, and nobody reads them.
MOST = 500

_LONGEST_TITLE = 200
#: Characters; GitHub takes 64 KiB, and a character is four bytes at most.
_LONGEST_TEXT = 15_000
_LEVELS = {Weight.MUST_FIX: "failure", Weight.SHOULD_LOOK: "warning", Weight.NIT: "notice"}


#: Words at lines of a file, as GitHub takes them; the lines count from 1 and are inclusive.
Annotation: TypeAlias = Mapping[str, Any]


def identify(annotation: Any) -> tuple[str, ...]:  # noqa: ANN401 - ours, or one that GitHub lists
    """Return what is the same in an annotation that was sent and in the one that GitHub lists."""
    place = (annotation[name] for name in ("path", "start_line", "end_line", "annotation_level"))
    words = (" ".join((annotation[name] or "").split()) for name in ("title", "message"))
    return (*map(str, place), *words)


@dataclass(frozen=True, slots=True)
class Annotations:
    """The heaviest findings at their lines.

    Attributes:
        left_out: how many more there are than an audience can take.
        unplaceable: how many stand in files whose path GitHub could not take.
        homeless: how many are about no file of the head.
    """

    entries: tuple[Annotation, ...] = ()
    left_out: int = 0
    unplaceable: int = 0
    homeless: int = 0

    @property
    def notes(self) -> tuple[str, ...]:
        """What is not there, in sentences."""
        reasons = {
            "but in the report": self.left_out,
            "as their path cannot be sent to GitHub": self.unplaceable,
            "as they are in no file of this change": self.homeless,
        }
        return tuple(
            f"Not annotated, {reason}: {counted(count, 'finding')}."
            for reason, count in reasons.items()
            if count
        )


def annotate(report: Report, redact: Redact = BY_SHAPE, most: int = MOST) -> Annotations:
    """Annotate the findings in files that exist at the head, heaviest first."""
    places = HeadLines(report.pull)
    found = findings(report.verdict)
    placed = [(one, place) for one in found if (place := places.of(one))]
    usable = [(one, place) for one, place in placed if sendable(place.path)]
    entries = (_annotation(one, place, redact) for one, place in usable[:most])
    left_out, unplaceable = max(0, len(usable) - most), len(placed) - len(usable)
    return Annotations(tuple(entries), left_out, unplaceable, len(found) - len(placed))


class HeadLines:
    """Where findings are on the head's side of a pull request."""

    def __init__(self, pull: PullRequest) -> None:
        self._paths = {printable(file.path): file.path for file in pull.files}
        self._gone = frozenset(_gone(pull))

    def of(self, finding: Finding) -> Location | None:
        """The place with the path as git stores it, None for one that is not at the head."""
        place = finding.check.location
        if place is None or place.path in self._gone:
            return None
        return Location(self._paths.get(place.path, place.path), place.line, place.end_line)


def _gone(pull: PullRequest) -> Iterator[str]:
    present = {file.path for file in pull.files if file.status is not FileStatus.DELETED}
    for file in pull.files:
        left = {FileStatus.DELETED: file.path, FileStatus.RENAMED: file.old_path}.get(file.status)
        if left and left not in present:
            yield printable(left)


def sendable(path: str) -> bool:
    """Whether GitHub's API can take a path: UTF-8 without control characters, relative."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    unusual = any(ord(char) < 0x20 or 0x7F <= ord(char) < 0xA0 for char in path)  # noqa: PLR2004 - C0, DEL and C1
    return not unusual and not path.startswith("/") and ".." not in path.split("/")


def _annotation(finding: Finding, place: Location, redact: Redact) -> Annotation:
    check, start, details = finding.check, place.line or 1, _details(finding, redact)
    return {
        "path": place.path,
        "start_line": start,
        "end_line": place.end_line or start,
        "annotation_level": _LEVELS[finding.weight],
        "title": one_line(check.name, _LONGEST_TITLE, redact),
        "message": clean(check.message.strip() or check.name, _LONGEST_TEXT, redact),
        **({"raw_details": details} if details else {}),
    }


def _details(finding: Finding, redact: Redact) -> str:
    check = finding.check
    parts = [evidence_beyond(check) or "", f"To fix: {check.fix}" if check.fix else ""]
    reported = "\n\n".join(part.strip("\n") for part in parts if part.strip())
    return clean(reported, _LONGEST_TEXT, redact) if reported else ""
