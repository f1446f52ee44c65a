import type { CallToolResult, ServerContext } from '@modelcontextprotocol/server';
import {
  type AudioInput,
  TimeoutError,
  type TranscribeParams,
  type TranscribeProgress,
  type Verbatim,
} from '#sdk/client/index.ts';
import { json, summaryOf } from './answers.ts';
import { readTranscript } from './read-tool.ts';
import { FileRefused, findFileInside } from './root-folder.ts';

/** What the tools work with. `root`: files are read from this folder only. */
export type ToolDeps = { client: Verbatim; root: string };

export type TranscribeArguments = Pick<
  TranscribeParams,
  'plan' | 'language' | 'diarize' | 'keywords' | 'timestamps'
> & {
  file?: string;
  url?: string;
  wait_seconds?: number;
};

// Clients commonly give up after a minute.
const WAIT_SECONDS = 45;

export const TRANSCRIBE_SCHEMA = {
  file: { type: 'string', description: 'Path of a file, absolute or relative to the folder of this server.' },
  url: { type: 'string', description: 'In place of file: a public https URL, which the service fetches.' },
  language: { type: 'string', description: 'Such as en; detected without it.' },
  plan: { type: 'string', enum: ['lite', 'pro'], description: "The account's plan without it." },
  diarize: { type: 'boolean', description: 'Label who says what.' },
  keywords: { type: 'array', items: { type: 'string' }, description: 'Names and terms that are likely to be said.' },
  timestamps: { type: 'string', enum: ['segment', 'word'] },
  wait_seconds: {
    type: 'integer',
    minimum: 0,
    maximum: 600,
    description: `How long to wait for the transcript; ${WAIT_SECONDS} without it. The job goes on afterwards.`,
  },
};

/** Creates a job, and waits for it for some time. */
export async function transcribe(
  { client, root }: ToolDeps,
  { file, url, wait_seconds = WAIT_SECONDS, ...params }: TranscribeArguments,
  context: ServerContext,
): Promise<CallToolResult> {
  const { signal } = context.mcpReq;
  const audio = await openAudio(root, file, url);
  const report = progressReporter(context);
  const onUpload = (part: number) => report({ phase: 'upload', part });
  const { id } = await client.jobs.create(audio, params, { signal, onUpload });
  try {
    const job = await client.jobs.wait(id, { signal, waitMs: wait_seconds * 1_000, onProgress: report });
    if (job.status !== 'completed') return { isError: true, ...json(summaryOf(job)) };
    const { content } = await readTranscript(client, { job_id: id }, signal);
    return { content: [...json(summaryOf(job)).content, ...content] };
  } catch (error) {
    if (!(error instanceof TimeoutError && error.phase === 'wait')) throw error;
    const job = summaryOf(await client.jobs.get(id, { signal }));
    return json({ ...job, next: 'It goes on: call get_job, then read_transcript.' });
  }
}

async function openAudio(root: string, file: string | undefined, url: string | undefined): Promise<AudioInput> {
  if ((file === undefined) === (url === undefined)) throw new FileRefused('Give either file or url.');
  return url !== undefined ? { url } : { path: await findFileInside(root, file!) };
}

/** Tells the client how far the job is, if the client wants to know: 0 to 100, never less than before. */
function progressReporter({ mcpReq }: ServerContext): (progress: TranscribeProgress) => void {
  const progressToken = mcpReq._meta?.progressToken;
  let last = -1;
  return ({ phase, part }) => {
    // The upload is the first fifth.
    const progress = Math.round(phase === 'upload' ? part * 20 : 20 + (phase === 'work' ? part * 80 : 0));
    if (progressToken === undefined || progress <= last) return;
    last = progress;
    const params = { progressToken, progress, total: 100, message: phase };
    // A client that is gone needs no progress.
    void mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined);
  };
}
