"""The checks of changed text: ``parses``, and characters and encodings that hide something."""

from __future__ import annotations

import re
import tokenize
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from io import BytesIO

from msgspec.structs import replace

from prjury.code.syntax import LARGEST, SourceFile, SyntaxFault, find_faults
from prjury.deadline import Deadline
from prjury.judges.merge.syntax_tools import ask_tools
from prjury.jury.judgment import Check, Location, Severity
from prjury.manifests.project import Project
from prjury.manifests.spans import read_span
from prjury.ports import Ports
from prjury.report.judge_facts import LeftOut
from prjury.report.sanitise import show_invisible
from prjury.report.wording import pluralize
from prjury.snapshot.kinds import REGULAR_MODES
from prjury.snapshot.model import FileChange, FileKind, FileStatus, PullRequest, printable

NAME, HIDDEN = "parses", "hidden-characters"
_MOST_FILES, _SECONDS = 2_000, 60.0
_TEST_DATA = re.compile(
    r"(?i)(^|/)(test[-_]?data|(__|test[-_]?)?fixtures?(__)?|corpora|corpus|(__)?snapshots?(__)?|goldens?"
    r"|cassettes)(/|$)"
)
#: In a directory of tests.
_BROKEN_ON_PURPOSE = re.compile(
    r"(?i)(^|/)(data|cases|inputs?|resources|samples?)/"
    r"|(^|[/_.-])(invalid|broken|malformed|bad|corrupt(ed)?|unparsable|syntax[-_]?errors?)([/_.-]|$)"
)
_BABEL = re.compile(r"(^|/)(babel\.config\.[a-z]+|\.babelrc[^/]*|\.flowconfig)$")
_LFS = b"version https://git-lfs.github.com/spec/"
_OLDEST_PYTHON = (3, 7)
_MOST_HIDDEN, _LONGEST_EVIDENCE = 20, 200
#: Characters that turn the direction of text, have no width, or are tags. A joiner between two
#: letters that are not ASCII, or within a symbol, is how some languages are written.
_HIDDEN = re.compile(
    "[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u200b\u2060-\u2064\u00ad\U000e0000-\U000e007f]"
    "|(?<=[\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?=[\x00-\x7f])|(?<!^)\ufeff"
)


def check_syntax(
    pull: PullRequest, ports: Ports, deadline: Deadline
) -> tuple[list[Check], list[LeftOut]]:
    """Return the checks, and the files that count as not read because of a doubt."""
    files = {file.path: file for file in pull.files if _is_source(file)}
    if not files or not pull.merge.tree:
        return [], []
    if len(files) > _MOST_FILES:
        words = f"{len(files):,} changed files are too many to parse"
        return [Check.bad(NAME, words, severity="hint")], []
    limit = deadline.within(_SECONDS)
    pythons = _find_pythons(pull, files, ports)
    is_babel = any(_BABEL.search(entry.path) for entry in ports.repository.files(pull.base.sha))

    def find(texts: Sequence[SourceFile]) -> tuple[Mapping[str, SyntaxFault], Mapping[str, str]]:
        faults, unparsed = find_faults(texts, limit)
        if is_babel:
            faults = {path: replace(fault, dialect=True) for path, fault in faults.items()}
        return ask_tools(texts, faults, ports.shell, limit), unparsed

    texts = _read_texts(ports, pull.merge.tree, {path: path for path in files}, pythons)
    faults, unparsed = find(texts)
    if faults:
        places = {path: files[path].old_path or path for path in sorted(faults)}
        before, _ = find(_read_texts(ports, pull.base.sha, places, pythons))
        faults = {path: faults[path] for path in places if path not in before}
    checks = [_make_check(files[path], fault) for path, fault in faults.items()]
    count = len(texts) - len(unparsed)
    if count and not checks:
        checks.append(Check.ok(NAME, f"{pluralize(count, 'changed file')} without a syntax error"))
    for path, reason in sorted(unparsed.items()):
        words = f"could not be parsed ({reason})"
        checks.append(Check.bad(NAME, words, Location(printable(path)), severity="hint"))
    doubts = {
        path: f"a parser is not sure about it: {fault.message}"
        for path, fault in faults.items()
        if not fault.certain and not _is_test_data(files[path])
    }
    for text in texts:
        if text.grammar == "python" and (why := find_other_reading(text.content)):
            doubts[text.path] = why
    return checks, [LeftOut(printable(path), why) for path, why in doubts.items()]


def _is_source(file: FileChange) -> bool:
    opaque = file.kind in {FileKind.BINARY, FileKind.SUBMODULE, FileKind.SYMLINK}
    changed = file.new_blob != file.old_blob and file.status is not FileStatus.DELETED
    regular = file.new_mode in {*REGULAR_MODES, None} and not opaque
    return bool(SourceFile(file.path, b"").grammar) and changed and regular


def _read_texts(
    ports: Ports, tree: str, places: Mapping[str, str], pythons: Mapping[str, tuple[int, int]]
) -> list[SourceFile]:
    entries = {entry.path: entry for entry in ports.repository.files(tree)}
    blobs = {
        path: entries[place].blob
        for path, place in places.items()
        if place in entries and entries[place].mode in REGULAR_MODES
    }
    contents = ports.repository.read(list(blobs.values()))
    texts = []
    for path, blob in blobs.items():
        content = contents[blob]
        if content is not None and len(content) <= LARGEST and not content.startswith(_LFS):
            texts.append(SourceFile(path, content, pythons.get(path)))
    return texts


def _find_pythons(
    pull: PullRequest, files: Mapping[str, FileChange], ports: Ports
) -> Mapping[str, tuple[int, int]]:
    """Return the oldest Python that the project declares for a file, if it is a Python 3."""
    programs = [
        path
        for path, file in files.items()
        if SourceFile(path, b"").grammar == "python" and file.kind is not FileKind.TEST
    ]
    oldest: dict[str, tuple[int, int]] = {}
    if not programs:
        return oldest
    project = Project.read(pull, ports.repository, programs)
    for path in programs:
        lows = [
            span.low
            for each in project.of_file[path].head.declared
            if (each.ecosystem, each.artifact) == ("runtime", "python") and each.version
            if (span := read_span(each.version, "runtime", "python"))
        ]
        low = min(lows, default=())
        if low >= (3,) and not re.search(r"3_?\d", path.rpartition("/")[2]):
            oldest[path] = max(_OLDEST_PYTHON, (low[0], (*low, 0)[1]))
    return oldest


def _make_check(file: FileChange, fault: SyntaxFault) -> Check:
    severity: Severity = "error"
    words = f"does not parse: {fault.message}"
    if _is_test_data(file):
        severity, words = "hint", f"{words} (test data, or exempt)"
    elif not fault.certain:
        severity = "warning"
        words = f"may not parse: {fault.message} (the parser can be mistaken; nobody read the file)"
    return Check.bad(NAME, words, Location(printable(file.path), fault.line), severity=severity)


def _is_test_data(file: FileChange) -> bool:
    tests = file.kind is FileKind.TEST or re.search(r"(^|/)(tests?|spec)/", file.path)
    on_purpose = tests and _BROKEN_ON_PURPOSE.search(file.path)
    return bool(file.exempt or on_purpose or _TEST_DATA.search(file.path))


def find_hidden(files: Iterable[FileChange]) -> list[Check]:
    """Return a warning for each added line with characters that nobody sees, up to twenty."""
    checks: list[Check] = []
    for file in files:
        for line in file.added_lines:
            match = None if line.text.isascii() else _HIDDEN.search(line.text)
            if match is None or len(checks) == _MOST_HIDDEN:
                continue
            name = unicodedata.name(match[0], "a tag").lower()
            message = f"holds a character that nobody sees: U+{ord(match[0]):04X} ({name})"
            evidence = show_invisible(line.text.strip())[:_LONGEST_EVIDENCE]
            place = Location(printable(file.path), line.new)
            checks.append(
                Check.bad(
                    "hidden-characters", message, place, severity="warning", evidence=evidence
                )
            )
    return checks


def find_other_reading(content: bytes) -> str | None:
    """Return why Python reads other code than stands there, by the encoding that it declares."""
    try:
        encoding, _ = tokenize.detect_encoding(BytesIO(content).readline)
        text = content.decode(encoding)
    except (SyntaxError, UnicodeDecodeError, LookupError):
        return None  # a syntax error, which is told by the parser
    shown = content.decode("utf-8", "replace").removeprefix("\ufeff")
    if _take_ascii(text) == _take_ascii(shown):
        return None
    return f"it declares the encoding {encoding}, in which it is other code than it seems"


def _take_ascii(text: str) -> str:
    return "".join(filter(str.isascii, text))
