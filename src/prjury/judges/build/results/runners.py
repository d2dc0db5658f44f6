"""Every test runner whose output is read. Its name is also the one under which a report counts."""

from __future__ import annotations

from collections.abc import Mapping

from prjury.judges.build.results.cargo import cargo
from prjury.judges.build.results.go_text import go
from prjury.judges.build.results.jest import jest
from prjury.judges.build.results.jvm import jvm
from prjury.judges.build.results.mocha import mocha
from prjury.judges.build.results.nextest import nextest
from prjury.judges.build.results.node_spec import node_spec
from prjury.judges.build.results.pytest import pytest
from prjury.judges.build.results.tap import tap
from prjury.judges.build.results.told import Reader, Told
from prjury.judges.build.results.unittest import unittest
from prjury.judges.build.results.vitest import vitest

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
