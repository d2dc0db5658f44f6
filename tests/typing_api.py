"""What a type checker makes of the library: read by mypy, never run.

Every judge keeps the type of its context, and everything that is made of judges takes a context
that all of them can read. What must not type-check is marked with the error that it has to be.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import assert_type

from prjury import (
    CRITERIA,
    AgentClient,
    AgentJudge,
    AgentResult,
    AverageVoting,
    Ballot,
    CascadedJury,
    ConsensusVoting,
    ContextualRelevanceJudge,
    CorrectnessJudge,
    FaithfulnessJudge,
    Judge,
    JudgeModel,
    Judgment,
    JudgmentContext,
    Jury,
    JuryVerdict,
    JuryWithRetry,
    MajorityVoting,
    ModelClient,
    ModelJudge,
    RagContext,
    RepeatedJudge,
    RoundContext,
    Seat,
    Status,
    Tier,
    TierPolicy,
    Verdict,
    VotingStrategy,
    all_of,
    always_pass,
    any_of,
    assessment,
    both,
    build_aggregation_strategy,
    criterion_judge,
    either,
    evaluate,
    judge,
    named,
    yes_or_no,
)
from prjury.jury.judge import FunctionJudge

# A context of one's own, and judges that read it.


@dataclass(frozen=True)
class Recipe(JudgmentContext):
    """A context that is one of ours, and more."""

    servings: int = 4


class Poem:
    """A context that has nothing to do with ours."""

    lines: list[str]


@judge
def bare(recipe: Recipe) -> Judgment:
    """A judge without options."""
    return Judgment.passed(str(recipe))


@judge(name="enough")
def enough(recipe: Recipe) -> Judgment:
    return Judgment.passed(f"{recipe.servings} servings")


@judge()
async def rhymes(poem: Poem) -> Judgment:
    return Judgment.failed(f"none of {len(poem.lines)} lines rhymes")


@judge(description="whatever the work is")
def has_goal(context: JudgmentContext) -> Judgment:
    return Judgment.passed(context.goal)


def tasty(recipe: Recipe) -> Judgment:
    return Judgment.abstained(f"nobody ate {recipe.servings} servings")


async def healthy(recipe: Recipe) -> Judgment:
    return Judgment.passed(recipe.goal)


class Salt:
    """A judge that inherits from nothing."""

    name = "salt"

    def judge(self, context: Recipe, /) -> Judgment:
        return Judgment.passed(context.goal)


recipe, poem = Recipe("soup"), Poem()


def decorated_functions_keep_their_context() -> None:
    assert_type(enough, FunctionJudge[Recipe])
    assert_type(rhymes, FunctionJudge[Poem])
    assert_type(enough.judge(recipe), Judgment)
    enough(poem)  # type: ignore[arg-type]


def a_judge_of_more_general_contexts_will_do() -> None:
    salt: Judge[Recipe] = Salt()
    general: Judge[Recipe] = has_goal
    anything: Judge[Poem] = always_pass()
    special: Judge[JudgmentContext] = enough  # type: ignore[assignment]
    assert_type((salt.name, general.name, anything.name, special.name), tuple[str, str, str, str])


def composed_judges_keep_their_context() -> None:
    assert_type(all_of(enough, Salt()), Judge[Recipe])
    assert_type(any_of(enough, has_goal), Judge[Recipe])
    assert_type(both(enough, has_goal), Judge[Recipe])
    assert_type(either(rhymes, always_pass()), Judge[Poem])
    assert_type(named(rhymes, "metre"), Judge[Poem])


def a_jury_reads_what_its_judges_read() -> None:
    assert_type(Jury([enough], MajorityVoting()), Jury[Recipe])
    assert_type(Jury.of(MajorityVoting(), enough, has_goal, always_pass()), Jury[Recipe])
    assert_type(Jury.of(MajorityVoting(), rhymes), Jury[Poem])
    assert_type(Jury.of(MajorityVoting(), tasty, healthy), Jury[Recipe])
    assert_type(Seat(enough, weight=2.0), Seat[Recipe])
    assert_type(Jury([Seat(enough), Seat(Salt(), 2)], AverageVoting()), Jury[Recipe])

    # A list of members of different kinds: name the context that all of them can read.
    mixed = Jury[Recipe](
        [enough, tasty, healthy, Seat(has_goal, 2), always_pass()], AverageVoting()
    )
    assert_type(mixed.vote(recipe), JuryVerdict)
    assert_type(mixed.seats, tuple[Seat[Recipe], ...])
    mixed.vote(poem)  # type: ignore[arg-type]
    Jury[Poem]([enough], MajorityVoting())  # type: ignore[list-item]


def a_verdict_is_read() -> None:
    verdict = Jury.of(MajorityVoting(), enough).vote(recipe, timeout=1.5)
    assert_type(verdict.aggregated, Judgment)
    assert_type(verdict.ballots, tuple[Ballot, ...])
    assert_type(verdict.individual, tuple[Judgment, ...])
    assert_type(verdict.by_name, Mapping[str, Judgment])
    assert_type(verdict.weights, Mapping[str, float])
    assert_type(verdict.status, Status)
    assert_type(verdict.aggregated.effective_score, float | None)


def a_jury_is_a_judge() -> None:
    inner: Judge[Recipe] = Jury.of(MajorityVoting(), enough).as_judge()
    assert_type(Jury.of(ConsensusVoting(), inner, enough), Jury[Recipe])


def a_strategy_of_your_own_needs_no_base_class() -> None:
    class Benevolent:
        name = "benevolent"

        def aggregate(self, ballots: object, /) -> Judgment:
            return Judgment.passed("always")

    strategy: VotingStrategy = Benevolent()
    assert_type(Jury.of(strategy, enough), Jury[Recipe])


def a_cascade_reads_what_its_tiers_read() -> None:
    first = Tier("safe", Jury.of(ConsensusVoting(), enough))
    last = Tier("good", Jury.of(ConsensusVoting(), Salt()), TierPolicy.FINAL_TIER)
    assert_type(first, Tier[Recipe])
    assert_type(CascadedJury([first, last]), CascadedJury[Recipe])
    assert_type(CascadedJury([first, last]).vote(recipe), Verdict)
    CascadedJury([first, last]).vote(poem)  # type: ignore[arg-type]

    # Tiers of different contexts: name the one that all of them can read.
    mixed = CascadedJury[Recipe](
        [
            Tier("any", Jury.of(ConsensusVoting(), has_goal)),
            Tier("good", Jury.of(ConsensusVoting(), enough), TierPolicy.FINAL_TIER),
        ]
    )
    verdict = mixed.vote(recipe)
    assert_type(verdict.status, Status)
    assert_type(verdict.decided_by, str | None)


def a_repeated_judge_keeps_its_context() -> None:
    assert_type(RepeatedJudge(enough, 5, "median"), RepeatedJudge[Recipe])
    assert_type(RepeatedJudge(healthy, 5), RepeatedJudge[Recipe])
    assert_type(RepeatedJudge(enough, 3).judge(recipe), Judgment)
    assert_type(Jury.of(MajorityVoting(), RepeatedJudge(rhymes, 3)), Jury[Poem])
    assert_type(build_aggregation_strategy("median").aggregate([], 0), Judgment)
    build_aggregation_strategy(3)  # type: ignore[arg-type]


def a_chair_reads_a_round() -> None:
    def chair(last: RoundContext[Recipe]) -> Judgment:
        assert_type(last.context, Recipe)
        assert_type(last.ballots, tuple[Ballot, ...])
        assert_type(last.mean_confidence, float | None)
        return Judgment.passed(last.context.goal)

    jury = JuryWithRetry([enough, Salt()], chair, confidence_threshold=0.75, max_iterations=2)
    assert_type(jury, JuryWithRetry[Recipe])
    assert_type(jury.vote(recipe), JuryVerdict)
    assert_type(Tier("sure", jury), Tier[Recipe])
    JuryWithRetry([rhymes], chair)  # type: ignore[misc]


class Model:
    """A text model of whatever provider."""

    async def ask(self, prompt: str, /) -> str:
        return prompt


class Agent:
    """A client of whatever framework."""

    def run(self, goal: str, workspace: Path | None, /) -> AgentResult:
        return AgentResult(f"{goal} in {workspace}")


def a_model_judge_reads_what_its_template_reads() -> None:
    def prompt(recipe: Recipe) -> str:
        return f"Is {recipe.goal} enough for {recipe.servings}?"

    model: JudgeModel = Model()
    assert_type(ModelJudge(prompt, model=model), ModelJudge[Recipe])
    assert_type(ModelJudge(prompt, assessment, model=str.upper), ModelJudge[Recipe])
    assert_type(ModelJudge("Is {goal} tasty?", yes_or_no, model=model), ModelJudge[JudgmentContext])
    assert_type(criterion_judge(CRITERIA["gdpr"], model), ModelJudge[JudgmentContext])
    assert_type(Jury.of(MajorityVoting(), ModelJudge(prompt, model=model)), Jury[Recipe])
    ModelJudge(prompt, model=3)  # type: ignore[arg-type]
    ModelJudge(prompt, len, model=model)  # type: ignore[arg-type]


def an_agent_judge_reads_what_its_goal_reads() -> None:
    def goal(recipe: Recipe) -> str:
        return f"taste {recipe.goal}"

    client: AgentClient = Agent()
    assert_type(AgentJudge(client, goal), AgentJudge[Recipe])
    assert_type(AgentJudge(client, "taste {goal}"), AgentJudge[JudgmentContext])
    AgentJudge(Model(), goal)  # type: ignore[arg-type]


def evaluate_keeps_the_type_of_the_verdict() -> None:
    def path(goal: str, workspace: Path | None) -> Path | None:
        return workspace

    jury = Jury.of(MajorityVoting(), has_goal)
    cascade = CascadedJury([Tier("only", jury, TierPolicy.FINAL_TIER)])
    assert_type(evaluate("find", path, jury, ".")[1], JuryVerdict)
    assert_type(evaluate("find", path, cascade, Path())[1], Verdict)
    assert_type(evaluate("work", Agent(), cascade)[1], Verdict)
    assert_type(evaluate("work", Agent(), Seat(has_goal))[1], JuryVerdict)
    evaluate("work", Agent(), enough)  # type: ignore[arg-type]
    evaluate("work", 7, jury)  # type: ignore[call-overload]


def judges_of_answers(model: JudgeModel) -> None:
    context, rag = JudgmentContext("q", agent_output="a"), RagContext("q", "a", ["d"])
    faithful = FaithfulnessJudge(model)
    Jury.of(MajorityVoting(), CorrectnessJudge(model)).vote(context)
    Jury.of(MajorityVoting(), faithful, ContextualRelevanceJudge(model)).vote(rag)
    own: JudgeModel = ModelClient("openai")
    CorrectnessJudge(own).judge(rag)
