"""API keys of the account, and the models of the service."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._core.request import delete, get, post
from .pages import AsyncPages

if TYPE_CHECKING:
    import builtins

    from typing_extensions import Unpack

    from .._core.settings import RequestOptions
    from ..types import Key, Model, ModelList, NewKey, PostKeysBody
    from .transport import AsyncTransport


class AsyncKeys:
    """API keys of the account."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    def list(self, *, limit: int | None = None, options: RequestOptions | None = None) -> AsyncPages[Key]:
        """Keys, newest first, without their secret parts."""
        return AsyncPages(self._transport, get("/v1/keys", limit=limit), options)

    async def create(self, *, options: RequestOptions | None = None, **key: Unpack[PostKeysBody]) -> NewKey:
        """A new key with at most the scopes of this one. Its `key` is shown only in this answer."""
        return await self._transport.json(post("/v1/keys", body=key), options)

    async def delete(self, key_id: str, *, options: RequestOptions | None = None) -> None:
        """Revokes a key at once."""
        await self._transport.json(delete("/v1/keys/{}", key_id), options)


class AsyncModels:
    """The plans, each with its engine."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def list(self, *, options: RequestOptions | None = None) -> builtins.list[Model]:
        """The plans, with the languages and features of their engines."""
        answer: ModelList = await self._transport.json(get("/v1/models"), options)
        return answer["data"]

    async def get(self, model_id: str, *, options: RequestOptions | None = None) -> Model:
        """One plan."""
        return await self._transport.json(get("/v1/models/{}", model_id), options)
