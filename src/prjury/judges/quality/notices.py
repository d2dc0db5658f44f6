"""Finds text in a change that tries to tell its judge what to decide. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import zip_longest

from prjury.jury.judgment import Check, Location
from prjury.report.invisible_chars import bare, show_invisible
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


def same_family(pull: PullRequest, models: Iterable[str]) -> tuple[Check, ...]:
    """A hint for each family that has written the change and judges it as well."""
    signs = "\n".join(filter(None, (pull.author, pull.body)))
    names = list(models)
    return tuple(
        _family_hint(family)
        for family, (models_of, account, signature) in _FAMILIES.items()
        if _has(rf"^{account}\[bot\]$|{_SIGNED}{signature}", signs)
        and any(_has(models_of, name) for name in names)
    )


def _has(pattern: str, text: str) -> bool:
    return re.search(pattern, text, re.IGNORECASE | re.MULTILINE) is not None


def _family_hint(family: str) -> Check:
    message = f"the change says that a model of {family} wrote it, and one of {family} judges it"
    return Check(SAME_FAMILY, False, message, severity="hint")  # noqa: FBT003 - the failed check is named


NAME = "instruction-to-judge"
AGENT_FILE = "agent-instruction-file"

#: Findings that are reported; a change that holds more is no better known by more of them.
_TOLD = 20
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
    """A warning for each added line and path that talks to the judge, and each file for agents."""
    found: list[Check] = []
    for file in files:
        for check in _check_file(file):
            found.append(check)
            if len(found) == _TOLD:
                return tuple(found)
    return tuple(found)


def spoken(name: str, text: str) -> tuple[Check, ...]:
    """A warning where a text beside the change talks to the judge."""
    lines = text.split("\n")
    for line, following in zip_longest(lines, lines[1:]):
        if _begins(line, following):
            message = f"{name} addresses the judges of the change"
            evidence = show_invisible(printable(line).strip())[:_LONGEST_EVIDENCE]
            return (Check(NAME, False, message, None, "warning", evidence),)  # noqa: FBT003
    return ()


def _check_file(file: FileChange) -> Iterator[Check]:
    path = printable(file.path)
    if _AGENT_FILES.search(path):
        message = "this file tells coding agents what to do in the repository"
        yield Check(AGENT_FILE, False, message, Location(path), "warning")  # noqa: FBT003 - as below
    if _phrases().search(_plain(file.path)):
        yield _check("the name of a file", Location(path), path)
    for hunk in file.hunks:
        added = [line for line in hunk.lines if line.sign == "+"]
        for line, following in zip_longest(added, added[1:]):
            if _begins(line.text, following.text if following else None):
                yield _check("an added line", Location(path, line.new), line.text)


def _begins(line: str, following: str | None) -> bool:
    text = _plain(line)
    rest = _LEADER.sub("", _plain(following)) if following else ""
    found = _phrases().search(f"{text} {rest}")
    return found is not None and found.start() < len(text)


def _plain(text: str) -> str:
    """The text as a model may read it: no hidden characters, one form of every letter."""
    return " ".join(unicodedata.normalize("NFKC", bare(printable(text))[0]).split())


def _check(where: str, location: Location, text: str) -> Check:
    message = f"{where} addresses the judges of the change"
    evidence = show_invisible(printable(text).strip())[:_LONGEST_EVIDENCE]
    return Check(NAME, False, message, location, "warning", evidence)  # noqa: FBT003 - not in order
