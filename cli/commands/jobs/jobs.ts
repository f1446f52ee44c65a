import { writeFile } from 'node:fs/promises';
import { type Command, Option } from 'commander';
import type { Job, JobInList } from '#sdk/wire.ts';
import { action, type Io, type Session } from '../../command.ts';
import { changeEach } from '../../each-id.ts';
import { parseExactly } from '../../exact-json.ts';
import { addCsvOption, addListOptions, type CsvListOptions, pageOf, showCsvList } from '../../list.ts';
import { keyValue, time } from '../../options.ts';
import { addWebOption } from '../../terminal/browser.ts';
import { clockTime, credits, state } from '../../terminal/format.ts';
import {
  addCaptionOptions,
  type CaptionFlags,
  captionParams,
  FORMATS,
  type Format,
  readTranscript,
  requireTarget,
} from '../transcription/captions.ts';
import { jsonText } from '../transcription/request-options.ts';
import { defineStoredAudio } from './audio.ts';
import { followJob } from './follow.ts';
import { describeJob } from './job-view.ts';
import { defineSharing } from './sharing.ts';
import { defineSpeakers } from './speakers.ts';

type Filter = CsvListOptions & {
  status?: JobInList['status'];
  plan?: JobInList['plan'];
  after?: string;
  before?: string;
  query?: string;
  tag?: string;
  metadata?: Record<string, string>;
};
type TranscriptOptions = CaptionFlags & { format: Format; original?: boolean; out?: string };

/** `verbatim jobs` */
export function define(command: Command, io: Io): void {
  const list = command
    .command('list')
    .description('jobs, newest first')
    .addOption(new Option('--status <status>').choices(['queued', 'processing', 'completed', 'failed', 'canceled']))
    .addOption(new Option('--plan <plan>').choices(['lite', 'pro']))
    .option('--after <time>', 'created after this time: 2026-11-21, 1h, 7d …', time)
    .option('--before <time>', 'created before this time', time)
    .option('--query <text>', 'with this text in the title or the file name, or this id')
    .option('--tag <tag>', 'with this tag')
    .option('--metadata <key=value>', 'with this value in the metadata; up to 3 times', keyValue);
  addWebOption(addCsvOption(addListOptions(list)), () => 'jobs').action(action<[], Filter>(io, listJobs));

  addWebOption(command.command('get'), (id: string) => `jobs/${id}`)
    .description('a job with its text')
    .argument('<job>')
    .action(action<[string]>(io, getJob));
  addWebOption(command.command('follow'), (id: string) => `jobs/${id}`)
    .description('the segments of a job as they are transcribed, until it ends')
    .argument('<job>')
    .action(action<[string]>(io, async (session, _options, id) => followJob(session, id)));
  command
    .command('metadata')
    .description('replace the metadata of a job; null removes it')
    .argument('<job>')
    .argument('<json>', '', jsonText)
    .action(action<[string, string]>(io, changeMetadata));
  command
    .command('rename')
    .description('give a job a title; without one, take it away')
    .argument('<job>')
    .argument('[title]')
    .action(action<[string, string?]>(io, renameJob));
  command
    .command('tag')
    .description('replace the tags of a job; without any, take all away')
    .argument('<job>')
    .argument('[tags...]')
    .action(action<[string, string[]]>(io, tagJob));
  command
    .command('cancel')
    .description('end jobs that are queued or processing')
    .argument('<jobs...>')
    .action(action<[string[]]>(io, cancelJobs));
  command
    .command('delete')
    .description('erase jobs with their transcripts, metadata and audio')
    .argument('<jobs...>')
    .action(action<[string[]]>(io, deleteJobs));
  const transcript = addWebOption(command.command('transcript'), (id: string) => `jobs/${id}`)
    .description('the transcript of a completed job')
    .argument('<job>')
    .addOption(new Option('-o, --format <format>', 'the format').choices(FORMATS).default('txt'))
    .option('--original', 'without the edits')
    .option('--out <file>', 'write it to this file');
  addCaptionOptions(transcript).action(action<[string], TranscriptOptions>(io, getTranscript));
  defineSpeakers(command, io);
  defineStoredAudio(command, io);
  defineSharing(command, io);
  command
    .command('retry')
    .description('a new job on the stored audio of a job')
    .argument('<job>')
    .addOption(new Option('--plan <plan>', 'another plan').choices(['lite', 'pro']))
    .action(action<[string], { plan?: 'lite' | 'pro' }>(io, retryJob));
}

async function listJobs(session: Session, filter: Filter): Promise<void> {
  const client = await session.client();
  const query = {
    ...pageOf(filter),
    status: filter.status,
    plan: filter.plan,
    query: filter.query,
    tag: filter.tag,
    metadata: filter.metadata,
    created_after: filter.after,
    created_before: filter.before,
  };
  await showCsvList(session, filter, client.jobs.list(query), {
    head: ['job', 'status', 'plan', 'length', 'credits', 'created', 'name'],
    row: (job) => [
      job.id,
      state(job.status),
      job.plan,
      clockTime(job.audio.duration_seconds),
      credits(job.cost),
      job.created_at,
      job.title ?? job.audio.filename ?? job.audio.source ?? '-',
    ],
    id: ({ id }) => id,
    empty: 'No jobs.',
  });
}

async function getJob(session: Session, _options: object, id: string): Promise<void> {
  const client = await session.client();
  const job = await client.jobs.get(id);
  session.out.show({ json: session.answer(), ids: [job.id], lines: describeJob(job) });
  if (session.out.mode === 'text' && job.text) session.out.block(`\n${job.text}`);
}

async function changeMetadata(session: Session, _options: object, id: string, text: string): Promise<void> {
  const client = await session.client();
  const job = await client.jobs.update(id, { metadata: parseExactly(text) as Job['metadata'] });
  const shown = `metadata of ${job.id}: ${job.metadataText ?? 'none'}`;
  session.out.show({ json: session.answer(), ids: [job.id], lines: [[shown]] });
}

async function renameJob(session: Session, _options: object, id: string, title?: string): Promise<void> {
  const client = await session.client();
  const job = await client.jobs.update(id, { title: title || null });
  const shown = `title of ${job.id}: ${job.title ?? 'none'}`;
  session.out.show({ json: session.answer(), ids: [job.id], lines: [[shown]] });
}

async function tagJob(session: Session, _options: object, id: string, tags: string[]): Promise<void> {
  const client = await session.client();
  const job = await client.jobs.update(id, { tags });
  const shown = `tags of ${job.id}: ${job.tags.join(', ') || 'none'}`;
  session.out.show({ json: session.answer(), ids: [job.id], lines: [[shown]] });
}

async function cancelJobs({ client, out, answer }: Session, _options: object, ids: string[]): Promise<void> {
  const { jobs } = await client();
  for (const id of ids) {
    const job = await jobs.cancel(id);
    if (ids.length > 1 && out.mode === 'json') out.jsonLine(answer());
    else out.show({ json: answer(), ids: [job.id], lines: [[`${job.id} is `, state(job.status)]] });
  }
}

async function deleteJobs(session: Session, _options: object, ids: string[]): Promise<void> {
  const { jobs } = await session.client();
  await changeEach(session, ids, 'is deleted', (id) => jobs.delete(id));
}

async function getTranscript(session: Session, options: TranscriptOptions, id: string): Promise<void> {
  const client = await session.client();
  const { out } = session;
  const params = options.original ? { version: 'original' as const } : {};
  const { format } = options;
  if (format === 'json' || out.mode === 'json') {
    await client.jobs.transcript(id, 'json', params);
    if (options.out === undefined) return out.json(session.answer());
    return await writeFile(options.out, `${JSON.stringify(session.answer(), null, 2)}\n`);
  }
  requireTarget(format, options.out);
  const content = await readTranscript(client, id, format, { ...params, ...captionParams(format, options) });
  if (options.out !== undefined) await writeFile(options.out, content);
  else out.block(String(content));
}

async function retryJob(session: Session, { plan }: { plan?: 'lite' | 'pro' }, id: string): Promise<void> {
  const client = await session.client();
  const job = await client.jobs.retry(id, { plan });
  session.out.show({ json: session.answer(), ids: [job.id], lines: [[`${job.id} is `, state(job.status)]] });
}
