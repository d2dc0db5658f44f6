"""Open pull requests: which have a commit as their head, and which GitHub can merge."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from msgspec import Struct

from prjury.errors import SourceError
from prjury.github.client import GitHub
from prjury.github.payload import PullFacts, at, object_name, read_number, read_pull, text

#: So many open pull requests are read one by one, a hundred a request.
_FEW = 300
_MOST_FOUND = 50


def list_all_or_found_pulls(
    client: GitHub, repo: str, head_sha: str, head_repo: str | None, branch: str | None
) -> list[PullFacts]:
    """The open pull requests that may have a commit as their head.

    Those are all that are open, or, where they are many, those that GitHub's search finds by the
    commit, and those of the branch. The search has to know the branch's own by this commit.
    """
    task = f"list the open pull requests of {repo}"
    query, needs = {"state": "open"}, "pull-requests: read"
    entries = client.repo(repo).entries(task, "/pulls", needs=needs, query=query)
    listed = list(islice(entries, _FEW))
    if len(listed) < _FEW:
        return client.ask(task, lambda: list(map(read_pull, listed)))
    pulls = {pull.number: pull for pull in _search_open_pulls_by_head(client, repo, head_sha)}
    query |= {"head": f"{(head_repo or '').partition('/')[0]}:{branch or ''}"}
    own = client.repo(repo).list_all(task, "/pulls", read_pull, needs=needs, query=query)
    unknown = [pull for pull in twins_of(own, head_sha) if pull.number not in pulls]
    if unknown:
        why = f"GitHub's search does not know #{unknown[0].number} by its head yet"
        raise make_unsure_pull_error(why, "Run the job again in a minute")
    return list((pulls | {pull.number: pull for pull in own}).values())


def _search_open_pulls_by_head(client: GitHub, repo: str, head_sha: str) -> Iterator[PullFacts]:
    query = {"q": f"repo:{repo} is:pr is:open {head_sha}", "per_page": _MOST_FOUND}
    answer = client.ask(
        f"search for the pull requests of {repo} with {head_sha[:12]}",
        lambda: client.api.requester.requestJsonAndCheck("GET", "/search/issues", query)[1],
        needs="pull-requests: read",
    )
    items, count = at(answer, "items"), at(answer, "total_count")
    whole = isinstance(items, list) and count == len(items)
    if not whole or at(answer, "incomplete_results"):
        raise make_unsure_pull_error(f"GitHub's search does not tell all that hold {head_sha[:12]}")
    for item in items if isinstance(items, list) else ():
        yield client.pull(repo, read_number(at(item, "number"), "the number"))


def read_message(client: GitHub, repo: str, sha: str) -> str:
    """The message of a commit."""
    task = f"read the commit {sha[:12]} of {repo}"
    return client.repo(repo).get(
        task, f"/git/commits/{sha}", lambda one: text(at(one, "message")), needs="contents: read"
    )


def refuse_shared_head(pulls: Iterable[PullFacts], head_sha: str) -> None:
    """Refuses a commit that is the head of several pull requests.

    A check or status belongs to the commit, not to the pull request: judged against one base, it
    would open the gate of the other.
    """
    twins = twins_of(pulls, head_sha)
    if len(twins) > 1:
        numbers = ", ".join(f"#{pull.number}" for pull in twins)
        raise make_unsure_pull_error(f"{numbers} have the same head {head_sha[:12]}")


def twins_of(pulls: Iterable[PullFacts], head_sha: str) -> list[PullFacts]:
    """The pull requests that have this commit as their head."""
    return [pull for pull in pulls if pull.head.sha == head_sha]


def make_unsure_pull_error(
    why: str, remedy: str = "Close the other pull request, or push a commit of its own to this one"
) -> SourceError:
    """The error for a head that is not certain to be that of one pull request."""
    return SourceError(
        "It is not sure which pull request this run belongs to",
        why=why,
        remedy=remedy,
        reason="not_bound",
    )


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


def poll_states_and_total(
    client: GitHub, repo: str, base: str, most: int
) -> tuple[list[MergeState], int]:
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


def await_mergeability(client: GitHub, repo: str, number: int) -> PullFacts:
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
