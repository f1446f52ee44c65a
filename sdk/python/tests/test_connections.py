from __future__ import annotations

import asyncio
from contextlib import aclosing

from verbatim_sdk import AsyncVerbatim

MANY = 150


def test_more_jobs_can_be_followed_than_a_pool_usually_has_connections() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        if b"/events" in head:
            frame = b'event: progress\ndata: {"progress": 0.5}\n\n'
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + frame)
            await reader.read()
        else:
            writer.write(b'HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n{"amount":1}')
        writer.close()

    async def follow_many() -> float | None:
        server = await asyncio.start_server(serve, "127.0.0.1", 0, backlog=MANY)
        address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        async with AsyncVerbatim(api_key="k", base_url=address, timeout=5, max_retries=0) as client:
            followed: asyncio.Queue[None] = asyncio.Queue()
            done = asyncio.Event()

            async def follow(job_id: str) -> None:
                async with aclosing(client.jobs.follow(job_id)) as updates:
                    await anext(updates)
                    followed.put_nowait(None)
                    await done.wait()

            tasks = [asyncio.create_task(follow(f"job_{number}")) for number in range(MANY)]
            for _ in range(MANY):
                await asyncio.wait_for(followed.get(), 20)
            balance = await client.balance()
            done.set()
            await asyncio.gather(*tasks)
        server.close()
        return balance["amount"]

    assert asyncio.run(follow_many()) == 1
