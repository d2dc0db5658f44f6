"""PR Jury: a cascaded jury for pull requests, and a jury library for any other work.

The public names are imported when they are first used: importing the package costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prjury.agents.bridges.langchain import LangChainAgent, jury_node
    from prjury.agents.bridges.openai_agents import OpenAIAgent
    from prjury.agents.bridges.pydantic_ai import PydanticAgent, accepted_by
    from prjury.agents.command import CommandAgent
    from prjury.agents.judge import AgentJudge
    from prjury.agents.security_audit import SECURITY_CHECKS, SecurityAudit
    from prjury.journal.read import JournalFile, read_journal
    from prjury.journal.transitions import Transitions
    from prjury.judges.context import PullRequestContext
    from prjury.judges.files.class_version import ClassVersionJudge
    from prjury.judges.files.judges import (
        PomComparisonJudge,
        SemanticComparisonJudge,
        SupersetJudge,
        SyntaxComparisonJudge,
        TextComparisonJudge,
        XmlComparisonJudge,
    )
    from prjury.judges.quality.answers import (
        ContextualRelevanceJudge,
        CorrectnessJudge,
        FaithfulnessJudge,
        HallucinationJudge,
    )
    from prjury.judges.quality.rag import RagContext
    from prjury.judges.workspace.build import BuildJudge, BuildSuccessJudge
    from prjury.judges.workspace.content import FileContentJudge, FileExistsJudge
    from prjury.judges.workspace.coverage import CoverageImprovementJudge, CoverageJudge
    from prjury.judges.workspace.coverage_readers import parse_coverage, parse_jacoco
    from prjury.judges.workspace.coverage_report import CoverageMetrics
    from prjury.judges.workspace.program_judges import CommandJudge, run_maven_tests
    from prjury.jury.cascade import CascadedJury, Tier, TierAttempt, TierPolicy, Verdict
    from prjury.jury.codec import judgment_from_json, judgment_to_json
    from prjury.jury.compose import all_of, always_fail, always_pass, any_of, both, either, named
    from prjury.jury.confidence import Confidence, ConfidenceStrategy
    from prjury.jury.context import ExecutionStatus, JudgmentContext
    from prjury.jury.gate import Gate, GatePolicy
    from prjury.jury.judge import Judge, JudgeType, Opinion, judge
    from prjury.jury.judgment import Check, Judgment, Location, Status
    from prjury.jury.jury import Bench, Jury, JuryJudge, JuryVerdict, Seat
    from prjury.jury.library.agent import AgentClient, AgentResult
    from prjury.jury.library.evaluation import evaluate, evaluate_async
    from prjury.jury.library.improvement import Improvement, ImprovementRound, improve
    from prjury.jury.library.model_judge import JudgeModel, ModelJudge, ModelText, criterion_judge
    from prjury.jury.library.presets import CRITERIA, CRITERIA_GROUPS, Criterion
    from prjury.jury.library.rating import RATING_FORM, CodeQualityJudge, rating
    from prjury.jury.library.repeated import (
        AggregationMethod,
        AggregationSelector,
        AverageAggregationStrategy,
        BaseJudgeAggregator,
        MajorityVoteAggregationStrategy,
        MedianAggregationStrategy,
        RepeatedJudge,
        RepeatedResults,
        aggregate_repeated_results,
        build_aggregation_strategy,
    )
    from prjury.jury.library.replies import (
        ASSESSMENT_FORM,
        YES_OR_NO_FORM,
        assessment,
        label_classifier,
        yes_or_no,
    )
    from prjury.jury.library.retry import JuryWithRetry, RoundContext
    from prjury.jury.library.template import Template
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
        Ballot,
        ConsensusVoting,
        ErrorPolicy,
        MajorityVoting,
        MedianVoting,
        TiePolicy,
        VotingStrategy,
        WeightedAverageVoting,
    )
    from prjury.models.client import ModelClient

    __version__: str

__all__ = [
    "ASSESSMENT_FORM",
    "CRITERIA",
    "CRITERIA_GROUPS",
    "RATING_FORM",
    "SECURITY_CHECKS",
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
    "BuildJudge",
    "BuildSuccessJudge",
    "CascadedJury",
    "CategoricalScore",
    "Check",
    "ClassVersionJudge",
    "CodeQualityJudge",
    "CommandAgent",
    "CommandJudge",
    "Confidence",
    "ConfidenceStrategy",
    "ConsensusVoting",
    "ContextualRelevanceJudge",
    "CorrectnessJudge",
    "CoverageImprovementJudge",
    "CoverageJudge",
    "CoverageMetrics",
    "Criterion",
    "ErrorPolicy",
    "ExecutionStatus",
    "FaithfulnessJudge",
    "FileContentJudge",
    "FileExistsJudge",
    "Gate",
    "GatePolicy",
    "HallucinationJudge",
    "Improvement",
    "ImprovementRound",
    "JournalFile",
    "Judge",
    "JudgeModel",
    "JudgeType",
    "Judgment",
    "JudgmentContext",
    "Jury",
    "JuryJudge",
    "JuryVerdict",
    "JuryWithRetry",
    "LangChainAgent",
    "Location",
    "MajorityVoteAggregationStrategy",
    "MajorityVoting",
    "MedianAggregationStrategy",
    "MedianVoting",
    "ModelClient",
    "ModelJudge",
    "ModelText",
    "NumericalScore",
    "OpenAIAgent",
    "Opinion",
    "PomComparisonJudge",
    "PullRequestContext",
    "PydanticAgent",
    "RagContext",
    "RepeatedJudge",
    "RepeatedResults",
    "RoundContext",
    "Score",
    "Seat",
    "SecurityAudit",
    "SemanticComparisonJudge",
    "Status",
    "SupersetJudge",
    "SyntaxComparisonJudge",
    "Template",
    "TextComparisonJudge",
    "TiePolicy",
    "Tier",
    "TierAttempt",
    "TierPolicy",
    "Transitions",
    "Verdict",
    "VotingStrategy",
    "WeightedAverageVoting",
    "XmlComparisonJudge",
    "accepted_by",
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
    "evaluate_async",
    "improve",
    "judge",
    "judgment_from_json",
    "judgment_to_json",
    "jury_node",
    "jury_verdict_from_json",
    "jury_verdict_to_json",
    "label_classifier",
    "named",
    "parse_coverage",
    "parse_jacoco",
    "rating",
    "read_journal",
    "run_maven_tests",
    "to_boolean",
    "to_numerical",
    "verdict_from_json",
    "verdict_to_json",
    "yes_or_no",
]

if not TYPE_CHECKING:  # a type checker sees the imports above, and only those
    #: Each public name's module, read from the imports above when the first name is used.
    _HOMES = {}

    def _read_homes() -> None:
        import ast  # noqa: PLC0415 - importing the package costs nothing

        # The loader of pytest, which rewrites the packages of its plugins, gives no source.
        given = getattr(__spec__.loader, "get_source", None)
        if given is None:
            from importlib.machinery import SourceFileLoader  # noqa: PLC0415 - as above

            given = SourceFileLoader(__name__, __file__).get_source
        for node in ast.walk(ast.parse(given(__name__))):
            if isinstance(node, ast.ImportFrom) and node.module.startswith(__name__):
                _HOMES.update((alias.name, node.module) for alias in node.names)

    def __getattr__(name: str) -> object:
        """Import a public name when it is first used, and keep it."""
        from importlib import import_module, metadata  # noqa: PLC0415 - as above

        if name == "__version__":
            return metadata.version("prjury")
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        if not _HOMES:
            _read_homes()
        value = getattr(import_module(_HOMES[name]), name)
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
