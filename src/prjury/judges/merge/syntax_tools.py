"""The tools' own checks of syntax, in the contained shell: node, gofmt, ruby, php."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from prjury.code.syntax import SourceFile, SyntaxFault
from prjury.deadline import Deadline
from prjury.errors import CannotJudgeError
from prjury.ports import Shell, SilentProgress
from prjury.ports.types import ShellCommand

#: Files that are handed to one tool, and bytes of what it says of each.
_MOST_FILES, _LONGEST_OUTPUT = 300, 16_384
_LINE = re.compile(r":(\d+)(?=[:\s]|$)|on line (\d+)")


class SyntaxTool(Struct, frozen=True):
    """A command that checks the syntax of one file, which is right under any of the endings."""

    program: str
    arguments: str
    endings: Sequence[str]
    complaint: str


_TOOLS: Mapping[str, SyntaxTool] = {
    "javascript": SyntaxTool("node", "--check", (".mjs", ".cjs"), r"(?m)^SyntaxError: (.+)"),
    "go": SyntaxTool("gofmt", "-e", (".go",), r"(?m)^the file:\d+:\d+: (.+)"),
    "ruby": SyntaxTool("ruby", "-c", (".rb",), r"(?i)(syntax error.*)"),
    "php": SyntaxTool("php", "-n -l", (".php",), r"((?:Parse|Fatal) error:.*)"),
}
#: Words of node about syntax that it does not know, which tools before it may take away.
_UNKNOWN_TO_NODE = re.compile(
    r"Unexpected (token|identifier|string|number|end|template)|Invalid (or unexpected|regular)"
)


def ask_tools(
    texts: Sequence[SourceFile], faults: Mapping[str, SyntaxFault], shell: Shell, deadline: Deadline
) -> Mapping[str, SyntaxFault]:
    """Add the faults that the tools of this machine find, and take away what they clear."""
    result = dict(faults)
    for grammar, tool in _TOOLS.items():
        candidates = [
            text for text in texts if text.grammar == grammar and not text.path.endswith(".jsx")
        ]
        with suppress(CannotJudgeError, OSError):  # the tool is broken, or removes what is written
            decisions = _check_files(tool, candidates[:_MOST_FILES], shell, deadline)
            for path, fault in decisions.items():
                doubt = result.pop(path, None)
                if fault and (verdict := _combine(grammar, fault, doubt)):
                    result[path] = verdict
    return result


def _combine(grammar: str, fault: SyntaxFault, doubt: SyntaxFault | None) -> SyntaxFault | None:
    """Weigh a tool's fault against what the grammar says of the file.

    JSX, types and decorators are errors to node alone. A tool may be older than the code.
    """
    if grammar == "javascript":
        if _UNKNOWN_TO_NODE.match(fault.message) and doubt is None:
            return None
        return replace(fault, certain=doubt is None or not doubt.dialect)
    if doubt is not None and doubt.dialect:
        return doubt
    return replace(fault, certain=grammar == "go" or doubt is not None)


def _check_files(
    tool: SyntaxTool, texts: Sequence[SourceFile], shell: Shell, deadline: Deadline
) -> Mapping[str, SyntaxFault | None]:
    faults: dict[str, SyntaxFault | None] = {}
    program = shell.which(tool.program) if texts else None
    for ending in tool.endings if program else ():
        waiting = [text for text in texts if faults.get(text.path, True)]
        if not waiting:
            break
        with shell.scratch() as place:
            for number, text in enumerate(waiting):
                (place / f"{number}{ending}").write_bytes(text.content)
            script = (
                f'for f in *{ending}; do {shlex.quote(program or "")} {tool.arguments} "./$f" '
                '>"$f.out" 2>&1 </dev/null; echo $? >"$f.code"; done'
            )
            command = ShellCommand(script, place, shell.environment())
            completed = shell.run(command, deadline, SilentProgress())
            with suppress(OSError):
                completed.log.unlink()
                completed.log.parent.rmdir()
            if completed.stopped or completed.exit_code:
                break
            for number, text in enumerate(waiting):
                name = f"{number}{ending}"
                if (place / f"{name}.code").read_text().strip() == "0":
                    faults[text.path] = None
                elif fault := _read_complaint(tool, place, name):  # else the tool is broken
                    faults[text.path] = faults.get(text.path, fault)
    return faults


def _read_complaint(tool: SyntaxTool, place: Path, name: str) -> SyntaxFault | None:
    output = (place / f"{name}.out").read_bytes()[:_LONGEST_OUTPUT]
    words = output.decode("utf-8", "replace").replace(f"./{name}", "the file")
    complaint, line = re.search(tool.complaint, words), _LINE.search(words)
    number = int(line[1] or line[2]) if line else None
    return SyntaxFault(number, complaint[1].strip()) if complaint else None
