import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isStore, literalsOf, readService, readSources, withoutComments } from './sources.ts';

/** The folder of each table. Statements that write to the table stand in this folder, or in a folder inside of it. */
const FOLDERS: Record<string, string> = {
  accounts: 'src/accounts',
  users: 'src/accounts/people',
  invitations: 'src/accounts/people',
  // Memberships are rows of api_keys: accounts/people/member-store.ts.
  api_keys: 'src/accounts',
  sessions: 'src/accounts',
  ledger: 'src/accounts',
  ledger_checks: 'src/accounts/ledger',
  rate_windows: 'src/accounts/rate-limits',
  audio_storage: 'src/audio/storage',
  audit_log: 'src/audit',
  nodes: 'src/operator',
  idempotency_keys: 'src/http/idempotency',
  jobs: 'src/jobs',
  job_pieces: 'src/jobs',
  upload_requests: 'src/jobs',
  transcript_shares: 'src/jobs/sharing',
  job_queues: 'src/jobs',
  job_metadata: 'src/jobs/search',
  job_usage: 'src/jobs/usage',
  transcript_chunks: 'src/jobs/search',
  audio_fetches: 'src/jobs',
  live_sessions: 'src/jobs',
  live_chunks: 'src/jobs',
  client_secrets: 'src/live/openai',
  plan_engines: 'src/jobs/api',
  plan_waits: 'src/jobs/waiting',
  webhooks: 'src/webhooks',
  events: 'src/webhooks',
  deliveries: 'src/webhooks',
  deliverers: 'src/webhooks',
  delivery_shards: 'src/webhooks',
  attempts: 'src/webhooks',
  attempts_default: 'src/webhooks/log',
  schema_versions: 'src/db',
  // The mark of a restore that has not ended.
  unfinished_restore: 'src/db/backup',
};

/** Statements that read a table of another folder. */
const READS_ELSEWHERE = [
  // Who is behind a session, and who made a key.
  'src/accounts/keys/caller-store.ts reads users',
  'src/accounts/keys/key-store.ts reads users',
  // A job is accepted on a plan that its account has at that moment.
  'src/jobs/api/accept-store.ts reads accounts',
  // The deliveries of a suspended account wait.
  'src/webhooks/deliveries/backlog-store.ts reads accounts',
  'src/webhooks/deliveries/due-store.ts reads accounts',
  // How long events and attempts are kept depends on the plan that the account has now.
  'src/webhooks/events/retention-store.ts reads accounts',
  'src/webhooks/log/retention-store.ts reads accounts',
];

const WRITES =
  /\b(?:insert into|update|delete from|merge into|truncate(?: table)?|(?:alter|drop|lock) table)\s+(?:only\s+)?([a-z_]+)/g;
const READS = /(?<!\bdelete )\b(?:from|join|using)\s+(?:only\s+)?([a-z_]+)/g;

const statements = readService()
  .filter((source) => isStore(source) || source.file.startsWith('src/db/'))
  .flatMap((source) => literalsOf(source).map((text) => ({ file: source.file, text })));

/** The known tables that a statement names after one of the pattern's words. */
function tablesIn(text: string, pattern: RegExp): string[] {
  const names = [...withoutComments(text).matchAll(pattern)].map(([, name]) => name!);
  return names.filter((name) => name in FOLDERS);
}

function uses(pattern: RegExp): { file: string; table: string }[] {
  return statements.flatMap(({ file, text }) => tablesIn(text, pattern).map((table) => ({ file, table })));
}

const isElsewhere = ({ file, table }: { file: string; table: string }) => !file.startsWith(`${FOLDERS[table]}/`);

test('every table has a folder', () => {
  const sources = readSources(['src/db'], '.sql', '.ts').filter(({ isTest }) => !isTest);
  const created = sources.flatMap(({ text }) => [...text.matchAll(/create table (?:if not exists )?([a-z_]+)/g)]);

  assert.deepEqual([...new Set(created.map(([, name]) => name))].sort(), Object.keys(FOLDERS).sort());
});

test("a table's rows are written in its folder only", () => {
  const writes = uses(WRITES);

  assert.deepEqual(
    Object.keys(FOLDERS).filter((table) => !writes.some((write) => write.table === table)),
    [],
  );
  assert.deepEqual(writes.filter(isElsewhere), []);
});

test("a table's rows are read in its folder, but for the statements that are listed", () => {
  const reads = uses(READS).filter(isElsewhere);

  assert.deepEqual([...new Set(reads.map(({ file, table }) => `${file} reads ${table}`))], READS_ELSEWHERE);
});

test('statements name the indexes of deliveries that they need, as often as they read the table', () => {
  const count = (text: string, pattern: RegExp) => text.match(pattern)?.length ?? 0;
  const files = [...Map.groupBy(statements, ({ file }) => file)].map(([file, those]) => {
    const text = those.map((statement) => statement.text).join('\n');
    const reads = count(text, /(?:from|join|update)\s+deliveries\b/g);
    return { file, reads, conditions: count(text, /\b(?:event_id|webhook_id|attempt_id) > ''|\battempt > 0/g) };
  });
  const unnamed = files.filter(({ reads, conditions }) => reads > conditions).map(({ file }) => file);

  assert.ok(files.filter(({ reads }) => reads > 0).length >= 8);
  // Counts all deliveries for the operator's metrics, on a connection that plans each time.
  assert.deepEqual(unnamed, ['src/webhooks/deliveries/backlog-store.ts']);
});

test('writes are found inside of a statement, and are no reads', () => {
  const statement = `
    with moved as (delete from jobs using accounts where true returning *), kept as (update only events set body = $1)
    insert into ledger select * from webhooks join moved on true -- update api_keys
    on conflict do update set id = $1 for update of jobs`;

  assert.deepEqual(tablesIn(statement, WRITES), ['jobs', 'events', 'ledger']);
  assert.deepEqual(tablesIn(statement, READS), ['accounts', 'webhooks']);
});
