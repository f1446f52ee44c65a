import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decideStart } from './database-failure.ts';

const CASES: [string, string | null, string, RegExp | null][] = [
  ['nobody listens', 'ECONNREFUSED', 'connect ECONNREFUSED 127.0.0.1:5432', null],
  ['the name is not known yet', 'ENOTFOUND', 'getaddrinfo ENOTFOUND db', null],
  ['PostgreSQL is starting up', '57P03', 'the database system is starting up', null],
  ['too many clients', '53300', 'sorry, too many clients already', null],
  ['a timer of the client', null, 'timeout exceeded when trying to connect', null],
  ['a pooler without a server', '08P01', 'server login has been failing, try again later', null],
  ['a pooler without fixture', '08P01', 'no more connections allowed (max_client_conn)', null],
  ['a pooler that refuses a parameter', '08P01', 'unsupported startup parameter: options', /remove the parameters/],
  ['a pooler of statements', '08P01', 'transaction blocks not allowed in statement pooling mode', /pool_mode/],
  ['a pooler without the database', '08P01', 'no such database: v', /DATABASE_URL/],
  ['a pooler that refuses the password', '08P01', 'SASL authentication failed', /DATABASE_URL/],
  ['a wrong password', '28P01', 'password authentication failed for user "v"', /password/],
  ['no such database', '3D000', 'database "v" does not exist', /Create the database/],
  ['no right to create tables', '42501', 'permission denied for schema public', /Grant/],
  ['a standby', '25006', 'cannot execute CREATE TABLE in a read-only transaction', /primary/],
  ['a certificate that is not trusted', 'SELF_SIGNED_CERT_IN_CHAIN', 'self-signed certificate', /DATABASE_URL/],
];

for (const [title, code, message, advice] of CASES) {
  test(`${title}: ${advice ? 'the start ends' : 'the start tries again'}`, () => {
    const decision = decideStart({ code, message });

    assert.equal(decision.kind, advice ? 'end' : 'retry');
    if (decision.kind === 'end') assert.match(decision.advice, advice!);
  });
}
