"""PR Jury: a cascaded jury for pull requests, and a jury library for any other work.

The public names are imported when they are first used: importing the package costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prjury.judges.context import PullRequestContext
    from prjury.judges.workspace.files import FileContentJudge, FileExistsJudge
    from prjury.judges.workspace.jacoco import CoverageMetrics, parse_jacoco
    from prjury.judges.workspace.program_judges import CommandJudge, CoverageJudge, run_maven_tests
    from prjury.jury.cascade import CascadedJury, Tier, TierAttempt, TierPolicy, Verdict
    from prjury.jury.codec import judgment_from_json, judgment_to_json
    from prjury.jury.compose import all_of, always_fail, always_pass, any_of, both, either, named
    from prjury.jury.confidence import Confidence, ConfidenceStrategy
    from prjury.jury.context import ExecutionStatus, JudgmentContext
    from prjury.jury.gate import Gate, GatePolicy
    from prjury.jury.judge import Judge, JudgeType, Opinion, judge
    from prjury.jury.judgment import Check, Judgment, Location, Status
    from prjury.jury.jury import Bench, Jury, JuryJudge, JuryVerdict, Seat
    from prjury.jury.library.agent import AgentClient, AgentJudge, AgentResult
    from prjury.jury.library.assessment import ASSESSMENT_FORM, assessment
    from prjury.jury.library.classify import YES_OR_NO_FORM, yes_or_no
    from prjury.jury.library.evaluation import evaluate
    from prjury.jury.library.model_judge import JudgeModel, ModelJudge, criterion_judge
    from prjury.jury.library.presets import CRITERIA, CRITERIA_GROUPS, Criterion
    from prjury.jury.library.repeated import RepeatedJudge
    from prjury.jury.library.representative import (
        AggregationMethod,
        AggregationSelector,
        AverageAggregationStrategy,
        BaseJudgeAggregator,
        MajorityVoteAggregationStrategy,
        MedianAggregationStrategy,
        RepeatedResults,
        aggregate_repeated_results,
        build_aggregation_strategy,
    )
    from prjury.jury.library.retry import JuryWithRetry, RoundContext
    from prjury.jury.library.template import Template
    from prjury.jury.population import Ballot, ErrorPolicy
    from prjury.jury.score import (
        BooleanScore,
        CategoricalScore,
        NumericalScore,
        Score,
        to_boolean,
        to_numerical,
    )
    from prjury.jury.verdicts import (
        jury_verdict_from_json,
        jury_verdict_to_json,
        verdict_from_json,
        verdict_to_json,
    )
    from prjury.jury.voting import (
        AverageVoting,
        ConsensusVoting,
        MajorityVoting,
        MedianVoting,
        TiePolicy,
        VotingStrategy,
        WeightedAverageVoting,
    )

    __version__: str

__all__ = [
    "ASSESSMENT_FORM",
    "CRITERIA",
    "CRITERIA_GROUPS",
    "YES_OR_NO_FORM",
    "AgentClient",
    "AgentJudge",
    "AgentResult",
    "AggregationMethod",
    "AggregationSelector",
    "AverageAggregationStrategy",
    "AverageVoting",
    "Ballot",
    "BaseJudgeAggregator",
    "Bench",
    "BooleanScore",
    "CascadedJury",
    "CategoricalScore",
    "Check",
    "CommandJudge",
    "Confidence",
    "ConfidenceStrategy",
    "ConsensusVoting",
    "CoverageJudge",
    "CoverageMetrics",
    "Criterion",
    "ErrorPolicy",
    "ExecutionStatus",
    "FileContentJudge",
    "FileExistsJudge",
    "Gate",
    "GatePolicy",
    "Judge",
    "JudgeModel",
    "JudgeType",
    "Judgment",
    "JudgmentContext",
    "Jury",
    "JuryJudge",
    "JuryVerdict",
    "JuryWithRetry",
    "Location",
    "MajorityVoteAggregationStrategy",
    "MajorityVoting",
    "MedianAggregationStrategy",
    "MedianVoting",
    "ModelJudge",
    "NumericalScore",
    "Opinion",
    "PullRequestContext",
    "RepeatedJudge",
    "RepeatedResults",
    "RoundContext",
    "Score",
    "Seat",
    "Status",
    "Template",
    "TiePolicy",
    "Tier",
    "TierAttempt",
    "TierPolicy",
    "Verdict",
    "VotingStrategy",
    "WeightedAverageVoting",
    "aggregate_repeated_results",
    "all_of",
    "always_fail",
    "always_pass",
    "any_of",
    "assessment",
    "both",
    "build_aggregation_strategy",
    "criterion_judge",
    "either",
    "evaluate",
    "judge",
    "judgment_from_json",
    "judgment_to_json",
    "jury_verdict_from_json",
    "jury_verdict_to_json",
    "named",
    "parse_jacoco",
    "run_maven_tests",
    "to_boolean",
    "to_numerical",
    "verdict_from_json",
    "verdict_to_json",
    "yes_or_no",
]

#: Every public name and the module that it lives in.
_HOMES = {
    "PullRequestContext": "prjury.judges.context",
    "FileContentJudge": "prjury.judges.workspace.files",
    "FileExistsJudge": "prjury.judges.workspace.files",
    "AgentClient": "prjury.jury.library.agent",
    "AgentJudge": "prjury.jury.library.agent",
    "AgentResult": "prjury.jury.library.agent",
    "ASSESSMENT_FORM": "prjury.jury.library.assessment",
    "assessment": "prjury.jury.library.assessment",
    "Bench": "prjury.jury.jury",
    "Jury": "prjury.jury.jury",
    "JuryJudge": "prjury.jury.jury",
    "JuryVerdict": "prjury.jury.jury",
    "Seat": "prjury.jury.jury",
    "CascadedJury": "prjury.jury.cascade",
    "Tier": "prjury.jury.cascade",
    "TierAttempt": "prjury.jury.cascade",
    "TierPolicy": "prjury.jury.cascade",
    "Verdict": "prjury.jury.cascade",
    "YES_OR_NO_FORM": "prjury.jury.library.classify",
    "yes_or_no": "prjury.jury.library.classify",
    "judgment_from_json": "prjury.jury.codec",
    "judgment_to_json": "prjury.jury.codec",
    "all_of": "prjury.jury.compose",
    "always_fail": "prjury.jury.compose",
    "always_pass": "prjury.jury.compose",
    "any_of": "prjury.jury.compose",
    "both": "prjury.jury.compose",
    "either": "prjury.jury.compose",
    "named": "prjury.jury.compose",
    "Confidence": "prjury.jury.confidence",
    "ConfidenceStrategy": "prjury.jury.confidence",
    "ExecutionStatus": "prjury.jury.context",
    "JudgmentContext": "prjury.jury.context",
    "evaluate": "prjury.jury.library.evaluation",
    "Gate": "prjury.jury.gate",
    "GatePolicy": "prjury.jury.gate",
    "Judge": "prjury.jury.judge",
    "JudgeType": "prjury.jury.judge",
    "Opinion": "prjury.jury.judge",
    "judge": "prjury.jury.judge",
    "Check": "prjury.jury.judgment",
    "Judgment": "prjury.jury.judgment",
    "Location": "prjury.jury.judgment",
    "Status": "prjury.jury.judgment",
    "JudgeModel": "prjury.jury.library.model_judge",
    "ModelJudge": "prjury.jury.library.model_judge",
    "criterion_judge": "prjury.jury.library.model_judge",
    "Ballot": "prjury.jury.population",
    "ErrorPolicy": "prjury.jury.population",
    "CRITERIA": "prjury.jury.library.presets",
    "CRITERIA_GROUPS": "prjury.jury.library.presets",
    "Criterion": "prjury.jury.library.presets",
    "RepeatedJudge": "prjury.jury.library.repeated",
    "AggregationMethod": "prjury.jury.library.representative",
    "AggregationSelector": "prjury.jury.library.representative",
    "AverageAggregationStrategy": "prjury.jury.library.representative",
    "BaseJudgeAggregator": "prjury.jury.library.representative",
    "MajorityVoteAggregationStrategy": "prjury.jury.library.representative",
    "MedianAggregationStrategy": "prjury.jury.library.representative",
    "RepeatedResults": "prjury.jury.library.representative",
    "aggregate_repeated_results": "prjury.jury.library.representative",
    "build_aggregation_strategy": "prjury.jury.library.representative",
    "JuryWithRetry": "prjury.jury.library.retry",
    "RoundContext": "prjury.jury.library.retry",
    "BooleanScore": "prjury.jury.score",
    "CategoricalScore": "prjury.jury.score",
    "NumericalScore": "prjury.jury.score",
    "Score": "prjury.jury.score",
    "to_boolean": "prjury.jury.score",
    "to_numerical": "prjury.jury.score",
    "Template": "prjury.jury.library.template",
    "jury_verdict_from_json": "prjury.jury.verdicts",
    "jury_verdict_to_json": "prjury.jury.verdicts",
    "verdict_from_json": "prjury.jury.verdicts",
    "verdict_to_json": "prjury.jury.verdicts",
    "AverageVoting": "prjury.jury.voting",
    "ConsensusVoting": "prjury.jury.voting",
    "MajorityVoting": "prjury.jury.voting",
    "MedianVoting": "prjury.jury.voting",
    "TiePolicy": "prjury.jury.voting",
    "VotingStrategy": "prjury.jury.voting",
    "WeightedAverageVoting": "prjury.jury.voting",
    "CoverageMetrics": "prjury.judges.workspace.jacoco",
    "parse_jacoco": "prjury.judges.workspace.jacoco",
    "CommandJudge": "prjury.judges.workspace.program_judges",
    "CoverageJudge": "prjury.judges.workspace.program_judges",
    "run_maven_tests": "prjury.judges.workspace.program_judges",
}

if not TYPE_CHECKING:  # a type checker sees the imports above, and only those

    def __getattr__(name: str) -> object:
        """A public name, imported now and kept."""
        from importlib import import_module, metadata  # noqa: PLC0415 - what nobody asks for costs

        if name == "__version__":
            return metadata.version("prjury")
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(_HOMES[name]), name)
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *_HOMES})
