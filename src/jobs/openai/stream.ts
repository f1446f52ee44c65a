import { ApiError } from '../../http/api-error.ts';
import { problemOf, writeProblem } from '../../http/errors.ts';
import type { Answer } from '../../http/route.ts';
import { component, Type } from '../../http/schema.ts';
import { writeJson } from '../../platform/json.ts';
import type { JobsRuntime } from '../api/jobs-api.ts';
import { type EarlyAnswer, locationOf, type UploadCall } from '../api/transcribe.ts';
import type { Job } from '../job.ts';
import type { JobKey } from '../store.ts';
import { answerEvents, subscribeForStream } from '../stream/event-stream.ts';
import { streamText, type TextEvent } from '../stream/text-stream.ts';
import { failureOf } from '../view.ts';
import { diarizedSegmentSchema, diarizedSegments, usageOf, usageSchema } from './answer.ts';
import type { OpenAiRequest } from './request.ts';

/** The data of each server-sent event, by its type. */
export const openAiStreamSchema = Type.Union(
  [
    Type.Object({ type: Type.Literal('transcript.text.delta'), delta: Type.String() }),
    diarizedSegmentSchema,
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
  api: JobsRuntime,
  key: JobKey & { accountId: string },
  { signal, actor, memory }: UploadCall,
  format: OpenAiRequest['format'],
): EarlyAnswer<Answer & { status: 200 }> {
  const subscription = subscribeForStream(api.notifications, key);
  let isAnswered = false;
  return {
    answer(job) {
      isAnswered = true;
      const events = streamText({ ...api, memory }, key, subscription, signal);
      const frames = writeEvents(events, { jobId: key.id, requestId: actor.requestId, format });
      const answer = answerEvents(frames, subscription, signal);
      const headers = { ...answer.headers, location: locationOf(job), 'x-job-id': job.id };
      return { ...answer, headers };
    },
    [Symbol.dispose]() {
      if (!isAnswered) subscription[Symbol.dispose]();
    },
  };
}

type StreamContext = { jobId: string; requestId: string; format: OpenAiRequest['format'] };

async function* writeEvents(events: AsyncIterable<TextEvent>, context: StreamContext): AsyncGenerator<string> {
  const { jobId, requestId, format } = context;
  // The client gets the head of the answer at once.
  yield `: ${jobId}\n\n`;
  for await (const event of events) {
    if (event.kind === 'idle') yield ': keep-alive\n\n';
    else if (event.kind === 'delta') yield frame({ type: 'transcript.text.delta', delta: event.text });
    else if (event.kind === 'ended' && event.job.state === 'completed') yield* lastEvents(event.job, format);
    else yield `data: ${writeProblem(problemOf(errorOf(event, jobId)), requestId)}\n\n`;
  }
}

function* lastEvents(job: Job, format: OpenAiRequest['format']): Generator<string> {
  if (format === 'diarized_json') for (const segment of diarizedSegments(job)) yield frame(segment);
  yield frame({ type: 'transcript.text.done', text: job.transcript, usage: usageOf(job) });
}

function frame(data: object): string {
  return `data: ${writeJson(data)}\n\n`;
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
