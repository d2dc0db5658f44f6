"""The names of failing tests of the JVM, as reports give them, for running those again. Pure.

The reports come from code that is not trusted. Nothing but plain names goes into a command.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from prjury.judges.builds.failure import Failure

_LONGEST = 500
_CLASS = re.compile(r"[A-Za-z_]\w*(?:[.$][A-Za-z_]\w*)*", re.ASCII)
#: A method, its parameters and the number or the values of one of its runs, as JUnit has them.
_METHOD = re.compile(
    r"(?P<name>[A-Za-z_]\w*)(?P<given>\([^()]*\)|\{[^{}]*\})?(?P<run>\[.*\])?", re.ASCII
)


@dataclass(frozen=True, order=True)
class JavaTest:
    """A test method.

    Attributes:
        report: where the report that tells of it lies, below the root of the tree.
        owner: its class, with the package; ``$`` before a nested one.
        many: whether its name says that it ran several times, with nothing else in between.
    """

    report: str
    owner: str
    method: str
    many: bool = False


def java_tests(failures: Sequence[Failure]) -> tuple[JavaTest, ...] | None:
    """The methods that failed, each once and in order; None where one cannot be named exactly."""
    tests = [_test(failure) for failure in failures]
    known = [test for test in tests if test is not None]
    return tuple(sorted(set(known))) if known and len(known) == len(tests) else None


def _test(failure: Failure) -> JavaTest | None:
    name = failure.name or ""
    owner, found, rest = name.partition("#")
    method = _METHOD.fullmatch(rest) if len(name) <= _LONGEST else None
    if not (failure.suite and found and method and _CLASS.fullmatch(owner)):
        return None
    return JavaTest(
        failure.suite, owner, method["name"], bool(method["run"] and not method["given"])
    )
