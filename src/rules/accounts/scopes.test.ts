import assert from 'node:assert/strict';
import test from 'node:test';
import { firstScopeBeyond, permits, SCOPES, type Scope } from './scopes.ts';

test('a key may do what its scopes name, and everything when it has none', () => {
  assert.ok(permits([], 'jobs:write'));
  assert.ok(permits(['jobs:read', 'jobs:write'], 'jobs:write'));
  assert.ok(!permits(['jobs:write'], 'jobs:read'));
});

const GRANTS: { maker: Scope[]; asked: Scope[]; beyond: Scope | null }[] = [
  { maker: [], asked: [], beyond: null },
  { maker: [], asked: ['keys:write'], beyond: null },
  { maker: ['keys:write', 'jobs:read'], asked: ['jobs:read'], beyond: null },
  { maker: ['keys:write', 'jobs:read'], asked: ['jobs:read', 'jobs:write'], beyond: 'jobs:write' },
  { maker: ['keys:write'], asked: [], beyond: 'jobs:read' },
  { maker: SCOPES, asked: [], beyond: null },
];
for (const { maker, asked, beyond } of GRANTS) {
  test(`a key with [${maker}] that makes one with [${asked}] grants ${beyond ?? 'nothing'} beyond its own`, () => {
    assert.equal(firstScopeBeyond(maker, asked), beyond);
  });
}
