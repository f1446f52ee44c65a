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
  [
    'a CA that is not known',
    'SELF_SIGNED_CERT_IN_CHAIN',
    'self-signed certificate in certificate chain',
    /sslrootcert/,
  ],
  ['a certificate without its CA', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'unable to verify', /sslrootcert/],
  ['a certificate of the past', 'CERT_HAS_EXPIRED', 'certificate has expired', /Renew/],
  ['a certificate of another host', 'ERR_TLS_CERT_ALTNAME_INVALID', 'Hostname/IP does not match', /as the certificate/],
  ['another failure of TLS', 'ERR_SSL_TLSV1_ALERT_DECODE_ERROR', 'decode error', /sslmode and the files/],
  ['a server without TLS', null, 'The server does not support SSL connections', /ssl = on/],
  ['a server with TLS only', '28000', 'no pg_hba.conf entry for host "::1", no encryption', /add sslmode=verify-full/],
  ['a pooler with TLS only', '08P01', 'SSL required', /add sslmode=verify-full/],
  ['a client without certificate', '28000', 'connection requires a valid client certificate', /sslcert=/],
  ['a user whom pg_hba.conf does not name', '28000', 'no pg_hba.conf entry for host "::1"', /pg_hba/],
  ['a migration that fails', '42P07', 'relation "jobs" already exists', /^The log of the server/],
  ['a socket of another user', 'EACCES', 'connect EACCES /run/.s.PGSQL.5432', /host or the port/],
];

for (const [title, code, message, advice] of CASES) {
  test(`${title}: ${advice ? 'the start ends' : 'the start tries again'}`, () => {
    const decision = decideStart({ code, message });

    assert.equal(decision.kind, advice ? 'end' : 'retry');
    if (decision.kind === 'end') assert.match(decision.advice, advice!);
  });
}
