"""Builds of a change: what would run, what ran here, and what another CI reports of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from prjury.app import steps
from prjury.app.composition import list_build_options, list_command_options, make_build_ports
from prjury.app.policy_in_force import read_policy_file
from prjury.app.request import ReviewRequest, RunEnvironment
from prjury.errors import CannotJudgeError, ConfigError, UsageError
from prjury.git.directory import TREE, list_directory
from prjury.git.open_snapshot import NothingToReview
from prjury.git.operator import open_repository
from prjury.git.store import open_store
from prjury.judges.builds.ci import BaseCi
from prjury.judges.builds.decide import list_touched
from prjury.judges.builds.external_builds import make_reported_run, require_reports_at, tree_of
from prjury.judges.builds.judge import TreeBuildJudge, make
from prjury.judges.builds.plan import DetectedBuilds
from prjury.judges.builds.stage import BuiltEvidence, build_and_record, record_reports
from prjury.judges.builds.toolchains import Toolchains
from prjury.judges.builds.workplace import list_paths
from prjury.policy import POLICY_PATH
from prjury.policy.load import default_policy
from prjury.policy.schema import Config
from prjury.policy.tiers import BuildOptions
from prjury.ports import Repository


def plan_change(request: ReviewRequest, environment: RunEnvironment) -> DetectedBuilds:
    with steps.open_change(request) as change:
        pull = change.pull
        if pull.merge.tree is None:
            raise CannotJudgeError("nothing would be built: the merge has conflicts")
        judge = _make_judge(environment, change.config, change.snapshot.store)
        return judge.find_plans(pull.merge.tree, pull.base.sha, frozenset(list_touched(pull)))


def plan_directory(
    root: Path,
    environment: RunEnvironment,
    config: Path | None = None,
    toolchains: Toolchains | None = None,
) -> DetectedBuilds:
    """All that would be built of a directory, or of the newest commit of a bare repository."""
    if (root / "objects").is_dir() and (root / "HEAD").is_file():  # a bare repository
        with open_store(open_repository(root)) as store:
            head = store.operator.resolve("HEAD").sha
            judge = _make_judge(environment, _read_config(None, config), store)
            return judge.find_plans(head, head)
    judge = _make_judge(environment, _read_config(root, config), list_directory(root))
    return judge.find_plans(TREE, TREE, toolchains=toolchains)


def find_ci(root: Path, environment: RunEnvironment, toolchains: Toolchains) -> BaseCi | None:
    """The CI of a directory, in the rows of its matrices that fit a machine."""
    judge = _make_judge(environment, default_policy().config, list_directory(root))
    return judge.find_ci(TREE, toolchains)


def _read_config(root: Path | None, own: Path | None) -> Config:
    file = own or (root / POLICY_PATH if root and (root / POLICY_PATH).is_file() else None)
    return (read_policy_file(file) if file else default_policy()).config


def _make_judge(
    environment: RunEnvironment, config: Config, repository: Repository
) -> TreeBuildJudge:
    options = list_build_options(config)
    ports = make_build_ports(environment, config, repository)
    return make(options[0] if options else BuildOptions(), ports)


def build(request: ReviewRequest, environment: RunEnvironment) -> BuiltEvidence:
    """Build the merged tree, wherever the policy says that builds come from: this is that place."""
    with steps.open_change(request) as change:
        options, others = list_build_options(change.config), list_command_options(change.config)
        if len(options) > 1 or not (options or others):
            raise ConfigError(
                f"the policy has {len(options) or 'no'} build judges, and this stage needs one",
                remedy="Add one, such as `judges: [merge, build]`, or name another with --config",
            )
        store = change.snapshot.store
        ports = make_build_ports(environment, change.config, store, lend=())
        try:
            context, build = change.start_clock(), options[0] if options else None
            return build_and_record(build, ports, context, others)
        finally:
            ports.progress.close()


#: The words with which a line of the input `junit` may begin.
_KEYS = ("head", "base", "result")


class JunitPlaces(Struct, frozen=True):
    """Where another CI's reports are: files, and directories with XML files."""

    head: Sequence[Path]
    base: Sequence[Path] = ()
    #: How the CI's job on the head ended, in the words of GitHub's `needs.JOB.result`; empty where
    #: that is not known.
    result: str = ""


def make_junit_evidence(
    request: ReviewRequest, environment: RunEnvironment, places: JunitPlaces
) -> BuiltEvidence:
    if places.result not in {"", "success", "failure"}:
        raise CannotJudgeError(
            f"the job that makes the head's reports was {places.result}",
            remedy="run it again",
            reason="checks_incomplete",
        )
    with steps.open_change(request) as change:
        store, pull = change.snapshot.store, change.pull
        merged, base = (list_paths(store, tree) for tree in (tree_of(pull), pull.base.sha))
        tests = make_reported_run(
            require_reports_at(places.head, merged),
            require_reports_at(places.base, base) if places.base else None,
            passed=places.result == "success" if places.result else None,
        )
        options = next(iter(list_build_options(change.config)), BuildOptions())
        ports = make_build_ports(environment, change.config, store)
        return record_reports(tests, options, ports, pull)


def parse_junit_input(text: str, environ: Mapping[str, str]) -> JunitPlaces:
    """Lines ``head: PATH``, ``base: PATH``, ``result: WORD``; without a key it is the head's."""
    paths_by_key: dict[str, list[str]] = {key: [] for key in _KEYS}
    for line in filter(None, map(str.strip, text.splitlines())):
        key, colon, value = line.partition(":")
        has_key = bool(colon) and key in _KEYS
        paths_by_key[key if has_key else "head"].append(value.strip() if has_key else line)
    if not paths_by_key["head"] or len(paths_by_key["result"]) > 1:
        raise UsageError(
            "The input junit names no reports of the head, or more than one result",
            remedy="Give lines such as `head: reports/head`, `base: reports/base` and "
            "`result: success`",
        )
    root = Path(environ.get("GITHUB_WORKSPACE") or ".")
    head, base = ([root / path for path in paths_by_key[key]] for key in ("head", "base"))
    return JunitPlaces(head, base, "".join(paths_by_key["result"]))


class JunitEvidence(Struct, frozen=True):
    """Evidence that is made of reports when it is asked for (`prjury.ports.Evidence`)."""

    request: ReviewRequest
    environment: RunEnvironment
    places: JunitPlaces

    def __str__(self) -> str:
        return "of the JUnit reports"

    def read_evidence_bytes(self) -> bytes:
        """Raises CannotJudgeError: ``report_missing``, or ``evidence_missing`` without a change."""
        try:
            outcome = make_junit_evidence(self.request, self.environment, self.places)
        except NothingToReview as nothing:
            raise CannotJudgeError(
                "there is no evidence of the tests", why=nothing.what, reason="evidence_missing"
            ) from nothing
        return json.dumps(outcome.evidence, allow_nan=False).encode()
