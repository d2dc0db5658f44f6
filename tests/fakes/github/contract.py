"""Whether requests and answers are such as GitHub's own description of its API says.

The description is the part of it that `tests/openapi/trim.py` has cut out. openapi-core does the
work; here it is spared looking the same things up again and again.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, cast

from jsonschema.exceptions import best_match
from jsonschema_path import SchemaPath
from openapi_core import V30RequestValidator, V30ResponseValidator
from openapi_core.datatypes import RequestParameters
from openapi_core.templating.datatypes import TemplateResult
from openapi_core.templating.paths.datatypes import PathOperationServer
from openapi_core.templating.paths.finders import APICallPathFinder
from openapi_core.validation.schemas.factories import SchemaValidatorsFactory
from openapi_core.validation.schemas.validators import SchemaValidator
from openapi_schema_validator import OAS30ReadValidator, OAS30WriteValidator
from werkzeug.datastructures import Headers, ImmutableMultiDict

from fakes.github.exchange import Answer, Request, Route

DESCRIPTION = Path(__file__).resolve().parents[2] / "openapi" / "github.json"
_JSON = "application/json"
#: Messages quote the whole value, and end in what is wrong with it.
_LONG = 200
_NUMBER = re.compile(rb"\d+")


@dataclass
class _Request:
    """A request in the form that openapi-core wants, with its route found already."""

    method: str
    path_pattern: str
    parameters: RequestParameters
    body: bytes | None
    host_url: str = ""
    path: str = ""
    content_type: str = _JSON


@dataclass(frozen=True)
class _Response:
    status_code: int
    data: bytes | None
    headers: Headers
    content_type: str


class _Operations(APICallPathFinder):
    """Finds an operation by its template, at once."""

    def find(self, method: str, name: str) -> PathOperationServer:
        path = self.spec / "paths" / name
        found = TemplateResult(name, {})
        return PathOperationServer(path, path / method, None, found, {})


class _Schemas(SchemaValidatorsFactory):
    """Makes one validator for each schema."""

    def create(self, spec: SchemaPath, schema: SchemaPath, **more: Any) -> SchemaValidator:  # type: ignore[override]
        return self._made(spec, schema, tuple(sorted(more.items())))

    @cache  # noqa: B019 - both live as long as the process
    def _made(
        self, spec: SchemaPath, schema: SchemaPath, more: tuple[tuple[str, Any], ...]
    ) -> SchemaValidator:
        return super().create(spec, schema, **dict(more))


class Contract:
    """GitHub's description, and what was found to be right by it already."""

    def __init__(self, description: dict[str, Any]) -> None:
        self._paths = description["paths"]
        self._components = description["components"]
        spec = SchemaPath.from_dict(description)
        self._requests = V30RequestValidator(
            spec,
            path_finder_cls=_Operations,
            schema_validators_factory=_Schemas(OAS30WriteValidator),
            forbid_unspecified_additional_properties=True,
        )
        self._responses = V30ResponseValidator(
            spec,
            path_finder_cls=_Operations,
            schema_validators_factory=_Schemas(OAS30ReadValidator),
        )
        self._right: set[bytes] = set()
        self._lock = threading.Lock()

    def wrong_requests(
        self, route: Route | None, request: Request, names: dict[str, str]
    ) -> list[str]:
        """What GitHub would not understand, a line each."""
        if route is None:
            return [f"{request.method} {request.route}: the fake has no such route"]
        if not route.described:
            return []
        if not self._knows(route):
            return [f"{request.method} {route.template}: not in GitHub's description"]
        asked = _asked(route, request, names)
        with self._lock:
            errors = [*self._unknown(route, request), *self._requests.iter_errors(asked)]
        return [f"{request.method} {request.path}: {text}" for text in _told(errors)]

    def wrong_answers(self, route: Route | None, request: Request, answer: Answer) -> list[str]:
        """Where the fake does not speak as GitHub does, a line each."""
        if route is None or not self._knows(route) or "raw" in answer.kind:
            return []
        key = f"{route.method} {route.template} {answer.status} {answer.kind}".encode()
        # Answers that differ in numbers only, as pages of a list do, are right or wrong together.
        digest = hashlib.sha256(key + b"\0" + _NUMBER.sub(b"0", answer.content)).digest()
        if digest in self._right:
            return []
        given = _Response(answer.status, answer.content, Headers(answer.headers), answer.kind)
        with self._lock:
            errors = list(self._responses.iter_errors(_asked(route, request, {}), given))
            if not errors:
                self._right.add(digest)
        where = f"{request.method} {request.path} -> {answer.status}"
        return [f"{where}: {text}" for text in _told(errors)]

    def _knows(self, route: Route) -> bool:
        return route.method.lower() in self._paths.get(route.template, {})

    def _unknown(self, route: Route, request: Request) -> Iterator[Exception]:
        """Parameters that GitHub ignores, which whoever sends them does not know."""
        known = set()
        for one in self._paths[route.template][route.method.lower()].get("parameters", []):
            name = one.get("$ref", "").rpartition("/")[2]
            known.add((self._components["parameters"][name] if name else one)["name"])
        for name in request.query:
            if name not in known:
                yield ValueError(f"there is no parameter {name}")


def _asked(route: Route, request: Request, names: dict[str, str]) -> _Request:
    parameters = RequestParameters(
        query=ImmutableMultiDict(request.query), header=Headers(), path=names
    )
    body = request.body.encode() or None
    return _Request(route.method.lower(), route.template, parameters, body)


def _told(errors: Iterable[Exception]) -> Iterator[str]:
    """What is wrong, and where: openapi-core hides it in causes."""
    for error in errors:
        cause: BaseException = error
        while cause.__cause__ is not None:
            cause = cause.__cause__
        inner = getattr(cause, "schema_errors", None)
        if inner is None:
            yield f"{error}: {cause}" if cause is not error else str(error)
            continue
        for one in inner:
            nearest = best_match([one]) or one
            place = "/".join(map(str, nearest.absolute_path)) or "the body"
            message = nearest.message
            yield f"{place}: {message if len(message) < _LONG else f'… {message[-_LONG:]}'}"


@cache
def contract() -> Contract:
    """The contract, read once a process."""
    return Contract(cast(dict[str, Any], json.loads(DESCRIPTION.read_text())))
