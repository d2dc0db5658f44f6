"""A judge of one's own, made of a text and questions in the policy; no code needed."""

from __future__ import annotations

from pathlib import Path

from prjury.errors import ConfigError
from prjury.judges.context import PullRequestContext
from prjury.judges.quality.judge import ModelBackedJudge
from prjury.judges.quality.kinds.reading import judge_of
from prjury.judges.quality.prompts import Instructions, OwnTexts
from prjury.policy.tiers import PromptOptions
from prjury.ports import Ports
from prjury.report.sanitise import redact_text
from prjury.snapshot.model import PullRequest

NAME = "prompt"


def make(options: PromptOptions, ports: Ports) -> ModelBackedJudge[PullRequestContext]:
    """The judge that the options describe; it goes by the name that they give it."""

    def instruct(own: OwnTexts, _: PullRequest) -> Instructions:
        values = {
            "criteria": dict(options.criteria),
            "task": redact_text(text_of(options, own).strip(), ports.redact),
            "sees_description": options.sees_description,
        }
        return own.prompts().render(NAME, values)

    return judge_of(
        options.name,
        options.criteria,
        options,
        ports,
        about=f"asks a model the questions of {options.name}",
        described=options.sees_description,
        instruct=instruct,
    )


def text_of(options: PromptOptions, own: OwnTexts) -> str:
    """Return what matters, in the words of the judge's author."""
    if options.file is None:
        return options.text or ""
    if options.commit is None and Path(options.file).is_absolute():
        return _read_prompt(Path(options.file))
    return own.text(options.file)


def _read_prompt(path: Path) -> str:
    try:
        return path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        raise ConfigError(
            f"the prompt {path} cannot be read: {reason}",
            remedy="Correct the path",
            reason="prompt_invalid",
        ) from error
