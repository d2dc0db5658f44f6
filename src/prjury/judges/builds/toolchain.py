"""What tools say where the machine's version of them is not the one that the project needs. Pure.

Such a build says nothing about the code. The table grows by a row a message.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from prjury.judges.builds.failure import Failure
from prjury.judges.builds.results.runner_output import LogSection

_JAVA = "install the JDK that the project needs and name it in JAVA_HOME (actions/setup-java)"
_MAVEN = "install that Maven, or check in its wrapper (`mvn wrapper:wrapper`)"
_RUST = "install that toolchain (`rustup toolchain install`), or pin it in rust-toolchain.toml"
_GO = "install that Go (actions/setup-go), or allow its download (GOTOOLCHAIN=auto)"
_PYTHON = "install that Python before the build (actions/setup-python, `uv python install`)"
_NODE = "install that Node (actions/setup-node), or the package manager's version that is named"


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A message of a tool, as it is found anywhere in a line, and what to do about it."""

    message: str
    remedy: str


MISMATCHES = (
    Mismatch(r"error: release version \d+ not supported", _JAVA),
    Mismatch(r"invalid (?:target|source) release: [\d.]+", _JAVA),
    Mismatch(r"(?:Source|Target) option \d+ is no longer supported", _JAVA),
    Mismatch(r"Detected JDK [Vv]ersion:? .* is not in the allowed range", _JAVA),
    Mismatch(r"compiled by a more recent version of the Java Runtime", _JAVA),
    Mismatch(r"Unsupported class file major version \d+", _JAVA),
    Mismatch(r"Cannot find a Java installation on your machine", _JAVA),
    Mismatch(r"No matching toolchains? found for requested specification", _JAVA),
    Mismatch(r"Detected Maven Version: \S+ is not in the allowed range", _MAVEN),
    Mismatch(r"error: rustc \S+ is not supported by the following package", _RUST),
    Mismatch(r"requires rustc \S+ or newer, while the currently active rustc", _RUST),
    Mismatch(r"^go: .*requires go >= \S+ \(running go ", _GO),
    Mismatch(r"^go: download go[\d.]+ for \S+: toolchain not available", _GO),
    Mismatch(r"requires a different Python: \S+ not in ", _PYTHON),
    Mismatch(r"No interpreter found for Python ", _PYTHON),
    Mismatch(r"interpreter resolved to Python \S+, which is incompatible", _PYTHON),
    Mismatch(r"npm (?:ERR!|error) (?:code EBADENGINE|engine Not compatible)", _NODE),
    Mismatch(r'The engine "\w+" is incompatible with this module', _NODE),
    Mismatch(r"ERR_PNPM_UNSUPPORTED_ENGINE", _NODE),
)
_ANY = re.compile("|".join(f"(?:{one.message})" for one in MISMATCHES))
#: What stands around the message in a line.
_AROUND = re.compile(r"^(?:\[ERROR\]|[>\s])+|\s+-> \[Help \d+\]$")


def find_mismatches(section: LogSection) -> Iterator[tuple[int, Failure]]:
    """The lines of a log about it."""
    for index, line in enumerate(section.lines):
        if _ANY.search(line):
            yield section.numbers[index], section.failure("error", _AROUND.sub("", line))


def with_environment(found: Iterable[tuple[int, Failure]]) -> list[tuple[int, Failure]]:
    """The failures with those marked that the machine is to blame for, each once."""
    every = [(number, _marked(failure)) for number, failure in found]
    known = [one.message for _, one in every if one.state == "environment"]
    return [item for item in every if not _is_repeated(item[1], known)]


def _marked(failure: Failure) -> Failure:
    blameless = failure.kind in {"error", "goal"} and _ANY.search(failure.message)
    return replace(failure, kind="error", state="environment") if blameless else failure


def _is_repeated(failure: Failure, messages: Sequence[str]) -> bool:
    """Whether a longer message says the same."""
    own = failure.message
    return failure.state == "environment" and any(own in one and own != one for one in messages)


def remedy_for(failure: Failure) -> str:
    """What to do about a failure of the environment."""
    known = (one.remedy for one in MISMATCHES if re.search(one.message, failure.message))
    return next(known, "install the version that the project needs")
