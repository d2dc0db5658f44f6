"""Are the new tests real? Do they exercise the behaviour, or a stand-in for it?"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from prjury.judges.context import PullRequestContext
from prjury.judges.quality.judge import ModelBackedJudge
from prjury.judges.quality.kinds.reading import judge_of
from prjury.policy.tiers import QuestionOptions
from prjury.ports import Ports
from prjury.snapshot.model import FileKind, PullRequest

NAME = "tests-exercise-behaviour"

CRITERIA: Mapping[str, str] = MappingProxyType(
    {
        "would_fail": "Would each new or changed test fail if the behaviour that it names were "
        "broken? No if a test can be quoted that asserts nothing, compares a value with itself, "
        "swallows the failure, is skipped, or can never be reached.",
        "real_subject": "Do the new or changed tests run the real code that they claim to test? No "
        "if the thing under test itself is replaced by a mock, or a test only checks what it has "
        "told a mock to return. Stand-ins for collaborators, clocks and networks are in order.",
        "says_what_is_expected": "Do the new or changed tests state what is expected on their own? "
        "No if a test repeats the implementation to compute its expectation, or an expectation was "
        "loosened so that it holds for anything. Abstain if no expectation is visible.",
    }
)


def make(options: QuestionOptions, ports: Ports) -> ModelBackedJudge[PullRequestContext]:
    """The judge of new and changed tests; it sees them beside the source that changes."""
    return judge_of(
        NAME,
        CRITERIA,
        options,
        ports,
        about="asks a model whether the new tests exercise what they claim to test",
        kinds=(FileKind.SOURCE, FileKind.TEST),
        aside=lambda pull: None if _has_tests(pull) else "no test is added or changed",
        template="tests",
    )


def _has_tests(pull: PullRequest) -> bool:
    tests = [file for file in pull.files if file.kind is FileKind.TEST]
    return any(file.unread or next(file.added_lines, None) is not None for file in tests)
