"""Ports of judges of a directory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from prjury.jury.context import JudgmentContext
from prjury.jury.judge import Judge
from prjury.ports import NoRecorder, Progress, Recorder, Shell
from prjury.report.redact import Redact
from prjury.report.sanitise import BY_SHAPE

DirectoryJudge: TypeAlias = Judge[JudgmentContext]


@dataclass(frozen=True)
class RunTexts:
    """A shell, a display of progress, the operator's environment and a record of models' calls."""

    shell: Shell
    progress: Progress
    environ: Mapping[str, str] = field(default_factory=dict)
    redact: Redact = BY_SHAPE
    journal: Recorder = field(default_factory=NoRecorder)
