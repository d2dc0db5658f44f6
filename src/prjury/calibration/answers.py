"""What became of the errors that models reported, and the proof that their failures are right."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from math import exp, lgamma, log
from pathlib import Path
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct, structs

from prjury.errors import ConfigError, SourceError
from prjury.git.operator import OperatorRepository, open_repository
from prjury.jury.judge import MODEL_BACKED
from prjury.jury.judgment import Check, Status
from prjury.jury.voting import Ballot
from prjury.policy.yaml_reader import read_yaml
from prjury.report.codec import PullJson, ReportJson, ballot_of
from prjury.report.judge_facts import ModelSetup, PanelFacts
from prjury.report.model import Count

#: Of the failures that block, at least this share is right, at this confidence.
PROMISE, CONFIDENCE = 0.9, 0.9
#: Days that a record counts.
VALID_DAYS = 180


def join_model_setups(parts: Sequence[ModelSetup]) -> ModelSetup | None:
    """Return one setup for several judges; None for none."""
    if not parts:
        return None
    models = tuple(sorted({name for part in parts for name in part.models}))
    return ModelSetup(models, {judge: it for part in parts for judge, it in part.prompts.items()})


def proves_precision(right: int, wrong: int) -> bool:
    """Compare the exact one-sided binomial bound of the answers with the promise."""
    total = right + wrong
    likelihood = 0.0
    for errors in range(wrong + 1):
        ways = lgamma(total + 1) - lgamma(errors + 1) - lgamma(total - errors + 1)
        likelihood += exp(ways + errors * log(1 - PROMISE) + (total - errors) * log(PROMISE))
    return total > 0 and likelihood <= 1 - CONFIDENCE


@cache
def fewest_answers(wrong: int) -> int:
    """Return how many answers the promise needs where so many of them are wrong."""
    total = 10 * wrong + 1  # a tenth of them wrong is too many
    while not proves_precision(total - wrong, wrong):
        total += 1
    return total


class Counts(Struct, frozen=True):
    """What became of the errors that were reported; ``merged`` ones were still there then."""

    mended: Count = 0
    dismissed: Count = 0
    merged: Count = 0
    open: Count = 0

    @property
    def wrong(self) -> int:
        return self.dismissed + self.merged

    @property
    def missing(self) -> int:
        """Return how many more answers, all right, the promise needs; 0 where it is kept."""
        return max(0, fewest_answers(self.wrong) - self.mended - self.wrong)

    def __str__(self) -> str:
        state = f"{self.missing} more before it may block" if self.missing else "it may block"
        return (
            f"{self.mended + self.wrong + self.open} told: {self.mended} mended, "
            f"{self.dismissed} dismissed, {self.merged} merged as it was, {self.open} open: {state}"
        )


class Record(Struct, frozen=True):
    """The proof, with a digest of all the rest."""

    models: tuple[str, ...]
    prompts: dict[str, str]
    mended: Count
    dismissed: Count
    merged: Count
    date: dt.date
    expires: dt.date
    digest: str = ""

    @classmethod
    def of(cls, setup: ModelSetup, counts: Counts, today: dt.date) -> Record:
        answers = (counts.mended, counts.dismissed, counts.merged)
        days = (today, today + dt.timedelta(VALID_DAYS))
        record = cls(setup.models, setup.prompts, *answers, *days)
        return structs.replace(record, digest=record.compute_digest())

    def compute_digest(self) -> str:
        values: dict[str, Any] = msgspec.to_builtins(self)
        del values["digest"]
        text = json.dumps(values, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    def find_flaw(self, today: dt.date) -> str | None:
        """Return why the record proves nothing today, whoever is asked; None if it does."""
        if self.digest != self.compute_digest():
            return "it was edited by hand"
        if self.date > today + dt.timedelta(1):
            return f"it is dated {self.date}, which is still to come"
        if self.expires <= today:
            return f"it expired on {self.expires}"
        counts = Counts(self.mended, self.dismissed, self.merged)
        if counts.missing:
            answers = f"{counts.mended} right and {counts.wrong} wrong answers"
            return f"{answers} no longer keep the promise; {counts.missing} more do"
        return None

    def find_misfit(self, setup: ModelSetup) -> str | None:
        """Return why the record is about other models or questions; None if about these."""
        if set(self.models) != set(setup.models):
            return f"it is about {', '.join(self.models)}, not {', '.join(setup.models)}"
        others = [judge for judge, it in setup.prompts.items() if self.prompts.get(judge) != it]
        return f"the questions of {', '.join(others)} are others now" if others else None

    def __str__(self) -> str:
        lines = ["# Written by `prjury calibrate`, read from the base; edited, it proves nothing."]
        lines += [f"{name}: {json.dumps(it)}" for name, it in msgspec.to_builtins(self).items()]
        return "\n".join([*lines, ""])


def read_record(text: str, path: str) -> Record | str:
    """Read a record; where the file is none, return what is wrong with it."""
    try:
        return msgspec.convert(read_yaml(text, path).value, Record)
    except (ConfigError, msgspec.ValidationError) as error:
        return f"it cannot be read: {error}"


#: A judge, and the path and text of which it has reported an error, whatever the words were.
FindingKey: TypeAlias = tuple[str, str, str]


def _key_of(judge: str, check: Check) -> FindingKey:
    path = check.location.path if check.location else ""
    return judge, path, " ".join((check.evidence or check.message).split())


def read_model_setup(report: ReportJson) -> ModelSetup | None:
    """Return on what the answers of models in a report depend; None if none has answered."""
    setups = (PanelFacts.parse(ballot.judgment).setup for ballot in _model_ballots(report))
    return join_model_setups([setup for setup in setups if setup])


def _model_ballots(report: ReportJson) -> list[Ballot]:
    judgments = [judgment for tier in report.tiers for judgment in tier.judgments]
    return [ballot_of(judgment) for judgment in judgments if judgment.type in MODEL_BACKED]


def _name_pull(pull: PullJson) -> str:
    return f"{pull.repo}:{pull.head.ref}" if pull.number is None else f"{pull.repo}#{pull.number}"


def _index_panel_confirmed_errors(report: ReportJson) -> dict[FindingKey, Check]:
    return {
        _key_of(ballot.judge, check): check
        for ballot in _model_ballots(report)
        if PanelFacts.parse(ballot.judgment).confirmed
        for check in ballot.judgment.failed_checks
        if check.severity == "error"
    }


def count_error_outcomes(reports: Sequence[ReportJson], clone: CloneHistory | None) -> Counts:
    """Count what became of each confirmed error, once a pull request; its reports are in order."""
    pulls: dict[str, list[ReportJson]] = defaultdict(list)
    for report in reports:
        pulls[_name_pull(report.pull)].append(report)
    outcomes = Counter[str]()
    for group in pulls.values():
        keys = set[FindingKey]()
        for at, report in enumerate(group):
            new = _index_panel_confirmed_errors(report).keys() - keys
            outcomes.update(_find_error_outcome(key, group[at:], clone) for key in new)
            keys |= new
    return Counts(**outcomes)


def _find_error_outcome(
    key: FindingKey, reports: Sequence[ReportJson], clone: CloneHistory | None
) -> str:
    """Return what became of an error that the first of these reports holds."""
    dismissed = {each.finding for report in reports for each in report.dismissals}
    names = set[str]()  # under which reports list it; they differ by criterion
    last = None
    for report in reports:
        for ballot in _model_ballots(report):
            checks = ballot.judgment.failed_checks
            same = [check for check in checks if _key_of(ballot.judge, check) == key]
            names.update(check.fingerprint for check in same)
            if ballot.judge == key[0] and ballot.judgment.status in {Status.PASS, Status.FAIL}:
                last = None if same else report
    if dismissed & names:
        return "dismissed"
    if last is not None and _changes_lines(key, reports[0], last, clone):
        return "mended"
    return "merged" if clone and clone.is_merged(reports[-1].pull) else "open"


def _changes_lines(
    key: FindingKey, first: ReportJson, last: ReportJson, clone: CloneHistory | None
) -> bool:
    """Tell whether a later push changed the lines of an error, which a model may only forget."""
    if last.pull.head == first.pull.head:
        return False
    _, path, quote = key
    if clone and (text := clone.read(last.pull, path)) is not None:
        return quote not in " ".join(text.split())
    before, after = ({it.path: it.new_blob for it in r.pull.files} for r in (first, last))
    return before.get(path) is None or before[path] != after.get(path)


class CloneHistory(Struct, frozen=True):
    """What a clone says of pull requests: which are merged, and what their files hold."""

    repository: OperatorRepository

    def is_merged(self, pull: PullJson) -> bool:
        """Tell whether the base branch, here or at its origin, holds the change in any form."""
        branch = pull.base.ref
        for ref in (f"refs/remotes/origin/{branch.removeprefix('origin/')}", branch):
            try:
                tip = self.repository.resolve(ref).sha
            except (SourceError, ValueError):
                continue
            if self._has_change(tip, pull):
                return True
        return False

    def read(self, pull: PullJson, path: str) -> str | None:
        """Return the text of a file at the pull request's head; None if it is not here."""
        name = f"{pull.head.sha}:{path}"
        content, code, _ = self.repository.git.try_run("cat-file", "blob", name)
        return None if code else content.decode("utf-8", "replace")

    def knows(self, commit: str) -> bool:
        return self.repository.git.try_run("cat-file", "-e", f"{commit}^{{commit}}")[1] == 0

    def _has_change(self, tip: str, pull: PullJson) -> bool:
        """Tell whether a commit's history holds the change: as it is, squashed or rebased."""
        git, head, base = self.repository.git, pull.head.sha, pull.base.sha
        if tip == base or not self.knows(base):
            return False
        if pull.number is not None:
            subjects = git.text("log", "--first-parent", "--format=%s", f"{base}..{tip}")
            pattern = rf"\(#{pull.number}\)$|^Merge pull request #{pull.number} "
            if re.search(pattern, subjects, re.MULTILINE):
                return True
        if not self.knows(head):
            return False
        if git.try_run("merge-base", "--is-ancestor", head, tip)[1] == 0:
            return True
        patches = self._digest_patches("log", f"{base}..{tip}")
        whole = self._digest_patches("diff", pull.merge_base, head)
        each = self._digest_patches("log", f"{pull.merge_base}..{head}")
        return bool(whole & patches) or (bool(each) and each <= patches)

    def _digest_patches(self, command: str, *commits: str) -> set[str]:
        patches = self.repository.git(command, "--patch", "--no-ext-diff", *commits)
        names = self.repository.git("patch-id", "--stable", stdin=patches).decode()
        return {line.split()[0] for line in names.splitlines()}


def open_clone(directory: Path, base: str) -> CloneHistory | None:
    """Open the clone at a directory; None if there is none that knows a commit of the base."""
    try:
        clone = CloneHistory(open_repository(directory))
    except SourceError:
        return None
    return clone if clone.knows(base) else None


def compare_reports(ones: Sequence[ReportJson], others: Sequence[ReportJson]) -> Iterator[str]:
    """Iterate over lines: each finding that one set of reports has alone, and then the costs."""
    first, second = (
        {f"{_name_pull(r.pull)}@{r.pull.head.sha[:7]}": r for r in reports}
        for reports in (ones, others)
    )
    shared = [change for change in first if change in second]
    both = alone = 0
    for change in shared:
        pair = first[change], second[change]
        one, other = map(_index_panel_confirmed_errors, pair)
        both += len(one.keys() & other.keys())
        alone += len(one.keys() ^ other.keys())
        for key, check in (one | other).items():
            if key not in one or key not in other:
                sign = "-" if key in one else "+"
                yield f"{sign} {change} {key[0]} {key[1]}: {check.message}"
        votes, other_votes = (
            {ballot.judge: ballot.judgment.status for ballot in _model_ballots(r)} for r in pair
        )
        for judge, vote in votes.items():
            if (other_vote := other_votes.get(judge, vote)) != vote:
                yield f"! {change} {judge}: {vote} against {other_vote}"
    yield f"{len(shared)} changes judged by both, {len(first.keys() ^ second.keys())} by one"
    yield f"{both} errors told by both, {alone} by one"
    for sign, reports in (("-", ones), ("+", others)):
        costs = [report.cost for report in reports]
        prices = [cost.usd for cost in costs if cost.usd is not None]
        price = f"${sum(prices):.4f}" if len(prices) == len(costs) else "price unknown"
        tokens = sum(cost.input_tokens + cost.output_tokens for cost in costs)
        yield f"{sign} {sum(cost.llm_calls for cost in costs)} calls, {tokens:,} tokens, {price}"
