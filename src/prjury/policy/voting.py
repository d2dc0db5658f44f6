"""How the votes of a tier are counted, and what of that differs by branch."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self, TypeAlias

from prjury.errors import did_you_mean
from prjury.jury.voting import ErrorPolicy, TiePolicy
from prjury.policy.fields import (
    Amount,
    BranchName,
    Convert,
    MisfitError,
    NamedEntry,
    PolicySection,
    Share,
)

OnError: TypeAlias = Annotated[ErrorPolicy, "what a judge's error does to the vote"]


class MajorityOptions(PolicySection, frozen=True):
    """Options of majority voting."""

    tie: Annotated[TiePolicy, "the outcome of a tie"] = TiePolicy.FAIL
    on_error: OnError = ErrorPolicy.PROPAGATE


class ScoreOptions(PolicySection, frozen=True):
    """Options of the strategies that read scores."""

    threshold: Annotated[Share, "the result at which the tier passes"] = 0.5
    undecided: Annotated[tuple[Share, Share] | None, "a result in this band abstains"] = None
    on_error: OnError = ErrorPolicy.PROPAGATE

    def __post_init__(self) -> None:
        if self.undecided and self.undecided[0] > self.undecided[1]:
            raise MisfitError(
                "undecided", "the lower end of the band comes first, such as [0.4, 0.6]"
            )


class ConsensusOptions(PolicySection, frozen=True):
    """Options of voting by consensus."""

    on_disagreement: Annotated[Literal["fail", "abstain", "error"], "where they disagree"] = "fail"
    on_error: OnError = ErrorPolicy.PROPAGATE


class VotingEntry(NamedEntry):
    """One voting strategy: its name, or its name with options."""

    FORMS = {
        "majority": MajorityOptions,
        "average": ScoreOptions,
        "weighted_average": ScoreOptions,
        "median": ScoreOptions,
        "consensus": ConsensusOptions,
    }

    def __init__(self, name: str = "consensus", options: Any = None) -> None:  # noqa: ANN401 - of its form
        self.name = name
        self.options = self.FORMS[name]() if options is None else options

    @classmethod
    def read(cls, value: object, convert: Convert) -> Self:
        """Read it as a file holds it."""
        spelled = cls.spell_out(value)
        for name in spelled:
            if name not in cls.FORMS:
                meant = did_you_mean(name, cls.FORMS) or f"Allowed are {', '.join(cls.FORMS)}"
                raise ValueError(f"{name} is not known; {meant[:1].lower()}{meant[1:]}")
        if len(spelled) != 1:
            alternatives = " and ".join(sorted(spelled)) or "none"
            raise ValueError(f"name exactly one voting strategy, not {alternatives}")
        ((name, options),) = spelled.items()
        return cls(name, convert(options, cls.FORMS[name]))


class BranchCase(PolicySection, frozen=True, kw_only=True):
    """What a tier has for changes to some branches; its judges are the same for all."""

    branch: Annotated[BranchName, "the branch that is merged into, by its name or a glob"]
    voting: Annotated[VotingEntry | None, "in place of the tier's own"] = None
    weights: Annotated[dict[str, Amount], "weights of judges of the tier, by their names"] = {}
    min_confidence: Annotated[Share | None, "in place of the tier's own"] = None

    def __post_init__(self) -> None:
        if not self.weights and not self.settings:
            raise ValueError("name what differs: `voting`, `weights` or `min_confidence`")

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of the tier that it replaces."""
        options = {"voting": self.voting, "min_confidence": self.min_confidence}
        return {key: value for key, value in options.items() if value is not None}
