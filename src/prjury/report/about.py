"""Why the rules of findings are rules, where that is written, and how to silence one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from prjury.report.findings import Finding

_MOST_REFERENCES = 2


@dataclass(frozen=True, slots=True)
class About:
    """What a judge says of one of its rules.

    Attributes:
        silence: the comment that silences it in a line; empty where the policy allows none.
    """

    rule: str
    why: str
    references: tuple[str, ...] = ()
    silence: str = ""

    @property
    def words(self) -> str:
        """Why it is a rule, and where to read on."""
        see = " and ".join(f"`{one}`" for one in self.references)
        return " ".join(filter(None, [self.why, f"See {see}" if see else ""]))


def how_to(rules: Sequence[About]) -> str:
    """How to read more of rules, and how to silence them."""
    name = rules[0].rule if len(rules) == 1 else "RULE"
    silenced = next((rule for rule in rules if rule.silence), None)
    example = silenced.silence.replace(silenced.rule, name) if silenced else ""
    line = f" To silence it, write `{example}` in a comment on its line or the line before."
    return f"`prjury rules show {name}` explains it.{line if silenced else ''}"


def about(found: Iterable[Finding]) -> tuple[About, ...]:
    """Each rule of the findings once, in their order; none of judges that say nothing of rules."""
    rules: dict[str, About] = {}
    for finding in found:
        name = finding.check.name
        if name not in rules and (entry := details_of(finding)):
            rules[name] = _about(name, entry, finding.voice.judgment.metadata)
    return tuple(rules.values())


def details_of(finding: Finding) -> Mapping[str, Any]:
    """What the judge says of the finding's rule in ``metadata["findings"]``; empty without it."""
    entries = finding.voice.judgment.metadata.get("findings")
    for entry in entries if isinstance(entries, list | tuple) else ():
        if isinstance(entry, Mapping) and entry.get("rule") == finding.check.name:
            return entry
    return {}


def _about(name: str, entry: Mapping[str, Any], metadata: Mapping[str, Any]) -> About:
    why, silence = entry.get("why"), entry.get("silence")
    allowed = isinstance(silence, str) and metadata.get("silencing") is not False
    references = tuple(texts(entry.get("references")))[:_MOST_REFERENCES]
    words = " ".join(why.split()) if isinstance(why, str) else ""
    return About(name, words, references, str(silence) if allowed else "")


def texts(value: object) -> Iterator[str]:
    """The texts of a list that came from a judge's metadata."""
    if isinstance(value, list | tuple):
        yield from (one for one in value if isinstance(one, str))
