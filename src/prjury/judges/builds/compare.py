"""Compare both sides, of which the base decides what is new, old, the machine's, or lost. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from difflib import get_close_matches
from functools import cached_property
from operator import itemgetter
from posixpath import commonprefix
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from prjury.judges.builds.environment import Remedy, find_remedy, lacks_service
from prjury.judges.builds.evidence import Run, TreeRun
from prjury.judges.builds.failure import Failure, Results, State, make_failure
from prjury.judges.builds.plan import CUSTOM, REPORTED, BuildPlan
from prjury.judges.builds.source_tree import is_within
from prjury.policy.tiers import BuildOptions
from prjury.snapshot.kinds import kind_of
from prjury.snapshot.model import FileKind

#: What begins the next goal in the output of Maven and Gradle.
_GOALS = ("Failed to execute goal", "* What went wrong")
_SHORTEST = 20
#: How lines about tests that pass begin, and lines that say nothing of an error.
PASSED = ("=== ", "--- PASS", "PASS", "ok ", "✓", "✔")
_NO_ERRORS = frozenset({"npm error", "npm ERR!"})
#: What ends at the first command that fails, whatever would come after it.
_STOPPERS = frozenset({CUSTOM, REPORTED, "make"})

#: More new failures than this have no missing part of the machine for their cause.
_MOST_LACKING = 200

#: How both sides fail so that nothing can be learnt of the change: no test runs, or none passes.
Silence: TypeAlias = Literal["untested", "unpassed"]
#: Why the tests of both sides cannot be compared.
Gap: TypeAlias = Literal["unknown", "failed", "untested", "partly", "removed"]


class Comparison(Struct, frozen=True, dict=True):
    """All that a judgment rests on; `outcome` is the merged tree's, which knows what is new."""

    plan: BuildPlan
    run: Run
    outcome: TreeRun
    paths: frozenset[str] = frozenset()
    options: BuildOptions = BuildOptions()
    fault: Remedy | None = None
    silence: Silence | None = None
    removed_test: str = ""

    @property
    def base(self) -> TreeRun | None:
        return self.run.base

    def excuses(self, failure: Failure) -> bool:
        """The failure does not fail the judge."""
        answers = {"pre_existing": self.options.pre_existing, "flaky": self.options.flaky}
        return answers.get(failure.state) == "warn"

    @cached_property
    def blocking(self) -> tuple[Failure, ...]:
        """The failures that fail the judge; a goal of tests that only flaky ones broke does not."""
        failures = tuple(one for one in self.outcome.failures if not self.excuses(one))
        flaky = any(one.state == "flaky" for one in self.outcome.failures)
        if flaky and self.options.flaky == "warn" and all(one.kind == "goal" for one in failures):
            return tuple(goal for goal in failures if not _names_tests(goal.message))
        return failures

    @property
    def worst_first(self) -> tuple[Failure, ...]:
        """All failures, those that fail the judge first, errors without a place last."""

        def rank(failure: Failure) -> tuple[bool, bool, bool, bool]:
            aside = failure.state == "environment"
            nowhere = failure.kind == "error" and not failure.path
            return self.excuses(failure), aside, failure.message.startswith("make"), nowhere

        return tuple(sorted(self.outcome.failures, key=rank))

    @cached_property
    def lost(self) -> Vanished:
        """The tests of the base that did not run, unless a failure may have kept them from it."""
        if self.base is None or self.blocking or self.outcome.deciding_step.stopped:
            return Vanished()
        return find_vanished_tests(self.outcome.results, self.base.results)

    @property
    def ignored(self) -> int:
        """How many more tests than on the base failed in a step that ended well all the same."""
        if self.base is None:
            return 0
        return max(0, self.outcome.results.ignored - self.base.results.ignored)

    @cached_property
    def test_files(self) -> int:
        return count_test_files(self.paths, self.plan.directory)

    @property
    def shows_reports_alone(self) -> bool:
        """Nothing shows that another CI's reports are all that there should be."""
        ended = self.outcome.deciding_step.exit_code is not None
        return self.plan.system == REPORTED and self.base is None and not ended

    @property
    def why_not_compared(self) -> Gap | None:
        """Why the tests cannot be compared, though nothing fails on the merged tree."""
        base, compares = self.base, self.options.compare == "always"
        has_tests = self.outcome.tested or self.test_files or self.run.base_test_files
        if not compares or self.plan.system == REPORTED or not has_tests:
            return None
        if base is None:
            return "unknown" if self.run.base_unknown else None
        if not base.tested:
            if base.failed and not base.deciding_step.collects_nothing:
                return "failed"
            if not self.outcome.tested:
                return "removed" if self.removed_test else None
            return "untested" if base.results.problems or self.run.base_test_files else None
        return "partly" if base.failed and not runs_every_test(base, self.plan) else None


def count_test_files(paths: Iterable[str], directory: str) -> int:
    """Count the files below a directory that are tests by their names."""
    below = (path for path in paths if is_within(path, directory))
    return sum(kind_of(path) is FileKind.TEST for path in below)


def _names_tests(goal: str) -> bool:
    words = "".join(sign if sign.isalnum() else " " for sign in goal).lower().split()
    endings = ("test", "tests", "surefire", "failsafe")
    return any(word.startswith("test") or word.endswith(endings) for word in words)


def compare(
    plan: BuildPlan,
    run: Run,
    paths: frozenset[str],
    options: BuildOptions,
    changed_paths: Collection[str] = (),
) -> Comparison:
    """Compare both sides; what fails alike on both without a test may be the machine's."""
    outcome = _add_log_failure_if_none(_merge_retry(run))
    base = _add_log_failure_if_none(run.base) if run.base else None
    run = replace(run, base=base)
    fault = find_machine_fault(outcome, changed_paths, paths, run.versions)
    outcome, silence = _fail_optional_steps_passing_on_base(outcome, base), None
    if base and outcome.failed:
        outcome = _mark_pre_existing(outcome, base)
        silence = _find_silence(outcome, base)
        sources = [one for one in outcome.failures if one.kind == "compile" and one.path in paths]
        lacking = (find_remedy([one.message], paths, strict=False) for one in sources)
        if silence and not fault and all(lacking):  # no source is broken by itself
            texts = [line for one in outcome.failures for line in _list_words(one)]
            texts += outcome.deciding_step.tail.splitlines()
            fault = find_remedy(texts, paths, run.versions, strict=False)
            if fault or silence == "untested":
                outcome = _mark(outcome, outcome.failures, "environment")
        if lack := _find_lack_shared_with_base(outcome, base, changed_paths, paths):
            new = [one for one in outcome.failures if one.state == "new"]
            outcome, fault = _mark(outcome, new, "environment"), fault or lack
    outcome = _mark_or_add_environment_failures(outcome, fault)
    tests = [path for path in changed_paths if path not in paths and kind_of(path) is FileKind.TEST]
    return Comparison(plan, run, outcome, paths, options, fault, silence, min(tests, default=""))


def _fail_optional_steps_passing_on_base(outcome: TreeRun, base: TreeRun | None) -> TreeRun:
    passing = {step.command for step in base.steps if step.good} if base else set()
    broken = [
        make_failure("goal", f"`{step.command}` fails, and passes on the base", name=step.command)
        for step in outcome.steps
        if step.may_fail and not step.good and step.command in passing
    ]
    return replace(outcome, failures=(*outcome.failures, *broken)) if broken else outcome


def _find_silence(outcome: TreeRun, base: TreeRun) -> Silence | None:
    if any(one.state == "new" for one in outcome.failures):
        return None
    if not (outcome.tested or base.tested):
        return "untested" if outcome.ends_like(base) else None
    return None if _passes_any(outcome) or _passes_any(base) else "unpassed"


def _passes_any(run: TreeRun) -> bool:
    """Return true if a test passed, or only failing ones may have been read."""
    failing = sum(one.kind == "test" and one.state != "flaky" for one in run.failures)
    is_whole = run.results.files or run.results.counted
    return not is_whole or run.results.run > failing


def _find_lack_shared_with_base(
    outcome: TreeRun, base: TreeRun, changed: Collection[str], paths: frozenset[str]
) -> Remedy | None:
    """Return what the machine lacks, if only new tests fail newly, each like one of the base."""
    new = [one for one in outcome.failures if one.state == "new" and one.kind != "goal"]
    if not 0 < len(new) <= _MOST_LACKING:
        return None
    ran, words = frozenset(base.results.ran), {_cut_names(one.message) for one in new}
    files = {identity.partition(":")[2].partition(":")[0] for identity in ran}
    old = [one for one in base.failures if _cut_names(one.message) in words][:_MOST_LACKING]
    remedies = [find_remedy(_list_words(one), paths, strict=False) for one in (*new, *old)]
    lacks = [  # downloads fail for reasons of their own
        (_cut_names(one.message), remedy.words) if remedy and not remedy.download else None
        for one, remedy in zip((*new, *old), remedies, strict=True)
    ]
    for failure, lack in zip(new, lacks, strict=False):
        places = {failure.path, failure.name}
        in_new_file = files.isdisjoint(places) and not places.isdisjoint(changed)
        has_names = failure.kind == "test" and not base.results.counted
        is_old = lack is not None and lack in lacks[len(new) :]
        if failure.id in ran or not (has_names or in_new_file) or not is_old:
            return None
    return remedies[0]


def _list_words(failure: Failure) -> list[str]:
    return [failure.message, *failure.details.splitlines()]


def _cut_names(message: str) -> str:
    """The words of a message without paths, names of tests, and numbers."""
    words = (word.strip("'\"`‘’.,:;()[]") for word in message.split())
    return " ".join(word for word in words if word.isalpha())


def _add_log_failure_if_none(run: TreeRun) -> TreeRun:
    """The run with the last error of its log, where it failed and nothing else was read."""
    step = run.deciding_step
    if run.failures or not (run.ended and step.exit_code):
        return run
    texts = [line.strip() for line in step.tail.splitlines() if any(map(str.isalnum, line))]
    texts = [one for one in texts if "log of this run" not in one and not one.startswith(PASSED)]
    errors = [one for one in texts if "error" in one.lower() and one not in _NO_ERRORS]
    words = (errors or texts or ["it prints nothing"])[-1]
    return replace(run, failures=(make_failure("error", words),))


def _merge_retry(run: Run) -> TreeRun:
    """The outcome after the second run: what failed in one and passed in the other is flaky."""
    head, retry = run.head, run.retry
    if retry is None or not retry.ended:
        return head
    head = _mark(head, retry.find_passing(head.failures), "flaky")
    if not run.whole:
        return head
    failing = {failure.id for failure in retry.failures}
    once = [one for one in head.failures if one.kind == "test" and one.id not in failing]
    retry = _mark(retry, run.head.find_passing(retry.failures), "flaky")
    return replace(retry, failures=(*retry.failures, *once))


def _mark(run: TreeRun, which: Iterable[Failure], state: State) -> TreeRun:
    marked = frozenset(which)
    failures = tuple(replace(one, state=state) if one in marked else one for one in run.failures)
    return replace(run, failures=failures)


def _mark_pre_existing(outcome: TreeRun, base: TreeRun) -> TreeRun:
    counts = Counter(failure.id for failure in base.failures)
    failures = []
    for failure in outcome.failures:
        old = failure.state == "new" and counts[failure.id] > 0
        counts[failure.id] -= old
        failures.append(replace(failure, state="pre_existing") if old else failure)
    return replace(outcome, failures=tuple(failures))


def find_machine_fault(
    run: TreeRun,
    changed_paths: Collection[str],
    paths: Collection[str],
    versions: dict[str, str] | None = None,
) -> Remedy | None:
    """The machine's lack, by words of tools; beside failing tests, by those about their goals."""
    if not run.failed or not run.ended:
        return None
    tail = run.deciding_step.tail.splitlines()
    if any(one.kind == "test" or _is_of_tree(one, changed_paths, paths) for one in run.failures):
        goals = [one for one in run.failures if one.name and one.kind in {"error", "goal"}]
        lines = [line for goal in goals for line in _list_lines_about(goal, tail)]
    else:
        lines = [*(one.message for one in run.failures), *tail]
    return find_remedy(lines, versions=versions)


def _list_lines_about(goal: Failure, tail: Sequence[str]) -> list[str]:
    """The message of a goal, and what stands below it up to the next one."""
    lines, start = [goal.message], goal.message[:60]
    for line in tail:
        text = " ".join(line.split())
        if any(mark in line for mark in _GOALS) and len(lines) > 1 and start not in text:
            break
        if len(lines) > 1 or start in text or (len(text) > _SHORTEST and text in goal.message):
            lines.append(line)
    return lines


def _is_of_tree(failure: Failure, changed: Collection[str], paths: Collection[str]) -> bool:
    """A file of the tree does not compile, or one that the change touches fails."""
    unreadable = failure.message.startswith("cannot access ")  # a class, by an older compiler
    if failure.path is None or unreadable or find_remedy([failure.message]):
        return False
    return failure.path in changed or (failure.kind == "compile" and failure.path in paths)


def _mark_or_add_environment_failures(outcome: TreeRun, fault: Remedy | None) -> TreeRun:
    """The outcome with what the machine is to blame for marked: one failure at least."""
    tail = outcome.deciding_step.tail.splitlines()
    tests = [one for one in outcome.failures if one.kind == "test"]
    service = bool(tests) and all(
        one.state in {"pre_existing", "environment"} and lacks_service("\n".join(_list_words(one)))
        for one in tests
    )

    def is_to_blame(failure: Failure) -> bool:
        if service and failure.state == "pre_existing":
            return True
        if fault and tests and failure.kind in {"error", "goal"} and failure.name:
            return find_remedy(_list_lines_about(failure, tail)) is not None
        return fault is not None and not tests

    outcome = _mark(outcome, filter(is_to_blame, outcome.failures), "environment")
    if fault and not any(one.state == "environment" for one in outcome.failures):
        blamed = replace(make_failure("error", fault.line), state="environment")
        outcome = replace(outcome, failures=(*outcome.failures, blamed))
    return outcome


def find_new_test_failures_if_compiled(run: Run) -> tuple[Failure, ...]:
    """The tests that fail newly; none where code does not compile, which no luck explains."""
    if not run.head.failed or not run.head.ended:
        return ()
    outcome = _mark_pre_existing(run.head, run.base) if run.base else run.head
    new = [one for one in outcome.failures if one.state == "new"]
    if any(one.kind == "compile" for one in new):
        return ()
    return tuple(one for one in new if one.kind == "test")


def runs_every_test(run: TreeRun, plan: BuildPlan) -> bool:
    """A run that failed shows by its end that every test ran all the same."""
    if not run.failed:
        return True
    return run.ended and _fails_in_tests_only(run.failures) and _ran_to_the_last_test(run, plan)


def _ran_to_the_last_test(run: TreeRun, plan: BuildPlan) -> bool:
    """The ends of the steps that failed show that all their tests ran."""
    if len(run.steps) < len(plan.steps):
        return False
    stopping = plan.source == "ci" or plan.system in _STOPPERS
    allowed = any(step.may_fail and not step.good for step in run.steps)
    deciding = run.failed_steps or (() if allowed else (run.deciding_step,))
    for step, planned in zip(run.steps, plan.steps, strict=False):
        stops = stopping if planned.all_ran is None else bool(step.exit_code)
        if step in deciding and step.exit_code != planned.all_ran and stops:
            return False
    return True


def may_hide_new_failures(comparison: Comparison) -> bool:
    """Old failures may hide new ones, unless only tests failed, all were read, and none is lost."""
    outcome, lost = comparison.outcome, comparison.lost.count
    for side in (outcome, comparison.base):
        if side and (not side.ended or side.results.problems or not side.results.has_tests):
            return True
    if lost and comparison.options.vanished == "warn":
        return True
    tests_only = _fails_in_tests_only(outcome.failures)
    return not (tests_only and _ran_to_the_last_test(outcome, comparison.plan))


def _fails_in_tests_only(failures: Sequence[Failure]) -> bool:
    kinds = {failure.kind for failure in failures}
    return "test" in kinds and not kinds - {"test", "goal"}


#: From here on two names in one module are taken for one test that was renamed.
_ALIKE = 0.5
#: Comparing names costs the product of their numbers.
_MOST_COMPARED = 200


class Vanished(Struct, frozen=True):
    """The tests of the base that did not run: those known by name, and the count of all."""

    names: tuple[str, ...] = ()
    count: int = 0


def find_vanished_tests(head: Results, base: Results) -> Vanished:
    """The tests that ran on the base and not here; one that was moved or renamed is not lost."""
    lost = Counter(base.ran) - Counter(head.ran)
    new = Counter(head.ran) - Counter(base.ran)
    _drop_alike_pairs(lost, new, lambda identity: split_identity(identity)[1])
    _drop_alike_pairs(lost, new, _cut_parameters)
    if lost.total() and new.total():
        names = {split_identity(name)[1] for name in (*base.ran, *head.ran)}
        _drop_renamed_pairs(lost, new, find_usual_prefix(names))
    unnamed = base.counted - head.counted
    if unnamed > 0:
        unnamed = max(0, unnamed - new.total())
    vanished = sorted(lost.elements())
    fewer = {one: n - head.within.get(one, n) for one, n in sorted(base.within.items())}
    inner = {one: n for one, n in fewer.items() if n > 0}
    count = max(0, len(vanished) + unnamed) + sum(inner.values())
    listed = [
        *map(format_test, vanished),
        *(f"{format_test(one)}: {n} of its {base.within[one]} tests" for one, n in inner.items()),
    ]
    return Vanished(tuple(listed) if count else (), count)


def format_test(identity: str) -> str:
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


def find_usual_prefix(names: Collection[str]) -> str:
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


def _drop_alike_pairs(lost: Counter[str], new: Counter[str], key: Callable[[str], str]) -> None:
    arrived = _group(new, key)
    for identity in list(lost.elements()):
        if candidates := arrived.get(key(identity)):
            lost.subtract([identity])
            new.subtract([candidates.pop()])


def _drop_renamed_pairs(lost: Counter[str], new: Counter[str], shared_prefix: str) -> None:
    arrived = _group(new, lambda identity: split_identity(identity)[0])
    for identity in list(lost.elements())[:_MOST_COMPARED]:
        module, name = split_identity(identity)
        candidates = arrived.get(module, [])[:_MOST_COMPARED]
        names = [split_identity(other)[1].removeprefix(shared_prefix) for other in candidates]
        for match in get_close_matches(name.removeprefix(shared_prefix), names, 1, _ALIKE):
            best = candidates[names.index(match)]
            arrived[module].remove(best)
            lost.subtract([identity])
            new.subtract([best])
