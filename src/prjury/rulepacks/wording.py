"""What a finding says: the name that the line uses, why it counts here, what to write instead."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from prjury.manifests.module import DeclaredVersion
from prjury.snapshot.model import printable

#: Why a finding is less than its rule says; ``upcoming`` is no finding at all.
Doubt = Literal["", "some", "itself", "unknown", "undeclared", "upcoming"]

_LONGEST = 80
_NAME = r"[@\w$./:=*()\[\]-]*\w[@\w$./:=*()\[\]-]*"
_LIST = rf"{_NAME}(?:, {_NAME})*(?:,? (?:and|or) {_NAME})?"
_OF = r"(?: of [\w'. ]+?)?"
_VERB = "were|was|are|is|do|does|have|has|fail|fails|return|returns|moved"
_SUBJECT = re.compile(
    rf"(?:[Tt]he (?:hook )?(?:argument|method|module|configuration)s? )?"
    rf"({_LIST})(?P<likes> and its likes| and its relatives)?({_OF}) ({_VERB})\b(.*)"
)
_PRONOUN = re.compile(
    r"[Tt]his (?:(?:name|module|method|dtype|key of the configuration) (?=\w)|(?=is ))"
)
_SAME_NUMBER = re.compile(rf"((?: to)? )({_LIST})(.*)")
_TO_DO = frozenset(
    "use take write call remove leave put drop pass pick make mark move add map keep look say set "
    "see wrap give ask await apply configure declare describe export hand import migrate name "
    "choose define split open begin change assign run install replace call instead".split()
)
_USE = re.compile(rf"((?:use|take|write|call) )({_LIST})$")
_SEPARATOR = re.compile(r",? (?:and|or) |, ")
_WORD = re.compile(r"\w+(?=\W*$)")
_SINGULAR = {
    "were": "was",
    "are": "is",
    "do": "does",
    "have": "has",
    "fail": "fails",
    "return": "returns",
}
_WORDY = re.compile(r"[@\w$.:/]+(?:\(\))?")


@dataclass(frozen=True)
class Basis:
    """What the severity of a finding rests on: the declaration that decides, and what is unsure."""

    declared: DeclaredVersion | None = None
    doubt: Doubt = ""

    @property
    def words(self) -> str:
        """``pyproject.toml:12 declares numpy >=2.1``; empty where nothing is declared."""
        one = self.declared
        if one is None:
            return ""
        place = f"{one.path}:{one.line}" if one.line else one.path
        version = one.version or one.written
        name = printable(str(one))
        return f"{place} declares {name} {printable(version) if version else 'without a version'}"


def clause(message: str, found: str) -> str:
    """The first part of a rule's message, about those names alone that the code uses.

    Args:
        found: the code in which the rule's pattern was found; may be empty.
    """
    head = message.partition("; ")[0]
    if _PRONOUN.match(head) and _is_name(found):
        return _PRONOUN.sub(f"`{found}` ", head, count=1)
    subject = _SUBJECT.fullmatch(head)
    if subject is None:
        return head
    listed, likes, of, verb, rest = subject.groups()
    names = _SEPARATOR.split(listed)
    used = [name for name in names if _stands_in(name, found)]
    if not used and not ((likes or len(names) > 1) and _is_name(found)):
        return head
    if len(used) > 1 or (len(names) == 1 and not likes):
        return f"{_listed(used)}{of} {verb}{rest}"
    written = found if _is_name(found) else used[0]
    several = _SAME_NUMBER.fullmatch(rest) if len(names) > 1 else None
    if several and used and len(others := _SEPARATOR.split(several[2])) == len(names):
        rest = f"{several[1]}`{others[names.index(used[0])]}`{several[3]}"
    return f"`{written}`{of} {_SINGULAR.get(verb, verb)}{rest}"


def advice(message: str, found: str, fixed: str | None) -> str:
    """What to do about it, as a sentence; empty where the message does not say.

    Args:
        fixed: what a fix makes of the code that was found; None without one.
    """
    head, _, tail = message.partition("; ")
    use = _USE.fullmatch(tail)
    if fixed and fixed.strip() and len(fixed) <= _LONGEST and not {*"`\n"} & {*fixed}:
        more = "" if not tail or tail.startswith(("use ", "take ", "write ", "call ")) else tail
        return " ".join(filter(None, [_sentence(more), f"Write `{fixed.strip()}`."]))
    subject = _SUBJECT.fullmatch(head)
    if use and subject:
        names, ways = (_SEPARATOR.split(text) for text in (subject[1], use[2]))
        used = [way for name, way in zip(names, ways, strict=False) if _stands_in(name, found)]
        if len(names) == len(ways) and len(used) == 1:
            return _sentence(f"{use[1]}`{used[0]}`")
    return _sentence(tail)


def told(message: str, found: str, fixed: str | None, basis: Basis, *, established: bool) -> str:
    """All that a finding says, in sentences."""
    head, words = clause(message, found).rstrip("."), basis.words
    if words and basis.doubt in {"", "some"}:
        head = f"{head}; {words}{', which allows such versions' if basis.doubt else ''}"
    softer = "A warning only: this module uses it already." if established else _doubted(basis)
    more = [part for part in (softer, advice(message, found, fixed)) if part]
    return " ".join([f"{head}.", *more]) if more else head


def _doubted(basis: Basis) -> str:
    name = printable(str(basis.declared)) if basis.declared else "it"
    return {
        "itself": f"A hint only: this repository is {name} itself.",
        "unknown": f"A hint only: {basis.words or f'the version of {name} is not known'}, "
        "and that does not say whether it holds here.",
        "undeclared": "A hint only: no build file here says which version is used.",
    }.get(basis.doubt, "")


def _stands_in(name: str, found: str) -> bool:
    """Whether the last word of a name stands in the code."""
    word = _WORD.search(name)
    return bool(word and re.search(rf"(?<!\w){re.escape(word[0])}(?!\w)", found))


def _is_name(text: str) -> bool:
    return len(text) <= _LONGEST and _WORDY.fullmatch(text) is not None


def _listed(names: list[str]) -> str:
    *first, last = (f"`{name}`" for name in names)
    return f"{', '.join(first)} and {last}" if first else last


def _sentence(text: str) -> str:
    text = text.rstrip(".")
    if not text:
        return ""
    to_do = text.split()[0] in _TO_DO
    return f"{text[0].upper()}{text[1:]}." if to_do else f"Note: {text}."
