import assert from 'node:assert/strict';
import test from 'node:test';
import { publicCommand } from './public-command.ts';

test('clients are told the command as it was typed, but no path of the disk of the server', () => {
  assert.equal(publicCommand('bin/verbatim'), 'bin/verbatim');
  assert.equal(publicCommand('npx verbatim'), 'npx verbatim');
  assert.equal(publicCommand('/opt/verbatim/bin/verbatim'), 'verbatim');
});
