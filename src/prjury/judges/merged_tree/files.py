"""The judges of files, seated by a policy: one factory each."""

from __future__ import annotations

from prjury.errors import ConfigError
from prjury.judges.merged_tree.tree import MergedTreeJudge
from prjury.judges.workspace.files import FileContentJudge, FileExistsJudge
from prjury.policy.seats import FileContentOptions, FileExistsOptions
from prjury.ports import Ports


def file_exists(options: FileExistsOptions, ports: Ports) -> MergedTreeJudge:
    """A file is in the merged tree."""
    return _judge(FileExistsJudge(options.path), ports)


def file_content(options: FileContentOptions, ports: Ports) -> MergedTreeJudge:
    """A file of the merged tree has a text.

    Raises:
        ConfigError: for an expression that RE2 refuses.
    """
    try:
        judge = FileContentJudge(
            options.path, exact=options.exact, contains=options.contains, regex=options.regex
        )
    except ValueError as error:
        raise ConfigError(f"file-content: {error}", remedy="Correct the expression") from error
    return _judge(judge, ports)


def _judge(judge: FileExistsJudge | FileContentJudge, ports: Ports) -> MergedTreeJudge:
    return MergedTreeJudge(ports, lambda _: judge, judge.name, judge.description)
