"""Every check of the set-up, in the order in which it is printed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from operator import attrgetter
from pathlib import Path

from prjury.doctor import job_graph, local, merge_gate, override_label, permissions, triggers
from prjury.doctor.finding import Diagnosis, DoctorCheck, Level, examine, fine, unknown
from prjury.doctor.server import ask_server
from prjury.doctor.setup import FROM_DEFAULT, Setup
from prjury.git.operator import open_repository
from prjury.github.settings import read_settings

_has_stages = attrgetter("is_apart")
_has_override = attrgetter("overruling")

#: Asked even where PR Jury is not used, the last one also where it may be.
_USED = DoctorCheck("PR Jury runs here", job_graph.used)
_CHECKOUTS = DoctorCheck(
    "no workflow checks a pull request out beside secrets", triggers.privileged_checkouts
)

#: What is asked of the workflows: what is true where the function finds nothing, the function, and
#: where it applies. What zizmor reports (pins, hygiene) is not asked again.
CHECKS: tuple[DoctorCheck[Setup], ...] = (
    _USED,
    DoctorCheck("the action is named", job_graph.placeholders),
    DoctorCheck("every input is one of the action's", job_graph.inputs),
    DoctorCheck("every mode exists", job_graph.modes),
    DoctorCheck("the stages are complete", job_graph.parts, _has_stages),
    DoctorCheck("judging waits for the build", job_graph.waiting, _has_stages),
    DoctorCheck("every job knows which file it takes", job_graph.handed_over, _has_stages),
    DoctorCheck(
        "what starts from the default branch is there",
        job_graph.on_default_branch,
        lambda setup: bool(setup.parts(*FROM_DEFAULT)),
    ),
    DoctorCheck(
        "every event of a pull request that changes the verdict starts a run",
        triggers.missing_types,
    ),
    DoctorCheck("no filter keeps the required check from starting", triggers.filters),
    DoctorCheck("every workflow of PR Jury is started by something", triggers.never_started),
    DoctorCheck(
        "no change's code runs where a token can write for strangers", triggers.privileged_builds
    ),
    _CHECKOUTS,
    DoctorCheck("the gate cannot be skipped", merge_gate.skippable),
    DoctorCheck("the gate is closed by the verdict", merge_gate.always_green),
    DoctorCheck("the gate does not hang when a job fails", merge_gate.unfinished, _has_stages),
    DoctorCheck("the gate has one name", merge_gate.names),
    DoctorCheck("no other job has the name of the gate", merge_gate.imitations),
    DoctorCheck("a pull request has one gate", merge_gate.twice),
    DoctorCheck(
        "a maintainer's label overrides the gate as long as it is there",
        override_label.heard,
        lambda setup: setup.label is not None,
    ),
    DoctorCheck(
        "the label is the one that the policy names",
        override_label.named,
        lambda setup: setup.label is not None and bool(setup.overruling or setup.gates),
    ),
    DoctorCheck("what the label overrides is judged", override_label.judged, _has_override),
    DoctorCheck("labels take effect one after the other", override_label.turns, _has_override),
    DoctorCheck(
        "nobody can override the gate, as the policy says",
        override_label.idle,
        lambda setup: setup.override is not None and setup.label is None,
    ),
    DoctorCheck("every job has the permissions that it needs", permissions.too_few),
    DoctorCheck("no job has a permission to write that it does not need", permissions.too_many),
    DoctorCheck("no job has a secret that it does not need", permissions.secrets),
)


def examine_setup(setup: Setup, *, complete: bool = True) -> Iterator[Diagnosis]:
    """What is wrong with the workflows.

    Args:
        complete: whether every workflow of PR Jury could be read; what cannot be read may use it.
    """
    unused = (_USED, _CHECKOUTS) if complete else (_CHECKOUTS,)
    yield from examine(setup, CHECKS if setup.uses else unused)


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
        yield local.build(root, environ)
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
