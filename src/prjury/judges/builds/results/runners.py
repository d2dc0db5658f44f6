"""Read what test runners print, row by row of the table in ``runners.yml``. Pure."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import msgspec
from msgspec import Struct

from prjury.judges.builds.failure import Failure, identity, with_details
from prjury.judges.builds.results.lines import (
    TABLE,
    LineSet,
    LogSection,
    RunnerOutput,
    find_error_message,
    is_hook,
    is_panic,
)
from prjury.judges.builds.results.report_files import LEFT_OUT

_TABLE = Path(__file__).with_name("runners.yml").read_bytes()  # before a build could change it


class Runner(Struct, frozen=True, forbid_unknown_fields=True):
    """What one runner prints: a row of the table, which explains the fields."""

    by: str
    marks: tuple[str, ...]
    totals: tuple[str, ...] = ()
    good: tuple[str, ...] = ()
    bad: tuple[str, ...] = ()
    out: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()
    unloaded: tuple[str, ...] = ()
    file: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    begins: str = ""
    lists: str = ""
    outline: str = ""
    name: str = "directory"
    python: bool = False
    sums: bool = True
    timed: bool = False
    sections: tuple[str, ...] = ()


@cache
def read_table() -> tuple[Runner, ...]:
    """All rows; the last one is for programs of tests that are no known runner."""
    return msgspec.yaml.decode(_TABLE, type=tuple[Runner, ...])


def _name_test(
    runner: Runner, section: LogSection, suite: str, fields: dict[str, str]
) -> tuple[str, str]:
    """The suite and the name of a test, as the runner's reports have them."""
    name, owner = fields.get("name", ""), fields.get("owner", "")
    if runner.name == "pytest":
        plain, *parameters = name.split("[", 1)
        module = fields["path"].removesuffix(".py").replace("/", ".")
        *classes, function = plain.split("::")
        full = f"{'.'.join([module, *classes])}#{'['.join([function, *parameters])}"
        return section.file(fields["path"]), full
    if runner.name == "unittest":
        owner = owner.removesuffix(f".{name}")  # newer Pythons repeat the test there
        return section.tree.find_module(owner) or "", f"{owner}#{name}"
    if runner.name == "suite":
        suite = section.file(fields["path"]) if "path" in fields else suite
        return fields.get("suite", suite), name
    if runner.name != "cargo":
        return section.directory, f"{owner}#{name}" if owner else name
    for ending in (" - should panic", " - compile fail", " - compile"):
        name = name.removesuffix(ending)
    file, dash, item = name.partition(".rs - ")
    if dash and " (line " in item:  # in documentation, whose lines move
        name = f"{file}{dash}{item.rpartition(' (line ')[0]}".removesuffix(" - ").strip()
        name = name.removesuffix(" -")
    return suite, name


_REACH = 60
_DEEPEST = 100
#: Lines with the titles of suites above a failing test are indented at least so far.
_TITLES = 7
_SET_UP = ("setUp", "tearDown")
#: The owner of a test with which unittest stands for a module that cannot be imported.
_LOADING = "_FailedTest"
#: prove's last line, which names no test.
_RESULT = "Result"
#: Words of a list of counts, and what they count.
_COUNTED = TABLE["counted"]
_RAN = ("passed", "failed", "errors", "known", "unexpected")
_TEXT = r"\S.*?"
_NUMBERS = frozenset({"ran", "passed", "failed", "errors", "out", "left", "known", "unexpected"})
#: What a field of a line may be.
_FIELDS = TABLE["fields_of_lines"]
#: Fields of a runner that hold lines, in the order in which they are tried.
_KINDS = TABLE["kinds_of_lines"]
#: Lines that do not end the text of a failure.
_INSIDE = frozenset({"", "unloaded", "out", "good", "bad"})


def _make_expression(line: str, *, timed: bool) -> str:
    text = re.escape(line).replace(r"\(s\)", "s?").replace(r"\ ", r"\s+").replace(r"\*", ".*?")
    for part in line.split("{")[1:]:
        name = part.partition("}")[0]
        text = text.replace(rf"\{{{name}\}}", f"(?P<{name}>{_FIELDS.get(name, _TEXT)})")
    end = r"(?:\s+(?:\([\d.]+ m?s\)|\(?[\d.]+m?s\)?))?$" if timed else "$"
    return f"^{text}" if line.endswith("*") else f"^{text}{end}"


@cache
def _compile_lines_and_kinds(runner: Runner) -> tuple[LineSet, tuple[str, ...]]:
    kinds, expressions = list[str](), list[str]()
    for kind in _KINDS:
        lines = getattr(runner, kind)
        for line in (lines,) if isinstance(lines, str) else lines:
            if line:
                kinds.append(kind)
                expressions.append(_make_expression(line, timed=runner.timed))
    return LineSet(expressions), tuple(kinds)


def read_known_runners(section: LogSection) -> dict[str, RunnerOutput]:
    outputs = dict[str, RunnerOutput]()
    for runner in read_table()[:-1]:
        if any(mark in section.text for mark in runner.marks):
            outputs[runner.by] = _RunnerReader(section, runner).read()
    return outputs


def read_inside(section: LogSection) -> RunnerOutput:
    """Return what a test that is a program printed of tests of its own."""
    output = RunnerOutput()
    for runner_output in read_known_runners(section).values():
        output.add(runner_output)
    return output if output.has_results else read_unknown_runner(section)


def read_unknown_runner(section: LogSection) -> RunnerOutput:
    """Return what a program of tests printed that is no known runner."""
    program = read_table()[-1]
    has_marks = any(mark in section.text for mark in program.marks)
    output = _RunnerReader(section, program).read() if has_marks else RunnerOutput()
    for line in section.lines:
        if line.startswith("make") and line.endswith("(ignored)"):  # by a Makefile's wish
            target = line.partition("]")[0].rpartition("[")[2]
            output.more += "test" in target or "check" in target
    return output


class _Run(Struct):
    names: list[str] = []
    failing: dict[str, tuple[int, Failure]] = {}
    totals: dict[str, int] = {}
    begun: bool = False
    telling: bool = False
    out: int = 0
    hooks: int = 0
    bad: int = 0
    repeats: int = 0


class _RunnerReader:
    def __init__(self, section: LogSection, runner: Runner) -> None:
        self._section, self._runner = section, runner
        self._lines, self._kinds = _compile_lines_and_kinds(runner)
        self._output, self._run = RunnerOutput(), _Run()
        self._outline = dict[int, str]()
        self._sections = dict[str, int]()
        self._suite, self._listing = "", False

    def read(self) -> RunnerOutput:
        for index, line in enumerate(self._section.lines):
            text = line.strip()
            for level in ("[ERROR]", "[WARNING]", "[INFO]"):
                text = text.removeprefix(level)
            if not (text := text.strip()):
                continue
            if self._runner.by == "unittest":
                text = self._join_status(index, text)
            kind, fields = self._classify_line(text)
            if kind:
                self._record_line(kind, fields, index, line)
            elif self._runner.outline and not self._run.totals:
                depth = _measure_indent(line)
                above = {level: name for level, name in self._outline.items() if level < depth}
                self._outline = {**above, depth: text}
        self._end_run()
        return self._output

    def _classify_line(self, text: str) -> tuple[str, dict[str, str]]:
        """Return which kind of line it is, empty for none, with its fields."""
        for number, match in self._lines.find(text):
            kind = self._kinds[number]
            if kind == "lists":
                self._listing = True
            elif kind != "failures" or self._listing or not self._runner.lists:
                return kind, {name: text for name, text in match.groupdict().items() if text}
        return "", {}

    def _join_status(self, index: int, text: str) -> str:
        """Return the line about a documented test, whose status stands on the next one."""
        _, dots, status = "".join(self._section.lines[index + 1 : index + 2]).rpartition(" ... ")
        is_split = dots and text.endswith(")") and " ... " not in text
        return f"{text} ... {status}" if is_split else text

    def _record_line(self, kind: str, fields: dict[str, str], index: int, line: str) -> None:
        if kind in {"failures", "unloaded"}:
            self._add_failure(kind, fields, index)
            self._run.telling = True
        elif kind in {"good", "bad", "out"}:
            if not (self._run.telling and self._run.begun):
                if self._run.totals:
                    self._end_run()
                self._add_test(kind, fields, line, index)
        elif kind == "totals":
            self._add_totals(fields)
        else:
            self._record_heading(kind, fields, index)

    def _record_heading(self, kind: str, fields: dict[str, str], index: int) -> None:
        if kind == "sections":
            self._sections[fields["name"]] = index + 1
            self._run.telling = True
        elif kind == "doubts":
            why = fields.get("why") or fields["part"]
            self._output.doubts.append(LEFT_OUT.format(self._runner.by, why))
        elif kind == "begins":
            self._end_run()
            self._run.begun = True
        elif kind == "file":
            if self._run.begun:
                self._end_run()
            self._suite, self._outline = _name_suite(self._section, fields), {}

    def _add_test(self, ending: str, fields: dict[str, str], line: str, index: int) -> None:
        run, runner, number = self._run, self._runner, self._section.numbers[index]
        name = fields["name"]
        if ending == "out":
            run.out += 1
            return
        if runner.outline:
            depth = _measure_indent(line)
            if self._outline.get(depth) == name:
                return  # the end of a suite, which repeats its name
            around = [suite for level, suite in self._outline.items() if 0 < level < depth]
            fields = {**fields, "name": runner.outline.join([*around, name])}
        if not runner.sums:
            run.names.append("")
            if ending == "bad" and name != _RESULT:
                run.bad += 1
                failure = self._section.failure("error", line.strip())
                self._output.failures.append((number, failure))
        elif is_hook(name):
            run.hooks += ending == "bad"
        elif not (name.startswith(_SET_UP) or _LOADING in fields.get("owner", "")):
            run.names.append(identity(*_name_test(runner, self._section, self._suite, fields)))
            if ending == "bad" and not runner.failures:
                where = self._section.directory
                test = self._section.failure("test", "failed", name=fields["name"], suite=where)
                run.failing[test.id] = (number, test)

    def _add_totals(self, fields: dict[str, str]) -> None:
        counts = {name: int(text) for name, text in fields.items() if name in _NUMBERS}
        for item in fields.get("counts", "").replace(";", ",").replace("|", ",").split(","):
            word, equals, number = item.strip().partition("=")  # ``skipped=2`` or ``2 passed``
            if not equals:
                number, _, word = word.partition(" ")
                word = word.split(" in ")[0].strip()
            is_number = number.isascii() and number.isdigit() and len(number) <= 9  # noqa: PLR2004 - fits 32 bits
            if is_number and (name := _COUNTED.get(word)):
                name = "out" if name == "left" and "ran" in self._run.totals else name
                counts[name] = counts.get(name, 0) + int(number)
        if self._run.totals.keys() & counts.keys():
            self._end_run()
        self._run.totals.update(counts)

    def _add_failure(self, kind: str, fields: dict[str, str], index: int) -> None:
        section, runner = self._section, self._runner
        if self._run.totals and not runner.lists:
            _, name = _name_test(runner, section, self._suite, {"name": "", **fields})
            if any(failure.name == name for _, failure in self._run.failing.values()):
                return  # listed once more
            self._end_run()
        if tail := fields.get("tail"):
            fields["name"] = f"test_{tail}"
        start = index + 1
        if runner.lists and not fields.get("name", "").endswith(":"):
            start = self._join_titles_and_find_text(fields, start)
        plain, *parameters = fields.get("name", fields.get("path", "")).split("[", 1)
        start = self._sections.get("[".join([plain.replace("::", "."), *parameters]), start)
        failure = self._read_failure(kind, fields, self._list_failure_text(start))
        is_part = section.lines[index].startswith("SUBFAILED")
        is_other = is_part or (not runner.bad and is_hook(fields.get("name", "")))
        self._run.hooks += is_other or _LOADING in fields.get("owner", "")
        self._run.repeats += failure.id in self._run.failing
        self._run.failing.setdefault(failure.id, (section.numbers[index], failure))

    def _join_titles_and_find_text(self, fields: dict[str, str], start: int) -> int:
        """Put the titles of the suites above a test together; return where the text begins."""
        titles = [fields["name"]]
        for at, line in enumerate(self._section.lines[start : start + 20], start):
            if not line.strip() or _measure_indent(line) < _TITLES:
                break
            titles.append(line.strip())
            if line.rstrip().endswith(":"):
                fields["name"] = self._runner.outline.join(titles).removesuffix(":")
                return at + 1
        return start

    def _list_failure_text(self, start: int) -> list[str]:
        text = list[str]()
        for line in self._section.lines[start : start + _REACH]:
            kind, _ = self._classify_line(line.strip())
            if kind not in _INSIDE and text:
                break
            text.append(line)
        return text

    def _read_failure(self, kind: str, fields: dict[str, str], text: Sequence[str]) -> Failure:
        section, runner = self._section, self._runner
        panic = next((at for at, line in enumerate(text) if is_panic(line)), 0)
        shown, text = text, text[panic:]
        name, owner = fields.get("name", ""), fields.get("owner", "")
        message = fields.get("message") or find_error_message(text, python=runner.python)
        path, line = fields.get("path"), fields.get("line")
        if not line:
            inner, at = section.find_place(text, owner=owner, last=runner.python)
            path, line = (inner, at) if inner else (path or self._suite or None, None)
        if kind == "unloaded":
            reasons = [line[1:].strip() for line in text if line.startswith("E  ")]
            reasons += [line.strip() for line in text if line.strip().startswith("SyntaxError")]
            message = next(filter(None, reversed(reasons)), message)
            whole = section.file(fields["path"]) if "path" in fields else self._suite
            failure = section.failure("compile", message, path, line, whole)
        elif _LOADING in owner:
            failure = section.failure("compile", message, path, line, name)
        elif whole := _find_failed_group(name, owner):
            failure = section.failure("error", f"{name or whole}: {message}", path, line, whole)
        else:
            suite, full = _name_test(runner, section, self._suite, fields)
            failure = section.failure("test", message, path, line, full, suite)
        return with_details(failure, [one for one in shown if one.strip()])

    def _end_run(self) -> None:
        run, self._run, self._listing = self._run, _Run(), False
        failing, totals = list(run.failing.values()), run.totals
        if not totals and not self._runner.sums and run.names:
            totals = {"ran": len(run.names), "failed": run.bad}
        if not totals:
            self._output.failures += failing
            if run.begun and self._runner.begins and (run.names or not failing):
                by = self._suite or self._runner.by
                self._output.doubts.append(f"the tests of {by} stopped early")
            return
        failed = sum(totals.get(name, 0) for name in ("failed", "errors", "broken", "unexpected"))
        failed -= run.repeats
        out = totals.get("out", 0)
        if {"ran", "passed"} <= totals.keys():
            failed = max(failed, totals["ran"] - totals["passed"] - out)
        ran = sum(totals.get(name, 0) for name in _RAN)
        count = max(0, totals.get("ran", ran) - out - run.hooks)
        names = run.names if self._runner.sums else []
        if self._runner.sums and self._runner.good and not self._runner.bad:
            names += [failure.id for _, failure in failing if failure.kind == "test"]
        self._output.skipped += out + totals.get("left", 0 if out else run.out)
        self._output.add_run(self._runner.by, names, failing, count, failed)


def _measure_indent(line: str) -> int:
    return min(len(line) - len(line.lstrip()), _DEEPEST)


def _find_failed_group(name: str, owner: str) -> str:
    """Return what failed where it is no test: a hook, a class, a file; empty for a test."""
    if is_hook(name):
        return name
    if name.startswith(_SET_UP):
        return owner
    is_class = name[:1].isupper() and "(" not in name and " " not in name and owner[:1].islower()
    return f"{owner}.{name}" if is_class else ""


def _name_suite(section: LogSection, fields: dict[str, str]) -> str:
    """Return the file of a heading, or the source and the crate of a program of Cargo's."""
    if crate := fields.get("crate"):
        return f"doc-tests {crate}"
    if program := fields.get("program"):
        return f"{fields['path']} ({posixpath.basename(program).rpartition('-')[0]})"
    return section.file(fields["path"])
