"""The length of README and docs in words: `python tests/words.py` lists it, a test holds it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: Most words written by hand, of everything, and of the README.
BY_HAND, TOTAL, README = 36_300, 75_000, 1_300
#: Pages that tests write.
GENERATED = (".github/docs/rules/", ".github/docs/reference/")
_TABLE = re.compile(r"^<!-- .*? -->\n.*?^<!-- end -->$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class WordCount:
    """Words of all pages."""

    by_hand: int
    total: int


def pages() -> list[Path]:
    """README and everything in Markdown below ``.github``."""
    return [ROOT / "README.md", *sorted((ROOT / ".github").rglob("*.md"))]


def in_page(page: Path) -> int:
    return len(page.read_text("utf-8").split())


def by_hand(page: Path) -> int:
    """The words of a page outside of the tables that tests write."""
    if page.relative_to(ROOT).as_posix().startswith(GENERATED):
        return 0
    return len(_TABLE.sub("", page.read_text("utf-8")).split())


def count() -> WordCount:
    found = pages()
    return WordCount(sum(map(by_hand, found)), sum(map(in_page, found)))


def main() -> None:
    for page in pages():
        print(f"{by_hand(page):7,} {in_page(page):7,}  {page.relative_to(ROOT).as_posix()}")
    counted = count()
    print(f"{counted.by_hand:7,} {counted.total:7,}  by hand (of {BY_HAND:,}), in all ({TOTAL:,})")


if __name__ == "__main__":
    main()
