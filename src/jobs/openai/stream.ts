import type { Database } from '../../db/database.ts';
import { ApiError } from '../../http/api-error.ts';
import { problemOf, writeProblem } from '../../http/errors.ts';
import type { Answer } from '../../http/route.ts';
import { component, Type } from '../../http/schema.ts';
import type { Clock } from '../../platform/clock.ts';
import { writeJson } from '../../platform/json.ts';
import type { EarlyAnswer, UploadCall } from '../api/transcribe.ts';
import { failureOf, locationOf } from '../api/transcribe.ts';
import type { JobKey } from '../store.ts';
import { answerEvents, subscribeForStream } from '../stream/event-stream.ts';
import type { JobNotifications } from '../stream/job-notifications.ts';
import type { TextEvent } from '../stream/text-stream.ts';
import { streamText } from '../stream/text-stream.ts';
import { usageOf, usageSchema } from './answer.ts';

export type TextStreamDeps = { db: Database; clock: Clock; notifications: JobNotifications };

/** The data of each server-sent event, by its type. */
export const openAiStreamSchema = Type.Union(
  [
    Type.Object({ type: Type.Literal('transcript.text.delta'), delta: Type.String() }),
    Type.Object({ type: Type.Literal('transcript.text.done'), text: Type.String(), usage: usageSchema }),
  ],
  component(
    'OpenAiTranscriptionEvent',
    { type: 'transcript.text.delta', delta: 'Ask not' },
    'The data of each server-sent event. The deltas add up to the text. An error after the first byte is an event with the body of an error.',
  ),
);

/**
 * The answer to a request with stream=true: the job's text as server-sent events of OpenAI's API.
 * @throws ApiError  429 when the account has as many streams as it may have
 */
export function openTextStream(
  deps: TextStreamDeps,
  key: JobKey & { accountId: string },
  { signal, actor }: UploadCall,
): EarlyAnswer<Answer & { status: 200 }> {
  const subscription = subscribeForStream(deps.notifications, key);
  let isAnswered = false;
  return {
    answer(job) {
      isAnswered = true;
      const events = streamText(deps, key, subscription, signal);
      const answer = answerEvents(writeEvents(events, key.id, actor.requestId), subscription, signal);
      const headers = { ...answer.headers, location: locationOf(job), 'x-job-id': job.id };
      return { ...answer, headers };
    },
    [Symbol.dispose]() {
      if (!isAnswered) subscription[Symbol.dispose]();
    },
  };
}

async function* writeEvents(
  events: AsyncIterable<TextEvent>,
  jobId: string,
  requestId: string,
): AsyncGenerator<string> {
  // The client gets the head of the answer at once.
  yield `: ${jobId}\n\n`;
  for await (const event of events) yield writeEvent(event, jobId, requestId);
}

function writeEvent(event: TextEvent, jobId: string, requestId: string): string {
  if (event.kind === 'idle') return ': keep-alive\n\n';
  const data = eventData(event) ?? writeProblem(problemOf(errorOf(event, jobId)), requestId);
  return `data: ${data}\n\n`;
}

/** Null for an event that is an error. */
function eventData(event: TextEvent): string | null {
  if (event.kind === 'delta') return writeJson({ type: 'transcript.text.delta', delta: event.text });
  if (event.kind !== 'ended' || event.job.state !== 'completed') return null;
  return writeJson({ type: 'transcript.text.done', text: event.job.transcript, usage: usageOf(event.job) });
}

function errorOf(event: TextEvent, jobId: string): ApiError {
  const extra = { job_id: jobId };
  const advice = `Read the job at /v1/jobs/${jobId}.`;
  switch (event.kind) {
    case 'ended':
      return failureOf(event.job);
    case 'deleted':
      return new ApiError('not_found', `The job ${jobId} was erased.`, { extra });
    case 'diverged':
      return new ApiError('conflict', `The text was made again, and differs from what was sent. ${advice}`, { extra });
    default:
      return new ApiError('unavailable', `The stream ends, and the job goes on. ${advice}`, { extra });
  }
}
