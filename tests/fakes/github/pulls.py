"""Pull requests and their files."""

from __future__ import annotations

from fakes.github.exchange import REPO, Answer, Call, Payload, Refusal, Routes
from fakes.github.payloads import ONLY_ALONE

routes = Routes()

READS = "pull_requests=read"
MOST_FILES = 3_000
_PULL = f"{REPO}/pulls/{{pull_number}}"


@routes("GET", f"{REPO}/pulls", READS)
def list_pulls(call: Call) -> Answer:
    """The newest first; a ``head`` without an owner filters nothing, as at GitHub."""
    found = [pull for (repo, _), pull in call.fake.pulls.items() if repo == call.repo]
    state, head, base = (call.query.get(name, "") for name in ("state", "head", "base"))
    if (state or "open") != "all":
        found = [pull for pull in found if pull["state"] == (state or "open")]
    if ":" in head:
        found = [pull for pull in found if pull["head"]["label"] == head]
    if base:
        found = [pull for pull in found if pull["base"]["ref"] == base]
    newest = call.query.get("direction", "desc") == "desc"
    found.sort(key=lambda pull: pull["number"], reverse=newest)
    return call.paged([_in_list(pull) for pull in found])


@routes("GET", _PULL, READS)
def get_pull(call: Call) -> Answer:
    return Answer(200, pull_of(call))


@routes("GET", f"{_PULL}/files", READS)
def list_files(call: Call) -> Answer:
    pull = pull_of(call)
    diff = call.fake.diffs.get(pull["number"], {})
    sha = pull["head"]["sha"]
    files = [file_payload(call, path, lines, sha) for path, lines in sorted(diff.items())]
    return call.paged(files[:MOST_FILES])


def pull_of(call: Call, name: str = "pull_number") -> Payload:
    pull = call.fake.pulls.get((call.repo, int(call[name])))
    if pull is None:
        raise Refusal(404, "Not Found")
    return pull


def file_payload(call: Call, path: str, lines: frozenset[int], sha: str) -> Payload:
    """A file of which these lines are added."""
    page = f"https://github.com/{call.repo}"
    added = sorted(lines)
    hunks = "\n".join(f"@@ -{line},0 +{line} @@\n+line {line}" for line in added)
    return {
        "sha": "5" * 40,
        "filename": path,
        "status": "modified",
        "additions": len(added),
        "deletions": 0,
        "changes": len(added),
        "blob_url": f"{page}/blob/{sha}/file",
        "raw_url": f"{page}/raw/{sha}/file",
        "contents_url": f"{call.fake.url}/repos/{call.repo}/contents/file?ref={sha}",
        "patch": hunks,
    }


def _in_list(pull: Payload) -> Payload:
    return {name: value for name, value in pull.items() if name not in ONLY_ALONE}
