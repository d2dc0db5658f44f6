"""What the judges of changes read, what programs know of it, and texts that talk to the judges."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import accumulate, islice, zip_longest

from msgspec import Struct

from prjury.deadline import Deadline
from prjury.judges.context import LINKED_ISSUES, CallSite, PullRequestContext
from prjury.judges.quality.judge import Inquiry, ModelBackedJudge
from prjury.judges.quality.prompt_input import (
    SENT_KINDS,
    Fact,
    Material,
    Section,
    cut_text,
    make_document,
    make_sections,
    show_safely,
    sizes,
)
from prjury.judges.quality.question import CHARACTERS_PER_TOKEN, Instructions, OwnTexts
from prjury.judges.quality.surroundings import widen_hunks_once
from prjury.judges.quality.votes import PassMark
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Check, Judgment, Location
from prjury.jury.voting import NOT_APPLICABLE, Ballot
from prjury.policy.tiers import QuestionOptions
from prjury.ports import Ports
from prjury.report.judge_facts import BuildFacts
from prjury.report.sanitise import Redact, bare, show_invisible
from prjury.snapshot.kinds import edits_only_docs
from prjury.snapshot.model import FileChange, FileKind, PullRequest, printable

#: The path under which evidence quotes what the author says. Git stores no such path, so that no
#: file of a change can take its place.
DESCRIPTION_PATH = "/description"
#: Characters of one issue, and the part of a chunk that all of them may take.
_LONGEST_ISSUE, _ISSUES_SHARE = 4_000, 4


class Kind(Struct, frozen=True):
    """What judges of changes differ in: questions, and what is read.

    It is instructed by a template that needs nothing but the criteria, or by a function of the
    base's own texts and the change; ``aside`` says why a change is none of its business. What an
    author writes sways its reader: a judge that reads the description can only lower a verdict.
    """

    name: str
    about: str
    criteria: Mapping[str, str]
    instruct: Callable[[OwnTexts, PullRequest], Instructions] | str
    kinds: Collection[FileKind] = SENT_KINDS
    aside: Callable[[PullRequest], str | None] = lambda _: None
    described: bool = False
    linked: bool = False
    must: frozenset[str] = frozenset()
    inapplicable: Callable[[PullRequestContext], Mapping[str, str]] = lambda _: {}


def make_judge(
    kind: Kind, options: QuestionOptions, ports: Ports
) -> ModelBackedJudge[PullRequestContext]:
    """Make the judge of this kind, which asks a panel."""
    panel = ports.models.panel(options.model)
    room = min((model.room for model in panel.models), default=0) * CHARACTERS_PER_TOKEN

    def make_instructions(context: PullRequestContext) -> Instructions:
        base = context.pull.base.sha
        own = context.once.get("own texts", lambda: OwnTexts.of(ports.repository, base))
        if isinstance(kind.instruct, str):
            return own.prompts().render(kind.instruct, {"criteria": dict(kind.criteria)})
        return kind.instruct(own, context.pull)

    inquiry = Inquiry(
        kind.name,
        kind.about,
        kind.criteria,
        PassMark(options.threshold, kind.must),
        ChangeReader(kind, ports, max(1, room), tuple(model.name for model in panel.models)),
        make_instructions,
        kind.described,
        kind.inapplicable,
    )
    return ModelBackedJudge(
        inquiry, panel, options.runs, ports.memory, lambda context: context.deadline
    )


class ChangeReader(Struct, frozen=True):
    """Lays out a change, and what it stands in; ``room`` is the characters of a chunk."""

    kind: Kind
    ports: Ports
    room: int
    models: tuple[str, ...]

    def __call__(self, context: PullRequestContext, deadline: Deadline) -> Material | Judgment:
        """Return the change as material; the abstention where none of it is for this judge."""
        pull, redact = context.pull, self.ports.redact
        if reason := self.kind.aside(pull) or _explain_nothing(pull):
            return Judgment.abstained(reason, NOT_APPLICABLE)
        sections, left_out = make_sections(filter(self._reads, pull.files), redact, self.room)
        if sections:
            # What the change stands in is shown unless that takes more questions.
            around = widen_hunks_once(context, self.ports.repository, deadline)
            wider, _ = make_sections(filter(self._reads, around), redact, self.room)
            questions, more = (math.ceil(sizes(some) / self.room) for some in (sections, wider))
            if more <= questions and len(wider) == len(sections):
                sections = wider
        sites = context.once.get("call sites", context.find_call_sites)
        facts = list_facts(context.ballots, sites, redact)
        always, notes = self._read_body_and_issues(context) if self.kind.described else ((), [])
        warnings = (*find_injections(pull.files), *hint_at_same_family(pull, self.models), *notes)
        return Material(sections, left_out, always, facts, warnings)

    def _read_body_and_issues(
        self, context: PullRequestContext
    ) -> tuple[tuple[Section, ...], Sequence[Check]]:
        pull, redact = context.pull, self.ports.redact
        text = f"{pull.title.strip()}\n\n{pull.body.strip()}".strip()
        texts = [make_document(DESCRIPTION_PATH, "description", text, redact)]
        notes = [*find_injection("the description", f"{pull.title}\n{pull.body}")]
        half = self.room // 2 - texts[0].size  # the other is for the change
        room = min(self.room // _ISSUES_SHARE, half)
        for issue in (
            context.once.get(LINKED_ISSUES, context.read_issues) if self.kind.linked else ()
        ):
            text = cut_text(issue.text, _LONGEST_ISSUE, redact)
            section = make_document(f"/issue-{issue.number}", "issue", text, redact)
            problem = issue.problem or ("" if section.size <= room else "it is too long")
            if problem:
                note = f"#{issue.number}, which the description closes, was not read: {problem}"
                notes.append(Check("linked-issue", passed=False, message=note, severity="hint"))
                continue
            room -= section.size
            texts.append(section)
            notes += find_injection(f"the issue #{issue.number}", issue.text)
        return tuple(texts), notes

    def _reads(self, file: FileChange) -> bool:
        kinds = self.kind.kinds
        return file.kind in kinds or (kinds == SENT_KINDS and file.kind not in SENT_KINDS)


def _explain_nothing(pull: PullRequest) -> str | None:
    if edits_only_docs(pull):
        return "only documentation changes"
    if not any(file.hunks or file.unread for file in pull.files if file.kind in SENT_KINDS):
        return "no line of text changes"
    return None


#: Characters of all facts together, and of one.
MOST_CHARACTERS, _LONGEST = 2_000, 200
#: Characters of a path beside a line of code.
_LONGEST_PATH = 60
#: Findings of one judge that are listed.
_MOST_FINDINGS = 5
#: Characters that what judges say may take; the rest is for call sites.
_JUDGES_SHARE = 1_000


def list_facts(
    ballots: Sequence[Ballot], sites: Sequence[CallSite], redact: Redact
) -> tuple[Fact, ...]:
    """Return what the programs of earlier tiers say, and then the call sites that fit."""
    judged = [Fact(_fit_line(text, redact)) for text in _describe_deterministic_ballots(ballots)]
    called = [Fact(_fit_line(_describe_call_site(site), redact), site.name) for site in sites]
    first = _fit(judged, _JUDGES_SHARE)
    return (*first, *_fit(called, MOST_CHARACTERS - sum(len(fact.text) + 3 for fact in first)))


def _fit(facts: Sequence[Fact], room: int) -> list[Fact]:
    ends = accumulate(len(fact.text) + 3 for fact in facts)
    return [fact for fact, end in zip(facts, ends, strict=True) if end <= room]


def _describe_call_site(site: CallSite) -> str:
    """Say where the name stands; of a long path the end, of a long line what follows the name."""
    path, text = site.path, site.text
    if len(path) > _LONGEST_PATH:
        path = f"…{path[-_LONGEST_PATH:]}"
    if len(text) > _LONGEST - len(path) - 2 * len(site.name) - 20:
        text = f"…{text[max(0, text.find(site.name) - 1) :]}"
    return f"{site.verb} {site.name}: {path}:{site.line}: {text}"


def _fit_line(text: str, redact: Redact) -> str:
    line = show_safely(" ".join(text.split()), redact)
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


def _describe_deterministic_ballots(ballots: Sequence[Ballot]) -> Iterator[str]:
    # Judges end in any order, and another order would be another question.
    for ballot in sorted(ballots, key=lambda ballot: ballot.judge):
        judgment = ballot.judgment
        if ballot.type is not JudgeType.DETERMINISTIC or judgment.label == NOT_APPLICABLE:
            continue
        words, build = judgment.reasoning, BuildFacts.parse(judgment)
        if build and (tests := build.tests):
            failed = f"{tests.failed} failed" if tests.failed else "none failed"
            vanished = f", {tests.vanished} no longer run" if tests.vanished else ""
            words = f"{tests.run} tests run, {failed}{vanished}"
        yield f"{ballot.judge}: {judgment.status.value}, {words}"
        checks = judgment.failed_checks
        for check in checks[:_MOST_FINDINGS]:
            yield f"{check.location or check.name}: {check.message}"
        if len(checks) > _MOST_FINDINGS:
            yield f"and {len(checks) - _MOST_FINDINGS} more of these"


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


def hint_at_same_family(pull: PullRequest, models: Iterable[str]) -> tuple[Check, ...]:
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


INSTRUCTION = "instruction-to-judge"
AGENT_FILE = "agent-instruction-file"

#: Warnings of a change; one that holds more is no better known by more of them.
_MOST_WARNINGS = 20
_MOST_EVIDENCE = 300

_REVIEWER = r"(?:code[- ]?)?(?:reviewers?|judges?|jur(?:y|or|ors)|graders?|evaluators?)"
_MACHINE = (
    r"(?:ai|llm|gpt|chatgpt|claude|gemini|copilot|(?:language[ ])?model|assistant|bot|agent)s?"
)
_MUST = r"(?:must|should|shall|please|need(?:s)?[ ]to|ha(?:s|ve)[ ]to|will|are[ ]to|is[ ]to)"
_WORK = r"(?:pr|pull[- ]request|merge[- ]request|changes?|diff|patch|commit|code|submission)"


@cache  # compiling takes 3 ms, and few reviews ask models
def _compile_injections() -> re.Pattern[str]:
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


def find_injections(files: Iterable[FileChange]) -> tuple[Check, ...]:
    """Return a warning for each line and path that talks to the judge, and each agents' file."""
    checks = (check for file in files for check in _warn_of_injections_and_agents(file))
    return tuple(islice(checks, _MOST_WARNINGS))


def find_injection(name: str, text: str) -> tuple[Check, ...]:
    addressed = _find_addressed(text.split("\n"))
    return tuple(_make_injection_warning(name, None, line) for _, line in islice(addressed, 1))


def _warn_of_injections_and_agents(file: FileChange) -> Iterator[Check]:
    path = printable(file.path)
    if _AGENT_FILES.search(path):
        message = "this file tells coding agents what to do in the repository"
        place = Location(path)
        yield Check(AGENT_FILE, passed=False, message=message, location=place, severity="warning")
    if _compile_injections().search(_normalise(file.path)):
        yield _make_injection_warning("the name of a file", Location(path), path)
    for hunk in file.hunks:
        added = [line for line in hunk.lines if line.sign == "+"]
        for at, text in _find_addressed([line.text for line in added]):
            yield _make_injection_warning("an added line", Location(path, added[at].new), text)


def _find_addressed(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    for at, (line, following) in enumerate(zip_longest(lines, lines[1:], fillvalue="")):
        text = _normalise(line)
        match = _compile_injections().search(f"{text} {_LEADER.sub('', _normalise(following))}")
        if match and match.start() < len(text):
            yield at, line


def _normalise(text: str) -> str:
    """Return a text as a model may read it: no hidden characters, one form of every letter."""
    return " ".join(unicodedata.normalize("NFKC", bare(printable(text))[0]).split())


def _make_injection_warning(where: str, location: Location | None, text: str) -> Check:
    message = f"{where} addresses the judges of the change"
    evidence = show_invisible(printable(text).strip())[:_MOST_EVIDENCE]
    return Check(
        INSTRUCTION,
        passed=False,
        message=message,
        location=location,
        severity="warning",
        evidence=evidence,
    )
