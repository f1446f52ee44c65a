import fs from 'node:fs';
import path from 'node:path';
import { SETTINGS } from '../src/config/settings.ts';
import type { ErrorType } from '../src/http/api-error.ts';
import { ERROR_MEANING, ERROR_STATUS } from '../src/http/api-error.ts';
import { SCOPE_MEANING } from '../src/rules/accounts/scopes.ts';
import { JOB_MOVES, JOB_STATES } from '../src/rules/jobs/job-state.ts';
import { DELIVERY_MOVES, DELIVERY_STATES } from '../src/rules/webhooks/delivery-state.ts';
import { apiDocument } from './api-document.ts';
import { writeApiTypes } from './api-types.ts';

const ROOT = path.join(import.meta.dirname, '..');
const NOTE = '<!-- Made by `node scripts/docs.ts`; do not edit. -->';

type Move = { from: string; move: string; to: string; meaning: string };

/** The files that are made from the code: path from the project's root, and text. */
export async function makeDocuments(): Promise<Record<string, string>> {
  return {
    'docs/configuration.md': configuration(),
    'docs/errors.md': errors(),
    'docs/states.md': states(),
    'docs/scopes.md': scopes(),
    'sdk/src/api.ts': await writeApiTypes(await apiDocument()),
  };
}

function configuration(): string {
  const rows = Object.values(SETTINGS).map(({ env, fallback, fallbackInWords, meaning }) => [
    `\`${env}\``,
    fallbackInWords ?? (fallback ? `\`${fallback}\`` : 'none'),
    meaning,
  ]);
  return page(
    'Settings',
    'Read from the environment at start. A wrong setting stops the start, with every mistake named at once; an empty one counts as absent.',
    table(['setting', 'default', 'meaning'], rows),
  );
}

function errors(): string {
  const types = Object.keys(ERROR_STATUS) as ErrorType[];
  const rows = types.map((type) => [String(ERROR_STATUS[type]), `\`${type}\``, ERROR_MEANING[type]]);
  return page(
    'Errors',
    'Every error of every endpoint has one shape: `{ "error": { "message", "code", "type", "param"? }, "request_id" }`. `code` is the status, `type` the word to program against.',
    table(['status', 'type', 'when'], rows),
  );
}

function scopes(): string {
  const rows = Object.entries(SCOPE_MEANING).map(([scope, meaning]) => [`\`${scope}\``, meaning]);
  return page(
    'Scopes',
    'What an API key may be allowed to do ([keys](keys.md)). A key without scopes may do all of it; `/docs` names the scope of each endpoint.',
    table(['scope', 'allows to'], rows),
  );
}

function states(): string {
  return page(
    'States',
    'Jobs and deliveries are rows that move as drawn here and in no other way. Each move is one statement that names the state it expects.',
    section('Jobs', JOB_STATES, JOB_MOVES),
    section('Deliveries', DELIVERY_STATES, DELIVERY_MOVES),
  );
}

function section(title: string, all: readonly string[], moves: readonly Move[]): string {
  const ends = all.filter((state) => !moves.some(({ from }) => from === state));
  const drawing = [
    '```mermaid',
    'stateDiagram-v2',
    `  [*] --> ${all[0]}`,
    ...moves.map(({ from, move, to }) => `  ${from} --> ${to}: ${move}`),
    ...ends.map((state) => `  ${state} --> [*]`),
    '```',
  ].join('\n');
  const rows = moves.map(({ from, move, to, meaning }) => [`\`${from}\``, `\`${move}\``, `\`${to}\``, meaning]);
  return [`## ${title}`, drawing, table(['from', 'move', 'to', 'when'], rows)].join('\n\n');
}

function page(title: string, ...parts: string[]): string {
  return `${[`# ${title}`, NOTE, ...parts].join('\n\n')}\n`;
}

/** Cells padded to their column, as the formatter wants them. */
function table(head: string[], rows: string[][]): string {
  const cells = [head, ...rows].map((row) => row.map((cell) => cell.replaceAll('|', '\\|')));
  const widths = head.map((_, column) => Math.max(3, ...cells.map((row) => row[column]!.length)));
  const line = (row: string[]) => `| ${row.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |`;
  const rule = line(widths.map((width) => '-'.repeat(width)));
  return [line(cells[0]!), rule, ...cells.slice(1).map(line)].join('\n');
}

async function writeDocuments(): Promise<void> {
  for (const [name, text] of Object.entries(await makeDocuments())) fs.writeFileSync(path.join(ROOT, name), text);
}

if (import.meta.main) await writeDocuments();
