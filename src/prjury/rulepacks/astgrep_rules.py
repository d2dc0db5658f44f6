"""ast-grep's rules as a pack: another format, the same model."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from pydantic import ValidationError

from prjury.code.languages import LANGUAGES
from prjury.errors import ConfigError
from prjury.policy.yaml_reader import Document, KeyPath
from prjury.rulepacks.astgrep_format import RuleFile, WrittenRule
from prjury.rulepacks.compiled import broken_pattern, refusal
from prjury.rulepacks.example import Cases, Example, Tests
from prjury.rulepacks.files import Locate, PackPosition, document_error
from prjury.rulepacks.rule import Pack

_LEADING = re.compile(r"\s*([A-Za-z_]\w{2,})")
_WHOLE = re.compile(r"\^([A-Za-z_]\w{2,})\$")


def literals_of(rule: Mapping[str, Any]) -> list[str]:
    """Words of which one begins every match of the rule; none where nobody can tell.

    Only what a match begins with counts: the rest of it may stand in lines that are not looked at.
    """
    match rule:
        case {"pattern": str(text)} if word := _LEADING.match(text):
            return [word[1]]
        case {"regex": str(text)} if word := _WHOLE.fullmatch(text):
            return [word[1]]
        case {"all": list(parts)} if found := next(filter(None, map(_part, parts)), None):
            return found
        case {"any": list(parts)} if parts and all(map(_part, parts)):
            return sorted({word for part in parts for word in _part(part)})
    return []


def _part(rule: object) -> list[str]:
    return literals_of(rule) if isinstance(rule, dict) else []


_NOT_IN_AN_ID = re.compile(r"[^a-z0-9]+")
_LONGEST_ID = 60
_LONGEST_TITLE = 100


def converted(
    name: str, written: Sequence[WrittenRule], utils: Mapping[str, Mapping[str, Any]]
) -> tuple[Pack, Locate]:
    """The rules as one pack; those that are ``off`` are left out.

    Args:
        name: what they are called together.
        utils: rules that they may refer to, by language.

    Raises:
        ConfigError: for a rule that ast-grep does not take or that cannot be a pack's.
    """
    kept = [one for one in written if one.rule.severity != "off"]
    if not kept:
        raise ConfigError(f"every rule of {name} is off", remedy="Take it out of `paths`")
    head = {"id": _identifier(name), "title": name, "gate": "always"}
    pack = _validated({**head, "utils": _all_utils(kept, utils)}, kept)
    rules = [
        rule.model_copy(update={"tests": _tests(one)})
        for rule, one in zip(pack.rules, kept, strict=True)
    ]
    pack = pack.model_copy(update={"rules": rules})
    for number, one in enumerate(kept):
        _check(pack, number, one)
    return pack, partial(_place, kept)


def _validated(head: dict[str, Any], written: Sequence[WrittenRule]) -> Pack:
    try:
        return Pack.model_validate({**head, "rules": [_rule(one) for one in written]})
    except ValidationError as error:
        first = error.errors()[0]
        problem = str(first["msg"]).removeprefix("Value error, ")
        number = next((part for part in first["loc"] if isinstance(part, int)), 0)
        raise document_error(written[number].document, (), problem) from error


def _rule(written: WrittenRule) -> dict[str, Any]:
    rule = written.rule
    message = rule.message.strip() or rule.id
    match = {
        "languages": list(written.languages),
        "files": [glob for text in rule.files for glob in _globs(text)],
        "ignores": [glob for text in rule.ignores for glob in _globs(text)],
        "ast-grep": _renamed(rule.rule, rule),
        "constraints": _renamed(rule.constraints, rule),
        "rewrite": _template(rule.fix),
    }
    return {
        "id": _identifier(rule.id),
        "title": message.partition("\n")[0][:_LONGEST_TITLE],
        "why": (rule.note or "").strip() or message,
        "literals": literals_of(rule.rule),
        "match": [match],
        "message": message,
        "replacement": _advice(rule.fix),
        "severity": "hint" if rule.severity == "info" else rule.severity,
        "confidence": "high",
        "references": [rule.url or written.document.source],
    }


def _identifier(name: str) -> str:
    return _NOT_IN_AN_ID.sub("-", name.lower())[:_LONGEST_ID].strip("-")


def _globs(glob: str) -> list[str]:
    """The glob for a matcher whose ``*`` also means directories: ``**/`` may stand for none."""
    glob = glob.removeprefix("./")
    return list(dict.fromkeys((glob, glob.replace("**/", ""))))


def _template(fix: str | dict[str, Any] | list[Any] | None) -> str | None:
    """What the match becomes; a fix that reaches beyond the match is the reader's to apply."""
    match fix:
        case str():
            return fix
        case {"template": str(template), **rest} if not rest.keys() & {"expandStart", "expandEnd"}:
            return template
    return None


def _advice(fix: str | dict[str, Any] | list[Any] | None) -> str | None:
    """The fix as it is written; its metavariables are the reader's to fill in."""
    match fix:
        case str():
            return fix.strip() or "remove it"
        case {"template": str(template)} | [{"template": str(template)}, *_]:
            return template.strip() or "remove it"
    return None


def _all_utils(
    written: Sequence[WrittenRule], shared: Mapping[str, Mapping[str, Any]]
) -> dict[str, dict[str, Any]]:
    """The shared utility rules and each rule's own, by language."""
    found = {language: dict(rules) for language, rules in shared.items()}
    for one in written:
        own = {_own(one.rule, name): _renamed(r, one.rule) for name, r in one.rule.utils.items()}
        for language in one.languages if own else ():
            found.setdefault(language, {}).update(own)
    return found


def _own(rule: RuleFile, name: str) -> str:
    """A rule's own utility under a name that no other rule's has."""
    return f"{_identifier(rule.id)}--{name}"


def _renamed(part: Any, rule: RuleFile) -> Any:  # noqa: ANN401 - YAML
    """A part of a rule that refers to the rule's own utilities by their new names."""
    match part:
        case dict():
            return {
                key: _own(rule, value)
                if key == "matches" and isinstance(value, str) and value in rule.utils
                else _renamed(value, rule)
                for key, value in part.items()
            }
        case list():
            return [_renamed(value, rule) for value in part]
    return part


def _tests(written: WrittenRule) -> Tests:
    """The rule's cases, for the first of its languages; either list may be empty."""
    if written.test is None:
        return Tests()
    test, _ = written.test
    invalid = [Example(code=code) for code in test.invalid]
    cases = Cases.model_construct(valid=test.valid, invalid=invalid, file=None)
    return Tests.model_construct(code={written.languages[0]: cases}, versions=[])


def _check(pack: Pack, number: int, written: WrittenRule) -> None:
    for name in written.languages:
        problem = refusal(pack, pack.rules[number].match[0], LANGUAGES[name])
        text = broken_pattern([written.rule.rule, written.rule.utils], LANGUAGES[name])
        if text is not None:
            problem = problem or f"{name}: the pattern {text!r} is not code"
        if problem:
            raise document_error(written.document, ("rule",), f"rule {written.rule.id}: {problem}")


def _place(written: Sequence[WrittenRule], path: KeyPath) -> PackPosition:
    match path:
        case ("rules", int(number), *rest):
            one = written[number]
            match rest:
                case ["tests", "code", _, *case] if one.test:
                    return _line(one.test[1], tuple(case))
            return _line(one.document, ())
    return _line(written[0].document, ())


def _line(document: Document, path: KeyPath) -> PackPosition:
    return PackPosition(document.source, document.line_of(path) or 1)
