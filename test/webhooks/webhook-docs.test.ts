import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { explainSignature, signBody } from '#sdk/webhooks/index.ts';
import vectorFile from '../../sdk/vectors.json' with { type: 'json' };
import type { Job } from '../../src/jobs/job.ts';
import { showJobInEvent } from '../../src/jobs/view.ts';
import { FAILURE_REASONS } from '../../src/rules/webhooks/delivery-outcome.ts';
import type { WebhookRow } from '../../src/webhooks/endpoints/store.ts';
import { showWebhook } from '../../src/webhooks/endpoints/view.ts';
import { EVENT_TYPES } from '../../src/webhooks/events/event-types.ts';
import { withSortedKeys } from '../fixtures/webhooks/sorted-keys.ts';

// Runs the examples of the pages about webhooks, and compares their lists with the code.

const PAGE = ['webhooks', 'webhook-payloads', 'webhook-settings', 'delivery-log']
  .map((name) => fs.readFileSync(path.join(import.meta.dirname, '../..', 'docs', `${name}.md`), 'utf8'))
  .join('\n');

type Question = { secret: string; timestamp: string; signature: string; body: string; now: number };

const QUESTIONS: { question: Question; isGenuine: boolean }[] = vectorFile.vectors.flatMap((vector) => {
  const { secret, timestamp, signature, body } = vector;
  const now = Date.parse(timestamp);
  const good = { secret, timestamp, signature, body, now };
  return [
    { question: good, isGenuine: true },
    { question: { ...good, now: now + 300_000 }, isGenuine: true },
    { question: { ...good, now: now + 301_000 }, isGenuine: false },
    { question: { ...good, now: now - 301_000 }, isGenuine: false },
    { question: { ...good, body: `${body} ` }, isGenuine: false },
    { question: { ...good, secret: `${secret}A` }, isGenuine: false },
    { question: { ...good, signature: signature.slice(0, 62) }, isGenuine: false },
    { question: { ...good, signature: 'ü' }, isGenuine: false },
    { question: { ...good, timestamp: 'yesterday' }, isGenuine: false },
  ];
});

function blocks(language: string): string[] {
  return [...PAGE.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map((match) => match[1]!);
}

function blockWith(language: string, word: string): string {
  const found = blocks(language).filter((block) => block.includes(word));
  assert.equal(found.length, 1, `one ${language} example with ${word}`);
  return found[0]!;
}

function openFolder(files: Record<string, string>) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'example-'));
  for (const [name, text] of Object.entries(files)) fs.writeFileSync(path.join(folder, name), text);
  return { folder, [Symbol.dispose]: () => fs.rmSync(folder, { recursive: true, force: true }) };
}

/** Runs a program that reads questions.json and prints a JSON list of answers. */
function answersOf(command: string, args: string[], files: Record<string, string>): unknown {
  const questions = JSON.stringify(QUESTIONS.map(({ question }) => question));
  using place = openFolder({ ...files, 'questions.json': questions });
  return JSON.parse(execFileSync(command, args, { cwd: place.folder, encoding: 'utf8' }));
}

const EXPECTED = QUESTIONS.map(({ isGenuine }) => isGenuine);
const isMissing = (command: string, argument: string) => spawnSync(command, [argument]).status !== 0;

test('the Node example accepts genuine requests and refuses all others', () => {
  const harness = `
    import { readFileSync } from 'node:fs';
    const questions = JSON.parse(readFileSync('questions.json', 'utf8'));
    console.log(JSON.stringify(questions.map((one) => isGenuine({ ...one, body: Buffer.from(one.body) }, one.now))));`;

  const answers = answersOf(process.execPath, ['a.mjs'], { 'a.mjs': blockWith('js', 'isGenuine') + harness });

  assert.deepEqual(answers, EXPECTED);
});

test('the Python example does the same', { skip: isMissing('python3', '--version') }, () => {
  const harness = `
import json
print(json.dumps([
    is_genuine(q["secret"], q["timestamp"], q["signature"], q["body"].encode(),
               datetime.fromtimestamp(q["now"] / 1000, timezone.utc))
    for q in json.load(open("questions.json", encoding="utf-8"))
]))
`;

  const answers = answersOf('python3', ['a.py'], { 'a.py': blockWith('python', 'is_genuine') + harness });

  assert.deepEqual(answers, EXPECTED);
});

test('the Go example does the same', { skip: isMissing('go', 'version') }, () => {
  const example = blockWith('go', 'isGenuine').replace('package receiver', 'package main');
  const harness = `package main

import (
	"encoding/json"
	"os"
	"time"
)

type question struct {
	Secret, Timestamp, Signature, Body string
	Now                                int64
}

func main() {
	var questions []question
	text, _ := os.ReadFile("questions.json")
	if err := json.Unmarshal(text, &questions); err != nil {
		panic(err)
	}
	answers := []bool{}
	for _, q := range questions {
		answers = append(answers, isGenuine(q.Secret, q.Timestamp, q.Signature, []byte(q.Body), time.UnixMilli(q.Now)))
	}
	_ = json.NewEncoder(os.Stdout).Encode(answers)
}
`;

  const answers = answersOf('go', ['run', 'example.go', 'main.go'], { 'example.go': example, 'main.go': harness });

  assert.deepEqual(answers, EXPECTED);
});

test('the openssl line prints the signature', { skip: isMissing('openssl', 'version') }, () => {
  for (const { secret, timestamp, body, signature } of vectorFile.vectors) {
    using place = openFolder({ 'body.json': body });
    const env = { ...process.env, TIMESTAMP: timestamp, SECRET: secret };

    const output = execFileSync('sh', ['-c', blockWith('sh', 'openssl dgst')], {
      cwd: place.folder,
      env,
      encoding: 'utf8',
    });

    assert.ok(output.trimEnd().endsWith(`= ${signature}`), output);
  }
});

/** Every path to a value of an object, whatever the values are. */
function shapeOf(value: object): string[] {
  return Object.entries(value).flatMap(([key, inner]) =>
    inner !== null && typeof inner === 'object' && !Array.isArray(inner) && key !== 'metadata' && key !== 'error'
      ? [key, ...shapeOf(inner).map((path) => `${key}.${path}`)]
      : [key],
  );
}

test('the examples of events are of types that exist, and have the fields that the service sends', () => {
  const examples = blocks('json').map((text) => JSON.parse(text));
  const time = new Date();
  const nothing = {
    language: null,
    options: {},
    tracks: [],
    segments: null,
    metadata: null,
    errorType: null,
    costUnits: null,
  };
  const job = showJobInEvent({ ...nothing, createdAt: time } as unknown as Job);
  const webhook = showWebhook({ id: 'wh_1', createdAt: time, updatedAt: time } as WebhookRow);

  assert.ok(examples.length > 0 && examples.every(({ type }) => EVENT_TYPES.includes(type)));
  for (const { data } of examples) {
    const [shown, real] = data.job ? [data.job, job] : [data.webhook, webhook];
    assert.deepEqual(shapeOf(shown), shapeOf(real));
  }
});

test('the examples of events have their keys in the order in which the service writes them', () => {
  const { secret, timestamp } = vectorFile.vectors[0]!;
  for (const example of blocks('json').map((text) => JSON.parse(text))) {
    const signature = signBody({ secret, timestamp, body: JSON.stringify(example) });
    const headers = { 'X-Service-Timestamp': timestamp, 'X-Service-Signature': signature };

    const { causes } = explainSignature({ secret, headers, body: withSortedKeys(example) as object });

    assert.deepEqual(causes, ['body_parsed'], example.type);
  }
});

test('every reason of a failure is explained, in the order in which the code lists them', () => {
  const listed = [...PAGE.matchAll(/^\| `(\w+)` \| .*$/gm)].map((match) => match[1]!);

  assert.deepEqual(
    listed.filter((word) => (FAILURE_REASONS as readonly string[]).includes(word)),
    FAILURE_REASONS,
  );
});
