"""Objects and references: blobs, trees and commits by their real names, new branches."""

from __future__ import annotations

import base64
import binascii
from datetime import datetime
from fnmatch import fnmatchcase
from urllib.parse import quote

from fakes.github.exchange import REPO, Answer, Call, Payload, Refusal, Routes
from fakes.github.objects import Absent, Named
from fakes.github.payloads import HTML

routes = Routes()

READS = "contents=read"
WRITES = "contents=write"
MOST_BYTES = 100 * 1024 * 1024
_GIT = f"{REPO}/git"
_KINDS = {"100644": "blob", "100755": "blob", "120000": "blob", "040000": "tree"}


@routes("POST", f"{_GIT}/blobs", WRITES)
def create_blob(call: Call) -> Answer:
    given = call.needed("content")
    content = given.encode()
    if call.body.get("encoding", "utf-8") == "base64":
        try:
            content = base64.b64decode(given, validate=True)
        except binascii.Error:
            raise Refusal(422, "Problems parsing JSON") from None
    if len(content) > MOST_BYTES:
        raise Refusal(422, "blob is too large")
    sha = call.fake.objects.add("blob", content)
    return Answer(201, {"sha": sha, "url": _url(call, "blobs", sha)})


@routes("POST", f"{_GIT}/trees", WRITES)
def create_tree(call: Call) -> Answer:
    objects = call.fake.objects
    base = call.body.get("base_tree", objects.add("tree", b""))
    if not objects.is_a("tree", base):
        raise Refusal(422, "base_tree is not a valid tree")
    changes: dict[tuple[str, ...], Named | None] = {}
    for entry in call.needed("tree"):
        parts = tuple(entry["path"].split("/"))
        if {"", ".", "..", ".git"} & set(parts):
            raise Refusal(422, "tree.path contains a malformed path component")
        if parts[:2] == (".github", "workflows") and not call.author.may("workflows=write"):
            raise Refusal(403, "Resource not accessible by integration")
        changes[parts] = _named(call, entry)
    try:
        sha = objects.changed(base, changes)
    except Absent:
        raise Refusal(422, "GitRPC::BadObjectState") from None
    entries = [
        {"path": name, "mode": one.mode.zfill(6), "type": _kind(one.mode.zfill(6)), "sha": one.sha}
        for name, one in objects.tree(sha).items()
    ]
    url = _url(call, "trees", sha)
    return Answer(201, {"sha": sha, "url": url, "tree": entries, "truncated": False})


@routes("POST", f"{_GIT}/commits", WRITES)
def create_commit(call: Call) -> Answer:
    objects = call.fake.objects
    tree, parents = call.needed("tree"), call.body.get("parents", [])
    if not objects.is_a("tree", tree):
        raise Refusal(422, "Tree SHA does not exist")
    if not all(objects.is_a("commit", parent) for parent in parents):
        raise Refusal(422, "Parent SHA does not exist or is not a commit object")
    account = {"name": call.author.login, "email": f"{call.author.login}@example.com"}
    author = call.body.get("author", account)
    people = {"author": author, "committer": call.body.get("committer", author)}
    lines = [f"tree {tree}", *(f"parent {parent}" for parent in parents)]
    lines += [f"{role} {_person(call, one)}" for role, one in people.items()]
    text = "\n".join([*lines, "", call.needed("message")])
    sha = objects.add("commit", text.encode())
    return Answer(201, _commit(call, sha))


@routes("GET", f"{_GIT}/commits/{{commit_sha}}", READS)
def get_commit(call: Call) -> Answer:
    if not call.fake.objects.is_a("commit", call["commit_sha"]):
        raise Refusal(404, "Not Found")
    return Answer(200, _commit(call, call["commit_sha"]))


@routes("GET", f"{_GIT}/ref/{{ref}}", READS)
def get_ref(call: Call) -> Answer:
    name = call["ref"].removeprefix("heads/")
    if name == call["ref"] or name not in call.fake.branches:
        raise Refusal(404, "Not Found")
    return Answer(200, _ref(call, name))


@routes("POST", f"{_GIT}/refs", WRITES)
def create_ref(call: Call) -> Answer:
    """A new branch; one that is there is refused, and never moved."""
    ref, sha, branches = call.needed("ref"), call.needed("sha"), call.fake.branches
    name = ref.removeprefix("refs/heads/")
    if name == ref:
        raise Refusal(422, "Reference name must start with 'refs/' and have at least two slashes")
    if not call.fake.objects.is_a("commit", sha):
        raise Refusal(422, "Object does not exist")
    if name in branches:
        raise Refusal(422, "Reference already exists")
    if any(one.startswith(f"{name}/") or name.startswith(f"{one}/") for one in branches):
        raise Refusal(422, "Reference update failed")
    if any(fnmatchcase(name, pattern) for pattern in call.fake.restricted):
        rules = "Repository rule violations found\n\nCannot create ref due to creations restricted."
        raise Refusal(422, rules)
    branches[name] = sha
    return Answer(201, _ref(call, name), {"Location": _url(call, "refs", f"heads/{name}")})


def _named(call: Call, entry: Payload) -> Named | None:
    if ("sha" in entry) == ("content" in entry):
        raise Refusal(422, "Must supply either tree.sha or tree.content.")
    if "content" in entry:
        sha = call.fake.objects.add("blob", entry["content"].encode())
    elif entry["sha"] is None:
        return None
    else:
        sha = entry["sha"]
        kind = _kind(entry["mode"])
        if kind != "commit" and not call.fake.objects.is_a(kind, sha):
            raise Refusal(422, f"tree.sha {sha} is not a valid {kind}")
    return Named(entry["mode"].lstrip("0"), sha)


def _kind(mode: str) -> str:
    return _KINDS.get(mode, "commit")


def _person(call: Call, given: Payload) -> str:
    if not (given.get("name", "").strip() and given.get("email", "").strip()):
        raise Refusal(422, "Invalid request.\n\nauthor is missing an email or name")
    moment = datetime.fromisoformat(given.get("date", call.fake.moment()))
    return f"{given['name']} <{given['email']}> {int(moment.timestamp())} {moment:%z}"


def _told(line: str) -> Payload:
    name, _, rest = line.partition(" <")
    email, _, stamp = rest.partition("> ")
    seconds, _, zone = stamp.partition(" ")
    moment = datetime.fromtimestamp(int(seconds), datetime.strptime(zone, "%z").tzinfo)
    return {"name": name, "email": email, "date": moment.isoformat()}


def _commit(call: Call, sha: str) -> Payload:
    headers, message = call.fake.objects.commit(sha)
    (tree,) = headers["tree"]
    page = f"{HTML}/{call.repo}/commit"
    return {
        "sha": sha,
        "node_id": f"C_{sha}",
        "url": _url(call, "commits", sha),
        "html_url": f"{page}/{sha}",
        "author": _told(headers["author"][0]),
        "committer": _told(headers["committer"][0]),
        "message": message,
        "tree": {"sha": tree, "url": _url(call, "trees", tree)},
        "parents": [
            {"sha": one, "url": _url(call, "commits", one), "html_url": f"{page}/{one}"}
            for one in headers.get("parent", [])
        ],
        "verification": {
            "verified": False,
            "reason": "unsigned",
            "signature": None,
            "payload": None,
            "verified_at": None,
        },
    }


def _ref(call: Call, name: str) -> Payload:
    sha = call.fake.branches[name]
    return {
        "ref": f"refs/heads/{name}",
        "node_id": f"REF_{name}",
        "url": _url(call, "refs", f"heads/{name}"),
        "object": {"type": "commit", "sha": sha, "url": _url(call, "commits", sha)},
    }


def _url(call: Call, kind: str, name: str) -> str:
    return f"{call.fake.url}/repos/{call.repo}/git/{kind}/{quote(name)}"
