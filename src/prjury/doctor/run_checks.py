"""Every check of the set-up, in the order in which it is printed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from prjury.doctor import local, merge_gate, permissions, wiring
from prjury.doctor.finding import Diagnosis, DoctorCheck, Level, examine, fine, unknown
from prjury.doctor.server import ask_server
from prjury.doctor.setup import FROM_DEFAULT, Setup
from prjury.git.operator import open_repository
from prjury.github.settings import read_settings

#: Asked even where PR Jury is not used.
_USED = DoctorCheck("PR Jury runs here", wiring.check_use)

#: Each with what is true where its function finds nothing, and where it applies. What zizmor and
#: actionlint report of workflows (pins, hygiene, injection) is not asked again.
CHECKS: tuple[DoctorCheck[Setup], ...] = (
    _USED,
    DoctorCheck("every mode and input exists", wiring.check_words),
    DoctorCheck("the stages are complete", wiring.check_stages, lambda setup: setup.is_apart),
    DoctorCheck("a new head waits for its verdict", wiring.check_closing),
    DoctorCheck(
        "what starts from the default branch is there",
        wiring.check_workflows_on_default_branch,
        lambda setup: bool(setup.of_modes(*FROM_DEFAULT)),
    ),
    DoctorCheck("every event that changes the verdict starts a run", wiring.check_triggers),
    DoctorCheck("the gate cannot be skipped and does not hang", merge_gate.check_skipping),
    DoctorCheck("the gate is closed by the verdict", merge_gate.check_outcome),
    DoctorCheck("the gate has one name, and nobody else has it", merge_gate.check_names),
    DoctorCheck("every job has the permissions that it needs", permissions.check_rights),
    DoctorCheck("no build has a secret", permissions.check_secrets),
)


def examine_setup(setup: Setup, *, complete: bool = True) -> Iterator[Diagnosis]:
    """Find what is wrong with the workflows."""
    unused = (_USED,) if complete else ()
    yield from examine(setup, CHECKS if setup.uses else unused)


def run_examination(
    path: Path, environ: Mapping[str, str], *, offline: bool = False
) -> Iterator[Diagnosis]:
    """Find what is wrong with the set-up of the repository that holds ``path``."""
    repository = open_repository(path)
    rights = read_settings(repository.remote_url, environ, offline=offline)
    yield from local.machine()
    root = repository.work_tree
    if root is None:
        yield unknown("", "the repository is bare; run it in a checkout to look at workflows")
        setup = Setup(())
    else:
        yield from local.check_own_policy(root)
        read, unread = local.read_workflows(root)
        yield from local.check_build(root, environ)
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
