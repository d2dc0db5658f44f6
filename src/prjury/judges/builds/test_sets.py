"""The tests of a run, and those that it has lost when compared with another run. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from difflib import SequenceMatcher

from prjury.judges.builds.failure import Results

#: What stands between a test's own name and what it belongs to.
_SEPARATOR = re.compile(r"::|[:#>]")
#: Where a test has no place of its own, its suite is that of the report.
_OF_REPORTS = re.compile(
    r"(?:^|/)(?:_prjury(?:/.*)?|target/(?:surefire|failsafe)-reports|build/test-results/\w+)$"
    r"|(?:…/)?reports$"
)
_PARAMETERS = re.compile(r"[\[(]")
#: From here on two names in one module are taken for one test that was renamed.
_ALIKE = 0.5
#: Comparing names costs the product of their numbers.
_MOST_COMPARED = 200


@dataclass(frozen=True, slots=True)
class Vanished:
    """The tests of the base that did not run.

    Attributes:
        names: those that are known by name.
        count: all of them; runs of tests that are only counted may hold some of the names.
    """

    names: tuple[str, ...] = ()
    count: int = 0


def find_vanished(here: Results, base: Results) -> Vanished:
    """The tests that ran on the base and not here; one that was moved or renamed is not lost."""
    lost = Counter(base.ran) - Counter(here.ran)
    new = Counter(here.ran) - Counter(base.ran)
    _forget_alike(lost, new, _name)
    _forget_alike(lost, new, _without_parameters)
    _forget_renamed(lost, new)
    unnamed = base.counted - here.counted
    if unnamed > 0:
        unnamed = max(0, unnamed - new.total())
    names = tuple(sorted(lost.elements()))
    fewer = {one: n - here.within.get(one, n) for one, n in sorted(base.within.items())}
    inner = {one: n for one, n in fewer.items() if n > 0}
    count = max(0, len(names) + unnamed) + sum(inner.values())
    listed = [
        *map(readable, names),
        *(f"{readable(one)}: {n} of its {base.within[one]} tests" for one, n in inner.items()),
    ]
    return Vanished(tuple(listed) if count else (), count)


def readable(identity: str) -> str:
    """A test's identity as a reader knows it: ``tests/test_a.py test_b``."""
    suite, _, rest = identity.removeprefix("test:").partition(":")
    owner, _, name = rest.rpartition("#")
    suite = _OF_REPORTS.sub("", suite)
    module = suite.removesuffix(".py").replace("/", ".")  # pytest repeats the file as a module
    owner = owner.removeprefix(module).lstrip(".") if suite.endswith(".py") else owner
    return " ".join(filter(None, (suite, owner if owner != name else "", name)))


def _forget_alike(lost: Counter[str], new: Counter[str], key: Callable[[str], str]) -> None:
    """Takes out tests for which there is a new one of the same key, one for one."""
    arrived: dict[str, list[str]] = {}
    for identity in new.elements():
        arrived.setdefault(key(identity), []).append(identity)
    for identity in list(lost.elements()):
        if candidates := arrived.get(key(identity)):
            _forget(lost, identity, new, candidates.pop())


def _name(identity: str) -> str:
    """The test's own name with its parameters, which it keeps in another module."""
    return _split(identity)[1]


def _without_parameters(identity: str) -> str:
    """What stays the same where only parameters change, such as a random value."""
    return _PARAMETERS.split(identity, maxsplit=1)[0]


def _forget_renamed(lost: Counter[str], new: Counter[str]) -> None:
    """Takes out tests of a similar name in the same module, one for one."""
    arrived: dict[str, list[str]] = {}
    for identity in new.elements():
        arrived.setdefault(_split(identity)[0], []).append(identity)
    for identity in list(lost.elements())[:_MOST_COMPARED]:
        module, name = _split(identity)
        candidates = arrived.get(module, [])[:_MOST_COMPARED]
        best = max(candidates, key=lambda other: _likeness(name, other), default=None)
        if best is not None and _likeness(name, best) >= _ALIKE:
            arrived[module].remove(best)
            _forget(lost, identity, new, best)


def _likeness(name: str, other: str) -> float:
    return SequenceMatcher(None, name, _split(other)[1], autojunk=False).ratio()


def _forget(lost: Counter[str], identity: str, new: Counter[str], other: str) -> None:
    lost.subtract([identity])
    new.subtract([other])


def _split(identity: str) -> tuple[str, str]:
    """The module, and the test's own name with its parameters."""
    parameters = _PARAMETERS.search(identity)
    end = parameters.start() if parameters else len(identity)
    separators = [match.end() for match in _SEPARATOR.finditer(identity, 0, end)]
    start = separators[-1] if separators else 0
    return identity[:start], identity[start:].strip()
