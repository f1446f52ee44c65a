"""A request of the API as data: built without I/O, sent by the transports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from urllib.parse import quote, urlencode

from .._text import text_of, write_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from .multipart import Upload

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Request(Generic[Answer]):
    """
    One call of the API; `Answer` is the type of the JSON in its answer.

    - `path` is the path below the address of the service, quoted
    - `query` may hold strings, numbers, booleans, times, lists (joined by commas) and mappings (`name[key]=value`);
      None is left out
    - `body` is sent as JSON, `upload` as a multipart form
    """

    method: str
    path: str
    query: Mapping[str, Any] | None = None
    body: Mapping[str, Any] | None = None
    upload: Upload | None = None
    accept: str = "application/json"
    headers: Mapping[str, str] | None = None

    def target(self) -> str:
        """Path and query. An underscore behind a name that Python reserves is dropped: `from_`."""
        pairs = [pair for name, value in (self.query or {}).items() for pair in _pairs(name.rstrip("_"), value)]
        return f"{self.path}?{urlencode(pairs)}" if pairs else self.path

    def json_bytes(self) -> bytes | None:
        """The JSON body; None for a request without one."""
        return None if self.body is None else write_json(self.body).encode()


def get(template: str, *ids: str, **query: Any) -> Request[Answer]:
    """A GET of the path with its `{}` filled."""
    return Request("GET", path(template, *ids), query=query)


def post(template: str, *ids: str, body: Mapping[str, Any] | None = None) -> Request[Answer]:
    """A POST, of JSON where there is a body."""
    return Request("POST", path(template, *ids), body=body)


def patch(template: str, *ids: str, body: Mapping[str, Any]) -> Request[Answer]:
    """A PATCH."""
    return Request("PATCH", path(template, *ids), body=body)


def delete(template: str, *ids: str) -> Request[None]:
    """A DELETE."""
    return Request("DELETE", path(template, *ids))


def path(template: str, *values: str) -> str:
    """The path with each `{}` filled: `path("/v1/jobs/{}", job_id)`. A slash in a value stays part of the value."""
    for value in values:
        if not value or value in (".", ".."):
            raise ValueError("An id is empty, or is no id.")
    return template.format(*(quote(value, safe="") for value in values))


def _pairs(name: str, value: object) -> Iterator[tuple[str, str]]:
    if value is None:
        return
    if isinstance(value, dict):
        yield from ((f"{name}[{key}]", text_of(each)) for key, each in value.items())
    elif isinstance(value, (list, tuple)):
        yield name, ",".join(text_of(each) for each in value)
    else:
        yield name, text_of(value)
