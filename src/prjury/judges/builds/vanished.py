"""The tests that one run has lost when compared with another. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from difflib import SequenceMatcher
from operator import itemgetter
from posixpath import commonprefix

from msgspec import Struct

from prjury.judges.builds.failure import Results

#: From here on two names in one module are taken for one test that was renamed.
_ALIKE = 0.5
#: Comparing names costs the product of their numbers.
_MOST_COMPARED = 200


class Vanished(Struct, frozen=True):
    """The tests of the base that did not run: those known by name, and the count of all."""

    names: tuple[str, ...] = ()
    count: int = 0


def find_vanished(here: Results, base: Results) -> Vanished:
    """The tests that ran on the base and not here; one that was moved or renamed is not lost."""
    lost = Counter(base.ran) - Counter(here.ran)
    new = Counter(here.ran) - Counter(base.ran)
    _pair_alike(lost, new, lambda identity: split_identity(identity)[1])
    _pair_alike(lost, new, _cut_parameters)
    if lost.total() and new.total():
        names = {split_identity(name)[1] for name in (*base.ran, *here.ran)}
        _pair_renamed(lost, new, find_shared_prefix(names))
    unnamed = base.counted - here.counted
    if unnamed > 0:
        unnamed = max(0, unnamed - new.total())
    vanished = sorted(lost.elements())
    fewer = {one: n - here.within.get(one, n) for one, n in sorted(base.within.items())}
    inner = {one: n for one, n in fewer.items() if n > 0}
    count = max(0, len(vanished) + unnamed) + sum(inner.values())
    listed = [
        *map(make_readable, vanished),
        *(f"{make_readable(one)}: {n} of its {base.within[one]} tests" for one, n in inner.items()),
    ]
    return Vanished(tuple(listed) if count else (), count)


def make_readable(identity: str) -> str:
    """A test's identity as a reader knows it: ``tests/test_a.py test_b``."""
    suite, _, rest = identity.removeprefix("test:").partition(":")
    owner, _, name = rest.rpartition("#")
    for place in ("target/", "build/test-results/", "_prjury"):  # of reports, not of tests
        suite = suite.partition(place)[0].rstrip("/")
    suite = "" if suite.removeprefix("…/").partition(" (")[0] == "reports" else suite
    module = suite.removesuffix(".py").replace("/", ".")  # pytest repeats the file as a module
    owner = owner.removeprefix(module).lstrip(".") if suite.endswith(".py") else owner
    return " ".join(filter(None, (suite, owner if owner != name else "", name)))


def split_identity(identity: str) -> tuple[str, str]:
    """The module, and the test's own name with its parameters."""
    name = _cut_parameters(identity)
    start = max(name.rfind(sign) for sign in ":#>") + 1
    return identity[:start], identity[start:].strip()


def _cut_parameters(identity: str) -> str:
    """The part that stays the same if only parameters change, such as a random value."""
    start = identity.find(":", len("test:")) + 1  # brackets before it are of a file or a label
    return identity[:start] + identity[start:].partition("[")[0].partition("(")[0]


def find_shared_prefix(names: Collection[str]) -> str:
    """The words with which most names begin, such as ``test_``: they make none alike."""
    starts = Counter(map(_cut_first_word, names))
    start, count = max(starts.items(), key=itemgetter(1), default=("", 0))
    if not start or 2 * count < len(names):
        return ""
    prefix = commonprefix([name for name in names if _cut_first_word(name) == start])
    return prefix[: max(prefix.rfind("_"), prefix.rfind(" ")) + 1] or (
        prefix[: len(start)] if start.lower() == "test" else ""
    )


def _cut_first_word(name: str) -> str:
    if name[:4].lower() == "test":
        return name[:4]
    word, sign, _ = name.replace(" ", "_").partition("_")
    return word if sign else ""


def _group(tests: Counter[str], key: Callable[[str], str]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for identity in tests.elements():
        groups.setdefault(key(identity), []).append(identity)
    return groups


def _pair_alike(lost: Counter[str], new: Counter[str], key: Callable[[str], str]) -> None:
    arrived = _group(new, key)
    for identity in list(lost.elements()):
        if candidates := arrived.get(key(identity)):
            lost.subtract([identity])
            new.subtract([candidates.pop()])


def _pair_renamed(lost: Counter[str], new: Counter[str], shared: str) -> None:
    arrived = _group(new, lambda identity: split_identity(identity)[0])

    def measure_likeness(one: str, other: str) -> float:
        own, other_name = (split_identity(name)[1].removeprefix(shared) for name in (one, other))
        return SequenceMatcher(None, own, other_name, autojunk=False).ratio()

    for identity in list(lost.elements())[:_MOST_COMPARED]:
        candidates = arrived.get(split_identity(identity)[0], [])[:_MOST_COMPARED]
        best = max(candidates, key=lambda other: measure_likeness(identity, other), default=None)
        if best is not None and measure_likeness(identity, best) >= _ALIKE:
            arrived[split_identity(identity)[0]].remove(best)
            lost.subtract([identity])
            new.subtract([best])
