"""What a jury costs beside doing the same by hand, and what importing it costs.

python -P tests/benchmarks/jury.py

By hand means: a loop, a pool of threads, or a thread each, that calls the same functions, and a sum
that counts who passed. It has none of a jury's deadlines, error ballots, names, weights, evidence.
A pool has the lead where the work is trivial, as it is here: a thread that is done takes another
judge. A jury cannot do that, because a judge that hangs would keep the others waiting.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Thread

from prjury import CascadedJury, Judgment, Jury, MajorityVoting, Tier, TierPolicy

VOTES, PROCESSES = 200, 21
FINE = Judgment.passed("fine")
NAMES = "Jury, Judgment, CascadedJury, MajorityVoting, Tier, TierPolicy"
ALL = "from prjury import *"


def trivial(context: object) -> Judgment:
    return FINE


def _majority(said: Sequence[Judgment]) -> bool:
    return sum(judgment.status == "pass" for judgment in said) * 2 > len(said)


def by_loop(judges: int) -> Callable[[], object]:
    functions = [trivial] * judges
    return lambda: _majority([function(None) for function in functions])


def by_pool(judges: int) -> Callable[[], object]:
    functions = [trivial] * judges

    def votes() -> bool:
        with ThreadPoolExecutor(judges) as pool:
            return _majority(list(pool.map(lambda function: function(None), functions)))

    return votes


def by_threads(judges: int) -> Callable[[], object]:
    def votes() -> bool:
        said: list[Judgment] = []
        threads = [Thread(target=lambda: said.append(trivial(None))) for _ in range(judges)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return _majority(said)

    return votes


def by_jury(judges: int, *, parallel: bool, timeout: float | None = None) -> Callable[[], object]:
    jury = Jury([trivial] * judges, MajorityVoting(), parallel=parallel)
    return lambda: jury.vote(None, timeout=timeout)


def by_cascade(tiers: int, judges: int, *, parallel: bool) -> Callable[[], object]:
    jury = Jury([trivial] * judges, MajorityVoting(), parallel=parallel)
    earlier = [Tier(f"tier{n}", jury) for n in range(1, tiers)]
    cascade = CascadedJury([*earlier, Tier("last", jury, TierPolicy.FINAL_TIER)])
    return lambda: cascade.vote(None)


def by_tiers(vote: Callable[[], object], tiers: int) -> Callable[[], object]:
    return lambda: [vote() for _ in range(tiers)]


def _row(
    what: str, ours: Callable[[], object], hand: Callable[[], object], limit: str = ""
) -> None:
    """Medians of both, measured in turns, so that a noisy moment meets both."""
    times: tuple[list[float], list[float]] = [], []
    for _ in range(VOTES):
        for work, found in zip((ours, hand), times, strict=True):
            started = time.perf_counter()
            work()
            found.append(time.perf_counter() - started)
    figures = [f"{statistics.median(found) * 1000:>9.2f} ms" for found in times]
    print(f"{what:<52}{''.join(figures)}  {limit}")


def votes() -> None:
    print(f"{'a vote, median':<52}{'ours':>12}{'by hand':>12}  limit")
    for n, limits in ((10, ("2 ms", "5 ms")), (200, ("", ""))):
        threads = by_jury(n, parallel=True)
        hurried = by_jury(n, parallel=True, timeout=60)
        _row(
            f"{n} judges, one after the other | loop",
            by_jury(n, parallel=False),
            by_loop(n),
            limits[0],
        )
        _row(f"{n} judges, in threads | pool", threads, by_pool(n), limits[1])
        _row(f"{n} judges, in threads | a thread each", threads, by_threads(n), limits[1])
        _row(f"{n} judges, with a deadline | a thread each", hurried, by_threads(n), limits[1])
    _row("3 tiers of 5, in turn | loops", by_cascade(3, 5, parallel=False), by_tiers(by_loop(5), 3))
    _row(
        "3 tiers of 5, in threads | pools", by_cascade(3, 5, parallel=True), by_tiers(by_pool(5), 3)
    )


def _process_ms(program: str) -> tuple[float, float]:
    """How long the process takes, and how much of that it works."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, "-c", program], check=True)
    took, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    worked = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return took * 1000, worked * 1000


def imports() -> None:
    """Whole processes, in turns; on a busy machine the time that they work is the one to read."""
    programs = ("pass", "import prjury", f"from prjury import {NAMES}", ALL, "import asyncio")
    times: dict[str, list[tuple[float, float]]] = {program: [] for program in programs}
    for _ in range(PROCESSES):
        for program in programs:
            times[program].append(_process_ms(program))
    print(f"\n{'a whole process over pass, median':<56}{'waiting':>9}{'working':>12}  limit")
    bare = [statistics.median(column) for column in zip(*times["pass"], strict=True)]
    for program in programs[1:]:
        medians = [statistics.median(column) for column in zip(*times[program], strict=True)]
        over = [ours - empty for ours, empty in zip(medians, bare, strict=True)]
        limit = "100 ms" if "prjury" in program and program != ALL else ""
        shown = program if len(program) < 55 else program[:51] + "..."
        print(f"{shown:<56}{over[0]:>6.0f} ms{over[1]:>9.0f} ms  {limit}")


if __name__ == "__main__":
    votes()
    imports()
