"""What a model-backed judge asks its models about, whatever it is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from prjury.deadline import Deadline
from prjury.judges.quality.prompt_input.chunk import Chunk, NotSent, Section
from prjury.judges.quality.prompt_input.plan import Plan
from prjury.judges.quality.query.question import Form
from prjury.judges.quality.votes.decide import PassMark
from prjury.jury.context import JudgmentContext
from prjury.jury.judgment import Check


@dataclass(frozen=True)
class Material:
    """What there is to read.

    Attributes:
        sections: files, in the order in which they are to be read.
        left_out: files that nobody is shown, and why.
        always: documents that every question needs.
        warnings: what the program itself noticed in the material.
    """

    sections: tuple[Section, ...]
    left_out: tuple[NotSent, ...] = ()
    always: tuple[Section, ...] = ()
    warnings: tuple[Check, ...] = ()


@dataclass(frozen=True)
class InquiryInput(JudgmentContext):
    """A question and all its material, as every seat of a panel gets it.

    Attributes:
        mark: what it takes to pass.
        inapplicable: criteria whose answers do not count here, and why.
        turned: whether the files are shown in the opposite order.
        plans: how the pieces are laid out, by a model's identity and room, once that is known: for
            a large change it takes seconds.
    """

    form: Form = field(kw_only=True)
    sections: tuple[Section, ...] = field(kw_only=True)
    deadline: Deadline = field(kw_only=True)
    mark: PassMark = field(kw_only=True)
    inapplicable: Mapping[str, str] = field(default_factory=dict)
    left_out: tuple[NotSent, ...] = ()
    turned: bool = False
    plans: dict[tuple[str, int], Plan] = field(default_factory=dict, compare=False, repr=False)

    def shown(self, sections: Sequence[Section]) -> Chunk:
        """These pieces and what stands beside them in every question."""
        return Chunk((*sections, *self.form.always))

    def until(self, deadline: Deadline) -> InquiryInput:
        """The same case with another deadline."""
        return replace(self, deadline=deadline)

    def flipped(self) -> InquiryInput:
        """The same case with its files in the opposite order."""
        return replace(self, turned=not self.turned)
