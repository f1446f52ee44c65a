import { createHash } from 'node:crypto';
import { costUnits } from '../../../src/rules/jobs/price.ts';
import { durationMs } from '../../../src/rules/live/encoding.ts';
import { RATE } from '../checks/ledger.ts';
import type { Run } from '../checks/run.ts';
import type { Change } from '../schema.ts';
import { SESSION_OPTIONS } from './session-options.ts';
import type { Spoken } from './speaker.ts';
import { type StoredChunk, undisturbed } from './undisturbed.ts';

type Report = (text: string) => void;

/**
 * What was stored of each live session is what its client sent, its text is that of a session without any fault, and it
 * costs what was received.
 */
export async function checkLive({ changes, spoken, liveViolations }: Run, report: Report): Promise<void> {
  for (const text of liveViolations) report(`live: ${text}`);
  for (const session of spoken) {
    const { id } = session;
    const mine = (what: Change['what']) => changes.filter((each) => each.what === what && each.after?.job_id === id);
    const chunks = mine('chunk').map(({ after }) => after as StoredChunk);
    chunks.sort((left, right) => left.start_byte - right.start_byte);
    checkAudio(session, chunks, report);
    const end = changes.find(
      ({ what, before, after }) =>
        what === 'job' && after?.id === id && before && !before.completed_at && after.completed_at,
    );
    if (end) await checkEnd(session, { end: end.after, chunks, pieces: mine('piece') }, report);
  }
}

/** Chunks follow each other without holes, with the bytes that the client sent, or a gap where it has lost them. */
function checkAudio({ id, audio, lost }: Spoken, chunks: StoredChunk[], report: Report): void {
  let at = 0;
  for (const { start_byte: start, length, size, hash } of chunks) {
    if (start !== at) report(`live: ${id} has a chunk at ${start} after one that ends at ${at}`);
    at = start + length;
    const isGap = size === 0;
    const sent = audio.subarray(start, at);
    if (isGap && !isWithin(lost, start, at))
      report(`live: ${id} has a gap from ${start} to ${at} that nobody asked for`);
    if (!isGap && (size !== length || createHash('md5').update(sent).digest('hex') !== hash))
      report(`live: ${id} has other bytes than were sent from ${start} to ${at}`);
  }
}

function isWithin(lost: Spoken['lost'], from: number, to: number): boolean {
  return lost.some((range) => range.from <= from && to <= range.to);
}

async function checkEnd(
  { id, audio }: Spoken,
  // biome-ignore lint/suspicious/noExplicitAny: a row of jobs as JSON
  { end, chunks, pieces }: { end: any; chunks: StoredChunk[]; pieces: Change[] },
  report: Report,
): Promise<void> {
  const { state, error_type: errorType, duration_ms: ms, cost_units: cost, warnings, transcript } = end;
  const bytes = (ofGaps: boolean) =>
    chunks.reduce((sum, { length, size }) => sum + (ofGaps === (size === 0) ? length : 0), 0);
  const receivedMs = durationMs(SESSION_OPTIONS, bytes(false));
  const charged = state === 'completed' || errorType === 'insufficient_balance' ? costUnits(receivedMs, RATE) : 0;
  if (state !== 'canceled' && cost !== charged) report(`live: ${id} costs ${cost}, and ${receivedMs} ms were received`);
  if (state !== 'completed') return;
  const storedMs = durationMs(SESSION_OPTIONS, bytes(false) + bytes(true));
  if (ms !== storedMs) report(`live: ${id} lasts ${ms} ms, and ${storedMs} ms are stored`);
  if (JSON.stringify(warnings ?? '').includes('segment_failed')) return;
  const found = pieces
    .map(({ after }) => JSON.parse(after.message))
    .map(({ number, startSeconds, endSeconds, text }) => ({ number, startSeconds, endSeconds, text: text as string }))
    .sort((left, right) => left.number - right.number);
  const whole = await undisturbed(chunks, audio);
  const expected = whole.map((segment, i) =>
    isOfPhrases(found[i]?.text) ? { ...segment, text: plain(found[i]!.text) } : segment,
  );
  const got = JSON.stringify(found.map((segment) => ({ ...segment, text: plain(segment.text) })));
  const wanted = JSON.stringify(expected);
  if (wanted !== got) report(`live: ${id} has the segments ${got} and not ${wanted}`);
  const text = expected.map((segment) => segment.text).join(' ');
  if (plain(transcript) !== text) report(`live: ${id} has the text ${transcript} and not ${text}`);
}

/**
 * An engine without times gets a segment of more than 9 s phrase by phrase. The simulated one makes its words of the
 * samples of a call: those at the cuts, and after them, are others.
 */
function isOfPhrases(text = ''): boolean {
  return (text.match(/call \d+ of /g) ?? []).length > 1;
}

/** Without the number of the call of the engine that ended the session for its client. */
function plain(text: string): string {
  return text.replace(/call \d+ of /g, '').replace(/\s+/g, ' ');
}
