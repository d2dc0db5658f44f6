"""The readers of test runners' output, by the names under which reports count."""

from __future__ import annotations

from collections.abc import Mapping

from prjury.judges.builds.results.cargo import cargo
from prjury.judges.builds.results.go import go
from prjury.judges.builds.results.jvm import jvm
from prjury.judges.builds.results.nextest import nextest
from prjury.judges.builds.results.pytest import pytest
from prjury.judges.builds.results.runner_output import RunnerOutput, RunnerReader
from prjury.judges.builds.results.script_runners import jest, mocha, node, vitest
from prjury.judges.builds.results.tap import tap
from prjury.judges.builds.results.unittest import unittest

READERS: Mapping[str, RunnerReader[RunnerOutput]] = {
    "pytest": RunnerReader(pytest, (" passed", " failed", " error", "FAILED ", "ERROR ")),
    "unittest": RunnerReader(unittest, ("\nRan ", "\nFAIL: ", "\nERROR: ")),
    "go": RunnerReader(go, ("\nFAIL\t", "--- FAIL: ")),
    "cargo": RunnerReader(cargo, ("\nrunning ", "to rerun pass")),
    "nextest": RunnerReader(nextest, (" Summary [",)),
    "tap": RunnerReader(tap, ("\nTAP version ", "\n1..")),
    "node": RunnerReader(node, ("\nℹ tests ",)),
    "jest": RunnerReader(jest, ("\nTests: ", "\nFAIL ")),
    "vitest": RunnerReader(vitest, (" Tests ", " FAIL ", "Vitest caught")),
    "mocha": RunnerReader(mocha, (" passing", " failing")),
    "jvm": RunnerReader(jvm, ("Tests run: ", "<<< ", " FAILED", "SKIPPED", " completed")),
}
