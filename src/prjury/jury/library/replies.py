"""From the reply of a model to a judgment: YES or NO in words, or an assessment in JSON.

A reply that says neither, or both, abstains: nobody guesses what a model meant.
"""

from __future__ import annotations

import inspect
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import Any, NoReturn, TypeAlias

from prjury.jury.guard import printable
from prjury.jury.judgment import Check, Judgment, Location, Status
from prjury.jury.score import NumericalScore, finite

#: From the text of a reply to a judgment; one that requires a second argument gets the context.
Classifier: TypeAlias = Callable[[str], Judgment] | Callable[[str, Any], Judgment]

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
    two words, set off by punctuation or the line's end. What follows ``Reasoning:`` is not searched
    for answers; nor are quoted lines and blocks of code. Neither word, both, or a contradiction
    make an ABSTAIN, ``no_answer``; an empty reply makes an ERROR, ``reply_invalid``.
    """
    text = strip_fence(printable(reply))
    if not text:
        return invalid("the reply is empty")
    sections = _split_sections(text.splitlines())
    reasons = "\n".join(line for section in sections if section.reasons for line in section.lines)
    message = truncate(reasons.strip() or text)
    words = _find_yes_no_answers(sections)
    if words == {"yes"}:
        return Judgment.passed(message)
    if words == {"no"}:
        return Judgment.failed(message)
    which = "both YES and NO" if words == {"yes", "no"} else "neither YES nor NO"
    return Judgment.abstained(f"the reply says {which}: {message}", "no_answer")


def with_confidence(classify: Classifier) -> Callable[..., Judgment]:
    """The classifier for replies that end as `CONFIDENCE_FORM` asks, 0..1 or per cent."""
    function: Callable[..., Judgment] = classify

    @wraps(function)
    def read_with_confidence(reply: str, /, *context: Any) -> Judgment:  # noqa: ANN401 - the judges' own
        lines = list(_CONFIDENCE.finditer(reply))
        if not lines:
            return function(reply, *context)
        last = lines[-1]
        number = float(last["number"]) / (100 if last["percent"] else 1)
        judgment = function(reply[: last.start()] + reply[last.end() :], *context)
        unsure = judgment.status is Status.ERROR or judgment.confidence is not None or number > 1
        return judgment if unsure else replace(judgment, confidence=number)

    return read_with_confidence


def requires(function: Callable[..., object], count: int) -> bool:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # some built-in functions do not tell
        return False
    kinds = {inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD}
    return sum(one.default is one.empty and one.kind in kinds for one in parameters) >= count


def asks_confidence(classify: Classifier) -> bool:
    """Return true for `assessment`, whose form asks for a confidence."""
    return getattr(classify, "func", classify) is assessment


def invalid(problem: str) -> Judgment:
    """The ERROR for a reply that is not what was asked for."""
    return Judgment.errored(problem, metadata={"reason": "reply_invalid"})


def strip_fence(text: str) -> str:
    """The text without blank space and the one code fence around all of it, if there is one."""
    bare = text.strip("\ufeff \t\r\n")
    opening, _, rest = bare.partition("\n")
    inner, _, closing = rest.rpartition("\n")
    info = opening.removeprefix(_FENCE).strip() or "text"
    around = opening.startswith(_FENCE) and info.isalnum() and closing.strip() == _FENCE
    return inner.strip() if around and f"\n{_FENCE}" not in f"\n{inner}" else bare


def truncate(text: str) -> str:
    """The text, cut where it is too long for a reasoning."""
    return text if len(text) <= LONGEST_REASONING else f"{text[:LONGEST_REASONING]} …"


@dataclass(frozen=True)
class _Section:
    label: str
    lines: list[str] = field(default_factory=list)

    @property
    def reasons(self) -> bool:
        return self.label not in {"", _ANSWER}


def _split_sections(lines: Iterable[str]) -> list[_Section]:
    sections = [_Section("")]
    for line, quoted in _mark_quotes(lines):
        label = None if quoted else _LABEL.match(line)
        if label:
            sections.append(_Section(label["label"].lower()))
        text = label["text"] or "" if label else line
        if sections[-1].reasons:
            sections[-1].lines.append(text)
        elif not quoted:
            sections += _add_line(sections[-1], text)
    return sections


def _add_line(section: _Section, line: str) -> list[_Section]:
    """Adds a line that may answer; returns the reasoning that follows on the same line."""
    may_answer = section.label or _SET_OFF.match(line)
    answer, *reasoning = _REASONING_INLINE.split(line, maxsplit=1) if may_answer else [line]
    section.lines.append(answer)
    return [_Section("reasoning", [text]) for text in reasoning]


def _mark_quotes(lines: Iterable[str]) -> Iterator[tuple[str, bool]]:
    """Each line, and whether it is somebody else's words: a quotation or a block of code."""
    fenced = False
    for line in lines:
        bare = line.lstrip()
        edge = bare.startswith(_FENCE)
        yield line, fenced or edge or bare.startswith(">")
        fenced ^= edge


def _find_yes_no_answers(sections: Iterable[_Section]) -> set[str]:
    expected: list[set[str]] = []
    others: list[set[str]] = []
    for section in sections:
        lines = [line for line in section.lines if line.strip()]
        if section.reasons or not lines:
            continue
        if section.label or _answer_words(lines[0]):
            expected.append(_answer_words(lines[0]))
        others += map(_answer_words, lines[1:])
    return set().union(*expected, *others) if expected and all(expected) else set()


def _answer_words(line: str) -> set[str]:
    return {word.casefold() for word in _WORD.findall(line)} if _SET_OFF.match(line) else set()


#: What to ask for, so that `assessment` understands the answer; ends a prompt well.
ASSESSMENT_FORM = """\
Answer with one JSON object and nothing else, no text before or after it:
{"status": "pass|fail|abstain", "score": 0.0, "rationale": "...", "confidence": 0.0,
 "findings": [{"message": "...", "severity": "error|warning|hint", "path": "...", "line": 1}]}
The score and the confidence are numbers from 0 to 1; path and line may be left out."""

#: Characters; a longer reply is not read.
LONGEST_REPLY = 1_000_000

#: Characters of the reply that are repeated in a sentence about it.
_LONGEST_SHOWN = 40

_NUMBER = (int, float)

#: The keys of a reply and of a finding, with the types of their values. Only these may occur.
_REPLY: Mapping[str, tuple[type, ...]] = {
    "status": (str,),
    "score": _NUMBER,
    "rationale": (str,),
    "findings": (list,),
    "confidence": _NUMBER,
}
_FINDING: Mapping[str, tuple[type, ...]] = {
    "name": (str,),
    "message": (str,),
    "passed": (bool,),
    "severity": (str,),
    "path": (str,),
    "line": (int,),
    "end_line": (int,),
    "evidence": (str,),
    "fix": (str,),
}
_CALLED = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    list: "a list",
    dict: "an object",
    type(None): "null",
}
_STATUSES = {"pass": Status.PASS, "fail": Status.FAIL, "abstain": Status.ABSTAIN}


class _InvalidReplyError(ValueError):
    """What is wrong with the reply, as a clause about it."""


def assessment(reply: str, /, threshold: float = 0.5) -> Judgment:
    """One JSON object as a judgment; a code fence around it is tolerated, nothing else is.

    ``status`` (pass, fail or abstain) and ``rationale`` are needed; ``score`` and ``confidence``
    (0 to 1) and ``findings`` may be missing or null. A finding is a text or an object with
    ``message`` and the other fields of a `Check`, its place as ``path``, ``line``, ``end_line``.

    Anything else makes an ERROR, ``reply_invalid``, that says what is wrong. A PASS with a score
    below the threshold contradicts itself: ABSTAIN, ``contradiction``.
    """
    if not 0.0 <= finite(threshold, "a threshold") <= 1.0:
        raise ValueError(f"a threshold is in 0..1, not {threshold}")
    try:
        return _judge_reply(_check_and_drop_nulls(_parse_reply_json(reply), _REPLY, ""), threshold)
    except _InvalidReplyError as problem:
        return invalid(truncate(f"the reply is not a valid assessment: {problem}"))


def _judge_reply(fields: Mapping[str, Any], threshold: float) -> Judgment:
    status, rationale = _read_status(fields), fields.get("rationale", "").strip()
    if not rationale:
        raise _InvalidReplyError("rationale is missing or empty")
    score, sure = _share(fields, "score"), _share(fields, "confidence")
    checks = _read_findings(fields.get("findings", ()))
    if status is Status.PASS and score is not None and score < threshold:
        message = f"the reply says PASS with a score of {score:g}, below {threshold:g}: {rationale}"
        return _abstained(message, "contradiction", sure, checks)
    if status is Status.ABSTAIN:
        return _abstained(rationale, "abstained", sure, checks)
    number = None if score is None else NumericalScore(score)
    return Judgment(status, rationale, number, confidence=sure, checks=checks)


def _abstained(
    reason: str, word: str, confidence: float | None, checks: tuple[Check, ...]
) -> Judgment:
    about = {"reason": word}
    return Judgment(Status.ABSTAIN, reason, None, word, confidence, checks, about)


def _read_status(fields: Mapping[str, Any]) -> Status:
    word = fields.get("status")
    if word is None:
        raise _InvalidReplyError("status is missing")
    status = _STATUSES.get(word.strip().lower())
    if status is None:
        raise _InvalidReplyError(f"status is {_show_value(word)}, not pass, fail or abstain")
    return status


def _share(fields: Mapping[str, Any], key: str) -> float | None:
    number = fields.get(key)
    if number is not None and not 0 <= number <= 1:
        raise _InvalidReplyError(f"{key} is {_show_value(number)}, not a number from 0 to 1")
    return None if number is None else float(number)


def _read_findings(findings: Sequence[object]) -> tuple[Check, ...]:
    return tuple(
        _read_finding(finding, f"findings[{place}]") for place, finding in enumerate(findings)
    )


def _read_finding(finding: object, where: str) -> Check:
    value = {"message": finding} if isinstance(finding, str) else finding
    entries = _check_and_drop_nulls(value, _FINDING, f"{where}.")
    if not entries.get("message", "").strip():
        raise _InvalidReplyError(f"{where}.message is missing or empty")
    place = {key: entries.pop(key) for key in ("path", "line", "end_line") if key in entries}
    if place and "path" not in place:
        raise _InvalidReplyError(f"{where} has a line and no path")
    severity = entries.pop("severity", "error").lower()
    try:
        location = Location(**place) if place else None
        return Check(
            **{"name": "finding", "passed": False, **entries}, severity=severity, location=location
        )
    except ValueError as problem:
        raise _InvalidReplyError(f"{where}: {problem}") from None


def _check_and_drop_nulls(
    value: object, types: Mapping[str, tuple[type, ...]], prefix: str
) -> dict[str, Any]:
    if not isinstance(value, dict):
        what = f"{prefix.rstrip('.')} is" if prefix else "it is"
        raise _InvalidReplyError(f"{what} {_CALLED[type(value)]}, not an object")
    for key, item in value.items():
        if key not in types:
            raise _InvalidReplyError(f"{prefix}{_show_value(key)} is not a known key")
        if item is not None and type(item) not in types[key]:
            expected = _CALLED[types[key][-1]]
            raise _InvalidReplyError(f"{prefix}{key} is {_CALLED[type(item)]}, not {expected}")
    items = (
        (key, printable(item) if isinstance(item, str) else item) for key, item in value.items()
    )
    return {key: item for key, item in items if item is not None}


def _parse_reply_json(reply: str) -> object:
    if len(reply) > LONGEST_REPLY:
        raise _InvalidReplyError(f"it is longer than {LONGEST_REPLY:,} characters")
    text = strip_fence(reply)
    if not text:
        raise _InvalidReplyError("it is empty")
    try:
        return json.loads(
            text,
            object_pairs_hook=_refuse_repeated,
            parse_constant=_name_problem,
            parse_float=_check_bounds,
        )
    except _InvalidReplyError:
        raise
    except (ValueError, RecursionError):
        raise _InvalidReplyError("it is not one JSON object and nothing else") from None


def _refuse_repeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for key, item in pairs:
        if key in value:
            raise _InvalidReplyError(f"the key {_show_value(key)} occurs twice")
        value[key] = item
    return value


def _name_problem(name: str) -> NoReturn:
    raise _InvalidReplyError(f"{name} is not a JSON number")


def _check_bounds(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise _InvalidReplyError("a number is too large to be counted with")
    return value


def _show_value(value: object) -> str:
    """The value as the reply has it, cut short, because the model chose it."""
    text = json.dumps(value)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"
