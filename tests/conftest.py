"""What all tests share: how Hypothesis searches, and the word on who ran the workflows.

On a developer's machine it looks for new cases each time. In CI it tries the same ones, and a third
as many, so that a run is red because of the change and nothing else. How long an example takes says
nothing: the machine may be busy with builds.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings
from xdist.remote import Producer
from xdist.scheduler import Scheduling, WorkStealingScheduling

_PATIENT = [HealthCheck.too_slow]

settings.register_profile("search", deadline=None, suppress_health_check=_PATIENT)
settings.register_profile(
    "same", deadline=None, suppress_health_check=_PATIENT, derandomize=True, max_examples=34
)
settings.load_profile("same" if os.environ.get("CI") else "search")


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """One more than there are cores: many tests wait, for processes and for limits to be over."""
    return (os.cpu_count() or 1) + 1


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Scheduling:
    """Whoever has nothing left takes tests from others: some tests take half a minute."""
    return WorkStealingScheduling(config, log)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Says who ran the workflows: a real runner, or a harness of ours where there is none."""
    told = list(_properties(terminalreporter))
    for runner in sorted({str(value) for name, value in told if name == "runner"}):
        aloud = "::warning::" if "NOT" in runner and os.environ.get("GITHUB_ACTIONS") else ""
        terminalreporter.write_line(f"{aloud}workflows were run by {runner}")
    if seconds := sorted(float(str(value)) for name, value in told if name == "installed in"):
        middle, most = seconds[len(seconds) // 2], seconds[-1]
        terminalreporter.write_line(
            f"the action installed itself {len(seconds)} times, in {middle:.1f} s as a rule, "
            f"in {most:.1f} s at most"
        )


def _properties(reporter: pytest.TerminalReporter) -> Iterator[tuple[str, object]]:
    for reports in reporter.stats.values():
        for report in reports:
            if getattr(report, "when", None) == "call":
                yield from report.user_properties
