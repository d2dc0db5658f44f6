"""Workflow runs and their artifacts."""

from __future__ import annotations

from fakes.github.exchange import REPO, Answer, Call, Payload, Refusal, Routes

routes = Routes()

READS = "actions=read"
WRITES = "actions=write"
#: Where archives are downloaded from, on the same server; a store of its own at GitHub.
BLOBS = "/_blobs"
_RUN = f"{REPO}/actions/runs/{{run_id}}"
#: A query's name and where the value stands in a run.
_FILTERS = {
    "head_sha": "head_sha",
    "branch": "head_branch",
    "event": "event",
    "check_suite_id": "check_suite_id",
}


@routes("GET", f"{REPO}/actions/runs", READS)
def list_runs(call: Call) -> Answer:
    """The newest first."""
    found = list(reversed(call.fake.workflow_runs))
    for parameter, key in _FILTERS.items():
        if parameter in call.query:
            found = [run for run in found if str(run[key]) == call.query[parameter]]
    if status := call.query.get("status"):
        found = [run for run in found if status in {run["status"], run["conclusion"]}]
    return call.paged(found, "workflow_runs")


@routes("GET", _RUN, READS)
def get_run(call: Call) -> Answer:
    return Answer(200, _run(call))


@routes("GET", f"{_RUN}/artifacts", READS)
def list_artifacts_of_run(call: Call) -> Answer:
    run = _run(call)["id"]
    return _artifacts(call, [one for one in _all(call) if one["workflow_run"]["id"] == run])


@routes("GET", f"{REPO}/actions/artifacts/{{artifact_id}}/{{archive_format}}", READS)
def download(call: Call) -> Answer:
    """The address of the archive, good without a token; nobody gets it without one."""
    artifact = _artifact(call)
    if call.account is None:
        raise Refusal(401, "Requires authentication")
    if call["archive_format"] != "zip":
        raise Refusal(404, "Not Found")
    if artifact["expired"]:
        raise Refusal(410, "Artifact has expired")
    root = call.fake.url.removesuffix(call.fake.prefix)
    return Answer(302, None, {"Location": f"{root}{BLOBS}/{artifact['id']}.zip?sig=once"})


@routes("GET", f"{BLOBS}/{{artifact_id}}.zip", needs="", described=False)
def blob(call: Call) -> Answer:
    """The store of archives: it takes the address's signature and no token beside it."""
    content = call.fake.archives.get(int(call["artifact_id"]))
    if call.request.token is not None:
        text = b"<?xml version='1.0'?><Error><Code>InvalidAuthenticationInfo</Code></Error>"
        return Answer(400, text, kind="application/xml")
    if content is None or "sig" not in call.query:
        return Answer(404, b"<Error><Code>BlobNotFound</Code></Error>", kind="application/xml")
    return Answer(200, content, kind="application/zip")


@routes("POST", f"{_RUN}/rerun", WRITES)
def rerun(call: Call) -> Answer:
    """One more attempt of the same run, for the same commit; not while it runs."""
    run = _run(call)
    if run["status"] != "completed":
        raise Refusal(403, "This workflow is already running")
    run |= {"status": "queued", "conclusion": None, "run_attempt": run["run_attempt"] + 1}
    return Answer(201, {})


def _run(call: Call) -> Payload:
    for run in call.fake.workflow_runs:
        if run["id"] == int(call["run_id"]):
            return run
    raise Refusal(404, "Not Found")


def _all(call: Call) -> list[Payload]:
    return sorted(call.fake.artifacts.values(), key=lambda one: one["id"], reverse=True)


def _artifacts(call: Call, found: list[Payload]) -> Answer:
    if name := call.query.get("name"):
        found = [one for one in found if one["name"] == name]
    return call.paged(found, "artifacts")


def _artifact(call: Call) -> Payload:
    artifact = call.fake.artifacts.get(int(call["artifact_id"]))
    if artifact is None:
        raise Refusal(404, "Not Found")
    return artifact
