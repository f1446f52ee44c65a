import { Readable } from 'node:stream';
import { ApiError, rateLimited } from '../http/api-error.ts';
import { requireScope } from '../http/authentication.ts';
import { type Call, defineRoute, type Route } from '../http/route.ts';
import { Type } from '../http/schema.ts';
import { openPlanWaits, type PlanWaits } from '../jobs/waiting/plan-waits.ts';
import { permits } from '../rules/accounts/scopes.ts';
import type { AccountRef } from '../rules/shard.ts';
import { EMITTED_TYPES, type EmittedType } from '../webhooks/events/event-types.ts';
import { streamAccount } from './account-stream.ts';
import { MAX_STREAMS_PER_ACCOUNT, type StreamRuntime } from './changes.ts';
import { JoinedReads } from './joined-reads.ts';
import { readPosition } from './position.ts';
import { accountStreamSchema } from './schemas.ts';
import type { Source } from './source.ts';
import { attemptSource, eventSource, jobSource } from './sources.ts';
import { TOPIC_SCOPES, TOPICS, type Topic } from './topics.ts';

type StreamQuery = { topics?: string; types?: string; after?: string };

/** @property reads, waits  of all streams */
type StreamSources = StreamRuntime & { reads: JoinedReads; waits: PlanWaits };

const RETRY_AFTER_SECONDS = 5;

const DESCRIPTION = `The account's events, changes of its jobs and its delivery attempts, as they are committed.

Resume with \`Last-Event-ID\`, or \`after\`: every row is sent at least once, in order but for 10 s. Drop what you have by
the \`id\` in its data (of a job: \`id\` and \`status\`; of a resend: \`delivery_id\`). A comment comes every 15 s.`;

/** The stream of an account's changes. */
export function streamRoutes(runtime: StreamRuntime): Route[] {
  const reads = new JoinedReads();
  const waits = openPlanWaits(runtime);
  return [
    defineRoute({
      method: 'GET',
      path: '/v1/stream',
      auth: 'key',
      // Each topic has its own.
      scope: ['webhooks:read', 'jobs:read'],
      summary: 'Follow events, jobs and deliveries of the account by server-sent events',
      description: DESCRIPTION,
      errors: ['rate_limited', 'missing_scope'],
      tag: 'Events',
      schema: {
        query: Type.Object({
          topics: Type.Optional(list(TOPICS, 'Absent: all that the key may read.')),
          types: Type.Optional(list(EMITTED_TYPES, 'Types of the events; absent: all.')),
          after: Type.Optional(
            Type.String({
              maxLength: 100,
              description: '`now` (the default), the id of the last event that you have, or a time.',
              examples: ['now'],
            }),
          ),
        }),
        answers: { 200: { media: { 'text/event-stream': accountStreamSchema } } },
      },
      handle: (call) => openStream({ ...runtime, reads, waits }, call),
    }),
  ];
}

/** A list of words, separated by commas. */
function list(words: readonly string[], description: string) {
  return Type.String({
    maxLength: 500,
    description: `Separated by commas: ${words.join(', ')}. ${description}`,
    examples: [words.join(',')],
  });
}

async function openStream(runtime: StreamSources, call: Call<unknown, StreamQuery, unknown>) {
  const { account, query, signal, header, note, memory } = call;
  const topics = readTopics(call);
  const types = query.types === undefined ? null : readWords('types', query.types, EMITTED_TYPES);
  const owner = { shard: account.shard, accountId: account.id };
  const { db, clock, config, accountChanges, version, reads } = runtime;
  const lastId = header('last-event-id');
  const asked = lastId ? { name: 'Last-Event-ID', text: lastId } : { name: 'after', text: query.after ?? 'now' };
  const nowMs = clock.now();
  const keepDays = account.plan === 'pro' ? config.retentionDaysPro : config.retentionDaysLite;
  const start = await readPosition(db, owner, { ...asked, nowMs, keepDays });
  const subscription = accountChanges.subscribe(owner, () => stream.destroy());
  if (subscription === null) throw tooManyStreams();
  // The generator disposes it too, but never runs when the client disconnects before the first read.
  const dispose = () => subscription[Symbol.dispose]();
  if (signal.aborted) dispose();
  else signal.addEventListener('abort', dispose, { once: true });
  const hello = { account: account.id, version, now: new Date(nowMs).toISOString(), oldest_id: start.oldestId };
  const order = { sources: sourcesOf(runtime, owner, { topics, types }), reads, start, hello };
  const stream = Readable.from(streamAccount({ ...runtime, memory }, order, subscription, signal));
  note({ topics: topics.join(' ') });
  // Keeps proxies from buffering the stream. The connection of a stream that ends is of no more use: without the second
  // header it would delay a stop of the service.
  const headers = { 'x-accel-buffering': 'no', connection: 'close' };
  return { status: 200, stream, contentType: 'text/event-stream; charset=utf-8', headers } as const;
}

/** @throws ApiError  400, or 403 for a topic outside of the key's scopes */
function readTopics({ query, actor }: Call<unknown, StreamQuery, unknown>): Topic[] {
  const key = actor.key!;
  if (query.topics !== undefined) {
    const topics = readWords('topics', query.topics, TOPICS);
    for (const topic of topics) requireScope(key, TOPIC_SCOPES[topic]);
    return topics;
  }
  return TOPICS.filter((topic) => permits(key.scopes, TOPIC_SCOPES[topic]));
}

function readWords<Word extends string>(name: string, text: string, known: readonly Word[]): Word[] {
  const words = text.split(',');
  const unknown = words.find((word) => !known.includes(word as Word));
  if (unknown !== undefined) {
    throw new ApiError('invalid_request', `${name} must be one or more of ${known.join(', ')}, separated by commas.`, {
      param: name,
    });
  }
  return known.filter((word) => words.includes(word));
}

function sourcesOf(
  { db, waits }: StreamSources,
  owner: AccountRef,
  { topics, types }: { topics: Topic[]; types: EmittedType[] | null },
): Source<never>[] {
  const resends = topics.includes('events');
  const deliveries = topics.includes('deliveries');
  const sources = [
    resends && eventSource(db, owner, types),
    topics.includes('jobs') && jobSource(db, owner, waits),
    (resends || deliveries) && attemptSource(db, owner, { deliveries, resends, types }),
  ];
  return sources.filter((source) => source !== false) as Source<never>[];
}

function tooManyStreams(): ApiError {
  const message = `At most ${MAX_STREAMS_PER_ACCOUNT} streams of an account may be open at once. End one, or try again later.`;
  return rateLimited(message, RETRY_AFTER_SECONDS);
}
