"""From a report to Markdown and HTML, through templates in which nothing untrusted is live.

Templates get a `page`, in which every outside word is a `Text` that can only be printed sanitised.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from functools import cache

from jinja2 import DictLoader, StrictUndefined
from jinja2.sandbox import SandboxedEnvironment
from markupsafe import Markup
from msgspec import Struct

from prjury.report.annotations import MARKER_ID, to_sarif
from prjury.report.backports import Backports, backports_page
from prjury.report.codec import report_to_json
from prjury.report.continuity import format_findings_for_marker
from prjury.report.model import Report
from prjury.report.sanitise import BY_SHAPE, Redact
from prjury.report.text import (
    HtmlText,
    Inked,
    MarkdownText,
    TerminalText,
    Text,
    ink_value,
    style,
    trust,
)
from prjury.report.view import page
from prjury.resources import template_texts

#: Characters, and bytes, that GitHub takes: a comment, a check run's text, a job summary.
COMMENT_LIMIT = 65_536
CHECK_LIMIT = 65_535
SUMMARY_LIMIT = 1_048_576

_FENCE = re.compile(r" *(`{3,})([a-z]*)$")
_NOT_IN_A_MARKER = re.compile(r"[^A-Za-z0-9._]+")


class Shape(Struct, frozen=True):
    """How much of everything is shown; `None` leaves a part out and says so."""

    must_fix: int = 10
    should_look: int | None = 100
    checks: int | None = 100
    #: Whether evidence is quoted as a whole there.
    blocks: bool = True
    #: Reasons for which files were not read, with so many ``paths`` each.
    not_checked: int | None = 100
    #: Conflicts and commits that are listed for each branch, with its reasons and commands; none of
    #: all that where it is 0.
    backports: int | None = 20
    places: int = 10
    rules: int = 20
    paths: int = 5
    #: Whether something was left out that a roomier place would show.
    cut: bool = True


#: From everything to the bare decision: the least valuable parts go first.
COMMENT_SHAPES = (
    Shape(places=100, cut=False),
    Shape(checks=20, blocks=False),
    Shape(should_look=50, checks=0, blocks=False, not_checked=30, backports=3),
    Shape(should_look=100, checks=None, not_checked=30, backports=0),
    Shape(should_look=50, checks=None, not_checked=10, backports=0),
    Shape(should_look=10, checks=None, not_checked=None, backports=None),
    Shape(should_look=None, checks=None, not_checked=None, backports=None),
    Shape(must_fix=0, should_look=None, checks=None, not_checked=None, backports=None),
)
SUMMARY_SHAPES = (
    Shape(2_000, 2_000, checks=2_000, not_checked=500, backports=100, places=2_000, cut=False),
    Shape(must_fix=1_000, should_look=500, checks=50, not_checked=500, places=100),
    Shape(must_fix=200, should_look=100, checks=20, not_checked=200, places=20),
    *COMMENT_SHAPES[1:],
)


class Renderer(Struct, frozen=True):
    """Renders reports."""

    redact: Redact = BY_SHAPE

    def comment(self, report: Report, *, run: str | None = None) -> str:
        """The sticky comment, found again by the hidden marker in its first line."""
        line = marker(report, run, format_findings_for_marker(report))
        return self.render(report, "comment.md.j2", COMMENT_SHAPES, COMMENT_LIMIT, line, run=run)

    def check(self, report: Report) -> str:
        return self.render(report, "comment.md.j2", COMMENT_SHAPES, CHECK_LIMIT, titled=False)

    def summary(self, report: Report) -> str:
        return self.render(report, "summary.md.j2", SUMMARY_SHAPES, SUMMARY_LIMIT)

    def feedback(self, report: Report) -> str:
        return self.render(report, "feedback.md.j2", SUMMARY_SHAPES, SUMMARY_LIMIT)

    def backports(self, reported: Backports) -> str:
        return render_template("backports.md.j2", self.redact, page=backports_page(reported))

    def html(self, report: Report) -> str:
        templates = make_environment(HtmlText)
        style = templates.get_template("report.css").render()
        digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
        return templates.get_template("report.html.j2").render(
            page=_ink(page(report, self.redact), HtmlText, self.redact),
            style=trust(style),
            style_hash=trust(f"sha256-{digest}"),
        )

    def json(self, report: Report) -> str:
        value = report_to_json(report, self.redact)
        return json.dumps(value, indent=2, ensure_ascii=False)

    def sarif(self, report: Report) -> str:
        return json.dumps(to_sarif(report, self.redact), indent=1, ensure_ascii=False)

    def terminal(self, report: Report) -> str:
        view = page(report, self.redact)
        return render_template("terminal.txt.j2", self.redact, TerminalText, page=view, style=style)

    def render(
        self,
        report: Report,
        template_name: str,
        shapes: Sequence[Shape],
        limit: int,
        marker: str = "",
        *,
        titled: bool = True,
        run: str | None = None,
    ) -> str:
        """A template in the roomiest shape that keeps within the limit of characters and bytes."""
        view = _ink(page(report, self.redact, run), MarkdownText, self.redact)
        template = make_environment(MarkdownText).get_template(template_name)
        text = ""
        for shape in shapes:
            words = template.render(page=view, shape=shape, marker=trust(marker), titled=titled)
            text = _collapse_blank_lines(words)
            if len(text.encode()) <= limit:
                break
        return text


def marker(report: Report, run: str | None, more: str = "") -> str:
    """The hidden line by which a comment is found again and its age is known."""
    pull = report.pull
    key = hashlib.sha256(f"{pull.repo}#{pull.number}".encode()).hexdigest()[:16]
    words = {
        "key": key,
        "id": MARKER_ID,
        "head": pull.head.sha,
        "base": pull.base.sha,
        "run": run or "local",
        "config": report.policy.hash[:16],
    }
    pairs = " ".join(f"{name}={_NOT_IN_A_MARKER.sub('-', word)}" for name, word in words.items())
    return f"<!-- prjury:v1 {pairs}{' ' if more else ''}{more} -->"


def render_template(
    name: str, redact: Redact, language: type[Text] = MarkdownText, **parts: object
) -> str:
    shown = {key: _ink(part, language, redact) for key, part in parts.items()}
    return _collapse_blank_lines(make_environment(language).get_template(name).render(shown))


def _ink(value: object, language: type[Text], redact: Redact) -> object:
    return ink_value(value, lambda raw: language(raw, redact))


class _Environment(SandboxedEnvironment):
    def is_safe_attribute(self, obj: object, attr: str, value: object) -> bool:
        if isinstance(obj, Inked | Text):
            return not attr.startswith("_")
        return super().is_safe_attribute(obj, attr, value)


@cache
def make_environment(language: type[Text]) -> SandboxedEnvironment:
    """Our templates, in which a bare string is escaped for the language as well."""

    def finalize(value: object) -> object:
        is_bare = isinstance(value, str) and not isinstance(value, Markup)
        return language(str(value)) if is_bare else value

    return _Environment(
        loader=DictLoader(template_texts()),
        undefined=StrictUndefined,
        autoescape=True,
        finalize=finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _collapse_blank_lines(text: str) -> str:
    lines: list[str] = []
    fence = ""
    for line in text.strip("\n").split("\n"):
        match = _FENCE.match(line)
        if match and not fence:
            fence = match[1]
        elif match and match[1] == fence and not match[2]:
            fence = ""
        if fence or line or (lines and lines[-1]):
            lines.append(line)
    return "\n".join(lines) + "\n"
