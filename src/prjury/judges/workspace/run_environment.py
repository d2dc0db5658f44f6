"""What judges of a directory may need."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from prjury.ports import Progress, Shell
from prjury.report.redact import Redact
from prjury.report.sanitise import BY_SHAPE


@dataclass(frozen=True)
class RunTexts:
    """A shell, somebody who listens, and the operator's environment.

    Attributes:
        environ: the operator's environment, for the models' keys.
    """

    shell: Shell
    progress: Progress
    environ: Mapping[str, str] = field(default_factory=dict)
    redact: Redact = BY_SHAPE
