"""PR Jury: a cascaded jury for pull requests, and a jury library for any other work.

The public names are imported when they are first used: importing the package costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the table of public names, which the other branch reads
    from prjury.agents.command import CommandAgent as CommandAgent
    from prjury.agents.judge import AgentJudge as AgentJudge
    from prjury.agents.judge import SecurityAudit as SecurityAudit
    from prjury.judges.context import PullRequestContext as PullRequestContext
    from prjury.judges.files.judges import FileContentJudge as FileContentJudge
    from prjury.judges.files.judges import FileExistsJudge as FileExistsJudge
    from prjury.judges.files.judges import PomComparisonJudge as PomComparisonJudge
    from prjury.judges.files.judges import SemanticComparisonJudge as SemanticComparisonJudge
    from prjury.judges.files.judges import SupersetJudge as SupersetJudge
    from prjury.judges.files.judges import SyntaxComparisonJudge as SyntaxComparisonJudge
    from prjury.judges.files.judges import TextComparisonJudge as TextComparisonJudge
    from prjury.judges.files.judges import XmlComparisonJudge as XmlComparisonJudge
    from prjury.judges.quality.answers import ContextualRelevanceJudge as ContextualRelevanceJudge
    from prjury.judges.quality.answers import CorrectnessJudge as CorrectnessJudge
    from prjury.judges.quality.answers import FaithfulnessJudge as FaithfulnessJudge
    from prjury.judges.quality.answers import HallucinationJudge as HallucinationJudge
    from prjury.judges.quality.kinds import RagContext as RagContext
    from prjury.judges.workspace.coverage import (
        CoverageImprovementJudge as CoverageImprovementJudge,
    )
    from prjury.judges.workspace.coverage import CoverageJudge as CoverageJudge
    from prjury.judges.workspace.coverage_readers import CoverageMetrics as CoverageMetrics
    from prjury.judges.workspace.coverage_readers import parse_jacoco as parse_jacoco
    from prjury.judges.workspace.program_judges import BuildJudge as BuildJudge
    from prjury.judges.workspace.program_judges import BuildSuccessJudge as BuildSuccessJudge
    from prjury.judges.workspace.program_judges import CommandJudge as CommandJudge
    from prjury.judges.workspace.program_judges import run_maven_tests as run_maven_tests
    from prjury.jury.cascade import CascadedJury as CascadedJury
    from prjury.jury.cascade import Tier as Tier
    from prjury.jury.compose import all_of as all_of
    from prjury.jury.compose import always_fail as always_fail
    from prjury.jury.compose import always_pass as always_pass
    from prjury.jury.compose import any_of as any_of
    from prjury.jury.compose import both as both
    from prjury.jury.compose import either as either
    from prjury.jury.compose import named as named
    from prjury.jury.context import ExecutionStatus as ExecutionStatus
    from prjury.jury.context import JudgmentContext as JudgmentContext
    from prjury.jury.judge import Judge as Judge
    from prjury.jury.judge import JudgeType as JudgeType
    from prjury.jury.judge import judge as judge
    from prjury.jury.judgment import Check as Check
    from prjury.jury.judgment import Judgment as Judgment
    from prjury.jury.judgment import Location as Location
    from prjury.jury.judgment import Status as Status
    from prjury.jury.jury import Jury as Jury
    from prjury.jury.jury import Seat as Seat
    from prjury.jury.library.agent import AgentClient as AgentClient
    from prjury.jury.library.agent import AgentResult as AgentResult
    from prjury.jury.library.evaluation import evaluate as evaluate
    from prjury.jury.library.evaluation import evaluate_async as evaluate_async
    from prjury.jury.library.improvement import Improvement as Improvement
    from prjury.jury.library.improvement import improve as improve
    from prjury.jury.library.model_judge import JudgeModel as JudgeModel
    from prjury.jury.library.model_judge import ModelJudge as ModelJudge
    from prjury.jury.library.model_judge import criterion_judge as criterion_judge
    from prjury.jury.library.presets import CRITERIA as CRITERIA
    from prjury.jury.library.presets import CRITERIA_GROUPS as CRITERIA_GROUPS
    from prjury.jury.library.repeated import AggregationMethod as AggregationMethod
    from prjury.jury.library.repeated import AggregationSelector as AggregationSelector
    from prjury.jury.library.repeated import (
        AverageAggregationStrategy as AverageAggregationStrategy,
    )
    from prjury.jury.library.repeated import BaseJudgeAggregator as BaseJudgeAggregator
    from prjury.jury.library.repeated import (
        MajorityVoteAggregationStrategy as MajorityVoteAggregationStrategy,
    )
    from prjury.jury.library.repeated import MedianAggregationStrategy as MedianAggregationStrategy
    from prjury.jury.library.repeated import RepeatedJudge as RepeatedJudge
    from prjury.jury.library.repeated import RepeatedResults as RepeatedResults
    from prjury.jury.library.repeated import (
        aggregate_repeated_results as aggregate_repeated_results,
    )
    from prjury.jury.library.repeated import (
        build_aggregation_strategy as build_aggregation_strategy,
    )
    from prjury.jury.library.replies import assessment as assessment
    from prjury.jury.library.replies import yes_or_no as yes_or_no
    from prjury.jury.library.retry import JuryWithRetry as JuryWithRetry
    from prjury.jury.library.retry import RoundContext as RoundContext
    from prjury.jury.score import BooleanScore as BooleanScore
    from prjury.jury.score import CategoricalScore as CategoricalScore
    from prjury.jury.score import NumericalScore as NumericalScore
    from prjury.jury.score import Score as Score
    from prjury.jury.score import to_boolean as to_boolean
    from prjury.jury.score import to_numerical as to_numerical
    from prjury.jury.verdicts import JuryVerdict as JuryVerdict
    from prjury.jury.verdicts import TierPolicy as TierPolicy
    from prjury.jury.verdicts import Verdict as Verdict
    from prjury.jury.voting import AverageVoting as AverageVoting
    from prjury.jury.voting import Ballot as Ballot
    from prjury.jury.voting import ConsensusVoting as ConsensusVoting
    from prjury.jury.voting import ErrorPolicy as ErrorPolicy
    from prjury.jury.voting import MajorityVoting as MajorityVoting
    from prjury.jury.voting import MedianVoting as MedianVoting
    from prjury.jury.voting import TiePolicy as TiePolicy
    from prjury.jury.voting import VotingStrategy as VotingStrategy
    from prjury.jury.voting import WeightedAverageVoting as WeightedAverageVoting
    from prjury.models.client import ModelClient as ModelClient

    __all__: list[str]
    __version__: str
else:
    #: Each public name's module, read from the imports above when the first name is used.
    _HOMES = {}

    def _map_names_to_modules() -> dict[str, str]:
        import ast  # noqa: PLC0415 - importing the package costs nothing
        from pathlib import Path  # noqa: PLC0415 - as above

        if not _HOMES:
            for node in ast.walk(ast.parse(Path(__file__).read_text("utf-8"))):
                if isinstance(node, ast.ImportFrom) and node.module.startswith(f"{__name__}."):
                    _HOMES.update((alias.name, node.module) for alias in node.names)
        return _HOMES

    def __getattr__(name: str) -> object:
        """Import a public name when it is first used, and keep it."""
        from importlib import import_module, metadata  # noqa: PLC0415 - as above

        if name == "__version__":
            return metadata.version(__name__)
        if name == "__all__":
            return sorted(_map_names_to_modules())
        if name.startswith("_") or name not in _map_names_to_modules():
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(_HOMES[name]), name)
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *_map_names_to_modules()})
