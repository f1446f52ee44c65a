import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { type ModelFixture, openModelFixture, originsOf } from '../../../test/fixtures/model.ts';
import { FIRST_MODEL } from '../catalogue.ts';
import { pulledModels } from '../folder.ts';
import { isHubReachable } from '../sources/hub.ts';
import { type Offer, offerFirstModel } from './offer.ts';

const SOURCE = { repository: 'project/tone', revision: '0'.repeat(40) };

test('the demo pulls the first model without a question', async () => {
  await using fixture = await openModelFixture(FIRST_MODEL);
  const { offered, text } = offer(fixture, { how: 'pull' });

  assert.equal(await offered, 'pulled');
  assert.match(text(), /parakeet-110m: 100 %/);
  assert.deepEqual(await pulledModels(fixture.modelsDir), [FIRST_MODEL]);
});

test('at a terminal, yes pulls the model', async () => {
  await using fixture = await openModelFixture(FIRST_MODEL);
  const { offered, input, text } = offer(fixture, { how: 'ask', isTerminal: true });
  input.write('y\n');

  assert.equal(await offered, 'pulled');
  assert.match(text(), /Fetch Tones \(English, 0\.3 MB, MIT\)\? \[y\/N/);
});

test('a no is remembered: the next start does not ask', async () => {
  await using fixture = await openModelFixture(FIRST_MODEL);
  const first = offer(fixture, { how: 'ask', isTerminal: true });
  first.input.write('\n');
  assert.equal(await first.offered, 'declined');
  const listings = fixture.hub.listings;

  const second = offer(fixture, { how: 'ask', isTerminal: true });

  assert.equal(await second.offered, 'not_asked');
  assert.equal(second.text(), '');
  assert.equal(fixture.hub.listings, listings);
});

test('a question without an answer counts as no', async () => {
  await using fixture = await openModelFixture(FIRST_MODEL);
  const { offered } = offer(fixture, { how: 'ask', isTerminal: true, answerMs: 50 });

  assert.equal(await offered, 'declined');
  assert.deepEqual(await pulledModels(fixture.modelsDir), []);
});

test('the end of the input counts as no', async () => {
  await using fixture = await openModelFixture(FIRST_MODEL);
  const { offered, input } = offer(fixture, { how: 'ask', isTerminal: true });
  input.end();

  assert.equal(await offered, 'declined');
});

test('without a terminal there is no question and no request to the hub', async () => {
  await using fixture = await openModelFixture(FIRST_MODEL);
  const { offered, text } = offer(fixture, { how: 'ask' });

  assert.equal(await offered, 'not_asked');
  assert.equal(text(), '');
  assert.equal(fixture.hub.listings, 0);
});

test('nothing is offered when there is a model; a voice detector does not count', async () => {
  await using fixture = await openModelFixture(FIRST_MODEL);
  const detector = { ...fixture.model, name: 'silero-vad', family: 'vad' as const };
  await mkdir(path.join(fixture.modelsDir, 'silero-vad'), { recursive: true });
  const catalogue = [fixture.model, detector];

  const first = await offer(fixture, { how: 'pull', catalogue }).offered;
  const second = await offer(fixture, { how: 'pull', catalogue }).offered;

  assert.deepEqual([first, second], ['pulled', 'present']);
});

test('an unreachable hub is reported in one line', async () => {
  await using fixture = await openModelFixture(FIRST_MODEL);
  const { offered, text } = offer(fixture, { how: 'pull', origins: originsOf('http://127.0.0.1:1') });

  assert.equal(await offered, 'unreachable');
  assert.match(text(), /^Cannot reach .* to download a better model: pocketsphinx is used\.\n$/);
});

test('a failed pull is reported in one line, and the start continues', async () => {
  await using fixture = await openModelFixture(FIRST_MODEL);
  fixture.hub.misbehave('model.onnx', { kind: 'status', status: 403 });
  const { offered, text } = offer(fixture, { how: 'pull' });

  assert.equal(await offered, 'failed');
  assert.match(text(), /403 for model\.onnx\. Going on without/);
});

test('only a response of a hub, in time, counts as reachable', async () => {
  await using fixture = await openModelFixture(FIRST_MODEL);
  const silent = createServer(() => undefined);
  const portal = createServer((_, response) => response.end('<html>Please log in</html>'));
  for (const server of [silent, portal]) await once(server.listen(0, '127.0.0.1'), 'listening');
  const urlOf = (server: typeof silent) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const reachable = await isHubReachable(fixture.hub.url, SOURCE);
  const waited = await isHubReachable(urlOf(silent), SOURCE, 50);
  const taken = await isHubReachable(urlOf(portal), SOURCE);
  for (const server of [silent, portal]) server.close().closeAllConnections();

  assert.deepEqual([reachable, waited, taken], [true, false, false]);
});

function offer(fixture: ModelFixture, options: Partial<Offer> & { how: Offer['how']; isTerminal?: boolean }) {
  const { isTerminal = false, ...rest } = options;
  const input = Object.assign(new PassThrough(), { isTTY: isTerminal });
  const output = Object.assign(new PassThrough(), { isTTY: isTerminal, columns: 80 });
  const written: string[] = [];
  output.on('data', (chunk: Buffer) => written.push(chunk.toString()));
  const offered = offerFirstModel({
    modelsDir: fixture.modelsDir,
    origins: originsOf(fixture.hub.url),
    catalogue: [fixture.model],
    signal: new AbortController().signal,
    input,
    output,
    ...rest,
  });
  return { offered, input, text: () => written.join('') };
}
