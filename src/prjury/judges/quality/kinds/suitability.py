"""Does the change belong on a release branch? Asked where rules and figures leave it open."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from prjury.judges.context import PullRequestContext
from prjury.judges.quality.judge import ModelBackedJudge
from prjury.judges.quality.kinds.reading import judge_of
from prjury.policy.tiers import SuitabilityOptions
from prjury.ports import Ports

NAME = "backport-suitability"

CRITERIA: Mapping[str, str] = MappingProxyType(
    {
        "fixes": "Does the change repair behaviour that users of a released version can meet? No "
        "if a line can be quoted that shows a new feature, a refactoring or a mere improvement.",
        "compatible": "Does everything that compiles and runs against the branch today go on doing "
        "so? No if a line can be quoted that removes, renames or changes a public name, a default, "
        "a file format, a requirement or a setting.",
        "contained": "Does the change keep to what the repair needs? No if a line can be quoted "
        "that has nothing to do with it.",
        "settled": "Is the change free of what needs time to prove itself, such as concurrency, "
        "migrations of data, caches or security settings? No if such a line can be quoted.",
    }
)


def make(options: SuitabilityOptions, ports: Ports) -> ModelBackedJudge[PullRequestContext]:
    """The judge of backport suitability; it never votes on the merge."""
    about = "asks a model whether the change belongs on a release branch"
    return judge_of(NAME, CRITERIA, options, ports, about=about, template="suitability")
