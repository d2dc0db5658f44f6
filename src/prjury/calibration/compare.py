"""Two sets of reports of the same changes: where their models disagree, and what each cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from prjury.calibration.answers import find_confirmed_errors, model_ballots, name_pull
from prjury.report.codec import ReportJson


def compare_reports(ones: Sequence[ReportJson], others: Sequence[ReportJson]) -> Iterator[str]:
    """Iterate over lines: each finding that one has alone, and then the costs."""
    first, second = _index_by_change(ones), _index_by_change(others)
    shared = [change for change in first if change in second]
    both = alone = 0
    for change in shared:
        one, other = (find_confirmed_errors(side[change]) for side in (first, second))
        both += len(one.keys() & other.keys())
        for sign, errors, more in (("-", one, other), ("+", other, one)):
            for key in errors.keys() - more.keys():
                alone += 1
                yield f"{sign} {change} {key.judge} {key.path}: {errors[key].message}"
        votes = [_votes(side[change]) for side in (first, second)]
        for judge in votes[0].keys() & votes[1].keys():
            if votes[0][judge] != votes[1][judge]:
                yield f"! {change} {judge}: {votes[0][judge]} against {votes[1][judge]}"
    yield f"{len(shared)} changes judged by both, {len(first.keys() ^ second.keys())} by one"
    yield f"{both} errors told by both, {alone} by one"
    for sign, reports in (("-", ones), ("+", others)):
        yield f"{sign} {_cost(reports)}"


def _index_by_change(reports: Sequence[ReportJson]) -> dict[str, ReportJson]:
    return {f"{name_pull(r.pull)}@{r.pull.head.sha[:7]}": r for r in reports}


def _votes(report: ReportJson) -> dict[str, str]:
    return {ballot.judge: ballot.judgment.status.value for ballot in model_ballots(report)}


def _cost(reports: Sequence[ReportJson]) -> str:
    costs = [report.cost for report in reports]
    prices = [cost.usd for cost in costs if cost.usd is not None]
    price = f"${sum(prices):.4f}" if len(prices) == len(costs) else "price unknown"
    tokens = sum(cost.input_tokens + cost.output_tokens for cost in costs)
    return f"{sum(cost.llm_calls for cost in costs)} calls, {tokens:,} tokens, {price}"
