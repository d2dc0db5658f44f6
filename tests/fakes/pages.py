"""Pages of documentation that are true: their programs run, their tables are generated."""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

_LINES = re.MULTILINE | re.DOTALL
_PROGRAM = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```$)?", _LINES)
_TABLE = re.compile(r"^<!-- table: ([\w-]+) -->\n(.*?)^<!-- end -->$", _LINES)


@dataclass(frozen=True)
class Program:
    """A program on a page, the heading above it and the output that is shown below it.

    A block without output is the beginning of the next one.
    """

    heading: str
    code: str
    output: str

    def run(self, directory: Path) -> str:
        """The output of the program, run in a directory of its own."""
        return output_of(self.code, directory)


def output_of(code: str, directory: Path) -> str:
    printed = io.StringIO()
    with contextlib.chdir(directory), contextlib.redirect_stdout(printed):
        exec(compile(code, "page", "exec"), {"__name__": "page"})  # noqa: S102 - our own pages
    return printed.getvalue()


def programs(page: str) -> list[Program]:
    """The programs of the page in order."""
    found, begun = [], ""
    for match in _PROGRAM.finditer(page):
        begun += match[1]
        if match[2] is not None:
            heading = page[: match.start()].rpartition("\n#")[2].partition("\n")[0].lstrip("# ")
            found.append(Program(heading, begun, match[2]))
            begun = ""
    return found


def tables(page: str) -> dict[str, str]:
    """The tables of the page by the names of their markers."""
    return dict(_TABLE.findall(page))


def with_tables(page: str, made: Mapping[str, Callable[[], str]]) -> str:
    """The page with its tables made anew."""
    return _TABLE.sub(
        lambda match: f"<!-- table: {match[1]} -->\n{made[match[1]]()}\n<!-- end -->", page
    )


def renewed(page: str, made: Mapping[str, Callable[[], str]], directory: Path) -> str:
    """The page with its tables and the outputs of its programs made anew."""
    outputs = iter([program.run(directory) for program in programs(page)])
    return re.sub(
        r"^```text\n.*?^```$",
        lambda _: f"```text\n{next(outputs)}```",
        with_tables(page, made),
        flags=_LINES,
    )
