"""Is the change good? Correct, tested, in keeping with its surroundings, free of needless risk."""

from __future__ import annotations

from collections.abc import Mapping

from prjury.judges.context import PullRequestContext
from prjury.judges.quality.judge import Inquiry, ModelBackedJudge
from prjury.judges.quality.kinds.criteria import KNOWN, chosen
from prjury.judges.quality.kinds.reading import ChangeReader, own_texts, time_of
from prjury.judges.quality.query.prompts import Instructions
from prjury.policy.questions import QualityOptions
from prjury.ports import Ports
from prjury.snapshot.model import FileChange, FileKind, PullRequest

NAME = "quality"
_TESTS = "tests"


def make(options: QualityOptions, ports: Ports) -> ModelBackedJudge[PullRequestContext]:
    """The quality judge. It is blind: it knows the change and no word of its author's.

    Raises:
        ConfigError: for criteria that cannot be asked about, or a model that is not known.
    """
    panel, criteria = ports.models.panel(options.model), chosen(options)

    def instruct(context: PullRequestContext) -> Instructions:
        own = own_texts(ports, context)
        guidelines = own.guidelines(ports.redact) if options.guidelines else ""
        values = {"criteria": dict(criteria), "guidelines": guidelines}
        return own.prompts().render(NAME, values)

    about = "asks a model about the quality of the change"
    inquiry = Inquiry(
        NAME,
        about,
        criteria,
        options.threshold,
        ChangeReader.of(ports, panel),
        instruct,
        must=options.musts(criteria),
        inapplicable=lambda context: _without_tests_due(criteria, context.pull),
    )
    return ModelBackedJudge(inquiry, panel, options.runs, ports.memory, time_of)


def _without_tests_due(criteria: Mapping[str, str], pull: PullRequest) -> Mapping[str, str]:
    """Our question about tests where the change has no line of code, and why it does not count."""
    asked = criteria.get(_TESTS) == KNOWN[_TESTS]
    if not asked or any(map(_changes_code, pull.files)):
        return {}
    return {_TESTS: "no line of source or tests changes"}


def _changes_code(file: FileChange) -> bool:
    lines = (line for hunk in file.hunks for line in hunk.lines)
    changes = bool(file.unread) or any(line.sign != " " for line in lines)
    return changes and file.kind in {FileKind.SOURCE, FileKind.TEST}
