"""Plays a WAV file (16 bits, mono) at the pace of speech to the streaming transcriber of moonshine-voice.

Prints a line of JSON for each text that is final: {"ms": since the audio began, "text": its words}.
    python live-peer.py <file>
"""

import array
import json
import sys
import time
import wave

from moonshine_voice import LineCompleted, ModelArch, Transcriber, get_model_path

FRAME_SECONDS = 0.1

with wave.open(sys.argv[1]) as file:
    rate = file.getframerate()
    samples = [sample / 32768 for sample in array.array("h", file.readframes(file.getnframes()))]

transcriber = Transcriber(str(get_model_path("tiny-en")), ModelArch.TINY)
started = time.monotonic()


def show(event: object) -> None:
    if isinstance(event, LineCompleted):
        ms = round((time.monotonic() - started) * 1000)
        print(json.dumps({"ms": ms, "text": event.line.text}), flush=True)


# The first audio loads what is left to load.
with transcriber.create_stream() as first:
    first.start()
    first.add_audio(samples[:rate], rate)
    first.stop()

transcriber.add_listener(show)
transcriber.start()
started = time.monotonic()
frame = int(FRAME_SECONDS * rate)
for at in range(0, len(samples), frame):
    # A frame is there when it was spoken.
    wait = started + (at + frame) / rate - time.monotonic()
    if wait > 0:
        time.sleep(wait)
    transcriber.add_audio(samples[at : at + frame], rate)
transcriber.stop()
transcriber.close()
