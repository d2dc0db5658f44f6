"""What became of one run of a workflow, whoever ran it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Step:
    """A step that ran, of a workflow or of an action that it uses.

    Attributes:
        ids: its own and before it those of the steps that it is a part of.
        seconds: how long it took, None if nobody knows.
    """

    job: str
    ids: Sequence[str]
    name: str
    result: str
    seconds: float | None = None
    outputs: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Ran:
    """A run of a workflow.

    Attributes:
        code: 0 if no job failed.
        jobs: how each job that ran ended.
        log: what the steps wrote, and what the runner told of itself.
        summaries: of each job, in the order in which they were written.
    """

    code: int
    jobs: dict[str, str]
    steps: Sequence[Step]
    log: str
    summaries: Sequence[tuple[str, str]]

    def outputs(self, step: str, job: str | None = None) -> dict[str, str]:
        """What a step has put out, by its id or by its name."""
        return next(iter(self._steps(step, job))).outputs

    def seconds(self, step: str, job: str | None = None) -> float:
        """How long a step took."""
        taken = next(iter(self._steps(step, job))).seconds
        assert taken is not None
        return taken

    def summary(self, job: str | None = None) -> str:
        """The job summary: all of them without a job's name."""
        return "\n".join(text for where, text in self.summaries if job in {None, where})

    def _steps(self, step: str, job: str | None) -> Iterator[Step]:
        for one in self.steps:
            if job in {None, one.job} and step in {one.name, one.ids[-1]}:
                yield one
