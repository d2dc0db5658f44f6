"""Pages of documentation that are true: their programs run, their tables are generated."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass

_LINES = re.MULTILINE | re.DOTALL
_PROGRAM = re.compile(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```$", _LINES)
_TABLE = re.compile(r"^<!-- table: ([\w-]+) -->\n(.*?)^<!-- end -->$", _LINES)


@dataclass(frozen=True)
class Program:
    """A program on a page, the heading above it and the output that is shown below it."""

    heading: str
    code: str
    output: str

    def run(self) -> str:
        """What it really prints."""
        return output_of(self.code)


def output_of(code: str) -> str:
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(compile(code, "page", "exec"), {"__name__": "page"})  # noqa: S102 - our own pages
    return printed.getvalue()


def programs(page: str) -> list[Program]:
    """The programs of the page in order."""
    found = _PROGRAM.finditer(page)
    return [Program(_heading(page[: each.start()]), each[1], each[2]) for each in found]


def _heading(before: str) -> str:
    return before.rpartition("\n#")[2].partition("\n")[0].lstrip("# ")


def tables(page: str) -> dict[str, str]:
    """The tables of the page by the names of their markers."""
    return dict(_TABLE.findall(page))


def renewed(page: str, made: Mapping[str, Callable[[], str]]) -> str:
    """The page with its tables and the outputs of its programs made anew."""
    with_tables = _TABLE.sub(
        lambda found: f"<!-- table: {found[1]} -->\n{made[found[1]]()}\n<!-- end -->", page
    )
    return _PROGRAM.sub(
        lambda found: f"```python\n{found[1]}```\n\n```text\n{output_of(found[1])}```", with_tables
    )
