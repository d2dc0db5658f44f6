"""The action's outputs: names and values that later steps of a workflow can use.

The file behind ``GITHUB_OUTPUT`` is line-based. Each value stands between two copies of a random
delimiter that does not occur in it, so no value can end early and set another output.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from prjury.publishers.files import append, encode
from prjury.report.model import Report


def delimiter() -> str:
    """A delimiter with 128 random bits."""
    return f"prjury_{secrets.token_hex(16)}"


def write_outputs(
    path: Path, values: Mapping[str, str], new_delimiter: Callable[[], str] = delimiter
) -> None:
    """Adds outputs to the runner's file."""
    append(path, encode("".join(_entry(*pair, new_delimiter) for pair in values.items())))


def _entry(name: str, value: str, new_delimiter: Callable[[], str]) -> str:
    end = new_delimiter()
    while end in value:
        end = new_delimiter()
    return f"{name}<<{end}\n{value}\n{end}\n"


@dataclass
class ActionOutputs:
    """Publishes what a report says as outputs."""

    path: Path
    more: Mapping[str, str] = field(default_factory=dict)
    name: str = "outputs"

    def publish(self, report: Report) -> str | None:
        """Writes the outputs."""
        write_outputs(self.path, {**outputs_of(report), **self.more})
        return None


def outputs_of(report: Report) -> dict[str, str]:
    """The outputs that follow from the report alone; ``backports`` is JSON, branch to verdict."""
    backports = {backport.branch: backport.verdict for backport in report.backports}
    return {
        "verdict": report.verdict.status.value,
        "gate": report.gate.value,
        "headline": " ".join(report.headline.split()),
        "backports": json.dumps(backports),
        "llm-usd": "" if report.cost.usd is None else f"{report.cost.usd:.6f}",
    }
