"""Sends audio by the package openai, and prints the texts: openai_client.py URL KEY FILE client|server."""

import asyncio
import base64
import json
import sys
from pathlib import Path

from openai import AsyncOpenAI

COMPLETED = "conversation.item.input_audio_transcription.completed"
RATE = 16_000


async def main(url: str, key: str, file: str, turns: str) -> None:
    """Two utterances of the same length, of which the second half is silence."""
    audio = Path(file).read_bytes()
    half = len(audio) // 2
    client = AsyncOpenAI(api_key=key, base_url=f"{url}/v1")
    texts: list[str] = []
    async with client.realtime.connect(extra_query={"intent": "transcription"}) as connection:
        detection = {"type": "server_vad", "silence_duration_ms": 350} if turns == "server" else None
        audio_input = {
            "format": {"type": "audio/pcm", "rate": 24_000},
            "transcription": {"model": "gpt-transcribe", "language": "en"},
            "turn_detection": detection,
        }
        await connection.session.update(session={"type": "transcription", "audio": {"input": audio_input}})
        for part in (audio[:half], audio[half:]):
            for at in range(0, len(part), 4_800):
                piece = base64.b64encode(part[at : at + 4_800]).decode()
                await connection.input_audio_buffer.append(audio=piece)
            if turns == "client":
                await connection.input_audio_buffer.commit()
        async for event in connection:
            if event.type == "error":
                raise RuntimeError(event.error.message)
            if event.type == COMPLETED:
                texts.append(event.transcript)
            if len(texts) == 2:
                break
    print(json.dumps(texts))


asyncio.run(main(*sys.argv[1:]))
