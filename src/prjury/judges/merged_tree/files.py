"""The judges of files, seated by a policy: one factory each."""

from __future__ import annotations

from msgspec import Struct

from prjury.errors import ConfigError
from prjury.judges.context import PullRequestContext
from prjury.judges.merged_tree.tree import CommittedTree, judge_no_tree
from prjury.judges.workspace.content import FileContentJudge, FileExistsJudge
from prjury.judges.workspace.files import judge_or_error
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Judgment
from prjury.policy.seats import FileContentOptions, FileExistsOptions
from prjury.ports import Ports, Repository


def file_exists(options: FileExistsOptions, ports: Ports) -> MergedTreeJudge:
    """Demand a file in the merged tree."""
    return _seat(FileExistsJudge(options.path), ports)


def file_content(options: FileContentOptions, ports: Ports) -> MergedTreeJudge:
    """Demand a text in a file of the merged tree; ConfigError for an expression RE2 refuses."""
    try:
        judge = FileContentJudge(
            options.path, exact=options.exact, contains=options.contains, regex=options.regex
        )
    except ValueError as error:
        raise ConfigError(f"file-content: {error}", remedy="Correct the expression") from error
    return _seat(judge, ports)


def _seat(files: FileExistsJudge | FileContentJudge, ports: Ports) -> MergedTreeJudge:
    return MergedTreeJudge(files, ports.repository, files.name, files.description)


class MergedTreeJudge(Struct, frozen=True):
    """A judge of files over the merged tree, in git's objects: nothing is written out."""

    files: FileExistsJudge | FileContentJudge
    repository: Repository
    name: str
    description: str
    type: JudgeType = JudgeType.DETERMINISTIC

    def judge(self, context: PullRequestContext, /) -> Judgment:
        """Look at the tree."""
        tree = context.pull.merge.tree
        if tree is None:
            return judge_no_tree(context.pull)
        return judge_or_error(lambda: self.files.look(CommittedTree.of(tree, self.repository)))
