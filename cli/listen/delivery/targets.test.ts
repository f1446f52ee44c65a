import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UsageError } from '../../exit.ts';
import { readTargets } from './targets.ts';

test('a target is a URL, a host with a port, or a port alone', () => {
  const hrefOf = (text: string) => readTargets(text, []).urlFor('webhook.test')!.href;

  assert.equal(hrefOf('localhost:3000/hooks'), 'http://localhost:3000/hooks');
  assert.equal(hrefOf('3000'), 'http://localhost:3000/');
  assert.equal(hrefOf('3000/a?b=c'), 'http://localhost:3000/a?b=c');
  assert.equal(hrefOf('https://app.test/hooks'), 'https://app.test/hooks');
  assert.equal(hrefOf('[::1]:3000'), 'http://[::1]:3000/');
});

test('a route goes before the target of all types; without either an event is not forwarded', () => {
  const targets = readTargets('3000/all', ['transcription.failed=3001/alerts']);

  assert.equal(targets.urlFor('transcription.failed')!.port, '3001');
  assert.equal(targets.urlFor('transcription.completed')!.pathname, '/all');
  assert.equal(readTargets(undefined, ['webhook.test=3000']).urlFor('transcription.completed'), null);
});

test('each host is named once', () => {
  const targets = readTargets('3000/a', ['webhook.test=3000/b', 'transcription.failed=127.0.0.1:3001']);

  assert.deepEqual(
    targets
      .hosts()
      .map(({ host }) => host)
      .toSorted(),
    ['127.0.0.1:3001', 'localhost:3000'],
  );
});

test('what is no target or no route is refused', () => {
  for (const target of ['', 'ftp://a', 'http://user:pw@a', 'localhost:99999', 'http://']) {
    assert.throws(() => readTargets(target, []), UsageError, target);
  }
  for (const routes of [['webhook.test'], ['=3000'], ['test=3000'], ['webhook.test=3000', 'webhook.test=3001']]) {
    assert.throws(() => readTargets(undefined, routes), UsageError);
  }
});
