"""Workflows in which an app of one's own writes what is posted, in place of GitHub Actions. Pure.

The key of the app lies in jobs that run no code of a change, and nowhere else.
"""

from __future__ import annotations

import re

#: The action that makes the token, with the commit of its version.
APP_ACTION = "actions/create-github-app-token"
_PIN = "bcd2ba49218906704ab6c1aa796996da409d3eb1 # v3.2.0"
#: The variable and the secret that hold the app's client id and its private key.
CLIENT_ID, KEY = "PRJURY_APP_CLIENT_ID", "PRJURY_APP_PRIVATE_KEY"

_RIGHT = r"      [a-z-]+: (?:read|write) #.*\n"
#: A job's rights, and its step that writes with them; no other job's rights lie between.
_WRITES = re.compile(
    rf"    permissions:\n(?P<rights>(?:{_RIGHT})+)(?P<between>(?:(?!    permissions:).*\n)*?)"
    r"(?P<step>      - name: .+\n        uses: \S+\n        with:\n"
    r"          mode: (?:publish|conflicts|comment|backport)\n          github-token: )"
    r"\$\{\{ github\.token \}\}"
)


def with_app_token(workflow: str) -> str:
    """A workflow whose jobs that post take the token of an app, with the rights that they had."""
    return _WRITES.sub(_with_step, workflow)


def _with_step(job: re.Match[str]) -> str:
    rights = re.sub(r"(?m)^ {6}", " " * 10 + "permission-", job["rights"])
    return (
        f"    permissions: {{}} # the app's token has those that it takes\n{job['between']}"
        "      - name: Take the app's token\n"
        "        id: app\n"
        f"        uses: {APP_ACTION}@{_PIN}\n"
        "        with:\n"
        f"          client-id: ${{{{ vars.{CLIENT_ID} }}}}\n"
        f"          private-key: ${{{{ secrets.{KEY} }}}}\n"
        f"{rights}\n"
        f"{job['step']}${{{{ steps.app.outputs.token }}}}"
    )
