"""What a backport's pull request says: its title, its text, and the marker that programs read."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from urllib.parse import quote

from prjury.report.redact import Redact
from prjury.report.sanitise import block, inline_code, one_line, plain, prose
from prjury.report.wording import counted
from prjury.snapshot.model import Conflict
from prjury.snapshot.picked import HEADS, Pick

#: GitHub takes 256 characters; some of them tell how many were cut off.
_LONGEST_TITLE = 230
#: GitHub takes 65,536 characters.
_LONGEST_BODY = 60_000
_MOST_LINES = 50
_FIELD = re.compile(r"\{(branch|title|number)\}")
_MARKER = re.compile(r"<!-- prjury:backport:v1 of=(\d{1,18}) to=(\S+) -->", re.ASCII)
_CUT = "\n\n… (the rest does not fit into a pull request's text)\n"


def head_of(pick: Pick) -> str:
    """The branch that a pick is proposed from."""
    return f"{HEADS}{pick.number}-to-{pick.branch}"


def title_of(pick: Pick, pattern: str, redact: Redact) -> str:
    """The title by the policy's pattern, whose fields are ``{branch}``, ``{title}``, ``{number}``.

    What is filled in is not read as a pattern again.
    """
    values = {"branch": pick.branch, "title": pick.title, "number": str(pick.number)}
    filled = _FIELD.sub(lambda field: values[field[1]], pattern)
    return one_line(filled, _LONGEST_TITLE, redact)


def marker_of(pick: Pick) -> str:
    """The hidden first line: which pull request this is a backport of, and where to."""
    # Two hyphens in a row would end the comment in some readers.
    branch = quote(pick.branch, safe="/.").replace("-", "%2D")
    return f"<!-- prjury:backport:v1 of={pick.number} to={branch} -->"


def is_marked(body: str, pick: Pick) -> bool:
    """Whether a pull request's text begins with the marker of this pick."""
    first = body.partition("\n")[0].rstrip()
    return _MARKER.fullmatch(first) is not None and first == marker_of(pick)


def body_of(pick: Pick, head_sha: str, redact: Redact) -> str:
    """The pull request's Markdown.

    Args:
        head_sha: the commit that its branch is at.
    """
    parts = [marker_of(pick), *_origin(pick, redact), *_verdict(pick, redact)]
    if pick.conflicts:
        parts += [*_conflicts(pick, redact), *_commands(pick, head_sha, redact)]
    else:
        parts.append(
            f"The branch is at {inline_code(pick.branch_sha[:12])} of "
            f"{inline_code(pick.branch)} with {counted(len(pick.commits), 'commit')} on top. "
            "Its tree is the one that was tried. Nothing was pushed to the release branch."
        )
    whole = "\n\n".join(parts) + "\n"
    return whole if len(whole) <= _LONGEST_BODY else whole[:_LONGEST_BODY].rstrip() + _CUT


def empty_message(pick: Pick) -> str:
    """The message of the one commit of a draft. It says of no commit that it was picked."""
    return (
        f"Backport of #{pick.number}: to be done\n\n"
        f"The change conflicts in {counted(len(pick.conflicts), 'file')}. "
        "This commit holds nothing of it.\n"
    )


def _origin(pick: Pick, redact: Redact) -> Iterator[str]:
    title = plain(pick.title, _LONGEST_TITLE, redact)
    yield f"Backport of #{pick.number} ({title}) to {inline_code(pick.branch)}."
    origins = dict.fromkeys(sha for commit in pick.commits for sha in commit.origins)
    if origins:
        shown = list(origins)[:_MOST_LINES]
        more = f" and {len(origins) - len(shown)} more" if len(origins) > len(shown) else ""
        yield f"Picked from {', '.join(shown)}{more}."


def _verdict(pick: Pick, redact: Redact) -> Iterator[str]:
    word = plain(pick.verdict.replace("_", " ").capitalize(), None, redact)
    reasons = [f"* {prose(reason, 600, redact)}" for reason in pick.reasons[:_MOST_LINES]]
    yield f"**{word}**"
    if reasons:
        yield "\n".join(reasons)
    if pick.prerequisites:
        names = [f"* {prose(one, 300, redact)}" for one in pick.prerequisites[:_MOST_LINES]]
        first = (
            "It builds on:" if pick.conflicts else "Picked before it, because it builds on that:"
        )
        yield f"{first}\n\n" + "\n".join(names)


def _conflicts(pick: Pick, redact: Redact) -> Iterator[str]:
    count = len(pick.conflicts)
    yield (
        "> [!WARNING]\n> This is a draft: the change does not pick by itself. Its branch holds an "
        "empty commit and nothing of the change."
    )
    lines = [_conflict(one, redact) for one in pick.conflicts[:_MOST_LINES]]
    if count > _MOST_LINES:
        lines.append(f"* … and {count - _MOST_LINES} more")
    yield f"**Conflicts in {counted(count, 'file')}**\n\n" + "\n".join(lines)


def _conflict(conflict: Conflict, redact: Redact) -> str:
    kind = conflict.type.value.replace("_", "/")
    lines = f", lines {conflict.lines[0]} to {conflict.lines[1]}" if conflict.lines else ""
    easy = ", mechanical" if conflict.mechanical else ""
    path = inline_code(conflict.path, 300, redact)
    return f"* {path} ({kind}{lines}{easy}): {prose(conflict.reason, 300, redact)}"


def _commands(pick: Pick, head_sha: str, redact: Redact) -> Iterator[str]:
    """The pick by hand, and how its result gets here: only over the empty commit."""
    head = head_of(pick)
    lease, to = shlex.quote(f"{head}:{head_sha}"), shlex.quote(f"HEAD:refs/heads/{head}")
    push = f"git push --force-with-lease={lease} origin {to}"
    typed = "\n".join((*pick.commands, "# resolve, then", push))
    yield "To do it by hand:\n\n" + block(typed, 8_000, redact)
