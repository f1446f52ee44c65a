import type { JobUpdate } from '#sdk/client/index.ts';
import type { Session } from '../../command.ts';
import { CommandError } from '../../exit.ts';
import { describeFailedJob } from '../../failure.ts';
import { clockTime, state } from '../../terminal/format.ts';
import { showWarnings } from './job-view.ts';

/**
 * Shows the segments of a job as they are transcribed, until it ends. With --json each update as NDJSON.
 * @throws CommandError  if the job ends without a transcript
 */
export async function followJob(session: Session, id: string): Promise<void> {
  const { out, io } = session;
  const client = await session.client();
  let last: JobUpdate | null = null;
  for await (const update of client.jobs.follow(id)) {
    if (out.mode === 'json') out.jsonLine({ event: update.type, ...update.data });
    else if (out.mode === 'text') show(session, update);
    if (update.type === 'status') last = update;
    await out.drained(io.signal);
  }
  if (out.mode === 'ids') out.line(id);
  const end = last?.type === 'status' ? last.data : null;
  if (end === null) return;
  if (end.status === 'completed') return showWarnings(out, await client.jobs.get(id), id);
  const { message, exitCode } = describeFailedJob(end);
  throw new CommandError(message, exitCode);
}

function show({ out }: Session, update: JobUpdate): void {
  if (update.type === 'segment') {
    const { start, speaker, text } = update.data;
    out.line({ text: `${clockTime(start)}  `, style: 'dim' }, `${speaker ? `${speaker}: ` : ''}${text}`);
  } else if (update.type === 'progress') {
    out.note({ text: `${Math.round(update.data.progress * 100)} %`, style: 'dim' });
  } else {
    const { status, queue_position: place } = update.data;
    out.note(state(status), place === undefined ? '' : `, place ${place}`);
  }
}
