"""Small phrases that every face of the report shares: symbols, counts, times."""

from __future__ import annotations

from prjury.jury.judgment import Status

#: A status is always shown as a symbol *and* a word.
SYMBOLS = {Status.PASS: "✅", Status.FAIL: "❌", Status.ABSTAIN: "⚪", Status.ERROR: "⚠️"}
WORDS = {
    Status.PASS: "pass",
    Status.FAIL: "fail",
    Status.ABSTAIN: "no answer",
    Status.ERROR: "error",
}
NOT_RUN = "⏭️"
#: A failed check by its severity.
SEVERITY_SYMBOLS = {"error": "❌", "warning": "⚠️", "hint": "💡"}

_MINUTE = 60_000
_HOUR = 60 * _MINUTE


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """``1 file``, ``2 files``, ``1,204 lines``."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def duration(milliseconds: int) -> str:
    """``0 s``, ``0.2 s``, ``42 s``, ``3 m 5 s``, ``1 h 4 m``."""
    if milliseconds < 50:  # noqa: PLR2004 - it would be shown as 0.0
        return "0 s"
    if milliseconds < 10_000:  # noqa: PLR2004 - tenths matter below ten seconds
        return f"{milliseconds / 1000:.1f} s"
    if milliseconds < _MINUTE:
        return f"{round(milliseconds / 1000)} s"
    if milliseconds < _HOUR:
        minutes, rest = divmod(milliseconds, _MINUTE)
        return f"{minutes} m {rest // 1000} s" if rest >= 1000 else f"{minutes} m"  # noqa: PLR2004
    hours, rest = divmod(milliseconds, _HOUR)
    return f"{hours} h {rest // _MINUTE} m"


def listed(words: list[str], most: int = 3) -> str:
    """``a``, ``a and b``, ``a, b and c``, ``a, b, c and 2 more``."""
    shown = words[:most]
    if len(words) > most:
        shown.append(f"{len(words) - most} more")
    if len(shown) < 2:  # noqa: PLR2004 - nothing to join
        return "".join(shown)
    return f"{', '.join(shown[:-1])} and {shown[-1]}"


def first_line(text: str) -> str:
    """The first line that says something, without the spaces around it."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "")
