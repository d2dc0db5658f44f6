"""The structure of a Markdown text as a GitHub-like parser sees it, without its words."""

from __future__ import annotations

import re

from markdown_it import MarkdownIt

_PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
_FINGERPRINT = re.compile(r"(?<=[=,+])[0-9a-f]{16}(?:\.[0-9a-f]{8})?\b")
_TAG = re.compile(r"<[^>]*>")


def skeleton(markdown: str) -> list[tuple[str, str, int, str]]:
    """Every block token with its tag, level and, for raw HTML, its tags."""
    return [
        (token.type, token.tag, token.level, _without_words("".join(_TAG.findall(token.content))))
        if token.type == "html_block"
        else (token.type, token.tag, token.level, token.info)
        for token in _PARSER.parse(markdown)
    ]


def _without_words(html: str) -> str:
    """Our own hidden lines name findings by fingerprints, which are words in another form."""
    return _FINGERPRINT.sub("f", html)


def blocks(markdown: str) -> list[str]:
    """The types of the block tokens."""
    return [token.type for token in _PARSER.parse(markdown)]


def inline_types(markdown: str) -> set[str]:
    """The types of everything inside the lines."""
    return {child.type for token in _PARSER.parse(markdown) for child in token.children or ()}


def inline_html(markdown: str) -> set[str]:
    """The raw HTML inside the lines."""
    return {
        child.content
        for token in _PARSER.parse(markdown)
        for child in token.children or ()
        if child.type == "html_inline"
    }
