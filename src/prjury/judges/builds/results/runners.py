"""Every test runner whose output is read. Its name is also the one under which a report counts."""

from __future__ import annotations

from collections.abc import Mapping

from prjury.judges.builds.results.cargo import cargo
from prjury.judges.builds.results.go_text import go
from prjury.judges.builds.results.jest import jest
from prjury.judges.builds.results.jvm import jvm
from prjury.judges.builds.results.mocha import mocha
from prjury.judges.builds.results.nextest import nextest
from prjury.judges.builds.results.node_spec import node_spec
from prjury.judges.builds.results.pytest import pytest
from prjury.judges.builds.results.runner_output import Reader, Told
from prjury.judges.builds.results.tap import tap
from prjury.judges.builds.results.unittest import unittest
from prjury.judges.builds.results.vitest import vitest

READERS: Mapping[str, Reader[Told]] = {
    "pytest": Reader(pytest, (" passed", " failed", " error", "FAILED ", "ERROR ")),
    "unittest": Reader(unittest, ("\nRan ", "\nFAIL: ", "\nERROR: ")),
    "go": Reader(go, ("\nFAIL\t", "--- FAIL: ")),
    "cargo": Reader(cargo, ("\nrunning ", "to rerun pass")),
    "nextest": Reader(nextest, (" Summary [",)),
    "tap": Reader(tap, ("\nTAP version ", "\n1..")),
    "node": Reader(node_spec, ("\nℹ tests ",)),
    "jest": Reader(jest, ("\nTests: ", "\nFAIL ")),
    "vitest": Reader(vitest, (" Tests ", " FAIL ", "Vitest caught")),
    "mocha": Reader(mocha, (" passing", " failing")),
    "jvm": Reader(jvm, ("Tests run: ", "<<< ", " FAILED", "SKIPPED", " completed")),
}
