"""A pull request's life in this process: GitHub starts workflows, and their jobs are our own calls.

It is for stories that would take minutes on a real runner. Each job has the token of its own that
the workflow's permissions make, and is a check run on the head as on GitHub.
"""

from __future__ import annotations

import io
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from fakes.github import NO_FAULT, Account, FakeGitHub, Fault, Payload
from fakes.github.payloads import issue_payload, minimal_repository
from prjury.action import main
from prjury.action.dependencies import make_dependencies
from prjury.action.job import Inputs
from prjury.github.client import ACTIONS_BOT, Connection, GitHub, RetryBudget
from prjury.github.event import Event
from prjury.publishers.check_run import NAME
from prjury.publishers.comment import Marker
from prjury.report.sanitise import Redactor
from runner.artifacts import download, upload
from runner.expressions import filled
from runner.host import Host, OwnAction
from runner.shop import NUMBER, REPO, Shop
from runner.site import EXAMPLES
from runner.tokens import ACTION, tokens_for
from runner.triggers import Check, Run, Triggers, context_of

#: What the status says by the check run's conclusion.
_STATES = {"success": "success", "failure": "failure", "action_required": "error"}


@dataclass
class Bill:
    """What it has come to.

    Attributes:
        runs: that were started, one that is skipped as a whole left out.
        jobs: which a runner has played, each of them a minute or more.
        builds: jobs that have judged, which builds the change.
    """

    runs: int = 0
    jobs: int = 0
    builds: int = 0
    requests: int = 0


@dataclass
class Life:
    """A pull request, the workflows around it, and what they have cost so far.

    Attributes:
        directory: for what jobs write.
        workflows: where the files are.
        bills: by the workflow's file.
        ungated: the same repository with one workflow that does everything at every event.
        builds_first: whether runs that build end before those that start from the default branch.
        logs: of every job that was played, by its run and its name.
    """

    directory: Path
    shop: Shop
    github: Triggers
    ungated: Triggers
    workflows: Path = EXAMPLES
    builds_first: bool = False
    bills: dict[str, Bill] = field(default_factory=lambda: defaultdict(Bill))
    logs: dict[tuple[int, str], str] = field(default_factory=dict)

    @property
    def fake(self) -> FakeGitHub:
        return self.shop.fake

    def statuses(self, head: str) -> Mapping[str, str]:
        """The newest state of each context."""
        return {one["context"]: one["state"] for one in reversed(self.fake.statuses_of(head))}

    def happens(
        self,
        event: str,
        payload: Payload,
        *,
        conflicts: bool = False,
        meanwhile: Mapping[str, Callable[[], None]] = {},
    ) -> list[Run]:
        """An event, with all that it starts played to the end.

        Args:
            meanwhile: what happens as soon as a job has posted to this address for the first time.
        """
        ungated = self.ungated.happens(event, payload, conflicts=conflicts)
        found = self.github.happens(event, payload, conflicts=conflicts)
        if event == "pull_request":  # GitHub sends both
            others = self.github.happens("pull_request_target", payload)
            found = [*found, *others] if self.builds_first else [*others, *found]
        self.play(found, meanwhile)
        for run in ungated:
            self.ungated.ends(run, run.conclusion or "success")
        return found

    def play(self, found: list[Run], meanwhile: Mapping[str, Callable[[], None]] = {}) -> None:
        """Runs that were started, and then those that a job has started again."""
        self.fake.faults += [
            Fault("POST", path, moment="after", status=NO_FAULT, action=action)
            for path, action in meanwhile.items()
        ]
        for run in found:
            if run.conclusion:  # skipped as a whole, or cancelled meanwhile
                self._ends(run, run.conclusion)
            else:
                self._play(run)
        for run in self.github.runs:
            posted = self._posted(run)
            if posted and posted["status"] == "queued":
                self._play(self.github.again(run))

    def says(self, body: str) -> list[Run]:
        """A comment of a maintainer's."""
        owner = Account("octocat", id=583_231)
        self.fake.number()  # time goes on
        comment = self.fake.add_comment(body, owner, NUMBER)
        issue = issue_payload(self.fake.url, REPO, NUMBER)
        where = self.shop.event("created")
        del where["pull_request"]
        return self.happens("issue_comment", {**where, "issue": issue, "comment": dict(comment)})

    def box(self, **more: Any) -> str:
        return self.github.merge_box(self.shop.head, **more)

    def _play(self, run: Run) -> None:
        """Each job on a runner in this process; it is a check of GitHub's meanwhile."""
        before, file = len(self.fake.requests), self.workflows / run.file
        place = self.directory / f"{run.id}.{run.attempt}"
        place.mkdir(parents=True)
        tokens = tokens_for(file, place, read_only=run.reads_only)
        self.fake.accounts |= tokens.accounts
        self.shop.git.tokens = tokens.readers
        posted: dict[str, Payload] = {}

        def watch(name: str, result: str | None) -> None:
            if result is None:
                posted[name] = self._begun(run, run.jobs[name])
            else:
                moment = self.fake.moment()
                posted[name] |= {"status": "completed", "conclusion": result}
                posted[name]["completed_at"] = moment

        actions: Mapping[str, OwnAction] = {
            ACTION.partition("@")[0]: partial(self._act, run),
            "actions/upload-artifact": partial(upload, self.fake),
            "actions/download-artifact": partial(download, self.fake),
            "actions/cache": lambda _given, _environ: (0, {}),
        }
        host = Host({}, place, actions, watch)
        env = self._env(run)
        ran = host.run(tokens.workflow, run.event, run.payload, env, tokens.secrets)
        for name, check in run.jobs.items():
            check.conclusion = ran.jobs.get(name, "skipped")
        self.bills[run.file].runs += bool(ran.jobs)
        self.bills[run.file].requests += len(self.fake.requests) - before
        self._ends(run, "failure" if ran.code else "success" if ran.jobs else "skipped")

    def _ends(self, run: Run, conclusion: str) -> None:
        if recorded := self._posted(run):
            recorded |= {"status": "completed", "conclusion": conclusion}
        self.play(self.github.ends(run, conclusion))

    def _begun(self, run: Run, check: Check) -> Payload:
        """GitHub knows of the run, and of the job as a check on the head."""
        self.bills[run.file].jobs += 1
        suite = 10_000 + run.id
        if not self._posted(run):
            document = self.github.workflows[run.file]
            title = filled(document.get("run-name", ""), context_of(run))
            path = f".github/workflows/{run.file}"
            fork = self.shop.fork if run.event == "pull_request" else None
            tip = self.shop.history.sha(self.shop.base)
            self.fake.add_workflow_run(
                *(document["name"], None),
                suite=suite,
                id=run.id,
                path=path,
                event=run.event,
                head_sha=tip if run.head == "main" else run.head,
                head_repository=minimal_repository(self.fake.url, fork or REPO),
                display_title=title,
            )
        return self.fake.add_check_run(check.name, suite=suite, head_sha=run.head)

    def _posted(self, run: Run) -> Payload | None:
        return next((one for one in self.fake.workflow_runs if one["id"] == run.id), None)

    def _env(self, run: Run) -> Mapping[str, str]:
        """What GitHub sets for the run."""
        return {
            **self.shop.env(run.attempt),
            "GITHUB_RUN_ID": str(run.id),
            "GITHUB_RUN_ATTEMPT": str(run.attempt),
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "XDG_CACHE_HOME": str(self.directory / "cache"),
        }

    def _act(
        self, run: Run, given: Mapping[str, str], environ: Mapping[str, str]
    ) -> tuple[int, dict[str, str]]:
        """Our own action."""
        self.bills[run.file].builds += given.get("mode", "review") in {"review", "build"}
        place = Path(environ["RUNNER_TEMP"])
        stream = io.StringIO()
        around = {
            **environ,
            "GITHUB_OUTPUT": str(place / "output"),
            "GITHUB_STEP_SUMMARY": str(place / "summary"),
            "PRJURY_JOB_TOKEN": "true",
            **{f"PRJURY_INPUT_{key.upper().replace('-', '_')}": on for key, on in given.items()},
        }
        parts = replace(make_dependencies(around, stream, Redactor()), connect=_connect)
        code = main(around, stream, parts)
        self.logs[run.id, environ["GITHUB_JOB"]] = stream.getvalue()
        return code, {}

    def is_merged_by_the_queue(self) -> bool:
        """The queue takes the pull request, tests it on its base, and merges it or does not."""
        group = self.shop.queued()
        self.ungated.happens("merge_group", group)
        self.play(self.github.queued(self.shop.head, group))
        return self.github.is_merged(group)

    def shown(self) -> list[str]:
        """How each of our check runs on the head stands, the newest last."""
        ours = [one for one in self.fake.checks(self.shop.head) if one["name"] == NAME]
        return [one["conclusion"] or one["status"] for one in ours]

    def check(self, headline: str, gate: str, box: str, **more: Any) -> str:
        """The merge box; fails where what is shown is not true of the present head and base."""
        wrong = self.wrong(headline, gate, box, **more)
        assert not wrong, (wrong, list(self.logs.values())[-1])
        return box

    def wrong(self, headline: str, gate: str, box: str, **more: Any) -> list[str]:
        """What is not true of the present head and base; empty where all that is shown is."""
        head, base = self.shop.head, self.shop.history.sha(self.shop.base)
        return [
            *self._wrong_comment(headline, head, base),
            *self._wrong_checks(gate),
            *self._wrong_statuses(head, gate),
            *([] if self.box(**more) == box else [f"merge box: {self.box(**more)}"]),
        ]

    def _wrong_comment(self, headline: str, head: str, base: str) -> Iterator[str]:
        marked = [(body, Marker.of(body)) for body in self.fake.bodies]
        ours = [(body, one) for body, one in marked if one and one.id == "default"]
        if len(ours) != 1:
            yield f"{len(ours)} comments"
        for body, marker in ours:
            if (marker.head, marker.base) != (head, base):
                yield f"a comment on {marker.head} onto {marker.base}, not {head} onto {base}"
            if headline not in body.splitlines()[1]:
                yield f"the comment says {body.splitlines()[1]}"

    def _wrong_checks(self, gate: str) -> Iterator[str]:
        if self.shown() != [gate]:
            yield f"check runs: {self.shown()}"

    def _wrong_statuses(self, head: str, gate: str) -> Iterator[str]:
        newest = {**self.statuses(head)}
        newest.pop("prjury/override", None)
        by_status = "prjury-judge.yml" in self.github.workflows
        if newest != ({"prjury": _STATES[gate]} if by_status else {}):
            yield f"statuses: {newest}"


def _connect(event: Event, inputs: Inputs) -> GitHub:
    connection = Connection(
        event.api_url,
        inputs.github_token or None,
        account=ACTIONS_BOT if inputs.is_job_token else "",
        seconds_between_requests=0,
        seconds_between_writes=0,
    )
    return GitHub(connection, RetryBudget(sleep=lambda _seconds: None))
