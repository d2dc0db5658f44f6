"""Finds text in a change that tries to tell its judge what to decide. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import islice, zip_longest

from prjury.jury.judgment import Check, Location
from prjury.report.sanitise import bare, show_invisible
from prjury.snapshot.model import FileChange, PullRequest, printable

SAME_FAMILY = "same-family-as-author"

_SIGNED = r"(?:co-authored-by:|generated (?:with|by)|authored by|written by)[^\n]{0,60}"
#: By family: what its models are called, its agents' accounts, and how these sign what they write.
_FAMILIES = {
    "Anthropic": (r"^anthropic:|claude", r"claude(?:-code)?", "claude"),
    "OpenAI": (
        r"\bgpt-|\bo[1-9]\b|codex",
        r"(?:chatgpt-codex-connector|openai-codex)",
        r"(?:codex|chatgpt)",
    ),
    "Google": (
        r"^google:|gemini|gemma",
        r"(?:gemini-code-assist|google-labs-jules|jules)",
        r"(?:gemini|jules)",
    ),
}


def check_family(pull: PullRequest, models: Iterable[str]) -> tuple[Check, ...]:
    """Return a hint for each family that has written the change and judges it as well."""
    signs = "\n".join(filter(None, (pull.author, pull.body)))
    flags, names, hints = re.IGNORECASE | re.MULTILINE, "\n".join(models), []
    for family, (models_of, account, signature) in _FAMILIES.items():
        wrote = re.search(rf"^{account}\[bot\]$|{_SIGNED}{signature}", signs, flags)
        if wrote and re.search(models_of, names, flags):
            message = f"the change says that a model of {family} wrote it"
            message = f"{message}, and one of {family} judges it"
            hints.append(Check(SAME_FAMILY, passed=False, message=message, severity="hint"))
    return tuple(hints)


NAME = "instruction-to-judge"
AGENT_FILE = "agent-instruction-file"

#: Warnings of a change; one that holds more is no better known by more of them.
_MOST_WARNINGS = 20
_LONGEST_EVIDENCE = 300

_REVIEWER = r"(?:code[- ]?)?(?:reviewers?|judges?|jur(?:y|or|ors)|graders?|evaluators?)"
_MACHINE = (
    r"(?:ai|llm|gpt|chatgpt|claude|gemini|copilot|(?:language[ ])?model|assistant|bot|agent)s?"
)
_MUST = r"(?:must|should|shall|please|need(?:s)?[ ]to|ha(?:s|ve)[ ]to|will|are[ ]to|is[ ]to)"
_WORK = r"(?:pr|pull[- ]request|merge[- ]request|changes?|diff|patch|commit|code|submission)"


@cache  # compiling takes 3 ms, and few reviews ask models
def _phrases() -> re.Pattern[str]:
    return re.compile(
        rf"""
          \b(?:ignore|disregard|forget|override|bypass)\b.{{0,30}}
              \b(?:previous|prior|above|earlier|preceding|your)\b.{{0,30}}
              \b(?:instructions?|prompts?|rules?|directions?|guidelines?|criteria)\b
        | \b(?:ignore|disregard|forget)\s(?:all|any|every|the|these)\s(?:\w+\s)?
              (?:instructions?|prompts?|guidelines?)\b
        | \bas\s(?:the|an?|your|our)\s(?:\w+\s)?{_REVIEWER}\b.{{0,30}}\b{_MUST}\b
        | \b(?:dear|note\s(?:to|for)|attention|hey|message\s(?:to|for)|instructions?\s(?:to|for))\b
              [\s,:]*(?:(?:the|any|all|every)\s)?(?:\w+\s)?(?:ai|llm|{_REVIEWER}|{_MACHINE})\b
        | \b(?:{_REVIEWER}|{_MACHINE})\b.{{0,20}}\b{_MUST}\b.{{0,20}}
              \b(?:approve|accept|pass|merge)\b
        | \b{_REVIEWER}\b.{{0,20}}\b{_MUST}\b.{{0,20}}\b(?:answer|reply|respond|score|rate|vote)\b
        | \b(?:must|should|shall|please|always|simply|just)\s(?:approve|accept|pass|merge|lgtm)\s
              (?:this|the|my|our)\s(?:\w+\s)?{_WORK}\b
        | \bdo\snot\s(?:flag|report|mention|reject|comment\son)\b.{{0,40}}
              \b(?:issues?|problems?|bugs?|findings?|vulnerabilit(?:y|ies)|{_WORK})\b
        | \b(?:reply|respond|answer|output|return|say)\b.{{0,40}}
              ["'`]?verdict["'`]?\s?[:=]\s?["'`]?pass\b
        | <\|(?:im_start|im_end|system|assistant|user|endoftext)\|> | \[/?INST\] | <</?SYS>>
        """,
        re.IGNORECASE | re.VERBOSE,
    )


#: Files that coding agents take their instructions from, wherever they stand.
_AGENT_FILES = re.compile(
    r"""(?:^|/)(?:
        (?:agents|claude|gemini|qwen|copilot-instructions)(?:\.local|\.override)?\.md
      | \.cursorrules | \.windsurfrules | \.clinerules | \.goosehints | \.aider\.conf\.yml
      | \.(?:cursor|windsurf|clinerules|roo|continue)/.*
      | \.github/instructions/.* | \.github/prompts/.* | \.claude/.* | \.codex/.*
    )$""",
    re.IGNORECASE | re.VERBOSE,
)
_LEADER = re.compile(r"^[\s/#*;%!<>-]+")


def instructions(files: Iterable[FileChange]) -> tuple[Check, ...]:
    """Return a warning for each line and path that talks to the judge, and each agents' file."""
    checks = (check for file in files for check in _check_file(file))
    return tuple(islice(checks, _MOST_WARNINGS))


def find_instruction(name: str, text: str) -> tuple[Check, ...]:
    """Return a warning if a text beside the change, such as ``the description``, does."""
    addressed = _find_addressed(text.split("\n"))
    return tuple(_warn(name, None, line) for _, line in islice(addressed, 1))


def _check_file(file: FileChange) -> Iterator[Check]:
    path = printable(file.path)
    if _AGENT_FILES.search(path):
        message = "this file tells coding agents what to do in the repository"
        place = Location(path)
        yield Check(AGENT_FILE, passed=False, message=message, location=place, severity="warning")
    if _phrases().search(_normalise(file.path)):
        yield _warn("the name of a file", Location(path), path)
    for hunk in file.hunks:
        added = [line for line in hunk.lines if line.sign == "+"]
        for at, text in _find_addressed([line.text for line in added]):
            yield _warn("an added line", Location(path, added[at].new), text)


def _find_addressed(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Iterate over the lines in which a phrase begins, which may go on in the next."""
    for at, (line, following) in enumerate(zip_longest(lines, lines[1:], fillvalue="")):
        text = _normalise(line)
        match = _phrases().search(f"{text} {_LEADER.sub('', _normalise(following))}")
        if match and match.start() < len(text):
            yield at, line


def _normalise(text: str) -> str:
    """Return a text as a model may read it: no hidden characters, one form of every letter."""
    return " ".join(unicodedata.normalize("NFKC", bare(printable(text))[0]).split())


def _warn(where: str, location: Location | None, text: str) -> Check:
    message = f"{where} addresses the judges of the change"
    evidence = show_invisible(printable(text).strip())[:_LONGEST_EVIDENCE]
    return Check(
        NAME,
        passed=False,
        message=message,
        location=location,
        severity="warning",
        evidence=evidence,
    )
