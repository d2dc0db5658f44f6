from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import is_dataclass
from html.parser import HTMLParser
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jinja2 import UndefinedError
from jinja2.exceptions import SecurityError
from markdown_it import MarkdownIt
from markupsafe import Markup

from fakes import reports as fake
from fakes.hostile import ATTACKS, report_holding
from fakes.render import to_comment, to_feedback, to_html, to_summary
from fakes.skeletons import inline_html, inline_types, skeleton
from prjury.jury.judgment import Check, Judgment, Status
from prjury.report.model import Report
from prjury.report.render import COMMENT_LIMIT, SUMMARY_LIMIT, Renderer, make_environment
from prjury.report.sanitise import Redactor
from prjury.report.text import HtmlText, MarkdownText, Text, ink_value
from prjury.report.view import page
from prjury.resources import DOCUMENTATION

CUT = "left out here for length"
MARKDOWN = [to_comment, to_summary, to_feedback]
HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]")
PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])


@pytest.fixture(scope="module")
def harmless() -> dict[str, list[tuple[str, str, int, str]]]:
    return {render.__name__: skeleton(render(report_holding("x"))) for render in MARKDOWN}


@pytest.mark.slow
@pytest.mark.parametrize("render", MARKDOWN)
@pytest.mark.parametrize("words", ATTACKS, ids=range(len(ATTACKS)))
def test_hostile_words_change_no_block(
    words: str,
    render: Callable[[Report], str],
    harmless: dict[str, list[tuple[str, str, int, str]]],
) -> None:
    text = render(report_holding(words))
    check_inside(text)
    if CUT not in text:
        assert skeleton(text) == harmless[render.__name__]


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(
    st.text(
        st.sampled_from(list("ab1 \n\r\t`~|\\<>#@*_[]()!-=+.:&/'\"\x1b\u202e\u200b😀\u0301")),
        max_size=40,
    )
)
def test_no_words_at_all_change_a_block(words: str) -> None:
    for render in MARKDOWN:
        text = render(report_holding(words))
        assert skeleton(text) == skeleton(render(report_holding("x")))
        check_inside(text)


def check_inside(text: str) -> None:
    """Nothing inside the lines is live but our own."""
    assert not HIDDEN.search(text)
    assert inline_html(text) <= {"<sub>", "</sub>"}
    # A bare "!" before one of our links would make an image of it; so would an attacker's.
    assert inline_types(text) <= {
        *("text", "text_special", "code_inline", "softbreak", "hardbreak", "html_inline"),
        *("strong_open", "strong_close", "em_open", "em_close", "link_open", "link_close"),
    }
    for link in re.findall(r'href="([^"]*)"', PARSER.render(text)):
        assert link.startswith(("https://github.com/acme/shop/blob/", DOCUMENTATION))
    bare = re.sub(r"(?s)<(code|pre)>.*?</\1>|<!--.*?-->|<[a-z/][^>]*>", "", PARSER.render(text))
    for live in ("@octocat", "#1", "#5", "GH-7", "4b825dc642cb6", "://evil", "www.evil"):
        assert live not in bare


@pytest.mark.slow
@pytest.mark.parametrize("words", ATTACKS, ids=range(len(ATTACKS)))
def test_one_marker_and_the_decision_right_below(words: str) -> None:
    text = to_comment(report_holding(words))
    first, second, *_ = text.split("\n")
    assert re.fullmatch(
        r"<!-- prjury:v1 key=\w{16} id=default head=\w{40} base=\w{40} .*-->", first
    )
    assert second.startswith("## ❌ Do not merge: ")
    assert text.lower().count("<!-- prjury") == 1
    assert len(text.encode()) <= COMMENT_LIMIT


class Tags(HTMLParser):
    """The tags of a page with their attributes, without those that break or mark up a line."""

    #: An overlong path is not linked, so links come and go with the words; each is looked at.
    INSIDE_LINES = frozenset({"br", "code", "a"})

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.visible = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in self.INSIDE_LINES:
            kept = [name for name, _ in attrs]
            self.tags.append(f"{tag} {' '.join(kept)}")
        for name, value in attrs:
            if name == "href":
                assert str(value).startswith(
                    ("https://github.com/acme/shop/", DOCUMENTATION, "#i-")
                )

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.INSIDE_LINES:
            self.tags.append(f"/{tag}")

    def handle_data(self, data: str) -> None:
        self.visible += data

    def handle_comment(self, data: str) -> None:
        self.tags.append("comment")


@pytest.mark.slow
@pytest.mark.parametrize("words", ATTACKS, ids=range(len(ATTACKS)))
def test_hostile_words_change_no_tag_of_the_page(words: str) -> None:
    text = to_html(report_holding(words))
    assert Tags(text).tags == Tags(to_html(report_holding("x"))).tags
    assert not HIDDEN.search(text)


def test_the_page_loads_and_runs_nothing() -> None:
    text = to_html(fake.needs_a_human())
    assert "default-src 'none'; style-src 'sha256-" in text
    assert "<script" not in text
    assert " style=" not in text
    assert not re.search(r"url\(|@import|<link|<img|<iframe|src=", text)
    assert "no test covers a negative total" in Tags(text).visible


def bare_strings(raw: Any, view: Any, where: str) -> Iterator[str]:
    """The places where a view gives out another string than one of our own or a `Text`."""
    if isinstance(raw, tuple):
        for before, after in zip(raw, view, strict=True):
            yield from bare_strings(before, after, where)
    elif is_dataclass(raw) or isinstance(raw, SimpleNamespace):
        names = [name for name in dir(raw) if not name.startswith("_")]
        for name in names:
            yield from bare_strings(getattr(raw, name), getattr(view, name), f"{where}.{name}")
    elif isinstance(view, str) and not isinstance(view, Markup):
        yield f"{where}: {view!r}"
    elif isinstance(raw, str):
        assert isinstance(view, Text | Markup)


@pytest.mark.parametrize("language", [MarkdownText, HtmlText])
def test_templates_get_no_bare_string(language: type[Text]) -> None:
    view = page(report_holding("<b>@x"))
    assert list(bare_strings(view, ink_value(view, language), "page")) == []


def rendered(template: str, report: Report) -> str:
    view = ink_value(page(report), MarkdownText)
    return make_environment(MarkdownText).from_string(template).render(page=view)


def test_whatever_a_template_does_with_a_text_it_comes_out_sanitised() -> None:
    text = rendered(
        "{{ page.change.title }}{{ page.change.title ~ '!' }}{{ [page.change.title] | join(', ') }}"
        "{{ '%s' | format(page.change.title) }}{{ page.change.title | safe }}"
        "{{ page.change.title | string }}",
        report_holding("<b>@octocat"),
    )
    assert text.count("octocat") == 6
    assert "<b>" not in text
    assert "@octocat" not in text


def test_a_bare_string_in_a_template_is_escaped() -> None:
    text = rendered("{{ page.rows | length | string ~ '<b>@octocat' }}", fake.passed())
    assert text == "4\\<b\\>\\@\u200boctocat"


@pytest.mark.parametrize("hidden", ["change._value", "change.title._raw", "__class__"])
def test_a_template_sees_the_parts_of_a_report_only(hidden: str) -> None:
    with pytest.raises(SecurityError):
        rendered(f"{{{{ page.{hidden} }}}}", fake.passed())


def test_a_name_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(UndefinedError, match="nonsense"):
        rendered("{{ page.nonsense }}", fake.passed())


def test_known_secrets_leave_in_no_format() -> None:
    render = Renderer(Redactor(("hunter2-hunter2",)))
    report = report_holding("the hunter2-hunter2 key")
    for text in (
        render.comment(report),
        render.check(report),
        render.summary(report),
        render.feedback(report),
        render.html(report),
    ):
        assert "hunter2" not in text.replace("\u200b", "").replace("\\", "")
        assert "redacted" in text


@pytest.mark.slow
@pytest.mark.parametrize("severity", ["error", "warning"])
@pytest.mark.parametrize(
    ("count", "message"),
    [(0, "x"), (9, "é`|<" * 400), (40, "😀" * 900), (200, "é`|<" * 400), (1000, "short")],
)
def test_a_comment_fits_and_stays_whole(count: int, message: str, severity: str) -> None:
    report = fake.with_findings(count, message, severity)
    for text, limit in (
        (to_comment(report), COMMENT_LIMIT),
        (to_summary(report), SUMMARY_LIMIT),
        (to_feedback(report), SUMMARY_LIMIT),
    ):
        assert len(text.encode()) <= limit
        assert text.count("<details>") == text.count("</details>")
        assert "❌ Do not merge: patterns" in text
        fences = [token for token in PARSER.parse(text) if token.type == "fence"]
        closed = [line for line in text.split("\n") if re.fullmatch(r" *`{3,}", line)]
        assert len(closed) >= 2 * len(fences)


@pytest.mark.parametrize("render", [to_comment, to_summary])
def test_findings_stay_one_list_beyond_the_hundredth(render: Callable[[Report], str]) -> None:
    checks = [
        Check(f"rule-{number}", passed=False, message="m", severity="warning", evidence="a\nb")
        for number in range(105)
    ]
    judgment = Judgment(Status.PASS, "passed", checks=tuple(checks))
    tokens = PARSER.parse(render(fake.report(fake.tier("rules", fake.ballot("own", judgment)))))
    assert [token.type for token in tokens].count("ordered_list_open") == 1
    assert "code_block" not in {token.type for token in tokens}


def test_a_comment_that_was_cut_says_so() -> None:
    assert CUT in to_comment(fake.with_findings(60, "😀" * 900))
    assert CUT not in to_comment(fake.broken_build())


@pytest.mark.parametrize("render", [*MARKDOWN, to_html])
def test_the_same_report_gives_the_same_bytes(render: Callable[[Report], str]) -> None:
    assert render(fake.needs_a_human()) == render(fake.needs_a_human())


def test_a_marker_cannot_be_broken_out_of() -> None:
    text = to_comment(fake.passed(), run="7.1 --> ## x")
    assert text.split("\n")[0].count("-->") == 1
    assert " run=7.1-x " in text


def test_a_check_run_has_no_marker_and_its_decision_is_the_title() -> None:
    assert Renderer().check(fake.passed()).startswith("**Why:** merge: merges cleanly")
