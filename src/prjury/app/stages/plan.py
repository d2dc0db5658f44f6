"""What a build would run, where, why and with which versions; nothing is run."""

from __future__ import annotations

from pathlib import Path

from prjury.app import steps
from prjury.app.composition import build_ports, builds
from prjury.app.policy_in_force import text_of
from prjury.app.request import ReviewRequest, RunEnvironment
from prjury.errors import CannotJudgeError
from prjury.git.directory import TREE, open_directory
from prjury.git.open_snapshot import NothingToReview
from prjury.git.operator import open_repository
from prjury.git.store import open_store
from prjury.judges.builds.ci import BaseCi
from prjury.judges.builds.detect import DetectedBuilds
from prjury.judges.builds.judge import TreeBuildJudge, changes_of, make
from prjury.judges.builds.toolchains import Toolchains
from prjury.policy.load import POLICY_PATH, default_policy, read_policy
from prjury.policy.schema import Config
from prjury.policy.tiers import BuildOptions
from prjury.ports import Repository


def plan_change(
    request: ReviewRequest, environment: RunEnvironment
) -> DetectedBuilds | NothingToReview:
    """The builds of a change."""
    with steps.open_change(request) as change:
        if isinstance(change, NothingToReview):
            return change
        pull = change.pull
        if pull.merge.tree is None:
            raise CannotJudgeError("nothing would be built: the merge has conflicts")
        judge = _make_judge(environment, change.config, change.snapshot.store)
        return judge.find_plans(pull.merge.tree, pull.base.sha, changes_of(pull))


def plan_directory(
    root: Path,
    environment: RunEnvironment,
    config: Path | None = None,
    here: Toolchains | None = None,
) -> DetectedBuilds:
    """All that would be built of a directory, or of the newest commit of a bare repository."""
    if _is_bare(root):
        repository = open_repository(root)
        with open_store(repository) as store:
            head = repository.commit("HEAD").sha
            return _make_judge(environment, _config(None, config), store).find_plans(head, head)
    judge = _make_judge(environment, _config(root, config), open_directory(root))
    return judge.find_plans(TREE, TREE, toolchains=here)


def find_ci(root: Path, environment: RunEnvironment, here: Toolchains) -> BaseCi | None:
    """The CI of a directory, in the rows of its matrices that fit a machine."""
    judge = _make_judge(environment, default_policy().config, open_directory(root))
    return judge.find_ci(TREE, here)


def _is_bare(root: Path) -> bool:
    return (root / "objects").is_dir() and (root / "HEAD").is_file()


def _config(root: Path | None, own: Path | None) -> Config:
    file = own or (root / POLICY_PATH if root and (root / POLICY_PATH).is_file() else None)
    if file is None:
        return default_policy().config
    return read_policy(text_of(file), f"file:{file}", shown=str(file)).config


def _make_judge(
    environment: RunEnvironment, config: Config, repository: Repository
) -> TreeBuildJudge:
    options = builds(config)
    ports = build_ports(environment, config, repository)
    return make(options[0] if options else BuildOptions(), ports)
