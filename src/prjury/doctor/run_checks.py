"""All that is looked at, in the order in which it is told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from prjury.doctor import (
    hygiene,
    job_graph,
    local,
    merge_gate,
    override_label,
    permissions,
    triggers,
)
from prjury.doctor.finding import Diagnosis, DoctorCheck, Level, examine, fine, unknown
from prjury.doctor.server import ask_server
from prjury.doctor.setup import Setup
from prjury.git.find import open_repository
from prjury.github.settings import read_settings

#: What is asked of the workflows.
CHECKS: tuple[DoctorCheck[Setup], ...] = (
    *job_graph.CHECKS,
    *triggers.CHECKS,
    *merge_gate.CHECKS,
    *override_label.CHECKS,
    *permissions.CHECKS,
    *hygiene.CHECKS,
)
_UNUSED = tuple(c for c in CHECKS if c.ask in {job_graph.used, triggers.privileged_checkouts})
_UNREAD = tuple(c for c in CHECKS if c.ask is triggers.privileged_checkouts)


def examine_setup(setup: Setup, *, complete: bool = True) -> Iterator[Diagnosis]:
    """What is wrong with the workflows.

    Args:
        complete: whether every workflow of PR Jury could be read; what cannot be read may use it.
    """
    without_use = _UNUSED if complete else _UNREAD
    yield from examine(setup, CHECKS if setup.sittings else without_use)


def examination(
    path: Path, environ: Mapping[str, str], *, offline: bool = False
) -> Iterator[Diagnosis]:
    """What is wrong with the set-up of the repository that holds ``path``.

    Args:
        environ: the operator's environment: the token, and where GitHub is.

    Raises:
        SourceError: when there is no repository, or git refuses it.
        UsageError: when the environment names an address to which a token must not be sent.
    """
    repository = open_repository(path)
    rights = read_settings(repository.remote_url, environ, offline=offline)
    yield from local.machine()
    root = repository.work_tree
    if root is None:
        yield unknown("", "the repository is bare; run it in a checkout to look at workflows")
        setup = Setup(())
    else:
        yield from local.policy(root)
        read, unread = local.workflows(root)
        yield from unread
        setup = local.setup(repository, root, read)
        complete = all(one.level is not Level.PROBLEM for one in unread)
        yield from examine_setup(setup, complete=complete)
    if isinstance(rights, str):
        yield unknown("GitHub", f"the token, the required checks and the settings: {rights}")
        return
    with rights:
        yield fine("", f"asked about {rights.repo}")
        yield from ask_server(rights, setup)
