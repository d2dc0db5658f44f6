"""The lines of a log that blame the machine or the network, and what to do about them. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import takewhile
from typing import TYPE_CHECKING

from msgspec.structs import replace

from prjury.judges.builds.environment_faults import (
    CAUSES,
    CONNECT,
    DOWNLOADS,
    MESSAGES,
    NO_SERVICE,
    OTHERWISE,
    SUBMODULE,
    EnvironmentFault,
)
from prjury.judges.builds.failure import Failure
from prjury.judges.builds.systems.source_tree import parents_of

if TYPE_CHECKING:
    from prjury.judges.builds.results.runner_output import LogSection

_REACH, _FARTHEST = 12, 60


@cache  # compiling takes 10 ms, and many builds pass
def _message() -> re.Pattern[str]:
    plain = (re.sub(r"[?]P<[a-z]+>", "?:", one.message) for one in MESSAGES)
    return re.compile("|".join(f"(?:{message})" for message in plain))


@cache  # as above
def _download() -> re.Pattern[str]:
    return re.compile("|".join(DOWNLOADS))


#: What stands around the message in a line.
_AROUND = re.compile(r"^(?:\[ERROR\]|[>\s])+|\s+-> \[Help \d+\]$")
_LONGEST_LINE, _LONGEST_CAUSE = 220, 200
#: What CMake prints two lines above the place that lacks a CMakeLists.txt.
_CMAKE_PLACE = "The source directory"


def find_environment(section: LogSection) -> Iterator[tuple[int, Failure]]:
    """The lines of a log that blame the machine or the network, each as a failure.

    What is missing may be so for the change's sake: it is left to the comparison with the base.
    """
    for index, line in enumerate(section.lines):
        missing = False
        if found := _message().search(line):
            text = line if len(line) <= _LONGEST_LINE else line[max(0, found.start() - 60) :]
            if line.endswith(":"):  # what it is about follows
                text = " ".join([text, *(more.strip() for more in section.lines[index + 1 :][:1])])
        elif _download().search(line):
            text = _with_cause(line, _below(section.lines, index))
        elif index > 1 and section.lines[index - 2].strip() == _CMAKE_PLACE:
            missing, text = True, f"cannot open {line.strip().removeprefix('./')}/CMakeLists.txt"
        else:
            missing = _MISSING_LINE.search(line) is not None
            text = line if missing else ""
        if text:
            failure = section.failure("error", _AROUND.sub("", text))
            yield (
                section.numbers[index],
                failure if missing else replace(failure, state="environment"),
            )


def _below(lines: Sequence[str], index: int) -> list[str]:
    """The next lines about the same, without a stack trace, behind which Node prints the cause."""
    from prjury.judges.builds.results.traces import MAVEN_GOAL  # noqa: PLC0415 - few builds end so

    near = lines[index + 1 : index + _FARTHEST]
    following = takewhile(lambda line: not MAVEN_GOAL.match(line), near)
    return [line for line in following if not line.lstrip().startswith("at ")][:_REACH]


def _with_cause(line: str, below: Sequence[str]) -> str:
    """The line with the known cause in it; empty where it names none."""
    for cause in CAUSES:
        for text in (line, *below):
            if found := re.search(cause.message, text):
                start = max(0, found.start() - _LONGEST_CAUSE // 2)
                words = text[start : start + _LONGEST_CAUSE].strip()
                if text is not line:
                    return f"{line[:_LONGEST_LINE].strip()}: {words}"
                return line if len(line) <= _LONGEST_LINE else f"{line[:100]} … {words}"
    return ""


def is_known(message: str) -> bool:
    """Whether a message that another reader has found is one of these."""
    return _message().search(message) is not None


def lacks_service(failure: Failure) -> bool:
    """Whether a test fails because a database or the like does not answer."""
    return failure.kind == "test" and _refused(failure) is not None


def _refused(failure: Failure) -> re.Match[str] | None:
    return re.search(NO_SERVICE.message, f"{failure.message}\n{failure.details}")


def _known(failure: Failure) -> tuple[EnvironmentFault, re.Match[str]] | None:
    if failure.kind == "test":
        refused = _refused(failure)
        return (NO_SERVICE, refused) if refused else None
    found = ((one, re.search(one.message, failure.message)) for one in (*MESSAGES, *CAUSES))
    return next(((one, match) for one, match in found if match), None)


def may_pass(failure: Failure) -> bool:
    """Whether trying again may help; true for what is not known."""
    known = _known(failure)
    return known is None or known[0].passing


def is_unfound(failure: Failure) -> bool:
    """Whether no index has any version of a package: a wrong name, or an index that is ill."""
    return failure.kind == "error" and "(from versions: none" in failure.message


def remedy_for(
    failure: Failure, versions: Mapping[str, str], tree: frozenset[str] = frozenset()
) -> str:
    """What to do about a failure of the environment.

    Args:
        versions: of the tools that were used, by their names.
        tree: the paths of the tree.
    """
    known = _known(failure)
    if known is None:
        missing = missing_name(failure)
        if is_unfound(failure):
            return f"{CONNECT}: no index that it asks has any version of `{missing}`"
        if submodule := missing_submodule(failure, tree):
            return f"{SUBMODULE}: `{submodule}`"
        if missing == _NO_TESTS:
            return _TURN_ON
        return _ABSENT.format(missing) if missing else OTHERWISE
    fault, match = known
    groups = match.groupdict()
    if groups.get("missing"):
        return f"{fault.remedy}: `{groups['missing']}`"
    want = groups.get("want") or ""
    if groups.get("classes"):
        want = str(int(groups["classes"]) - _BEFORE_JAVA_1)
    if groups.get("should") and versions.get("JDK", "").split(".")[0] == want:
        want = f"{int(groups['should']) - _BEFORE_JAVA_1} or older"  # its compiler is its own
    if not (fault.tool and want):
        return fault.remedy
    here = groups.get("here") or versions.get(fault.tool, "")
    there = f"; here is {here}" if here else ""
    return f"this project wants {fault.tool} {want}{there}: {fault.remedy}"


#: What is said of a file that is not there, and that nobody makes.
_NOT_THERE = re.compile(
    r"(?:No rule to make target|[Nn]o such file or directory[:,](?: \w+)?|[Cc]annot open)"
    r" ['`‘\"]?(?P<file>[^'’\"\s]+/[^'’\"\s]+)"
)


def missing_submodule(failure: Failure, tree: frozenset[str]) -> str:
    """The entry of the tree below which a missing file lies, although it is no directory of files.

    Args:
        tree: the paths of the tree, submodules among them.
    """
    found = _NOT_THERE.search(failure.message)
    places = parents_of(found["file"]) if found else ()
    return next((place for place in places if place in tree), "")


_ABSENT = (
    "install `{}` before the build, or declare it where the project lists what it needs: it is not "
    "here, neither with the change nor without it"
)
#: From the version of a class file to that of Java.
_BEFORE_JAVA_1 = 44


#: What CTest says where the project's own option has turned its tests off.
_NO_TESTS = "No tests"
_TURN_ON = (
    "turn its tests on by the project's own option, with `build: {command: {setup: cmake -S . -B b "
    "-D…=ON, build: cmake --build b, test: ctest --test-dir b}}`, or leave CTest out of it"
)

#: What compilers and interpreters say of a module, package, header or library that is not there.
_MISSING = re.compile(
    r"No module named ['\"]?(?P<python>\w+)"
    r"|Cannot find (?:module|package) ['\"](?P<node>(?:@[\w.-]+/)?[\w-][\w.-]*)(?:/[^'\"]*)?['\"]"
    r"|package (?P<java>[\w.]+) does not exist"
    r"|(?P<header>[\w./+-]+\.(?:h|hh|hpp|hxx)):? (?:No such file or directory|file not found)"
    r"|'(?P<clang>[\w./+-]+\.(?:h|hh|hpp|hxx))' file not found"
    r"|no required module provides package (?P<go>[^\s;:]+)"
    r"|cannot load such file -- (?P<ruby>[\w-]+)"
    r"|cannot find -l(?P<library>[\w.+-]+)"
    r"|Package '?(?P<pkg>[\w.+-]+)'?,? .*not found in the pkg-config search path"
    r"|No package '(?P<pc>[\w.+-]+)' found"
    r"|Could NOT find (?P<cmake>\w+)|package configuration file provided by \"(?P<config>\w+)\""
    r"|Dependency \"(?P<meson>[\w.+-]+)\" not found"
    r"|^(?:\S*env: )?['‘]?(?P<interpreter>[\w.+-]+)['’]?: No such file or directory$"
    r"|(?:^|: )(?P<program>[\w.+-]+): (?:command )?not found$"
    r"|Could not find a version that satisfies the requirement (?P<pip>[\w.-]+)"
    r".*\(from versions: none"
    rf"|^(?P<tests>{_NO_TESTS}) were found"
)
#: Those of them that no other reader may have found.
_MISSING_LINE = re.compile(
    r"^(?:/\S+: |collect2: |ld: )*cannot find -l|not found in the pkg-config search path"
    r"|^No package '\S+' found|Could NOT find \w+ \(|package configuration file provided by \""
    r"|ERROR: Dependency \"\S+\" not found|^Error: Cannot find (?:module|package) '[^'./][^']*'$"
    r"|^(?:\S+: )*(?:line )?(?:\d+: )?[\w.+-]+: (?:command )?not found$"
    r"|^ERROR: Could not find a version that satisfies .*\(from versions: none"
)


def missing_name(failure: Failure) -> str:
    """The module, package or header that is missing; empty where it is something else."""
    found = _MISSING.search(failure.message) if failure.kind in {"compile", "error"} else None
    return next(filter(None, found.groups()), "") if found else ""
