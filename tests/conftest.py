"""What all tests share: how Hypothesis searches, which tests run, and who ran the workflows.

Hypothesis tries 25 new cases on a developer's machine, the same 34 each time in CI, so that a red
run is caused by the change, and 300 new ones with `HYPOTHESIS_PROFILE=nightly`. The time of a case
is not limited: the machine may be busy with builds.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import FrameType

import pytest
from hypothesis import HealthCheck, settings
from xdist.remote import Producer
from xdist.scheduler import Scheduling, WorkStealingScheduling

_PATIENT = [HealthCheck.too_slow]

settings.register_profile("dev", deadline=None, suppress_health_check=_PATIENT, max_examples=25)
settings.register_profile(
    "ci", deadline=None, suppress_health_check=_PATIENT, derandomize=True, max_examples=34
)
settings.register_profile(
    "nightly", deadline=None, suppress_health_check=_PATIENT, max_examples=300
)
_DEFAULT_PROFILE = "ci" if os.environ.get("CI") else "dev"
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", _DEFAULT_PROFILE))

# Hundreds of tests start the program, which without its bytecode would be compiled anew each time.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# A shell without job control has its background processes ignore Ctrl-C, and children inherit that.
# Tests that interrupt a child, or look at its signals, need one with the defaults.
_DEFAULTS: Mapping[signal.Signals, Callable[[int, FrameType | None], object] | signal.Handlers] = {
    signal.SIGINT: signal.default_int_handler,
    signal.SIGQUIT: signal.SIG_DFL,
    signal.SIGHUP: signal.SIG_DFL,
}
for _signal, _default in _DEFAULTS.items():
    if signal.getsignal(_signal) is signal.SIG_IGN:
        signal.signal(_signal, _default)


#: Folders whose tests start programs, build or install something.
_SLOW = ("tests/integration/", "tests/e2e/", "tests/runner/", "tests/field/")
#: Folders of the longest tests, which begin first: at the end no worker waits for one of them.
_LONGEST = ("tests/integration/builds/", "tests/runner/")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Call whole folders slow; leave the tests marked `nightly` out unless ``-m`` names them."""
    for item in items:
        if item.nodeid.startswith(_SLOW):
            item.add_marker(pytest.mark.slow)
    items.sort(key=lambda item: not item.nodeid.startswith(_LONGEST))
    if "nightly" in config.option.markexpr:
        return
    left_out = [item for item in items if item.get_closest_marker("nightly")]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if not item.get_closest_marker("nightly")]


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test that needs a program which is not installed, by the program's name."""
    own = str(Path(sys.prefix) / "bin")
    path = os.pathsep.join(p for p in os.environ["PATH"].split(os.pathsep) if p != own)
    for marker in item.iter_markers("needs"):
        for program in marker.args:
            if shutil.which(program, path=path) is None:
                pytest.skip(f"not installed: {program}")


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Start one more than there are cores where tests wait for processes and time limits."""
    cores = os.cpu_count() or 1
    return cores if "not slow" in config.option.markexpr else cores + 1


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Scheduling:
    """Let idle workers take tests from others: some tests take half a minute."""
    return WorkStealingScheduling(config, log)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print who ran the workflows: a real runner, or our own harness where there is none."""
    properties = list(_properties(terminalreporter))
    for runner in sorted({str(value) for name, value in properties if name == "runner"}):
        prefix = "::warning::" if "NOT" in runner and os.environ.get("GITHUB_ACTIONS") else ""
        terminalreporter.write_line(f"{prefix}workflows were run by {runner}")
    if seconds := sorted(float(str(value)) for name, value in properties if name == "installed in"):
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
