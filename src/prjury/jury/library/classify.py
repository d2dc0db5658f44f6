"""From a reply in words to a judgment: YES or NO, said clearly.

A reply that says neither, or both, abstains: what a model may have meant is not guessed at.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from prjury.jury.guard import printable
from prjury.jury.judgment import Judgment, Status

#: From the text of a reply to a judgment.
Classifier: TypeAlias = Callable[[str], Judgment]

#: What to ask for, so that `yes_or_no` understands the answer; ends a prompt well.
YES_OR_NO_FORM = """\
Answer in exactly this form, and give the reason in the second line, not in the first:
Answer: YES or NO or ABSTAIN
Reasoning: at most three sentences that name what the answer rests on"""

#: What to ask for besides, so that `with_confidence` finds it.
CONFIDENCE_FORM = """\
After all that, add one last line with a number from 0 to 1: how sure you are of your answer.
Confidence: NUMBER"""

_CONFIDENCE = re.compile(
    r"^[\s*_`#-]*confidence[\s*_`]*[:：=][\s*_`]*(?P<number>\d*\.?\d+)\s*(?P<percent>%?)[\s*_`.]*$",
    re.IGNORECASE | re.MULTILINE,
)

#: Characters of a reply that are kept as the reasoning.
LONGEST_REASONING = 4000

_ANSWER = "answer"
_REASONING = "reasoning|reason|explanation|rationale"
_COLON = r"[\s*_`]*[:：](?:\*\*|__)?"
_LABEL = re.compile(
    rf"[\s*_#`+•-]*(?:final\s+)?(?P<label>{_ANSWER}|{_REASONING})"
    rf"(?:{_COLON}(?P<text>.*)|[\s*_`]*$)",
    re.IGNORECASE,
)
_REASONING_INLINE = re.compile(rf"\b(?:{_REASONING}){_COLON}", re.IGNORECASE)

_WORD = re.compile(r"(?<![^\W_])(?:yes|no)(?![^\W_])", re.IGNORECASE)

#: The word as an answer, set off by punctuation or the line's end: not "No problem", "YES/NO",
#: "no-op" or "yes?".
_SET_OFF = re.compile(
    r"[\s*_`\"'“‘(\[]*(?:yes|no)\s*(?:$|(?![-'’]\w)(?:_|[^\w\s?/|&]))", re.IGNORECASE
)
_FENCE = "```"


def yes_or_no(reply: str, /) -> Judgment:
    """YES as PASS, NO as FAIL.

    The answer is a line ``Answer: YES`` or ``Answer: NO``, or a reply that begins with one of the
    two words, set off by punctuation or the line's end. What follows ``Reasoning:`` is the
    reasoning and is not searched for answers; nor are quoted lines and blocks of code. Letter case
    and Markdown's emphasis do not matter.

    Neither word, both words on a line that answers, or lines that contradict each other make an
    ABSTAIN with the reason ``no_answer``; an empty reply makes an ERROR, ``reply_invalid``.
    """
    text = unfenced(printable(reply))
    if not text:
        return invalid("the reply is empty")
    sections = _sections(text.splitlines())
    reasons = "\n".join(line for section in sections if section.reasons for line in section.lines)
    told = shortened(reasons.strip() or text)
    words = _answers(sections)
    if words == {"yes"}:
        return Judgment.passed(told)
    if words == {"no"}:
        return Judgment.failed(told)
    which = "both YES and NO" if words == {"yes", "no"} else "neither YES nor NO"
    return Judgment.abstained(f"the reply says {which}: {told}", "no_answer")


def with_confidence(classify: Classifier) -> Classifier:
    """The classifier for replies that end as `CONFIDENCE_FORM` asks.

    The last such line is taken out of the reply, and its number, 0..1 or per cent, is the
    judgment's confidence unless the classifier found one itself.
    """

    def classified(reply: str, /) -> Judgment:
        lines = list(_CONFIDENCE.finditer(reply))
        if not lines:
            return classify(reply)
        last = lines[-1]
        number = float(last["number"]) / (100 if last["percent"] else 1)
        said = classify(reply[: last.start()] + reply[last.end() :])
        unsure = said.status is Status.ERROR or said.confidence is not None or number > 1
        return said if unsure else replace(said, confidence=number)

    return classified


def invalid(problem: str) -> Judgment:
    """The ERROR for a reply that is not what was asked for."""
    return Judgment.errored(problem, metadata={"reason": "reply_invalid"})


def unfenced(text: str) -> str:
    """The text without blank space and the one code fence around all of it, if there is one."""
    bare = text.strip("\ufeff \t\r\n")
    opening, _, rest = bare.partition("\n")
    inner, _, closing = rest.rpartition("\n")
    info = opening.removeprefix(_FENCE).strip() or "text"
    around = opening.startswith(_FENCE) and info.isalnum() and closing.strip() == _FENCE
    return inner.strip() if around and f"\n{_FENCE}" not in f"\n{inner}" else bare


def shortened(text: str) -> str:
    """The text, cut where it is too long for a reasoning."""
    return text if len(text) <= LONGEST_REASONING else f"{text[:LONGEST_REASONING]} …"


@dataclass(frozen=True)
class _Section:
    """The lines below a label, or those before the first one."""

    label: str
    lines: list[str] = field(default_factory=list)

    @property
    def reasons(self) -> bool:
        return self.label not in {"", _ANSWER}


def _sections(lines: Iterable[str]) -> list[_Section]:
    sections = [_Section("")]
    for line, quoted in _quoted(lines):
        label = None if quoted else _LABEL.match(line)
        if label:
            sections.append(_Section(label["label"].lower()))
        text = label["text"] or "" if label else line
        if sections[-1].reasons:
            sections[-1].lines.append(text)
        elif not quoted:
            sections += _added(sections[-1], text)
    return sections


def _added(section: _Section, line: str) -> list[_Section]:
    """Adds a line that may answer; returns the reasoning that follows on the same line."""
    may_answer = section.label or _SET_OFF.match(line)
    answer, *reasoning = _REASONING_INLINE.split(line, maxsplit=1) if may_answer else [line]
    section.lines.append(answer)
    return [_Section("reasoning", [text]) for text in reasoning]


def _quoted(lines: Iterable[str]) -> Iterator[tuple[str, bool]]:
    """Each line, and whether it is somebody else's words: a quotation or a block of code."""
    fenced = False
    for line in lines:
        bare = line.lstrip()
        edge = bare.startswith(_FENCE)
        yield line, fenced or edge or bare.startswith(">")
        fenced ^= edge


def _answers(sections: Iterable[_Section]) -> set[str]:
    """The words that answer; none if something else stands where an answer should."""
    expected: list[set[str]] = []
    others: list[set[str]] = []
    for section in sections:
        lines = [line for line in section.lines if line.strip()]
        if section.reasons or not lines:
            continue
        if section.label or _words(lines[0]):
            expected.append(_words(lines[0]))
        others += map(_words, lines[1:])
    return set().union(*expected, *others) if expected and all(expected) else set()


def _words(line: str) -> set[str]:
    """Yes, no or both, if the line begins with one of them as an answer."""
    return {word.casefold() for word in _WORD.findall(line)} if _SET_OFF.match(line) else set()
