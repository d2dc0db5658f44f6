"""The checks of changed text: ``parses``, and characters and encodings that hide something."""

from __future__ import annotations

import re
import shlex
import tokenize
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from io import BytesIO

from msgspec.structs import replace

from prjury.code.syntax import LARGEST, SourceFile, SyntaxFault, find_faults_and_unparsed
from prjury.deadline import Deadline
from prjury.errors import CannotJudgeError
from prjury.jury.judgment import Check, Location, Severity
from prjury.manifests.project import Project
from prjury.manifests.spans import read_span
from prjury.ports import Ports, Shell, SilentProgress
from prjury.ports.types import ShellCommand
from prjury.report.judge_facts import LeftOut
from prjury.report.sanitise import show_invisible
from prjury.report.wording import pluralize
from prjury.snapshot.kinds import REGULAR_MODES
from prjury.snapshot.model import FileChange, FileKind, PullRequest, printable

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
_MOST_HIDDEN, _LONGEST_EVIDENCE = 20, 200
#: Characters that turn the direction of text, have no width, or are tags. A joiner between two
#: letters that are not ASCII, or within a symbol, is how some languages are written.
_HIDDEN = re.compile(
    "[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u200b\u2060-\u2064\u00ad\U000e0000-\U000e007f]"
    "|(?<=[\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?=[\x00-\x7f])|(?<!^)\ufeff"
)


def check_changed_syntax(pull: PullRequest, ports: Ports, deadline: Deadline) -> list[Check]:
    """Check the changed files that are new or parsed before; with a warning they are unread."""
    changed = [file for file in pull.files if file.new_blob not in {None, file.old_blob}]
    sources = [file for file in changed if SourceFile(file.path, b"").grammar]
    files = {file.path: file for file in sources if file.kind is not FileKind.BINARY}
    if not files or not pull.merge.tree:
        return []
    if len(files) > _MOST_FILES:
        words = f"{len(files):,} changed files are too many to parse"
        return [Check.bad(NAME, words, severity="hint")]
    limit = deadline.within(_SECONDS)
    pythons = _find_oldest_declared_pythons(pull, files, ports)
    is_babel = any(_BABEL.search(entry.path) for entry in ports.repository.files(pull.base.sha))

    def parse_files(
        tree: str, places: Mapping[str, str]
    ) -> tuple[list[SourceFile], Mapping[str, SyntaxFault], Mapping[str, str]]:
        entries = ports.repository.files(tree)
        blobs = {entry.path: entry.blob for entry in entries if entry.mode in REGULAR_MODES}
        blobs = {path: blobs[place] for path, place in places.items() if place in blobs}
        contents = ports.repository.read(list(blobs.values()))
        texts = [
            SourceFile(path, content, pythons.get(path))
            for path, blob in blobs.items()
            if (content := contents[blob]) is not None
            and len(content) <= LARGEST
            and not content.startswith(_LFS)
        ]
        faults, unparsed = find_faults_and_unparsed(texts, limit)
        if is_babel:
            faults = {path: replace(fault, dialect=True) for path, fault in faults.items()}
        return texts, _revise_faults_with_tools(texts, faults, ports.shell, limit), unparsed

    texts, faults, unparsed = parse_files(pull.merge.tree, {path: path for path in files})
    if faults:
        places = {path: files[path].old_path or path for path in sorted(faults)}
        _, before, _ = parse_files(pull.base.sha, places)
        faults = {path: faults[path] for path in places if path not in before}
    checks = [_make_syntax_check(files[path], fault) for path, fault in faults.items()]
    if (count := len(texts) - len(unparsed)) and not checks:
        checks.append(Check.ok(NAME, f"{pluralize(count, 'changed file')} without a syntax error"))
    for path, reason in sorted(unparsed.items()):
        words = f"could not be parsed ({reason})"
        checks.append(Check.bad(NAME, words, Location(printable(path)), severity="hint"))
    for text in texts:
        if text.grammar == "python" and (encoding := _find_hiding_encoding(text.content)):
            words = f"declares the encoding {encoding}, in which it is other code than it seems"
            place = Location(printable(text.path))
            checks.append(Check.bad(NAME, words, place, severity="warning"))
    return checks


def _find_oldest_declared_pythons(
    pull: PullRequest, files: Mapping[str, FileChange], ports: Ports
) -> Mapping[str, tuple[int, int]]:
    """Return the oldest Python that the project declares for a file, if it is a Python 3."""
    programs = [
        path
        for path, file in files.items()
        if path.endswith((".py", ".pyi")) and file.kind is not FileKind.TEST
    ]
    project = Project.read(pull, ports.repository, programs) if programs else Project({})
    oldest = {}
    for path, sides in project.of_file.items():
        spans = [
            read_span(each.version, "runtime", "python")
            for each in sides.head.declared
            if (each.ecosystem, each.artifact) == ("runtime", "python") and each.version
        ]
        low = min((span.low for span in spans if span), default=())
        if low >= (3,) and not re.search(r"3_?\d", path.rpartition("/")[2]):  # is for another
            oldest[path] = max((3, 7), (low[0], (*low, 0)[1]))
    return oldest


def _make_syntax_check(file: FileChange, fault: SyntaxFault) -> Check:
    tests = file.kind is FileKind.TEST or re.search(r"(^|/)(tests?|spec)/", file.path)
    on_purpose = tests and _BROKEN_ON_PURPOSE.search(file.path)
    severity: Severity = "error"
    words = f"does not parse: {fault.message}"
    if file.exempt or on_purpose or _TEST_DATA.search(file.path):
        severity, words = "hint", f"{words} (test data, or exempt)"
    elif not fault.certain:
        severity = "warning"
        words = f"may not parse: {fault.message} (the parser can be mistaken; nobody read the file)"
    return Check.bad(NAME, words, Location(printable(file.path), fault.line), severity=severity)


def list_doubts(checks: Iterable[Check]) -> tuple[LeftOut, ...]:
    """List the files that nobody reads, since no parser is sure about them."""
    doubts = [check for check in checks if (check.name, check.severity) == (NAME, "warning")]
    return tuple(LeftOut(each.location.path, each.message) for each in doubts if each.location)


def _find_hiding_encoding(content: bytes) -> str | None:
    """Return the declared encoding in which Python reads other code than stands there."""
    with suppress(SyntaxError, UnicodeError, LookupError):  # which the parser tells
        encoding, _ = tokenize.detect_encoding(BytesIO(content).readline)
        texts = content.decode(encoding), content.decode("utf-8", "replace")
        if len({text.encode("ascii", "ignore") for text in texts}) > 1:
            return encoding
    return None


def warn_of_hidden_characters(files: Iterable[FileChange]) -> list[Check]:
    """Return a warning for each added line with characters that nobody sees, up to twenty."""
    checks: list[Check] = []
    for file in files:
        for line in file.added_lines:
            match = None if line.text.isascii() else _HIDDEN.search(line.text)
            if match is None or len(checks) == _MOST_HIDDEN:
                continue
            name = unicodedata.name(match[0], "a tag").lower()
            words = f"holds a character that nobody sees: U+{ord(match[0]):04X} ({name})"
            evidence = show_invisible(line.text.strip())[:_LONGEST_EVIDENCE]
            place = Location(printable(file.path), line.new)
            checks.append(Check.bad(HIDDEN, words, place, severity="warning", evidence=evidence))
    return checks


#: The tools' own checks, in the contained shell: program, arguments, the endings under one of which
#: a right file is right, and how the line and the fault of a wrong one are told.
_TOOLS: Mapping[str, tuple[str, str, Sequence[str], str]] = {
    "javascript": ("node", "--check", (".mjs", ".cjs"), r"(?m):(\d+)\n(?s:.*?)^SyntaxError: (.+)"),
    "go": ("gofmt", "-e", (".go",), r":(\d+):\d+: (.+)"),
    "ruby": ("ruby", "-c", (".rb",), r"(?i)(?::(\d+): )?(syntax error.*)"),
    "php": ("php", "-n -l", (".php",), r"(?m)^(?=.* on line (\d+))(.* error:.*) in \./"),
}
#: Files that are handed to one tool, and bytes of what it says of each.
_MOST_ASKED, _LONGEST_OUTPUT = 300, 16_384
#: Words of node about JSX, types and decorators, which tools before it may take away.
_UNKNOWN_TO_NODE = re.compile(
    r"Unexpected (token|identifier|string|number|end|template)|Invalid (or unexpected|regular)"
)


def _revise_faults_with_tools(
    texts: Sequence[SourceFile], faults: Mapping[str, SyntaxFault], shell: Shell, deadline: Deadline
) -> Mapping[str, SyntaxFault]:
    """Add the faults that the tools of this machine find, and take away what they clear."""
    result = dict(faults)
    for grammar in _TOOLS:
        sources = [text for text in texts if text.grammar == grammar and text.path[-4:] != ".jsx"]
        with suppress(CannotJudgeError, OSError):  # the tool is broken, or removes what is written
            for path, fault in list(_run_parser(grammar, sources[:_MOST_ASKED], shell, deadline)):
                doubt = result.get(path)
                if fault is None:
                    result.pop(path, None)
                elif doubt:
                    result[path] = doubt if doubt.dialect else fault
                elif grammar != "javascript" or not _UNKNOWN_TO_NODE.match(fault.message):
                    result[path] = replace(fault, certain=grammar in {"go", "javascript"})
    return result


def _run_parser(
    grammar: str, texts: Sequence[SourceFile], shell: Shell, deadline: Deadline
) -> Iterator[tuple[str, SyntaxFault | None]]:
    name, arguments, endings, complaint = _TOOLS[grammar]
    program = shell.which(name) if texts else None
    if program is None:
        return
    calls = " || ".join(f"{shlex.quote(program)} {arguments} ./$n{ending}" for ending in endings)
    script = (
        f"n=0; while [ $n -lt {len(texts)} ]; do {{ {calls}; }} >$n.out 2>&1 </dev/null; "
        "echo $? >$n.code; n=$((n + 1)); done"
    )
    with shell.scratch() as place:
        for number, text in enumerate(texts):
            for ending in endings:
                (place / f"{number}{ending}").write_bytes(text.content)
        command = ShellCommand(script, place, shell.environment())
        done = shell.run(command, deadline, SilentProgress())
        with suppress(OSError):
            done.log.unlink()
            done.log.parent.rmdir()
        if done.stopped or done.exit_code:
            return
        for number, text in enumerate(texts):
            output = (place / f"{number}.out").read_bytes()[:_LONGEST_OUTPUT]
            match = re.search(complaint, output.decode("utf-8", "replace"))
            if (place / f"{number}.code").read_text().strip() == "0":
                yield text.path, None
            elif match:  # else the tool is broken
                yield text.path, SyntaxFault(int(match[1]) if match[1] else None, match[2].strip())
