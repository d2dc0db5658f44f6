"""Whether GitHub can merge open pull requests: many in one request, through GraphQL.

GitHub tries a merge when it is asked, and answers before it has; so it is asked again.
"""

from __future__ import annotations

from msgspec import Struct

from prjury.github.client import GitHub
from prjury.github.payload import PullFacts, at, object_name, read_number, text

_QUERY = """
query($owner: String!, $name: String!, $base: String!, $size: Int!) {
  repository(owner: $owner, name: $name) {
    pullRequests(
      baseRefName: $base, states: OPEN, first: $size, orderBy: {field: UPDATED_AT, direction: DESC}
    ) {
      totalCount
      nodes { number mergeable headRefOid }
    }
  }
}
"""
_MERGEABLE = {"MERGEABLE": True, "CONFLICTING": False}
#: How often GitHub is asked, and the seconds before each further time.
_PAUSES = (3.0, 6.0, 12.0)


class MergeState(Struct, frozen=True):
    """An open pull request; ``mergeable`` is None where GitHub has not tried."""

    number: int
    head_sha: str
    mergeable: bool | None


def merge_states(client: GitHub, repo: str, base: str, most: int) -> tuple[list[MergeState], int]:
    """The pull requests onto a branch, the last updated first, and how many there are in all."""
    owner, _, name = repo.partition("/")
    variables = {"owner": owner, "name": name, "base": base, "size": most}
    for pause in (*_PAUSES, 0.0):
        pulls, total = client.ask(
            f"tell which pull requests onto {base} can be merged",
            lambda: _read_states(client.api.requester.graphql_query(_QUERY, variables)[1]),
            needs="pull-requests: read",
        )
        if not pause or all(one.mergeable is not None for one in pulls):
            break
        client.sleep(pause)
    return pulls, total


def await_pull(client: GitHub, repo: str, number: int) -> PullFacts:
    """Return a pull request once GitHub has tried the merge, or takes too long for that."""
    for pause in (*_PAUSES, 0.0):
        pull = client.pull(repo, number)
        if pull.closed or pull.mergeable is not None or not pause:
            break
        client.sleep(pause)
    return pull


def _read_states(answer: object) -> tuple[list[MergeState], int]:
    pulls = at(answer, "data", "repository", "pullRequests")
    nodes, total = at(pulls, "nodes"), at(pulls, "totalCount")
    if not isinstance(nodes, list) or not isinstance(total, int):
        raise ValueError("there is no list of pull requests")  # noqa: TRY004 - as every answer of a wrong form
    return [_read_state(one) for one in nodes], total


def _read_state(node: object) -> MergeState:
    return MergeState(
        read_number(at(node, "number"), "number"),
        object_name(at(node, "headRefOid"), "headRefOid"),
        _MERGEABLE.get(text(at(node, "mergeable"))),
    )
