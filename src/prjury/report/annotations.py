"""What was found, as annotations of lines: texts without markup, within GitHub's limits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from msgspec import Struct

from prjury.jury.judgment import Location
from prjury.report.finding_view import FindingView
from prjury.report.findings import Weight
from prjury.report.model import Report
from prjury.report.redact import Redact
from prjury.report.sanitise import BY_SHAPE, clean, join_lines
from prjury.report.view import page
from prjury.report.wording import pluralize

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


class Annotations(Struct, frozen=True):
    """The heaviest findings at their lines, and how many more findings there are."""

    entries: tuple[Annotation, ...] = ()
    left_out: int = 0

    @property
    def note(self) -> str:
        """What is not there, in a sentence."""
        count = pluralize(self.left_out, "finding")
        return f"Not annotated, but in the report: {count}." if self.left_out else ""


def annotate(report: Report, redact: Redact = BY_SHAPE, most: int = MOST) -> Annotations:
    """Annotate the findings in files that exist at the head, heaviest first."""
    findings = page(report, redact).findings
    placed = [finding for finding in findings if finding.place and is_sendable(finding.place.path)]
    entries = tuple(_annotate(finding, redact) for finding in placed[:most])
    return Annotations(entries, len(findings) - len(entries))


def is_sendable(path: str) -> bool:
    """Return true if GitHub's API takes a path: UTF-8 without control characters, relative."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    unusual = any(ord(char) < 0x20 or 0x7F <= ord(char) < 0xA0 for char in path)  # noqa: PLR2004 - C0, DEL and C1
    return not unusual and not path.startswith("/") and ".." not in path.split("/")


def _annotate(finding: FindingView, redact: Redact) -> Annotation:
    check, place = finding.check, finding.place or Location("")
    details = [finding.evidence or "", f"To fix: {check.fix}" if check.fix else ""]
    words = "\n\n".join(part.strip("\n") for part in details if part.strip())
    more = {"raw_details": clean(words, _LONGEST_TEXT, redact)} if words else {}
    return {
        "path": place.path,
        "start_line": place.line or 1,
        "end_line": place.end_line or place.line or 1,
        "annotation_level": _LEVELS[finding.weight],
        "title": join_lines(check.name, _LONGEST_TITLE, redact),
        "message": clean(check.message.strip() or check.name, _LONGEST_TEXT, redact),
        **more,
    }
