"""``prjury mcp``: the jury as tools of an agent, over standard input and output.

An agent asks before it opens a pull request. What it may not say is how it is judged: policy,
addresses and programs of models, judges from files, directories outside of the roots and commands
are the operator's alone.
"""

from __future__ import annotations

import functools
import select
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from msgspec.structs import replace

from prjury.app.backport import backport as judge_backport
from prjury.app.review import run
from prjury.cli import options as flags
from prjury.cli.judge import ask_judge
from prjury.cli.lookup import require_explanation
from prjury.cli.output import Terminal
from prjury.errors import PrJuryError, UsageError
from prjury.git.open_snapshot import NothingToReview
from prjury.judges.workspace.catalog import KINDS
from prjury.jury.codec import judgment_to_json
from prjury.jury.context import JudgmentContext
from prjury.report.codec import backports_to_json, printable_json, report_to_json
from prjury.resources import program_version
from prjury.sandbox.held import interrupt, resume

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer
    from mcp.server.mcpserver.tools import Tool

_INSTRUCTIONS = (
    "PR Jury judges changes before they become pull requests. Call review with worktree=true on "
    "uncommitted work, correct what its feedback names, and call it again."
)

#: Characters; what an agent says is bounded.
_LONGEST_NAME, _LONGEST_TEXT = 256, 10_000


def mcp(  # noqa: PLR0913 - the command's options
    context: typer.Context,
    *,
    repo: Annotated[
        list[Path] | None, typer.Option(help="A directory in which agents may ask; repeatable.")
    ] = None,
    commands: Annotated[
        bool, typer.Option("--commands", help="Let agents have commands of their own run.")
    ] = False,
    config: flags.Config = None,
    no_build: flags.NoBuild = False,
    no_llm: flags.NoLlm = False,
    model: flags.Model = None,
    offline: flags.Offline = False,
) -> None:
    """Serve review, judge, backport and explain as tools to an agent, over stdio (MCP)."""
    roots = tuple(place.resolve() for place in repo or [Path()])
    tools = AgentTools(
        context.obj,
        flags.ChangeOptions(repo=roots[0], config=flags.absolute(config), offline=offline),
        flags.JudgeOptions(no_build=no_build, no_llm=no_llm),
        flags.ModelOptions(model=model),
        roots,
        commands=commands,
    )
    server = make_server(tools)

    def await_end() -> None:  # of standard input, whose other end is closed
        poller = select.poll()
        poller.register(sys.stdin.fileno(), 0)
        poller.poll()
        interrupt()

    threading.Thread(target=await_end, daemon=True).start()
    server.run("stdio")


def make_server(tools: AgentTools) -> MCPServer[Any]:
    try:
        from mcp.server.mcpserver import MCPServer
    except ImportError as error:
        raise UsageError(
            "the MCP SDK is not installed",
            why="It is optional",
            remedy="Install it: pip install 'prjury[mcp]'",
        ) from error
    calls = (tools.review, tools.judge, tools.backport, tools.explain)
    return MCPServer(
        "prjury",
        instructions=_INSTRUCTIONS,
        version=program_version(),
        tools=[_make_tool(tools, call) for call in calls],
        log_level="WARNING",
    )


def _make_tool(tools: AgentTools, call: Callable[..., Any]) -> Tool:
    """A tool that makes the call in a thread; if it is cancelled, the programs that run are ended.

    It refuses unknown arguments: a misspelled one would judge something else.
    """
    import anyio
    from mcp.server.mcpserver.tools import Tool

    @functools.wraps(call)
    async def run_call(**arguments: Any) -> Any:  # noqa: ANN401 - those of the tool
        work = functools.partial(tools.answer_call, call, arguments)
        try:
            return await anyio.to_thread.run_sync(work, abandon_on_cancel=True)
        except anyio.get_cancelled_exc_class():
            interrupt()
            raise

    tool = Tool.from_function(run_call)
    model = tool.fn_metadata.arg_model
    model.model_config["extra"] = "forbid"
    model.model_rebuild(force=True)
    tool.parameters = model.model_json_schema(by_alias=True)
    return tool


@dataclass
class AgentTools:
    """The tools; each call is a run of its own, and one runs at a time."""

    terminal: Terminal
    change: flags.ChangeOptions
    judges: flags.JudgeOptions
    models: flags.ModelOptions
    #: The directories in which an agent may ask.
    roots: tuple[Path, ...]
    #: Whether it may have commands of its own run.
    commands: bool = False
    _turn: threading.Lock = field(default_factory=threading.Lock)

    def answer_call(self, call: Callable[..., Any], arguments: Mapping[str, Any]) -> Any:  # noqa: ANN401 - JSON
        """Make one call: alone, in the journal, with our errors as answers for the agent."""
        from mcp.server.mcpserver.exceptions import ToolError

        journal = self.terminal.make_journal_once()
        with self._turn:
            resume()
            started = time.monotonic()
            try:
                return call(**arguments)
            except NothingToReview as nothing:
                return {"status": nothing.default_reason, "reason": nothing.what}
            except PrJuryError as error:
                raise ToolError(self.terminal.redact(str(error))) from error
            finally:
                ms = round((time.monotonic() - started) * 1000)
                journal.record("tool", name=call.__name__, ms=ms)

    def review(  # noqa: PLR0913 - the tool's parameters
        self,
        target: str | None = None,
        base: str | None = None,
        head: str | None = None,
        repo: str | None = None,
        title: str | None = None,
        *,
        worktree: bool = False,
        staged: bool = False,
        report: bool = False,
    ) -> dict[str, Any]:
        """Judge a change: merge it, build and test it, look for mistakes, ask models.

        Returns status, gate, headline and, in Markdown, feedback: what to correct, and where.

        Args:
            target: a pull request's number or URL; without it the current branch.
            base: the branch to merge into.
            head: the branch or commit to merge.
            repo: a directory in the repository.
            title: the title of the change.
            worktree: judge uncommitted work, new files too, against the last commit.
            staged: judge what is staged, against the last commit.
            report: also return the whole report (prjury/report/v1).
        """
        change = self._name_change(repo, target, base, head)
        judges = replace(self.judges, title=_check_length("title", title, _LONGEST_TEXT))
        request = flags.request_of(self.terminal, change, judges, self.models)
        work = flags.UncommittedOptions(worktree=worktree, staged=staged)
        outcome = run(work.target_uncommitted(request, change), self.terminal.make_environment())
        answer: dict[str, Any] = {
            "status": outcome.verdict.status.value,
            "gate": outcome.gate.value,
            "headline": outcome.headline,
            "feedback": self.terminal.render(outcome, "feedback"),
        }
        if report:
            answer["report"] = report_to_json(outcome, self.terminal.redact)
        return answer

    def judge(
        self, name: str, workspace: str = ".", options: dict[str, str] | None = None, goal: str = ""
    ) -> dict[str, Any]:
        """Ask one judge about a directory; returns its judgment.

        Args:
            name: such as build, command, coverage, file-exists or patterns; see explain.
            workspace: the directory.
            options: the judge's options by name.
            goal: what the work should achieve.
        """
        place = self._require_served_directory(workspace)
        _check_length("name", name)
        _check_length("goal", goal, _LONGEST_TEXT)
        allowed = self._check_options_and_add_model(name, options or {})
        context = JudgmentContext(goal, workspace=place)
        judgment = ask_judge(self.terminal, name, allowed, context).judgment
        answer: dict[str, Any] = printable_json(judgment_to_json(judgment), self.terminal.redact)
        return answer

    def _check_options_and_add_model(self, name: str, options: dict[str, str]) -> dict[str, str]:
        if "model" in options:
            raise UsageError(
                "a model is for the operator to choose, not for an agent", remedy="Use --model"
            )
        runs = name in KINDS and KINDS[name].runs_programs
        if runs and self.judges.no_build:
            raise UsageError(f"{name} runs programs, and the operator allows none (--no-build)")
        if options.get("command") and not self.commands:
            raise UsageError("commands are for the operator to allow (--commands)")
        takes_model = name in KINDS and "model" in KINDS[name].options
        if takes_model and self.judges.no_llm:
            raise UsageError(f"{name} asks a model, and the operator allows none (--no-llm)")
        own = self.models.model if takes_model else None
        return {**options, "model": own} if own else options

    def backport(
        self,
        onto: list[str],
        target: str | None = None,
        base: str | None = None,
        head: str | None = None,
        repo: str | None = None,
    ) -> dict[str, Any]:
        """Judge whether a change can be backported; nothing is pushed or opened.

        Args:
            onto: the release branches.
            target: a pull request's number or URL; without it the current branch.
            base: the branch that the change is for.
            head: the branch or commit with the change.
            repo: a directory in the repository.
        """
        change = self._name_change(repo, target, base, head)
        for branch in onto:
            _check_length("branch", branch)
        request = flags.request_of(self.terminal, change, self.judges, self.models, onto=list(onto))
        report = judge_backport(request, self.terminal.make_environment())
        return backports_to_json(report, self.terminal.redact)

    def explain(self, name: str) -> str:
        """Explain a judge, a check or a rule: what it asks, and what its outcomes mean.

        Args:
            name: such as build, tests-passed or jakarta/persistence.
        """
        return require_explanation(name)

    def _name_change(
        self, repo: str | None, target: str | None, base: str | None, head: str | None
    ) -> flags.ChangeOptions:
        for what, name in (("target", target), ("base", base), ("head", head)):
            _check_length(what, name)
        place = self._require_served_directory(repo) if repo else self.change.repo
        return replace(self.change, repo=place, target=target, base=base, head=head)

    def _require_served_directory(self, path: str) -> Path:
        """Follow a path, and links, to a directory below one of the roots."""
        _check_length("path", path, _LONGEST_TEXT)
        try:
            place = (self.change.repo / path).resolve()
        except (OSError, ValueError, RuntimeError):
            place = Path("/")
        if not any(place.is_relative_to(root) for root in self.roots):
            raise UsageError(
                "the path leads to none of the directories that are served",
                remedy="The operator may add it: prjury mcp --repo DIR, repeatable",
            )
        if not place.is_dir():
            raise UsageError(
                "there is no such directory", remedy=f"Name one by its path from {self.change.repo}"
            )
        return place


def _check_length(what: str, text: str | None, most: int = _LONGEST_NAME) -> str | None:
    if text and len(text) > most:
        raise UsageError(f"the {what} has more than {most} characters")
    return text
