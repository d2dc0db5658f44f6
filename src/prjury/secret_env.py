"""Keeps secrets out of the process's environment, where every child and neighbour can read them.

Deleting a variable leaves the block in ``/proc``, so the program starts itself once more without
them, and hands them over in a pipe.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import sys
from collections.abc import Mapping, MutableMapping
from typing import NoReturn

from prjury.errors import UsageError

#: The variables that hold secrets of a job, or that let a process obtain some.
SECRET_VARIABLES = (
    "PRJURY_INPUT_GITHUB_TOKEN PRJURY_INPUT_MODEL_API_KEY OPENAI_API_KEY ANTHROPIC_API_KEY "
    "GEMINI_API_KEY GITHUB_TOKEN GH_TOKEN ACTIONS_RUNTIME_TOKEN ACTIONS_ID_TOKEN_REQUEST_TOKEN"
).split()
#: How other variables that hold secrets are called; a policy may name any for a model's key.
_SECRET = re.compile(
    r".*(API_?KEY|ACCESS_?KEY|[_-]KEY|TOKEN|SECRET|PASSWORD|PASSWD)", re.IGNORECASE
)
#: Credentials of the job and its files of commands, which no program of a change and no agent gets.
JOB_CREDENTIALS = (
    r"(GH|GITHUB)_(\w+_)?(TOKEN|PAT)|GITHUB_(ENV|OUTPUT|PATH|STATE|STEP_SUMMARY)"
    r"|(ACTIONS|INPUT)_.*|CI_\w*(TOKEN|JWT|PASSWORD)\w*|SYSTEM_ACCESSTOKEN|SSH_AUTH_SOCK"
)
#: Characters; a shorter value of such a variable may well be no secret and stand anywhere.
_SHORTEST = 8
_PIPE = "PRJURY_SECRETS_PIPE"
#: What a pipe takes without a reader; real secrets are far from it.
_LIMIT = 32_768
_PR_SET_DUMPABLE = 4


def hide_secrets_by_reexec(environ: MutableMapping[str, str], command: list[str]) -> dict[str, str]:
    """Return the operator's environment; no child of ours inherits the secrets in it."""
    if environ.get(_PIPE):
        own = restore_environment(environ)
        forbid_dumps()
        return own
    if secrets_in(environ):
        reexec_without_secrets(environ, command)
    return dict(environ)


def reexec_without_secrets(environ: Mapping[str, str], command: list[str]) -> NoReturn:
    """Replace this process by the command, with the secrets in a pipe."""
    held = {name: value for name, value in environ.items() if _is_secret(name, value)}
    content = json.dumps(held).encode()
    if len(content) > _LIMIT:
        raise UsageError("The token and the keys are too long to be any")
    reader, writer = os.pipe()
    os.set_inheritable(reader, True)  # noqa: FBT003 - the function takes it like this
    os.write(writer, content)
    os.close(writer)
    cleared = {name: value for name, value in environ.items() if name not in held}
    os.execve(command[0], command, {**cleared, _PIPE: str(reader)})  # noqa: S606 - our own program, no shell


def restore_environment(environ: MutableMapping[str, str]) -> dict[str, str]:
    """The environment as it was before `reexec_without_secrets`, for this process alone."""
    number = environ.pop(_PIPE, "")
    try:
        with os.fdopen(int(number), "rb") as pipe:
            held = json.loads(pipe.read(_LIMIT + 1))
        return {**environ, **{str(name): str(value) for name, value in held.items()}}
    except (OSError, ValueError, AttributeError) as error:
        raise UsageError(
            f"{_PIPE} names no pipe with secrets", remedy="Do not set it yourself"
        ) from error


def secrets_in(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The values that must not be seen anywhere: those that `reexec_without_secrets` hands over."""
    held = (value.strip() for name, value in environ.items() if _is_secret(name, value))
    return tuple(filter(None, held))


def _is_secret(name: str, value: str) -> bool:
    if name in SECRET_VARIABLES:
        return True
    return _SECRET.fullmatch(name) is not None and len(value.strip()) >= _SHORTEST


def forbid_dumps() -> None:
    """Close this process's memory and ``/proc`` entries to others of the same user, on Linux."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
