"""The judge ``agent``: a command that looks at the merged tree and answers a question."""

from __future__ import annotations

from dataclasses import replace

from msgspec import Struct

from prjury.agents.judge import AgentJudge
from prjury.errors import CannotJudgeError
from prjury.judges.context import PullRequestContext
from prjury.judges.quality.question import OwnTexts, Prompts
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Judgment
from prjury.jury.library.replies import YES_OR_NO_FORM
from prjury.policy.options import AgentOptions
from prjury.ports import Ports
from prjury.report.sanitise import redact_text
from prjury.snapshot.model import visible


class AgentSeat(Struct, frozen=True):
    """Asks an agent about the merged tree; YES is PASS, NO is FAIL.

    ABSTAIN where it does not answer, or where no agent may be started; ERROR where it fails.
    """

    options: AgentOptions
    ports: Ports
    description: str = "an agent answers a question about the merged tree"
    type: JudgeType = JudgeType.AGENT
    #: The tree is the author's, and speaks to the agent: its approval lifts nothing.
    lowers_only: bool = True

    @property
    def name(self) -> str:
        return self.options.name

    def judge(self, context: PullRequestContext, /) -> Judgment:
        """Ask the agent; the question stands in the judgment."""
        options, question = self.options, self.options.goal or ""
        if options.file is not None:
            base = options.commit or context.pull.base.sha
            text = OwnTexts.of(self.ports.repository, base).require_text(options.file)
            question = redact_text(text.strip(), self.ports.redact)
        return self._ask_agent_in_copy(question, context).with_metadata(question=question)

    def _ask_agent_in_copy(self, question: str, context: PullRequestContext) -> Judgment:
        pull, options = context.pull, self.options
        if pull.merge.tree is None:
            return Judgment.abstained("there is no merged tree to look at", "no_merge")
        try:
            seconds = min(options.timeout, context.deadline.remaining)
            client = self.ports.agents.make_client(options.command, options.env, seconds)
        except CannotJudgeError as error:
            return Judgment.abstained(str(error), error.reason)
        files = [f"{visible(file.path)} ({file.status})" for file in pull.files]
        values = {"question": question, "files": files, "form": YES_OR_NO_FORM}
        goal = Prompts().render("agent", values).text
        with self.ports.shell.scratch() as root:
            self.ports.repository.export_and_list_missing(pull.merge.tree, root)
            judge: AgentJudge[PullRequestContext] = AgentJudge(client, lambda _: goal)
            return judge.judge_copy_and_note_edits(replace(context, workspace=root), root)
