"""The page of a judge, a check, a rule or a reason, by its name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from importlib import import_module

from prjury.app.registry import JUDGES
from prjury.errors import UsageError, did_you_mean
from prjury.judges.workspace.catalog import KINDS
from prjury.resources import judge_pages
from prjury.rulepacks.description import Described
from prjury.rulepacks.display import show_pack, show_rule
from prjury.rulepacks.find import list_known
from prjury.rulepacks.rule import Pack

_HEADING = re.compile(r"#{1,6} +(.*)")
_CHECK_NAME = re.compile(r"`([a-z][a-z0-9-]*)`")


def explain(name: str) -> str:
    """The page of a judge, the passages about a check or a reason, or a rule with its example."""
    pages, topic = judge_pages(), name.strip()
    if page := _find_page(topic, pages):
        return page
    packs = list_known([])
    if text := "\n\n".join(_describe_rules(topic, packs)) or "\n\n".join(
        _find_passages(topic, pages)
    ):
        return text
    checks = {name for page in pages.values() for name in _CHECK_NAME.findall(page)}
    topics = {*pages, *KINDS, *JUDGES, *(pack.id for pack in packs), *checks}
    raise UsageError(
        f"there is no judge, check or rule called {name!r}",
        why=did_you_mean(topic, topics),
        remedy=f"Judges are {', '.join(sorted(pages))}; rules are listed by: prjury rules list",
    )


def _find_page(name: str, pages: Mapping[str, str]) -> str:
    if page := pages.get(name):
        return page.strip()
    section = re.compile(rf"(?ms)^##+ {re.escape(name)}$(.*?)(?=^##|\Z)")
    for page in pages.values():
        if match := section.search(page):
            return f"# {name}{match[1]}".strip()
    if name in KINDS:
        return pages["workspace"].strip()
    module = import_module(JUDGES[name].partition(":")[0]) if name in JUDGES else None
    return f"# {name}\n\n{module.__doc__}" if module else ""


def _describe_rules(name: str, packs: list[Pack]) -> Iterator[str]:
    for pack in packs:
        if pack.id == name:
            yield show_pack(pack).strip()
        for described in Described(pack).rules:
            if name in {described.rule.id, f"{pack.id}/{described.rule.id}"}:
                yield show_rule(described).strip()


def _find_passages(name: str, pages: Mapping[str, str]) -> Iterator[str]:
    for page, text in pages.items():
        title = heading = ""
        for block in re.split(r"\n{2,}", text):
            if match := _HEADING.match(block):
                title, heading = title or match[1], match[1]
            if f"`{name}`" in block:
                place = title if heading == title else f"{title}: {heading}"
                lines = block.split("\n")
                if block.startswith("|"):  # of a table the head, and the rows about it
                    rows = [line for line in lines[2:] if f"`{name}`" in line]
                    lines = [*lines[:2], *rows]
                yield "\n".join([f"{place} (prjury explain {page})", "", *lines])
