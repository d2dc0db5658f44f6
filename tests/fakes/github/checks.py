"""Check runs and their annotations."""

from __future__ import annotations

from typing import Any

from fakes.github.accounts import ACTIONS_APP
from fakes.github.check_payloads import app_payload, check_run_payload
from fakes.github.exchange import REPO, Answer, Call, Payload, Refusal, Routes, invalid

routes = Routes()

READS, WRITES = "checks=read", "checks=write"
MOST_ANNOTATIONS = 50
TEXT_LIMIT = 65_535
_CONCLUSIONS = frozenset(
    "action_required cancelled failure neutral success skipped stale timed_out".split()
)
_RUN = f"{REPO}/check-runs/{{check_run_id}}"
_PLAIN = ("name", "details_url", "external_id", "started_at", "status", "head_sha")


@routes("POST", f"{REPO}/check-runs", WRITES)
def create_check_run(call: Call) -> Answer:
    _only_apps(call)
    name, sha = call.needed("name"), call.needed("head_sha")
    call.fake.known_commit(sha)
    _check(call)
    fake = call.fake
    suite = next((_suite(one) for one in fake.check_runs if _is_of(one, call, sha)), 1)
    run = check_run_payload(fake.url, fake.number(), name, None, suite)
    run["app"] = app_payload(fake.url, call.author.app_id, call.author.slug)
    run |= {"status": "queued", "started_at": fake.moment()}
    _write(call, run)
    fake.check_runs.append(run)
    return Answer(201, run, {"Location": run["url"]})


@routes("PATCH", _RUN, WRITES)
def edit_check_run(call: Call) -> Answer:
    _only_apps(call)
    run = _run(call)
    app = call.author.app_id
    if run["app"] is None or run["app"]["id"] != app:
        why = "check run can only be modified by the GitHub App that created it."
        raise Refusal(403, f"Invalid app_id `{app}` - {why}")
    _check(call)
    _write(call, run)
    return Answer(200, run)


@routes("GET", _RUN, READS)
def get_check_run(call: Call) -> Answer:
    return Answer(200, _run(call))


@routes("GET", f"{_RUN}/annotations", READS)
def list_annotations(call: Call) -> Answer:
    return call.paged(call.fake.annotations.get(_run(call)["id"], []))


@routes("GET", f"{REPO}/commits/{{ref}}/check-runs", READS)
def list_check_runs(call: Call) -> Answer:
    """The newest first; ``filter=latest`` leaves one of a name in each suite."""
    sha = call.fake.resolve(call["ref"])
    runs = [run for run in reversed(call.fake.check_runs) if run["head_sha"] == sha]
    for parameter, key in (("check_name", "name"), ("status", "status")):
        if parameter in call.query:
            runs = [run for run in runs if run[key] == call.query[parameter]]
    if "app_id" in call.query:
        runs = [run for run in runs if str(run["app"] and run["app"]["id"]) == call.query["app_id"]]
    if call.query.get("filter", "latest") == "latest":
        runs = list({(_suite(run), run["name"]): run for run in reversed(runs)}.values())
    return call.paged(runs, "check_runs")


def _suite(run: Payload) -> Any:
    return run["check_suite"] and run["check_suite"]["id"]


def _is_of(run: Payload, call: Call, sha: str) -> bool:
    """Whether it stands in the suite of this app and commit, of which there is one only."""
    app = run["app"]
    return run["head_sha"] == sha and app is not None and app["id"] == call.author.app_id


def _run(call: Call) -> Payload:
    for run in call.fake.check_runs:
        if run["id"] == int(call["check_run_id"]):
            return run
    raise Refusal(404, "Not Found")


def _only_apps(call: Call) -> None:
    if not call.author.installation:
        raise Refusal(403, "You must authenticate via a GitHub App.")


def _check(call: Call) -> None:
    """Refuses what GitHub refuses, before anything is written."""
    body = call.body
    conclusion = body.get("conclusion")
    if conclusion is not None and conclusion not in _CONCLUSIONS:
        raise Refusal(422, f"Invalid request.\n\n{conclusion} is not a member of the conclusions.")
    if conclusion is None and (body.get("status") == "completed" or body.get("completed_at")):
        raise Refusal(422, 'Invalid request.\n\n"conclusion" wasn\'t supplied.')
    if len(body.get("actions") or []) > 3:
        raise Refusal(422, "Invalid request.\n\nNo more than 3 actions are allowed.")
    if body.get("output"):
        _check_output(body["output"], is_new=call.request.method == "POST")


def _check_output(output: Payload, *, is_new: bool) -> None:
    for name in ("title", "summary") if is_new else ("summary",):
        if output.get(name) is None:
            raise Refusal(422, f'Invalid request.\n\n"{name}" wasn\'t supplied.')
    for name in ("summary", "text"):
        if len(output.get(name) or "") > TEXT_LIMIT:
            raise invalid("CheckRun", name, f"exceeds a maximum length of {TEXT_LIMIT}")
    annotations = output.get("annotations") or []
    if len(annotations) > MOST_ANNOTATIONS:
        message = (
            f"Invalid request.\n\nNo more than {MOST_ANNOTATIONS} items are allowed; "
            f"{len(annotations)} were supplied."
        )
        raise Refusal(422, message)
    for annotation in annotations:
        _check_annotation(annotation)


def _check_annotation(annotation: Payload) -> None:
    for name in ("path", "start_line", "end_line", "annotation_level", "message"):
        if annotation.get(name) in {None, ""}:
            raise Refusal(422, f'Invalid request.\n\n"{name}" wasn\'t supplied.')
    if annotation["annotation_level"] not in {"notice", "warning", "failure"}:
        raise invalid("CheckAnnotation", "annotation_level", "is not a level")
    if not 1 <= annotation["start_line"] <= annotation["end_line"]:
        raise invalid("CheckAnnotation", "end_line", "must not be before start_line")
    columns = "start_column" in annotation or "end_column" in annotation
    if columns and annotation["start_line"] != annotation["end_line"]:
        raise invalid("CheckAnnotation", "start_column", "is for annotations of one line")
    for name, most in (("message", 65_536), ("raw_details", 65_536), ("title", 255)):
        if len(annotation.get(name) or "") > most:
            raise invalid("CheckAnnotation", name, f"exceeds a maximum length of {most}")


def _plain(run: Payload) -> list[str]:
    """GitHub links the check runs of a job's own token to whatever run the suite belongs to."""
    is_actions = run["app"]["id"] == ACTIONS_APP
    return [name for name in _PLAIN if not (is_actions and name == "details_url")]


def _write(call: Call, run: Payload) -> None:
    """A conclusion completes a run; a run that goes on has none."""
    body = call.body
    run |= {name: body[name] for name in _plain(run) if name in body}
    if body.get("conclusion"):
        done = body.get("completed_at") or call.fake.moment()
        run |= {"status": "completed", "conclusion": body["conclusion"], "completed_at": done}
    elif "status" in body:
        run |= {"conclusion": None, "completed_at": None}
    given = body.get("output")
    if not given:
        return
    output = run["output"]
    output |= {name: given[name] for name in ("title", "summary", "text") if name in given}
    kept = call.fake.annotations.setdefault(run["id"], [])
    kept += [_annotation(run, one) for one in given.get("annotations") or []]
    output["annotations_count"] = len(kept)


def _annotation(run: Payload, given: Payload) -> Payload:
    nothing = dict.fromkeys(["start_column", "end_column", "title", "raw_details"])
    return {**nothing, **given, "blob_href": f"{run['url']}/blob"}
