import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ENDING, type FuzzEnvironment } from './environment.ts';

// Streams never end by themselves, and the console's files are no API.
const EXCLUDED = ['get_jobs_id_events', 'get_stream'];
const SEED = 20_261_122;
// The same in each run; a longer run looks at more.
const EXAMPLES_PER_OPERATION = Number(process.env['API_FUZZ_EXAMPLES'] ?? 8);
// Chains of calls, which take little time.
const CHAINS = 30;
const REQUEST_TIMEOUT_SECONDS = 20;

/** Runs Schemathesis over all operations of the service with a fixed seed. Resolves with its exit code and report. */
export async function runSchemathesis(
  program: string,
  environment: FuzzEnvironment,
): Promise<{ code: number; report: string }> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'schemathesis-'));
  const config = path.join(folder, 'schemathesis.toml');
  writeFileSync(config, configText(environment));
  const child = spawn(
    program,
    [
      ...['--config-file', config, 'run', `${environment.baseUrl}/openapi.json`],
      ...['--seed', String(SEED), '--max-examples', String(EXAMPLES_PER_OPERATION), '--generation-deterministic'],
      ...['--request-timeout', String(REQUEST_TIMEOUT_SECONDS), '--no-color', '--workers', '2'],
      ...EXCLUDED.flatMap((id) => ['--exclude-operation-id', id]),
    ],
    { stdio: ['ignore', 'pipe', 'pipe'], cwd: folder },
  );
  let report = '';
  child.stdout.on('data', (chunk) => {
    report += chunk;
  });
  child.stderr.on('data', (chunk) => {
    report += chunk;
  });
  const [code] = await once(child, 'exit');
  return { code, report };
}

const LISTS = '/(jobs|search|webhooks|deliveries|events|ledger|keys|accounts|audit|operators|users|invitations)$';

// What is too long may be refused before it is read whole.
const TOO_LARGE =
  'checks.negative_data_rejection.expected-statuses = [400, 401, 404, 405, 406, 409, 413, 415, 422, 429]';

/** Every operation with its credentials, and with ids of things that exist. */
function configText({ key, adminToken, session, ids }: FuzzEnvironment): string {
  const lines = [
    ...['[phases.stateful.generation]', `max-examples = ${CHAINS}`],
    ...['[auth.openapi.ApiKey]', `api_key = "${key}"`, '[auth.openapi.Bearer]', `bearer = "${key}"`],
    ...['[auth.openapi.AdminToken]', `bearer = "${adminToken}"`],
    ...['[auth.openapi.Session]', `api_key = "${session.token}"`],
  ];
  // After ten wrong tokens the operator's paths answer 429 for a while; a test of their own looks at that.
  lines.push(
    ...['[[operations]]', 'include-path-regex = "^/admin/"', 'checks.ignored_auth.enabled = false'],
    'checks.missing_required_header.enabled = false',
  );
  // Whether bytes are audio that can be decoded is nothing that a schema can say, nor that the options of captions are
  // for some formats only.
  const accepted = '"2xx", 401, 403, 404, 409';
  lines.push(
    // Nor which words an engine can be told, and whether it translates.
    ...['[[operations]]', 'include-path-regex = "^/v1/((transcribe|live)$|audio/)"'],
    TOO_LARGE,
    `checks.positive_data_acceptance.expected-statuses = [${accepted}, 400, 422]`,
    ...['[[operations]]', 'include-path-regex = "^/v1/jobs/.*/transcript$"', TOO_LARGE],
    `checks.positive_data_acceptance.expected-statuses = [${accepted}, 400]`,
  );
  // Nor what a session of another API may say.
  lines.push(
    ...['[[operations]]', 'include-operation-id-regex = "^post_realtime_client_secrets$"'],
    `checks.positive_data_acceptance.expected-statuses = [${accepted}, 400]`,
  );
  // Nor that somebody new needs a name and a longer password, that no text may have U+0000,
  // and that a few attempts a minute are answered.
  lines.push(
    ...['[[operations]]', 'include-path-regex = "^/v1/(setup|sign-in|invitations)(/|$)"'],
    `checks.positive_data_acceptance.expected-statuses = [${accepted}, 400, 429, 503]`,
  );
  // Nor that a new password needs the current one. What ends the session is left out.
  lines.push(
    ...['[[operations]]', `include-operation-id-regex = "^(get_session|[a-z]+_(me|users|invitations)(_id)?)$"`],
    `headers = { X-Session-Id = "${session.id}", Sec-Fetch-Site = "same-origin" }`,
    `checks.positive_data_acceptance.expected-statuses = [${accepted}, 400, 429]`,
  );
  // Nor whether a time lies ahead.
  lines.push(
    ...[
      '[[operations]]',
      'include-operation-id-regex = "^post_(keys|admin_accounts_id_keys|admin_jobs_retry|admin_webhooks_recover)$"',
    ],
    `checks.positive_data_acceptance.expected-statuses = [${accepted}, 400]`,
  );
  // Nor that a time is divided into a limited number of buckets.
  lines.push(
    ...['[[operations]]', 'include-operation-id-regex = "^get_webhooks_id_metrics$"'],
    `checks.positive_data_acceptance.expected-statuses = [${accepted}, 400]`,
  );
  // Nor that a span of time is short enough, and that a query holds a word.
  lines.push(
    ...['[[operations]]', 'include-path-regex = "/(usage|search)$"'],
    `checks.positive_data_acceptance.expected-statuses = [${accepted}, 400]`,
  );
  // Nor that a cursor is one of this list.
  lines.push(
    ...['[[operations]]', `include-path-regex = "${LISTS}"`],
    `checks.positive_data_acceptance.expected-statuses = [${accepted}, 400]`,
  );
  // Nor that these are given the account of their own below, which one of them deletes, and never one just created.
  lines.push(
    ...['[[operations]]', `include-operation-id-regex = "^(${ENDING})$"`],
    'checks.ensure_resource_availability.enabled = false',
  );
  for (const { operation, parameters } of ids) {
    const values = Object.entries(parameters).map(([name, id]) => `"path.${name}" = "${id}"`);
    lines.push(
      '[[operations]]',
      `include-operation-id-regex = "${operation}"`,
      `parameters = { ${values.join(', ')} }`,
    );
  }
  return `${lines.join('\n')}\n`;
}
