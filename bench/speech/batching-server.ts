import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseArgs } from 'node:util';

// A speech server that batches, as one with a GPU does: what has arrived when a batch ends is the next batch. Runs in a
// process of its own, whose parent is told the port.
//   --pieces 64  in a batch at most   --base-ms 350  of each batch   --speed 842  seconds of audio in a second beyond
// it

const { values } = parseArgs({
  options: {
    pieces: { type: 'string', default: '64' },
    'base-ms': { type: 'string', default: '350' },
    speed: { type: 'string', default: '842' },
  },
});
const GATHER_MS = 10;
const BYTES_PER_SECOND = 32_000;
const WORDS_PER_SECOND = 2.5;

type Piece = { seconds: number; answer: () => void };

const waiting: Piece[] = [];
let isBusy = false;

const server = createServer(async (request, response) => {
  const seconds = (await countBytes(request)) / BYTES_PER_SECOND;
  const answer = () => {
    response.setHeader('content-type', 'application/json');
    response.end(transcriptOf(seconds));
  };
  waiting.push({ seconds, answer });
  if (!isBusy) {
    isBusy = true;
    setTimeout(runBatch, GATHER_MS);
  }
});

function runBatch(): void {
  const batch = waiting.splice(0, Number(values.pieces));
  isBusy = batch.length > 0;
  if (!isBusy) return;
  const seconds = batch.reduce((sum, piece) => sum + piece.seconds, 0);
  setTimeout(
    () => {
      for (const { answer } of batch) answer();
      // The answers bring the next requests.
      setTimeout(runBatch, GATHER_MS);
    },
    Number(values['base-ms']) + (seconds / Number(values.speed)) * 1000,
  );
}

async function countBytes(request: IncomingMessage): Promise<number> {
  let bytes = 0;
  for await (const chunk of request) bytes += (chunk as Buffer).length;
  return bytes;
}

function transcriptOf(seconds: number): string {
  const words = Array.from({ length: Math.floor(seconds * WORDS_PER_SECOND) }, (_, at) => ({
    word: wordOf((at * 7919) % 10_007),
    start: at / WORDS_PER_SECOND,
    end: (at + 1) / WORDS_PER_SECOND,
  }));
  const text = words.map(({ word }) => word).join(' ');
  const segments = [{ id: 0, start: 0, end: seconds, text }];
  return JSON.stringify({ task: 'transcribe', language: 'en', duration: seconds, text, segments, words });
}

/** Words that do not repeat, and as long as spoken ones: other text is tried again. */
function wordOf(number: number): string {
  return [...String(number)].map((digit) => 'bdfgklmnrs'[Number(digit)]).join('a');
}

process.on('disconnect', () => process.exit());
server.listen(0, '127.0.0.1', () => process.send!({ port: (server.address() as AddressInfo).port }));
