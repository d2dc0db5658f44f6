"""Fits the score of the backport judge; writes its model and its picture, prints its figures.

    uv run --group fit python -P tests/fitting/backport_score.py [--check] DATA

See README.md beside this file. The result is the same on every run.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from fitting.additive import (
    PENALTY,
    SHAPES,
    WITHOUT_HISTORY,
    Flags,
    Numbers,
    Shape,
    curves,
    design,
    fit,
)
from fitting.figures import BANDS, auc, table, truth
from fitting.picture import drawn
from fitting.rows import decisions
from fitting.trials import Material, Trial, auc_of, material, mean_auc_of, metrics, trials

ROOT = Path(__file__).resolve().parents[2]
MODEL = ROOT / "src/prjury/judges/backport/score/model.json"
PICTURE = ROOT / ".github/docs/pictures/backport-calibration.svg"


def model(all_of: Material, shapes: Mapping[str, Shape], told: Trial) -> dict[str, Any]:
    """One of the models: fitted on everything, with the figures of those that were not."""
    steps = design(all_of.found, shapes)
    fitted = fit(steps, all_of.backported, shapes)
    whole = fitted.likelihood(steps)
    late = all_of.late
    shipped = {  # on the rows that it was fitted on: to see that a file is intact
        "auc": round(auc(whole, all_of.backported), 4),
        "auc_late": round(auc(whole[late], all_of.backported[late]), 4),
    }
    return {
        "intercept": round(fitted.intercept, 4),
        "features": curves(fitted, all_of.found, shapes),
        "metrics": metrics(all_of, told) | {"shipped": shipped},
    }


def shipped(all_of: Material, found: Sequence[Trial], data: Path) -> str:
    """The file that the program reads."""
    dates = sorted(row.recorded["date"][:10] for row in all_of.rows)
    whole = {
        "what": "points of an additive score for whether a change is brought to a release branch",
        "bands": {"unlikely_below": BANDS[0], "likely_from": BANDS[1]},
        "provenance": {
            "script": "tests/fitting/backport_score.py",
            "data_sha256": hashlib.sha256(data.read_bytes()).hexdigest(),
            "rows": len(all_of.rows),
            "backported": int(all_of.backported.sum()),
            "repositories": sorted(set(map(str, all_of.repo))),
            "from": dates[0],
            "until": dates[-1],
            "penalty": PENALTY,
        },
        "with_history": model(all_of, SHAPES, found[0]),
        "without_history": model(all_of, WITHOUT_HISTORY, found[1]),
    }
    return json.dumps(whole, indent=1) + "\n"


def told(all_of: Material, found: Sequence[Trial]) -> Iterator[str]:
    """The figures, as lines to read."""
    late, everything = all_of.late, np.ones(len(all_of.rows), dtype=bool)
    yield f"{'':28}{'time split':24}{'mean of repositories':24}pooled"
    for trial in found:
        figures = (
            auc_of(all_of, trial.later, late),
            mean_auc_of(all_of, trial.strangers),
            auc_of(all_of, trial.strangers, everything),
        )
        yield f"{trial.name:28}" + "".join(f"{figure!s:24}" for figure in figures).rstrip()
    score = found[0]
    for repo in np.unique(all_of.repo):
        figure = auc_of(all_of, score.strangers, all_of.repo == repo)
        yield f"  told by the others: {repo:24}{figure}"
    parts = {"time split": (score.later, late), "told by the others": (score.strangers, everything)}
    for name, (numbers, chosen) in parts.items():
        yield from _calibration(name, numbers[chosen], all_of.backported[chosen])


def _calibration(name: str, told: Numbers, backported: Flags) -> Iterator[str]:
    true = truth(told, backported)
    yield ""
    yield f"{name}: Brier {true['brier']}, calibration error {true['calibration_error']}"
    yield "  told   happened   rows"
    yield from (
        f"  {one:.3f}  {other:.3f}  {rows:8}" for one, other, rows in table(told, backported)
    )
    found = true["bands"]
    yield (
        f"  below {BANDS[0]}: {found['unlikely_share']:.1%} of rows, "
        f"{found['unlikely_missed']:.1%} of the backports among them"
    )
    yield (
        f"  from {BANDS[1]}: {found['likely_share']:.1%} of rows, "
        f"{found['likely_precision']:.1%} of them backported, "
        f"which are {found['likely_recall']:.1%} of all"
    )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("data", type=Path, help="the recorded decisions, as JSON lines in gzip")
    parser.add_argument("--check", action="store_true", help="compare with the shipped model only")
    given = parser.parse_args()
    all_of = material(decisions(given.data))
    found = trials(all_of)
    print("\n".join(told(all_of, found)))
    text = shipped(all_of, found, given.data)
    if given.check:
        print("the shipped model is", "the same" if MODEL.read_text("utf-8") == text else "another")
        return 0
    MODEL.write_text(text, "utf-8")
    PICTURE.write_text(_picture(all_of, found[0]), "utf-8")
    return 0


def _picture(all_of: Material, score: Trial) -> str:
    late = all_of.late
    series = {
        "later changes": table(score.later[late], all_of.backported[late]),
        "other repositories": table(score.strangers, all_of.backported),
    }
    return drawn(series, BANDS)


if __name__ == "__main__":
    raise SystemExit(main())
