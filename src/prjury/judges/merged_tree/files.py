"""The judges of files, seated by a policy: one factory each."""

from __future__ import annotations

from collections.abc import Callable

from prjury.errors import ConfigError
from prjury.judges.files.class_version import ClassVersionJudge
from prjury.judges.files.judges import SemanticComparisonJudge, SupersetJudge
from prjury.judges.merged_tree.tree import MergedTreeJudge, expected_files
from prjury.judges.workspace.files import FileContentJudge, FileExistsJudge
from prjury.policy.seats import (
    ClassVersionOptions,
    ComparisonOptions,
    FileContentOptions,
    FileExistsOptions,
)
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


def class_version(options: ClassVersionOptions, ports: Ports) -> MergedTreeJudge:
    """The compiled classes of the merged tree run on a Java release."""
    judge = ClassVersionJudge(options.release, options.path or ".", options.exactly)
    return _judge(judge, ports)


def semantic(options: ComparisonOptions, ports: Ports) -> MergedTreeJudge:
    """Files of the merged tree mean what is expected."""
    return _comparing(SemanticComparisonJudge, options, ports)


def superset(options: ComparisonOptions, ports: Ports) -> MergedTreeJudge:
    """Files of the merged tree hold at least the expected lines."""
    return _comparing(SupersetJudge, options, ports)


def _judge(
    judge: FileExistsJudge | FileContentJudge | ClassVersionJudge, ports: Ports
) -> MergedTreeJudge:
    return MergedTreeJudge(ports, lambda _: judge, judge.name, judge.description)


def _comparing(
    make: Callable[..., SemanticComparisonJudge], options: ComparisonOptions, ports: Ports
) -> MergedTreeJudge:
    shown = make(options.expected, options.path)
    return MergedTreeJudge(
        ports,
        lambda around: make(expected_files(options, ports.repository, around), options.path),
        shown.name,
        shown.description,
    )
