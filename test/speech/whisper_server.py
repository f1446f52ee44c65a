"""A server of OpenAI's speech-to-text API around faster-whisper, which works on one request at a time.

    python whisper_server.py MODEL_FOLDER MODEL_NAME PORT

Prints the port when it listens.
"""

import email
import io
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import ctranslate2
from faster_whisper import WhisperModel

folder, name, port = sys.argv[1:]
ctranslate2.set_random_seed(1)
model = WhisperModel(folder, device="cpu", compute_type="int8", cpu_threads=1)
one_at_a_time = threading.Lock()


def read_form(headers, body: bytes) -> dict[str, bytes]:
    head = f"content-type: {headers['content-type']}\r\n\r\n".encode()
    parts = email.message_from_bytes(head + body).get_payload()
    return {part.get_param("name", header="content-disposition"): part.get_payload(decode=True) for part in parts}


def transcribe(form: dict[str, bytes], task: str) -> dict:
    def text_of(field: str) -> str | None:
        return form[field].decode() if form.get(field) else None

    segments, info = model.transcribe(
        io.BytesIO(form["file"]),
        task=task,
        language=text_of("language"),
        initial_prompt=text_of("prompt"),
        word_timestamps=True,
    )
    found = list(segments)
    return {
        "task": task,
        "language": info.language,
        "duration": info.duration,
        "text": "".join(segment.text for segment in found).strip(),
        "segments": [
            {"id": segment.id, "start": segment.start, "end": segment.end, "text": segment.text,
             "avg_logprob": segment.avg_logprob, "no_speech_prob": segment.no_speech_prob}
            for segment in found
        ],
        "words": [vars(word) for segment in found for word in segment.words or []],
    }


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.answer({"object": "list", "data": [{"id": name, "object": "model"}]})

    def do_POST(self):
        form = read_form(self.headers, self.rfile.read(int(self.headers["content-length"])))
        task = "translate" if self.path.endswith("/translations") else "transcribe"
        with one_at_a_time:
            self.answer(transcribe(form, task))

    def answer(self, value: dict):
        body = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", int(port)), Handler)
print(server.server_port, flush=True)
server.serve_forever()
