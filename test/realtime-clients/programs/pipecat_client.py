"""Sends audio by Pipecat's OpenAIRealtimeSTTService, and prints the texts: pipecat_client.py URL KEY FILE client|server."""

import asyncio
import json
import sys
from pathlib import Path

from pipecat.frames.frames import (
    EndFrame,
    ErrorFrame,
    Frame,
    InputAudioRawFrame,
    StartFrame,
    TranscriptionFrame,
    VADUserStartedSpeakingFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.runner import PipelineRunner
from pipecat.pipeline.task import PipelineParams, PipelineTask
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.services.openai.stt import OpenAIRealtimeSTTService

RATE = 24_000
FRAME = RATE // 20


class Collector(FrameProcessor):
    """Keeps the texts."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.done = asyncio.Event()
        self.started = asyncio.Event()

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if isinstance(frame, StartFrame):
            self.started.set()
        if isinstance(frame, TranscriptionFrame):
            self.texts.append(frame.text)
        if isinstance(frame, ErrorFrame):
            self.texts.append(str(frame.error))
        if len(self.texts) == 2:
            self.done.set()
        await self.push_frame(frame, direction)


async def main(url: str, key: str, file: str, turns: str) -> None:
    """With turns of the client the pipeline's detector tells when somebody spoke."""
    audio = Path(file).read_bytes()
    model = "gpt-transcribe" if turns == "server" else "gpt-realtime-whisper"
    service = OpenAIRealtimeSTTService(
        api_key=key,
        base_url=url.replace("http", "ws", 1) + "/v1/realtime",
        turn_detection={"type": "server_vad"} if turns == "server" else False,
        settings=OpenAIRealtimeSTTService.Settings(model=model),
    )
    collector = Collector()
    task = PipelineTask(Pipeline([service, collector]), params=PipelineParams(audio_in_sample_rate=RATE))
    running = asyncio.create_task(PipelineRunner(handle_sigint=False).run(task))
    await collector.started.wait()
    half = len(audio) // 2
    for part in (audio[:half], audio[half:]):
        if turns == "client":
            await task.queue_frame(VADUserStartedSpeakingFrame())
        for at in range(0, len(part), 2 * FRAME):
            await task.queue_frame(InputAudioRawFrame(part[at : at + 2 * FRAME], RATE, 1))
            await asyncio.sleep(0.005)
        if turns == "client":
            await task.queue_frame(VADUserStoppedSpeakingFrame())
    await collector.done.wait()
    await task.queue_frame(EndFrame())
    await running
    print(json.dumps(collector.texts))


asyncio.run(asyncio.wait_for(main(*sys.argv[1:]), 60))
