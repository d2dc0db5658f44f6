"""Cuts GitHub's own description of its API down to what the fake GitHub serves.

The package that brings it is pinned beside this file. To write `github.json` anew, after a new
version or a new route of `fakes.github`:

    PYTHONPATH=tests uv run python tests/openapi/trim.py
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from fakes.github.server import ROUTES

HERE = Path(__file__).resolve().parent
TRIMMED = HERE / "github.json"
PACKAGE = "node_modules/@octokit/openapi"
FULL = "generated/api.github.com.json"

#: Prose and hints, which nobody validates by; a discriminator is one, and wrong for a list.
_DROPPED = frozenset(
    "description summary title tags externalDocs example examples deprecated servers "
    "discriminator".split()
)
_NULL = {"enum": [None], "nullable": True}
_ERRORS = ("basic-error", "validation-error", "validation-error-simple")


def trim(full: dict[str, Any]) -> dict[str, Any]:
    """The paths that the fake serves, and the components that they refer to."""
    paths: dict[str, Any] = {}
    for route in ROUTES:
        if route.described:
            operation = _without_prose(full["paths"][route.template][route.method.lower()])
            _complete(operation["responses"])
            paths.setdefault(route.template, {})[route.method.lower()] = operation
    info = {name: full["info"][name] for name in ("title", "version", "license")}
    description = {"openapi": full["openapi"], "info": info, "paths": paths, "components": {}}
    _add_components(description, full["components"])
    _correct(description["components"]["schemas"])
    return description


def _without_prose(node: Any, *, names: bool = False) -> Any:
    """The node without `_DROPPED`; where its keys are `names` of properties, they all stay."""
    if isinstance(node, list):
        return [_without_prose(one) for one in node]
    if not isinstance(node, dict):
        return node
    kept = {
        key: _without_prose(value, names=key == "properties" and not names)
        for key, value in node.items()
        if names or not (key in _DROPPED or key.startswith("x-"))
    }
    return kept if names or not kept.get("nullable") else _really_nullable(kept)


def _really_nullable(schema: dict[str, Any]) -> dict[str, Any]:
    """Lets null through what stands beside ``nullable``, as GitHub means it."""
    for alternatives in {"oneOf", "anyOf"} & set(schema):
        schema[alternatives] = [*schema[alternatives], _NULL]
    if None not in schema.get("enum", [None]):
        schema["enum"] = [*schema["enum"], None]
    return schema


def _complete(responses: dict[str, Any]) -> None:
    """What GitHub answers to any request, although the description seldom says so."""
    schema = {"anyOf": [{"$ref": f"#/components/schemas/{name}"} for name in _ERRORS]}
    responses.setdefault("4XX", {"content": {"application/json": {"schema": schema}}})
    responses.setdefault("304", {})


def _add_components(description: dict[str, Any], components: dict[str, Any]) -> None:
    """Follows the references until nothing new turns up."""
    todo = list(_references(description["paths"]))
    while todo:
        _, _, kind, name = todo.pop().split("/")
        room = description["components"].setdefault(kind, {})
        if name not in room:
            room[name] = _without_prose(components[kind][name])
            todo += _references(room[name])


def _references(node: Any) -> list[str]:
    if isinstance(node, list):
        return [found for one in node for found in _references(one)]
    if not isinstance(node, dict):
        return []
    here = [node["$ref"]] if isinstance(node.get("$ref"), str) else []
    return here + [found for one in node.values() for found in _references(one)]


def _correct(schemas: dict[str, Any]) -> None:
    """Where GitHub is known to answer otherwise than it says."""
    for name in ("pull-request", "pull-request-simple"):
        properties = schemas[name]["properties"]
        # The repository of a fork that was deleted, and an account that was.
        head = properties["head"]["properties"]
        head["repo"] = {"anyOf": [head["repo"], _NULL]}
        head["user"] = {"anyOf": [head["user"], _NULL]}
        properties["user"] = {"anyOf": [properties["user"], _NULL]}
        properties["labels"]["items"]["properties"]["description"]["nullable"] = True
    conclusions = schemas["check-run"]["properties"]["conclusion"]["enum"]
    conclusions += ["stale", "startup_failure"]
    schemas["basic-error"]["required"] = ["message"]


def main() -> None:
    """Installs the pinned package into a directory of its own, and writes what is left of it."""
    with tempfile.TemporaryDirectory() as directory:
        for name in ("package.json", "package-lock.json"):
            shutil.copy(HERE / name, directory)
        subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit"], cwd=directory, check=True)
        package = Path(directory) / PACKAGE
        shutil.copy(package / "LICENSE", HERE / "LICENSE")
        trimmed = trim(json.loads((package / FULL).read_text()))
    TRIMMED.write_text(json.dumps(trimmed, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
