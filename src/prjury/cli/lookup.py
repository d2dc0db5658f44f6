"""``prjury explain``, ``rules`` and ``journal``: pages, packs and records to look up."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from prjury.app.registry import JUDGES
from prjury.cli.options import make_group
from prjury.cli.output import PlainFormat, Terminal, TextFormat, print_out
from prjury.errors import ExitCode, UsageError, did_you_mean
from prjury.journal.read import list_journal, read_journal
from prjury.journal.write import journal_directory, journal_files
from prjury.judges.patterns.pack_tests import PackTestResult, run_pack_tests
from prjury.judges.workspace.catalog import KINDS
from prjury.report.wording import pluralize
from prjury.resources import judge_pages, rule_packs
from prjury.rulepacks import display
from prjury.rulepacks.description import Described, DescribedRule
from prjury.rulepacks.display import encode_pack, show_pack, show_rule, summary, table
from prjury.rulepacks.find import list_known, packs_at, require_pack_or_rule
from prjury.rulepacks.rule import Pack
from prjury.snapshot.model import visible

_HEADING = re.compile(r"#{1,6} +(.*)")
_CHECK_NAME = re.compile(r"`([a-z][a-z0-9-]*)`")

rules = make_group("rules", "Version-pattern packs: list them, explain one, run their tests.")

_Paths = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="[PATH]...",
        help="Packs of your own: files, directories; without them, those that ship.",
    ),
]

_Printed = Annotated[PlainFormat, typer.Option(help="What goes to standard output.")]


def explain(
    name: Annotated[str, typer.Argument(help="A judge, a check, a rule or a pack of rules.")],
) -> None:
    """Show the page of a judge, a check or a rule."""
    print_out("page", require_explanation(name), sys.stdout.encoding)


def require_explanation(name: str) -> str:
    """The page of a judge, the passages about a check or a reason, or a rule with its example."""
    pages, topic = judge_pages(), name.strip()
    if page := _find_judge_page(topic, pages):
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


def _find_judge_page(name: str, pages: Mapping[str, str]) -> str:
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


@rules.command("list")
def list_packs(
    paths: _Paths = None,
    *,
    format: Annotated[TextFormat, typer.Option(help="What goes to standard output.")] = "terminal",
) -> None:
    """List packs: what they are about, to which projects they apply, how many rules they have."""
    packs = list_known(paths or [])
    if format == "json":
        _print_json({"packs": [encode_pack(pack) for pack in packs]})
    elif format == "markdown":
        print_out("packs", table(packs).rstrip("\n"))
    else:
        _print_lines(line for pack in packs for line in summary(pack))


@rules.command()
def show(
    name: Annotated[str, typer.Argument(help="A pack, or a rule as pack/rule.")],
    paths: _Paths = None,
    *,
    format: _Printed = "terminal",
) -> None:
    """Explain a pack or a rule: why, since when, what to write instead, an example."""
    pack, rule = require_pack_or_rule(name, list_known(paths or []))
    if format == "json" and rule:
        _print_json(display.encode_rule(DescribedRule(pack, rule)))
    elif format == "json":
        entries = [display.encode_rule(one) for one in Described(pack).rules]
        _print_json({**display.encode_pack(pack), "rules": entries})
    elif rule:
        _print_lines(display.show_rule(DescribedRule(pack, rule)).strip().split("\n"))
    else:
        _print_lines(display.show_pack(pack).strip().split("\n"))


@rules.command("test")
def run_tests(paths: _Paths = None, *, format: _Printed = "terminal") -> int:
    """Run the tests of packs: what each rule must find, must leave alone and must fix."""
    if not paths and not any(rule_packs().glob("*.cases.yml")):
        raise UsageError(
            "An installed package has no cases of the shipped packs",
            remedy="Name a pack of your own: prjury rules test PATH",
        )
    started = time.monotonic()
    loaded = packs_at(paths or [])
    trials: list[PackTestResult] = []
    # Each pack's code is parsed by a process of its own; threads are enough to keep them busy.
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for trial in pool.map(run_pack_tests, loaded):
            trials.append(trial)
            _show_progress(f"{len(trials)} of {len(loaded)} packs")
    _show_progress("")
    sound = all(trial.sound for trial in trials)
    if format == "json":
        _print_json({"passed": sound, "packs": [trial.json for trial in trials]})
    else:
        lines = list[str]()
        for trial in trials:
            lines += [trial.line, *(f"    {failure}" for failure in trial.failures)]
        failures = pluralize(sum(len(trial.failures) for trial in trials), "failure")
        count = "all sound" if sound else failures
        seconds = time.monotonic() - started
        _print_lines([*lines, f"{pluralize(len(trials), 'pack')}, {count}, {seconds:.1f} s"])
    return ExitCode.OPEN if sound else ExitCode.REJECTED


def _show_progress(text: str) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\033[K{text}")
        sys.stderr.flush()


def _print_json(value: Any) -> None:  # noqa: ANN401 - JSON
    print_out("packs", json.dumps(value, indent=2, ensure_ascii=False))


def _print_lines(lines: Iterator[str] | Sequence[str]) -> None:
    shown = [visible(line.replace("\t", "    ")) for line in lines]
    print_out("packs", "\n".join(shown), sys.stdout.encoding)


journal = make_group(
    "journal", "The record of a run, which every run writes below $XDG_STATE_HOME/prjury."
)


@journal.command("show")
def show_journal(
    context: typer.Context,
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="A journal; by default the newest.")
    ] = None,
) -> None:
    """Show a run as a timeline: hotspots, which step follows which, and loops."""
    terminal: Terminal = context.obj
    place = journal_directory(terminal.environ)
    files = [file] if file else journal_files(place) if place else []
    if not files:
        raise UsageError(
            f"there is no journal in {place or 'the state directory'}",
            why="No run has written one",
            remedy="Run prjury review first, or name a file",
        )
    entries = read_journal(files[-1])
    print_out("journal", terminal.redact("\n".join(list_journal(entries))))
