"""A judge of one's own, made of a text and questions in the policy; no code needed."""

from __future__ import annotations

from pathlib import Path

from prjury.errors import ConfigError
from prjury.judges.context import PullRequestContext
from prjury.judges.quality.judge import Inquiry, ModelBackedJudge
from prjury.judges.quality.kinds.reading import ChangeReader, own_texts, time_of, with_description
from prjury.judges.quality.prompts import Instructions, OwnTexts
from prjury.policy.tiers import PromptOptions
from prjury.ports import Ports
from prjury.report.redact import redacted

NAME = "prompt"


def make(options: PromptOptions, ports: Ports) -> ModelBackedJudge[PullRequestContext]:
    """The judge that the options describe; it goes by the name that they give it.

    Raises:
        ConfigError: for a model that is not known.
    """
    panel = ports.models.panel(options.model)
    read = ChangeReader.of(ports, panel)
    sees = options.sees_description

    def instruct(context: PullRequestContext) -> Instructions:
        own = own_texts(ports, context)
        values = {
            "criteria": dict(options.criteria),
            "task": redacted(text_of(options, own).strip(), ports.redact),
            "sees_description": sees,
        }
        return own.prompts().render(NAME, values)

    inquiry = Inquiry(
        options.name,
        f"asks a model the questions of {options.name}",
        options.criteria,
        options.threshold,
        with_description(read, ports.redact) if sees else read,
        instruct,
        # What an author writes sways its reader.
        lowers_only=sees,
    )
    return ModelBackedJudge(inquiry, panel, options.runs, ports.memory, time_of)


def text_of(options: PromptOptions, own: OwnTexts) -> str:
    """What matters, in the words of the judge's author.

    Raises:
        ConfigError: when the file is not there, or cannot be read.
    """
    if options.file is None:
        return options.text or ""
    if options.commit is None and Path(options.file).is_absolute():
        return _read(Path(options.file))
    return own.text(options.file)


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        raise ConfigError(
            f"the prompt {path} cannot be read: {reason}",
            remedy="Correct the path",
            reason="prompt_invalid",
        ) from error
