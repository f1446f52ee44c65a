"""Sends audio by LiveKit's OpenAI plug-in, and prints the texts: livekit_client.py URL KEY FILE client|server."""

import asyncio
import json
import sys
from pathlib import Path

from livekit import rtc
from livekit.agents import stt
from livekit.agents.utils import http_context
from livekit.plugins import openai

RATE = 24_000
FRAME = RATE // 20


async def main(url: str, key: str, file: str, turns: str) -> None:
    """Of a model that ends its turns itself the plug-in leaves them to the server; else its owner's detector commits."""
    audio = Path(file).read_bytes()
    given = {"model": "gpt-4o-mini-transcribe"} if turns == "server" else {"model": "gpt-realtime-whisper", "vad": None}
    texts: list[str] = []
    async with http_context.open():
        speech = openai.STT(base_url=f"{url}/v1", api_key=key, use_realtime=True, language="en", **given)
        stream = speech.stream()

        async def read() -> None:
            async for event in stream:
                if event.type == stt.SpeechEventType.FINAL_TRANSCRIPT:
                    texts.append(event.alternatives[0].text)
                    if len(texts) == 2:
                        return

        reader = asyncio.create_task(read())
        half = len(audio) // 2
        for part in (audio[:half], audio[half:]):
            for at in range(0, len(part), 2 * FRAME):
                data = part[at : at + 2 * FRAME]
                stream.push_frame(rtc.AudioFrame(data, RATE, 1, len(data) // 2))
                await asyncio.sleep(0.005)
            if turns == "client":
                while stream._ws is None:
                    await asyncio.sleep(0.05)
                await asyncio.sleep(0.5)
                await stream._ws.send_json({"type": "input_audio_buffer.commit"})
        await reader
        await stream.aclose()
        await speech.aclose()
    print(json.dumps(texts))


asyncio.run(asyncio.wait_for(main(*sys.argv[1:]), 60))
