import { readSpeechSample } from '../../../src/engines/calibration/speech-samples.ts';
import { wavOf } from '../../fixtures/audio/wav.ts';
import type { Account, Call, Calls } from '../calls.ts';

const SAMPLES_PER_SECOND = 16_000;
const PAUSE_MS = 300;
const ENDED = ['completed', 'failed', 'canceled'];

const { pcm } = await readSpeechSample(3);

/** An upload of real speech of 1 to 3 seconds; its metadata has the tag. */
export function upload(calls: Calls, promise: string, { headers }: Account, seconds: number, tag: string) {
  return calls.send(promise, {
    method: 'POST',
    path: `/v1/transcribe?async=true&metadata=${encodeURIComponent(JSON.stringify({ tag }))}`,
    headers: { ...headers, 'content-type': 'audio/wav' },
    body: wavOf(pcm.subarray(0, seconds * SAMPLES_PER_SECOND)),
  });
}

/** Reads a job until it has ended. @param onSeen  called with each answer that shows it */
export async function follow(
  calls: Calls,
  promise: string,
  { headers }: Account,
  id: string,
  onSeen: (answer: Call) => void = () => undefined,
): Promise<Call> {
  for (;;) {
    const answer = await calls.send(promise, { path: `/v1/jobs/${id}?wait=2`, headers });
    if (answer.status === 200 || answer.status === 404) onSeen(answer);
    if (answer.status === 200 && ENDED.includes(answer.json.status)) return answer;
    await calls.pause(PAUSE_MS);
  }
}
