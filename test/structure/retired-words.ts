import fs from 'node:fs';
import path from 'node:path';
import { namesOf, ROOT, readSources, type Source } from './sources.ts';

type RetiredWord = {
  /** Matched with camelCase and snake_case split into words: `openGlance` reads "open Glance". */
  pattern: RegExp;
  /** The standard term to use. */
  instead: string;
  /** Only identifiers are refused; in comments, strings and pages it is an ordinary English word. */
  isIdentifier?: boolean;
  /** Refused in these files only; elsewhere the word has its ordinary meaning. */
  files?: RegExp;
};

const UPLOADS = /^src\/(audio\/upload|jobs\/api)\/(?!.*\.test\.ts$)/;

const RETIRED: readonly RetiredWord[] = [
  { pattern: /\blanes?\b/i, instead: 'shard' },
  { pattern: /\bturnstiles?\b/i, instead: 'semaphore' },
  { pattern: /\bgates?\b/i, instead: 'semaphore, limiter' },
  { pattern: /\borigin turns?\b/i, instead: 'per-host limiter' },
  { pattern: /\bvisitors?\b/i, instead: 'permit, waiter' },
  { pattern: /\bvisits?\b/i, instead: 'request context, permit', isIdentifier: true },
  { pattern: /\bstays?\b/i, instead: 'permit', isIdentifier: true },
  // `once` of node:events is a call or an import; `once: true` is an option of listeners.
  {
    pattern: /(?<!at |plans |fetch )\bonce\b(?!\(|: true)/i,
    instead: 'idempotency handle',
    isIdentifier: true,
    files: /^src\/(http|accounts|jobs|webhooks)\/(?!.*\.test\.ts$)/,
  },
  { pattern: /\btickets?\b/i, instead: 'idempotency handle', isIdentifier: true },
  { pattern: /\bunkeyed\b/i, instead: 'without an Idempotency-Key' },
  { pattern: /\bglanc(e|ed|es|er|ers|ing)\b/i, instead: 'media header probe' },
  { pattern: /\bjail(s|ed)?\b/i, instead: 'sandbox' },
  { pattern: /\b(walls|doors?)\b/i, instead: 'sandbox capabilities, listener, endpoint' },
  { pattern: /\bsound (transcript|segment)s?\b/i, instead: 'sanitised transcript' },
  { pattern: /\bfeeds?\b/i, instead: 'job notifications', isIdentifier: true, files: /^src\/jobs\// },
  { pattern: /\b(pulses?|news)\b/i, instead: 'job notifications' },
  { pattern: /\btold\b/i, instead: 'job notifications', isIdentifier: true },
  { pattern: /\bendings\b/i, instead: 'completion waiter' },
  { pattern: /\bpreviews?\b/i, instead: 'partial results' },
  { pattern: /\bqueue gauges?\b/i, instead: 'backpressure' },
  { pattern: /\bdialects?\b/i, instead: 'request format', isIdentifier: true },
  { pattern: /\btaken\b/i, instead: 'upload result', isIdentifier: true, files: UPLOADS },
  { pattern: /\bproven\b/i, instead: 'has_succeeded, verified' },
  { pattern: /\bsuspect(s|ed)?\b/i, instead: 'degraded' },
  {
    pattern: /\bbroken( of)?\b/i,
    instead: 'transport error',
    isIdentifier: true,
    files: /^src\/webhooks\/http-client\//,
  },
  { pattern: /\bjudg(e|ed|es|ing)\b/i, instead: 'evaluate, classify' },
  // "hello world" is what the sample audio says; `openWorldHint` is a name of a protocol; room on a disk is called space.
  { pattern: /(?<!hello |quiet |open |')\bworlds?\b/i, instead: 'environment, simulator, run' },
  { pattern: /\brooms?\b/i, instead: 'fixture, folder, space' },
  { pattern: /\bweather\b/i, instead: 'faults' },
];

/** Files that still have a retired word. */
const NOT_YET: readonly string[] = [];

const FOLDERS = [
  'src',
  'deploy',
  'sdk',
  'scripts',
  'test',
  'bench',
  'examples',
  'console',
  'ops',
  'docs',
  'bin',
  'cli',
];
const ENDINGS = ['.ts', '.tsx', '.js', '.cjs', '.sql', '.md', '.html', '.css', '.yml', '.yaml', '.json', '.py'];
// Figures of the past, vectors for other languages, and this table.
const EXCEPT = /^bench\/results\/|^sdk\/vectors\.json$|^test\/structure\/(retired-words|tidy\.test)\.ts$/;

/** Each retired word that a file of the project still has: in its path, its names, its comments or its text. */
export function findRetiredWords(): string[] {
  const inRoot = fs.readdirSync(ROOT).filter((file) => file.endsWith('.md'));
  const sources = [
    ...ENDINGS.flatMap((ending) => readSources(FOLDERS, ending)),
    ...[...inRoot, 'bin/verbatim'].map((file) => ({ file, isTest: false, text: read(file) })),
  ];
  return sources.filter(({ file }) => !EXCEPT.test(file) && !NOT_YET.includes(file)).flatMap(retiredWordsIn);
}

/** The retired words in one file, with what stands around them. */
export function retiredWordsIn(source: Source): string[] {
  const all = splitNames(`${source.file}\n${source.text}`);
  const names = /\.(tsx?|js|cjs)$/.test(source.file) ? splitNames(`${source.file}\n${namesOf(source)}`) : '';
  return RETIRED.filter(({ files }) => files === undefined || files.test(source.file)).flatMap(
    ({ pattern, isIdentifier, instead }) => {
      const text = isIdentifier ? names : all;
      const found = pattern.exec(text);
      if (!found) return [];
      const around = text.slice(Math.max(0, found.index - 30), found.index + 40).replace(/\s+/g, ' ');
      return [`${source.file}: "${found[0]}" in "${around}"; the standard term: ${instead}`];
    },
  );
}

function splitNames(text: string): string {
  return text.replace(/([a-z0-9])([A-Z])/g, '$1 $2').replace(/_/g, ' ');
}

function read(file: string): string {
  return fs.readFileSync(path.join(ROOT, file), 'utf8');
}
