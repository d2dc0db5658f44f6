"""Judges made of judges. All of them stop asking as soon as the answer is known."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Generic

from prjury.jury.codec import judgment_to_json
from prjury.jury.guard import catch_crash, itself
from prjury.jury.judge import (
    ContextT,
    FunctionJudge,
    Judge,
    JudgeLike,
    JudgeType,
    ask,
    judge_of,
    type_of,
)
from prjury.jury.judgment import Judgment, Status
from prjury.jury.voting import is_benign


@dataclass(frozen=True)
class _Chain(Generic[ContextT]):
    """Asks in order and returns the first answer that is not `goes_on`, else the last one."""

    name: str
    members: tuple[Judge[ContextT], ...]
    goes_on: frozenset[Status]
    description: str = ""

    def __post_init__(self) -> None:
        if not self.members:
            raise ValueError(f"{self.name} needs at least one judge")

    @property
    def type(self) -> JudgeType:
        """The members' type where they agree, else a hybrid."""
        return kind_of(self.members)

    def judge(self, context: ContextT, /) -> Judgment:
        """The answer of the first member that settles the matter."""
        heard: list[Judgment] = []
        for member in self.members:
            heard.append(catch_crash(partial(ask, member, context), itself))
            if heard[-1].status not in self.goes_on:
                break
        return self._of_all(heard)

    def _of_all(self, heard: Sequence[Judgment]) -> Judgment:
        """The last answer; no benign label where that would excuse members not asked."""
        answer = self._merge_into_last(heard) if len(heard) > 1 else heard[-1]
        in_order = all(judgment.status is Status.PASS or is_benign(judgment) for judgment in heard)
        if is_benign(answer) and not (in_order and len(heard) == len(self.members)):
            return replace(answer, label=None)
        return answer

    def _merge_into_last(self, answers: Sequence[Judgment]) -> Judgment:
        """The last answer, with what each said; members that failed bring a PASS no checks."""
        answer = answers[-1]
        names = disambiguate_names(member.name for member in self.members)
        members = dict(zip(names, map(judgment_to_json, answers), strict=False))
        passed = answer.status is Status.PASS
        checks = [
            judgment.checks for judgment in answers if not passed or judgment.status is Status.PASS
        ]
        judgments = replace(
            answer,
            reasoning="; ".join(
                _tell_answer(name, judgment, answer)
                for name, judgment in zip(names, answers, strict=False)
            ),
            checks=tuple(chain.from_iterable(checks)),
        )
        return judgments.with_metadata(members=members)


def _tell_answer(name: str, said: Judgment, answer: Judgment) -> str:
    whose = name if said.status is answer.status else f"{name} ({said.status})"
    return f"{whose}: {said.reasoning}" if said.reasoning.strip() else whose


def all_of(*judges: JudgeLike[ContextT], name: str = "all_of") -> Judge[ContextT]:
    """Every judge in turn while they pass; the first that does not pass is the answer."""
    return _Chain(name, _judges(judges), frozenset({Status.PASS}))


def any_of(*judges: JudgeLike[ContextT], name: str = "any_of") -> Judge[ContextT]:
    """Every judge in turn until one passes; if none does, the last answer stands."""
    return _Chain(name, _judges(judges), frozenset({Status.FAIL, Status.ABSTAIN, Status.ERROR}))


def both(first: JudgeLike[ContextT], second: JudgeLike[ContextT]) -> Judge[ContextT]:
    """The first judge and, if it passes, the second."""
    pair = _judges((first, second))
    return all_of(*pair, name=" and ".join(_unique_names_of(pair)))


def either(first: JudgeLike[ContextT], second: JudgeLike[ContextT]) -> Judge[ContextT]:
    """The first judge or, if it does not pass, the second."""
    pair = _judges((first, second))
    return any_of(*pair, name=" or ".join(_unique_names_of(pair)))


def _judges(members: Sequence[JudgeLike[ContextT]]) -> tuple[Judge[ContextT], ...]:
    return tuple(judge_of(member) for member in members)


def _unique_names_of(members: Sequence[Judge[ContextT]]) -> tuple[str, ...]:
    return disambiguate_names(member.name for member in members)


def always_pass(reasoning: str = "always passes") -> FunctionJudge[object]:
    """A judge that passes whatever it is shown."""
    return FunctionJudge(lambda _: Judgment.passed(reasoning), "always_pass", reasoning)


def always_fail(reasoning: str = "always fails") -> FunctionJudge[object]:
    """A judge that fails whatever it is shown."""
    return FunctionJudge(lambda _: Judgment.failed(reasoning), "always_fail", reasoning)


@dataclass(frozen=True)
class _Named(Generic[ContextT]):
    inner: Judge[ContextT]
    name: str
    description: str
    type: JudgeType

    def judge(self, context: ContextT, /) -> Judgment:
        """Return what the judge says."""
        return ask(self.inner, context)

    def asking_confidence(self) -> _Named[ContextT]:
        """The same with a judge that also asks how sure the answer is, where it can."""
        return replace(self, inner=asking_confidence(self.inner))


def named(
    judge: JudgeLike[ContextT],
    name: str,
    description: str = "",
    type: JudgeType | None = None,  # noqa: A002 - as in `prjury.judge`
) -> Judge[ContextT]:
    """The same judge under another name, description and type."""
    inner = judge_of(judge)
    message = description or str(getattr(inner, "description", ""))
    return _Named(inner, name, message, type or type_of(inner))


def asking_confidence(judge: Judge[ContextT]) -> Judge[ContextT]:
    """The judge that also asks how sure its answer is, where it can, else the judge itself."""
    prepared: Callable[[], Judge[ContextT]] = getattr(judge, "asking_confidence", lambda: judge)
    return prepared()


def kind_of(judges: Iterable[object]) -> JudgeType:
    """The type of these judges where they agree, else a hybrid."""
    kinds = {type_of(judge) for judge in judges}
    return kinds.pop() if len(kinds) == 1 else JudgeType.HYBRID


def disambiguate_names(names: Iterable[str | None]) -> tuple[str, ...]:
    """The names with ``-2``, ``-3`` after repeated ones and ``Judge#N`` for those without."""
    taken: set[str] = set()
    result: list[str] = []
    for position, label in enumerate(names, start=1):
        name = base = label or f"Judge#{position}"
        count = 1
        while name in taken:
            count += 1
            name = f"{base}-{count}"
        taken.add(name)
        result.append(name)
    return tuple(result)
